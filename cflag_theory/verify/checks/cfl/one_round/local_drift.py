"""(14), (17) and (18): rounds over all draws, and a steep information loss that leans with the noise."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.one_round import leaning, progress
from cflag_theory.claims.cfl.one_round import local_drift as claim
from cflag_theory.claims.cfl.symbols import K, N, eta, eta_l, mu, sigma2
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.one_round.progress import WORLDS
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.quantities.cfl import WorldRound
from cflag_theory.verify.witnesses.drift_rounds import DriftRounds, even
from cflag_theory.verify.witnesses.one_round import Client, Round, expectation, noisy_rounds

_ZERO, _ONE, _HALF = Fraction(0), Fraction(1), Fraction(1, 2)
#: Of the steep loss: curvature of f, p R, sigma.
CURVATURE, LOSS = Fraction(1, 100), Fraction(1, 7)
STEEP = (
    "N = 1, K = 2, f = w^2/200 and no drifts, w_t = w* = 0, t = 2, p = (1/2, 1/2), R = 2/7: the gradient of the "
    "first approximated objective is f' - Delta, Delta(w) = R clip(2 w, -1, 1), as Assumption 4 allows; sigma = 1, "
    "eta_l = 1. Round 1 has no noise and stays at w_1 = 0."
)


#: What (18) takes from the world.
_CONSTANTS = (L, claim.c_Bi, claim.c_Gi, claim.rho_i2, claim.loss_grad2)


def _clip(w: Fraction) -> Fraction:
    return LOSS * max(-_ONE, min(_ONE, 2 * w))


def steep() -> list[Round]:
    """The round of `STEEP`, for every draw of its two noises."""
    return noisy_rounds(lambda w: CURVATURE * w, _clip, start=_ZERO, eta_l=_ONE, sigma=_ONE, local_steps=2)


def _squares(values: Any) -> list[Fraction]:
    return [value**2 for value in values]


def _lipschitz(rounds: list[Round], step: Fraction) -> Fraction:
    """The largest slope of a noiseless local step between points that some draw visits."""
    visited = {(x, x - step * m) for r in rounds for c in r.clients for x, m in zip(c.path, c.local, strict=False)}
    return max(abs((b - d) / (a - c)) for (a, b), (c, d) in product(visited, repeat=2) if a != c)


def _cases() -> Iterator[tuple[list[Round], dict[Any, Any], str]]:
    """(rounds, step sizes and Lipschitz constant, words)."""
    rounds = steep()
    common = {eta: Fraction(2), eta_l: _ONE, sigma2: _ONE, K: 2, N: 1}
    yield rounds, {**common, leaning.expansion: _lipschitz(rounds, _ONE)}, STEEP
    for at in map(WorldRound, WORLDS):
        lipschitz = max(abs(1 - at[eta_l] * at[bound]) for bound in (mu, L))
        yield at.rounds, {**at.values(eta, eta_l, sigma2, K, N), leaning.expansion: lipschitz}, at.words


def _own_dot(found: Round) -> Fraction:
    """The mean over clients of <sum of the gradients, sum of the noises>."""
    own = [sum(c.local, _ZERO) * sum(c.noise, _ZERO) for c in found.clients]
    return sum(own, _ZERO) / len(own)


def eq14_points() -> Iterator[Point]:
    """A round's noises and gradients as (14) sums them."""
    for rounds, values, words in _cases():

        def noise(found: Round) -> Fraction:
            return found.mean(lambda c: c.noise)

        def gradient(found: Round) -> Fraction:
            return found.mean(lambda c: c.local)

        found: dict[Any, Any] = {
            progress.move2: expectation(rounds, lambda r: (r.end - r.start) ** 2),
            claim.noise2: expectation(rounds, lambda r, n=noise: n(r) ** 2),  # type: ignore[misc]
            claim.mean_dot_noise: expectation(rounds, lambda r, g=gradient, n=noise: g(r) * n(r)),  # type: ignore[misc]
            claim.own_dot: expectation(rounds, _own_dot),
            claim.each2: expectation(rounds, lambda r: r.mean(lambda c: _squares(c.local))),
            claim.true2: expectation(rounds, lambda r: r.mean(lambda c: _squares(c.true))),
            claim.loss2: expectation(rounds, lambda r: r.mean(lambda c: _squares(c.loss))),
        }
        yield Point({**values, **found}, (words,))


def _after(client: Client, steps: int) -> Fraction:
    return client.path[steps] - client.path[0]


def eq17_points() -> Iterator[Point]:
    """The first client of each round, after every number of steps."""
    for rounds, values, words in _cases():
        for steps in range(1, values[K] + 1):

            def first(function: Any, rounds: list[Round] = rounds) -> Fraction:
                return expectation(rounds, lambda r: function(r.clients[0]))

            found = {
                claim.k_steps: steps,
                claim.moved2: first(lambda c, s=steps: _after(c, s) ** 2),
                claim.sum_nu2: first(lambda c, s=steps: sum(c.noise[:s]) ** 2),
                claim.sum_each2: first(lambda c, s=steps: sum(_squares(c.local[:s]))),
            }
            yield Point({**values, **found}, (words,))


def eq18_points() -> Iterator[Point]:
    """Part 1: fixed points, all draws of the drifts; the first one attains the bound. Part 2: local paths."""
    attained = (DriftRounds(even(2), R=Fraction(-4)), Fraction(1), Fraction(2))
    for world, start, w in (attained, *((world, _HALF, Fraction(-3, 2)) for world in WORLDS)):

        def mean(name: str, world: DriftRounds = world, w: Fraction = w) -> Fraction:
            return world.expectation(lambda run: getattr(run, name)(world.rounds, 0, w) ** 2)

        values = {
            claim.local_grad2: mean("mean_gradient"),
            claim.true_grad2: mean("weighted_gradient"),
            claim.grad_w2: world.slope(w) ** 2,
            claim.from_t: abs(w - start),
            progress.gap: world.f(start) - world.f(world.b / world.a),
        }
        yield WorldRound(world).point(*_CONSTANTS, more=values, part="1")
    yield turning(Fraction(1, 20), Fraction(1, 100), Fraction(11, 10))
    yield turning(_HALF, Fraction(1, 10), Fraction(2))
    yield from (_second_step(world) for world in WORLDS if world.local_steps > 1)


def turning(step: Fraction, outer: Fraction, loss: Fraction) -> Point:
    """(18) at w_{2,1,1}: the information loss first outweighs the client's drift, and then acts with it."""

    def round_of(drift: Fraction, size: Fraction, start: Fraction) -> Round:
        def true(w: Fraction) -> Fraction:
            return w - drift

        def lost(w: Fraction) -> Fraction:
            return -size * ((w > 0) - (w < 0))

        return noisy_rounds(true, lost, start=start, eta_l=step, sigma=_ZERO, local_steps=2)[0]

    rounds = []
    for drift in (_ONE, -_ONE):
        first = round_of(drift, _ZERO, _ZERO)
        rounds.append(round_of(drift, loss, outer * first.end))

    def mean(function: Any) -> Fraction:
        return expectation(rounds, lambda r: function(r.clients[0]))

    # By symmetry w - w_t has the same size in both draws.
    moved = abs(_after(rounds[0].clients[0], 1))
    assert all(abs(_after(r.clients[0], 1)) == moved for r in rounds)
    values = {
        L: _ONE,
        claim.c_Bi: _ONE,
        claim.c_Gi: _ONE,
        claim.rho_i2: loss**2,
        claim.local_grad2: mean(lambda c: c.local[1] ** 2),
        claim.true_grad2: mean(lambda c: c.true[1] ** 2),
        claim.loss_grad2: mean(lambda c: c.loss[1] ** 2),
        claim.grad_w2: mean(lambda c: c.path[1] ** 2),
        claim.from_t: moved,
        progress.gap: mean(lambda c: c.path[0] ** 2 / 2),
    }
    return Point(
        values,
        (
            f"N = 1, K = 2, f = w^2/2, w_1 = w* = 0, G = 1, A = B = D = sigma = 0, R = {2 * loss}, p = (1/2, 1/2); "
            f"f_(tau,1)' = w - delta, and the first approximated objective is w^2/2 - delta w + R |w|, so that "
            f"Delta(w) = -R sign(w). eta_l = {step}, eta_g = {outer}. delta = -1 mirrors delta = 1.",
        ),
        "2",
    )


def _second_step(world: DriftRounds) -> Point:
    """(18) at w_{t,1,1} of a run of Algorithm 2."""
    t = world.rounds

    def mean(function: Any) -> Fraction:
        return world.expectation(lambda run: function(run, run.local[t][0][1]))

    moved2 = mean(lambda run, w: (w - run.w[t]) ** 2)
    values = {
        claim.local_grad2: mean(lambda run, w: run.mean_gradient(t, 0, w) ** 2),
        claim.true_grad2: mean(lambda run, w: run.weighted_gradient(t, 0, w) ** 2),
        claim.grad_w2: mean(lambda run, w: world.slope(w) ** 2),
        claim.from_t: sp.sqrt(sp.Rational(moved2)),
    }
    return WorldRound(world).point(*_CONSTANTS, progress.gap, more=values, part="2")


def drifts(rounds: list[Round], steps: int) -> list[Fraction]:
    """𝔼||w_{t,i,k} - w_t||^2 of the first client for k = 0, ..., steps."""
    paths = [[_after(found.clients[0], k) ** 2 for k in range(steps + 1)] for found in rounds]
    return [sum(column, _ZERO) / len(paths) for column in zip(*paths, strict=True)]


CHECKS = {
    "cfl.eq14": Check(eq14_points),
    "cfl.eq17": Check(eq17_points),
    "cfl.eq18": Check(eq18_points),
}
