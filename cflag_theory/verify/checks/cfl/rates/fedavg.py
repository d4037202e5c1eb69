"""The convex rates of FedAvg: clients that stay, over every draw, and fresh drifts in closed form."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.rates import fedavg as claim
from cflag_theory.claims.cfl.rates import floors
from cflag_theory.claims.cfl.rates import summed as over_rounds
from cflag_theory.claims.cfl.rates import theorems as shared
from cflag_theory.claims.cfl.rates.weighted_means import C, drift2
from cflag_theory.claims.cfl.symbols import A2, B2, D2, G2, K, N, T, c_O, eta, sigma2
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.rates.ours.online import least_excess
from cflag_theory.verify.checks.cfl.rates.theorems import fixed_clients, gaps
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence
from cflag_theory.verify.witnesses.drift_rounds import DriftRounds, current

_ZERO = Fraction(0)


def _floors(subject: Claim, seed: int, count: int) -> Iterator[Evidence]:
    for part in ("strongly", "generally"):
        for rounds, local_steps in ((1, 1), (5, 1), (5, 2)):
            least, floor = fixed_clients(current, rounds, local_steps)
            summary = (
                f"f = w^2/2, G = D = 1, N = 1, K = {local_steps}, p_t = 1, eta_l = 1/2, w_0 = 1, T = {rounds}: over "
                f"all draws the least 𝔼 f(w_t) - f* is {least}, the floor {floor}."
            )
            finding = REFUTES if least >= floor else SUPPORTS
            yield Evidence("property", part, "printed", finding, summary, {"least": str(least), "floor": str(floor)})
    for rounds, step in ((4, Fraction(1, 10)), (4, Fraction(1, 2)), (8, Fraction(1, 5))):
        least, floor = noisy(rounds, step)
        summary = (
            f"f = w^2/2, sigma = 1, no drift, N = K = 1, eta_l = {step}, w_0^2 = 1/T, T = {rounds}: over all draws the "
            f"least 𝔼 f(w_t) - f* is {float(least):.6g}, the floor sigma^2/(4 mu T) = {floor}."
        )
        finding = REFUTES if least >= floor else SUPPORTS
        yield Evidence("property", "noise", "printed", finding, summary, {"least": str(least), "floor": str(floor)})


def noisy(rounds: int, step: Fraction) -> tuple[Fraction, Fraction]:
    """The least 𝔼 f(w_t) - f* with gradient noise alone, from the closed form, and the floor sigma^2/(4 mu T)."""
    return min(fresh(Fraction(1, rounds), step, Fraction(1), rounds)) / 2, Fraction(1, 4 * rounds)


def noisy_as_enumerated() -> bool:
    """The closed form against every draw of three rounds of gradient noise."""
    world = DriftRounds(weights=current(3), start=Fraction(2), eta_l=Fraction(1, 3), sigma=Fraction(1))
    return gaps(world) == [square / 2 for square in fresh(Fraction(4), Fraction(1, 3), Fraction(1), 3)]


def two_halves(noise: Fraction, start2: Fraction, rounds: int) -> Point:
    """T rounds with the step 1/10 on w^2/2, and T with 4/(t + 40): L = mu = 1, so s = 40."""
    delay = 38
    path = fresh(start2, Fraction(1, 10), noise, rounds)
    end, second, total = path[-1], [path[-1]], _ZERO
    for t in range(rounds):
        step = Fraction(4, t + delay + 2)
        total += (t + delay + 1) * second[-1] / 2
        second.append((1 - step) ** 2 * second[-1] + step**2 * noise)
    least = min(second[:-1]) / 2
    values: dict[Any, Any] = {
        L: 1,
        shared.mu: 1,
        N: 1,
        K: 1,
        sigma2: noise,
        A2: 0,
        B2: 0,
        C: 1,
        T: rounds,
        claim.delay: delay,
        floors.start2: start2,
        floors.gap(T): second[-1] / 2,
        floors.apart2(0): start2,
        floors.apart2(T): end,
        claim.late(0): end,
        claim.late(T): second[-1],
        claim.late_total(T): total,
        claim.late_least: least,
    }
    return Point(values, part="noise")


def two_halves_summed(rounds: int) -> Point:
    """The same run with D = 1 and sigma = 0, measured from the minimiser of the mean of all its losses, w_0 = 1."""
    steps = [Fraction(1, 10)] * rounds + [Fraction(4, t + 40) for t in range(rounds)]
    keep, shares, whole = Fraction(1), [_ZERO] * len(steps), Fraction(1, len(steps))
    expected, summed = [], []
    for number, step in enumerate(steps):
        if number >= rounds:
            expected.append((keep**2 + sum((b**2 for b in shares), _ZERO)) / 2)
            summed.append((keep**2 + sum(((b - whole) ** 2 for b in shares), _ZERO)) / 2)
        keep, shares = (1 - step) * keep, [(1 - step) * b + step * (tau == number) for tau, b in enumerate(shares)]
    best = expected.index(min(expected))
    values: dict[Any, Any] = {
        L: 1,
        shared.mu: 1,
        N: 1,
        K: 1,
        sigma2: 0,
        G2: 0,
        D2: 1,
        drift2: 1,
        A2: 0,
        B2: 0,
        c_O: 1,
        C: 1,
        shared.eps: 2,
        T: rounds,
        claim.delay: 38,
        claim.new2: 1,
        claim.run: 2 * rounds,
        floors.start2: 1,
        claim.late_least: expected[best],
        claim.best: expected[best],
        over_rounds.gap: summed[best],
    }
    return Point(values, part="sum")


def best_of_sum(rounds: int) -> Point:
    """D = 1 on w^2/2 from w_0 = 0 with eta = 1/4, over all draws: epsilon = 2."""
    world = DriftRounds(weights=current(rounds), eta_l=Fraction(1, 4), D=Fraction(1))
    found = least_excess(world)
    values: dict[Any, Any] = {
        L: 1,
        N: 1,
        K: 1,
        sigma2: 0,
        G2: 0,
        D2: 1,
        drift2: 1,
        A2: 0,
        B2: 0,
        c_O: 1,
        C: 1,
        eta: world.eta,
        shared.eps: 2,
        T: rounds,
        floors.start2: found.start2,
        over_rounds.gap: found.least,
    }
    return Point(values, part="generally_sum")


def fresh(start2: Fraction, step: Fraction, drift: Fraction, rounds: int) -> list[Fraction]:
    """𝔼||w_t - w*||^2 of FedAvg on w^2/2 with N = K = 1 and fresh drifts of second moment `drift`."""
    path = [start2]
    for _ in range(rounds):
        path.append((1 - step) ** 2 * path[-1] + step**2 * drift)
    return path


def fresh_as_enumerated() -> bool:
    """The closed form against every draw of three rounds, with client drifts drawn anew and time drifts."""
    world = DriftRounds(
        weights=current(3),
        start=Fraction(2),
        eta_l=Fraction(1, 3),
        G=Fraction(1),
        D=Fraction(1, 2),
        stateless=True,
    )
    found = [world.expectation(lambda run, t=t: run.w[t] ** 2) for t in range(1, 5)]  # type: ignore[misc]
    return found == fresh(Fraction(4), Fraction(1, 3), Fraction(5, 4), 3)


def rate_points() -> Iterator[Point]:
    """G^2, D^2 and epsilon chosen so that the root is rational: c/epsilon = 40 L (G^2 + D^2)/(3 epsilon)."""
    if not fresh_as_enumerated():
        raise AssertionError("the closed form of fresh drifts disagrees with the enumeration")
    if not noisy_as_enumerated():
        raise AssertionError("the closed form of gradient noise disagrees with the enumeration")
    yield two_halves_summed(40)
    yield best_of_sum(4)
    yield from (two_halves(*sizes) for sizes in ((_ZERO, Fraction(4), 40), (Fraction(1), Fraction(1), 50)))
    for G, D, eps, root in (
        (Fraction(0), Fraction(3, 40), Fraction(1), 1),
        (Fraction(1, 5), Fraction(1, 10), Fraction(1), 2),
        (Fraction(3, 5), Fraction(3, 5), Fraction(4), 2),
    ):
        drift, start2 = G + D, Fraction(4)
        assert root**2 * eps == Fraction(40, 3) * drift
        step = 1 / (10 + 16 * drift / eps + root)
        rounds = int(2 * start2 / (step * eps)) + 1
        path = fresh(start2, step, drift, rounds)
        noise = 4 * step * drift + Fraction(10, 3) * step**2 * drift
        assert all(after <= now - step * now / 2 + step * noise for now, after in pairwise(path))
        values: dict[Any, Any] = {
            L: 1,
            N: 1,
            K: 1,
            sigma2: 0,
            A2: 0,
            B2: 0,
            c_O: 1,
            G2: G,
            drift2: D,
            eta: step,
            T: rounds,
            C: 1,
            shared.eps: eps,
            floors.start2: start2,
            shared.least: min(path[:-1]) / 2,
            shared.total(T): sum(path[:-1], _ZERO) / 2,
            floors.apart2(T): path[-1],
            floors.apart2(0): start2,
            claim.root: root,
            claim.bias: 0,
        }
        yield Point(values, part="generally")
    for z in (0, 1, Fraction(7, 2)):
        yield Point({claim.z: z, claim.factor: sp.exp(-sp.Rational(z))}, part="sign")


CHECKS = {
    "cfl.fedavg_rates": Check(
        rate_points,
        further=_floors,
    )
}
