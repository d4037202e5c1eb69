"""The average forgetting: Lemma 4 with diminishing and Lemma 18 with constant steps on the current data.

"O(.)" is read as usual: at most C times that, with one C for all T, which may depend on the problem, on x_0 and on the
constants of the assumptions. A refutation is a family in closed form for which no C will do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.forgetting.terms import Gamma, grad_memory
from cflag_theory.claims.c_flag.forgetting.terms import memory as norm_memory
from cflag_theory.claims.c_flag.past_task.runs import (
    THROUGHOUT,
    S2_sum,
    T,
    at_any_round,
    grad_g2_sum,
    memory2_sum,
    memory_dot_S_sum,
    sum_bound_in_the_mean,
    summed,
    t,
    throughout,
)
from cflag_theory.claims.c_flag.problem.memory import LEMMA10, memory_norm
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import slack
from cflag_theory.claims.engine.claim import FOR_NO_CONSTANT, Claim, Fact, Part, Repair, Statement
from cflag_theory.claims.engine.notation import E, L, alpha, beta, delayed_sum, k, m, r, sequence, symbol, unfold
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Proof, Step, by_induction

C = symbol("C", "C", nonnegative=True)
c = symbol("c", "c", positive=True)
w = symbol("inverse_root_T", r"T^{-1/2}", positive=True)
K = symbol("K", "K", positive=True)
G = symbol("G", "G", nonnegative=True)
Gamma_sum = symbol("Gamma_sum", r"\sum_t\mathbb{E}\Gamma(t)", summed(unfold(Gamma)))

ROOT = Fact("1/sqrt(T)", equal(T * w**2, 1), "The square of 1/sqrt(T) is 1/T.")
STEP_SIZE = Fact("alpha", below(alpha, 2 / (L * (1 + m))), "alpha < 2 / (L (1 + m)).")
DIMINISHING = Fact("beta", below(beta, c * w), "beta < c / sqrt(T).")
CONSTANT = Fact("beta", equal(beta, 1 / (60 * L * E)), "beta = 1/(60 L E).")
RATIO = Fact(
    "Assumption 3",
    at_most(memory2_sum, r**2 * grad_g2_sum),
    "||grad f_memory(x_t)|| <= r ||grad g(x_t)|| in every round.",
    sources=(
        replace(
            LEMMA10, at=((memory_norm, at_any_round(norm_memory)), *THROUGHOUT["at"]), over=(2, *THROUGHOUT["over"])
        ),
    ),
)
POSITIVE_R = Fact("r", below(0, r), "r > 0, as Assumption 3 has it.")
BOUNDED = Fact(
    "bounded", at_most(grad_g2_sum, T * G**2), "(1/T) sum_t 𝔼||grad g(x_t)||^2 <= G^2, with one G for all T."
)


def reach_steps() -> tuple[Step, ...]:
    """(1 + beta L)^E - 1 <= beta L E (exp(end) - 1)/end by "power" and "chord", and >= 0 by "grown".

    "exp range" shows beta L E <= end.
    """
    one = at_most(1, (1 + beta * L) ** k)
    hypothesis = "at least one (hypothesis)"
    grows = Obligation("at least one from k to k + 1", at_most(1, (1 + beta * L) ** (k + 1)), (hypothesis,))
    return (
        Induction("at least one", k, one, Obligation("at least one at 0", one.subs({k: 0}), ()), (grows,)),
        Instance("grown", "at least one", k, E),
        rules.tangent_of_exp("power", beta * L, E),
        rules.chord_of_exp("chord", given="exp range"),
    )


WITHIN_ONE = Obligation("w <= 1", at_most(w, 1), ("1/sqrt(T)", "T"))
ONE_ROUND = Fact("T", at_most(1, T), "There is at least one round.")
SMALL = Obligation("exp range", at_most(E * beta * L, c * L * E), ("beta", "w <= 1"))


def _forgetting() -> tuple[Step, ...]:
    """sum_t 𝔼 Gamma(t) <= (L beta^2 K^2 / 2 + beta r K) sum_t 𝔼||grad g(x_t)||^2, as "Gamma by g"."""
    length = Obligation(
        "length of S", at_most(S2_sum, K**2 * grad_g2_sum), ("all rounds", "power", "chord", "K", "grown")
    )

    def product(name: str, sign: int) -> tuple[Step, ...]:
        # The square of r S - sign K v in every round.
        square = f"{name}: square"
        return (
            rules.square(square, r * delayed_sum - sign * K * grad_memory),
            *throughout(f"{name}: squares", square),
            Obligation(
                name,
                at_most(sign * memory_dot_S_sum, r * K * grad_g2_sum),
                ("Assumption 3", "length of S", f"{name}: squares", "r"),
            ),
        )

    by_g = Obligation(
        "Gamma by g",
        at_most(Gamma_sum, (L * beta**2 * K**2 / 2 + beta * r * K) * grad_g2_sum),
        ("length of S", "<v, S>", "-<v, S>", "alpha"),
    )
    return (*sum_bound_in_the_mean(), *reach_steps(), length, *product("<v, S>", 1), *product("-<v, S>", -1), by_g)


# The climbing family: f = 0 and g = -x^2/2, on which x_t = (1 + beta)^t.
x_at = sequence("x_climbing", "x_{@}", real=True)
Gamma_until = sequence("Gamma_until", r"\sum_{s<@}\Gamma(s)", real=True)
CLIMBING = (
    Fact("x_0", equal(x_at(0), 1), "x_0 = 1."),
    Fact("round", equal(x_at(t + 1), (1 + beta) * x_at(t)), "(24) with grad f_memory = 0 and S = -x_t."),
    Fact("no Gamma", equal(Gamma_until(0), 0), "An empty sum."),
    Fact("Gamma", equal(Gamma_until(t + 1), Gamma_until(t) + beta**2 * x_at(t) ** 2 / 2), "(15) with Lambda = 0."),
)


def climbing(step: Fact | None = None) -> Statement:
    """A family with all assumptions of Lemmas 4 and 18 whose mean Gamma is at least beta^4 T (2T - 3)/12."""
    line = 1 + t * beta
    far = by_induction("x_t", t, at_most(line, x_at(t)), start=("x_0",), given=("round",))
    square = at_most(t**2 * beta**2, x_at(t) ** 2)
    summed = by_induction(
        "sum",
        t,
        at_most(beta**4 * (t**3 / 6 - t**2 / 4), Gamma_until(t)),
        Obligation("x_t^2", square, ("x_t",), slack("x_t") * (slack("x_t") + 2 * line) + 1 + 2 * t * beta),
        start=("no Gamma",),
        given=("Gamma", "x_t^2"),
    )
    goal = at_most(beta**4 * T * (2 * T - 3) / 12, Gamma_until(T) / T)
    end = Obligation("the statement follows", goal, ("at T",))
    words = (
        "N = 1, E = 1, L = 1, x_0 = 1, f = 0 (so m = 0, and any memory and r will do) and g = -x^2/2: x_t = "
        "(1 + beta)^t, and (1/T) sum_t Gamma(t) >= beta^4 T (2T - 3)/12 for every T, beta and alpha. With beta = "
        "c/(2 sqrt(T)) that tends to c^4/96."
    )
    hypotheses = () if step is None else (step,)
    return Statement(words, goal, hypotheses, Proof((far, summed, Instance("at T", "sum", t, T), end)), CLIMBING)


def _bounded(id: str, where: str, title: str, printed: Statement, mended: Statement, family: Statement) -> Claim:
    repair = Repair(
        "needs-hypothesis",
        "the mean of 𝔼||grad g(x_t)||^2 over the rounds must stay bounded as T grows; the printed proof takes it from "
        "the descent (70) of h~, which belongs to (67)-(68) and not to Algorithm 1",
        mended,
    )
    return Claim(
        id,
        where,
        title,
        (Part("1", printed, repair, refutation=family, unseen=FOR_NO_CONSTANT),),
        (
            '"< O(.)" is read as at most C times that, C independent of T.',
            "The family has no bias and any alpha; f is bounded below, and g is not, which no assumption excludes. "
            "With g bounded below a biased memory does the same beyond its own limit: alpha < 2/(L(1 + m)) does not "
            "make one draw descend, since with b = sqrt(m) grad f a step is stable only for alpha < 2/(L(1 + "
            "sqrt(m))).",
            "The printed proof also hides omega^2 of Lemma 11 in O(.), which no hypothesis bounds; on the family above "
            "it is infinite. Where omega is finite, g bounded below and alpha <= 1/L (and T large, or for Lemma 18 "
            "L alpha > exp(1/60) - 1), ours.bounded_gradients gives G.",
            "The repaired bound holds over the whole range of alpha, since |1 - L alpha| < 1 there, and needs neither "
            "Lemma 11 nor beta L E <= 1/12.",
        ),
    )


def lemma4(constant: Any = 1) -> Claim:
    """The mean of 𝔼 Gamma(t) is O(1/T + 1/sqrt(T))."""
    goal = at_most(Gamma_sum / T, C * (1 / T + w))
    words = "(1/T) sum_t 𝔼 Gamma(t) <= C (1/T + 1/sqrt(T)) with C independent of T"
    hypotheses = (STEP_SIZE, DIMINISHING, ROOT, ONE_ROUND, RATIO, POSITIVE_R)
    rise = c * r * K + L * K**2 * c**2 / 2
    definitions = (
        Fact(
            "K", equal(K, (sp.exp(c * L * E) - 1) / (c * L)), "K = (exp(c L E) - 1)/(c L), at least ||S||/||grad g||."
        ),
        Fact("C", equal(C, constant * rise * G**2), "C = (c r K + L c^2 K^2/2) G^2."),
    )
    follows = Obligation("the statement follows", goal, ("Gamma by g", "bounded", "C", "beta", "w <= 1", "T"))
    proof = Proof((WITHIN_ONE, SMALL, *_forgetting(), follows))
    mended = Statement(words + ", with an explicit C.", goal, (*hypotheses, BOUNDED), proof, definitions)
    printed = Statement(
        words + ", under Assumptions 1 to 3, for alpha < 2/(L(1 + m)) and beta < c/sqrt(T).", goal, hypotheses
    )
    return _bounded("cflag.lemma4", "Lemma 4", "Average forgetting O(1/T + 1/sqrt(T))", printed, mended, climbing())


def lemma18(constant: Any = 1) -> Claim:
    """The mean of 𝔼 Gamma(t) is O(1/T + 1) at constant step sizes."""
    goal = at_most(Gamma_sum / T, C * (1 / T + 1))
    words = "(1/T) sum_t 𝔼 Gamma(t) <= C (1/T + 1) with C independent of T"
    hypotheses = (STEP_SIZE, CONSTANT, RATIO, POSITIVE_R)
    end = sp.Rational(1, 60)
    rise = beta * r * K + L * beta**2 * K**2 / 2
    definitions = (
        Fact("K", equal(K, 60 * E * (sp.exp(end) - 1)), "K = 60 (exp(1/60) - 1) E, at least ||S||/||grad g||."),
        Fact("C", equal(C, constant * rise * G**2), "C = (beta r K + L beta^2 K^2/2) G^2."),
    )
    within = Obligation("exp range", at_most(E * beta * L, end), ("beta",))
    follows = Obligation("the statement follows", goal, ("Gamma by g", "bounded", "C"))
    proof = Proof((within, *_forgetting(), follows))
    mended = Statement(words + ", with an explicit C.", goal, (*hypotheses, BOUNDED), proof, definitions)
    printed = Statement(
        words + ", under Assumptions 1 to 3, for alpha < 2/(L(1 + m)) and beta = 1/(60 L E).", goal, hypotheses
    )
    family = climbing(Fact("beta", equal(beta, end), "beta = 1/60 = 1/(60 L E)."))
    return _bounded("cflag.lemma18", "Lemma 18", "Average forgetting O(1/T + 1)", printed, mended, family)


CLAIMS = {"cflag.lemma4": lemma4, "cflag.lemma18": lemma18}
