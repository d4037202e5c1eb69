"""Descent on the past task: Lemma 1, and the factor of Theorem 2."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims import rules
from cflag_theory.claims.algebra import residual, slack
from cflag_theory.claims.claim import Claim, Fact, Part, Relation, Repair, Sharp, Statement, at_most, below, equal
from cflag_theory.claims.proof import Obligation, Proof
from cflag_theory.claims.symbols import (
    L,
    alpha,
    beta,
    bias2,
    bias_dot_sum,
    f_after,
    f_before,
    grad_dot_bias,
    grad_dot_sum,
    grad_f2,
    m,
    sum2,
    symbol,
)

# The same Gram entries for the sum that starts at k = 1, as (9) and (10) print it.
late_sum2 = symbol("late_sum2", r"{\|S_1\|^2}", nonnegative=True)
late_bias_dot_sum = symbol("late_bias_dot_sum", r"\langle b,S_1\rangle", real=True)
late_grad_dot_sum = symbol("late_grad_dot_sum", r"\langle\nabla f,S_1\rangle", real=True)
inner = symbol("grad_dot_step", r"\langle\nabla f(x_t),x_{t+1}-x_t\rangle", real=True)
step2 = symbol("step2", r"{\|x_{t+1}-x_t\|^2}", nonnegative=True)

GRAM = {
    ("grad_f", "grad_f"): grad_f2,
    ("b", "grad_f"): grad_dot_bias,
    ("b", "b"): bias2,
    ("S", "S"): sum2,
    ("S", "grad_f"): grad_dot_sum,
    ("S", "b"): bias_dot_sum,
}
#: x_{t+1} - x_t by (24), with grad_f_memory = grad f + b by (6).
STEP = {"grad_f": -alpha, "b": -alpha, "S": -beta}

STEP_SIZE = Fact("alpha", below(alpha, 2 / (L * (1 + m))), "alpha < 2 / (L (1 + m)).")
BIAS = Fact("(27)", at_most(bias2, m * grad_f2), "||b(x_t)||^2 <= m ||grad f(x_t)||^2, (27) of Lemma 9.")


def factor(step: sp.Expr = alpha) -> sp.Expr:
    """1 / (alpha [1 - (L/2) alpha (1 + m)])."""
    return 1 / (step * (1 - L * step * (1 + m) / 2))


def overfitting(bias_sum: sp.Expr = bias_dot_sum) -> sp.Expr:
    """B(t) of (34)."""
    return (L * alpha**2 - alpha) * grad_dot_bias + beta * bias_sum


def forgetting(norm2: sp.Expr, grad_sum: sp.Expr, bias_sum: sp.Expr, lead: sp.Expr) -> sp.Expr:
    """Gamma(t) of (10) or (35): lead * beta^2 ||S||^2 - beta (1 - L alpha) <grad_f_memory, S>."""
    return lead * beta**2 * norm2 - beta * (1 - L * alpha) * (grad_sum + bias_sum)


def bound(lead: sp.Expr) -> Relation:
    """(8) with sums from k = 0 and the given coefficient of beta^2 ||S||^2."""
    Gamma = forgetting(sum2, grad_dot_sum, bias_dot_sum, lead)
    return at_most(grad_f2, factor() * (f_before - f_after + overfitting() + Gamma))


def _proof(lead: sp.Expr) -> Proof:
    # alpha (1 - (L/2) alpha (1 + m)), written so that its sign is plain.
    scale = alpha * L * (1 + m) / 2 * slack("alpha")
    gap = slack("(36)") + L * alpha**2 / 2 * slack("(27)") + (lead - L / 2) * beta**2 * sum2
    return Proof(
        (
            rules.smoothness("(36)", f_after, f_before, inner, step2, L, "f between x_t and x_{t+1}."),
            rules.bilinearity("(39)", inner, {"grad_f": sp.S.One}, STEP, GRAM, "the step is (24)."),
            rules.bilinearity("(49)", step2, STEP, STEP, GRAM, "the step is (24)."),
            Obligation(
                "the statement follows",
                bound(lead),
                ("alpha", "(27)", "(36)", "(39)", "(49)"),
                (gap - residual("(39)") - L / 2 * residual("(49)")) / scale,
            ),
        )
    )


def lemma1() -> Claim:
    """Lemma 1 as the main text prints it: sums from k = 1, and m left without a property."""
    words = (
        "||grad f(x_t)||^2 <= (f(x_t) - f(x_{t+1}) + B(t) + Gamma(t)) / (alpha [1 - (L/2) alpha (1 + m)]), with "
        "sums over k = 1, ..., E - 1 in B(t) and Gamma(t), and L beta^2 in Gamma(t)."
    )
    late = forgetting(late_sum2, late_grad_dot_sum, late_bias_dot_sum, L)
    printed = at_most(grad_f2, factor() * (f_before - f_after + overfitting(late_bias_dot_sum) + late))
    smooth = rules.RULES["smoothness"]
    known = (STEP_SIZE, BIAS)
    mended = Statement(
        "The same with sums over k = 0, ..., E - 1, as in (15); L/2 in place of L is enough, as in (35).",
        bound(L),
        known,
        _proof(L),
    )
    sharpened = Statement("The same with (L/2) beta^2 ||S||^2.", bound(L / 2), known, _proof(L / 2))
    first = Part(
        "1",
        Statement(words + " Here m is the constant of (27).", printed, known),
        Repair("typo", "start both sums at k = 0, as (15) and the proof do", mended),
        Sharp("the coefficient of beta^2 ||S||^2 in Gamma(t)", L, L / 2, sharpened),
    )
    second = Part(
        "2",
        Statement(
            "The same with sums from k = 0, under Assumptions 1 and 2 alone, for any m >= 0.", bound(L), (STEP_SIZE,)
        ),
        Repair(
            "needs-hypothesis",
            "m must satisfy (27), ||b(x)||^2 <= m ||grad f(x)||^2; Assumption 2 bounds each client's bias by its own "
            "gradient, "
            "and these can cancel in grad f",
            mended,
        ),
    )
    return Claim(
        "cflag.lemma1",
        "C-FLAG",
        "(8)-(10)",
        "Lemma 1 of the main text",
        (first, second),
        (
            f"Smoothness is used between x_t and x_{{t+1}} only: {smooth}",
            "With L/2 the bound is attained: f = (L/2) ||x||^2 and ||b||^2 = m ||grad f||^2 make every step of the "
            "proof an "
            "equality.",
        ),
    )


def eq65(constant: Any = 2) -> Claim:
    """The factor of Theorem 2: Lemma 1's at alpha = 1 / (L (1 + m))."""
    step = 1 / (L * (1 + m))
    at = Fact("alpha", equal(alpha, step), "alpha = 1 / (L (1 + m)).")
    relation = equal(factor(), constant * L * (1 + m))
    # 2 / step - factor = -2 (alpha / step - 1) (alpha - step) / (alpha (2 step - alpha)).
    multiplier = -2 * (alpha / step - 1) / (alpha * slack("range"))
    proof = Proof(
        (
            Obligation("range", below(alpha, 2 * step), ("alpha",), step - residual("alpha")),
            Obligation(
                "the statement follows",
                relation,
                ("alpha", "range"),
                (constant - 2) / step + multiplier * residual("alpha"),
            ),
        )
    )
    printed = Statement(
        "1 / (alpha [1 - (L/2) alpha (1 + m)]) = 2 L (1 + m) at alpha = 1 / (L (1 + m)).", relation, (at,), proof
    )
    return Claim(
        "cflag.eq65",
        "C-FLAG",
        "(64)-(65)",
        "The factor 2 L (1 + m) of Theorem 2",
        (Part("1", printed),),
        (
            "The factor is smallest at this alpha over the whole range of Lemma 1, since alpha (1 - c alpha / 2) <= "
            "1 / (2 c) "
            "with c = L (1 + m).",
            "Step (a) of (64), E B(t) = 0, is a claim of its own and is not used here.",
        ),
    )


CLAIMS = {"cflag.lemma1": lemma1, "cflag.eq65": eq65}
