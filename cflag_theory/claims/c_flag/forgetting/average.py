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
from cflag_theory.claims.engine.claim import FOR_NO_CONSTANT, Claim, Fact, Part, Repair, Statement
from cflag_theory.claims.engine.notation import E, L, alpha, beta, delayed_sum, k, m, r, sequence, symbol, unfold
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Proof, Step, by_induction

C = symbol("C", "C", nonnegative=True)
c = symbol("c", "c", positive=True)
w = symbol("inverse_root_T", r"T^{-1/2}", positive=True)
K = symbol("K", "K", positive=True)
G = symbol("G", "G", nonnegative=True)
Gamma_sum = symbol("Gamma_sum", r"\sum_t\mathbf{E}\Gamma(t)", summed(unfold(Gamma)))

ROOT = Fact("1/sqrt(T)", equal(T * w**2, 1), "The square of 1/sqrt(T) is 1/T.")
STEP_SIZE = Fact("alpha", below(alpha, 2 / (L * (1 + m))), "alpha < 2 / (L (1 + m)).")
DIMINISHING = Fact("beta", below(beta, c * w), "beta < c / sqrt(T).")
CONSTANT = Fact("beta", equal(beta, 1 / (60 * L * E)), "beta = 1/(60 L E).")
RATIO = Fact(
    "Assumption 3",
    at_most(memory2_sum, r**2 * grad_g2_sum),
    "||grad f_memory(x_t)|| <= r ||grad g(x_t)|| in every round.",
    sources=(replace(LEMMA10, at=((memory_norm, norm_memory), *THROUGHOUT["at"]), over=(2, *THROUGHOUT["over"])),),
)
POSITIVE_R = Fact("r", below(0, r), "r > 0, as Assumption 3 has it.")
BOUNDED = Fact(
    "bounded", at_most(grad_g2_sum, T * G**2), "(1/T) sum_t E||grad g(x_t)||^2 <= G^2, with one G for all T."
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
    """sum_t E Gamma(t) <= (L beta^2 K^2 / 2 + beta r K) sum_t E||grad g(x_t)||^2, as "Gamma by g"."""
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


# The diverging family: x_t for the draw with b = grad f/2 and for the one with b = -grad f/2.
x_up = sequence("x_up", r"x_{@}^{+}", real=True)
x_down = sequence("x_down", r"x_{@}^{-}", real=True)
Gamma_until = sequence("Gamma_until", r"\sum_{s<@}\mathbf{E}\Gamma(s)", real=True)

_THREE_HALVES = Fact("alpha", equal(alpha, sp.Rational(3, 2)), "alpha = 3/2 < 8/5 = 2/(L(1 + m)).")
DIVERGING = (
    Fact("x_0", equal(x_up(0), 1), "x_0 = 1."),
    Fact("b > 0", equal(x_up(t + 1), x_up(t) - alpha * 3 * x_up(t) / 2 - beta * x_up(t)), "(24), b = grad f/2."),
    Fact("b < 0", equal(x_down(t + 1), x_down(t) - alpha * x_down(t) / 2 - beta * x_down(t)), "(24), b = -grad f/2."),
    Fact("no Gamma", equal(Gamma_until(0), 0), "An empty sum."),
    Fact(
        "E Gamma",
        equal(
            Gamma_until(t + 1),
            Gamma_until(t)
            + beta**2 * (x_up(t) ** 2 + x_down(t) ** 2) / 4
            - beta * (1 - alpha) * (3 * x_up(t) ** 2 + x_down(t) ** 2) / 4,
        ),
        "(15), the mean of the two draws, with S = x_t.",
    ),
)


def diverging(step: Fact | None = None) -> Statement:
    """A family with all assumptions of Lemmas 4 and 18 along which the mean of E Gamma grows like beta T^2."""
    line = 1 + t / 4
    grown = sp.Rational(5, 4) + beta
    far = by_induction(
        "x_t^2",
        t,
        at_most(line**2, x_up(t) ** 2),
        Obligation("next", equal(x_up(t + 1), -grown * x_up(t)), ("b > 0", "alpha")),
        start=("x_0",),
        given=("next",),
    )
    summed = by_induction(
        "sum",
        t,
        at_most(beta * t**3 / 128, Gamma_until(t)),
        start=("no Gamma",),
        given=("E Gamma", "x_t^2", "alpha"),
    )
    goal = at_most(beta * T**2 / 128, Gamma_until(T) / T)
    end = Obligation("the statement follows", goal, ("at T",))
    words = (
        "N = 1, E = 1, L = 1, x_0 = 1, f = g = x^2/2; the past components are (3/2) x^2/2 and (1/2) x^2/2, of which "
        "the memory keeps one, so b = +-grad f/2, m = 1/4 and r = 3/2 hold everywhere, and all functions are convex. "
        "At alpha = 3/2 the draw with b = grad f/2 oscillates and diverges: (1/T) sum_t E Gamma(t) >= beta T^2/128 for "
        "every T and beta."
    )
    hypotheses = (_THREE_HALVES,) if step is None else (_THREE_HALVES, step)
    return Statement(words, goal, hypotheses, Proof((far, summed, Instance("at T", "sum", t, T), end)), DIVERGING)


def _bounded(id: str, where: str, title: str, printed: Statement, mended: Statement, family: Statement) -> Claim:
    repair = Repair(
        "needs-hypothesis",
        "the mean of E||grad g(x_t)||^2 over the rounds must stay bounded as T grows; the printed proof takes it from "
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
            "alpha < 2/(L(1 + m)) does not make one draw of the memory descend: with b = sqrt(m) grad f a step is "
            "stable only for alpha < 2/(L(1 + sqrt(m))), which is smaller for m < 1.",
            "With alpha <= 1/L it fails as well where g is unbounded below: f = 0 and g = -x^2/2 give x_t = (1 + "
            "beta)^{E t} x_0 and Gamma(t) = (x_{t+1} - x_t)^2/2, and Assumption 3 holds with any r.",
            "The printed proof also hides omega^2 of Lemma 11 in O(.), which no hypothesis bounds; on the family above "
            "it is infinite. Where omega is finite, g bounded below and alpha <= 1/L (and T large, or for Lemma 18 "
            "L alpha > exp(1/60) - 1), ours.bounded_gradients gives G.",
            "The repaired bound holds over the whole range of alpha, since |1 - L alpha| < 1 there, and needs neither "
            "Lemma 11 nor beta L E <= 1/12.",
        ),
    )


def lemma4(constant: Any = 1) -> Claim:
    """The mean of E Gamma(t) is O(1/T + 1/sqrt(T))."""
    goal = at_most(Gamma_sum / T, C * (1 / T + w))
    words = "(1/T) sum_t E Gamma(t) <= C (1/T + 1/sqrt(T)) with C independent of T"
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
    return _bounded("cflag.lemma4", "Lemma 4", "Average forgetting O(1/T + 1/sqrt(T))", printed, mended, diverging())


def lemma18(constant: Any = 1) -> Claim:
    """The mean of E Gamma(t) is O(1/T + 1) at constant step sizes."""
    goal = at_most(Gamma_sum / T, C * (1 / T + 1))
    words = "(1/T) sum_t E Gamma(t) <= C (1/T + 1) with C independent of T"
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
    family = diverging(Fact("beta", equal(beta, end), "beta = 1/60 = 1/(60 L E)."))
    return _bounded("cflag.lemma18", "Lemma 18", "Average forgetting O(1/T + 1)", printed, mended, family)


CLAIMS = {"cflag.lemma4": lemma4, "cflag.lemma18": lemma18}
RESUMES = {"cflag.lemma18": "cflag.cor17"}
