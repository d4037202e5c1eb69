"""(10)-(13) and (15): rounds of Algorithm 2 over all draws of drifts and noises, and instances that break a line."""

from __future__ import annotations

from collections.abc import Iterator

from cflag_theory.claims.cfl.one_round import progress as claim
from cflag_theory.claims.cfl.symbols import eta, mu
from cflag_theory.claims.cfl.vectors import draw, fresh
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.quantities.cfl import WorldRound
from cflag_theory.verify.witnesses.drift_rounds import DriftRounds, Run, even
from cflag_theory.verify.witnesses.one_round import of_run

_ZERO, _ONE, _HALF, _THIRD, _QUARTER = Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)
_FIRST, _EVEN = even(1), even(2)

#: Of each the last round is looked at; the biased ones come first.
WORLDS = (
    DriftRounds(_EVEN, eta_l=Fraction(1, 20), D=_ONE),
    DriftRounds(_EVEN, start=_ONE, local_steps=2, eta_l=_QUARTER, D=_HALF, G=_HALF, R=_THIRD, sigma=_HALF),
    DriftRounds(_FIRST, start=Fraction(2), clients=2, local_steps=2, b=_HALF, eta_l=_THIRD, D=_ONE, sigma=_ONE),
    DriftRounds(_FIRST, start=_ONE, a=_HALF, local_steps=3, eta_g=_HALF, B=_QUARTER, A=_HALF, G=_ONE),
    DriftRounds(_FIRST, start=_ONE, eta_l=_THIRD, sigma=_ONE),
    DriftRounds(_EVEN, start=-_ONE, clients=2, D=_HALF, R=-_HALF, stateless=True, G=_THIRD),
)


def eq10_points() -> Iterator[Point]:
    """Rounds for (10); points of local paths for (12)."""
    for at in map(WorldRound, WORLDS):
        yield at.point(claim.dist2, claim.next2, claim.dist_dot_move, claim.move2, part="1")
    # Far steps: only there is a norm larger than its square.
    far = DriftRounds(_FIRST, b=Fraction(2), local_steps=2, D=Fraction(2), sigma=Fraction(4))
    for world in (far, *WORLDS):
        for run in world.runs():
            yield from _path_points(run, WorldRound(world))
            if run.world is not far:
                break


def _path_points(run: Run, at: WorldRound) -> Iterator[Point]:
    t, star, w = at.t, at.star, run.w[at.t]
    for tau in range(1, t + 1):
        for x in run.local[t][0][:-1]:
            slope = run.gradient(tau, 0, x)
            yield Point(
                {
                    **at.values(L, mu),
                    claim.h_t: run.value(tau, 0, w),
                    claim.h_star: run.value(tau, 0, star),
                    claim.to_star: slope * (star - w),
                    claim.gap2: (star - w) ** 2,
                    claim.step: abs(x - w),
                },
                (
                    f"{at.words} One draw, client 1.",
                    f"w_t = {w}, w* = {star}, x = {x} on the local path; grad f_(tau,i)(x) = {slope} for tau = {tau}.",
                ),
                "2",
            )


#: What (10)-(15) speak of.
MOMENTS = (
    *(L, mu, eta, claim.rho, claim.dist, claim.dist2, claim.drift2, claim.local_gap, claim.gap),
    *(claim.pull, claim.true_pull, claim.loss_pull, claim.loss_size(draw, fresh)),
)


def eq13_points() -> Iterator[Point]:
    """Rounds 1 and 2: in the second w_t has been pulled along a drift that its objective contains again."""
    for at in map(WorldRound, WORLDS):
        yield at.point(*MOMENTS, claim.dist_dot_move)


def eq15_points() -> Iterator[Point]:
    """One draw of a round each; the last ones come near to equality."""
    # The client's minimiser is 2 w_t and a local step of 1/L goes there.
    near = [DriftRounds(_FIRST, start=_ONE, local_steps=steps, eta_l=_ONE, D=_ONE * 2) for steps in (2, 9, 33)]
    for world in (*WORLDS, *near):
        found = of_run(next(iter(world.runs())), world.rounds)
        known = WorldRound(world).values(L, eta, claim.c_B)
        c = known[claim.c_B]
        yield Point(
            {
                **known,
                claim.grad_here2: c * found.mean(lambda k, w=world: [w.slope(x) ** 2 for x in k.path[:-1]]),  # type: ignore[misc]
                claim.c_drift2: c * found.mean(lambda k: [(x - k.path[0]) ** 2 for x in k.path[:-1]]),
                claim.gap: world.f(found.start) - world.f(world.b / world.a),
            }
        )


CHECKS = {
    "cfl.eq10": Check(eq10_points),
    "cfl.eq13": Check(eq13_points),
    "cfl.eq15": Check(eq15_points),
}
