"""From the forgetting term to a multiple of ||grad h~||^2 + omega^2: (90) and (149)-(160)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.local_steps.drift import step_range
from cflag_theory.claims.c_flag.local_steps.sums import (
    ERROR_FACTS,
    QUARTER,
    TWELFTH,
    error_sum,
    error_total,
    rho_bound,
    rho_linear,
    rho_sum,
)
from cflag_theory.claims.c_flag.problem.memory import LEMMA10, memory_norm
from cflag_theory.claims.c_flag.union.lemma3 import by_client2, slope_by_client
from cflag_theory.claims.c_flag.vectors import ROUND_SUM, errors, rho
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Sharp, Source, Statement, shown
from cflag_theory.claims.engine.notation import (
    E,
    L,
    alpha,
    beta,
    bias,
    delayed_sum,
    grad_f,
    grad_g,
    m,
    r,
    sum2,
    symbol,
    unfold,
)
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation, Step, deduced
from cflag_theory.claims.engine.terms import dot, norm

N = symbol("N", "N", positive=True, integer=True)
grad_memory = grad_f + bias
memory = symbol("norm_memory", r"{\|\nabla f^\dagger(x_t)\|}", norm(grad_memory))
memory_dot_sum = symbol("memory_dot_sum", r"\langle\nabla f^\dagger,S\rangle", dot(grad_memory, delayed_sum))
memory_dot_rho = symbol("memory_dot_rho", r"\langle\nabla f^\dagger,\sum_k\bar\rho_{t,k}\rangle", dot(grad_memory, rho))
memory_dot_error = symbol(
    "memory_dot_error", r"\langle\nabla f^\dagger,\sum_k\bar e_{t,k}\rangle", dot(grad_memory, errors)
)
rho_dot_error = symbol("rho_dot_error", r"\langle\sum_k\bar\rho_{t,k},\sum_k\bar e_{t,k}\rangle", dot(rho, errors))
q = 1 - L * alpha
Gamma = symbol("Gamma", r"\Gamma(t)", unfold(L / 2 * beta**2 * sum2 - beta * q * memory_dot_sum))
T1, T2, T3, T4 = (symbol(f"T{number}", f"T{number}", real=True) for number in range(1, 5))
#: h~ = sum_i p_i h~_i, as (2), (68) and (77) have it; with equal shares of memory it is the pooled one of (3) too.
grad_union = symbol("norm_grad_union", r"{\|\nabla\tilde h(x_t)\|}", norm(slope_by_client))
omega2 = symbol("omega2", r"\omega^2", nonnegative=True)

gap = symbol("abs_1_L_alpha", r"{|1-L\alpha|}", nonnegative=True)
GAP = (
    Fact("1 - L alpha", at_most(1 - L * alpha, gap), "|1 - L alpha| is at least 1 - L alpha,"),
    Fact("L alpha - 1", at_most(L * alpha - 1, gap), "and at least L alpha - 1."),
)
STEP_SIZE = Fact("alpha", below(alpha, 2 / (L * (1 + m))), "alpha < 2 / (L (1 + m)), as Lemma 4 allows.")
SMALL_STEP = Fact("small alpha", at_most(L * alpha, 1), "alpha <= 1/L.")
RATIO = Fact(
    "(30)",
    at_most(memory, r * grad_g),
    "||grad f_memory(x_t)|| <= r ||grad g(x_t)||, (30).",
    sources=(replace(LEMMA10, at=((memory_norm, memory),)),),
)
LEMMA11 = Fact(
    "Lemma 11",
    at_most(grad_g**2, 2 * grad_union**2 + 2 * omega2),
    "||grad g(x_t)||^2 <= 2 ||grad h~(x_t)||^2 + 2 omega^2, h~ being the mean of the clients' h~_i.",
    sources=(Source("cflag.lemma11", at=((by_client2, grad_union**2),), besides=("(79)-(82)",)),),
)


def eq90(weight: Any = 1) -> Claim:
    """(90) as the equality that is printed, and as the inequality that (87) gives."""
    left = L / 2 * beta**2 * sum2 - beta * q * memory_dot_sum
    right = weight * L * beta**2 * (rho_sum**2 + error_sum**2) - beta * q * (memory_dot_rho + memory_dot_error)
    goal = at_most(left, right)
    printed = Statement(
        "Gamma(t) of (86) equals L beta^2 ||sum rho||^2 - beta (1 - L alpha) <grad f_memory, sum rho> - beta (1 - L "
        "alpha) <grad f_memory, sum e> + L beta^2 ||sum e||^2.",
        equal(left, right),
    )
    repaired = shown(
        "Gamma(t) is at most that.",
        goal,
        rules.rewrite("||S||^2", unfold(sum2), given=ROUND_SUM),
        rules.rewrite("<memory, S>", unfold(memory_dot_sum), given=ROUND_SUM),
        rules.norm_squared("||rho||^2", rho),
        rules.norm_squared("||e||^2", errors),
        rules.square("(87)", rho - errors),
        given=("||S||^2", "<memory, S>", "||rho||^2", "||e||^2", "(87)"),
    )
    return Claim(
        "cflag.eq90",
        "(86)-(90)",
        "Expansion of the forgetting term",
        (Part("1", printed, Repair("typo", "(87) is an inequality, and so is (90): <= in place of =", repaired)),),
        (
            "The right side exceeds Gamma(t) by (L beta^2/2) ||sum rho - sum e||^2. At E = 1, where sum e = 0, that is "
            "half of the first term.",
            "(149) and (173) repeat the equality; their proofs need the inequality only.",
        ),
    )


def eq151(first: Any = 32, second: Any = 2, third: Any = 4) -> Claim:
    """T1 and T4 with the printed constants, or others in their place."""
    bound1 = first * beta**4 * L**3 * E**4 * grad_g**2 + second * beta**2 * L * E**2 * grad_g**2
    scale = L * beta**2
    goal1 = at_most(scale * rho_sum**2, bound1)
    enough = sp.Rational(8, 7)
    steps1 = rho_linear("(132)", enough)
    near = step_range(QUARTER)
    mended1 = shown(
        "T1 = L beta^2 ||sum_k rho_k||^2 for beta <= 1/(4 L E).", goal1, *steps1, given=("(132)",), under=(near,)
    )
    best = 4 * (sp.exp(QUARTER) - 1)
    tight1 = at_most(scale * rho_sum**2, best**2 * beta**2 * L * E**2 * grad_g**2)
    sharp1 = shown(
        "T1 <= 16 (exp(1/4) - 1)^2 beta^2 L E^2 ||grad g(x_t)||^2, in the same range.",
        tight1,
        *rho_linear("(132)", best),
        given=("(132)",),
        under=(near,),
    )
    sharpened = Sharp(
        "the right side over beta^2 L E^2 ||grad g(x_t)||^2 at beta = 1/(4 L E); a constant replaces both terms",
        sp.sympify(first) / 16 + second,
        best**2,
        sharp1,
        ((beta, 1 / (4 * L * E)),),
    )
    words = f"T1 <= {first} beta^4 L^3 E^4 ||grad g(x_t)||^2 + {second} beta^2 L E^2 ||grad g(x_t)||^2"
    as_printed = Statement(
        f"{words} with T1 as (149) prints it, L beta^2 ||sum_{{i=1}}^N sum_k rho_k||^2, where rho_k is already the "
        "mean over clients; granted beta <= 1/(4 L E).",
        at_most(scale * (N * rho_sum) ** 2, bound1),
        (near,),
    )
    without_range = Statement(f"{words} with the sum over clients dropped, in the range of Lemma 4.", goal1)
    needed = Repair("needs-hypothesis", "beta <= 1/(4 L E), which Lemma 15 needs", mended1)

    def fourth(value: sp.Expr, name: str, hypotheses: tuple[Fact, ...]) -> Statement:
        goal = at_most(scale * error_sum**2, value**2 * beta**4 * L**3 * E**4 * grad_g**2)
        steps = error_total("(146)", at_most(error_sum, value * beta * L * E**2 * grad_g))
        proof = deduced(goal, *steps, given=("(146)",))
        return Statement(name, goal, hypotheses, proof if hypotheses else None, ERROR_FACTS)

    root = sp.sqrt(sp.sympify(third))
    far = step_range(TWELFTH)
    fourth_words = f"T4 = L beta^2 ||sum_k e_k||^2 <= {third} beta^4 L^3 E^4 ||grad g(x_t)||^2"
    mended4 = fourth(root, f"{fourth_words} for beta <= 1/(12 L E).", (far,))
    sharp4 = fourth(sp.Rational(1, 2), "T4 with 1/4 in place of 4, in the same range.", (far,))
    return Claim(
        "cflag.eq151",
        "(149)-(151)",
        "Bounds on T1 and T4",
        (
            Part("1", as_printed, Repair("typo", "drop the sum over i from T1 in (149)", mended1), sharpened),
            Part("2", without_range, needed, sharpened),
            Part(
                "3",
                fourth(root, f"{fourth_words}, in the range of Lemma 4.", ()),
                Repair("needs-hypothesis", "beta <= 1/(12 L E), which Lemma 16 needs", mended4),
                Sharp("the constant of beta^4 L^3 E^4 ||grad g(x_t)||^2", sp.sympify(third), sp.Rational(1, 4), sharp4),
            ),
        ),
        (
            "Lemma 4 asks for beta < c/sqrt(T) with some c, which excludes no beta.",
            "The powers of beta, L and E are right: L beta^2 (2 beta L E^2)^2 = 4 beta^4 L^3 E^4.",
        ),
    )


def eq156(first: Any = 4, second: Any = 2) -> Claim:
    """T2 and T3 with the printed constants, or others in their place."""

    def statement(
        which: str, constant: sp.Expr, words: str, hypotheses: tuple[Fact, ...], proved: bool, size: sp.Expr = q
    ) -> Statement:
        if which == "T2":
            inner, v, factor = memory_dot_rho, rho, constant * L * beta * E**2 * grad_g + E * grad_g
            steps = rho_bound("sum", constant)
        else:
            inner, v, factor = memory_dot_error, errors, constant * beta * L * E**2 * grad_g
            steps = error_total("sum", at_most(error_sum, factor))
        goal = at_most(-beta * q * inner, sp.expand(beta * size * r * grad_g * factor))
        product: tuple[Step, ...] = (rules.cauchy_schwarz("Cauchy-Schwarz", -grad_memory, v),)
        given: tuple[str, ...] = ("small alpha", "Cauchy-Schwarz", "(30)", "sum")
        if size == gap:
            # (|q| - q)(||m|| ||v|| - <m, v>) + (|q| + q)(||m|| ||v|| + <m, v>) is not negative.
            product += (
                rules.cauchy_schwarz("the other way", grad_memory, v),
                Obligation(
                    "(152)",
                    at_most(-q * inner, gap * memory * norm(v)),
                    ("1 - L alpha", "L alpha - 1", "Cauchy-Schwarz", "the other way"),
                ),
            )
            given = ("(152)", "(30)", "sum")
        definitions = (*(ERROR_FACTS if which == "T3" else ()), *(GAP if size == gap else ()))
        proof = deduced(goal, *steps, *product, given=given)
        return Statement(words, goal, hypotheses, proof if proved else None, definitions)

    known = (STEP_SIZE, RATIO)
    near, far = step_range(QUARTER), step_range(TWELFTH)
    two = f"T2 <= [{first} beta^2 (1 - L alpha) r L E^2 + beta (1 - L alpha) r E] ||grad g(x_t)||^2"
    three = f"T3 <= {second} r beta^2 (1 - L alpha) L E^2 ||grad g(x_t)||^2"
    a, b = sp.sympify(first), sp.sympify(second)
    everything2, everything3 = (*known, near, SMALL_STEP), (*known, far, SMALL_STEP)
    mended2 = statement("T2", a, f"{two} for alpha <= 1/L and beta <= 1/(4 L E).", everything2, True)
    mended3 = statement("T3", b, f"{three} for alpha <= 1/L and beta <= 1/(12 L E).", everything3, True)
    best = 16 * (sp.exp(QUARTER) - sp.Rational(5, 4))
    half = sp.Rational(1, 2)
    best2 = statement("T2", best, "T2 with 16 exp(1/4) - 20 in place of 4, in the same range.", everything2, True)
    best3 = statement("T3", half, "T3 with 1/2 in place of 2, in the same range.", everything3, True)
    sharp2 = Sharp("the constant of beta^2 (1 - L alpha) r L E^2 ||grad g(x_t)||^2", a, best, best2)
    sharp3 = Sharp("the constant of r beta^2 (1 - L alpha) L E^2 ||grad g(x_t)||^2", b, half, best3)
    sign = "|1 - L alpha| in place of 1 - L alpha, which Cauchy-Schwarz needs; it adds no condition"
    size2, size3 = (words.replace("(1 - L alpha)", "|1 - L alpha|") for words in (two, three))
    every = "for every alpha < 2/(L(1 + m))"

    def of_size(which: str, constant: sp.Expr, words: str) -> Statement:
        return statement(which, constant, words, (*known, near if which == "T2" else far), True, gap)

    return Claim(
        "cflag.eq156",
        "(152)-(156)",
        "Bounds on T2 and T3",
        (
            Part(
                "1",
                statement("T2", a, f"{two} {every}; granted beta <= 1/(4 L E).", (*known, near), False),
                Repair("typo", sign, of_size("T2", a, f"{size2}; {near.words}")),
                replace(sharp2, statement=of_size("T2", best, "T2 with 16 exp(1/4) - 20 in place of 4.")),
            ),
            Part(
                "2",
                statement("T3", b, f"{three} {every}; granted beta <= 1/(12 L E).", (*known, far), False),
                Repair("typo", sign, of_size("T3", b, f"{size3}; {far.words}")),
                replace(sharp3, statement=of_size("T3", half, "T3 with 1/2 in place of 2, in the same range.")),
            ),
            Part(
                "3",
                statement("T2", a, f"{two} for every beta; granted alpha <= 1/L.", (*known, SMALL_STEP), False),
                Repair("needs-hypothesis", "beta <= 1/(4 L E), which Lemma 15 needs", mended2),
                sharp2,
            ),
            Part(
                "4",
                statement("T3", b, f"{three} for every beta; granted alpha <= 1/L.", (*known, SMALL_STEP), False),
                Repair("needs-hypothesis", "beta <= 1/(12 L E), which Lemma 16 needs", mended3),
                sharp3,
            ),
        ),
        (
            "Parts 1 and 2 fail for 1/L < alpha < 2/(L(1 + m)), which is possible when m < 1; parts 3 and 4 fail for "
            "large beta. The exact worst case for every alpha and beta: ours.forgetting_step.",
            "r is the constant of Lemma 10, max_i r_i; (30) is used as it stands.",
        ),
    )


def bracket() -> sp.Expr:
    """The bracket of (158) with 4 beta L E + 2 beta L E added up, as (159) writes it."""
    lead = 36 * beta**4 * L**3 * E**4 + 2 * beta**2 * L * E**2
    return lead + r * beta * E * q * (6 * beta * L * E + 1)


def eq158(first: Any = 36) -> Claim:
    """The collection of the four bounds."""
    bounds = {
        T1: 32 * beta**4 * L**3 * E**4 * grad_g**2 + 2 * beta**2 * L * E**2 * grad_g**2,
        T2: 4 * beta**2 * q * r * L * E**2 * grad_g**2 + beta * q * r * E * grad_g**2,
        T3: 2 * r * beta**2 * q * L * E**2 * grad_g**2,
        T4: 4 * beta**4 * L**3 * E**4 * grad_g**2,
    }
    means = {
        T1: beta**2 * L * rho_sum**2,
        T2: -beta * q * memory_dot_rho,
        T3: -beta * q * memory_dot_error,
        T4: beta**2 * L * error_sum**2,
    }
    here, reach = tuple(means.items()), ("d at 0", "d after k")
    facts = (
        Fact(
            "(149)",
            at_most(Gamma, T1 + T2 + T3 + T4),
            "(149), read as the inequality that (87) gives.",
            sources=(Source("cflag.eq90", on="repair", here=here),),
        ),
        *(
            Fact(
                name,
                at_most(term, bounds[term]),
                f"{name}.",
                sources=(Source(id, part, "repair", (), here, (), besides),),
            )
            for name, term, id, part, besides in (
                ("(150)", T1, "cflag.eq151", "2", ("beta",)),
                ("(154)", T2, "cflag.eq156", "3", ("beta", "alpha", "(30)", "small alpha")),
                ("(156)", T3, "cflag.eq156", "4", ("beta", "alpha", "(30)", "small alpha", *reach)),
                ("(151)", T4, "cflag.eq151", "3", ("beta", *reach)),
            )
        ),
    )
    total = sp.Add(*bounds.values())
    names = tuple(fact.name for fact in facts)
    goal = at_most(Gamma, total)
    step = shown("(157), given (149), (150), (151), (154) and (156).", goal, given=names, under=facts)
    along = "(157): Gamma(t) is at most the sum of the four bounds"
    printed = Statement(
        f"{along}, along Algorithm 1 for every alpha < 2/(L(1 + m)) and beta.", goal, (STEP_SIZE, RATIO)
    )
    ranges = (STEP_SIZE, RATIO, SMALL_STEP, step_range(TWELFTH))
    mended = shown(f"{along}, for alpha <= 1/L and beta <= 1/(12 L E).", goal, given=names, under=(*ranges, *facts))
    repair = Repair(
        "needs-hypothesis", "alpha <= 1/L and beta <= 1/(12 L E), which (150), (151), (154) and (156) need", mended
    )
    lead = first * beta**4 * L**3 * E**4 + 2 * beta**2 * L * E**2
    collected = (lead + r * beta * E * q * (4 * beta * L * E + 2 * beta * L * E + 1)) * grad_g**2
    identity = equal(total, collected)
    second = shown(
        f"(157) = (158) = [{first} beta^4 L^3 E^4 + 2 beta^2 L E^2 + r beta E (1 - L alpha)(4 beta L E + 2 beta L E + "
        "1)] ||grad g(x_t)||^2.",
        identity,
    )
    return Claim(
        "cflag.eq158",
        "(157)-(158)",
        "Collection of the terms",
        (
            Part("1", printed, repair),
            Part("step", step, reading="as a step from what is printed before it"),
            Part("2", second),
        ),
        (
            "The sum of the four bounds is a bound where they are: cflag.eq151 and cflag.eq156. E = 1, f = g = x^2/2 "
            "- x at x_t = 0 with all of f in memory, r = L = 1, m = 1/10, alpha = 3/2 and beta = 1/60 have Gamma(t) = "
            "61/7200, and (157) is -1033/120000 there. ours.forgetting_step bounds Gamma(t) for every alpha and beta, "
            "exactly.",
        ),
    )


def eq160(factor: Any = 2) -> Claim:
    """Lemma 11 put into the bracket, and the bracket doubled."""
    split = 2 * grad_union**2 + 2 * omega2
    goal = at_most(bracket() * grad_g**2, bracket() * split)
    known = (STEP_SIZE, LEMMA11)
    mended = shown(
        "(158) <= (159) for alpha <= 1/L.", goal, given=("Lemma 11", "small alpha"), under=(*known, SMALL_STEP)
    )
    printed = Statement(
        "(158) <= (159): ||grad g(x_t)||^2 replaced by 2 ||grad h~(x_t)||^2 + 2 omega^2 behind the bracket.",
        goal,
        known,
    )
    doubled = equal(bracket() * split, sp.expand(factor * bracket()) * (grad_union**2 + omega2))
    second = shown(
        "(159) = (160): the bracket doubled, to 72 beta^4 L^3 E^4 + 4 beta^2 L E^2 + 2 r beta E (1 - L alpha)(6 beta L "
        "E + 1) = Q.",
        doubled,
    )
    repair = Repair(
        "needs-hypothesis",
        "alpha <= 1/L, so that the bracket is not negative: it is for 1/L < alpha < 2/(L(1 + m)) and a large r",
        mended,
    )
    return Claim(
        "cflag.eq160",
        "(159)-(160)",
        "Doubling with Lemma 11",
        (Part("1", printed, repair), Part("2", second)),
        ("Lemma 11 is a claim of its own and is granted here.",),
    )


CLAIMS = {
    "cflag.eq90": eq90,
    "cflag.eq151": eq151,
    "cflag.eq156": eq156,
    "cflag.eq158": eq158,
    "cflag.eq160": eq160,
}
