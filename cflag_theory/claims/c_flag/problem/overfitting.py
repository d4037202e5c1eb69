"""The expectation of the overfitting term B(t) over draws of the memory."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.problem.memory import mean_bias
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import A_LIMIT, Claim, Fact, Part, Repair, Source, Statement, shown
from cflag_theory.claims.engine.notation import (
    L,
    alpha,
    beta,
    delayed_sum,
    draw,
    draws,
    grad_f,
    k,
    omega,
    sequence,
    symbol,
    t,
)
from cflag_theory.claims.engine.operators import index, mean_over
from cflag_theory.claims.engine.relation import equal
from cflag_theory.claims.engine.steps import Instance, Obligation, by_induction
from cflag_theory.claims.engine.terms import dot, norm, vector

# The bias of round t as drawn anew: `xi` is its own draw, independent of what came before.
xi = index("xi")
fresh = mean_over("fresh draw", xi, r"\mathbb{E}")
_bias = vector("fresh_bias", "b_{@2}")
_expected = fresh(_bias(draw, t, xi))
conditional_bias = symbol("conditional_bias", r"{\|\mathbb{E}[b(x_t)|x_t,S]\|}", norm(_expected))
_lead = L * alpha**2 - alpha
mean_B = symbol(
    "mean_B",
    r"\mathbb{E}[B(t)]",
    draws((_lead * dot(grad_f, _expected) + beta * dot(_expected, delayed_sum)).xreplace({draw: omega})),
)
low = sequence("x_low", r"x_{@}^{1/2}", real=True)
high = sequence("x_high", r"x_{@}^{3/2}", real=True)
mean_B_at = sequence("mean_B_at", r"\mathbb{E}[B(@)]", real=True)

#: The family of part 2: L, alpha = 1 / (L (1 + m)) with m = 1/4, beta, and E[B(t)] from t = 1 on.
FAMILY_L, FAMILY_ALPHA, FAMILY_BETA = sp.Rational(8, 5), sp.Rational(1, 2), sp.Rational(1, 4)
FAMILY_VALUE = sp.Rational(11, 320)


def _redrawn() -> Repair:
    goal = equal(mean_B, 0)
    redrawn = Fact(
        "redrawn",
        equal(conditional_bias, 0),
        "The memory is drawn anew, uniformly and independently, every round: E[b(x_t) | x_t, S] = 0.",
        (draw,),
        (Source("cflag.lemma8", at=((mean_bias, conditional_bias),), besides=("uniform",)),),
    )
    return Repair(
        "needs-hypothesis",
        "the memory must be re-drawn uniformly and independently every round; then the draw of round t is independent "
        "of x_t and of S",
        shown(
            "E[B(t)] = 0 for every t when the memory is re-drawn every round.",
            goal,
            rules.null("<grad f, E b>", _expected, grad_f, given="redrawn"),
            rules.null("<E b, S>", _expected, delayed_sum, given="redrawn"),
            rules.at("first, any draw", draw, omega, given="<grad f, E b>"),
            rules.at("second, any draw", draw, omega, given="<E b, S>"),
            rules.mean("first term", draws, given="first, any draw"),
            rules.mean("second term", draws, given="second, any draw"),
            given=("first term", "second term"),
            under=(redrawn,),
        ),
    )


def _family(value: sp.Expr) -> Statement:
    """E[B(t)] in closed form, memory drawn once: f = x^2/2 from components with curvatures 1/2 and 3/2."""
    half, L_, a, b = sp.Rational(1, 2), FAMILY_L, FAMILY_ALPHA, FAMILY_BETA
    lead = L_ * a**2 - a

    def step(x: sp.Expr, kept: sp.Expr) -> sp.Expr:
        return x - a * kept * x - b * (x - 2)

    def B(x: sp.Expr, kept: sp.Expr) -> sp.Expr:
        return lead * x * (kept - 1) * x + b * (kept - 1) * x * (x - 2)

    three = 3 * half
    low_, high_ = low(k + 1), high(k + 1)
    mean = (B(low_, half) + B(high_, three)) / 2
    goal = equal(mean_B_at(k + 1), value)
    definitions = (
        Fact("start", equal(low(0), 1), "x_0 = 1."),
        Fact("memory 1/2", equal(low(k + 1), step(low(k), half)), "The round (24) when the memory keeps x^2/4."),
        Fact("memory 3/2", equal(high(k + 1), step(high(k), three)), "The round (24) when the memory keeps 3 x^2/4."),
        Fact("E[B]", equal(mean_B_at(k + 1), mean), "The mean of B(t) over the two memories, t = k + 1."),
    )
    return shown(
        "N = 1, E = 1, f the mean of x^2/4 and 3x^2/4, memory keeps one of the two, drawn once (m = 1/4); g = "
        "(x - 2)^2/2, x_0 = 1; L = 8/5, alpha = 1/(L(1 + m)) = 1/2, beta = 1/4. Then "
        f"E[B(t)] = {value} for every t = k + 1 >= 1.",
        goal,
        by_induction("low", k, equal(low(k), 1), start=("start",), given=("memory 1/2",)),
        Instance("low from t = 1 on", "low", k, k + 1),
        Obligation("high from t = 1 on", equal(high(k + 1), half), ("memory 3/2",)),
        given=("E[B]", "low from t = 1 on", "high from t = 1 on"),
        where=definitions,
    )


def overfitting_mean(value: Any = FAMILY_VALUE) -> Claim:
    """E[B(t)] for a memory drawn once; `value` is the closed form that contradicts part 2."""
    repair = _redrawn()
    return Claim(
        "cflag.overfitting_mean",
        "text after Theorem 2, step (a) of (64)",
        "The expected overfitting term",
        (
            Part(
                "1", Statement("E[B(t)] = 0 for every t, memory drawn once before the run.", equal(mean_B, 0)), repair
            ),
            Part(
                "2",
                Statement("E[B(t)] tends to zero as t grows, memory drawn once before the run.", None),
                repair,
                refutation=_family(sp.sympify(value)),
                unseen=A_LIMIT,
            ),
        ),
        (
            "At t = 0 it is true: x_0 and the component order do not depend on the memory, so Lemma 8 applies. From "
            "t = 1 on x_t remembers the draw: f falls faster where the memory is steeper.",
            "Sums from k = 0 or, as (34) prints, from k = 1: the counterexamples hold with the second term in either "
            "form, and with L as small as f allows (L = 1, alpha = 4/5, E[B(1)] = 419/5000).",
            "E[B(t)] is positive in the family, so that dropping it from (63) is not on the safe side. A bound without "
            "expectation and for a memory drawn once is ours.drawn_once.",
        ),
    )


CLAIMS = {"cflag.overfitting_mean": overfitting_mean}
