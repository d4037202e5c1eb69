"""The non-convex proof and rates: exact expectations over all sign draws of small rounds and runs of Algorithm 2."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from cflag_theory.claims.cfl.nonconvex import descent, local_drift, progress
from cflag_theory.claims.cfl.nonconvex.ours import fedavg, rate
from cflag_theory.claims.cfl.symbols import A2, B2, D2, G2, R2, K, N, T, eta, eta_l, sigma2
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.instances.cfl import WorldRound
from cflag_theory.verify.instances.drift_rounds import DriftRounds, Run, current, even
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence

_ZERO, _ONE, _HALF, _THIRD, _TENTH = Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(1, 10)
#: Two rounds with remembered objectives: p_1 = 1/3, p_2 = 2/3.
_REMEMBERING = ((_ONE,), (_THIRD, 2 * _THIRD))
#: Two local steps on a concave f, started at its maximum: only noise moves the model.
NOISY = DriftRounds(weights=((_ONE,),), a=-_ONE, local_steps=2, eta_l=Fraction(1, 20), sigma=_ONE)
#: The same with a fixed client drift in place of the noise.
DRIFTING = DriftRounds(weights=((_ONE,),), a=-_ONE, local_steps=2, eta_l=Fraction(1, 4), G=_ONE)

#: Of each the last round is looked at.
WORLDS = (
    NOISY,
    DRIFTING,
    replace(NOISY, a=_ONE, start=_ONE),
    replace(NOISY, local_steps=1, start=_HALF, D=_ONE),
    replace(DRIFTING, clients=2, D=_HALF, start=_ONE, local_steps=1),
    DriftRounds(weights=_REMEMBERING, start=_ONE, a=-_HALF, local_steps=2, eta_l=_THIRD, D=_ONE, G=_HALF, R=_ONE),
    DriftRounds(weights=_REMEMBERING, start=2 * _ONE, eta_l=_HALF, B=_THIRD, A=_HALF, R=-_THIRD, sigma=_ONE),
    # The information loss is grad f itself, so that the Young inequality of (26) is an equality.
    DriftRounds(weights=_REMEMBERING, start=_ONE, a=_ONE, b=_ZERO, eta_l=_HALF, R=_HALF),
)
_CONSTANTS: tuple[Any, ...] = (eta, eta_l, N, K, G2, B2, D2, A2, R2, sigma2, local_drift.c_B, local_drift.c_G)
_CONSTANTS += (descent.noise2, descent.Delta2, descent.past, descent.past2, descent.squares)
#: Of the whole round, averaged over clients and local steps.
_WHOLE: tuple[Any, ...] = (descent.move2, descent.inner, descent.whole2, descent.gap2, descent.loss2, descent.dist2)
_WHOLE += (local_drift.c_dist, progress.f_now, progress.f_next)


def constants(world: DriftRounds) -> dict[Any, Any]:
    """L of f, which need not be convex, what the other assumptions name, and the weights of the last round."""
    return {L: abs(world.a), **WorldRound(world).values(*_CONSTANTS)}


@cache
def moments(world: DriftRounds) -> dict[Any, Any]:
    """The symbols of (26), (27), (31) and (32)."""
    return {**constants(world), **WorldRound(world).values(descent.grad2, *_WHOLE)}


def _rounds(part: str | None = None) -> Callable[[], Iterator[Point]]:
    return lambda: (Point(moments(world), (world.words,), part) for world in WORLDS)


def local(world: DriftRounds, i: int, k: int) -> dict[Any, Any]:
    """The symbols of (28) at client i and local step k of the last round."""
    t = world.rounds

    def expected(value: Callable[[Run, Fraction, Fraction], Fraction]) -> Fraction:
        return world.expectation(lambda run: value(run, run.w[t], run.local[t][i][k]))

    return {
        **constants(world),
        descent.grad2: expected(lambda run, w, here: world.slope(w) ** 2),
        descent.grad_k2: expected(lambda run, w, here: world.slope(here) ** 2),
        descent.dist2: expected(lambda run, w, here: (here - w) ** 2),
        descent.change2: expected(lambda run, w, here: (world.slope(w) - world.slope(here)) ** 2),
        descent.drift2: expected(lambda run, w, here: (world.slope(here) - run.weighted_gradient(t, i, here)) ** 2),
        descent.gap2: expected(lambda run, w, here: (world.slope(w) - run.weighted_gradient(t, i, here)) ** 2),
    }


#: On the ray of a draw f' is 5/6 and its own drift 1/3 + 4/3 of what this says, in multiples of U.
_NEAR, _FAR = Fraction(4), Fraction(8)


def _risen(r: Fraction) -> Fraction:
    """0 up to 4, 1 from 8 on, a line between."""
    return min(max((r - _NEAR) / (_FAR - _NEAR), _ZERO), _ONE)


def _height(r: Fraction) -> Fraction:
    """The integral of that from 0 to r."""
    return (_FAR - _NEAR) * _risen(r) ** 2 / 2 + max(r - _FAR, _ZERO)


@dataclass(frozen=True)
class OneMemory:
    """A run along one remembered objective, drawn from four: w_t = r U of the draw, a place of its own.

    U_1, ..., U_4 in R^4 are e_k - (1/4, ..., 1/4), with |U|^2 = 3/4 and <U_j, U_k> = -1/4. On each ray lies a ball, of
    radius 15 and from r = 4 on, so that they are disjoint, with a bump: f is 5/6 of all four, and the drift of draw k
    is the gradient of <U_k, w>/3, of 4/3 of its own bump and of -4/9 of the others.
    """

    eta: Fraction = _ONE
    L: Fraction = _THIRD

    def __post_init__(self) -> None:
        own, other = Fraction(4, 3), -Fraction(4, 9)
        square = ((own + _THIRD) ** 2 + 3 * (other**2 + _THIRD**2 - 2 * other * _THIRD * _THIRD)) * Fraction(3, 16)
        slopes = max(abs(Fraction(5, 6) - one) for one in (own, other)) / (_FAR - _NEAR)
        if own + 3 * other or square > Fraction(3, 4) or slopes > self.L or self.eta > 1 / (2 * self.L):
            raise AssertionError("the drifts have a mean, or are too long, or f or a draw's objective bends too much")

    def step(self, r: Fraction) -> Fraction:
        """A round: r U - eta (f' - drift)."""
        return r + self.eta * (_THIRD + _HALF * _risen(r))

    @property
    def round(self) -> tuple[Fraction, Fraction]:
        """r at the start and at the end of the first round from 8 or further out."""
        now = _ZERO
        while now < _FAR:
            now = self.step(now)
        return now, self.step(now)

    @property
    def values(self) -> dict[Any, Any]:
        """Of that round."""
        (now, after), length2 = self.round, Fraction(3, 4)
        slope = Fraction(5, 6) * _risen(now)
        ones = dict.fromkeys((N, K, descent.past, descent.past2, descent.squares), 1)
        zeros = dict.fromkeys((G2, B2, A2, R2, sigma2, descent.dist2), 0)
        means = {descent.grad2: slope**2 * length2, descent.inner: slope * (after - now) * length2}
        return {L: self.L, eta: self.eta, D2: length2, **ones, **zeros, **means}

    @property
    def heights(self) -> tuple[Fraction, ...]:
        """f at its start and end."""
        return tuple(Fraction(5, 6) * Fraction(3, 4) * _height(r) for r in self.round)

    @property
    def words(self) -> str:
        """The run in two sentences."""
        return (
            f"One objective of four is drawn and followed with weight 1, no loss, no noise, N = K = 1, eta = "
            f"{self.eta}, L = {self.L}, D^2 = 3/4, G = A = B = 0. In R^4, U_k = e_k - (1/4, ..., 1/4) and w_1 = 0, "
            "draw k runs along r U_k, where f' = (5/6) s U_k and the drift is (1/3 + (4/3) s) U_k, s from 0 at r "
            "= 4 to 1 at r = 8 and further out; the other draws' drifts are there (U_j/3 - (4/9) s U_k). That the "
            "bumps go on off the rays, radial and in balls that are disjoint, is argued and not computed."
        )


def nc_eq28_points() -> Iterator[Point]:
    """Every client and local step of every world."""
    # In the last two grad f(w_t) - grad f(w_k) and the drift point the same way, which makes 2 and 2 sharp.
    sharp = [(replace(DRIFTING, eta_l=size), 0, 1) for size in (_HALF, _ONE)]
    every = [(world, i, k) for world in WORLDS for i in range(world.clients) for k in range(world.local_steps)]
    for world, i, k in (*every, *sharp):
        yield Point(local(world, i, k), (world.words, f"Client {i + 1} after {k} local steps."))


def nc_eq31_points() -> Iterator[Point]:
    """Part 1: means of a round. Part 2: every client and step, whose means are over its own steps."""
    for world, whole in zip(WORLDS, _rounds("1")(), strict=True):
        yield whole
        values = {key: value for key, value in whole.values.items() if key not in _WHOLE}
        for i, k in ((i, k) for i in range(world.clients) for k in range(1, world.local_steps + 1)):
            before = [_reached(world, i, j)[0] for j in range(k)]
            of_step = {
                local_drift.step: k,
                local_drift.reached2: _reached(world, i, k)[0],
                descent.local2: sum(_reached(world, i, j)[1] for j in range(k)) / k,
                local_drift.dist_last2: before[-1],
                local_drift.dist_max2: max(before),
                descent.dist2: sum(before) / k,
            }
            yield Point({**values, **of_step}, (world.words, f"Client {i + 1} after {k} local steps."), "2")
    yield one_memory()


def one_memory() -> Point:
    """The run that breaks (29) and (32), in its symbols."""
    run = OneMemory()
    constants = {local_drift.c_B: 1, local_drift.c_G: run.values[D2], local_drift.c_dist: 0}
    heights = dict(zip((progress.f_now, progress.f_next), run.heights, strict=True))
    return Point({**run.values, **constants, **heights}, (run.words,), "run")


@cache
def _reached(world: DriftRounds, i: int, k: int) -> tuple[Fraction, Fraction]:
    """E (w_{t,i,k} - w_t)^2 and 𝔼||grad bar f_{t,i}||^2 there, in the last round."""
    t = world.rounds
    return (
        world.expectation(lambda run: (run.local[t][i][k] - run.w[t]) ** 2),
        world.expectation(lambda run: run.mean_gradient(t, i, run.local[t][i][k]) ** 2),
    )


def stuck(step: Fraction, rounds: int) -> DriftRounds:
    """FedAvg on f = w^2/4 with a client drift of +-1 in all rounds, started at w = 2, where grad f = 1."""
    return DriftRounds(current(rounds), start=Fraction(2), a=_HALF, eta_l=step, G=_ONE)


def _floor(subject: Claim, seed: int, count: int) -> Iterator[Evidence]:
    """The first rounds of the family, for several step sizes."""
    rounds, steps = 12, (_TENTH, _HALF, _ONE, Fraction(2))
    least = min(min(WorldRound(stuck(step, rounds)).squared_gradients()) for step in steps)
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
        name: WorldRound(DriftRounds(p, a=_HALF, eta_l=_ONE, D=drift))[rate.mean_grad2]
        for name, p in (("FedAvg", current(rounds)), ("equal weights of rounds", even(rounds)))
    }
    eps = drift**2 / (2 * rounds**2)
    summary = f"T = {rounds}, D = {drift}, epsilon = {eps}: the mean of 𝔼||grad f(w_t)||^2 is "
    summary += ", ".join(f"{mean} with {name}" for name, mean in found.items()) + "."
    finding = REFUTES if min(found.values()) > eps else SUPPORTS
    yield Evidence("property", "1c", "printed", finding, summary, {"cases": len(found)})


#: Past and present alike.
_SHARED = ((_ONE,), (_HALF, _HALF), (_HALF / 2, _HALF / 2, _HALF))
_FRESH = current(3)

#: Whole runs; minimised by f at w = b/a, so that f_* is known.
RUNS = (
    stuck(Fraction(2), 40),
    stuck(_HALF, 6),
    DriftRounds(weights=_SHARED, start=_ONE, a=_HALF, b=_ONE, G=_ONE, D=_HALF, R=_HALF, eta_l=_ONE),
    DriftRounds(weights=_SHARED[:2], start=_ONE, clients=2, G=_ONE, D=_ONE, R=_ONE, eta_l=_HALF),
    DriftRounds(weights=_FRESH[:2], start=_ONE, clients=2, D=_ONE, sigma=_ONE, eta_l=_HALF),
    DriftRounds(weights=_SHARED, start=_ONE, B=_HALF, A=_HALF, eta_l=_HALF),
    DriftRounds(weights=_SHARED[:2], start=_ONE, local_steps=2, G=_ONE, D=_ONE, R=_HALF, eta_l=_TENTH),
    DriftRounds(weights=_FRESH[:2], start=_ONE, local_steps=2, sigma=_ONE, G=_HALF, eta_l=_TENTH),
    DriftRounds(weights=_FRESH, start=_ONE, local_steps=3, B=_HALF, A=_ONE, eta_l=Fraction(1, 14)),
)
#: The same with new clients in every round.
_NEW: dict[str, Any] = {"G": _ONE, "eta_l": Fraction(1, 5), "stateless": True}
STATELESS = (
    DriftRounds(_FRESH, start=_ONE, D=_HALF, **_NEW),
    DriftRounds(_FRESH, start=_ZERO, **_NEW | {"eta_l": _TENTH}),
    DriftRounds(_FRESH[:2], start=_ONE, clients=2, sigma=_ONE, **_NEW),
    DriftRounds(_FRESH, start=_ONE, local_steps=2, sigma=_ONE, **_NEW | {"eta_l": _TENTH}),
    DriftRounds(_FRESH[:2], start=_ONE, local_steps=3, D=_ONE, eta_l=Fraction(1, 14), eta_g=2 * _ONE, stateless=True),
)


def _run(world: DriftRounds) -> dict[Any, Any]:
    named = (T, rate.fall, rate.steps, rate.noise2, rate.mean_grad2)
    return {**constants(world), **WorldRound(world).values(*named)}


def largest_bias(world: DriftRounds) -> Fraction:
    """max over the rounds of 𝔼<grad f(w_t), mean drift>, which `stateless` is to make zero."""

    def of_round(t: int) -> Fraction:
        at = WorldRound(world, t)
        return at.over_clients(lambda run, i: world.slope(run.w[t]) * run.drift(t, i, run.w[t]))

    return max(map(of_round, range(1, world.rounds + 1)))


def fedavg_points() -> Iterator[Point]:
    """Whole runs, with the bias of their drifts computed."""
    for world in STATELESS:
        yield Point({**_run(world), fedavg.drift2: world.G**2 + world.D**2, fedavg.bias: largest_bias(world)})


def errors(world: DriftRounds) -> tuple[list[Fraction], Fraction]:
    """E (mean error)^2 by round, and the largest E e^2 of one client at one local step."""
    places = [(i, k) for i in range(world.clients) for k in range(world.local_steps)]
    runs = list(world.runs())
    means, singles = [], []
    for t in range(1, world.rounds + 1):
        found = [
            [world.slope(w) - run.mean_gradient(t, i, w) for i, k in places for w in (run.local[t][i][k],)]
            for run in runs
        ]
        means.append(sum(((sum(row, _ZERO) / len(row)) ** 2 for row in found), _ZERO) / world.draws)
        singles += [sum(e**2 for e in column) / world.draws for column in zip(*found, strict=True)]
    return means, max(singles)


def nonconvex_points() -> Iterator[Point]:
    """Whole runs; the drift model round by round; the floor."""
    for world in RUNS:
        by_round, single = errors(world)
        values = {**_run(world), rate.error2_mean: sum(by_round) / world.rounds, rate.error2: single}
        if world.local_steps == 1:
            yield Point(values, part="1")
        yield Point(values, part="2")
        if not (world.A or world.B):
            for t, found in enumerate(by_round, 1):
                of_round = WorldRound(world, t).values(descent.past, descent.squares)
                numbers = {rate.bar2: found, rate.client2: world.G**2, rate.time2: world.D**2}
                yield Point({**values, **of_round, **numbers}, part="3")
    for step in (_HALF, _ONE, Fraction(2), Fraction(3)):
        world = stuck(step, 5)
        for value in WorldRound(world).squared_gradients():
            numbers = {L: world.a, rate.size: world.G, rate.w_plus(0): world.start, rate.family_grad2: value}
            yield Point(numbers, part="4")


CHECKS = {
    "cfl.nc_eq26": Check(_rounds()),
    "cfl.nc_eq28": Check(nc_eq28_points),
    "cfl.nc_eq31": Check(nc_eq31_points),
    "cfl.nc_eq32": Check(lambda: (*_rounds("1")(), one_memory())),
    "cfl.nc_rate": Check(further=_floor),
    "ours.cfl_nonconvex": Check(nonconvex_points),
    "ours.cfl_fedavg_nonconvex": Check(fedavg_points),
}
