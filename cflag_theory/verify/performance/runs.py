"""What is asked of a run of FedAvg, FedTrack, CFL or (67)-(68), and the closed forms and instances for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from cflag_theory.kernels.numbers import Ints
from cflag_theory.verify.instances.on_the_line import Component, exact_run, on_the_line
from cflag_theory.verify.instances.recursions import local_worst
from cflag_theory.verify.performance.local import concave_rounds
from cflag_theory.verify.performance.pose import Posed
from cflag_theory.verify.performance.results import Bound
from cflag_theory.verify.performance.rounds import Round, Rule, World, play, weighted

FEDAVG, FEDTRACK, CFL, UNION = NAMES = ("fedavg", "fedtrack", "cfl", "union")


@dataclass(frozen=True, eq=False)
class Case:
    """The numbers of a run, with L = 1: b is beta; p[t] are the weights of rounds 0, ..., t in round t."""

    name: str
    N: int
    n: int
    E: int
    T: int
    b: Fraction
    dissimilarity: Fraction | None
    time_drift: Fraction
    loss: Fraction
    p: tuple[tuple[Fraction, ...], ...]
    orders: Ints

    @property
    def delayed(self) -> bool:
        """Whether clients use delayed gradients with tracking."""
        return self.name in (FEDTRACK, UNION)

    @property
    def rule(self) -> Rule:
        """What a round does."""
        weights = (1 / self.N,) * self.N
        return Rule(self.delayed, self.delayed, self.name == UNION, float(self.b), self.E, weights)

    def play(self, world: World, size: float) -> tuple[list[Round], list[Any]]:
        """The rounds, with every bound on lengths multiplied by `size`, and the hypotheses on all but F."""
        bounded: list[Any] = []

        def limited(name: str, limit: Fraction) -> Any:
            vector = world.vector(name)
            bounded.append(world.dot(vector, vector) - (size * float(limit)) ** 2)
            return vector

        offsets: dict[tuple[int, int], Any] = {}
        for i in range(self.N):
            drifts = [limited(f"xi[{t},{i}]", self.time_drift) for t in range(self.T) if self.time_drift]
            losses = [limited(f"Delta[{t},{i}]", self.loss) for t in range(self.T - 1) if self.loss]
            for t, shares in enumerate(self.p):
                parts = [(float(share), drift) for share, drift in zip(shares, drifts, strict=False)]
                parts += [(float(share), loss) for share, loss in zip(shares[:-1], losses, strict=False)]
                if parts:
                    offsets[t, i] = weighted(*zip(*parts, strict=True))

        def offset(t: int, i: int) -> Any:
            return offsets.get((t, i), world.zero)

        played = play(world, self.rule, self.orders, (self.n,) * self.N, offset if offsets else None)
        if self.dissimilarity is not None:
            limit = (size * float(self.dissimilarity)) ** 2
            for one in played:
                for gradient in (gradient for row in one.components for gradient in row):
                    apart = gradient - one.gradient
                    bounded.append(world.dot(apart, apart) - limit)
        return played, bounded


@dataclass(frozen=True)
class Question:
    """What is asked of a run, and what the answer is compared with."""

    pose: Callable[[World], Posed]
    scale: float
    unit: str
    hypothesis: str
    above: Bound | None
    closed: Bound | None
    simulate: Callable[[], Fraction] | None
    simulated: str


def ask_gradient(case: Case) -> Question:
    steps = case.E + 1 if case.name == UNION else case.E
    # With a fall of beta (1 + E) T in place of 1 gradients are near 1, as in small steps.
    fall = float(case.b * steps * case.T)

    # Where components may all be alike, a simple F is an instance.
    alike = case.delayed or (case.N * case.n == 1 and not (case.time_drift or case.loss))

    def pose(world: World) -> Posed:
        played, bounded = case.play(world, math.sqrt(fall))
        weights = case.rule.p
        drop = world.value(played[0].start, weights) - world.value(played[-1].after, weights)
        return [world.dot(one.gradient, one.gradient) for one in played], [*bounded, 1 / fall * drop - 1]

    return Question(
        pose,
        1 / fall,
        "L (F(x_0) - F(x_T))",
        "F(x_0) - F(x_T) <= 1",
        _descent_bound(case),
        _closed_gradient(case),
        (lambda: _simple(case)) if alike else None,
        "F = x^2/2 simulated in fractions, or a linear F; for T > 1 the worst F is neither",
    )


def _simple(case: Case) -> Fraction:
    """The larger of what F = x^2/2 reaches, all components being alike, exactly, and 1 / (beta steps T) of F = -x."""
    steps = case.E + 1 if case.name == UNION else case.E
    linear = 1 / (case.b * steps * case.T)
    clients: list[list[Component]] = [[(1, 0)] * case.n] * case.N
    trace = exact_run(
        on_the_line(clients, clients, start=1, L=1),
        # With the past as the current task and alpha = beta the server update (24) is (68).
        algorithm="c_flag" if case.name == UNION else FEDTRACK if case.delayed else FEDAVG,
        alpha=case.b if case.name == UNION else 0,
        beta=case.b,
        local_steps=case.E,
        rounds=case.T,
        orders=case.orders,
    )
    fall: Fraction = trace.column("g")[0, 0] - trace.end["g"][0]
    least = min(Fraction(square) for square in trace.column("grad_g2")[0])
    return max(linear, least / fall) if fall > 0 else linear


def _descent_bound(case: Case) -> Bound | None:
    """Lemma 3 at its step size, and 2 / (1 - q^2) / T from the longest e_t of (67)-(68) at others."""
    if case.name != UNION:
        return None
    if case.b * case.E == Fraction(1, 30):
        return Bound(Fraction(60, case.T), "Lemma 3, (66)")
    if case.b * (1 + case.E) > 1:
        return None
    reach = max(_longest(case, row) for one in case.orders for row in one) - case.E
    q = 1 - case.b * (1 + case.E - reach)
    return Bound(2 / (1 - q**2) / case.T, "ours.union_descent") if abs(q) < 1 else None


def _closed_gradient(case: Case) -> Bound | None:
    b, T = case.b, case.T
    if case.E != 1:
        return None
    if case.delayed and case.dissimilarity is None:
        # E = 1 is gradient descent, with step 2 beta in (67)-(68). Rounds whose gradient stays fall by b (1 - b/4), the
        # last one by b (1 - b/2), per ||grad F||^2.
        b = 2 * b if case.name == UNION else b
        value = 1 / (b * ((T - 1) * (1 - b / 4) + 1 - b / 2))
        return Bound(value, "gradient descent: (T - 1) falls of b (1 - b/4), one of b (1 - b/2)") if b <= 1 else None
    if case.delayed or T != 1 or b > 1 or (case.n == 1 and case.N > 1 and case.dissimilarity is not None):
        return None
    if case.dissimilarity is None and case.N * case.n > 1:
        return None
    # One step against grad F + d, ||d|| <= s, that falls by 1: y = ||grad F|| - s at the worst.
    own = case.dissimilarity if case.dissimilarity is not None and case.n > 1 else Fraction(0)
    s, lead = float(own + case.time_drift), float(b - b**2 / 2)
    y = (-float(b) * s + math.sqrt((float(b) * s) ** 2 + 4 * lead)) / (2 * lead)
    return Bound((y + s) ** 2, "one step against grad F + d falls by 1")


def ask_drift(case: Case) -> Question:
    def pose(world: World) -> Posed:
        played, bounded = case.play(world, 1.0)
        last = played[-1]
        moved = 1 / float(case.b * case.E) * (last.points[0][-1] - last.start)
        return [world.dot(moved, moved)], [*bounded, world.dot(last.gradient, last.gradient) - 1]

    row = case.orders[-1, 0]
    closed: Bound | None = None
    simulate: Callable[[], Fraction] | None = None
    if case.delayed:
        closed = Bound(_longest(case, row), "d_{k+1} = d_k + beta (1 + L mean_j d_{tau_j})")

        def track() -> Fraction:
            return Fraction(concave_rounds(case.orders[-1:, :1], n=case.n, b=case.b).paths[0].drift[-1]) / case.b

        simulate = track
    elif case.N * case.n == 1 or (case.dissimilarity is not None and len(set(row.tolist())) == 1):
        own = case.dissimilarity if case.dissimilarity is not None and case.N * case.n > 1 else Fraction(0)
        longest = 1 + own + case.time_drift + case.loss * (1 - case.p[-1][-1])
        growth = sum(((1 + case.b) ** k for k in range(case.E)), Fraction(0))
        closed = Bound(longest * growth, "the longest gradient times ((1 + beta L)^E - 1) / (beta L)")
        if case.name == FEDAVG:

            def average() -> Fraction:
                return fedavg_drift(row, N=case.N, n=case.n, b=case.b, apart=own)

            simulate = average
    return Question(
        pose,
        float(case.E),
        f"beta ||grad F(x_{case.T - 1})||",
        f"||grad F(x_{case.T - 1})|| <= 1",
        None,
        closed,
        simulate,
        "concave components, simulated in fractions",
    )


def fedavg_drift(row: Ints, *, N: int, n: int, b: Fraction, apart: Fraction) -> Fraction:
    """The first client's drift over beta in a round of FedAvg on components -x^2/2 - s x, exactly; L = 1.

    Parameters
    ----------
    row : (E,) array of int
        The one component that the client uses; its slope s is 1 + apart, and the others make the mean slope 1.
    """
    rest = 1 - apart / (N * n - 1) if N * n > 1 else Fraction(1)
    used = int(row[0])
    clients: list[list[Component]] = [[(-1, rest)] * n for _ in range(N)]
    clients[0][used] = (-1, 1 + apart)
    problem = on_the_line(clients, clients, start=0, L=1)
    # The drift is recorded for k <= E - 1, and nobody drifts as far as the first client.
    orders = np.full((1, N, len(row) + 1), used, dtype=np.int64)
    trace = exact_run(problem, alpha=0, beta=b, local_steps=len(row) + 1, algorithm=FEDAVG, orders=orders)
    square: Fraction = trace.column("drift2_max")[0, 0]
    return Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator)) / b


def _longest(case: Case, row: Ints) -> Fraction:
    """The longest sum of a client's delayed gradients and tracking terms in units of ||grad F(x_t)||."""
    return local_worst([int(j) for j in row[1:]], n=case.n, step=case.b).drift[-1] / case.b
