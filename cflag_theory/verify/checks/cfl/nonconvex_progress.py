"""(32): exact rounds with few drifts, the sign of its coefficient, and its constant term over the weights."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from cflag_theory.claims.cfl.nonconvex import descent as nonconvex
from cflag_theory.claims.cfl.nonconvex import local_drift as nonconvex_drift
from cflag_theory.claims.cfl.nonconvex import progress as claim
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.nonconvex_descent import WORLDS, moments, points_of
from cflag_theory.verify.checks.cfl.nonconvex_local_drift import distances, drift_constants
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.instances.drift_rounds import DriftRounds

_HALF = Fraction(1, 2)


def _mean_f(world: DriftRounds, t: int) -> Fraction:
    """𝔼 f(w_t)."""
    return world.expectation(lambda run: world.f(run.w[t]))


def nc_eq32_points() -> Iterator[Point]:
    """Part 1: the rounds in which the printed steps hold; part 2: the coefficient; part 3: weights of 1/t."""
    for world in WORLDS:
        values = {**moments(world), **drift_constants(world)}
        far = [distances(world, i) for i in range(world.clients)]
        places = points_of(world)
        mean = sum(far[i][k] for i, k in places) / len(places)
        yield Point(
            {
                **values,
                nonconvex.dist2: mean,
                nonconvex_drift.c_dist: values[nonconvex_drift.c_B] * mean,
                claim.f_now: _mean_f(world, world.rounds),
                claim.f_next: _mean_f(world, world.rounds + 1),
            },
            (world.words,),
            "1",
        )


def star(past_rounds: int, drift2: Fraction, loss2: Fraction) -> Fraction:
    """p_t of Lemma B.4."""
    return (past_rounds * loss2 + drift2) / ((past_rounds + 1) * drift2 + past_rounds * loss2)


CHECKS = {
    "cfl.nc_eq32": Check(nc_eq32_points),
}
