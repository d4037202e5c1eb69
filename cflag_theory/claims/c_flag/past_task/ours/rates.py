"""What we prove instead of Theorems 2 and 5: bounds on grad f along a run, with explicit constants.

One identity carries all of it. With the step alpha (v + z), v = grad f_memory and z = (beta/alpha) S, L-smoothness is
f(x_{t+1}) <= f(x_t) - (alpha/2) (||grad f||^2 - ||b + z||^2 + (1 - L alpha) ||v + z||^2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.forgetting.average import (
    BOUNDED,
    ONE_ROUND,
    ROOT,
    SMALL,
    WITHIN_ONE,
    G,
    c,
    reach_steps,
    w,
)
from cflag_theory.claims.c_flag.past_task.runs import (
    LEMMA9_SUMMED,
    T,
    bias2_sum,
    bias_dot_S_sum,
    descent,
    f_mean,
    grad_dot_bias_sum,
    grad_f2_sum,
    grad_g2_sum,
    reach,
    root_m,
    sum_bound,
    sum_bound_in_the_mean,
    t,
    telescoped,
    throughout,
)
from cflag_theory.claims.c_flag.problem.memory import LEMMA9
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack, square
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.notation import (
    E,
    L,
    alpha,
    beta,
    bias,
    bias2,
    delayed_sum,
    draw,
    f,
    grad_current,
    grad_f,
    grad_f2,
    m,
    sequence,
    symbol,
    x_t,
)
from cflag_theory.claims.engine.notation import x as iterate
from cflag_theory.claims.engine.relation import Relation, at_most, below, equal
from cflag_theory.claims.engine.steps import Induction, Obligation, Proof, Step
from cflag_theory.claims.engine.terms import norm, norm2

__all__ = ["G", "c", "w"]

F = symbol("F", r"(f(x_0)-\inf f)", nonnegative=True)

SMALL_STEP = Fact("alpha", at_most(L * alpha, 1), "alpha <= 1/L, as at alpha = 1/(L (1 + m)).")
BELOW_ONE = Fact("m", below(root_m, 1), "m < 1.")
ROOT_BIAS = Fact(
    "(27)",
    at_most(bias2, root_m**2 * grad_f2),
    "||b(x_t)||^2 <= m ||grad f(x_t)||^2 in every round.",
    forall=(draw, t),
    sources=(replace(LEMMA9, at=((m, root_m**2),)),),
)
INFIMUM = Fact("inf f", at_most(f_mean(0) - f_mean(t), F), "f is bounded below, F = f(x_0) - inf f.", forall=(t,))
EXACT_STEP = Fact("step", equal(alpha, 1 / (L * (1 + root_m**2))), "alpha = 1/(L (1 + m)).")
BIAS = Fact(
    "(27)",
    at_most(bias2_sum, m * grad_f2_sum),
    "𝔼 ||b(x_t)||^2 <= m 𝔼 ||grad f(x_t)||^2 in every round.",
    sources=(LEMMA9_SUMMED,),
)
FRESH = Fact("fresh", equal(grad_dot_bias_sum, 0), "The draw of round t is fresh and unbiased: E <grad f(x_t), b> = 0.")
APART = Fact("apart", equal(bias_dot_S_sum, 0), "S does not depend on the draw of the round: E <b, S> = 0.")
POSITIVE = Fact("L alpha m", below(L * alpha * m, 1), "L alpha m < 1; alpha = 1/(L (1 + m)) is within both limits.")
SYMBOLS = (
    "In part in T: L is the smoothness constant of f and of every component of g, m < 1 has ||b(x)||^2 <= m ||grad "
    "f(x)||^2 at the points of the run for the bias b = grad f_memory - grad f, E is the number of local steps, T that "
    "of rounds, and c any positive number."
)
_READING = (
    "((1 + beta L)^E - 1)/L <= beta E exp(beta L E): with f bounded below, beta = c / sqrt(T) and a bounded mean of "
    "||grad g(x_t)||^2 the bound is O(1/T), for every T.",
    "E is the mean over the draws of the memory.",
)


def once_bound(first: Any = 2, second: Any = 1) -> Relation:
    """(1/T) sum ||grad f||^2 <= first F / (alpha rho T) + second (reach / (alpha rho))^2 (1/T) sum ||grad g||^2."""
    rho = 1 - root_m
    drop = first * (f_mean(0) - f_mean(T)) / (alpha * rho * T)
    return at_most(grad_f2_sum / T, drop + second * (reach() / (alpha * rho)) ** 2 * grad_g2_sum / T)


def each_round() -> tuple[Step, ...]:
    """alpha rho/2 ||grad f||^2 <= f(x_t) - f(x_{t+1}) + reach^2/(2 alpha rho) ||grad g||^2, as "each round".

    In any round, for rho = 1 - sqrt(m), from the facts "alpha", "m" and "(27)".
    """
    rho, ratio = 1 - root_m, beta / alpha
    b, size_f, S = norm(bias), norm(grad_f), norm(delayed_sum)
    z, drop = ratio * delayed_sum, f(x_t) - f(iterate(draw, t + 1))
    # The square is the worst case of ||b|| = sqrt(m) ||grad f||, and what ||b|| is less by comes on top of it.
    worst = (
        root_m / slack("m") * (square((1 - root_m) * size_f - ratio * S) - ratio**2 * residual("||S||^2"))
        + slack("||b||") * (2 * ratio * S + root_m * size_f + b)
        + 2 * ratio * slack("<b, S>")
        - root_m * residual("||grad f||^2")
        + residual("||b||^2")
    )
    return (
        *descent(),
        *sum_bound(),
        rules.norm_squared("||grad f||^2", grad_f),
        rules.norm_squared("||b||^2", bias),
        Obligation("squares", at_most(b**2, (root_m * size_f) ** 2), ("(27)", "||grad f||^2", "||b||^2")),
        rules.square_root("||b||", b, root_m * size_f, given="squares"),
        rules.cauchy_schwarz("<b, S>", bias, delayed_sum),
        Obligation(
            "error",
            at_most(norm2(bias + z), root_m * norm2(grad_f) + norm2(z) / rho),
            ("m", "||b||", "<b, S>", "||grad f||^2", "||b||^2", "||S||^2"),
            worst,
        ),
        rules.square("square", grad_f + bias + z),
        Obligation(
            "in squares",
            at_most(alpha / 2 * (norm2(grad_f) - norm2(bias + z)), drop),
            ("descent", "square", "alpha"),
        ),
        Obligation(
            "each round",
            at_most(alpha * rho / 2 * norm2(grad_f), drop + reach() ** 2 / (2 * alpha * rho) * norm2(grad_current)),
            ("in squares", "error", "one round", "m"),
        ),
    )


#: e^{c L E} - 1: how far beta = c / sqrt(T) reaches, sqrt(T) times over.
GROWN = sp.exp(c * L * E) - 1
DIMINISHING = Fact("beta", at_most(beta, c * w), "beta <= c / sqrt(T).")


def reach_in_T() -> tuple[Step, ...]:
    """(1 + beta L)^E - 1 <= (e^{c L E} - 1)/sqrt(T), as "reach", from "beta", "1/sqrt(T)" and "T"; "grown" is >= 0."""
    one = at_most((1 + beta * L) ** E - 1, w * GROWN)
    more = (slack("exp") + c * L * E) / c
    return (
        WITHIN_ONE,
        SMALL,
        *reach_steps(),
        rules.tangent_of_exp("exp", c * L * E, sp.S.One),
        Obligation(
            "reach", one, ("power", "chord", "exp", "beta"), slack("power") + slack("chord") + more * slack("beta")
        ),
    )


def in_T(constant: Any = 1) -> Part:
    """The same in the constants of the problem alone, for beta = c / sqrt(T)."""
    rho, ratio, unit = slack("m"), 1 + root_m**2, alpha * (1 - root_m)
    value = 2 * L * ratio * F / (1 - root_m) + (ratio * GROWN / (1 - root_m)) ** 2 * G**2
    goal = at_most(grad_f2_sum / T, constant * value / T)
    apart, reached, grown = residual("step") / alpha, slack("reach"), slack("grown")
    certificate = (
        slack("once")
        + 2 * F * L * ratio * apart / rho
        + (grown / rho) ** 2 * grad_g2_sum * ratio * apart * (1 / (L * alpha) + ratio)
        + (ratio / rho) ** 2
        * (
            T * G**2 * reached * (2 * grown + reached)
            + grown**2 * slack("bounded")
            - residual("1/sqrt(T)") * GROWN**2 * G**2
        )
    ) / T
    steps: tuple[Step, ...] = (
        Obligation("alpha", at_most(L * alpha, 1), ("step",)),
        *reach_in_T(),
        *each_round(),
        *throughout("all rounds", "each round"),
        telescoped(),
        rules.at("inf f at the end", t, T, given="inf f"),
        Obligation(
            "once",
            at_most(grad_f2_sum, 2 * F / unit + (reach() / unit) ** 2 * grad_g2_sum),
            ("all rounds", "telescoped", "inf f at the end", "m"),
        ),
        Obligation(
            "the statement follows", goal, ("once", "step", "reach", "grown", "bounded", "1/sqrt(T)", "m"), certificate
        ),
    )
    words = (
        "Along every run with one memory, m < 1 in (27), alpha = 1/(L (1 + m)), beta <= c/sqrt(T), f bounded below "
        "and (1/T) sum_t ||grad g(x_t)||^2 <= G^2: (1/T) sum_t ||grad f(x_t)||^2 <= [2 L (1 + m) (f(x_0) - inf f)/(1 "
        "- sqrt(m)) + ((1 + m) (e^{c L E} - 1) G/(1 - sqrt(m)))^2]/T, for every T and E."
    )
    known = (EXACT_STEP, DIMINISHING, ROOT, ONE_ROUND, BELOW_ONE, ROOT_BIAS, INFIMUM, BOUNDED)
    return Part("in T", Statement(words, goal, known, Proof(steps)))


def _once_proof(goal: Relation) -> Proof:
    return Proof(
        (
            *each_round(),
            *throughout("all rounds", "each round"),
            telescoped(),
            Obligation("the statement follows", goal, ("all rounds", "telescoped", "m")),
        )
    )


def drawn_once(first: Any = 2, second: Any = 1, constant: Any = 1) -> Claim:
    """A memory with m < 1, drawn once: no expectation is needed, and no Assumption 3; `constant` scales part in T."""
    goal = once_bound(first, second)
    statement = Statement(
        "(1/T) sum_t ||grad f(x_t)||^2 <= 2 (f(x_0) - f(x_T)) / (alpha (1 - sqrt(m)) T) + [((1 + beta L)^E - 1) / (L "
        "alpha (1 - sqrt(m)))]^2 (1/T) sum_t ||grad g(x_t)||^2, along every run whose memory has m < 1, drawn once or "
        "not.",
        goal,
        (SMALL_STEP, BELOW_ONE, ROOT_BIAS),
        _once_proof(goal),
    )
    return Claim(
        "ours.drawn_once",
        "for Theorems 2 and 5 and Lemma 4",
        "Convergence on the past task with one memory, m < 1",
        (in_T(constant), Part("1", statement)),
        (
            SYMBOLS,
            *_READING,
            "The second constant is attained for every T, E and m < 1: with L = 1, f = x^2/2, b = -sqrt(m) grad f and "
            "g = -x^2/2 - x rest where alpha (1 - sqrt(m)) x = ((1 + beta)^E - 1)(x + 1), if that has a solution; "
            "the first cannot be below 2 either, for "
            "m = 0, T = 1, alpha = 1/L, f = x^2/2.",
            "Neither Assumption 3 nor an expectation is used, and g may be unbounded below.",
        ),
    )


def redrawn_bound(constant: Any = 1) -> Relation:
    """(1/T) sum 𝔼||grad f||^2 <= [2 F/(alpha T) + (reach/alpha)^2 (1/T) sum 𝔼||grad g||^2] / (1 - L alpha m)."""
    pull = (reach() / alpha) ** 2 * grad_g2_sum / T
    return at_most(grad_f2_sum / T, constant * (2 * (f_mean(0) - f_mean(T)) / (alpha * T) + pull) / (1 - L * alpha * m))


def redrawn(constant: Any = 1) -> Claim:
    """A memory that is drawn anew every round, with any m."""
    goal = redrawn_bound(constant)
    used = ("all steps", "telescoped", "pushed", "all rounds", "alpha", "(27)", "fresh", "apart", "L alpha m")
    proof = Proof(
        (
            *descent(),
            *throughout("all steps", "descent"),
            telescoped(),
            rules.square("square", grad_f + beta / alpha * delayed_sum),
            *throughout("pushed", "square"),
            *sum_bound_in_the_mean(),
            Obligation("the statement follows", goal, used),
        )
    )
    statement = Statement(
        "(1/T) sum_t 𝔼 ||grad f(x_t)||^2 <= [2 𝔼(f(x_0) - f(x_T)) / (alpha T) + (((1 + beta L)^E - 1) / (L alpha))^2 "
        "(1/T) sum_t 𝔼 ||grad g(x_t)||^2] / (1 - L alpha m), for a memory drawn anew in every round, unbiased and "
        "independent of the past.",
        goal,
        (SMALL_STEP, POSITIVE, BIAS, FRESH, APART),
        proof,
    )
    return Claim(
        "ours.redrawn",
        "for Theorems 2 and 5",
        "Convergence on the past task with fresh memories, any m",
        (Part("1", statement),),
        (
            *_READING,
            "Any m >= 0 is allowed: alpha = 1/(L (1 + m)) gives (1/T) sum 𝔼||grad f||^2 <= 2 L (1 + m)^2 F/T + ((1 + "
            "m)^{3/2} ((1 + beta L)^E - 1))^2 (1/T) sum 𝔼||grad g||^2.",
            "Attained for m = 0 by f = x^2/2 and g = -x^2/2 - x at rest. For m > 0, f = x^2/2 with g = -x and b = "
            "+-sqrt(m) grad f reaches (2 - alpha)(1 - alpha m) / (2 - alpha (1 + m)) of it as T grows, for L = 1 and "
            "E = "
            "1: 3/4 for m = 1 at alpha = 1/2, 1 as alpha tends to 0.",
        ),
    )


# The rate: f = x^2/2, g = -x, one client, memory keeps everything.
x = sequence("x", r"x_{@}", real=True)


def rate(constant: Any = 1) -> Claim:
    """1/T is the exact rate of one memory for beta = c / sqrt(T)."""
    rest = beta * E / alpha
    goal = at_most(constant * (c * E / alpha) ** 2 / T, x(t) ** 2)
    hypothesis = "above (hypothesis)"
    above = Induction(
        "above",
        t,
        at_most(rest, x(t)),
        base=Obligation("above at 0", at_most(rest, x(0)), ("start",)),
        step=(Obligation("above from t to t + 1", at_most(rest, x(t + 1)), (hypothesis, "alpha", "(24)")),),
    )
    follows = Obligation("the statement follows", goal, ("above", "beta"))
    statement = Statement(
        "||grad f(x_t)||^2 >= c^2 E^2 / (alpha^2 T) for every t, T and E, for N = 1, f = x^2/2, g = -x, a memory that "
        "keeps everything, beta = c/sqrt(T) and x_0 >= beta E/alpha.",
        goal,
        (
            Fact("alpha", at_most(alpha, 1), "alpha <= 1/L, with L = 1."),
            Fact("beta", equal(T * beta**2, c**2), "beta = c / sqrt(T)."),
            Fact("start", at_most(rest, x(0)), "x_0 >= beta E / alpha."),
        ),
        Proof((above, follows)),
        (
            Fact(
                "(24)",
                equal(x(t + 1), x(t) - alpha * x(t) + beta * E),
                "The round update (24): grad f_memory = x_t and every delayed gradient of g = -x is -1, so S = -E.",
            ),
        ),
    )
    return Claim(
        "ours.drawn_once_rate",
        "for Theorem 5",
        "The rate 1/T cannot be improved for beta = c/sqrt(T)",
        (Part("1", statement),),
        (
            "Here ||grad g|| = 1, and ours.drawn_once gives 2 F/(alpha T) + (c E/alpha)^2/T for E = 1: the same but "
            "for F. The paper claims 1/sqrt(T) for the same step sizes.",
            "x_t = beta E/alpha + (1 - alpha)^t (x_0 - beta E/alpha): from below the rest point is approached too.",
        ),
    )


CLAIMS: dict[str, Callable[[], Claim]] = {
    "ours.drawn_once": drawn_once,
    "ours.drawn_once_rate": rate,
    "ours.redrawn": redrawn,
}
