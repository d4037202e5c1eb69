"""Rounds and runs of C-FLAG: what each symbol of the claims is along them.

A state is whatever has the attributes that its symbols read: a random run on floats (`instances.Run`), one exact round
(`ExactRound`), an exact run averaged over all draws (`runs.Exact`), a round with adapted rates, a run of (67)-(68).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from operator import attrgetter
from types import MappingProxyType
from typing import Any

import numpy as np
import sympy as sp

from cflag_theory.claims.c_flag.forgetting import average, bounds, terms
from cflag_theory.claims.c_flag.iterates import L_memory
from cflag_theory.claims.c_flag.local_steps import drift, sums
from cflag_theory.claims.c_flag.past_task import runs
from cflag_theory.claims.c_flag.past_task.ours import bounded_gradients, first_rounds
from cflag_theory.claims.c_flag.union import lemma3, surrogate
from cflag_theory.claims.c_flag.union.ours import rounds as union_rounds
from cflag_theory.claims.engine.notation import E, L, alpha, beta, bias2, grad_f2, grad_g, k, r, t
from cflag_theory.kernels import Problem, Trace
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.numbers import Array
from cflag_theory.verify.instances.on_the_line import described, exact_run, on_the_line, root, slopes
from cflag_theory.verify.instances.recursions import LocalWorst
from cflag_theory.verify.instances.runs import Exact
from cflag_theory.verify.instances.unions import random_union, uneven_round, union_run

_ZERO, _ONE = Fraction(0), Fraction(1)


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


@cache
def concave_round(E: int, n: int, beta: Fraction) -> ExactRound:
    """A round of E local steps on n components -x^2/2 + x from x_0 = 0.

    The one client refreshes its first component at every step. L = ||grad g(x_0)|| = 1.
    """
    problem = on_the_line([[(1, 0)]], [[(-1, -1)] * n], start=0, L=1)
    return ExactRound(problem, Fraction(1, 2), beta, E, np.zeros((1, 1, E), dtype=np.int64))


@cache
def averaged_run(
    alpha: Fraction,
    beta: Fraction,
    E: int = 1,
    T: int = 1,
    *,
    root_m: Fraction = _ZERO,
    past: Fraction = _ONE,
    kink: Fraction = _ZERO,
    curve: Fraction = _ZERO,
    push: Fraction = _ZERO,
    spread: Fraction = _ZERO,
    start: Fraction = _ONE,
    redraw: int = 0,
    rest: int = 0,
) -> Exact:
    """A run over all draws of a memory of one: f = past x^2/2, b = +-(root_m grad f - kink), g = curve x^2/2 - push x.

    The curvatures of the components of g are `spread` away from its own. With `rest` the second memory alone is drawn.
    """
    kept = [(past * (1 + root_m), kink), (past * (1 - root_m), -kink)]
    current = [(curve + spread, push), (curve - spread, push)] if spread else [(curve, push)]
    problem = on_the_line([kept], [current], start=start, L=1)
    return Exact(problem, alpha, beta, E, T, bool(redraw), ((1,),) if rest else ())


def opposed_run(alpha: Fraction, beta: Fraction) -> Exact:
    """A round of two clients whose gradients cancel in grad f at 0, and ||b_i||^2 = (1/4) ||grad f_i||^2 everywhere."""
    half = Fraction(1, 2)
    clients = [[(3 * half, 3 * half * s), (half, half * s)] for s in (1, -1)]
    return Exact(on_the_line(clients, [[(0, 1)]] * 2, start=0, L=1), alpha, beta, 1, 1)


def opposed_round(slope: Fraction, alpha: Fraction, beta: Fraction, E: int) -> ExactRound:
    """The first round on f = x^2/2, all of it kept, and g = x^2/2 - slope x, from x = 1."""
    return ExactRound(on_the_line([[(1, 0)]], [[(1, slope)]], start=1, L=1), alpha, beta, E)


#: What pages call `instances of`.
FAMILIES: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        made.__name__: made
        for made in (
            *(concave_round, opposed_round, averaged_run, opposed_run),
            *(union_run, random_union, uneven_round),
        )
    }
)


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
} | {bounded_gradients.delta2_sum: _sum("delta2")}
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
        t: attrgetter("t"),
        runs.f_mean(t): lambda at: at.sums.f[at.t],
        bounded_gradients.g_mean(0): lambda at: at.sums.g[0],
        bounded_gradients.g_mean(runs.T): lambda at: at.sums.g[-1],
        # Where inf f = 0.
        first_rounds.F: lambda at: at.sums.f[0],
        first_rounds.W: attrgetter("rounds"),
        first_rounds.f2(first_rounds.W): _sum("grad_f2"),
        first_rounds.size_g(0): lambda at: abs(slopes(at.problem)[1]),
        average.G: lambda at: sp.sqrt(sp.Rational(at.sums.entries["grad_g2"]) / at.rounds),
        runs.least: lambda at: min(at.sums.squares),
        # Of the round and the draw with the largest ratio.
        bias2: lambda at: at.sums.worst[0],
        grad_f2: lambda at: at.sums.worst[1],
        # h~ along runs of (67)-(68), or of Algorithm 1; by clients, and by the sizes of (3) where it is the same.
        surrogate.h(surrogate.t): attrgetter("before"),
        surrogate.h(surrogate.t + 1): attrgetter("after"),
        surrogate.grad_h(surrogate.t): attrgetter("size"),
        surrogate.h(0): attrgetter("first"),
        surrogate.h(surrogate.T): attrgetter("last"),
        surrogate.least: attrgetter("least"),
        surrogate.printed_sum: lambda at: at.rounds * (at.first - at.last),
        surrogate.round_sum(surrogate.T): lambda at: sum(here - there for here, there in pairwise(at.losses)),
        surrogate.h_sizes(0): lambda at: at.by_sizes[0][0],
        surrogate.h_sizes(surrogate.T): lambda at: at.by_sizes[-1][0],
        surrogate.least_sizes: lambda at: min(slope**2 for _, slope in at.by_sizes[:-1]),
        surrogate.share_spread: attrgetter("union.spread"),
        L_memory: attrgetter("L_memory"),
        # The first round of such a run.
        lemma3.x: attrgetter("x"),
        lemma3.grad_g: attrgetter("g"),
        lemma3.grad_h: attrgetter("h"),
        lemma3.grad_f_memory: attrgetter("f_memory"),
        lemma3.S: attrgetter("S_own"),
        lemma3.S_union: attrgetter("S_union"),
        union_rounds.x_mean: attrgetter("x_mean"),
        lemma3.share: attrgetter("union.share"),
        lemma3.size_g: lambda at: abs(at.g),
        lemma3.size_h: lambda at: abs(at.union.share * at.f_memory + (1 - at.union.share) * at.g),
        lemma3.size_memory: lambda at: abs(at.f_memory),
        lemma3.size_by_client: lambda at: abs(at.h),
        lemma3.grad_g2: lambda at: at.trace.column("grad_g2")[0, 0],
        lemma3.grad_h2: lambda at: at.trace.column("grad_h2")[0, 0],
        lemma3.by_client2: lambda at: at.h**2,
        lemma3.mean_gap2: attrgetter("union.gap2"),
        lemma3.omega2: attrgetter("union.omega2"),
        r: attrgetter("ratio"),
        union_rounds.memory_dot: lambda at: at.f_memory * at.g,
        union_rounds.target(0): lambda at: at.targets[0],
        union_rounds.target(surrogate.T): lambda at: at.targets[-1],
        union_rounds.least_target: attrgetter("least_target"),
        union_rounds.mean_g2: lambda at: at.trace.column("grad_g2")[0].sum() / Fraction(at.rounds),
        union_rounds.L_f_memory: attrgetter("curvature"),
    }
)
#: What `runs.Exact` has summed up over its draws and rounds.
SUMS = (*_SUMS, runs.T, runs.f_mean(0), runs.f_mean(runs.T), runs.least)
