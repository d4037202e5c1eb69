"""(32): exact rounds with few drifts, the sign of its coefficient, and its constant term over the weights."""

from __future__ import annotations

from collections.abc import Iterator

from cflag_theory.claims.cfl.nonconvex import descent as nonconvex
from cflag_theory.claims.cfl.nonconvex import local_drift as nonconvex_drift
from cflag_theory.claims.cfl.nonconvex import progress as claim
from cflag_theory.claims.cfl.symbols import A2, B2, D2, G2, R2, eta
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.nonconvex.descent import WORLDS, moments, points_of
from cflag_theory.verify.checks.cfl.nonconvex.local_drift import distances, drift_constants
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.witnesses.drift_rounds import DriftRounds

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
    for curvature, weight in (
        (Fraction(1), Fraction(1)),
        (_HALF, Fraction(1)),
        (Fraction(1, 3), _HALF),
        (_HALF, _HALF),
    ):
        words = f"A = B = 0, so that c_pB = 1, L = {curvature} and p_t = {weight}: the left side is the coefficient."
        yield Point({L: curvature, nonconvex_drift.c_B: 1, nonconvex.past: 1 - weight}, (words,), "2")
    for rounds in (1, 2, 4):
        squares = Fraction(1, rounds)
        numbers = {
            L: _HALF,
            B2: 2,
            A2: 1,
            nonconvex.squares: squares,
            nonconvex.past: 1 - squares,
            nonconvex_drift.c_B: 1 + 2 + squares,
        }
        words = (
            f"L = 1/2, A^2 = 1, B^2 = 2 and p_tau = 1/{rounds} in every round: the left side is c_0 as printed, the "
            f"right side the coefficient of (32)."
        )
        yield Point(numbers, (words,), "3")


def star(past_rounds: int, drift2: Fraction, loss2: Fraction) -> Fraction:
    """p_t of Lemma B.4."""
    return (past_rounds * loss2 + drift2) / ((past_rounds + 1) * drift2 + past_rounds * loss2)


def nc_weights_points() -> Iterator[Point]:
    """Weights on both sides of the optimum, the earlier rounds weighted alike or not."""
    for past_rounds, drift2, loss2 in ((1, 1, 4), (1, 1, 0), (2, 3, 1), (3, Fraction(1, 2), 2)):
        best = star(past_rounds, Fraction(drift2), Fraction(loss2))
        for weight in (Fraction(0), Fraction(1, 3), 1 - best, Fraction(1)):
            alike = weight**2 / past_rounds
            for earlier2 in {alike, weight**2}:
                yield Point(
                    {
                        G2: 1,
                        D2: drift2,
                        R2: loss2,
                        L: 1,
                        eta: _HALF,
                        claim.earlier: past_rounds,
                        claim.q: weight,
                        claim.earlier2: earlier2,
                        claim.p_best: best,
                    },
                    (
                        f"t = {past_rounds + 1}, G = L = 1, D^2 = {drift2}, R^2 = {loss2}, eta = 1/2: the left side "
                        f"is the constant term of (32) at the p_t = {best} of Lemma B.4, the right side is that term "
                        f"at p_t = {1 - weight}.",
                    ),
                )


CHECKS = {
    "cfl.nc_eq32": Check(nc_eq32_points),
    "cfl.nc_weights": Check(nc_weights_points),
}
