"""The sum of Lemma A.2 term by term, with whole roots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.symbols import eta
from cflag_theory.claims.cfl.techniques import sublinear as claim
from cflag_theory.claims.cfl.techniques import summation
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point

_R = sp.Rational


def sublinear_sum(d: Sequence[Any], step: Any, c1: Any, c2: Any) -> Any:
    """Phi_T of Lemma A.2 for d_0, ..., d_{T+1}."""
    terms = (d[s - 1] / step - d[s] / step + c1 * step + c2 * step**2 for s in range(1, len(d)))
    return sp.sympify(sum(terms)) / (len(d) - 1)


#: (d, v with d_0 = (T + 1) v^6, root of c_1, cube root of c_2, eta_max), for exact roots.
_SUMS: tuple[tuple[tuple[int, ...], int, int, int, int], ...] = (
    ((1, 0), 1, 0, 0, 1),
    ((1, 0), 1, 1, 0, 10**6),
    ((1, 0), 1, 0, 1, 10**6),
    ((1, 2), 1, 1, 1, 1),
    ((2, 0, 0), 1, 2, 1, 3),
    ((3, 1, 4, 1), 1, 1, 3, 2),
    ((64, 0), 2, 3, 1, 5),
    ((128, 32, 0), 2, 0, 2, 1),
)


def lemA2_points() -> Iterator[Point]:
    """Sequences whose roots are whole, with the steps of both proofs; then d_0 = 0 with several steps."""
    for d, v, x, z, largest in _SUMS:
        y, w = v**3, v**2
        a, b, root = _R(1, largest) + _R(x, y), _R(z, w), sp.cbrt(2)
        # 1/(a + b 2^(1/3)) without a root below the line.
        sharp = (a**2 - a * b * root + b**2 * root**2) / (a**3 + 2 * b**3)
        yield _sublinear_point(d, v, x, z, largest, 1 / (a + b), sharp)
    for step in (Fraction(1), Fraction(1, 2), Fraction(1, 100)):
        yield _sublinear_point((0, 0), 0, 1, 0, 1, _R(step), _R(step))


def _sublinear_point(d: tuple[int, ...], v: int, x: int, z: int, largest: int, step: sp.Expr, sharp: sp.Expr) -> Point:
    ends = len(d) - 1
    sums = [sublinear_sum(d[: n + 1], step, x**2, z**3) * n if n else 0 for n in range(ends + 1)]
    return Point(
        {
            claim.rounds: ends - 1,
            **{summation.d(n): distance for n, distance in enumerate(d)},
            **{summation.total(n): found for n, found in enumerate(sums)},
            summation.total(claim.rounds + 1): sums[ends],
            claim.root_c1: x,
            claim.cube_c2: z,
            claim.root_D: v**3,
            claim.cube_D: v**2,
            summation.eta_max: largest,
            eta: step,
            summation.Phi: sublinear_sum(d, step, x**2, z**3),
            claim.eta_sharp: sharp,
            claim.Phi_sharp: sublinear_sum(d, sharp, x**2, z**3),
            claim.cube_2: sp.cbrt(2),
        },
        (f"d = {', '.join(map(str, d))}.",),
    )


CHECKS = {
    "cfl.lemA2": Check(
        lemA2_points,
    )
}
