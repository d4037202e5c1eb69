"""Small worlds over all draws, some with a bias or multiplicative drifts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cflag_theory.claims.cfl.one_round.ours import round as claim
from cflag_theory.claims.cfl.one_round.ours.local_drift import client_loss2, mean_loss2, rms_loss
from cflag_theory.claims.cfl.one_round.progress import drift2, local_gap
from cflag_theory.claims.cfl.symbols import K, N, eta, eta_g, eta_l, mu, sigma2
from cflag_theory.claims.cfl.vectors import client
from cflag_theory.claims.engine.notation import L, k
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point, Sample
from cflag_theory.verify.instances.cfl import WorldRound
from cflag_theory.verify.instances.drift_rounds import DriftRounds, current, even

_ZERO, _ONE, _HALF, _THIRD, _TENTH = Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(1, 10)

#: All with eta <= 1/(10 L); of each the last round is looked at.
WORLDS = (
    DriftRounds(even(2), eta_l=_TENTH, D=_ONE),
    DriftRounds(even(2), start=_ONE, local_steps=2, eta_l=_TENTH / 2, D=_HALF, G=_HALF, R=_THIRD, sigma=_HALF),
    DriftRounds(even(1), clients=2, local_steps=2, b=_HALF, eta_l=_TENTH / 4, eta_g=2 * _ONE, D=_ONE, sigma=_ONE),
    DriftRounds(even(1), start=_ONE, a=_HALF, local_steps=3, eta_l=_TENTH / 3, B=_HALF / 2, A=_HALF, G=_ONE),
    DriftRounds(even(2), start=-_ONE, clients=2, eta_l=_TENTH, D=_HALF, R=-_HALF, stateless=True, G=_THIRD),
    DriftRounds(current(6), eta_l=_TENTH / 10, G=_ONE),
    DriftRounds(((_ONE,), (_THIRD, 1 - _THIRD), (_THIRD,) * 3), eta_l=_TENTH, D=_ONE, G=_ONE),
)


def points() -> Iterator[Point]:
    """Every world; in the biased ones beta_t is positive."""
    named: tuple[Any, ...] = (
        L,
        mu,
        eta,
        eta_l,
        eta_g,
        K,
        N,
        sigma2,
        claim.next2,
        claim.gap,
        local_gap,
        drift2,
        rms_loss,
        claim.lost2,
        mean_loss2,
        client_loss2(client),
    )
    named += (claim.bias, claim.dist2, claim.rms_dist, claim.rms_error, claim.spread, claim.round_noise2)
    named += (claim.mean_error2, claim.each_error2)
    for at in map(WorldRound, WORLDS):
        done = at.world.local_steps - 1
        sum2 = at.mean(lambda r, done=done: sum(r.clients[0].noise[:done], _ZERO) ** 2)  # type: ignore[misc]
        yield Point({**at.values(*named), k: done, claim.noise_sum2: sum2, claim.lost_sum2: done**2 * at[claim.lost2]})


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
                claim.next2: after @ after,
                claim.gap: value,
                claim.bias: value - weighted,
                claim.dist2: w @ w,
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


CHECKS = {"ours.cfl_round": Check(points, samples)}
