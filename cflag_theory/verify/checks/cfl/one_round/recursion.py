"""(19)-(22): local drifts over all draws, and a round whose gradients bend away under its noises."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cflag_theory.claims.cfl.one_round import recursion as claim
from cflag_theory.claims.cfl.one_round.local_drift import c_Bi, c_Gi, k_steps, moved2, rho_i2
from cflag_theory.claims.cfl.one_round.progress import c_B, dist, dist2, drift2, gap, move2, next2, pull, rho
from cflag_theory.claims.cfl.symbols import K, N, eta, eta_l, mu, sigma2
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.one_round.local_drift import CURVATURE, LOSS, STEEP, drifts, steep
from cflag_theory.verify.checks.cfl.one_round.progress import MOMENTS, WORLDS
from cflag_theory.verify.checks.cfl.one_round.thresholds import step_values
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.quantities.cfl import WorldRound
from cflag_theory.verify.witnesses.drift_rounds import DriftRounds, current, even
from cflag_theory.verify.witnesses.one_round import Round, expectation, noisy_rounds

_ZERO, _ONE = Fraction(0), Fraction(1)


def _last_step(rounds: list[Round], steps: int, step: Fraction) -> dict[Any, Fraction]:
    """𝔼||grad f-bar||^2 and 𝔼||nu||^2 of the first client's step k, and 𝔼<w_{k-1} - w_t - eta_l grad f-bar, nu>."""
    at = steps - 1

    def mean(function: Any) -> Fraction:
        return expectation(rounds, lambda r: function(r.clients[0]))

    return {
        claim.last_gradient2: mean(lambda c: c.local[at] ** 2),
        claim.last_noise2: mean(lambda c: c.noise[at] ** 2),
        claim.last_leaning: mean(lambda c: (c.path[at] - c.path[0] - step * c.local[at]) * c.noise[at]),
    }


def eq20_points() -> Iterator[Point]:
    """Local drifts of one client for every k; in the steep round the gradients lean with the noise."""
    cases: list[tuple[list[Round], dict[Any, Any], str]] = [
        (
            steep(),
            {
                L: CURVATURE,
                eta_l: _ONE,
                K: 2,
                sigma2: _ONE,
                c_Bi: _ONE,
                c_Gi: _ZERO,
                rho_i2: LOSS**2,
                gap: _ZERO,
            },
            STEEP,
        )
    ]
    half = Fraction(1, 2)
    small = DriftRounds(even(2), start=_ONE, local_steps=3, eta_l=Fraction(1, 12), D=half, R=Fraction(1, 3), sigma=half)
    # Steps of 3/2: the iterates jump over w* and come nearer to it, first away from w_t and then back.
    over = DriftRounds(even(1), start=_ONE, local_steps=3, eta_l=3 * half)
    for at in map(WorldRound, (small, over, *WORLDS)):
        cases.append((at.rounds, at.values(L, eta_l, K, sigma2, c_Bi, c_Gi, rho_i2, gap), at.words))
    for rounds, values, words in cases:
        found = drifts(rounds, values[K])
        most = max(found)
        for steps in range(1, values[K] + 1):
            earlier = {k_steps: steps, claim.sum_before2: sum(found[:steps], _ZERO)}
            point = {
                **values,
                **earlier,
                moved2: found[steps],
                claim.before2: found[steps - 1],
                claim.most_before2: max(found[:steps]),
            }
            for part in ("1", "3"):
                yield Point(point, (words,), part)
            farthest = max(range(steps), key=found.__getitem__)
            if farthest:
                of_turn = {
                    claim.turn: farthest,
                    claim.turned2: found[farthest],
                    claim.sum_turn2: sum(found[:farthest], _ZERO),
                    **_last_step(rounds, steps, values[eta_l]),
                }
                yield Point({**point, **of_turn}, (words,), "3b")
            if found[steps] == most:
                for part in ("2", "4"):
                    yield Point({**values, **earlier, claim.most2: most}, (words,), part)


#: The bending round: eta, eta L, where the gradient stops growing, number of clients.
BEND, CLIENTS = Fraction(1, 8), 4


def bending(step: Fraction, product: Fraction) -> tuple[list[Round], Fraction]:
    """A round on f' = L clip(w, 0, 1/8) from w_t = 1 with K = 2, eta = `step`, eta L = `product`; and L."""
    curvature = product / step

    def slope(w: Fraction) -> Fraction:
        return curvature * max(_ZERO, min(BEND, w))

    rounds = noisy_rounds(
        slope, lambda w: _ZERO, start=_ONE, eta_l=step / 2, sigma=2 / step, local_steps=2, clients=CLIENTS
    )
    return rounds, curvature


def eq21_points() -> Iterator[Point]:
    """Part 1: bending rounds with large and small eta. Part 2: rational solutions of (22). Part 3: runs."""
    for step, product in (
        (Fraction(10**4), Fraction(1, 256)),
        (Fraction(1, 10), Fraction(1, 256)),
        (_ONE, Fraction(1, 16)),
    ):
        rounds, curvature = bending(step, product)
        value = curvature * (BEND - BEND**2 / 2)
        yield Point(
            {
                L: curvature,
                mu: _ZERO,
                eta: step,
                eta_l: step / 2,
                K: 2,
                N: CLIENTS,
                sigma2: (2 / step) ** 2,
                c_B: _ONE,
                claim.c_G: _ZERO,
                claim.rho2: _ZERO,
                rho: _ZERO,
                dist: _ONE,
                dist2: _ONE,
                gap: value,
                pull: expectation(rounds, lambda r: -r.mean(lambda c: c.local)),
                move2: expectation(rounds, lambda r: (r.end - r.start) ** 2),
                next2: expectation(rounds, lambda r: r.end**2),
                drift2: expectation(rounds, lambda r: r.mean(lambda c: [(x - _ONE) ** 2 for x in c.path[:-1]])),
            },
            (
                f"No drifts, f' = L clip(w, 0, 1/8), eta L = {product}, w_t = 1, w* = 0, eta_g = 1, sigma = 2/eta; all "
                "draws of the noises. A noise takes half of the second local gradients to where f is flat.",
            ),
            "1",
        )
    # c = k^2 with 3 + 4 c eta_g^2 a square, so that the solution is rational.
    for s, g, smoothness in ((2, 1, 1), (3, 1, 4), (2, Fraction(1, 2), 3)):
        yield solution(Fraction(1, s), Fraction(g), Fraction(smoothness))
    yield from runs()


def runs() -> Iterator[Point]:
    """Rounds of Algorithm 2: later ones, whose w_t has moved along the drifts that enter again, and a first one.

    eta = 1/20 is below the step size with 12, which is 0.0538 there.
    """
    half, step = Fraction(1, 2), Fraction(1, 20)
    for world in (
        DriftRounds(even(2), eta_l=step, D=_ONE),
        DriftRounds(current(3), eta_l=step, G=_ONE, D=Fraction(1, 100)),
        DriftRounds(even(1), start=_ONE, clients=2, local_steps=2, eta_l=step / 2, D=half, sigma=half),
    ):
        named = (*MOMENTS, eta_l, K, N, sigma2, c_B, claim.c_G, claim.rho2, move2, next2)
        yield WorldRound(world).point(*named, part="3")
    for at in map(WorldRound, WORLDS):
        yield at.point(*MOMENTS, part="4")


def solution(s: Fraction, g: Fraction, smoothness: Fraction) -> Point:
    """The printed solution of (22) where sqrt(3 + 4 c eta_g^2) - 2 sqrt(c) eta_g = s."""
    root = (3 / s - s) / 4 / g
    step = g * s / (6 * root * smoothness)
    return Point(step_values(smoothness, step, g, root**2), ("eta is the printed solution of (22).",), "2")


CHECKS = {
    "cfl.eq20": Check(eq20_points),
    "cfl.eq21": Check(eq21_points),
}
