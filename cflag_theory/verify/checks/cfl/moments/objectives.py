"""Two meanings of f, and the f of Assumption 3: both signs of the drift, and w^2/2 without drifts."""

from __future__ import annotations

from collections.abc import Iterator

from cflag_theory.claims.cfl.moments import objectives as claim
from cflag_theory.claims.cfl.symbols import A2, B2, D2, G2
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point


def drawn() -> Iterator[Point]:
    """xi = 1 and -1 with equal chances."""
    for xi in (1, -1):
        yield Point(
            {claim.xi: xi, claim.summed: xi, claim.w_star: 0},
            (f"f_{{1,1}} = w^2/2 - xi w, xi = 1 or -1 with equal chances, xi = {xi} here: it is least at w = {xi}.",),
        )


def half_square() -> Iterator[Point]:
    """f = w^2/2 and f_{1,1} = f less the drifts."""
    for w, drift in ((Fraction(1), 0), (Fraction(1), 1), (Fraction(2), 0)):
        values = {claim.value: w * w / 2, claim.slope: w, claim.own_slope: w - drift, claim.delta: drift, claim.xi: 0}
        yield Point(values, (f"f = w^2/2, f_{{1,1}} = f - {drift} w, w = {w}.",))


def by_the_client() -> Iterator[Point]:
    """Equality in both bounds, with and without client drifts."""
    for a2, b2, g2, grad2 in ((1, 0, 0, 1), (1, 1, 0, 1), (2, 3, 1, 4), (1, 1, 1, 0)):
        delta2 = g2 + b2 * grad2
        values = {A2: a2, B2: b2, G2: g2, D2: 0, claim.grad2: grad2, claim.delta2: delta2}
        values |= {claim.client2: grad2 + delta2, claim.xi2: a2 * (grad2 + delta2)}
        story = f"grad f^2 = {grad2}, delta and xi two-sided with squares {delta2} and {a2 * (grad2 + delta2)}, D = 0."
        yield Point(values, (story,))


CHECKS = {
    "cfl.objectives": Check(drawn),
    "cfl.assumption3": Check(half_square),
    "cfl.corollary_2022": Check(by_the_client),
}
