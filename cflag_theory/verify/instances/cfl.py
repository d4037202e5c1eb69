"""Rounds of Algorithm 2 of the CFL paper on the line, over all draws: what each symbol of the claims is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from types import MappingProxyType
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl import symbols
from cflag_theory.claims.cfl.nonconvex import descent as nonconvex
from cflag_theory.claims.cfl.nonconvex import local_drift as nonconvex_drift
from cflag_theory.claims.cfl.nonconvex import progress as nonconvex_progress
from cflag_theory.claims.cfl.nonconvex.ours import rate as nonconvex_runs
from cflag_theory.claims.cfl.one_round import local_drift, phi, progress, recursion
from cflag_theory.claims.cfl.one_round.ours import local_drift as our_drift
from cflag_theory.claims.cfl.one_round.ours import round as one_round
from cflag_theory.claims.cfl.rates import floors
from cflag_theory.claims.cfl.vectors import client, draw, fresh
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.instances.drift_rounds import Client, DriftRounds, Round, Run, expectation, of_world

_ZERO = Fraction(0)


@dataclass(frozen=True)
class WorldRound:
    """A round of a world, by default its last, over all draws of its drifts and noises."""

    world: DriftRounds
    round: int | None = None

    @property
    def t(self) -> int:
        """Its index."""
        return self.round or self.world.rounds

    def __getitem__(self, symbol: sp.Expr) -> Any:
        return TABLE[symbol](self)

    def values(self, *chosen: sp.Expr) -> dict[Any, Any]:
        """The values of these symbols, in this order."""
        return {symbol: self[symbol] for symbol in chosen}

    @property
    def words(self) -> str:
        """Which round it is."""
        return f"{self.world.words} Round {self.t}."

    def point(self, *chosen: sp.Expr, more: Mapping[Any, Any] | None = None, part: str | None = None) -> Point:
        """The values of these symbols, and `more`, as an exact instance."""
        values = self.values(*chosen) | dict(more or {})
        # The past objective is one function, so that each draw has the same size of what is left out.
        same = {key: value for key, value in values.items() if key == progress.loss_size(draw, fresh)}
        return Point(values, (self.words,), part, {"Assumption 4": [same]} if same else {})

    @property
    def star(self) -> Fraction:
        """w*, the minimiser of f."""
        return self.world.b / self.world.a

    @property
    def past(self) -> Fraction:
        """1 - p_t, the weights of the earlier rounds."""
        return sum((p for _, p in self.world.past(self.t)), -self.world.weights[self.t - 1][-1])

    @property
    def squares(self) -> Fraction:
        """sum_tau p_tau^2."""
        return sum((p**2 for _, p in self.world.past(self.t)), _ZERO)

    @property
    def spread(self) -> Fraction:
        """How far the curvature of a client's objective may be from that of f, relatively."""
        return abs(self.world.A) + abs(self.world.B)

    @cached_property
    def rounds(self) -> list[Round]:
        """The round of every draw."""
        return of_world(self.world, self.t)

    def mean(self, function: Callable[[Round], Fraction]) -> Fraction:
        """E of a function of the round."""
        return expectation(self.rounds, function)

    def over_clients(self, function: Callable[[Run, int], Fraction]) -> Fraction:
        """E of the mean over clients of a function of (run, i)."""
        N = self.world.clients
        return self.world.expectation(lambda run: sum((function(run, i) for i in range(N)), _ZERO) / N)

    def over_steps(self, function: Callable[[Run, int, Fraction], Fraction]) -> Fraction:
        """E of the mean over clients and local steps of a function of (run, i, w_{t,i,k})."""
        K = self.world.local_steps
        return self.over_clients(lambda run, i: sum((function(run, i, w) for w in run.local[self.t][i][:K]), _ZERO) / K)

    def squared_gradients(self) -> list[Fraction]:
        """E (f'(w_t))^2 of every round."""
        runs, world = list(self.world.runs()), self.world
        rounds = range(1, world.rounds + 1)
        return [sum((world.slope(run.w[t]) ** 2 for run in runs), _ZERO) / len(runs) for t in rounds]


def _drift2(client: Client) -> list[Fraction]:
    return [(x - client.path[0]) ** 2 for x in client.path[:-1]]


Quantity = Callable[[WorldRound], Any]


def _c_B(at: WorldRound) -> Fraction:
    return 1 + at.world.B**2 + at.world.A**2 * at.squares


def _c_G(at: WorldRound) -> Fraction:
    return at.world.G**2 + at.world.D**2 * at.squares


def _loss(at: WorldRound) -> Fraction:
    """Assumption 4 with equality, and always in the same direction."""
    return at.past * abs(at.world.R)


def _loss2(at: WorldRound) -> Fraction:
    return _loss(at) ** 2


def _errors(run: Run, at: WorldRound) -> list[Fraction]:
    """At w_t by client: the gradient of the weighted objective less grad f."""
    w = run.w[at.t]
    return [run.weighted_gradient(at.t, i, w) - at.world.slope(w) for i in range(at.world.clients)]


def _root(value: Fraction) -> sp.Expr:
    return sp.sqrt(sp.Rational(value))


def second_round(
    p_1: Fraction, start: Fraction, eta_l: Fraction, D: Fraction = _ZERO, R: Fraction = _ZERO, sigma: Fraction = _ZERO
) -> WorldRound:
    """The second round on w^2/2 from w_1 = `start`, one client and one local step, with the weights p_1 and 1 - p_1."""
    weights = ((Fraction(1),), (Fraction(p_1), 1 - Fraction(p_1)))
    sizes = {"start": start, "eta_l": eta_l, "D": D, "R": R, "sigma": sigma}
    exact: dict[str, Any] = {name: Fraction(size) for name, size in sizes.items()}
    return WorldRound(DriftRounds(weights, **exact))


#: What pages call `instances of`.
FAMILIES: Mapping[str, Callable[..., Any]] = MappingProxyType({"second_round": second_round})
TABLE: Mapping[sp.Expr, Quantity] = MappingProxyType(
    {
        # The algorithm and its steps.
        symbols.eta: attrgetter("world.eta"),
        symbols.eta_l: attrgetter("world.eta_l"),
        symbols.eta_g: attrgetter("world.eta_g"),
        symbols.N: attrgetter("world.clients"),
        symbols.K: attrgetter("world.local_steps"),
        symbols.T: attrgetter("world.rounds"),
        # Assumptions 1 to 4: every f_{t,i} is L-smooth and mu-convex.
        L: lambda at: at.world.a * (1 + at.spread),
        symbols.mu: lambda at: at.world.a * (1 - at.spread),
        symbols.sigma2: lambda at: at.world.sigma**2,
        symbols.G2: lambda at: at.world.G**2,
        symbols.B2: lambda at: at.world.B**2,
        symbols.D2: lambda at: at.world.D**2,
        symbols.A2: lambda at: at.world.A**2,
        symbols.R2: lambda at: at.world.R**2,
        # What the weights make of them.
        **dict.fromkeys((progress.c_B, local_drift.c_Bi, nonconvex_drift.c_B), _c_B),
        **dict.fromkeys((recursion.c_G, local_drift.c_Gi, nonconvex_drift.c_G), _c_G),
        **dict.fromkeys((progress.rho, our_drift.rms_loss, progress.loss_size(draw, fresh)), _loss),
        **dict.fromkeys((recursion.rho2, local_drift.rho_i2, local_drift.loss_grad2, nonconvex.loss2), _loss2),
        **dict.fromkeys((one_round.lost2, our_drift.client_loss2(client), our_drift.mean_loss2), _loss2),
        # The start of the run.
        floors.start2: lambda at: at.world.start**2,
        floors.apart2(0): lambda at: at.world.start**2,
        # The round: where it starts and ends, and what its clients do.
        progress.dist: lambda at: at.mean(lambda r: abs(r.start - at.star)),
        progress.dist2: lambda at: at.mean(lambda r: (r.start - at.star) ** 2),
        progress.next2: lambda at: at.mean(lambda r: (r.end - at.star) ** 2),
        progress.move2: lambda at: at.mean(lambda r: (r.end - r.start) ** 2),
        progress.dist_dot_move: lambda at: at.mean(lambda r: (r.start - at.star) * (r.end - r.start)),
        progress.gap: lambda at: at.mean(lambda r: at.world.f(r.start)) - at.world.f(at.star),
        progress.local_gap: lambda at: at.over_clients(
            lambda run, i: run.weighted_value(at.t, i, run.w[at.t]) - run.weighted_value(at.t, i, at.star)
        ),
        progress.drift2: lambda at: at.mean(lambda r: r.mean(_drift2)),
        progress.pull: lambda at: at.mean(lambda r: r.mean(lambda c: c.local) * (at.star - r.start)),
        progress.true_pull: lambda at: at.mean(lambda r: r.mean(lambda c: c.true) * (at.star - r.start)),
        progress.loss_pull: lambda at: at.mean(lambda r: r.mean(lambda c: c.loss) * (r.start - at.star)),
        phi.phi_t: lambda at: 2 * at[progress.rho] * at[progress.dist],
        phi.start_dist: lambda at: abs(at.world.start),
        one_round.dist2: lambda at: at[progress.dist2],
        one_round.next2: lambda at: at[progress.next2],
        one_round.gap: lambda at: at[progress.gap],
        one_round.bias: lambda at: at[progress.gap] - at[progress.local_gap],
        one_round.rms_dist: lambda at: _root(at[progress.dist2]),
        one_round.rms_error: lambda at: _root(at[one_round.mean_error2]),
        one_round.spread: lambda at: at[one_round.each_error2],
        one_round.mean_error2: lambda at: at.world.expectation(
            lambda run: (sum(_errors(run, at), _ZERO) / at.world.clients) ** 2
        ),
        one_round.each_error2: lambda at: at.world.expectation(
            lambda run: sum((e**2 for e in _errors(run, at)), _ZERO) / at.world.clients
        ),
        one_round.round_noise2: lambda at: at.mean(lambda r: r.mean(lambda c: c.noise) ** 2),
        # The non-convex proof, whose constants have names of their own.
        nonconvex.noise2: lambda at: at.world.sigma**2,
        nonconvex.Delta2: lambda at: at.world.R**2,
        nonconvex.past: attrgetter("past"),
        nonconvex.past2: lambda at: at.past**2,
        nonconvex.squares: attrgetter("squares"),
        nonconvex.grad2: lambda at: at.mean(lambda r: at.world.slope(r.start) ** 2),
        nonconvex.inner: lambda at: at.mean(lambda r: at.world.slope(r.start) * (r.end - r.start)),
        nonconvex.move2: lambda at: at.mean(lambda r: (r.end - r.start) ** 2),
        nonconvex.whole2: lambda at: at.over_steps(lambda run, i, w: run.weighted_gradient(at.t, i, w) ** 2),
        nonconvex.gap2: lambda at: at.over_steps(
            lambda run, i, w: (at.world.slope(run.w[at.t]) - run.weighted_gradient(at.t, i, w)) ** 2
        ),
        nonconvex.dist2: lambda at: at.mean(lambda r: r.mean(_drift2)),
        nonconvex_drift.c_dist: lambda at: _c_B(at) * at.mean(lambda r: r.mean(_drift2)),
        nonconvex_progress.f_now: lambda at: at.mean(lambda r: at.world.f(r.start)),
        nonconvex_progress.f_next: lambda at: at.mean(lambda r: at.world.f(r.end)),
        nonconvex_runs.noise2: lambda at: at.world.sigma**2,
        nonconvex_runs.steps: attrgetter("world.local_steps"),
        nonconvex_runs.mean_grad2: lambda at: sum(at.squared_gradients()) / at.world.rounds,
        # f minus its least value, -b^2 / (2 a).
        nonconvex_runs.fall: lambda at: at.world.f(at.world.start) - at.world.f(at.star),
    }
)
