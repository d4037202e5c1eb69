"""Second moments over every draw of Algorithm 2 on the line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.rates.floors import apart2, start2
from cflag_theory.claims.cfl.rates.ours import strongly_convex as claim
from cflag_theory.claims.cfl.rates.theorems import mu
from cflag_theory.claims.cfl.symbols import D2, G2, N, T, eta, eta_g
from cflag_theory.claims.cfl.symbols import mu as convexity
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.quantities.cfl import WorldRound
from cflag_theory.verify.witnesses.drift_rounds import DriftRounds, Rows, Run, current, even

_ZERO, _ONE, _HALF = Fraction(0), Fraction(1), Fraction(1, 2)


@dataclass(frozen=True)
class Moments:
    """Second moments of round t of a world with f = w^2/2: x = w_t, u = x - eta x, bias b and new noise n."""

    world: DriftRounds
    t: int

    def __post_init__(self) -> None:
        after = self.mean(lambda run: (self.u(run) + self.world.eta * (self.b(run) - self.n(run))) ** 2)
        if after != self.mean(lambda run: run.w[self.t + 1] ** 2):
            raise AssertionError("the bias and the noise of the round do not give the enumerated iterate")

    def mean(self, function: Callable[[Run], Fraction]) -> Fraction:
        """E of a function of the run."""
        return self.world.expectation(function)

    def x(self, run: Run) -> Fraction:
        """w_t."""
        return run.w[self.t]

    def u(self, run: Run) -> Fraction:
        """w_t - eta f'(w_t)."""
        return (1 - self.world.eta) * run.w[self.t]

    def drift(self, run: Run) -> Fraction:
        """The fixed drifts and the past time drifts, with their weights."""
        t, N = self.t, self.world.clients
        weights = self.world.weights[t - 1]
        past = sum(weights[tau - 1] * run.time[tau][i][0] for tau in range(1, t) for i in range(N))
        return Fraction(sum(run.client[t][i][0] for i in range(N)) + past) / N

    @property
    def loss(self) -> Fraction:
        """(1 - p_t) R."""
        return (1 - self.world.weights[self.t - 1][-1]) * self.world.R

    def b(self, run: Run) -> Fraction:
        """What may depend on w_t."""
        return self.drift(run) + self.loss

    def n(self, run: Run) -> Fraction:
        """What is new in the round."""
        t, N = self.t, self.world.clients
        now = self.world.weights[t - 1][-1]
        return Fraction(sum(run.noise[t][i][0] - now * run.time[t][i][0] for i in range(N))) / N

    def values(self, curvatures: tuple[Fraction, Fraction]) -> dict[Any, Any]:
        """Every moment of the one-round statements, with (mu, L) around the curvature 1."""
        squares = {
            name: self.mean(lambda run, f=f: f(run) ** 2)  # type: ignore[misc]
            for name, f in (("x", self.x), ("b", self.b), ("n", self.n))
        }
        world = self.world
        past = world.weights[self.t - 1][:-1]
        shares2 = sum((p * p for p in past), _ZERO)
        drift_root = sp.sqrt(sp.Rational(world.G**2 + world.D**2 * shares2) / world.clients)
        low, high = curvatures
        return {
            convexity: low,
            L: high,
            **WorldRound(world, self.t).values(eta, N, G2, D2),
            claim.r: 1 - world.eta * low,
            claim.x2: squares["x"],
            claim.g2: squares["x"],
            claim.g_dot_x: squares["x"],
            claim.f_now: squares["x"] / 2,
            claim.b2: squares["b"],
            claim.n2: squares["n"],
            claim.x_root: sp.sqrt(sp.Rational(squares["x"])),
            claim.b_root: sp.sqrt(sp.Rational(squares["b"])),
            claim.after2: self.mean(lambda run: run.w[self.t + 1] ** 2),
            claim.beta: drift_root + sp.Rational(self.loss),
            claim.v: squares["n"],
            claim.shares2: shares2,
            claim.past: sum(past, _ZERO),
            claim.R: world.R,
            claim.drift_root: drift_root,
            claim.loss_root: self.loss,
        }


def _world(weights: Rows, **sizes: Any) -> DriftRounds:
    return DriftRounds(weights, **{"start": _ONE, "eta_l": Fraction(1, 3), "G": _ONE, **sizes})


#: Fixed clients, time drifts, noise and loss; one client and two; the weights 1/t and FedAvg's.
WORLDS = (
    _world(even(3), D=_HALF, R=Fraction(1, 4)),
    _world(even(2), G=_HALF, D=_ONE, sigma=_ONE),
    _world(current(3), D=Fraction(1, 3)),
    _world(even(2), D=_ONE, clients=2),
    _world(current(12), start=_ZERO),
    _world(current(2), start=Fraction(3)),
)


def rates_points() -> Iterator[Point]:
    """One round for each world and both choices of (mu, L), and the whole run."""
    for world in WORLDS:
        moments = Moments(world, world.rounds)
        for curvatures in ((_ONE, _ONE), (_HALF, Fraction(2))):
            values = moments.values(curvatures)
            yield Point(values, part="round")
            yield Point(values, part="bias")
        yield _whole(world)
        yield _local(replace(world, local_steps=2, eta_l=Fraction(1, 20)))


def bounds(world: DriftRounds) -> tuple[sp.Expr, Fraction]:
    """beta and v that serve every round of a world, from the weights."""
    past2 = max(sum((p * p for p in row[:-1]), _ZERO) for row in world.weights)
    loss = max(1 - row[-1] for row in world.weights) * world.R
    now2 = max(row[-1] ** 2 for row in world.weights)
    bias = sp.sqrt(sp.Rational(world.G**2 + world.D**2 * past2) / world.clients) + sp.Rational(loss)
    return bias, (now2 * world.D**2 + world.sigma**2) / world.clients


def _whole(world: DriftRounds) -> Point:
    beta, v = bounds(world)
    r, at = 1 - world.eta, WorldRound(world)
    last = world.expectation(lambda run: run.w[-1] ** 2)
    values: dict[Any, Any] = {
        mu: 1,
        **at.values(L, eta, T, apart2(0)),
        claim.r: r,
        claim.beta: beta,
        claim.v: v,
        claim.start: world.start,
        apart2(T): last,
        claim.reach(T): r**world.rounds * world.start + beta,
    }
    return Point(values, part="rounds")


def _local(world: DriftRounds) -> Point:
    """K = 2 local steps of eta_l = 1/20, so that eta = 1/(10 L)."""
    total2 = max(sum((p * p for p in row), _ZERO) for row in world.weights)
    drift = world.G**2 + world.D**2 * total2
    rho = max(1 - row[-1] for row in world.weights) * world.R
    last = world.expectation(lambda run: run.w[-1] ** 2)
    noise = world.sigma**2
    values: dict[Any, Any] = {
        mu: 1,
        **WorldRound(world).values(L, eta, eta_g, T, start2, apart2(0)),
        apart2(T): last,
        claim.q: 1 - world.eta / 2,
        claim.bias2: drift / world.clients + rho**2,
        claim.second: 4 * drift / world.clients + 2 * noise / (world.clients * world.local_steps) + 4 * rho**2,
        claim.third: Fraction(10, 3) * (drift + rho**2) + Fraction(5, 2) * noise / world.local_steps,
    }
    return Point(values, part="local")


CHECKS = {
    "ours.cfl_strongly_convex": Check(
        rates_points,
    )
}
