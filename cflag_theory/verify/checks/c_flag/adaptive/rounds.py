"""Exact rounds with adapted rates: the vectors of one round, Table 1's rates, and the simulation that must agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from cflag_theory.claims.c_flag.adaptive import clients, lemmas, server
from cflag_theory.claims.engine.notation import L, alpha, beta, m, sum2
from cflag_theory.claims.engine.points import put_in
from cflag_theory.errors import InconsistentEvidence
from cflag_theory.kernels import Problem, Trace, algorithm
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.problems.by_name import quadratic
from cflag_theory.kernels.problems.objective import gradients
from cflag_theory.verify.quantities.c_flag import of
from cflag_theory.verify.witnesses.instances import exact_run

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


@dataclass(frozen=True)
class Round:
    """One round of C-FLAG from x_t = the problem's start, with a memory of everything: G = grad f, so b = 0 and m = 0.

    a (N, d) holds the a_i, written out here once more: a witness that shares no line with the simulation.
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

    @property
    def L(self) -> Fraction:
        """The problem's L."""
        value: Fraction = self.problem.constants["L"].value
        return value

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
        """(alpha_i, beta_i) of Table 1, beta_i = beta under interference."""
        q, G, found = 1 - self.L * self.alpha, self.G, []
        for p, a in zip(self.problem.p, self.a, strict=True):
            product, w = G @ a, p if case == "average" else p * self.problem.clients
            if product > 0:
                found.append((self.alpha, q * product / (self.L * w * (a @ a))))
            else:
                found.append((self.alpha * (1 - product / (G @ G)), self.beta))
        return found

    def transferring(self, case: str) -> dict[str, list[dict[Any, Any]]]:
        """The values of every client with Lambda_i > 0, for which Table 1's rate is meant: see `Point.members`."""
        return {"rate": [self.values(case, int(i)) for i in np.flatnonzero(self.a @ self.G > 0)]}

    def values(self, case: str = "average", client: int = 0, bias: Fraction = Fraction(0)) -> dict[Any, Any]:
        """Every symbol of the adaptive claims; `client` is the one that stands for its kind.

        Raises
        ------
        InconsistentEvidence
            If the simulation's Lambda, or its Gamma with constant or with adapted rates, is another one.
        """
        p, a, G, rates = self.problem.p, self.a, self.G, self.rates(case)
        N, products = len(p), self.a @ self.G
        S = p @ a
        gram = a @ a.T
        T = [i for i in range(N) if products[i] > 0]
        inside = [i for i in range(N) if products[i] <= 0]
        betas = [beta_i for _, beta_i in rates]
        pairs = [(i, j) for i in range(N) for j in range(N) if i != j]
        own = [p[i] ** 2 * gram[i, i] for i in range(N)]
        values: dict[Any, Any] = {
            **of(self, L),
            m: bias,
            **of(self, alpha, beta),
            sum2: S @ S,
            server.Lambda: G @ S,
            clients.sum2: S @ S,
            clients.Lambda: G @ S,
            **of(self, clients.N),
            clients.p_i: p[client],
            clients.weight: p[client] * (1 if case == "average" else N),
            clients.a_i: norm(a[client]),
            clients.Lambda_i: products[client],
            clients.memory: norm(G),
            clients.alpha_i: rates[client][0],
            clients.beta_i: betas[client],
            clients.own: sum(own, Fraction(0)),
            clients.cross: sum((p[i] * p[j] * gram[i, j] for i, j in pairs), Fraction(0)),
            clients.plain: sum((p[i] * gram[i, i] for i in range(N)), Fraction(0)),
            clients.plain_Lambda: sum(products, Fraction(0)),
            lemmas.own_I: sum((own[i] for i in inside), Fraction(0)),
            lemmas.own_T: sum((own[i] for i in T), Fraction(0)),
            lemmas.own_once: sum((own[i] * betas[i] for i in T), Fraction(0)),
            lemmas.own_adapted: sum((own[i] * betas[i] ** 2 for i in T), Fraction(0)),
            lemmas.spread: sum((own[i] * (betas[i] - self.beta) ** 2 for i in T), Fraction(0)),
            lemmas.cross_adapted: sum((p[i] * p[j] * betas[i] * betas[j] * gram[i, j] for i, j in pairs), Fraction(0)),
            lemmas.Lambda_I: sum((p[i] * products[i] for i in inside), Fraction(0)),
            lemmas.Lambda_T: sum((p[i] * products[i] for i in T), Fraction(0)),
            lemmas.Lambda2_I: sum((p[i] * products[i] ** 2 for i in inside), Fraction(0)),
            lemmas.raised_I: sum((p[i] * rates[i][0] * products[i] for i in inside), Fraction(0)),
            lemmas.root_2: sp.sqrt(2),
            lemmas.N_T: len(T),
            lemmas.Lambda_adapted: sum((p[i] * betas[i] * products[i] for i in T), Fraction(0)),
            lemmas.alpha_mean: sum((p[i] * rates[i][0] for i in range(N)), Fraction(0)),
        }
        factor = 1 if case == "average" else N
        each = [self.client_term(i, factor) for i in range(N)]
        values[clients.Gamma_i] = each[client]
        values[clients.client_sum] = p @ np.array(each)
        constant, adapted = self.simulated(), self.simulated(case)
        values[clients.Gamma] = constant.column("Gamma")[0, 0]
        self.agree("Lambda", (constant.column("Lambda")[0, 0] == products).all())
        self.agree("Gamma", put_in(lemmas.constant_forgetting(), values) == sp.sympify(values[clients.Gamma]))
        taken = put_in(lemmas.adapted_forgetting(), values) == sp.sympify(adapted.column("Gamma")[0, 0])
        self.agree("Gamma of the adapted step", taken)
        return values

    def agree(self, what: str, same: bool) -> None:
        """Raise unless the simulation and what is written out here are the same.

        Raises
        ------
        InconsistentEvidence
            If they are not.
        """
        if not same:
            raise InconsistentEvidence(f"{what} of the simulation is not the one written out: {self.words()}")

    def client_term(self, i: int, factor: int) -> Fraction:
        """Gamma_i,av (factor 1) or Gamma_i,w (factor N)."""
        a, p = self.a[i], self.problem.p[i]
        found: Fraction = self.L * self.beta**2 / 2 * factor * p * (a @ a) - self.beta * (1 - self.L * self.alpha) * (
            self.G @ a
        )
        return found

    def words(self) -> str:
        """The instance in one line."""
        shown = "; ".join(f"({', '.join(map(str, a))})" for a in self.a)
        return (
            f"N = {self.problem.clients}, p = {', '.join(map(str, self.problem.p))}, E = {self.local_steps}, "
            f"L = {self.L}, alpha = {self.alpha}, beta = {self.beta}, grad_f_memory = "
            f"({', '.join(map(str, self.G))}), a_i = {shown}; a memory of everything (m = 0)."
        )


def at_rate(values: dict[Any, Any], rate: Fraction) -> dict[Any, Any]:
    """The values at another beta for the same S, without those that the round's own beta enters."""
    own = (lemmas.spread, lemmas.cross_adapted, clients.Gamma_i, clients.client_sum, clients.Gamma)
    return {key: value for key, value in values.items() if key not in own} | {beta: rate}


def norm(vector: Array) -> sp.Expr:
    """The Euclidean norm, exact."""
    square: Any = vector @ vector
    return sp.sqrt(sp.Rational(square.numerator, square.denominator))


def larger_m(case: Round) -> dict[Any, Any]:
    """An m above 1 that allows the round's alpha, where there is one: alpha < 2/(L(1 + m)) with m = 1/(L alpha)."""
    share = case.L * case.alpha
    return {m: 1 / share} if share < 1 else {}


def random_rounds(count: int, seed: int) -> list[Round]:
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
    return found
