"""(29) to (31): the same small runs, and numbers for the step size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cflag_theory.claims.cfl.nonconvex import descent as nonconvex
from cflag_theory.claims.cfl.nonconvex import local_drift as claim
from cflag_theory.claims.cfl.symbols import R2, K, eta_l, sigma2
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.nonconvex.descent import WORLDS, moments, points_of
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.quantities.cfl import WorldRound
from cflag_theory.verify.witnesses.drift_rounds import DriftRounds

_ZERO = Fraction(0)


def drift_constants(world: DriftRounds) -> dict[Any, Any]:
    """c_pB and c_pG of the last round."""
    return WorldRound(world).values(claim.c_B, claim.c_G, eta_l)


def distances(world: DriftRounds, i: int) -> list[Fraction]:
    """E (w_{t,i,k} - w_t)^2 for k = 0, ..., K in the last round."""
    t = world.rounds

    def squared(k: int) -> Fraction:
        return world.expectation(lambda run: (run.local[t][i][k] - run.w[t]) ** 2)

    return [squared(k) for k in range(world.local_steps + 1)]


def _local_gradients(world: DriftRounds, i: int, k: int) -> Fraction:
    """The mean over the first k local steps of 𝔼||grad bar f_{t,i}||^2."""
    t = world.rounds
    return world.expectation(
        lambda run: sum((run.mean_gradient(t, i, run.local[t][i][j]) ** 2 for j in range(k)), _ZERO) / k
    )


def nc_eq31_points() -> Iterator[Point]:
    """Part 1: means of a round. Part 2: every client and step. Part 3: L on both sides of one."""
    for world in WORLDS:
        values = {**moments(world), **drift_constants(world)}
        places = points_of(world)
        far = [distances(world, i) for i in range(world.clients)]
        values[nonconvex.dist2] = sum(far[i][k] for i, k in places) / len(places)
        yield Point({**values, claim.c_dist: values[claim.c_B] * values[nonconvex.dist2]}, (world.words,), "1")
        # In part 2 the means are over the steps of one client: the move and the squares of the whole round are others.
        whole = (nonconvex.move2, nonconvex.inner, nonconvex.whole2, nonconvex.gap2, nonconvex.loss2, nonconvex.dist2)
        values = {key: value for key, value in values.items() if key not in whole}
        for i in range(world.clients):
            for k in range(1, world.local_steps + 1):
                of_step = {
                    claim.step: k,
                    claim.reached2: far[i][k],
                    nonconvex.local2: _local_gradients(world, i, k),
                    claim.dist_last2: far[i][k - 1],
                    claim.dist_max2: max(far[i][:k]),
                    nonconvex.dist2: sum(far[i][:k]) / k,
                }
                yield Point({**values, **of_step}, (world.words, f"Client {i + 1} after {k} local steps."), "2")
    yield from _numbers()


def _numbers() -> Iterator[Point]:
    for smoothness, size, steps, drift in (
        (Fraction(4, 3), Fraction(1, 3), 1, 1),
        (Fraction(1, 2), Fraction(1, 3), 1, 1),
        (Fraction(4, 3), Fraction(1, 4), 1, 1),
        (Fraction(3), Fraction(1, 12), 1, 2),
        (Fraction(1, 2), Fraction(1, 4), 4, Fraction(1, 2)),
        (Fraction(1), Fraction(1, 4), 1, Fraction(1)),
        (Fraction(2), Fraction(1, 10), 1, Fraction(1)),
        (Fraction(1), Fraction(1, 4), 1, Fraction(2)),
        (Fraction(6, 5), Fraction(1, 4), 1, Fraction(2)),
    ):
        values = {
            L: smoothness,
            eta_l: size,
            K: steps,
            claim.c_B: drift,
            nonconvex.grad2: 1,
            claim.c_G: 1,
            nonconvex.past2: Fraction(1, 4),
            R2: 1,
            sigma2: 2,
        }
        share = steps**2 * size**2
        above = 4 * share * drift + 2 * share * (1 + Fraction(1, 4)) + 2 * steps * size**2
        yield Point({**values, claim.iterated: drift * above / (1 - 4 * share * smoothness**2 * drift)}, part="3")


CHECKS = {
    "cfl.nc_eq31": Check(
        nc_eq31_points,
    )
}
