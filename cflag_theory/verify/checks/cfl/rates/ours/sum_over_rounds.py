"""All signs of the drifts on quadratics, at points that depend on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from cflag_theory.claims.cfl.rates.ours import sum_over_rounds as claim
from cflag_theory.claims.cfl.rates.ours.strongly_convex import f_now
from cflag_theory.claims.cfl.symbols import D2, G2, N, T
from cflag_theory.claims.cfl.symbols import mu as convexity
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point

_ZERO, _ONE = Fraction(0), Fraction(1)
SIZES = ((1, 1, _ZERO), (1, 3, _ONE), (2, 2, Fraction(1, 2)))


def mean_drifts(clients: int, rounds: int, G: Fraction) -> list[Fraction]:
    """The mean drift of the run in every draw, D = 1."""
    return [
        sum(delta, _ZERO) / clients + sum(xi, _ZERO) / (clients * rounds)
        for delta in product((G, -G), repeat=clients)
        for xi in product((_ONE, -_ONE), repeat=clients * rounds)
    ]


def expectation(values: list[Fraction]) -> Fraction:
    """The mean over all draws."""
    return sum(values, _ZERO) / len(values)


def points() -> Iterator[Point]:
    """f = a w^2/2 at w = -m/a, 2 m/a, m/a and 3, with mu = a and less."""
    places: tuple[Callable[[Fraction], Fraction], ...] = (
        lambda y: -y,
        lambda y: 2 * y,
        lambda y: y,
        lambda y: 3 + 0 * y,
    )
    for (clients, rounds, G), place, (a, mu) in product(SIZES, places, ((_ONE, _ONE), (Fraction(2), _ONE))):
        means = mean_drifts(clients, rounds, G)
        pairs = [(place(m / a), m / a) for m in means]
        values: dict[Any, Any] = {
            convexity: mu,
            N: clients,
            T: rounds,
            G2: G**2,
            D2: 1,
            claim.m2: expectation([m * m for m in means]),
            f_now: a / 2 * expectation([w * w for w, _ in pairs]),
            claim.summed: a / 2 * expectation([(w - y) ** 2 for w, y in pairs]),
        }
        for part in ("sum", "expectation"):
            yield Point(values, part=part)


CHECKS = {
    "ours.cfl_sum_over_rounds": Check(
        points,
    )
}
