"""FedAvg over all signs of the time drifts, measured from the minimiser of the mean of its losses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from cflag_theory.claims.cfl.rates.ours import online as claim
from cflag_theory.claims.cfl.rates.ours.strongly_convex import n2
from cflag_theory.claims.cfl.rates.ours.sum_over_rounds import summed
from cflag_theory.claims.cfl.symbols import D2, N, T, eta, sigma2
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.witnesses.drift_rounds import DriftRounds, Run, current

_ZERO, _ONE = Fraction(0), Fraction(1)


def _drift(run: Run, t: int) -> Fraction:
    """The mean drift of round t."""
    return sum((xi for xi, _ in run.time[t]), _ZERO) / run.world.clients


def _mean(run: Run) -> Fraction:
    rounds = run.world.rounds
    return sum((_drift(run, t) for t in range(1, rounds + 1)), _ZERO) / rounds


def _least(run: Run) -> Fraction:
    """w_T*."""
    return (run.world.b + _mean(run)) / run.world.a


def excess(world: DriftRounds, t: int) -> Fraction:
    """𝔼[h(w_t) - h*]."""
    return world.expectation(lambda run: world.a / 2 * (run.w[t] - _least(run)) ** 2)


@dataclass(frozen=True)
class Found:
    """𝔼||w_0 - w_T*||^2, and the least 𝔼[h(w_t) - h*] of the rounds."""

    start2: Fraction
    least: Fraction


def least_excess(world: DriftRounds) -> Found:
    """What a run comes to."""
    start2 = world.expectation(lambda run: (run.w[1] - _least(run)) ** 2)
    return Found(start2, min(excess(world, t) for t in range(1, world.rounds + 1)))


#: w_0 is the origin. The last world has no curvature to speak of.
WORLDS = (
    DriftRounds(current(3), b=_ONE, D=_ONE, eta_l=Fraction(1, 2)),
    DriftRounds(current(2), a=Fraction(1, 2), b=_ONE, D=_ONE, sigma=_ONE, clients=2, eta_l=Fraction(1, 3)),
    DriftRounds(current(4), a=Fraction(1, 100), D=_ONE, eta_l=Fraction(1, 2)),
)


def points() -> Iterator[Point]:
    """Every round of each world, what its first drift does, and the whole run; L = 1."""
    for world in WORLDS:
        E, rounds = world.expectation, world.rounds
        common: dict[Any, Any] = {L: 1, eta: world.eta, N: world.clients, T: rounds}
        common |= {D2: world.D**2, sigma2: world.sigma**2}
        for t in range(1, rounds + 1):
            yield Point({**common, **_round(E, t), summed: excess(world, t)}, part="round")
            if t > 1:
                moved = {
                    claim.count: t - 2,
                    claim.c2: E(lambda run: _drift(run, 1) ** 2),
                    claim.c_w(claim.count): E(lambda run, t=t: _drift(run, 1) * run.w[t]),  # type: ignore[misc]
                }
                yield Point({**common, **moved}, part="moved")
        found = least_excess(world)
        yield Point({**common, claim.least: found.least, claim.far(0): found.start2}, part="rounds")


def _round(E: Callable[[Callable[[Run], Fraction]], Fraction], t: int) -> dict[Any, Any]:
    return {
        claim.before2: E(lambda run: (run.w[t] - _least(run)) ** 2),
        claim.after2: E(lambda run: (run.w[t + 1] - _least(run)) ** 2),
        claim.m_w: E(lambda run: _mean(run) * run.w[t]),
        claim.m_y: E(lambda run: _mean(run) * _least(run)),
        claim.b_y: E(lambda run: _drift(run, t) * _least(run)),
        claim.apart2: E(lambda run: (_mean(run) - _drift(run, t)) ** 2),
        n2: E(lambda run: (sum((nu for one in run.noise[t] for nu in one), _ZERO) / run.world.clients) ** 2),
    }


CHECKS = {
    "ours.cfl_online": Check(
        points,
    )
}
