"""Whole runs as algebra: Gram entries summed over the rounds, the telescoped descent, the length of S.

Sums over the rounds t < T of expectations over the memory draws are inner products again, of vectors indexed by round
and draw. So the rules for vectors apply to them, and a run is as small as a round. For one given memory the expectation
does nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.local_steps.drift import exact_drift, growth
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Fact
from cflag_theory.claims.engine.notation import E, L, alpha, beta, grad_g, k, sequence, symbol
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, RuleUse, Step

T = symbol("T", "T", positive=True, integer=True)
t = symbol("t", "t", nonnegative=True, integer=True)
f_mean = sequence("f_mean", r"\mathbf{E}f(x_{@})", real=True)
inner = sequence("grad_dot_step_t", r"\mathbf{E}\langle\nabla f(x_{@}),x_{@+1}-x_{@}\rangle", real=True)
step2 = sequence("step2_t", r"\mathbf{E}\|x_{@+1}-x_{@}\|^2", nonnegative=True)
inner_sum = sequence("inner_sum", r"\sum_{s<@}\mathbf{E}\langle\nabla f(x_s),x_{s+1}-x_s\rangle", real=True)
step2_sum = sequence("step2_sum", r"\sum_{s<@}\mathbf{E}\|x_{s+1}-x_s\|^2", nonnegative=True)

grad_f2_sum = symbol("grad_f2_sum", r"\sum_t\mathbf{E}\|\nabla f(x_t)\|^2", nonnegative=True)
bias2_sum = symbol("bias2_sum", r"\sum_t\mathbf{E}\|b\|^2", nonnegative=True)
memory2_sum = symbol("memory2_sum", r"\sum_t\mathbf{E}\|\nabla f^\dagger\|^2", nonnegative=True)
S2_sum = symbol("S2_sum", r"\sum_t\mathbf{E}\|S\|^2", nonnegative=True)
grad_g2_sum = symbol("grad_g2_sum", r"\sum_t\mathbf{E}\|\nabla g(x_t)\|^2", nonnegative=True)
grad_dot_bias_sum = symbol("grad_dot_bias_sum", r"\sum_t\mathbf{E}\langle\nabla f,b\rangle", real=True)
grad_dot_S_sum = symbol("grad_dot_S_sum", r"\sum_t\mathbf{E}\langle\nabla f,S\rangle", real=True)
bias_dot_S_sum = symbol("bias_dot_S_sum", r"\sum_t\mathbf{E}\langle b,S\rangle", real=True)
memory_dot_S_sum = symbol("memory_dot_S_sum", r"\sum_t\mathbf{E}\langle\nabla f^\dagger,S\rangle", real=True)
#: The smallest of the rounds' E ||grad f(x_t)||^2.
least = symbol("least", r"\min_t\mathbf{E}\|\nabla f(x_t)\|^2", nonnegative=True)
S_norm = symbol("S_norm", r"{\|S\|}", nonnegative=True)
_drift_mean = symbol("drift_mean", r"\sum_i p_i\|x_{t,E}^i-x_t\|", nonnegative=True)

# The bias as sqrt(m) u: (27) is ||u|| <= ||grad f||, and m = 0 needs no case of its own.
root_m = symbol("root_m", r"\sqrt{m}", nonnegative=True)
u2_sum = symbol("u2_sum", r"\sum_t\mathbf{E}\|u\|^2", nonnegative=True)
grad_dot_u_sum = symbol("grad_dot_u_sum", r"\sum_t\mathbf{E}\langle\nabla f,u\rangle", real=True)
u_dot_S_sum = symbol("u_dot_S_sum", r"\sum_t\mathbf{E}\langle u,S\rangle", real=True)

GRAM = {
    ("grad_f", "grad_f"): grad_f2_sum,
    ("b", "grad_f"): grad_dot_bias_sum,
    ("b", "b"): bias2_sum,
    ("S", "S"): S2_sum,
    ("S", "grad_f"): grad_dot_S_sum,
    ("S", "b"): bias_dot_S_sum,
    ("u", "u"): u2_sum,
    ("grad_f", "u"): grad_dot_u_sum,
    ("S", "u"): u_dot_S_sum,
}
#: x_{t+1} - x_t by (24) with (6).
STEP = {"grad_f": -alpha, "b": -alpha, "S": -beta}
UNIT_STEP = {"grad_f": -alpha, "u": -alpha * root_m, "S": -beta}


@dataclass(frozen=True)
class Course:
    """A function along the run: its mean value, <its gradient, the step> and the sums of that over the first rounds."""

    name: str
    value: Any
    inner: Any
    inner_sum: Any

    @property
    def sums(self) -> tuple[Fact, ...]:
        """Definitions of the sums over the first rounds."""
        return (
            Fact("no round: inner", equal(self.inner_sum(0), 0), "An empty sum."),
            Fact("no round: length", equal(step2_sum(0), 0), "An empty sum."),
            Fact(
                "one more: inner",
                equal(self.inner_sum(t + 1), self.inner_sum(t) + self.inner(t)),
                "A sum over the first rounds.",
            ),
            Fact("one more: length", equal(step2_sum(t + 1), step2_sum(t) + step2(t)), "A sum over the first rounds."),
        )

    def descended(self, index: sp.Expr) -> Relation:
        """value(index) <= value(0) + sum <gradient, step> + (L/2) sum ||step||^2."""
        return at_most(self.value(index), self.value(0) + self.inner_sum(index) + L * step2_sum(index) / 2)


OF_F = Course("f", f_mean, inner, inner_sum)
SUMS = OF_F.sums


def telescoped(
    step: rules.Combination = STEP, of: Course = OF_F, gradient: str = "grad_f", gram: rules.Gram = GRAM
) -> tuple[Step, ...]:
    """f(x_T) <= f(x_0) + sum_t <grad f, step> + (L/2) sum_t ||step||^2 as "the whole run", both sums expanded.

    The sums are `inner_sum(T)` by "(39)" and `step2_sum(T)` by "(49)", in the entries of `gram`.
    """
    hypothesis = "telescoped (hypothesis)"
    start = Obligation(
        "telescoped at 0",
        of.descended(sp.S.Zero),
        ("no round: inner", "no round: length"),
        residual("no round: inner") + L / 2 * residual("no round: length"),
    )
    between = f"{of.name} between x_t and x_{{t+1}}, in the mean over draws."
    smooth = rules.smoothness("(36)", of.value(t + 1), of.value(t), of.inner(t), step2(t), L, between)
    further = Obligation(
        "telescoped from t to t + 1",
        of.descended(t + 1),
        (hypothesis, "(36)", "one more: inner", "one more: length"),
        slack(hypothesis) + slack("(36)") + residual("one more: inner") + L / 2 * residual("one more: length"),
    )
    words = "the step is (24); summed over the rounds and averaged over the draws."
    return (
        Induction("telescoped", t, of.descended(t), start, (smooth, further)),
        Instance("the whole run", "telescoped", t, T),
        rules.bilinearity("(39)", of.inner_sum(T), {gradient: sp.S.One}, step, gram, words),
        rules.bilinearity("(49)", step2_sum(T), step, step, gram, words),
    )


#: right - left of what `telescoped` shows, with the sums put in.
DESCENT = slack("the whole run") - residual("(39)") - L / 2 * residual("(49)")
DESCENT_USES = ("the whole run", "(39)", "(49)")


def reach() -> sp.Expr:
    """((1 + beta L)^E - 1) / L: what beta ||S|| can be for ||grad g(x_t)|| = 1, at most E beta exp(beta L E)."""
    return ((1 + beta * L) ** E - 1) / L


def sum_bound() -> tuple[Step, ...]:
    """(beta ||S||)^2 <= reach^2 ||grad g(x_t)||^2 for any round, as "one round"."""
    gap = slack("(22)") + slack("clients")
    return (
        growth(),
        Instance("all local steps", "growth", k, E),
        rules.triangle("(22)", beta * S_norm, (_drift_mean,), "beta S = sum_i p_i (x_t - x_{t,E}^i) by (22)."),
        rules.mean_of_bounds(
            "clients", _drift_mean, exact_drift(E).right, "over the clients with weights p_i.", ("all local steps",)
        ),
        Obligation(
            "one round",
            at_most((beta * S_norm) ** 2, reach() ** 2 * grad_g**2),
            ("(22)", "clients"),
            gap**2 + 2 * beta * S_norm * gap,
        ),
    )


def sum_bound_in_the_mean() -> tuple[Step, ...]:
    """beta^2 sum_t E ||S||^2 <= reach^2 sum_t E ||grad g(x_t)||^2, as "all rounds"."""
    mean = rules.mean_of_bounds(
        "all rounds",
        beta**2 * S2_sum,
        reach() ** 2 * grad_g2_sum,
        "over rounds and draws, times T.",
        ("one round",),
    )
    return (*sum_bound(), mean)


def smallest(name: str = "least") -> RuleUse:
    """min_t <= mean over t."""
    return rules.least_member(name, least, grad_f2_sum / T, "over the rounds t < T.")
