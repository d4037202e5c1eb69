"""Small worlds over all draws, some with a bias or multiplicative drifts."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from cflag_theory.claims.cfl.one_round.ours import round as claim
from cflag_theory.claims.cfl.one_round.ours.local_drift import client_loss2, rms_loss
from cflag_theory.claims.cfl.one_round.progress import dist2, drift2, gap, local_gap, next2
from cflag_theory.claims.cfl.symbols import K, N, eta, eta_g, eta_l, mu, sigma2
from cflag_theory.claims.cfl.vectors import client
from cflag_theory.claims.engine.notation import L, k
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point, Sample
from cflag_theory.verify.planted import MORE, built, related
from cflag_theory.verify.quantities.cfl import WorldRound
from cflag_theory.verify.witnesses.drift_rounds import DriftRounds, Run
from cflag_theory.verify.witnesses.one_round import Round

_ZERO, _ONE, _HALF, _THIRD = Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 3)
_FIRST = ((_ONE,),)
_EVEN = ((_ONE,), (_HALF, _HALF))


def worlds() -> Iterator[tuple[DriftRounds, int, str]]:
    """(world, t, words), all with eta <= 1/(10 L)."""
    tenth = Fraction(1, 10)
    yield DriftRounds(_EVEN, eta_l=tenth, D=_ONE), 2, "N = K = 1, f = w^2/2, w_1 = 0, D = 1, second round"
    yield (
        DriftRounds(_EVEN, start=_ONE, local_steps=2, eta_l=Fraction(1, 20), D=_HALF, G=_HALF, R=_THIRD, sigma=_HALF),
        2,
        "N = 1, K = 2, f = w^2/2, w_1 = 1, D = G = sigma = 1/2, R = 1/3, second round",
    )
    yield (
        DriftRounds(
            _FIRST, clients=2, local_steps=2, b=_HALF, eta_l=Fraction(1, 40), eta_g=Fraction(2), D=_ONE, sigma=_ONE
        ),
        1,
        "N = K = 2, f = w^2/2 - w/2, w_1 = 0, D = sigma = 1, eta_g = 2, first round",
    )
    yield (
        DriftRounds(
            _FIRST, start=_ONE, a=_HALF, local_steps=3, eta_l=Fraction(1, 30), B=Fraction(1, 4), A=_HALF, G=_ONE
        ),
        1,
        "N = 1, K = 3, f = w^2/4, w_1 = 1, B = 1/4, A = 1/2, G = 1, first round",
    )
    yield (
        DriftRounds(_EVEN, start=-_ONE, clients=2, eta_l=tenth, D=_HALF, R=-_HALF, stateless=True, G=_THIRD),
        2,
        "N = 2, K = 1, f = w^2/2, w_1 = -1, D = R = 1/2, G = 1/3, new clients in the second round",
    )
    alone = tuple((_ZERO,) * t + (_ONE,) for t in range(6))
    yield (
        DriftRounds(alone, eta_l=Fraction(1, 100), G=_ONE),
        6,
        "FedAvg with one fixed client, G = 1, w_1 = 0, sixth round",
    )
    yield (
        DriftRounds(((_ONE,), (_THIRD, 1 - _THIRD), (_THIRD,) * 3), eta_l=tenth, D=_ONE, G=_ONE),
        3,
        "N = K = 1, f = w^2/2, w_1 = 0, D = G = 1, third round",
    )


def _root(value: Fraction) -> sp.Expr:
    return sp.sqrt(sp.Rational(value.numerator, value.denominator))


def values(world: DriftRounds, t: int) -> dict[Any, Any]:
    """Everything that the statements of ours.cfl_round contain."""
    at = WorldRound(world, t)
    clients = range(world.clients)

    def errors(run: Run) -> list[Fraction]:
        w = run.w[t]
        return [run.weighted_gradient(t, i, w) - world.slope(w) for i in clients]

    def noise(found: Round) -> Fraction:
        return found.mean(lambda client: client.noise) ** 2

    done = world.local_steps - 1
    return {
        **at.values(L, mu, eta, eta_l, eta_g, K, N, sigma2, next2, gap, local_gap, drift2),
        claim.bias: at[gap] - at[local_gap],
        claim.rms_dist: _root(at[dist2]),
        claim.rms_error: _root(world.expectation(lambda run: (sum(errors(run), _ZERO) / world.clients) ** 2)),
        **at.values(rms_loss),
        claim.spread: world.expectation(lambda run: sum((e**2 for e in errors(run)), _ZERO) / world.clients),
        claim.round_noise2: at.mean(noise),
        claim.noise_sum2: at.mean(lambda found: sum(found.clients[0].noise[:done], _ZERO) ** 2),
        **at.values(claim.lost2),
        claim.lost_sum2: done**2 * at[claim.lost2],
        **at.values(client_loss2(client)),
        k: done,
    }


def points() -> Iterator[Point]:
    """Every world; in the biased ones beta_t is positive."""
    for world, t, words in worlds():
        found = values(world, t)
        yield Point(
            found,
            (
                f"{words}; eta_l = {world.eta_l}; weights {', '.join(map(str, world.weights[t - 1]))}; all draws.",
                f"beta_t = {found[claim.bias]}, E||w_(t+1) - w*||^2 = {found[next2]}, E f(w_t) - f* = {found[gap]}.",
            ),
        )


def samples(seed: int, count: int) -> Iterator[Sample]:
    """Single draws on quadratics in three dimensions, every client with its own Hessian, drift and bounded loss."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        N_, K_, smoothness = int(rng.integers(1, 4)), int(rng.integers(1, 6)), float(rng.uniform(0.5, 4))
        convexity = float(rng.choice([0.0, rng.uniform(0, smoothness)]))
        rate = float(rng.uniform(0.1, 1) / (10 * smoothness))
        global_rate = float(rng.uniform(1, 4))
        hessians = [_hessian(rng, convexity, smoothness) for _ in range(N_ + 1)]
        drifts = rng.normal(size=(N_, 3)) * rng.choice([0.0, 0.3, 3.0])
        loss = float(rng.choice([0.0, 0.1, 2.0]))
        w, local = rng.normal(size=3), rate / (K_ * global_rate)
        ends = []
        for i in range(N_):
            x = w.copy()
            for _ in range(K_):
                # Turns with x, and is no gradient of anything.
                lost = loss * np.array([np.sin(5 * x[1]), np.cos(5 * x[1]), 0.0])
                x = x - local * (hessians[i] @ x - drifts[i] - lost)
            ends.append(x)
        after = w + global_rate * (np.mean(ends, axis=0) - w)
        error = np.array([(hessians[i] - hessians[-1]) @ w - drifts[i] for i in range(N_)])
        value = w @ hessians[-1] @ w / 2
        weighted = np.mean([w @ hessians[i] @ w / 2 - drifts[i] @ w for i in range(N_)])
        yield Sample(
            {
                L: smoothness,
                mu: convexity,
                eta: rate,
                eta_g: global_rate,
                K: K_,
                N: N_,
                sigma2: 0.0,
                next2: after @ after,
                gap: value,
                claim.bias: value - weighted,
                claim.rms_dist: np.linalg.norm(w),
                claim.rms_error: np.linalg.norm(np.mean(error, axis=0)),
                rms_loss: loss,
                claim.spread: np.mean(np.sum(error**2, axis=1)),
            },
            part="1",
        )


def _hessian(rng: np.random.Generator, least: float, most: float) -> np.ndarray[Any, Any]:
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    found: np.ndarray[Any, Any] = turn @ np.diag([least, rng.uniform(least, most), most]) @ turn.T
    return found


CHECKS: dict[str, Check] = {
    "ours.cfl_round": Check(
        points,
        samples,
        expected="holds holds",
        undrawn={"1": "moments along noisy local steps", "2": "moments along noisy local steps"},
        plants=(
            *built(278 * MORE / 245, verdict="open"),
            # What the proof uses gives 33/10 too.
            *built(2, (1, sp.Rational(16, 5)), verdict="open"),
            # Small steps towards a client's own minimiser.
            *related("without the bias", right=lambda side: side.subs({claim.bias: 0})),
        ),
    )
}
