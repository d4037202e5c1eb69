"""What adapted rates do to forgetting: Lemma 6 for a client's term, Lemma 7 for the step really taken.

Sums over the clients with interference carry I, those over the clients with transference T.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims import rules
from cflag_theory.claims.algebra import residual, slack, square
from cflag_theory.claims.c_flag.adaptive import forgetting
from cflag_theory.claims.c_flag.adaptive_clients import (
    ALPHA_I,
    INTERFERENCE,
    NO_CROSS,
    Lambda_i,
    N,
    a_i,
    alpha_i,
    beta_i,
    client_term,
    cross,
    memory,
    p_i,
    q,
)
from cflag_theory.claims.c_flag.descent import STEP_SIZE
from cflag_theory.claims.claim import Claim, Fact, Part, Relation, Repair, Statement, at_most, below, equal
from cflag_theory.claims.proof import Obligation, Proof
from cflag_theory.claims.symbols import L, alpha, beta, symbol

own_I = symbol("own_I", r"\sum_I p_i^2\|\mathbf{a}_i\|^2", nonnegative=True)
own_T = symbol("own_T", r"\sum_T p_i^2\|\mathbf{a}_i\|^2", nonnegative=True)
own_once = symbol("own_once", r"\sum_T p_i^2\beta_{t,i}\|\mathbf{a}_i\|^2", real=True)
own_adapted = symbol("own_adapted", r"\sum_T p_i^2\beta_{t,i}^2\|\mathbf{a}_i\|^2", nonnegative=True)
spread = symbol("spread", r"\sum_T p_i^2(\beta_{t,i}-\beta)^2\|\mathbf{a}_i\|^2", nonnegative=True)
cross_adapted = symbol("cross_adapted", r"\sum_{i\ne j}p_ip_j\beta_{t,i}\beta_{t,j}C_{i,j}", real=True)
Lambda_I = symbol("Lambda_I", r"\sum_I p_i\Lambda_{t,i}", real=True)
Lambda_T = symbol("Lambda_T", r"\sum_T p_i\Lambda_{t,i}", real=True)
Lambda_adapted = symbol("Lambda_adapted", r"\sum_T p_i\beta_{t,i}\Lambda_{t,i}", real=True)
alpha_mean = symbol("alpha_mean", r"\sum_i p_i\alpha_{t,i}", real=True)


ALL_CROSS = Fact("worst case", below(0, cross), "C_ij > 0 for all i != j.")


def lemma6() -> Claim:
    """Lemma 6 with beta_i = alpha as printed, and with beta_i = beta as its proof and Algorithm 3 have it."""
    known = (INTERFERENCE,)
    lower = at_most(client_term(beta, alpha_i), client_term(beta, alpha))
    follows = Obligation(
        "the statement follows",
        lower,
        ("alpha_i",),
        (alpha * beta * L * square(Lambda_i) - beta * L * Lambda_i * residual("alpha_i")) / memory**2,
    )
    return Claim(
        "cflag.lemma6",
        "C-FLAG",
        "Lemma 6, (192)-(194)",
        "Interference lowers the client's term",
        (
            Part(
                "1",
                Statement(
                    "Under interference alpha_{t,i} of Table 1 and beta_{t,i} = alpha do not raise the client's term, "
                    "in both cases, for step sizes alpha_t = alpha and beta_t.",
                    at_most(client_term(alpha, alpha_i), client_term(beta, alpha)),
                    known,
                    None,
                    (ALPHA_I,),
                ),
                Repair(
                    "typo",
                    "beta_{t,i} = beta_t, as in (194) and in line 11 of Algorithm 3",
                    Statement("The same with beta_{t,i} = beta_t.", lower, known, Proof((follows,)), (ALPHA_I,)),
                ),
            ),
        ),
        (
            "Sec. 5 also speaks of alpha_t = beta_t = alpha; in that setting the printed lemma is the repaired one. "
            "Lemma 6 and Algorithm 3 are for two rates.",
            "Exactly: the term falls by alpha beta L Lambda_i^2 / ||grad_f_memory||^2.",
            "1 - L alpha may have any sign. The lemma is about the client's term alone; alpha_{t,i} need not be "
            "feasible.",
        ),
    )


def adapted_forgetting() -> sp.Expr:
    """Gamma of the step really taken, sum_i p_i alpha_i grad_f_memory + sum_i p_i beta_i a_i, with Table 1's rates."""
    norm2 = beta**2 * own_I + own_adapted + cross_adapted
    return L / 2 * norm2 - (1 - L * alpha_mean) * (beta * Lambda_I + Lambda_adapted)


def constant_forgetting() -> sp.Expr:
    """Gamma with alpha and beta for all clients."""
    return forgetting(beta, alpha, own_I + own_T + cross, Lambda_I + Lambda_T)


def left_out(c: sp.Expr) -> sp.Expr:
    """What the proof of Lemma 7 leaves out of Gamma_ad - Gamma; c = 1 in the average case, N in the worst."""
    raised = L * (alpha_mean - alpha) * (beta * Lambda_I + Lambda_adapted)
    return raised + L / 2 * (cross_adapted - beta**2 * cross + (c - 1) * (beta**2 * own_T - own_adapted))


def rates(c: sp.Expr) -> tuple[tuple[Fact, ...], tuple[Any, ...]]:
    """The definition of Table 1's rates summed over clients, and the rule instances that sum them."""
    definitions = (
        Fact("rate", equal(L * c * p_i * a_i**2 * beta_i, q * Lambda_i), "beta_{t,i} of Table 1 under transference."),
        Fact("mean alpha", equal(alpha_mean * memory**2, alpha * (memory**2 - Lambda_I)), "The mean of alpha_{t,i}."),
    )
    steps = (
        rules.weighted_sum(
            "rates", equal(c * L * own_adapted, q * Lambda_adapted), "over T, times beta_{t,i}.", ("rate",)
        ),
        rules.weighted_sum("rates once", equal(c * L * own_once, q * Lambda_T), "over T.", ("rate",)),
        rules.weighted_sum(
            "spread", equal(spread, own_adapted - 2 * beta * own_once + beta**2 * own_T), "squares over T.", ()
        ),
    )
    return definitions, steps


def gap_certificate(c: sp.Expr) -> sp.Expr:
    """Gamma - Gamma_ad + left_out(c) - c L spread / 2, in residuals of `rates`."""
    return -c * L / 2 * residual("spread") - residual("rates") + beta * residual("rates once")


def _lemma7(id: str, c: sp.Expr, case: Fact, place: str, notes: tuple[str, ...]) -> Claim:
    definitions, steps = rates(c)
    goal = at_most(adapted_forgetting(), constant_forgetting())
    harmless = Fact(
        "left out", at_most(left_out(c), 0), "What the proof leaves out of Gamma_ad - Gamma is not positive."
    )
    follows = Obligation(
        "the statement follows",
        goal,
        ("left out", "rates", "rates once", "spread"),
        slack("left out") + c * L / 2 * spread + gap_certificate(c),
    )
    words = (
        f"In the {case.name} Table 1's rates (beta_{{t,i}} = beta under interference) do not raise the forgetting term "
        "of the step really taken: Gamma_ad = (L/2) ||sum_i p_i beta_i a_i||^2 - (1 - L sum_i p_i alpha_i) sum_i p_i "
        "beta_i Lambda_i <= Gamma."
    )
    known = (STEP_SIZE, case)
    return Claim(
        id,
        "C-FLAG",
        f"Lemma 7, (195)-(200), {place}",
        f"Adapted rates improve forgetting, {place}",
        (
            Part(
                "1",
                Statement(words, goal, known, None, definitions),
                Repair(
                    "needs-hypothesis",
                    "what the proof leaves out must not be positive: L (sum_i p_i alpha_i - alpha) sum_i p_i beta_i "
                    "Lambda_i, " + notes[0],
                    Statement(
                        "The same under that hypothesis.",
                        goal,
                        (*known, harmless),
                        Proof((*steps, follows)),
                        definitions,
                    ),
                ),
            ),
        ),
        notes[1:],
    )


def lemma7_average() -> Claim:
    """Lemma 7 in the average case."""
    return _lemma7(
        "cflag.lemma7_average",
        sp.S.One,
        NO_CROSS,
        "average case",
        (
            "which the raised alpha takes from the transferring clients, plus (L/2) sum_{i != j} p_i p_j beta_i beta_j "
            "C_ij, which need not vanish with sum_{i != j} p_i p_j C_ij",
            "Exactly: Gamma_ad - Gamma is what the proof leaves out minus (L/2) sum_T p_i^2 (beta_i - beta)^2 "
            "||a_i||^2 (ours.adaptive_condition).",
            "The hypothesis holds where all clients transfer and the a_i are orthogonal in pairs.",
            "The counterexamples have alpha = beta, where beta_{t,i} = alpha and beta_{t,i} = beta are the same.",
        ),
    )


def lemma7_worst() -> Claim:
    """Lemma 7 in the worst case."""
    return _lemma7(
        "cflag.lemma7_worst",
        N,
        ALL_CROSS,
        "worst case",
        (
            "plus (L/2) [beta^2 (N sum p_i^2 ||a_i||^2 - ||S||^2) - (N sum p_i^2 beta_i^2 ||a_i||^2 - ||sum p_i beta_i "
            "a_i||^2)], by which the bounds (188) before and after differ",
            "(195) and (200) are equalities in the proof, where (190) gives Gamma <= sum_i p_i Gamma_i,w only: for "
            "(200) that is the wrong direction.",
            "Exactly: Gamma_ad - Gamma is what the proof leaves out minus (L N/2) sum_T p_i^2 (beta_i - beta)^2 "
            "||a_i||^2 (ours.adaptive_condition).",
            "The hypothesis holds where all clients transfer and all p_i a_i are equal.",
        ),
    )


def relation_of_rates(c: sp.Expr) -> Relation:
    """Gamma_ad as Gamma, minus what the rates gain, plus what Lemma 7 leaves out."""
    return equal(adapted_forgetting(), constant_forgetting() - c * L / 2 * spread + left_out(c))


CLAIMS = {"cflag.lemma6": lemma6, "cflag.lemma7_average": lemma7_average, "cflag.lemma7_worst": lemma7_worst}
