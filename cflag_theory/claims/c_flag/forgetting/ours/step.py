"""What we prove about a round's sums and its forgetting term: exact worst cases, for every step size.

With sigma = ((1 + beta L)^E - 1) / (beta L), the sums of gradients over a round are at most sigma ||grad g(x_t)||, and
so is S. One bound on S replaces the paper's split of S into rho and e, and its four terms.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.forgetting.terms import LEMMA11, RATIO, grad_union, memory, memory_dot_sum, omega2
from cflag_theory.claims.c_flag.local_steps.drift import MAJORANTS, START, STEPS, step_range
from cflag_theory.claims.c_flag.local_steps.sums import (
    DELAYED,
    PLAIN,
    QUARTER,
    RHO,
    error_sum,
    errors_in_mean,
    exact_sum,
    rho_sum,
)
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.notation import E, L, alpha, beta, grad_g, k, r, symbol
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Obligation, Proof, Step

norm_S = symbol("norm_S", r"{\|S\|}", nonnegative=True)
sigma = symbol("sigma", r"\sigma", nonnegative=True)
gap = symbol("abs_1_L_alpha", r"{|1-L\alpha|}", nonnegative=True)

SIGMA = Fact(
    "sigma", equal(sigma, ((1 + beta * L) ** E - 1) / (beta * L)), "sigma = ((1 + beta L)^E - 1) / (beta L), >= E."
)
GAP = (
    Fact("1 - L alpha", at_most(1 - L * alpha, gap), "|1 - L alpha| is at least 1 - L alpha,"),
    Fact("L alpha - 1", at_most(L * alpha - 1, gap), "and at least L alpha - 1."),
)
_S = "delayed_{i,k} = grad g_i(x_t) + its change, and the weighted mean of grad g_i(x_t) is grad g(x_t)."


def _in_sigma(whole: sp.Expr, words: str, delayed: bool) -> tuple[Step, ...]:
    """Steps to whole <= sigma ||grad g||, the last named "sum"."""
    return (
        *exact_sum("exact sum", whole, words, DELAYED if delayed else PLAIN),
        Obligation(
            "sum",
            at_most(whole, sigma * grad_g),
            ("exact sum", "sigma"),
            slack("exact sum") + grad_g * residual("sigma"),
        ),
    )


def local_sums(half: Any = sp.S.Half) -> Claim:
    """The sums of Lemmas 15 and 16 with their exact worst cases."""
    parts = []
    for key, whole, words, delayed in (("1", rho_sum, RHO, False), ("2", norm_S, _S, True)):
        goal = at_most(whole, sigma * grad_g)
        name = "||S||" if delayed else "||sum_k rho_k||"
        statement = Statement(
            f"{name} <= sigma ||grad g(x_t)|| for every step size beta > 0.",
            goal,
            (),
            Proof(_in_sigma(whole, words, delayed)),
            (*(DELAYED if delayed else PLAIN).facts, SIGMA),
        )
        parts.append(Part(key, statement))
    goal = at_most(error_sum, half * beta * L * E * (E - 1) * grad_g)
    # E (E - 1), with E - 1 = (E - 1 - k) + k.
    spare = beta * L * E * (slack("k") + k) * grad_g
    errors = Statement(
        "||sum_k e_k|| <= (1/2) beta L E (E - 1) ||grad g(x_t)|| for beta <= 1/(L E).",
        goal,
        (STEPS, step_range(sp.S.One)),
        Proof(
            (
                *errors_in_mean(sp.S.One),
                Obligation(
                    "the statement follows",
                    goal,
                    ("(147)", "mean error", "k"),
                    slack("(147)") + E * slack("mean error") + (half - sp.S.Half) * spare,
                ),
            )
        ),
        (START, *MAJORANTS),
    )
    return Claim(
        "ours.local_sums",
        "ours",
        "in place of Lemmas 15 and 16",
        "Sums over local steps, exactly",
        (*parts, Part("3", errors)),
        (
            "1 and 2 are attained for every E and beta by one client with the one component -(L/2) x^2 + G x. They "
            "give Lemma 15 (I) and (II) up to beta = 4/(L E), sixteen times the range of Lemma 13.",
            "3 is approached by n such components of which one is refreshed again and again, as n grows and beta "
            "falls.",
        ),
    )


def forgetting_step() -> Claim:
    """The forgetting term of a round, with its exact worst case and two simpler forms."""
    Gamma = L / 2 * beta**2 * norm_S**2 - beta * (1 - L * alpha) * memory_dot_sum
    worst = (L / 2 * beta**2 * sigma**2 + beta * gap * r * sigma) * grad_g**2
    steps: tuple[Step, ...] = (
        *_in_sigma(norm_S, _S, True),
        rules.cauchy_schwarz("against", -memory_dot_sum, memory, norm_S, "grad f_memory and S."),
        rules.cauchy_schwarz("along", memory_dot_sum, memory, norm_S, "grad f_memory and S."),
    )
    given = ("sum", "against", "along", "1 - L alpha", "L alpha - 1", "(30)")
    # |1 - L alpha| a b + (1 - L alpha) <u, v>, each factor split into its two signs.
    crossed = (slack("L alpha - 1") * slack("against") + slack("1 - L alpha") * slack("along")) / 2
    certificate = L / 2 * beta**2 * slack("sum") * (slack("sum") + 2 * norm_S) + beta * (
        crossed + gap * (slack("(30)") * norm_S + r * grad_g * slack("sum"))
    )
    exactly = at_most(Gamma, worst)
    facts = (*DELAYED.facts, SIGMA, *GAP)
    first = Statement(
        "Gamma(t) <= [(L/2) beta^2 sigma^2 + r |1 - L alpha| beta sigma] ||grad g(x_t)||^2 for all alpha and beta.",
        exactly,
        (RATIO,),
        Proof((*steps, Obligation("the statement follows", exactly, given, certificate))),
        facts,
    )
    u, near = beta * L * E, sp.Rational(8, 7)
    simple = beta * E * (near**2 / 2 * u + near * r * gap)
    within: tuple[Step, ...] = (
        Obligation("exact", exactly, given, certificate),
        Obligation("range", at_most(u, QUARTER), ("beta",), slack("beta")),
        rules.tangent_of_exp("power", beta * L, E),
        rules.chord_of_exp("chord", u, QUARTER, ("range",)),
        rules.exp_quarter("exp"),
        Obligation(
            "sigma at most 8/7 E",
            at_most(sigma, near * E),
            ("sigma", "power", "chord", "exp"),
            (slack("power") + slack("chord")) / (beta * L) + 4 * E * slack("exp") - residual("sigma"),
        ),
    )
    below = slack("sigma at most 8/7 E")
    lower = (L / 2 * beta**2 * below * (below + 2 * sigma) + beta * gap * r * below) * grad_g**2
    bounded = at_most(Gamma, simple * grad_g**2)
    quarter = step_range(QUARTER)
    second = Statement(
        "Gamma(t) <= beta E [(32/49) beta L E + (8/7) r |1 - L alpha|] ||grad g(x_t)||^2 for beta <= 1/(4 L E).",
        bounded,
        (quarter, RATIO),
        Proof(
            (
                *steps,
                *within,
                Obligation("the statement follows", bounded, ("exact", "sigma at most 8/7 E"), slack("exact") + lower),
            )
        ),
        facts,
    )
    on_union = at_most(Gamma, 2 * simple * (grad_union**2 + omega2))
    third = Statement(
        "Gamma(t) <= 2 beta E [(32/49) beta L E + (8/7) r |1 - L alpha|] (||grad h~(x_t)||^2 + omega^2), in the same "
        "range.",
        on_union,
        (quarter, RATIO, LEMMA11),
        Proof(
            (
                *steps,
                *within,
                Obligation(
                    "the statement follows",
                    on_union,
                    ("exact", "sigma at most 8/7 E", "Lemma 11"),
                    slack("exact") + lower + simple * slack("Lemma 11"),
                ),
            )
        ),
        facts,
    )
    return Claim(
        "ours.forgetting_step",
        "ours",
        "in place of (149)-(161)",
        "Forgetting term of a round, exactly",
        (Part("1", first), Part("2", second), Part("3", third)),
        (
            "1 is attained for every E, alpha and beta by one client with the current component -(L/2) x^2 + G x and "
            "the gradient of the memory against it (along it for alpha > 1/L), r times as long.",
            "Against (158) the coefficient of beta^2 L E^2 falls from 2 to 32/49, that of 6 beta L E + 1 is at most "
            "8/7, the term 36 beta^4 L^3 E^4 goes, and the range of beta is three times as long.",
            "The decrease of h~ does not appear: no such bound holds along Algorithm 1, see cflag.eq161.",
        ),
    )


CLAIMS = {"ours.local_sums": local_sums, "ours.forgetting_step": forgetting_step}
