"""Second moments over all signs of the time drifts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.rates import floors
from cflag_theory.claims.cfl.rates.floors import apart2
from cflag_theory.claims.cfl.rates.ours import sum_over_rounds as summed
from cflag_theory.claims.cfl.rates.ours import time_drift as claim
from cflag_theory.claims.cfl.rates.ours.strongly_convex import r
from cflag_theory.claims.cfl.rates.theorems import mu
from cflag_theory.claims.cfl.symbols import D2, G2, N, T, eta
from cflag_theory.claims.cfl.symbols import mu as convexity
from cflag_theory.claims.engine.notation import L, k
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.rates.fedavg import fresh
from cflag_theory.verify.checks.cfl.rates.ours.sum_over_rounds import SIZES, expectation, mean_drifts
from cflag_theory.verify.checks.cfl.rates.theorems import gaps
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.witnesses.drift_rounds import DriftRounds, current, even

_ZERO, _ONE, _HALF = Fraction(0), Fraction(1), Fraction(1, 2)


def _bent(m: Fraction) -> Fraction:
    """f(y) with f'(y) = m, for f = w^2/2, and max(|w| - 1/2, 0)^2/2 more."""
    y = max(min(m, _HALF), (m + _HALF) / 2) if m > 0 else min(max(m, -_HALF), (m - _HALF) / 2)
    return y * y / 2 + max(abs(y) - _HALF, _ZERO) ** 2 / 2


def points() -> Iterator[Point]:
    """Quadratics and a function with two curvatures; runs of Algorithm 2 with the weights 1/t and with p_t = 1."""
    for clients, rounds, G in SIZES:
        means = mean_drifts(clients, rounds, G)
        for gap in (expectation([m * m / 2 for m in means]), expectation([_bent(m) for m in means])):
            moment = expectation([m * m for m in means])
            sizes: dict[Any, Any] = {convexity: 1, N: clients, T: rounds, G2: G**2, D2: 1}
            yield Point({**sizes, summed.m2: moment, summed.y_gap: gap}, part="minimiser")
    yield from (
        _run(*sizes) for sizes in ((_ONE, 5, 4, Fraction(1, 9)), (_HALF, 4, 3, _HALF), (Fraction(1, 3), 3, 5, _ONE))
    )
    for clients, rounds in ((1, 1), (1, 5), (2, 3)):
        curvature = Fraction(2)
        world = DriftRounds(even(rounds), start=Fraction(3), a=curvature, eta_l=1 / curvature, clients=clients, D=_ONE)
        values = {floors.curvature: curvature, N: clients, k: rounds - 1, D2: 1, claim.last_gap: gaps(world)[-1]}
        yield Point(values, part="attained")
    for clients, rounds, step in ((1, 4, Fraction(1, 3)), (2, 3, _ONE)):
        world = DriftRounds(current(rounds), start=Fraction(2), eta_l=step, clients=clients, D=_ONE)
        last = 2 * gaps(world)[-1]
        if last != fresh(Fraction(4), step, Fraction(1, clients), rounds)[-1]:
            raise AssertionError("the closed form of fresh drifts disagrees with the enumeration")
        values = {floors.curvature: 1, N: clients, T: rounds, D2: 1, eta: step, apart2(T): last, floors.start2: 4}
        yield Point({**values, claim.floor: step / (clients * (2 - step))}, part="fedavg")


def _run(step: Fraction, since: int, more: int, excess: Fraction) -> Point:
    """w^2/2 from w_0 = 1: round `since`, and `more` rounds later."""
    world = DriftRounds(even(since + more), start=_ONE, eta_l=step, D=_ONE)
    path = [sp.sqrt(sp.Rational(2 * gap)) for gap in gaps(world)]
    values: dict[Any, Any] = {
        mu: 1,
        L: 1,
        eta: step,
        r: 1 - step,
        N: 1,
        D2: 1,
        claim.since: since,
        claim.count: more,
        claim.excess: excess,
        claim.later_root(0): path[since],
        claim.later_root(claim.count): path[-1],
        claim.lead(claim.count): 1 / sp.sqrt(since + more),
    }
    return Point(values, part="iterates")


CHECKS = {
    "ours.cfl_time_drift": Check(
        points,
    )
}
