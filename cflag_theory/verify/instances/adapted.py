"""Exact rounds with adapted rates: the vectors of one round, Table 1's rates, and the simulation that must agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import sympy as sp

from cflag_theory.errors import InconsistentEvidence
from cflag_theory.kernels import Problem, Trace, algorithm
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.problems.by_name import quadratic
from cflag_theory.kernels.problems.objective import gradients
from cflag_theory.verify.instances.on_the_line import exact_run

_HALF = Fraction(1, 2)
#: A component a ||x||^2 / 2 - <b, x>, as (a, b).
Component = tuple[int | Fraction, Sequence[int | Fraction]]


def in_space(
    past: Sequence[Component],
    current: Sequence[Component],
    *,
    start: Sequence[int | Fraction],
    L: int | Fraction = 1,
    p: Sequence[Fraction] | None = None,
) -> Problem:
    """An exact problem with one past and one current component for each client."""
    d, clients_ = len(start), np.arange(len(past))

    def arrays(components: Sequence[Component]) -> tuple[Array, Array]:
        matrices = np.full((len(components), d, d), Fraction(0), dtype=object)
        for matrix, (a, _) in zip(matrices, components, strict=True):
            np.fill_diagonal(matrix, Fraction(a))
        vectors = np.array([[Fraction(v) for v in b] for _, b in components], dtype=object)
        return matrices, vectors

    weights = [Fraction(1, len(past))] * len(past) if p is None else list(p)
    return quadratic(
        *arrays(past),
        clients_,
        *arrays(current),
        clients_,
        L=Fraction(L),
        p=np.array(weights, dtype=object),
        start=np.array([Fraction(v) for v in start], dtype=object),
    )


def with_gradients(
    memory: Sequence[int | Fraction], current: Sequence[Sequence[int | Fraction]], p: Sequence[Fraction] | None = None
) -> Problem:
    """f_i = ||x||^2/2 at x_t = `memory`, and linear g_i: with E = 1, a_i is the given gradient. L = 1."""
    N, d = len(current), len(memory)
    return in_space([(1, [0] * d)] * N, [(0, [-v for v in a]) for a in current], start=memory, p=p)


@dataclass(frozen=True, eq=False)
class Round:
    """One round of C-FLAG from x_t = the problem's start, with a memory of everything: G = grad f, so b = 0 and m = 0.

    a (N, d) holds the a_i, written out here once more: a witness that shares no line with the simulation. What line 4
    of Algorithm 3 computes for them is `seen`.
    """

    problem: Problem
    alpha: Fraction
    beta: Fraction
    local_steps: int = 1

    @cached_property
    def G(self) -> Array:
        """grad_f_memory(x_t)."""
        found: Array = self.problem.p @ gradients(self.problem.potential, self.problem.past, self.problem.start)
        return found

    @property
    def a(self) -> Array:
        """sum_k grad g_i'(x_{t,k}^i) of every client."""
        return self.local[0]

    @property
    def ends(self) -> Array:
        """x_{t,E}^i of every client."""
        return self.local[1]

    @cached_property
    def grad_g_clients(self) -> Array:
        """grad g_i(x_t)."""
        return gradients(self.problem.potential, self.problem.current, self.problem.start)

    @cached_property
    def local(self) -> tuple[Array, Array]:
        """The local steps (4); with one component a client the delayed gradient is the gradient."""
        problem, at_x = self.problem, self.grad_g_clients
        grad_g, sums, ends = problem.p @ at_x, [], []
        for i in range(problem.clients):
            local, total = problem.start, problem.start * 0
            for _ in range(self.local_steps):
                now = gradients(problem.potential, problem.current, local)[i]
                total = total + now
                local = local - self.beta * (grad_g - at_x[i] + now)
            sums.append(total)
            ends.append(local)
        return np.stack(sums), np.stack(ends)

    @cached_property
    def S(self) -> Array:
        """sum_i p_i a_i."""
        found: Array = self.problem.p @ self.a
        return found

    @cached_property
    def products(self) -> Array:
        """Lambda_i."""
        found: Array = self.a @ self.G
        return found

    @cached_property
    def seen(self) -> Array:
        """a_i as line 4 computes it."""
        gap = self.problem.p @ self.grad_g_clients - self.grad_g_clients
        found: Array = self.problem.start - self.local_steps * self.beta * gap - self.ends
        return found

    @property
    def L(self) -> Fraction:
        """The problem's L."""
        value: Fraction = self.problem.constants["L"].value
        return value

    @property
    def q(self) -> Fraction:
        """1 - L alpha."""
        return 1 - self.L * self.alpha

    def simulated(self, adaptive: str = "none", **changes: Any) -> Trace:
        """The round in the exact simulation."""
        return exact_run(
            self.problem,
            algorithm=algorithm("c_flag", adaptive=adaptive, **changes),
            alpha=self.alpha,
            beta=self.beta,
            local_steps=self.local_steps,
        )

    def rates(self, case: str) -> list[tuple[Fraction, Fraction]]:
        """(alpha_i, beta_i) of Table 1, beta_i = beta under interference; alpha where grad_f_memory is zero."""
        found, memory2 = [], self.G @ self.G
        for i, Lambda in enumerate(self.products):
            raised = self.alpha * (1 - Lambda / memory2) if memory2 else self.alpha
            found.append((self.alpha, self.best(case, i)) if Lambda > 0 else (raised, self.beta))
        return found

    def best(self, case: str, i: int) -> Fraction:
        """The rate at which the client's term of Table 1's case is least."""
        found: Fraction = self.q * self.products[i] / (self.L * self.weight(case, i) * (self.a[i] @ self.a[i]))
        return found

    def weight(self, case: str, i: int) -> Fraction:
        """p_i in the average case, N p_i in the worst."""
        found: Fraction = self.problem.p[i] * (1 if case == "average" else self.problem.clients)
        return found

    def client_term(self, i: int, case: str) -> Fraction:
        """Gamma_i,av or Gamma_i,w."""
        square = self.weight(case, i) * (self.a[i] @ self.a[i])
        found: Fraction = self.L * self.beta**2 / 2 * square - self.beta * self.q * self.products[i]
        return found

    def agree(self, what: str, same: bool) -> None:
        """Raise unless the simulation and what is written out here are the same."""
        if not same:
            raise InconsistentEvidence(f"{what} of the simulation is not the one written out: {self.words()}")

    def words(self) -> str:
        """The instance in one line."""
        shown = "; ".join(f"({', '.join(map(str, a))})" for a in self.a)
        return (
            f"N = {self.problem.clients}, p = {', '.join(map(str, self.problem.p))}, E = {self.local_steps}, "
            f"L = {self.L}, alpha = {self.alpha}, beta = {self.beta}, grad_f_memory = "
            f"({', '.join(map(str, self.G))}), a_i = {shown}; a memory of everything (m = 0)."
        )


def norm(vector: Array) -> sp.Expr:
    """The Euclidean norm, exact."""
    square: Any = vector @ vector
    return sp.sqrt(sp.Rational(square.numerator, square.denominator))


def random_problems(count: int, seed: int) -> tuple[Round, ...]:
    """Small exact rounds with curved f and g, every sign of Lambda_i, and step sizes on both sides of 1/L."""
    rng = np.random.default_rng(seed)
    found: list[Round] = []

    def vector(d: int) -> list[Fraction]:
        return [Fraction(int(v), 2) for v in rng.integers(-4, 5, d)]

    while len(found) < count:
        N, d = int(rng.integers(1, 4)), int(rng.integers(1, 3))
        raw = [int(v) for v in rng.integers(1, 4, N)]
        problem = in_space(
            [(Fraction(int(rng.integers(1, 3)), 2), vector(d)) for _ in range(N)],
            [(Fraction(int(rng.integers(-2, 3)), 2), vector(d)) for _ in range(N)],
            start=vector(d),
            p=[Fraction(v, sum(raw)) for v in raw],
        )
        step, local = Fraction(int(rng.integers(1, 8)), 4), Fraction(int(rng.integers(1, 5)), 4)
        candidate = Round(problem, step, local, int(rng.integers(1, 3)))
        if candidate.G.any() and candidate.a.any(axis=1).all():
            found.append(candidate)
    return tuple(found)


#: grad f_memory, the a_i, alpha and beta: every kind of round on its own.
_CHOSEN: tuple[tuple[list[Any], list[list[Any]], Fraction, Fraction], ...] = (
    # One client, with interference of several strengths or with transference; alpha on both sides of 1/L = 1.
    *(([1], [[a]], _HALF, _HALF) for a in (-2, -1, 1, -4, Fraction(-299, 100), Fraction(-301, 100), Fraction(1, 10))),
    *(([1], [[a]], Fraction(5, 4), _HALF) for a in (1, -1)),
    ([1, 0], [[0, 1]], _HALF, _HALF),
    # The average case, sum_{i != j} p_i p_j C_ij = 0: orthogonal a_i, and a_i whose products cancel.
    ([Fraction(3, 2), _HALF], [[-1, 1], [2, 2]], _HALF, _HALF),
    ([Fraction(3, 2), _HALF], [[-1, 1], [2, 2]], _HALF, Fraction(1, 4)),
    ([2, 3], [[1, 0], [1, 1], [-1, 1]], _HALF, Fraction(1, 4)),
    # The worst case: nearly orthogonal, parallel and equal a_i.
    ([1, 1], [[2, 1], [1, 2]], Fraction(2, 5), Fraction(2, 5)),
    *(([1, 0], [[1, 2], a], _HALF, _HALF) for a in ([3, 6], [2, -1])),
    *(([1, 1], [[1, 2]] * count, _HALF, _HALF) for count in (1, 2, 3)),
)


@cache
def rounds_of_every_kind(count: int, seed: int) -> tuple[Round, ...]:
    """Chosen rounds, and random ones with curved f and g and several local steps."""
    chosen = (Round(with_gradients(f, rows), step, local) for f, rows, step, local in _CHOSEN)
    return (*chosen, *random_problems(count, seed))
