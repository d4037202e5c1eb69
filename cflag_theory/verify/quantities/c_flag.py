"""Rounds and runs of C-FLAG: what each symbol of the claims is along them.

A state is whatever has the attributes that its symbols read: a random run on floats (`instances.Run`), one exact round
(`ExactRound`), an exact run averaged over all draws (`runs.Exact`), a round with adapted rates, a run of (67)-(68).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from types import MappingProxyType
from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.forgetting import bounds, terms
from cflag_theory.claims.c_flag.local_steps import drift, sums
from cflag_theory.claims.c_flag.past_task import runs
from cflag_theory.claims.c_flag.union import surrogate
from cflag_theory.claims.c_flag.union.tracking import L_memory
from cflag_theory.claims.engine.notation import E, L, alpha, beta, bias2, grad_f2, grad_g, k
from cflag_theory.kernels import Problem, Trace
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.numbers import Array
from cflag_theory.verify.witnesses.instances import described, exact_run, root
from cflag_theory.verify.worst_cases.recursions import LocalWorst


def of(state: Any, *symbols: sp.Expr) -> dict[Any, Any]:
    """The values of these symbols in a state, in this order."""
    return {symbol: TABLE[symbol](state) for symbol in symbols}


def of_worst(worst: LocalWorst, at: int, size: Fraction = Fraction(1)) -> dict[Any, Any]:
    """The worst case at local step k = `at` where L = 1 and ||grad g(x_t)|| = `size`."""
    return {
        k: at,
        beta: worst.step,
        L: 1,
        grad_g: size,
        drift.d(k): size * worst.drift[at],
        drift.d(k + 1): size * worst.drift[at + 1],
        drift.table(k): size * worst.table[at],
    }


@dataclass(frozen=True, eq=False)
class ExactRound:
    """One exact round on the line with a memory of everything, and what its trace says of it.

    `orders` as in `simulate`.
    """

    problem: Problem
    alpha: Fraction
    beta: Fraction
    local_steps: int
    orders: Array | None = None

    @property
    def words(self) -> str:
        """The round in one line."""
        refreshed = "" if self.orders is None else f", components refreshed {self.orders.tolist()}"
        return (
            f"{described(self.problem)}; a memory of everything (b = 0); alpha = {self.alpha}, beta = {self.beta}, E = "
            f"{self.local_steps}{refreshed}."
        )

    @cached_property
    def trace(self) -> Trace:
        """The round in the exact simulation."""
        return exact_run(
            self.problem,
            alpha=self.alpha,
            beta=self.beta,
            local_steps=self.local_steps,
            orders=self.orders,
            diagnostics="all",
        )

    @property
    def L(self) -> Fraction:
        """The problem's L."""
        value: Fraction = self.problem.constants["L"].value
        return value

    def column(self, name: str) -> Any:
        """The value of a column in the round."""
        return self.trace.column(name)[0, 0]

    def after(self, name: str) -> Any:
        """The value of a column of `STATE` at the end of the round."""
        return self.trace.at_end(name)[0]

    def root(self, name: str) -> Fraction:
        """The root of a column of squared norms."""
        return root(self.column(name))


def _root(name: str) -> Callable[[Any], Any]:
    return lambda at: at.root(name)


def _sum(name: str) -> Callable[[Any], Any]:
    return lambda at: at.sums.entries[name]


#: Sums over the rounds of expectations over the draws, by the names that `runs.Sums` gives their terms.
_SUMS = {
    getattr(runs, f"{name}_sum"): _sum(name)
    for name in (
        *("grad_f2", "bias2", "memory2", "grad_g2", "S2"),
        *("grad_dot_bias", "grad_dot_S", "bias_dot_S", "memory_dot_S"),
    )
}
TABLE: Mapping[sp.Expr, Callable[[Any], Any]] = MappingProxyType(
    {
        # What a round is started with. L is that of the components too, and k the last local step.
        L: attrgetter("L"),
        alpha: attrgetter("alpha"),
        beta: attrgetter("beta"),
        E: attrgetter("local_steps"),
        k: lambda at: at.local_steps - 1,
        terms.N: attrgetter("problem.clients"),
        runs.T: attrgetter("rounds"),
        # Columns of the trace, round by round.
        grad_g: _root("grad_g2"),
        terms.memory: _root("grad_memory2"),
        terms.grad_union: _root("grad_h2"),
        drift.drift(k): _root("drift2_max"),
        drift.error(k): _root("iag_error2_max"),
        sums.rho_sum: _root("rho_sum2"),
        sums.error_sum: _root("error_sum2"),
        terms.Gamma: lambda at: at.column("Gamma"),
        bounds.h(bounds.t): lambda at: at.column("h"),
        bounds.h(bounds.t + 1): lambda at: at.after("h"),
        # Whole runs, averaged over all draws of the memory.
        **_SUMS,
        runs.f_mean(0): lambda at: at.sums.f[0],
        runs.f_mean(runs.T): lambda at: at.sums.f[-1],
        runs.least: lambda at: min(at.sums.squares),
        # Of the round and the draw with the largest ratio.
        bias2: lambda at: at.sums.worst[0],
        grad_f2: lambda at: at.sums.worst[1],
        # h~ along runs of (67)-(68), or of Algorithm 1.
        surrogate.h(surrogate.t): attrgetter("before"),
        surrogate.h(surrogate.t + 1): attrgetter("after"),
        surrogate.grad_h(surrogate.t): attrgetter("size"),
        surrogate.h(0): attrgetter("first"),
        surrogate.h(surrogate.T): attrgetter("last"),
        surrogate.least: attrgetter("least"),
        L_memory: attrgetter("L_memory"),
    }
)
#: What `runs.Exact` has summed up over its draws and rounds.
SUMS = (*_SUMS, runs.T, runs.f_mean(0), runs.f_mean(runs.T), runs.least)
