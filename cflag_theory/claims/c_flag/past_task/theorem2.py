"""Theorem 2: the bound on E ||grad f||^2 in terms of the forgetting term."""

from __future__ import annotations

from typing import Any

from cflag_theory.claims.c_flag.past_task.runs import (
    LEMMA9_SUMMED,
    S2_sum,
    T,
    bias2_sum,
    bias_dot_S_sum,
    descent,
    f_mean,
    grad_dot_bias_sum,
    grad_dot_S_sum,
    grad_f2_sum,
    in_the_mean,
    least,
    s,
    smallest,
    telescoped,
    throughout,
)
from cflag_theory.claims.c_flag.problem.overfitting import mean_B
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Source, Statement
from cflag_theory.claims.engine.notation import L, alpha, beta, bias, delayed_sum, grad_f, m
from cflag_theory.claims.engine.operators import sum_over
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Obligation, Proof
from cflag_theory.claims.engine.terms import dot

CONSTANT_STEP = Fact("alpha", equal(alpha, 1 / (L * (1 + m))), "alpha = 1 / (L (1 + m)).")
BIAS = Fact(
    "(27)",
    at_most(bias2_sum, m * grad_f2_sum),
    "||b(x_t)||^2 <= m ||grad f(x_t)||^2 in every round, (27).",
    sources=(LEMMA9_SUMMED,),
)
#: sum_t E B(t) and sum_t E Gamma(t), with S from k = 0.
OVERFITTING = (L * alpha**2 - alpha) * grad_dot_bias_sum + beta * bias_dot_S_sum
FORGETTING = L * beta**2 / 2 * S2_sum - beta * (1 - L * alpha) * (grad_dot_S_sum + bias_dot_S_sum)
REDRAWN = Fact(
    "redrawn",
    equal(OVERFITTING, 0),
    "The memory of every round is a fresh uniform draw, independent of the past: then x_t and S do not depend on it, E "
    "B(t) = 0 for every t.",
    sources=(
        Source(
            "cflag.overfitting_mean",
            on="repair",
            at=((mean_B, in_the_mean((L * alpha**2 - alpha) * dot(grad_f, bias) + beta * dot(bias, delayed_sum), s)),),
            over=(sum_over(s, T),),
            besides=("redrawn",),
        ),
    ),
)


def bound(constant: Any = 2) -> Relation:
    """Theorem 2, with F = E[f(x_0) - f(x_T)]."""
    return at_most(least, constant * L * (1 + m) / T * (f_mean(0) - f_mean(T) + FORGETTING))


def _proof() -> Proof:
    used = ("all rounds", "telescoped", "(27)", "redrawn", "factor", "least")
    return Proof(
        (
            *descent(),
            *throughout("all rounds", "descent"),
            telescoped(),
            Obligation("factor", equal(L * (1 + m) * alpha, 1), ("alpha",)),
            smallest(),
            Obligation("the statement follows", bound(), used),
        )
    )


def thm2(constant: Any = 2) -> Claim:
    """Theorem 2 for a memory that is drawn once, as Sec. 2 says it is."""
    words = (
        "min_t E ||grad f(x_t)||^2 <= (2 L (1 + m) / T) (F + sum_t E Gamma(t)) at alpha = 1/(L (1 + m)), with F = "
        "E[f(x_0) - f(x_T)], the expectation over the memory, which is drawn once before the run, and S from k = 0."
    )
    mended = Statement(
        "The same for a memory that is drawn anew every round.",
        bound(constant),
        (CONSTANT_STEP, BIAS, REDRAWN),
        _proof(),
    )
    once = Part(
        "1",
        Statement(words + " Here m is the constant of (27).", bound(constant), (CONSTANT_STEP, BIAS)),
        Repair(
            "needs-hypothesis",
            "the memory must be drawn anew every round, independently: drawn once, x_t depends on it from t = 1 on, "
            "and E B(t) is not zero",
            mended,
        ),
    )
    alone = Part(
        "2",
        Statement(
            words + " Under Assumptions 1 and 2 alone, for any m >= 0; here even for a memory drawn anew every round.",
            bound(constant),
            (CONSTANT_STEP, REDRAWN),
        ),
        Repair(
            "needs-hypothesis",
            "m must satisfy (27): the clients' gradients can cancel in grad f where their biases do not",
            mended,
        ),
    )
    return Claim(
        "cflag.thm2",
        "Theorem 2",
        "Bound on E ||grad f||^2 by the forgetting term",
        (once, alone),
        (
            "F is printed as f(x_0) - f(x_T), a random number against a deterministic left side; it is read as its "
            "mean.",
            "With (27) the bound holds for T = 1 with a memory drawn once too: x_0 and the S of round 0 do not depend "
            "on it.",
            "The instance of part 2 fails for every m: with beta = alpha/4 the right side is -1/(8 (1 + m)).",
            "With the sums from k = 1 that (10) and (35) print the bound fails already without memory bias: see Lemma "
            "1.",
        ),
    )


CLAIMS = {"cflag.thm2": thm2}
