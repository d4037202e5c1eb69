"""The rate on the past task: Theorem 5 and Corollary 17.

"O(.)" is read as in `claims.c_flag.forgetting.average`.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.forgetting.average import (
    DIMINISHING,
    ONE_ROUND,
    ROOT,
    SMALL,
    WITHIN_ONE,
    C,
    c,
    reach_steps,
    w,
)
from cflag_theory.claims.c_flag.past_task.ours import first_rounds
from cflag_theory.claims.c_flag.past_task.ours.first_rounds import W, f2, size_g
from cflag_theory.claims.c_flag.past_task.ours.rates import EXACT_STEP, INFIMUM, ROOT_BIAS, F
from cflag_theory.claims.c_flag.past_task.runs import T, least, root_m, s, t
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import FOR_NO_CONSTANT, Claim, Fact, Part, Repair, Source, Statement
from cflag_theory.claims.engine.notation import E, L, alpha, beta, sequence, symbol, unfold
from cflag_theory.claims.engine.operators import Least
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation, Proof, by_induction

Y = symbol("Y", "Y", positive=True)

# The floor: the first coordinate of x_t for the draw whose biases cancel grad f along it.
x_first = sequence("x_first", r"(x_{@})_1", real=True)
mean2 = sequence("mean_grad2", r"\mathbb{E}\|\nabla f(x_{@})\|^2", nonnegative=True)
others = sequence("others", r"R_{@}", nonnegative=True)


def floor() -> Statement:
    """A family with all assumptions of Theorem 5 and m = 1 on which 𝔼||grad f(x_t)||^2 never falls below 1/36."""
    along = x_first(t) / 2 - 3 * x_first(t) / 6
    definitions = (
        Fact("x_0", equal(x_first(0), 1), "The first coordinate of x_0 is 1."),
        Fact(
            "(24)",
            equal(x_first(t + 1), x_first(t) - alpha * along / 2),
            "The memories keep f_1/2 and (3/2) f_2; g does not depend on the first coordinate.",
        ),
        Fact(
            "mean",
            equal(mean2(t), ((x_first(t) / 3) ** 2 + others(t)) / 4),
            "Four equally likely memories; R_t >= 0 is what the other three and the second coordinate add.",
        ),
    )
    still = by_induction("still", t, equal(x_first(t), 1), start=("x_0",), given=("(24)",))
    goal = at_most(sp.Rational(1, 36), mean2(t))
    follows = Obligation("the statement follows", goal, ("still", "mean"))
    words = (
        "N = 2, p = 1/2, E = 1, L = 1, x_0 = (1, 0); f_1 = (x_1^2 + x_2^2)/2, f_2 = -x_1^2/6 + x_2^2/2, so f = x_1^2/6 "
        "+ x_2^2/2; client i's past components are (3/2) f_i and (1/2) f_i and its memory keeps one: ||b_i||^2 = (1/4) "
        "||grad f_i||^2 and ||b||^2 <= ||grad f||^2 everywhere, so m = 1 and alpha = 1/2; g_i = (x_2 - 2)^2/2. For "
        "beta <= 1/4 all runs stay in [0, 1]^2, where ||grad g|| >= 1: Assumption 3 holds with r_i = 3. One memory in "
        "four has grad f_memory = (0, x_2), so that 𝔼||grad f(x_t)||^2 >= 1/36 for all t, T and beta."
    )
    return Statement(words, goal, proof=Proof((still, follows)), definitions=definitions)


LONG_ENOUGH = (
    Fact(
        "W is small",
        at_most(4 * L * W * w * Y * (1 + root_m), 1 - root_m),
        "T is large: W <= (1 - sqrt(m)) sqrt(T)/(4 L Y (1 + sqrt(m))) ...",
    ),
    Fact(
        "W is not small",
        at_most(1 - root_m, 8 * L * W * w * Y * (1 + root_m)),
        "... and at least half of that; such an integer W exists once that number is 1.",
    ),
    Fact("W <= T", at_most(W, T), "... and W <= T."),
)
LESS_BIAS = Fact("m", below(root_m, 1), "m < 1 in (27).")


def _rate(constant: Any) -> tuple[Statement, Statement]:
    """Theorem 5 as printed, and for m < 1."""
    goal = at_most(least, C * w)
    rho = slack("m")
    reach_small = (slack("power") + slack("chord")) / L + (Y / c) * slack("beta") + beta / c * residual("Y")
    range_ = Obligation(
        "range",
        first_rounds.RANGE,
        ("W is small", "power", "chord", "Y", "beta", "grown", "m"),
        slack("W is small") * (rho + 4 * L * W * w * Y * (1 + root_m))
        + 16 * L**2 * W**2 * (w * Y) ** 2 * (2 * root_m + root_m**2)
        + 16 * L**2 * W**2 * reach_small * (w * Y + slack("grown") / L),
    )
    short = Obligation("alpha", at_most(L * alpha, 1), ("step",))
    unit = alpha * (1 - root_m)
    value = 32 * F * L * Y * (1 + root_m) / (unit * (1 - root_m)) + 4 * (Y * size_g(0) / unit) ** 2
    definitions = (
        Fact("Y", equal(Y, (sp.exp(c * L * E) - 1) / L), "Y = (exp(c L E) - 1)/L."),
        Fact("C", equal(C, constant * value), "C, from f(x_0) - inf f, ||grad g(x_0)||, alpha, m and Y."),
    )
    positive = 32 * F * L * Y * (1 + root_m) / (alpha * rho**2) + 4 * (Y * size_g(0) / (alpha * rho)) ** 2
    follows = Obligation(
        "the statement follows",
        goal,
        ("least", "first rounds", "W is not small", "C", "power", "chord", "Y", "beta", "grown", "w <= 1", "m"),
        slack("least")
        + slack("first rounds")
        + F / (alpha * rho * W)
        + 4 * F / (alpha * rho**2 * W) * slack("W is not small")
        + sp.Rational(8, 5) * (slack("grown") / L * size_g(0) / (alpha * rho)) ** 2
        + 4
        * size_g(0) ** 2
        / (alpha * rho) ** 2
        * (reach_small * (w * Y + slack("grown") / L) + Y**2 * w * slack("w <= 1"))
        + residual("C") * w
        + (constant - 1) * positive * w,
    )
    proof = Proof(
        (
            WITHIN_ONE,
            SMALL,
            *reach_steps(),
            short,
            range_,
            *first_rounds.steps(),
            rules.fewer("fewer", unfold(least), W, given="W <= T"),
            rules.minimum("least of the first", Least(s, W, unfold(least).body)),
            Obligation("least", at_most(least, f2(W) / W), ("fewer", "least of the first")),
            follows,
        )
    )
    words = (
        "min_{t<T} 𝔼||grad f(x_t)||^2 <= C/sqrt(T) with C independent of T, for alpha = 1/(L(1 + m)), beta < c/sqrt(T)"
    )
    hypotheses = (EXACT_STEP, DIMINISHING, ROOT, ONE_ROUND, ROOT_BIAS)
    printed = Statement(
        words + ", under Assumptions 1 to 3, a memory drawn once, f bounded below and (27) with any m.",
        goal,
        hypotheses,
    )
    mended = Statement(
        words
        + ", for m < 1 in (27), f bounded below and T so large that an integer W as below exists; Assumption 3 is "
        "not needed.",
        goal,
        (*hypotheses, LESS_BIAS, *LONG_ENOUGH, INFIMUM),
        proof,
        definitions,
    )
    return printed, mended


def thm5(constant: Any = 1) -> Claim:
    """The rate O(1/sqrt(T)) on the past task."""
    printed, mended = _rate(constant)
    repair = Repair(
        "needs-hypothesis",
        "m < 1 in (27): the clients' m_i < 1 do not give it, and with m >= 1 grad f_memory can vanish where grad f "
        "does not",
        mended,
    )
    return Claim(
        "cflag.thm5",
        "Theorem 5",
        "Rate O(1/sqrt(T)) on the past task",
        (
            Part(
                "1",
                printed,
                repair,
                refutation=floor(),
                unseen=FOR_NO_CONSTANT,
                reading="one memory, drawn once before the run, as Sec. 2 has it",
            ),
        ),
        (
            "The family leaves x_1 where it is, so only the derivatives at x_1 = 1 count: the quadratics in x_1 may be "
            "replaced by functions with bounded gradients.",
            "The floor stays for m = 9/4 too, which (28) asks of the family, and for any alpha: grad f_memory vanishes "
            "along the draw that keeps it.",
            "T large in the repair costs nothing: for the T < T_0 before it, min_t 𝔼||grad f(x_t)||^2 <= ||grad "
            "f(x_0)||^2 <= sqrt(T_0) ||grad f(x_0)||^2 / sqrt(T), so max(C, sqrt(T_0) ||grad f(x_0)||^2) serves every "
            "T, as Coq has it (theorem5_every_T).",
            "f bounded below is a standing assumption (Figure 1), here as in Lemma 4; without it f = g = -x, with m = "
            "0 and r = 1, has ||grad f|| = 1 for ever.",
            "The printed proof puts Theorem 2 and Lemma 4 together, both of which need more; the repair uses neither.",
            "W is a means of the proof: it counts the first rounds, in which grad g cannot have grown far. With a "
            "bounded mean of ||grad g||^2 nothing of the kind is needed, and the rate is O(1/T): ours.drawn_once, part "
            "in T; and exactly that: ours.drawn_once_rate.",
            "For memories drawn anew in every round, the other reading of Theorem 2, any m will do where the mean of "
            "||grad g||^2 is bounded: ours.redrawn. Without that bound this reading is not decided here.",
        ),
    )


calls = symbol("calls", r"\mathrm{IFO}(\epsilon)", nonnegative=True)
cost = symbol("cost", r"\sum_i(n_i+E-1+m_i^0)", positive=True)
eps = symbol("epsilon_accuracy", r"\epsilon", positive=True)
n = symbol("T_epsilon_less_one", r"(T(\epsilon)-1)", positive=True, integer=True)
before = symbol("least_before", r"\min_{t<T(\epsilon)-1}\mathbb{E}\|\nabla f(x_t)\|^2", nonnegative=True)
C5 = symbol("C_5", "C_5", nonnegative=True)
WINDOW = ("W is small", "W is not small", "W <= T")


def cor17(constant: Any = 1) -> Claim:
    """IFO calls to an epsilon-accurate solution."""
    goal = at_most(calls, C / eps**2)
    hypotheses = (
        EXACT_STEP,
        Fact("epsilon", at_most(eps, 1), "epsilon <= 1."),
        Fact(
            "first", below(eps, before), "T(epsilon) is the first T that reaches epsilon: T(epsilon) - 1 rounds do not."
        ),
    )
    theorem5 = Fact(
        "Theorem 5",
        at_most(n * before**2, C5**2),
        "min_t 𝔼||grad f(x_t)||^2 <= C_5/sqrt(T) at T = T(epsilon) - 1: Theorem 5 for m < 1.",
        sources=(
            Source(
                "cflag.thm5",
                on="repair",
                at=((C, C5), (T, n)),
                taken=((least, before),),
                besides=(
                    "1/sqrt(T)",
                    "beta",
                    "T",
                    "(27)",
                    "W is small",
                    "W is not small",
                    "W <= T",
                    "inf f",
                    "Y",
                    "C",
                ),
            ),
        ),
    )
    definitions = (
        Fact("calls", equal(calls, cost * (n + 1)), "A round costs sum_i (n_i + E - 1 + m_i^0) component gradients."),
        Fact("C", equal(C, constant * cost * (C5**2 + 1)), "C = cost of a round times (C_5^2 + 1)."),
    )
    follows = Obligation("the statement follows", goal, ("calls", "C", "Theorem 5", "first", "epsilon"))
    words = (
        "The number of IFO calls up to the first round with min_t 𝔼||grad f(x_t)||^2 <= epsilon is at most C/epsilon^2"
    )
    printed = Statement(words + ", C independent of epsilon, under the hypotheses of Theorem 5.", goal, hypotheses)
    mended = Statement(words + ", for m < 1.", goal, (*hypotheses, LESS_BIAS, theorem5), Proof((follows,)), definitions)
    repair = Repair(
        "needs-hypothesis", "m < 1 in (27), as for Theorem 5: with m = 1 no number of calls may ever be enough", mended
    )
    return Claim(
        "cflag.cor17",
        "Corollary 17",
        "IFO calls O(1/epsilon^2)",
        (Part("1", printed, repair, refutation=floor(), unseen=FOR_NO_CONSTANT),),
        (
            "On the family that refutes it no epsilon < 1/36 is ever reached.",
            "The proof counts one IFO call a step. A round takes n_i + (E - 1) component gradients of g_i at every "
            "client, and m_i^0 on its memory: a factor that O(.) hides, not one call.",
            "The C of Theorem 5 is the one that serves every T: see the notes there.",
            "With a bounded mean of ||grad g||^2 the count is O(1/epsilon), by ours.drawn_once.",
        ),
    )


CLAIMS = {"cflag.thm5": thm5, "cflag.cor17": cor17}
