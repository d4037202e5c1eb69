"""Adaptive rates of the server: the step-size problem (14), its guarantee, the sign after (15), and (16)."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.past_task.descent import STEP_SIZE
from cflag_theory.claims.engine.claim import A_LIMIT, Claim, Fact, Part, Repair, Statement, shown
from cflag_theory.claims.engine.notation import E, L, alpha, beta, k, m, sequence, sum2, symbol
from cflag_theory.claims.engine.relation import Relation, at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation, Proof, by_induction

Lambda = symbol("Lambda", r"\Lambda_t", real=True)
beta_star = symbol("beta_star", r"\beta_t^*", real=True)
Gamma_star = symbol("Gamma_star", r"\Gamma^*(t)", real=True)
mean_Gamma_star = symbol("mean_Gamma_star", r"\mathbb{E}[\Gamma^*(t)]", real=True)
# S of the same round at the local rates 0, beta, 2 beta, 3 beta.
sum2_at = sequence("sum2_at", r"{\|S(@\beta)\|^2}", nonnegative=True)
Lambda_at = sequence("Lambda_at", r"\Lambda_t(@\beta)", real=True)
#: By how much they change with the rate, per local step after the first.
sum2_change = sequence("sum2_change", r"s_{@}", real=True)
Lambda_change = sequence("Lambda_change", r"\lambda_{@}", real=True)
# Runs on the line, for statements about limits.
x = sequence("x", "x_{@}", real=True)
beta_at = sequence("beta_at", r"\beta_{@}", real=True)
x_0 = symbol("x_0", "x_0", positive=True)
scale = symbol("gradient2", r"{\|\nabla f(x_t)\|^2}", positive=True)


def forgetting(step: sp.Expr, memory_step: sp.Expr, norm2: sp.Expr = sum2, product: sp.Expr = Lambda) -> sp.Expr:
    """Gamma(t) of (15) at beta = step and alpha = memory_step."""
    return L * step**2 * norm2 / 2 - step * (1 - L * memory_step) * product


def eq14() -> Claim:
    """(14) has no solution with positive step sizes."""
    printed = Statement(
        "Whether the problem (14) has a solution: in every round some alpha_t < 2/(L(1 + m)) and beta_t, both "
        "positive, minimise 𝔼_M[Gamma(t)], with Gamma(t) of (15) for the round's gradients.",
        None,
        (STEP_SIZE,),
    )
    better = alpha * (1 - L * alpha / 2)
    best = (1 - L * better) / L
    # With grad_f_memory = S both Lambda and ||S||^2 are ||grad f||^2.
    here, there = forgetting(beta, alpha, scale, scale), forgetting(best, better, scale, scale)
    refutation = shown(
        "N = 1, E = 1, f = g and a memory of everything, where grad f is not zero: every feasible (alpha, beta) is "
        "beaten by alpha' = alpha (1 - L alpha / 2) < alpha with beta' = (1 - L alpha') / L.",
        below(there, here),
        Obligation("range", below(L * alpha, 2), ("alpha",)),
        Obligation("positive", below(0, better), ("range",)),
        Obligation("feasible", below(better, alpha), ()),
        Obligation("beta' is positive", below(0, best), ()),
        given=("range",),
        under=(STEP_SIZE,),
    )
    return Claim(
        "cflag.eq14",
        "(14)",
        "The step-size problem",
        (
            Part(
                "1",
                printed,
                refutation=refutation,
                unseen="the statement is that a least value is attained",
                kind="question",
            ),
        ),
        (
            "The paper states the problem and claims no solution. Without one, rates that solve it are not defined; "
            "(16) and Table 1 solve others.",
            "Under transference, Lambda > 0, the infimum is -Lambda^2 / (2 L ||S||^2), approached as alpha -> 0: what "
            "(14) asks for is to leave the memory alone.",
            "Under interference, Lambda < 0, with S not zero, either 1 - L alpha > 0 on the feasible set (m >= 1), and "
            "the infimum is 0, approached as beta -> 0; or m < 1, and it is approached as alpha -> 2/(L(1 + m)), "
            "outside. So there is no solution unless S = 0.",
            "As printed nothing keeps alpha and beta positive. Without that, alpha -> -oo makes Gamma unbounded below "
            "as soon as Lambda is not zero. Supplement 3.1 speaks of a constraint beta > 0 that (14) does not have.",
            "For E >= 2 the gradients in S depend on beta through the local steps; here, as in (16), S is given. For a "
            "given alpha and S the problem in beta >= 0 has a solution: ours.adaptive_server.",
        ),
    )


def sec5_guarantee() -> Claim:
    """Rates within the constraint guarantee convergence neither on f nor on g."""
    words = "Rates adapted by Table 1, with every alpha_{t,i} below 2/(L(1 + m)), enjoy the convergence guarantee on "
    of_f = Part(
        "f",
        Statement(words + "f: min_t ||grad f(x_t)|| tends to 0.", None),
        refutation=_divergence(),
        unseen=A_LIMIT,
    )
    of_g = Part(
        "g",
        Statement(words + "g: min_t ||grad g(x_t)|| tends to 0.", None),
        refutation=_idle(),
        unseen=A_LIMIT,
    )
    return Claim(
        "cflag.sec5_guarantee",
        "text after (14)",
        "Guarantees on f and g for adapted rates",
        (of_f, of_g),
        (
            "No theorem of the paper speaks of grad g, and Theorem 5 has beta below c / sqrt(T) and one alpha and beta "
            "for all clients, so that nothing covers adapted rates.",
            "With the rates of ours.adaptive_server the guarantee on f is true for m = 0 and alpha <= 1/L; "
            "ours.adaptive_descent says what a biased memory needs. On g there is none: where tasks conflict, "
            "forgetting is least when the current task is not learnt at all.",
            "The worst case's rates, which Algorithm 3 has, are N times smaller and do not diverge in part f's family.",
            "On the line with N = 1 and beta = alpha, the rates of Table 1 under interference cancel the current task "
            "exactly: x_{t+1} = x_t - alpha grad_f_memory(x_t).",
        ),
    )


def _divergence() -> Statement:
    """Three clients against one, so that all products cancel: the average case's rates overshoot."""
    half = Fact("alpha", at_most(alpha, sp.Rational(1, 2)), "0 < alpha <= 1/2; the constraint is alpha < 2.")
    definitions = (
        Fact("start", equal(x(0), x_0), "x_0 > 0."),
        Fact("rate", equal(beta_at(k), 4 * (1 - alpha)), "i <= 3: (1 - alpha) Lambda_i / (p_i ||a_i||^2), a_i = x_t."),
        Fact(
            "step",
            equal(x(k + 1), x(k) - (3 * alpha + 2 * alpha) * x(k) / 4 - (3 * beta_at(k) - alpha) * x(k) / 4),
            "The adapted step; a_4 = -x_t interferes: alpha_4 = 2 alpha, beta_4 = alpha.",
        ),
    )
    grown = at_most(x_0**2, x(k) ** 2)
    factor = -2 * (1 - alpha)
    return shown(
        "N = 4, p_i = 1/4, E = 1, L = 1, f_i = g_1 = g_2 = g_3 = x^2/2, g_4 = -x^2/2, a memory of everything (m = 0), "
        "alpha_t = beta_t = alpha; Assumption 3 with r_i = 2. In every round sum_{i != j} p_i p_j C_ij = 0, the "
        "average case, and with its rates ||grad f(x_t)|| = |x_t| never falls below x_0; it grows by the factor "
        "2 (1 - alpha) in each round.",
        grown,
        by_induction(
            "growth",
            k,
            grown,
            Obligation("x_{t+1} = -2 (1 - alpha) x_t", equal(x(k + 1), factor * x(k)), ("rate", "step")),
            start=("start",),
            given=(
                "x_{t+1} = -2 (1 - alpha) x_t",
                "alpha",
            ),
        ),
        given=("growth",),
        under=(half,),
        where=definitions,
    )


def _idle() -> Statement:
    """One client under transference for ever: x_t tends to the past task's minimiser, and stays away from g's."""
    half = Fact("alpha", below(alpha, sp.Rational(1, 2)), "0 < alpha < 1/2; the constraint is alpha < 1.")
    definitions = (
        Fact("start", equal(x(0), x_0), "x_0 > 0."),
        Fact(
            "(16)",
            equal(4 * (x(k) + 1) * beta_at(k), (1 - 2 * alpha) * x(k)),
            "beta_t of (16), and of Table 1: L = 2, grad_f_memory = x_t, S = 2 (x_t + 1).",
        ),
        Fact("(24)", equal(x(k + 1), x(k) - alpha * x(k) - 2 * beta_at(k) * (x(k) + 1)), "The round update (24)."),
    )
    right = at_most(0, x(k))
    goal = at_most(2, 2 * (x(k) + 1))
    return shown(
        "N = 1, E = 1, f = x^2/2, g = (x + 1)^2, L = 2, a memory of everything (m = 0), alpha_t = alpha and beta_t > 0 "
        "of (16): x_t = x_0 / 2^t, and ||grad g(x_t)|| = 2 (x_t + 1) is never below 2.",
        goal,
        by_induction(
            "to the right",
            k,
            right,
            start=("start",),
            given=(
                "(16)",
                "(24)",
            ),
        ),
        given=("to the right",),
        under=(half,),
        where=definitions,
    )


def sec5_sign(threshold: Any = 1) -> Claim:
    """1 - L alpha > 0 where m > 1."""
    large = Fact("m", below(threshold, m), f"m > {threshold}.")
    goal = below(0, 1 - L * alpha)
    follows = Obligation("the statement follows", goal, ("alpha", "m"))
    printed = Statement(
        f"1 - L alpha_t > 0 for m > {threshold} and alpha_t < 2/(L(1 + m)).",
        goal,
        (STEP_SIZE, large),
        Proof((follows,)),
    )
    return Claim(
        "cflag.sec5_sign",
        "text after (15)",
        "The sign of 1 - L alpha",
        (Part("1", printed),),
        (
            "m >= 1 is enough, and 1 - L alpha > (m - 1)/(m + 1) there. For every m < 1 it fails for 1/L <= alpha < "
            "2/(L(1 + m)).",
            "Assumption 2 has m_i < 1, so that with one client (27) asks for some m < 1 only. Nothing forbids to use "
            "(27) with a larger m: the remark then says that alpha < 1/L, which is the hypothesis that (16) and Table "
            "1 need.",
        ),
    )


def eq16() -> Claim:
    """(16): what is quadratic, what is optimal, and what has an expectation."""
    star = Fact("(16)", equal(L * sum2 * beta_star, (1 - L * alpha) * Lambda), "beta* of (16).")
    moving = Fact("S", below(0, sum2), "S is not zero.")
    optimal = at_most(forgetting(beta_star, alpha), forgetting(beta, alpha))
    minimiser = Part(
        "minimiser",
        shown(
            "For given alpha and S, beta* of (16) minimises Gamma(t) over beta.",
            optimal,
            given=("(16)",),
            under=(moving,),
            where=(star,),
        ),
    )
    return Claim(
        "cflag.eq16",
        "(16)",
        "Optimal beta and optimal Gamma",
        (_quadratic(), minimiser, *_positive_rate(star, moving), _optimal_value(star, moving)),
        (
            "Rescaling a fixed displacement after the local steps, as the paper's next sentence proposes, keeps S "
            "fixed, and Gamma(t) quadratic; taking the local steps with beta* does not.",
            "For (1 - L alpha) Lambda <= 0 the least Gamma over beta >= 0 is 0, at beta = 0: ours.adaptive_server.",
        ),
    )


def _quadratic() -> Part:
    """Third differences vanish for quadratic polynomials, and here only if S does not move with beta."""
    third = sp.Add(
        *(
            weight * forgetting(j * beta, alpha, sum2_at(j), Lambda_at(j))
            for j, weight in ((1, sp.Integer(3)), (2, sp.Integer(-3)), (3, sp.Integer(1)))
        )
    )
    goal = equal(third, 0)
    words = "its third difference over the rates 0, beta, 2 beta, 3 beta is zero"
    moves = tuple(
        Fact(
            f"{name} at {j} beta",
            equal(of(j), of(1) + (E - 1) * change(j)),
            f"{words} at {j} beta is that at beta and E - 1 changes: the first local gradient is grad g(x_t), whatever "
            "the rate.",
        )
        for name, of, change, words in (
            ("norm", sum2_at, sum2_change, "||S||^2"),
            ("product", Lambda_at, Lambda_change, "Lambda"),
        )
        for j in (2, 3)
    )
    single = Fact("E", equal(E, 1), "One local step.")
    mended = shown(
        f"With one local step Gamma(t) is a quadratic polynomial in beta: {words}.",
        goal,
        given=("E", *(fact.name for fact in moves)),
        under=(*moves, single),
    )
    return Part(
        "quadratic",
        Statement(
            f"Gamma(t) is a quadratic polynomial in beta_t, read as the rate of the local steps: {words}.", goal, moves
        ),
        Repair(
            "needs-hypothesis",
            "one local step (E = 1): S must not depend on beta",
            mended,
        ),
    )


def _positive_rate(star: Fact, moving: Fact) -> tuple[Part, Part]:
    goal = below(0, beta_star)
    transfer = Fact("transference", below(0, Lambda), "Lambda > 0, the case in which the paper uses beta*.")
    words = "Under transference beta* of (16) is a step size: positive, for every alpha < 2/(L(1 + m))."
    return step_sizes(words, goal, (STEP_SIZE, moving, transfer), star, ("(16)", "transference", "small alpha", "S"))


def step_sizes(
    words: str, goal: Relation, known: tuple[Fact, ...], rate: Fact, given: tuple[str, ...]
) -> tuple[Part, Part]:
    """A rate that has the sign of 1 - L alpha: positive for m > 1, and for smaller m with alpha < 1/L."""
    small = Fact("small alpha", below(L * alpha, 1), "alpha < 1/L.")
    large = Fact("m", below(1, m), "m > 1.")
    follows = Obligation("the statement follows", goal, given)
    within = Obligation("small alpha", below(L * alpha, 1), (STEP_SIZE.name, "m"))
    return (
        Part(
            "step size",
            Statement(words, goal, known, None, (rate,)),
            Repair(
                "needs-hypothesis",
                "alpha < 1/L, which m >= 1 would imply",
                Statement("The same for alpha < 1/L.", goal, (*known, small), Proof((follows,)), (rate,)),
            ),
            reading="for every m, as Assumption 2 has it",
        ),
        Part(
            "large m",
            Statement(words, goal, (*known, large), Proof((within, follows)), (rate,)),
            reading='"(for m > 1)", as the text before (16) has it',
        ),
    )


def _optimal_value(star: Fact, moving: Fact) -> Part:
    value = -((1 - L * alpha) ** 2) * Lambda**2 / (2 * L * sum2)
    at_star = Fact("(15)", equal(Gamma_star, forgetting(beta_star, alpha)), "Gamma* is Gamma(t) of (15) at beta*.")
    goal = equal(Gamma_star, value)
    # Gamma* - value = (L ||S||^2 beta* - q Lambda)^2 / (2 L ||S||^2).
    follows = Obligation("the statement follows", goal, ("(15)", "(16)", "S"))
    return Part(
        "value",
        Statement(
            "E Gamma* = -(1 - L alpha)^2 Lambda^2 / (2 L ||S||^2), with the round's Lambda and S on the right.",
            equal(mean_Gamma_star, value),
            (moving,),
            None,
            (star, at_star),
        ),
        Repair(
            "typo",
            "drop the expectation on the left, or take it on the right as well: the right side changes with the memory",
            Statement(
                "Gamma* = -(1 - L alpha)^2 Lambda^2 / (2 L ||S||^2).",
                goal,
                (moving,),
                Proof((follows,)),
                (star, at_star),
            ),
        ),
    )


CLAIMS = {
    "cflag.eq14": eq14,
    "cflag.sec5_guarantee": sec5_guarantee,
    "cflag.sec5_sign": sec5_sign,
    "cflag.eq16": eq16,
}
