"""The non-convex rate: the floor replayed round by round, and numbers for its constants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cflag_theory.claims.cfl.nonconvex import descent as nonconvex
from cflag_theory.claims.cfl.nonconvex import local_drift as nonconvex_drift
from cflag_theory.claims.cfl.nonconvex import progress as nonconvex_progress
from cflag_theory.claims.cfl.nonconvex import rate as claim
from cflag_theory.claims.cfl.nonconvex.ours import fedavg
from cflag_theory.claims.cfl.nonconvex.ours import rate as nonconvex_runs
from cflag_theory.claims.cfl.symbols import D2, G2, R2, K, N, T, eta, eta_l, sigma2
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.nonconvex.progress import star
from cflag_theory.verify.checks.cfl.rates.fedavg import fresh, fresh_as_enumerated
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence
from cflag_theory.verify.witnesses.drift_rounds import DriftRounds, current, even

_HALF = Fraction(1, 2)


def stuck(step: Fraction, rounds: int) -> DriftRounds:
    """FedAvg on f = w^2/4 with a client drift of +-1 in all rounds, started at w = 2, where grad f = 1."""
    return DriftRounds(current(rounds), start=Fraction(2), a=_HALF, eta_l=step, G=Fraction(1))


def mean_squared_gradients(world: DriftRounds) -> list[Fraction]:
    """E (f'(w_t))^2 for t = 1, ..., T."""
    runs = list(world.runs())
    return [
        sum((world.slope(run.w[t]) ** 2 for run in runs), Fraction(0)) / len(runs) for t in range(1, world.rounds + 1)
    ]


def _floor(subject: Claim, seed: int, count: int) -> Iterator[Evidence]:
    """The first rounds of the family, for several step sizes."""
    rounds, steps = 12, (Fraction(1, 10), _HALF, Fraction(1), Fraction(2))
    least = min(min(mean_squared_gradients(stuck(step, rounds))) for step in steps)
    summary = (
        f"FedAvg with G = 1, L = 1/2, L w_1 = G: the least 𝔼||grad f(w_t)||^2 of {rounds} rounds over {len(steps)} "
        f"step sizes is {least}."
    )
    finding = REFUTES if least >= _HALF else SUPPORTS
    # Finitely many rounds say nothing about T to infinity: the family's proof does, and this is a second witness.
    data = {"cases": rounds * len(steps), "worst_ratio": float(_HALF / least)}
    for part in ("1a", "1b"):
        yield Evidence("property", part, "printed", finding, summary, data)
    rounds, drift = 4, Fraction(8)
    # eta L = 1/sqrt(T); the mean is to exceed epsilon = D^2/(2 T^2).
    found = {
        name: sum(mean_squared_gradients(DriftRounds(p, a=_HALF, eta_l=Fraction(1), D=drift)), Fraction(0)) / rounds
        for name, p in (("FedAvg", current(rounds)), ("equal weights of rounds", even(rounds)))
    }
    eps = drift**2 / (2 * rounds**2)
    summary = f"T = {rounds}, D = {drift}, epsilon = {eps}: the mean of 𝔼||grad f(w_t)||^2 is "
    summary += ", ".join(f"{mean} with {name}" for name, mean in found.items()) + "."
    finding = REFUTES if min(found.values()) > eps else SUPPORTS
    yield Evidence("property", "1c", "printed", finding, summary, {"cases": len(found)})


def nc_rate_points() -> Iterator[Point]:
    """c_R1 away from 0 and 1, weights of Lemma B.4, and one gradient step with a positive printed c_0."""
    for drift2, loss2 in ((1, 1), (4, 1), (1, 4), (1, 0)):
        share = Fraction(loss2, loss2 + drift2)
        yield Point({D2: drift2, R2: loss2, claim.shares: share, claim.c_R1: share}, part="2")
        for past_rounds in (1, 3):
            past = 1 - star(past_rounds, Fraction(drift2), Fraction(loss2))
            numbers = {D2: drift2, R2: loss2, nonconvex_progress.earlier: past_rounds, nonconvex.past: past}
            yield Point(numbers, part="3")
    for curvature, step in ((Fraction(2), Fraction(1, 4)), (_HALF, _HALF)):
        # One exact gradient step on f = (L/2) w^2 from w = 1: no drift, no noise, p_t = 1.
        coefficient = curvature**2 - _HALF
        moved = 1 - step * curvature
        for sign in (1, -1):
            yield Point(
                {
                    L: curvature,
                    eta: step,
                    nonconvex_drift.c_B: 1,
                    nonconvex.past: 0,
                    nonconvex.grad2: curvature**2,
                    nonconvex_progress.f_now: curvature / 2,
                    nonconvex_progress.f_next: curvature * moved**2 / 2,
                    claim.c_0: sign * coefficient,
                    claim.remainder: 0,
                },
                (f"FedAvg with N = K = 1 and exact gradients on f = ({curvature}/2) w^2 from w_t = 1.",),
                "4",
            )
    yield from _step_sizes()
    yield from _fresh()


def _step_sizes() -> Iterator[Point]:
    """eta = 1/6 by either reading, and the gap f_0 - f_* = 1."""
    for curvature, rounds in ((2, 18), (2, 9), (1, 36)):
        values = {L: curvature, T: rounds, K: 1, N: 1, eta: Fraction(1, 6), nonconvex_runs.fall: 1}
        yield Point(values, part="step")


def _fresh() -> Iterator[Point]:
    """f = w^2/2 with N = K = 1, T = m^2 and eta = 1/m."""
    if not fresh_as_enumerated():
        raise AssertionError("the closed form of fresh drifts disagrees with the enumeration")
    for root, start2, client, time in (
        (5, 1, Fraction(1), Fraction(1)),
        (20, 4, Fraction(1, 2), Fraction(0)),
        (6, 9, 0, 0),
    ):
        step, drift = Fraction(1, root), Fraction(client + time)
        path = fresh(Fraction(start2), step, drift, root**2)
        first = Fraction(8, 3) * step * (Fraction(start2, 2) + drift)
        eps = 2 * max(first, Fraction(20, 3) * step**2 * drift)
        mean = sum(path[:-1], Fraction(0)) / root**2
        values: dict[Any, Any] = {
            **dict.fromkeys((L, N, K), 1),
            **dict.fromkeys((eta, eta_l), step),
            T: root**2,
            sigma2: 0,
            nonconvex_runs.noise2: 0,
            G2: client,
            D2: time,
            fedavg.drift2: drift,
            fedavg.bias: 0,
            fedavg.eps: eps,
            nonconvex_runs.steps: 1,
            nonconvex_runs.fall: Fraction(start2, 2),
            nonconvex_runs.mean_grad2: mean,
        }
        yield Point(values, part="1a")


CHECKS = {
    "cfl.nc_rate": Check(
        nc_rate_points,
        further=_floor,
    )
}
