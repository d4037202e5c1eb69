"""(10)-(22): rounds of Algorithm 2 over all draws of drifts and noises, and instances that break a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from operator import attrgetter
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.one_round import leaning, local_drift, progress, recursion
from cflag_theory.claims.cfl.one_round.progress import c_B, gap
from cflag_theory.claims.cfl.symbols import K, N, eta, eta_l, mu, sigma2
from cflag_theory.claims.cfl.vectors import draw, fresh
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.instances.cfl import WorldRound
from cflag_theory.verify.instances.drift_rounds import (
    Client,
    DriftRounds,
    Round,
    Run,
    current,
    even,
    expectation,
    noisy_rounds,
    of_run,
)

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
#: What (10)-(15) speak of.
MOMENTS = (
    *(L, mu, eta, progress.rho, progress.dist, progress.dist2, progress.drift2, progress.local_gap, gap),
    *(progress.pull, progress.true_pull, progress.loss_pull, progress.loss_size(draw, fresh)),
)
#: What (18) and (20) take from the world.
_OF_CLIENT = (L, local_drift.c_Bi, local_drift.c_Gi, local_drift.rho_i2)
#: A round, the values that its claims take from it, and its words.
_Case = tuple[list[Round], dict[Any, Any], str]

#: Of the steep loss: curvature of f, p R, sigma.
CURVATURE, LOSS = Fraction(1, 100), Fraction(1, 7)
STEEP = (
    "N = 1, K = 2, f = w^2/200 and no drifts, w_t = w* = 0, t = 2, p = (1/2, 1/2), R = 2/7: the gradient of the "
    "first approximated objective is f' - Delta, Delta(w) = R clip(2 w, -1, 1), as Assumption 4 allows; sigma = 1, "
    "eta_l = 1. Round 1 has no noise and stays at w_1 = 0."
)


def steep() -> list[Round]:
    """The round of `STEEP`, for every draw of its two noises."""

    def clip(w: Fraction) -> Fraction:
        return LOSS * max(-_ONE, min(_ONE, 2 * w))

    return noisy_rounds(lambda w: CURVATURE * w, clip, start=_ZERO, eta_l=_ONE, sigma=_ONE, local_steps=2)


def _squares(name: str, steps: int | None = None) -> Callable[[Client], list[Fraction]]:
    return lambda client: [value**2 for value in getattr(client, name)[:steps]]


def _first(rounds: list[Round], function: Callable[[Client], Any]) -> Any:
    """E of a function of the first client."""
    return expectation(rounds, lambda r: function(r.clients[0]))


def _after(client: Client, steps: int) -> Fraction:
    return client.path[steps] - client.path[0]


def eq10_points() -> Iterator[Point]:
    """Rounds for (10); points of local paths for (12)."""
    for at in map(WorldRound, WORLDS):
        yield at.point(progress.dist2, progress.next2, progress.dist_dot_move, progress.move2, part="1")
    # Far steps: only there is a norm larger than its square.
    far = DriftRounds(_FIRST, b=Fraction(2), local_steps=2, D=Fraction(2), sigma=Fraction(4))
    for run in far.runs():
        yield from _path_points(run)
    for world in WORLDS:
        yield from _path_points(next(world.runs()))


def _path_points(run: Run) -> Iterator[Point]:
    at = WorldRound(run.world)
    star, w = at.star, run.w[at.t]
    for tau, x in product(range(1, at.t + 1), run.local[at.t][0][:-1]):
        slope = run.gradient(tau, 0, x)
        values = {
            **at.values(L, mu),
            progress.h_t: run.value(tau, 0, w),
            progress.h_star: run.value(tau, 0, star),
            progress.to_star: slope * (star - w),
            progress.gap2: (star - w) ** 2,
            progress.step: abs(x - w),
        }
        where = f"w_t = {w}, w* = {star}, x = {x} on the local path; grad f_(tau,i)(x) = {slope} for tau = {tau}."
        yield Point(values, (f"{at.words} One draw, client 1.", where), "2")


def eq13_points() -> Iterator[Point]:
    """Rounds 1 and 2: in the second w_t has been pulled along a drift that its objective contains again."""
    for at in map(WorldRound, WORLDS):
        yield at.point(*MOMENTS, progress.dist_dot_move)


def eq15_points() -> Iterator[Point]:
    """One draw of a round each; the last ones come near to equality."""
    # The client's minimiser is 2 w_t and a local step of 1/L goes there.
    near = [DriftRounds(_FIRST, start=_ONE, local_steps=steps, eta_l=_ONE, D=_ONE * 2) for steps in (2, 9, 33)]
    for at in map(WorldRound, (*WORLDS, *near)):
        found, slope = of_run(next(at.world.runs()), at.t), at.world.slope
        yield Point(
            {
                **at.values(L, eta, c_B),
                progress.grad_here2: at[c_B] * found.mean(lambda c, f=slope: [f(x) ** 2 for x in c.path[:-1]]),  # type: ignore[misc]
                progress.c_drift2: at[c_B] * found.mean(lambda c: [(x - c.path[0]) ** 2 for x in c.path[:-1]]),
                gap: at.world.f(found.start) - at.world.f(at.star),
            }
        )


def _lipschitz(rounds: list[Round], step: Fraction) -> Fraction:
    """The largest slope of a noiseless local step between points that some draw visits."""
    visited = {(x, x - step * m) for r in rounds for c in r.clients for x, m in zip(c.path, c.local, strict=False)}
    return max(abs((b - d) / (a - c)) for (a, b), (c, d) in product(visited, repeat=2) if a != c)


def _cases() -> Iterator[_Case]:
    rounds = steep()
    common = {eta: Fraction(2), eta_l: _ONE, sigma2: _ONE, K: 2, N: 1}
    yield rounds, {**common, leaning.expansion: _lipschitz(rounds, _ONE)}, STEEP
    for at in map(WorldRound, WORLDS):
        lipschitz = max(abs(1 - at[eta_l] * at[bound]) for bound in (mu, L))
        yield at.rounds, {**at.values(eta, eta_l, sigma2, K, N), leaning.expansion: lipschitz}, at.words


def eq14_points() -> Iterator[Point]:
    """A round's noises and gradients as (14) sums them."""
    noise, local = attrgetter("noise"), attrgetter("local")
    for rounds, values, words in _cases():
        mean = partial(expectation, rounds)
        found = {
            progress.move2: mean(lambda r: (r.end - r.start) ** 2),
            local_drift.noise2: mean(lambda r: r.mean(noise) ** 2),
            local_drift.mean_dot_noise: mean(lambda r: r.mean(local) * r.mean(noise)),
            local_drift.own_dot: mean(
                lambda r: sum((sum(c.local, _ZERO) * sum(c.noise, _ZERO) for c in r.clients), _ZERO) / len(r.clients)
            ),
            local_drift.each2: mean(lambda r: r.mean(_squares("local"))),
            local_drift.true2: mean(lambda r: r.mean(_squares("true"))),
            local_drift.loss2: mean(lambda r: r.mean(_squares("loss"))),
        }
        yield Point({**values, **found}, (words,))


def eq17_points() -> Iterator[Point]:
    """The first client of each round, after every number of steps."""
    for rounds, values, words in _cases():
        for k in range(1, values[K] + 1):
            found = {
                local_drift.k_steps: k,
                local_drift.moved2: _first(rounds, lambda c, k=k: _after(c, k) ** 2),  # type: ignore[misc]
                local_drift.sum_nu2: _first(rounds, lambda c, k=k: sum(c.noise[:k]) ** 2),  # type: ignore[misc]
                local_drift.sum_each2: _first(rounds, lambda c, k=k: sum(_squares("local", k)(c))),  # type: ignore[misc]
            }
            yield Point({**values, **found}, (words,))


def nonexpansive_points() -> Iterator[Point]:
    """The same rounds, for (14) and for (17)."""
    for point in eq14_points():
        yield from (replace(point, part=part) for part in "12")
    yield from (replace(point, part="3") for point in eq17_points())


def eq18_points() -> Iterator[Point]:
    """Part 1: fixed points, all draws of the drifts; the first one attains the bound. Part 2: local paths."""
    attained = (DriftRounds(_EVEN, R=Fraction(-4)), _ONE, Fraction(2))
    for world, start, w in (attained, *((world, _HALF, Fraction(-3, 2)) for world in WORLDS)):
        at, f = WorldRound(world), world.f
        values = {local_drift.from_t: abs(w - start), gap: f(start) - f(at.star)}
        yield _at_a_point(at, lambda run, w=w: w, more=values, part="1")  # type: ignore[misc]
    yield turning(Fraction(1, 20), Fraction(1, 100), Fraction(11, 10))
    yield turning(_HALF, Fraction(1, 10), Fraction(2))
    for at in (WorldRound(world) for world in WORLDS if world.local_steps > 1):
        moved2 = at.world.expectation(lambda run, t=at.t: (run.local[t][0][1] - run.w[t]) ** 2)  # type: ignore[misc]
        values = {local_drift.from_t: sp.sqrt(sp.Rational(moved2)), gap: at[gap]}
        yield _at_a_point(at, lambda run, t=at.t: run.local[t][0][1], more=values, part="2")  # type: ignore[misc]


def _at_a_point(at: WorldRound, where: Callable[[Run], Fraction], *, more: dict[Any, Any], part: str) -> Point:
    """(18) for the first client of a run of Algorithm 2."""
    t, mean = at.t, at.world.expectation
    values = {
        local_drift.local_grad2: mean(lambda run: run.mean_gradient(t, 0, where(run)) ** 2),
        local_drift.mixed2: mean(lambda run: run.weighted_gradient(t, 0, where(run)) ** 2),
        local_drift.grad_w2: mean(lambda run: at.world.slope(where(run)) ** 2),
    }
    return at.point(*_OF_CLIENT, local_drift.loss_grad2, more=values | more, part=part)


def turning(step: Fraction, outer: Fraction, loss: Fraction) -> Point:
    """(18) at w_{2,1,1}: the information loss first outweighs the client's drift, and then acts with it."""

    def round_of(drift: Fraction, size: Fraction, start: Fraction) -> Round:
        def lost(w: Fraction) -> Fraction:
            return -size * ((w > 0) - (w < 0))

        return noisy_rounds(lambda w: w - drift, lost, start=start, eta_l=step, sigma=_ZERO, local_steps=2)[0]

    rounds = [round_of(drift, loss, outer * round_of(drift, _ZERO, _ZERO).end) for drift in (_ONE, -_ONE)]
    # By symmetry w - w_t has the same size in both draws.
    (moved,) = {abs(_after(r.clients[0], 1)) for r in rounds}
    values = {
        L: _ONE,
        local_drift.c_Bi: _ONE,
        local_drift.c_Gi: _ONE,
        local_drift.rho_i2: loss**2,
        local_drift.local_grad2: _first(rounds, lambda c: c.local[1] ** 2),
        local_drift.mixed2: _first(rounds, lambda c: c.true[1] ** 2),
        local_drift.loss_grad2: _first(rounds, lambda c: c.loss[1] ** 2),
        local_drift.grad_w2: _first(rounds, lambda c: c.path[1] ** 2),
        local_drift.from_t: moved,
        gap: _first(rounds, lambda c: c.path[0] ** 2 / 2),
    }
    words = (
        f"N = 1, K = 2, f = w^2/2, w_1 = w* = 0, G = 1, A = B = D = sigma = 0, R = {2 * loss}, p = (1/2, 1/2); "
        f"f_(tau,1)' = w - delta, and the first approximated objective is w^2/2 - delta w + R |w|, so that "
        f"Delta(w) = -R sign(w). eta_l = {step}, eta_g = {outer}. delta = -1 mirrors delta = 1."
    )
    return Point(values, (words,), "2")


def eq20_points() -> Iterator[Point]:
    """Local drifts of one client for every k; in the steep round the gradients lean with the noise."""
    of_steep = {L: CURVATURE, local_drift.c_Bi: _ONE, local_drift.c_Gi: _ZERO, local_drift.rho_i2: LOSS**2}
    cases: list[_Case] = [(steep(), {**of_steep, eta_l: _ONE, K: 2, sigma2: _ONE, gap: _ZERO}, STEEP)]
    small = DriftRounds(_EVEN, start=_ONE, local_steps=3, eta_l=Fraction(1, 12), D=_HALF, R=_THIRD, sigma=_HALF)
    # Steps of 3/2: the iterates jump over w* and come nearer to it, first away from w_t and then back.
    over = DriftRounds(_FIRST, start=_ONE, local_steps=3, eta_l=3 * _HALF)
    for at in map(WorldRound, (small, over, *WORLDS)):
        cases.append((at.rounds, at.values(*_OF_CLIENT, eta_l, K, sigma2, gap), at.words))
    for rounds, values, words in cases:
        found = [_first(rounds, lambda c, k=k: _after(c, k) ** 2) for k in range(values[K] + 1)]  # type: ignore[misc]
        for k in range(1, values[K] + 1):
            earlier = {**values, local_drift.k_steps: k, recursion.sum_before2: sum(found[:k], _ZERO)}
            point = {
                **earlier,
                local_drift.moved2: found[k],
                recursion.before2: found[k - 1],
                recursion.most_before2: max(found[:k]),
            }
            for part in ("1", "3"):
                yield Point(point, (words,), part)
            if farthest := max(range(k), key=found.__getitem__):
                of_turn = {
                    recursion.turn: farthest,
                    recursion.turned2: found[farthest],
                    recursion.sum_turn2: sum(found[:farthest], _ZERO),
                    **_last_step(rounds, k - 1, values[eta_l]),
                }
                yield Point({**point, **of_turn}, (words,), "3b")
            if found[k] == max(found):
                for part in ("2", "4"):
                    yield Point({**earlier, local_drift.moved2: found[k], recursion.most2: found[k]}, (words,), part)


def _last_step(rounds: list[Round], at: int, step: Fraction) -> dict[Any, Fraction]:
    """𝔼||grad f-bar||^2 and 𝔼||nu||^2 of the first client's last step, and 𝔼<w_{k-1} - w_t - eta_l grad f-bar, nu>."""
    return {
        recursion.last_gradient2: _first(rounds, lambda c: c.local[at] ** 2),
        recursion.last_noise2: _first(rounds, lambda c: c.noise[at] ** 2),
        recursion.last_leaning: _first(rounds, lambda c: (_after(c, at) - step * c.local[at]) * c.noise[at]),
    }


#: The bending round: eta, eta L, where the gradient stops growing, number of clients.
BEND, CLIENTS = Fraction(1, 8), 4


def bending(step: Fraction, share: Fraction) -> Point:
    """A round on f' = L clip(w, 0, 1/8) from w_t = 1 with K = 2, eta = `step`, eta L = `share`."""
    steep, sigma = share / step, 2 / step
    rounds = noisy_rounds(
        lambda w: steep * max(_ZERO, min(BEND, w)),
        lambda w: _ZERO,
        start=_ONE,
        eta_l=step / 2,
        sigma=sigma,
        local_steps=2,
        clients=CLIENTS,
    )
    mean = partial(expectation, rounds)
    values = {
        L: steep,
        eta: step,
        eta_l: step / 2,
        K: 2,
        N: CLIENTS,
        sigma2: sigma**2,
        c_B: _ONE,
        **dict.fromkeys((mu, recursion.c_G, recursion.rho2, progress.rho), _ZERO),
        **dict.fromkeys((progress.dist, progress.dist2), _ONE),
        gap: steep * (BEND - BEND**2 / 2),
        progress.pull: mean(lambda r: -r.mean(lambda c: c.local)),
        progress.move2: mean(lambda r: (r.end - r.start) ** 2),
        progress.next2: mean(lambda r: r.end**2),
        progress.drift2: mean(lambda r: r.mean(lambda c: [(x - _ONE) ** 2 for x in c.path[:-1]])),
    }
    farthest = [
        {recursion.most2: max(mean(lambda r, i=i, k=k: _after(r.clients[i], k) ** 2) for k in range(3))}  # type: ignore[misc]
        for i in range(CLIENTS)
    ]
    words = (
        f"No drifts, f' = L clip(w, 0, 1/8), eta L = {share}, w_t = 1, w* = 0, eta_g = 1, sigma = 2/eta; all "
        "draws of the noises. A noise takes half of the second local gradients to where f is flat."
    )
    return Point(values | farthest[0], (words,), "1", members={"(20)": farthest})


def eq21_points() -> Iterator[Point]:
    """Part 1: bending rounds with large and small eta. Part 3: runs. Part 4: rounds."""
    yield bending(Fraction(10**4), Fraction(1, 256))
    yield bending(Fraction(1, 10), Fraction(1, 256))
    yield bending(_ONE, Fraction(1, 16))
    # Later rounds, whose w_t has moved along the drifts that enter again, and a first one. eta = 1/20 is below the
    # step size with 12, which is 0.0538 there.
    step = Fraction(1, 20)
    named = (*MOMENTS, eta_l, K, N, sigma2, c_B, recursion.c_G, recursion.rho2, progress.move2, progress.next2)
    for world in (
        DriftRounds(_EVEN, eta_l=step, D=_ONE),
        DriftRounds(current(3), eta_l=step, G=_ONE, D=Fraction(1, 100)),
        DriftRounds(_FIRST, start=_ONE, clients=2, local_steps=2, eta_l=step / 2, D=_HALF, sigma=_HALF),
    ):
        yield WorldRound(world).point(*named, part="3")
    for at in map(WorldRound, WORLDS):
        yield at.point(*MOMENTS, part="4")


CHECKS = {
    "cfl.eq10": Check(eq10_points),
    "cfl.eq13": Check(eq13_points),
    "cfl.eq15": Check(eq15_points),
    "cfl.eq14": Check(eq14_points),
    "cfl.eq17": Check(eq17_points),
    "cfl.eq18": Check(eq18_points),
    "cfl.eq20": Check(eq20_points),
    "cfl.eq21": Check(eq21_points),
    "ours.cfl_nonexpansive": Check(nonexpansive_points),
}
