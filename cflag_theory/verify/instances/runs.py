"""Whole exact runs over all draws of the memory.

Each client keeps one past component, every one with equal chance, either once before the run or anew in every round.
The rounds are those of the simulator on `Fraction`; only the average over the draws is taken here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise, product
from typing import Any

import numpy as np

from cflag_theory.kernels import Problem
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.problems.objective import gradients, values
from cflag_theory.kernels.problems.problem import Components
from cflag_theory.verify.instances.on_the_line import described, exact_run

#: The kept past component of every client, as an index into all past components.
Kept = tuple[int, ...]
#: A probability, x_t, and the memories that the rest of the run may have.
_State = tuple[Fraction, Array, list[Kept]]


@dataclass(frozen=True)
class Exact:
    """An exact problem with constant step sizes, E and T.

    With `redraw` every round has a fresh memory. `only` are the memories that are possible, all equally likely; by
    default every one is.
    """

    problem: Problem
    alpha: Fraction
    beta: Fraction
    local_steps: int
    rounds: int
    redraw: bool = False
    only: tuple[Kept, ...] = ()

    @property
    def L(self) -> Fraction:
        """The problem's L."""
        value: Fraction = self.problem.constants["L"].value
        return value

    @property
    def words(self) -> str:
        """The problem, its step sizes and its memory in one line."""
        drawn = "anew every round" if self.redraw else "once"
        return (
            f"{described(self.problem)}, alpha = {self.alpha}, beta = {self.beta}, E = {self.local_steps}, T = "
            f"{self.rounds}; each memory keeps one past component, drawn {drawn}."
        )

    def draws(self) -> list[Kept]:
        """Every memory of one component a client."""
        if self.only:
            return list(self.only)
        starts = self.problem.past.client_start.tolist()
        return list(product(*[range(a, b) for a, b in pairwise(starts)]))

    def step(self, x: Array, kept: Kept) -> Array:
        """One round from x with this memory."""
        remembered = replace(
            self.problem, past=_only(self.problem.past, kept), labels=np.zeros(len(kept), dtype=np.int64), start=x
        )
        trace = exact_run(remembered, alpha=self.alpha, beta=self.beta, local_steps=self.local_steps)
        assert trace.iterates is not None
        found: Array = trace.iterates[0, 1]
        return found

    def path(self, kept: Kept) -> list[Array]:
        """x_0, ..., x_T with one memory for the whole run."""
        points = [self.problem.start]
        for _ in range(self.rounds):
            points.append(self.step(points[-1], kept))
        return points

    @cached_property
    def sums(self) -> Sums:
        """The run averaged over all draws."""
        every = self.draws()
        total = Sums()
        states = [(Fraction(1), self.problem.start, every)]
        if not self.redraw:
            states = [(Fraction(1, len(every)), self.problem.start, [draw]) for draw in every]
        for t in range(self.rounds + 1):
            states = self._round(states, total) if t else states
            total.f.append(sum(weight * self.f(x) for weight, x, _ in states))
            total.g.append(sum(weight * self.g(x) for weight, x, _ in states))
        return total

    def _round(self, states: list[_State], total: Sums) -> list[_State]:
        total.squares.append(Fraction(0))
        following = []
        for weight, x, memories in states:
            for draw in memories:
                share, after = weight / len(memories), self.step(x, draw)
                grad_f, v, grad_g = self.gradients(x, draw)
                total.add(share, grad_f, v, grad_g, (x - after - self.alpha * v) / self.beta)
                total.squares[-1] += share * _dot(grad_f, grad_f)
                following.append((share, after, memories))
        return following

    def f(self, x: Array) -> Fraction:
        """f(x)."""
        return _dot(self.problem.p, values(self.problem.potential, self.problem.past, x))

    def g(self, x: Array) -> Fraction:
        """g(x)."""
        return _dot(self.problem.p, values(self.problem.potential, self.problem.current, x))

    @property
    def t(self) -> int:
        """The round in which E f(x_t) is least."""
        return min(range(self.rounds + 1), key=self.sums.f.__getitem__)

    def gradients(self, x: Array, kept: Kept) -> tuple[Array, Array, Array]:
        """grad f, grad f_memory and grad g at x."""
        problem, p = self.problem, self.problem.p
        remembered = _only(problem.past, kept)
        return (
            p @ gradients(problem.potential, problem.past, x),
            p @ gradients(problem.potential, remembered, x),
            p @ gradients(problem.potential, problem.current, x),
        )


@dataclass
class Sums:
    """Sums over the rounds of expectations over the draws, and E f(x_t), E g(x_t), E||grad f(x_t)||^2 of every round.

    `worst` is (||b||^2, ||grad f||^2) of the round and the draw with the largest ratio.
    """

    f: list[Any] = field(default_factory=list)
    g: list[Any] = field(default_factory=list)
    squares: list[Fraction] = field(default_factory=list)
    entries: dict[str, Fraction] = field(default_factory=dict)
    worst: tuple[Fraction, Fraction] = (Fraction(0), Fraction(1))

    def add(self, weight: Fraction, grad_f: Array, v: Array, grad_g: Array, S: Array) -> None:
        b = v - grad_f
        products = {
            "grad_f2": _dot(grad_f, grad_f),
            "bias2": _dot(b, b),
            "memory2": _dot(v, v),
            "grad_g2": _dot(grad_g, grad_g),
            "S2": _dot(S, S),
            "delta2": _dot(v - grad_g, v - grad_g),
            "grad_dot_bias": _dot(grad_f, b),
            "grad_dot_S": _dot(grad_f, S),
            "bias_dot_S": _dot(b, S),
            "memory_dot_S": _dot(v, S),
        }
        here = products["bias2"], products["grad_f2"]
        if here[0] * self.worst[1] > self.worst[0] * here[1]:
            self.worst = here
        for name, value in products.items():
            self.entries[name] = self.entries.get(name, Fraction(0)) + weight * value


def _dot(u: Array, v: Array) -> Fraction:
    found: Fraction = (u * v).sum()
    return found


def _only(part: Components, chosen: Kept) -> Components:
    """One component a client."""
    rows = [np.arange(part.row_start[j], part.row_start[j + 1]) for j in chosen]
    taken = np.concatenate(rows)
    return Components(
        rows=part.rows[taken],
        shifts=part.shifts[taken],
        weights=part.weights[taken],
        offsets=part.offsets[list(chosen)] if len(part.offsets) else part.offsets,
        row_start=np.concatenate([[0], np.cumsum([len(r) for r in rows])]).astype(np.int64),
        client_start=np.arange(len(chosen) + 1, dtype=np.int64),
    )
