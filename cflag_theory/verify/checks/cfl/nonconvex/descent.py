"""One round of the non-convex proof: exact expectations over all draws of small runs of Algorithm 2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from cflag_theory.claims.cfl.nonconvex import descent as claim
from cflag_theory.claims.cfl.symbols import A2, B2, D2, G2, R2, K, N, eta, sigma2
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.quantities.cfl import WorldRound
from cflag_theory.verify.witnesses.drift_rounds import DriftRounds

_HALF, _THIRD = Fraction(1, 2), Fraction(1, 3)
_ONE, _ZERO = Fraction(1), Fraction(0)
#: Two rounds with remembered objectives: p_1 = 1/3, p_2 = 2/3.
_REMEMBERING = ((_ONE,), (_THIRD, 2 * _THIRD))
#: Two local steps on a concave f, started at its maximum: only noise moves the model.
NOISY = DriftRounds(weights=((_ONE,),), a=-_ONE, local_steps=2, eta_l=Fraction(1, 20), sigma=_ONE)
#: The same with a fixed client drift in place of the noise.
DRIFTING = DriftRounds(weights=((_ONE,),), a=-_ONE, local_steps=2, eta_l=Fraction(1, 4), G=_ONE)

WORLDS = (
    NOISY,
    DRIFTING,
    replace(NOISY, a=_ONE, start=_ONE),
    replace(NOISY, local_steps=1, start=_HALF, D=_ONE),
    replace(DRIFTING, clients=2, D=_HALF, start=_ONE, local_steps=1),
    DriftRounds(weights=_REMEMBERING, start=_ONE, a=-_HALF, local_steps=2, eta_l=_THIRD, D=_ONE, G=_HALF, R=_ONE),
    DriftRounds(weights=_REMEMBERING, start=2 * _ONE, eta_l=_HALF, B=_THIRD, A=_HALF, R=-_THIRD, sigma=_ONE),
    # The information loss is grad f itself, so that the Young inequality of (26) is an equality.
    DriftRounds(weights=_REMEMBERING, start=_ONE, a=_ONE, b=_ZERO, eta_l=_HALF, R=_HALF),
)


def points_of(world: DriftRounds) -> list[tuple[int, int]]:
    """(i, k) of the local gradients of a round, k = 0 being the first."""
    return [(i, k) for i in range(world.clients) for k in range(world.local_steps)]


def mean(world: DriftRounds, value: Any) -> Fraction:
    """E of value(run, i, w_{t,i,k}) in the last round, averaged over clients and local steps."""
    t, places = world.rounds, points_of(world)
    return world.expectation(
        lambda run: sum((value(run, i, run.local[t][i][k]) for i, k in places), _ZERO) / len(places)
    )


def constants(world: DriftRounds) -> dict[Any, Any]:
    """L of f, which need not be convex, what the other assumptions name, and the weights of the last round."""
    named = (eta, N, K, G2, B2, D2, A2, R2, sigma2, claim.noise2, claim.Delta2, claim.past, claim.past2, claim.squares)
    return {L: abs(world.a), **WorldRound(world).values(*named)}


def moments(world: DriftRounds) -> dict[Any, Any]:
    """The symbols of (26), (27) and (32), averaged over clients and local steps."""
    t = world.rounds
    WorldRound(world, t)
    return {
        **constants(world),
        **WorldRound(world).values(claim.grad2, claim.inner, claim.move2, claim.loss2),
        claim.whole2: mean(world, lambda run, i, w: run.weighted_gradient(t, i, w) ** 2),
        claim.gap2: mean(world, lambda run, i, w: (world.slope(run.w[t]) - run.weighted_gradient(t, i, w)) ** 2),
    }


def nc_eq26_points() -> Iterator[Point]:
    """All worlds, and step sizes for part 3."""
    for world in WORLDS:
        yield Point(moments(world), (world.words,))
    yield from (Point({L: curvature, eta: Fraction(1, 2 * curvature)}, part="3") for curvature in (1, 3))


def local(world: DriftRounds, i: int, k: int) -> dict[Any, Any]:
    """The symbols of (28) at client i and local step k of the last round."""
    t = world.rounds

    def expected(value: Any) -> Fraction:
        return world.expectation(lambda run: value(run, run.w[t], run.local[t][i][k]))

    return {
        **constants(world),
        claim.grad2: expected(lambda run, w, here: world.slope(w) ** 2),
        claim.grad_k2: expected(lambda run, w, here: world.slope(here) ** 2),
        claim.dist2: expected(lambda run, w, here: (here - w) ** 2),
        claim.change2: expected(lambda run, w, here: (world.slope(w) - world.slope(here)) ** 2),
        claim.drift2: expected(lambda run, w, here: (world.slope(here) - run.weighted_gradient(t, i, here)) ** 2),
        claim.gap2: expected(lambda run, w, here: (world.slope(w) - run.weighted_gradient(t, i, here)) ** 2),
    }


def nc_eq28_points() -> Iterator[Point]:
    """Every client and local step of every world."""
    for world in WORLDS:
        for i, k in points_of(world):
            yield Point(local(world, i, k), (world.words, f"Client {i + 1} after {k} local steps."))
    # grad f(w_t) - grad f(w_k) and the drift point the same way, which makes 2 and 2 sharp.
    for size in (_HALF, _ONE):
        world = replace(DRIFTING, eta_l=size)
        yield Point(local(world, 0, 1), (world.words, "Client 1 after 1 local step."))


CHECKS = {
    "cfl.nc_eq26": Check(nc_eq26_points),
    "cfl.nc_eq28": Check(nc_eq28_points),
}
