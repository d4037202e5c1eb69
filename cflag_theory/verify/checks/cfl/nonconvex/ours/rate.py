"""Whole runs of Algorithm 2, exactly, over all sign draws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cflag_theory.claims.c_flag.past_task.runs import T
from cflag_theory.claims.cfl.nonconvex.descent import past, squares
from cflag_theory.claims.cfl.nonconvex.ours import rate as claim
from cflag_theory.claims.cfl.symbols import eta_l
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.nonconvex.descent import constants
from cflag_theory.verify.checks.cfl.nonconvex.rate import mean_squared_gradients, stuck
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.quantities.cfl import WorldRound
from cflag_theory.verify.witnesses.drift_rounds import DriftRounds, current

_ONE, _ZERO, _HALF = Fraction(1), Fraction(0), Fraction(1, 2)
_LONG = 40
#: Past and present alike.
_SHARED = ((_ONE,), (_HALF, _HALF), (_HALF / 2, _HALF / 2, _HALF))
_FRESH = current(3)

#: Minimised by f at w = b/a, so that f_* is known.
WORLDS = (
    stuck(Fraction(2), _LONG),
    stuck(_HALF, 6),
    DriftRounds(weights=_SHARED, start=_ONE, a=_HALF, b=_ONE, G=_ONE, D=_HALF, R=_HALF, eta_l=_ONE),
    DriftRounds(weights=_SHARED[:2], start=_ONE, clients=2, G=_ONE, D=_ONE, R=_ONE, eta_l=_HALF),
    DriftRounds(weights=_FRESH[:2], start=_ONE, clients=2, D=_ONE, sigma=_ONE, eta_l=_HALF),
    DriftRounds(weights=_SHARED, start=_ONE, B=_HALF, A=_HALF, eta_l=_HALF),
    DriftRounds(weights=_SHARED[:2], start=_ONE, local_steps=2, G=_ONE, D=_ONE, R=_HALF, eta_l=Fraction(1, 10)),
    DriftRounds(weights=_FRESH[:2], start=_ONE, local_steps=2, sigma=_ONE, G=_HALF, eta_l=Fraction(1, 10)),
    DriftRounds(weights=_FRESH, start=_ONE, local_steps=3, B=_HALF, A=_ONE, eta_l=Fraction(1, 14)),
)


def errors(world: DriftRounds) -> tuple[list[Fraction], Fraction]:
    """E (mean error)^2 by round, and the largest E e^2 of one client at one local step."""
    N, K = world.clients, world.local_steps
    rounds = range(1, world.rounds + 1)
    means = dict.fromkeys(rounds, _ZERO)
    singles: dict[tuple[int, int, int], Fraction] = {}
    for run in world.runs():
        for t in rounds:
            found = {}
            for i in range(N):
                for k in range(K):
                    w = run.local[t][i][k]
                    found[t, i, k] = world.slope(w) - run.mean_gradient(t, i, w)
            means[t] += (sum(found.values(), _ZERO) / (N * K)) ** 2
            for place, error in found.items():
                singles[place] = singles.get(place, _ZERO) + error**2
    return [total / world.draws for total in means.values()], max(singles.values()) / world.draws


def nonconvex_points() -> Iterator[Point]:
    """Whole runs; the drift model round by round; the floor."""
    for world in WORLDS:
        by_round, single = errors(world)
        at = WorldRound(world)
        values: dict[Any, Any] = {
            **constants(world),
            **at.values(T, eta_l, claim.fall, claim.steps, claim.noise2),
            claim.mean_grad2: sum(mean_squared_gradients(world)) / world.rounds,
            claim.error2_mean: sum(by_round) / world.rounds,
            claim.error2: single,
        }
        if world.local_steps == 1:
            yield Point(values, part="1")
        yield Point(values, part="2")
        if not (world.A or world.B):
            for t, found in enumerate(by_round, 1):
                of_round = WorldRound(world, t).values(past, squares)
                numbers = {claim.bar2: found, claim.client2: world.G**2, claim.time2: world.D**2}
                yield Point({**values, **of_round, **numbers}, part="3")
    for step in (_HALF, _ONE, Fraction(2), Fraction(3)):
        world = stuck(step, 5)
        for value in mean_squared_gradients(world):
            numbers = {L: world.a, claim.size: world.G, claim.w_plus(0): world.start, claim.family_grad2: value}
            yield Point(numbers, part="4")


CHECKS = {
    "ours.cfl_nonconvex": Check(
        nonconvex_points,
    )
}
