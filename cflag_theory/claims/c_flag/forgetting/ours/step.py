"""What we prove about a round's sums and its forgetting term: exact worst cases, for every step size.

With sigma = ((1 + beta L)^E - 1) / (beta L), the sums of gradients over a round are at most sigma ||grad g(x_t)||, and
so is S. One bound on S replaces the paper's split of S into rho and e, and its four terms.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.forgetting.terms import (
    GAP,
    LEMMA11,
    RATIO,
    gap,
    grad_memory,
    grad_union,
    memory_dot_sum,
    omega2,
)
from cflag_theory.claims.c_flag.local_steps.drift import step_range
from cflag_theory.claims.c_flag.local_steps.sums import (
    ERROR_FACTS,
    QUARTER,
    error_sum,
    error_total,
    exact_sum,
    norm_S,
    rho_sum,
)
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement, shown
from cflag_theory.claims.engine.notation import E, L, alpha, beta, delayed_sum, grad_g, r, symbol
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Obligation, Proof, Step

sigma = symbol("sigma", r"\sigma", nonnegative=True)

SIGMA = Fact(
    "sigma", equal(sigma, ((1 + beta * L) ** E - 1) / (beta * L)), "sigma = ((1 + beta L)^E - 1) / (beta L), >= E."
)
#: What the bounds by sigma define.
SUM_FACTS = (SIGMA,)


def _in_sigma(whole: sp.Expr) -> tuple[Step, ...]:
    """Steps to whole <= sigma ||grad g||, the last named "sum"."""
    return (
        *exact_sum("exact sum", whole),
        Obligation("sum", at_most(whole, sigma * grad_g), ("exact sum", "sigma")),
    )


def local_sums(half: Any = sp.S.Half) -> Claim:
    """The sums of Lemmas 15 and 16 with their exact worst cases."""
    parts = [
        Part(
            key,
            Statement(
                f"{name} <= sigma ||grad g(x_t)|| for every step size beta > 0.",
                at_most(whole, sigma * grad_g),
                proof=Proof(_in_sigma(whole)),
                definitions=SUM_FACTS,
            ),
        )
        for key, name, whole in (("1", "||sum_k rho_k||", rho_sum), ("2", "||S||", norm_S))
    ]
    goal = at_most(error_sum, half * beta * L * E * (E - 1) * grad_g)
    errors = Statement(
        "||sum_k e_k|| <= (1/2) beta L E (E - 1) ||grad g(x_t)|| for beta <= 1/(L E).",
        goal,
        (step_range(sp.S.One),),
        Proof(error_total("the statement follows", goal)),
        ERROR_FACTS,
    )
    return Claim(
        "ours.local_sums",
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
        *_in_sigma(norm_S),
        rules.cauchy_schwarz("against", -grad_memory, delayed_sum),
        rules.cauchy_schwarz("along", grad_memory, delayed_sum),
    )
    given = ("sum", "against", "along", "1 - L alpha", "L alpha - 1", "(30)")
    exactly = at_most(Gamma, worst)
    facts = (*SUM_FACTS, *GAP)
    first = shown(
        "Gamma(t) <= [(L/2) beta^2 sigma^2 + r |1 - L alpha| beta sigma] ||grad g(x_t)||^2 for all alpha and beta.",
        exactly,
        *steps,
        given=given,
        under=(RATIO,),
        where=facts,
    )
    u, near = beta * L * E, sp.Rational(8, 7)
    simple = beta * E * (near**2 / 2 * u + near * r * gap)
    within: tuple[Step, ...] = (
        Obligation("exact", exactly, given),
        Obligation("range", at_most(u, QUARTER), ("beta",)),
        rules.tangent_of_exp("power", beta * L, E),
        rules.chord_of_exp("chord", given="range"),
        rules.exp_quarter("exp"),
        Obligation("sigma at most 8/7 E", at_most(sigma, near * E), ("sigma", "power", "chord", "exp")),
    )
    short = ("exact", "sigma at most 8/7 E")
    bounded = at_most(Gamma, simple * grad_g**2)
    quarter = step_range(QUARTER)
    second = shown(
        "Gamma(t) <= beta E [(32/49) beta L E + (8/7) r |1 - L alpha|] ||grad g(x_t)||^2 for beta <= 1/(4 L E).",
        bounded,
        *steps,
        *within,
        given=short,
        under=(quarter, RATIO),
        where=facts,
    )
    on_union = at_most(Gamma, 2 * simple * (grad_union**2 + omega2))
    third = shown(
        "Gamma(t) <= 2 beta E [(32/49) beta L E + (8/7) r |1 - L alpha|] (||grad h~(x_t)||^2 + omega^2), in the same "
        "range.",
        on_union,
        *steps,
        *within,
        given=("exact", "sigma at most 8/7 E", "Lemma 11"),
        under=(quarter, RATIO, LEMMA11),
        where=facts,
    )
    return Claim(
        "ours.forgetting_step",
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
