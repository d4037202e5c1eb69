"""Theorem 2: the bound on 𝔼 ||grad f||^2 in terms of the forgetting term."""

from __future__ import annotations

from dataclasses import replace
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
from cflag_theory.claims.c_flag.problem.overfitting import NEW_MEMORIES, ONE_MEMORY, mean_B
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
#: sum_t 𝔼 B(t) and sum_t 𝔼 Gamma(t), with S from k = 0.
OVERFITTING = (L * alpha**2 - alpha) * grad_dot_bias_sum + beta * bias_dot_S_sum
FORGETTING = L * beta**2 / 2 * S2_sum - beta * (1 - L * alpha) * (grad_dot_S_sum + bias_dot_S_sum)
REDRAWN = Fact(
    "redrawn",
    equal(OVERFITTING, 0),
    "The memory of every round is a fresh uniform draw, independent of the past: x_t and S do not depend on it, and "
    "𝔼_M[B(t)] = 0 for every t.",
    sources=(
        Source(
            "cflag.overfitting_mean",
            "anew",
            taken=(
                (mean_B, in_the_mean((L * alpha**2 - alpha) * dot(grad_f, bias) + beta * dot(bias, delayed_sum), s)),
            ),
            over=(sum_over(s, T),),
            besides=("redrawn",),
        ),
    ),
)


def bound(constant: Any = 2) -> Relation:
    """Theorem 2, with F = 𝔼_M[f(x_0) - f(x_T)]."""
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
    """Theorem 2 for a memory that is drawn once, as Sec. 2 has it, and for memories that are drawn anew."""
    words = (
        "min_t 𝔼_M[||grad f(x_t)||^2] <= (2 L (1 + m) / T) (F + sum_t 𝔼_M[Gamma(t)]) at alpha = 1/(L (1 + m)), with F "
        "= 𝔼_M[f(x_0) - f(x_T)] and S from k = 0"
    )
    of_27 = f"{words}. Here m is the constant of (27)."
    anew = Statement(of_27, bound(constant), (CONSTANT_STEP, BIAS, REDRAWN), _proof())
    alone = Repair(
        "needs-hypothesis",
        "m must satisfy (27): the clients' gradients can cancel in grad f where their biases do not",
        replace(anew, words="The same with the m of (27)."),
    )
    return Claim(
        "cflag.thm2",
        "Theorem 2",
        "Bound on 𝔼 ||grad f||^2 by the forgetting term",
        (
            Part("1", Statement(of_27, bound(constant), (CONSTANT_STEP, BIAS)), reading=ONE_MEMORY),
            Part("anew", anew, reading=NEW_MEMORIES),
            Part(
                "2",
                Statement(
                    f"{words}, under Assumptions 1 and 2 alone, for any m >= 0.",
                    bound(constant),
                    (CONSTANT_STEP, REDRAWN),
                ),
                alone,
                reading=NEW_MEMORIES,
            ),
        ),
        (
            "Sec. 2 keeps one memory for all rounds, and Algorithm 1 has no other. The notation E_[M_0:M_t] of Sec. 4 "
            "speaks for a memory M_t of every round, though a client that keeps only M cannot draw it: the past data "
            "are gone.",
            "For one memory the nearest true statement is (63), which keeps 𝔼_M[B(t)]: cflag.eq63, with (27) and the "
            "mean of f(x_t) - f(x_{t+1}). A rate for one memory and m < 1 is ours.drawn_once, one for memories drawn "
            "anew ours.redrawn.",
            "F is printed as f(x_0) - f(x_T), a random number against a deterministic left side; it is read as its "
            "mean. Without the mean (62) fails: cflag.eq63.",
            "With (27) the bound holds for T = 1 with one memory too: x_0 and the S of round 0 do not depend on it.",
            "The instance of part 2 fails for every m: with beta = alpha/4 the right side is -1/(8 (1 + m)).",
            "With the sums from k = 1 that (10) and (35) print the bound fails already without memory bias: see Lemma "
            "1.",
        ),
    )


CLAIMS = {"cflag.thm2": thm2}
