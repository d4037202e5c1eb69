"""When grad g stays bounded in the mean: what Lemmas 4 and 18 need besides their printed hypotheses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.local_steps.drift import START
from cflag_theory.claims.c_flag.past_task.runs import (
    DESCENT,
    DESCENT_USES,
    Course,
    S2_sum,
    T,
    grad_g2_sum,
    reach,
    sum_bound_in_the_mean,
    telescoped,
)
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.notation import L, alpha, beta, sequence, symbol
from cflag_theory.claims.engine.relation import Relation, at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation, Proof

omega = symbol("omega", r"\omega", nonnegative=True)
q = symbol("q", "q", positive=True)
g_mean = sequence("g_mean", r"\mathbf{E}g(x_{@})", real=True)
_inner = sequence("grad_g_dot_step", r"\mathbf{E}\langle\nabla g(x_{@}),x_{@+1}-x_{@}\rangle", real=True)
_inner_sum = sequence("g_inner_sum", r"\sum_{s<@}\mathbf{E}\langle\nabla g(x_s),x_{s+1}-x_s\rangle", real=True)
OF_G = Course("g", g_mean, _inner, _inner_sum)

# delta = grad f_memory - grad g.
delta2_sum = symbol("delta2_sum", r"\sum_t\mathbf{E}\|\nabla f^\dagger-\nabla g\|^2", nonnegative=True)
g_dot_delta = symbol("g_dot_delta", r"\sum_t\mathbf{E}\langle\nabla g,\delta\rangle", real=True)
g_dot_S = symbol("g_dot_S", r"\sum_t\mathbf{E}\langle\nabla g,S\rangle", real=True)
delta_dot_S = symbol("delta_dot_S", r"\sum_t\mathbf{E}\langle\delta,S\rangle", real=True)
moved = symbol("moved_on_g", r"\sum_t\mathbf{E}\|\nabla g+\delta+\tfrac{\beta}{\alpha}S\|^2", nonnegative=True)
error2 = symbol("error2_on_g", r"\sum_t\mathbf{E}\|\delta+\tfrac{\beta}{\alpha}S\|^2", nonnegative=True)
gap2 = symbol("gap2_on_g", r"\sum_t\mathbf{E}\|q\delta-(1-q)\tfrac{\beta}{\alpha}S\|^2", nonnegative=True)
GRAM = {
    ("grad_g", "grad_g"): grad_g2_sum,
    ("delta", "delta"): delta2_sum,
    ("S", "S"): S2_sum,
    ("delta", "grad_g"): g_dot_delta,
    ("S", "grad_g"): g_dot_S,
    ("S", "delta"): delta_dot_S,
}
STEP = {"grad_g": -alpha, "delta": -alpha, "S": -beta}


def bound(first: Any = 2, second: Any = 1) -> Relation:
    """(1/T) sum E||grad g||^2 <= first (g(x_0) - g(x_T)) / (alpha (1 - q) T) + second (omega/(1 - q))^2."""
    drop = first * (g_mean(0) - g_mean(T)) / (alpha * (1 - q) * T)
    return at_most(grad_g2_sum / T, drop + second * (omega / (1 - q)) ** 2)


def bounded_gradients(first: Any = 2, second: Any = 1) -> Claim:
    """Memory and current data that differ by a bounded gradient."""
    goal = bound(first, second)
    z, rest = beta / alpha, slack("q < 1")
    words = "summed over rounds and averaged over draws."
    whole, left = {"grad_g": sp.S.One, "delta": sp.S.One, "S": z}, {"delta": q, "S": -(1 - q) * z}
    wrong = {"delta": sp.S.One, "S": z}
    pull = Obligation(
        "pull",
        at_most(beta**2 * S2_sum, (alpha * q) ** 2 * grad_g2_sum),
        ("all rounds", "q"),
        slack("all rounds") + grad_g2_sum * residual("q") * alpha * (alpha * q + reach()),
    )
    # ||delta + z||^2 <= ||delta||^2/(1 - q) + ||z||^2/q.
    split = Obligation(
        "error",
        at_most(error2, T * omega**2 / (1 - q) + q * grad_g2_sum),
        ("omega", "gap", "pull", "moved: error", "q < 1"),
        slack("omega") / rest
        + (gap2 - residual("gap")) / (q * rest)
        + slack("pull") / (alpha**2 * q)
        - residual("moved: error"),
    )
    descent = Obligation(
        "descent",
        at_most(alpha / 2 * (grad_g2_sum - error2), g_mean(0) - g_mean(T)),
        (*DESCENT_USES, "moved", "moved: error", "alpha"),
        DESCENT + alpha / 2 * (slack("alpha") * (moved - residual("moved")) + residual("moved: error")),
    )
    proof = Proof(
        (
            *telescoped(STEP, OF_G, "grad_g", GRAM),
            *sum_bound_in_the_mean(),
            pull,
            rules.bilinearity("moved", moved, whole, whole, GRAM, words),
            rules.bilinearity("moved: error", error2, wrong, wrong, GRAM, words),
            rules.bilinearity("gap", gap2, left, left, GRAM, words),
            split,
            descent,
            Obligation(
                "the statement follows",
                goal,
                ("descent", "error", "q < 1"),
                2 / (alpha * rest * T) * slack("descent") + slack("error") / (rest * T),
            ),
        )
    )
    statement = Statement(
        "(1/T) sum_t E||grad g(x_t)||^2 <= 2 E(g(x_0) - g(x_T)) / (alpha (1 - q) T) + (omega/(1 - q))^2 with q = ((1 + "
        "beta L)^E - 1)/(L alpha) < 1 and ||grad f_memory(x_t) - grad g(x_t)|| <= omega in every round.",
        goal,
        (
            Fact("alpha", at_most(L * alpha, 1), "alpha <= 1/L."),
            Fact("q < 1", below(q, 1), "q < 1: beta E is small against alpha."),
            Fact("omega", at_most(delta2_sum, T * omega**2), "||grad f_memory(x_t) - grad g(x_t)|| <= omega."),
        ),
        proof,
        (START, *OF_G.sums, Fact("q", equal(q, reach() / alpha), "q = ((1 + beta L)^E - 1)/(L alpha).")),
    )
    return Claim(
        "ours.bounded_gradients",
        "ours",
        "for Lemmas 4 and 18",
        "Bounded mean of ||grad g||^2",
        (Part("1", statement),),
        (
            "With equal shares |M^i| / |C^i| the omega of Lemma 11 bounds (|M| / (|M| + |C|)) ||grad f_memory - grad "
            "g||; "
            "in general it bounds the difference with other factors, where every client keeps some memory.",
            "So where omega is finite and g is bounded below, Lemma 4 holds for alpha <= 1/L and T large, and Lemma 18 "
            "for exp(1/60) - 1 < L alpha <= 1, the range in which q < 1; Assumption 3 gives way to ||grad f_memory|| "
            "<= "
            "||grad g|| + omega.",
            "As beta tends to 0 both constants are attained: 1 by g = x^2/2 - omega x and f_memory = x^2/2 at rest "
            "at 0; 2 "
            "by g = f_memory = x^2/2 with x_0 = 1, alpha = 1, T = E = 1.",
        ),
    )


CLAIMS: dict[str, Callable[[], Claim]] = {"ours.bounded_gradients": bounded_gradients}
