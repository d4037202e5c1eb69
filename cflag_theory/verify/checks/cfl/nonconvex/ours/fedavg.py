"""Whole runs of FedAvg with fresh drifts, exactly, over all sign draws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cflag_theory.claims.c_flag.past_task.runs import T
from cflag_theory.claims.cfl.nonconvex.ours import fedavg as claim
from cflag_theory.claims.cfl.nonconvex.ours import rate as runs
from cflag_theory.claims.cfl.symbols import eta_l
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.nonconvex.descent import constants
from cflag_theory.verify.checks.cfl.nonconvex.rate import mean_squared_gradients
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.quantities.cfl import WorldRound
from cflag_theory.verify.witnesses.drift_rounds import DriftRounds, current

_ONE, _ZERO, _HALF = Fraction(1), Fraction(0), Fraction(1, 2)
_FRESH = current(3)

WORLDS = (
    DriftRounds(weights=_FRESH, start=_ONE, G=_ONE, D=_HALF, eta_l=Fraction(1, 5), stateless=True),
    DriftRounds(weights=_FRESH, start=_ZERO, G=_ONE, eta_l=Fraction(1, 10), stateless=True),
    DriftRounds(weights=_FRESH[:2], start=_ONE, clients=2, G=_ONE, sigma=_ONE, eta_l=Fraction(1, 5), stateless=True),
    DriftRounds(weights=_FRESH, start=_ONE, local_steps=2, G=_ONE, sigma=_ONE, eta_l=Fraction(1, 10), stateless=True),
    DriftRounds(
        weights=_FRESH[:2], start=_ONE, local_steps=3, D=_ONE, eta_l=Fraction(1, 14), eta_g=2 * _ONE, stateless=True
    ),
)


def largest_bias(world: DriftRounds) -> Fraction:
    """max over the rounds of 𝔼<grad f(w_t), mean drift>, which `stateless` is to make zero."""

    def of_round(t: int) -> Fraction:
        return world.expectation(
            lambda run: world.slope(run.w[t]) * sum((run.drift(t, i, run.w[t]) for i in range(world.clients)), _ZERO)
        )

    return max(of_round(t) for t in range(1, world.rounds + 1)) / world.clients


def fedavg_points() -> Iterator[Point]:
    """Whole runs, with the bias of their drifts computed."""
    for world in WORLDS:
        found, at = mean_squared_gradients(world), WorldRound(world)
        values: dict[Any, Any] = {
            **constants(world),
            **at.values(T, eta_l, runs.fall, runs.steps, runs.noise2),
            runs.mean_grad2: sum(found) / world.rounds,
            claim.drift2: world.G**2 + world.D**2,
            claim.bias: largest_bias(world),
        }
        yield Point(values)


CHECKS = {
    "ours.cfl_fedavg_nonconvex": Check(
        fedavg_points,
    )
}
