"""Lemma B.4 and (33): the chosen weights against others, on a grid of exact instances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.one_round.progress import dist
from cflag_theory.claims.cfl.symbols import D2, F2, G2, R2, K, N, eta, eta_g, p_t, sigma2
from cflag_theory.claims.cfl.weights.independent import M2, W, cross, loss_size, past, past2, past_sum, shared, v, w
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point

_SQUARES = (Fraction(0), Fraction(1, 4), Fraction(4))
#: What part 4 is asked of: the smallest case in which FedAvg's weights do better than those of the lemma.
_BEST_CONVERGENCE = (2, Fraction(1), Fraction(1), (Fraction(0), Fraction(1)))
_OTHERS: dict[int, tuple[tuple[Fraction, ...], ...]] = {
    1: ((Fraction(1),),),
    2: ((Fraction(0), Fraction(1)), (Fraction(1), Fraction(0)), (Fraction(-1, 2), Fraction(3, 2))),
    3: (
        (Fraction(1, 3),) * 3,
        (Fraction(1, 2), Fraction(0), Fraction(1, 2)),
        (Fraction(2), Fraction(-2), Fraction(1)),
    ),
}


def optimal(t: int, left_over: Fraction, information: Fraction) -> tuple[Fraction, ...]:
    """The weights of Lemma B.4 for D^2 = left_over and R^2 = information.

    Raises
    ------
    ZeroDivisionError
        Where the printed formula has no value.
    """
    total = t * left_over + (t - 1) * information
    return (left_over / total,) * (t - 1) + ((left_over + (t - 1) * information) / total,)


def described(p: Sequence[Fraction], left_over: Fraction, information: Fraction) -> dict[Any, Any]:
    """Values of the symbols for the weights p, and for the optimal ones with X = left_over."""
    best = optimal(len(p), left_over, information)
    squares = sum((a**2 for a in p[:-1]), Fraction(0))
    return {
        past: len(p) - 1,
        p_t: p[-1],
        past2: squares,
        cross: 1 - squares - p[-1] ** 2,
        past_sum: sum(p[:-1], Fraction(0)),
        W: len(p) * left_over + (len(p) - 1) * information,
        # For t = 1 there is no past weight; the formula still has a value.
        v: left_over / (len(p) * left_over + (len(p) - 1) * information),
        w: best[-1],
        R2: information,
    }


def words(p: Sequence[Fraction]) -> str:
    """The weights as text."""
    return ", ".join(map(str, p))


def points() -> Iterator[Point]:
    """Lemma B.4's weights against themselves and others, with D = 0 and R = 0 where the formula has a value."""
    yield _whole_bound(*_BEST_CONVERGENCE)
    for t, d2, r2 in product(_OTHERS, _SQUARES, _SQUARES):
        if t * d2 + (t - 1) * r2 == 0:
            continue
        for p in (optimal(t, d2, r2), *_OTHERS[t]):
            fixed = {D2: d2, G2: Fraction(1, 2), sigma2: 2, L: 3, N: 2, K: 2, eta_g: 1}
            known = described(p, d2, r2) | fixed
            yield from (Point(known, part=part) for part in "123")
            if min(p) >= 0:
                yield _whole_bound(t, d2, r2, p)


def _whole_bound(t: int, d2: Fraction, r2: Fraction, p: Sequence[Fraction]) -> Point:
    """The right side of (23) for weights that are not negative, as the paper's are."""
    best = words(optimal(t, d2, r2))
    story = (
        f"t = {t}, D^2 = {d2}, R^2 = {r2}, G = 0, L = 3, eta_g = 1, eta = 1/100, 𝔼||w_t - w*|| = 1: on the left the "
        f"weights of the lemma, {best}, on the right {words(p)}.",
    )
    sizes = {D2: d2, G2: 0, L: 3, eta_g: 1, loss_size: sp.sqrt(sp.Rational(r2)), eta: Fraction(1, 100), dist: 1}
    return Point(described(p, d2, r2) | sizes, story, "4")


def correlated_points() -> Iterator[Point]:
    """(33) with F below, at and above D."""
    for t, d2, f2, r2 in product(_OTHERS, _SQUARES[1:], _SQUARES, _SQUARES):
        common = min(f2, d2)
        if t * (d2 - common) + (t - 1) * r2 == 0:
            continue
        for p in (optimal(t, d2 - common, r2), *_OTHERS[t]):
            fixed = {D2: d2, F2: f2, shared: common, M2: d2 - common, G2: Fraction(1, 2)}
            yield Point(described(p, d2 - common, r2) | fixed)


CHECKS = {
    "cfl.lemB4": Check(points),
    "cfl.eq33": Check(correlated_points),
}
