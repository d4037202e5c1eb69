"""The weights of all of (23), the value of (33) against F, c_O where C <= A, and the floor of drifts that stay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from cflag_theory.claims.cfl.rates.correlated import products, squares
from cflag_theory.claims.cfl.symbols import D2, F2, G2, N, eta, eta_g, p_t
from cflag_theory.claims.cfl.weights.independent import past, past2, past_sum, v
from cflag_theory.claims.cfl.weights.ours.variance import (
    R,
    bias2,
    common2,
    delta2,
    drift2,
    fresh2,
    iterate2,
    lead,
    own2,
    pairs,
    start,
    start2,
    y,
)
from cflag_theory.claims.engine.notation import L, k
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.rates.correlated import constant_points, variance_points
from cflag_theory.verify.checks.cfl.rates.remarks import more_correlation
from cflag_theory.verify.evidence import Point

_FRACTIONS = tuple(map(Fraction, ("1/10", "1", "0", "2", "1/9", "4", "1/20")))


def bound_points() -> Iterator[Point]:
    """Small and large steps, starts near and far, against three choices of weights."""
    tenth, one, zero, two, ninth, four, twentieth = _FRACTIONS
    grid = product((2, 3), (tenth, one), (zero, one, two), (zero, ninth, four), (zero, twentieth, two))
    for t, size, information, d2, distance in grid:
        yield from _weighted(t, size, information, d2, distance)
    # Just above the threshold of part 1: a D^2 is 1.001 times R ||w_0 - w*||.
    yield from _weighted(2, tenth, one, Fraction(1001, 1000) * twentieth / (2 * tenth + tenth**2 / 3), twentieth)


def _weighted(t: int, size: Fraction, information: Fraction, d2: Fraction, distance: Fraction) -> Iterator[Point]:
    a = 2 * size + size**2 / 3
    total = a * ((t - 1) * information**2 + t * d2)
    if not total:
        return
    each = (a * d2 - information * distance) / total
    best = [each] * (t - 1) + [1 - (t - 1) * each]
    for p in (best, [Fraction(0)] * (t - 1) + [Fraction(1)], [Fraction(1, t)] * t):
        values: dict[Any, Any] = {
            eta: size,
            eta_g: 1,
            L: 1,
            lead: a,
            R: information,
            D2: d2,
            G2: 0,
            start: distance,
            past: t - 1,
            p_t: p[-1],
            past2: sum((b**2 for b in p[:-1]), Fraction(0)),
            past_sum: sum(p[:-1], Fraction(0)),
        }
        # Below zero they are part 1's case.
        if each < 0:
            yield Point(values, part="1")
        else:
            yield Point(values | {v: each})


def least_points() -> Iterator[Point]:
    """The least value of (33) at two values of F, and against its limit."""
    yield from (replace(point, part="1") for point in more_correlation())
    yield from (replace(point, part="2") for point in variance_points())


def floor_points() -> Iterator[Point]:
    """N clients with c_i = F or -F and z_{t,i} = 1 or -1 (or 0), over all draws of both for one or two rounds."""
    for clients, size, begin, fresh, steps in product(
        (1, 2),
        (Fraction(1), Fraction(1, 2)),
        (Fraction(1), Fraction(3)),
        (0, 1),
        ((Fraction(1, 2),), (Fraction(1, 2), Fraction(1, 2)), (Fraction(1),), ()),
    ):
        yield _run(clients, size, begin, fresh, steps)
    # The steps that leave the least.
    yield _run(1, Fraction(1), Fraction(2), 0, (Fraction(4, 5),))


def _run(clients: int, size: Fraction, begin: Fraction, fresh: int, steps: tuple[Fraction, ...]) -> Point:
    """One case: f_{t,i}(w) = (w - c_i - z_{t,i})^2 / 2, current objectives only, K = 1."""
    total, spread, cases = Fraction(0), Fraction(0), 0
    for signs in product((1, -1), repeat=clients):
        for draws in product((1, -1), repeat=clients * len(steps)):
            common = sum((s * size for s in signs), Fraction(0)) / clients
            at, drawn = begin, Fraction(0)
            for round_, step in enumerate(steps):
                noise = Fraction(fresh * sum(draws[clients * round_ : clients * (round_ + 1)]), clients)
                at -= step * (at - common - noise)
                drawn = (1 - step) * drawn + step * noise
            total, spread, cases = total + at**2, spread + drawn**2, cases + 1
    left = Fraction(1)
    for step in steps:
        left *= 1 - step
    values: dict[Any, Any] = {
        N: clients,
        F2: size**2,
        start2: begin**2,
        common2: size**2 / clients,
        k: len(steps),
        y(k): left,
        fresh2(k): spread / cases,
        iterate2(k): total / cases,
    }
    return Point(values)


def bias_points() -> Iterator[Point]:
    """xi = c_i + z_{tau,i} and delta_i by all their signs, for N = 1 and 2 clients and weights 1/t and (0, ..., 1)."""
    sizes = Fraction(0), Fraction(1, 2), Fraction(1)
    for clients, t in product((1, 2), (1, 2)):
        for client, common, fresh in product(sizes[::2], sizes[:2], sizes[::2]):
            for p in ([Fraction(1, t)] * t, [Fraction(0)] * (t - 1) + [Fraction(1)]):
                yield _moments(clients, p, client, common, fresh)


def _moments(clients: int, p: list[Fraction], client: Fraction, common: Fraction, fresh: Fraction) -> Point:
    total, cases = Fraction(0), 0
    for signs in product((1, -1), repeat=clients * (2 + len(p))):
        drifts = Fraction(0)
        for i in range(clients):
            first, second, *others = signs[i * (2 + len(p)) : (i + 1) * (2 + len(p))]
            drifts += client * first + sum(
                (weight * (common * second + fresh * sign) for weight, sign in zip(p, others, strict=True)), Fraction(0)
            )
        total, cases = total + (drifts / clients) ** 2, cases + 1
    alone = sum((weight**2 for weight in p), Fraction(0))
    d2, f2 = common**2 + fresh**2, common**2
    values: dict[Any, Any] = {
        N: clients,
        bias2: total / cases,
        delta2: client**2,
        drift2: d2,
        own2: alone * d2,
        pairs: (1 - alone) * f2,
        squares: alone,
        products: 1 - alone,
        G2: client**2,
        D2: d2,
        F2: f2,
    }
    return Point(values)


CHECKS = {
    "ours.cfl_bound_weights": Check(bound_points),
    "ours.cfl_correlated_minimum": Check(least_points),
    "ours.cfl_largest_constant": Check(constant_points),
    "ours.cfl_correlated_floor": Check(floor_points),
    "ours.cfl_correlated_bias": Check(bias_points),
}
