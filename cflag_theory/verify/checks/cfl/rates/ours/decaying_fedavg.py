"""Recursions of second moments, and drifts enumerated."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from cflag_theory.claims.cfl.rates import floors
from cflag_theory.claims.cfl.rates.floors import apart2
from cflag_theory.claims.cfl.rates.ours import decaying_fedavg as claim
from cflag_theory.claims.cfl.rates.ours.strongly_convex import g2, v, x2
from cflag_theory.claims.cfl.rates.theorems import mu
from cflag_theory.claims.cfl.symbols import D2, G2, N, T
from cflag_theory.claims.cfl.symbols import mu as convexity
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point

_ZERO, _ONE, _HALF = Fraction(0), Fraction(1), Fraction(1, 2)


def decaying_points() -> Iterator[Point]:
    """f = w^2/2: the recursion of the second moment, and drifts enumerated."""
    for delay, start2, noise, rounds in ((2, 1, 1, 1), (2, 4, _HALF, 6), (3, _ZERO, 2, 9), (5, 10, _ZERO, 4)):
        path = [Fraction(start2)]
        for t in range(rounds):
            step = Fraction(2, t + delay)
            path.append((1 - step) ** 2 * path[-1] + step**2 * noise)
        values: dict[Any, Any] = {
            mu: 1,
            T: rounds,
            v: noise,
            claim.s: delay,
            claim.M: max(delay * path[0], Fraction(4 * noise)),
            apart2(0): path[0],
            apart2(T): path[-1],
        }
        yield Point(values, part="rate")
    for curvature, low, clients in ((_ONE, _ONE, 1), (Fraction(2), _ONE, 2), (Fraction(3), Fraction(3), 3)):
        yield _moved(curvature, low, clients)
    for clients, rounds in ((1, 1), (1, 4), (2, 2)):
        yield _averaged(clients, rounds)


def _moved(curvature: Fraction, low: Fraction, clients: int) -> Point:
    """All signs of N drifts of size 1."""
    means = [sum(signs, _ZERO) / clients for signs in product((_ONE, -_ONE), repeat=clients)]
    g = sum((m * m for m in means), _ZERO) / len(means)
    values: dict[Any, Any] = {
        convexity: low,
        N: clients,
        G2: 1,
        g2: g,
        x2: g / curvature**2,
    }
    return Point(values, part="clients")


def _averaged(clients: int, rounds: int) -> Point:
    """All signs of the drifts G = 1, D = 1/2 on f = 2 w^2/2 from w_0 = 3, each round replaying its share 1/(t + 1)."""
    curvature, D = Fraction(2), _HALF
    ends, sums = [], []
    for delta in product((_ONE, -_ONE), repeat=clients):
        for xi in product((D, -D), repeat=clients * rounds):
            x, taken = Fraction(3), _ZERO
            for t in range(rounds):
                c = (sum(delta, _ZERO) + sum(xi[t * clients : (t + 1) * clients], _ZERO)) / clients
                share = Fraction(1, t + 1)
                x, taken = (1 - share) * x + share * c / curvature, taken + c
            ends.append(x * x)
            sums.append(taken * taken)
    values: dict[Any, Any] = {
        floors.curvature: curvature,
        N: clients,
        T: rounds,
        G2: 1,
        D2: D**2,
        claim.mean_square(T): sum(ends, _ZERO) / len(ends),
        claim.sum_square(T): sum(sums, _ZERO) / len(sums),
    }
    return Point(values, part="exact")


CHECKS = {
    "ours.cfl_decaying_fedavg": Check(
        decaying_points,
    )
}
