"""The proof of Lemma 3 along its own iterates (67)-(68): the descent (69)-(74), and (66) for them.

A round of (67)-(68) moves by -beta ((1 + E) grad h~(x_t) + e_t); the proof bounds the length of e_t.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.union.iterates import (
    EQUAL_SHARES,
    LOCAL_STEPS,
    QUARTER,
    ROUND,
    ROUNDS,
    STEP,
    T,
    apart,
    both,
    component,
    grad_h,
    grad_h_sizes,
    h,
    h_sizes,
    least,
    least_sizes,
    off,
    printed_sum,
    round_sum,
    s,
    share_spread,
    slope,
    union,
    x,
    x_next,
)
from cflag_theory.claims.c_flag.union.tracking import (
    KEPT,
    WITHIN,
    deviation,
    second_order,
)
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Sharp, Source, Statement, shown
from cflag_theory.claims.engine.notation import E, L, beta, clients, i, j, t, unfold
from cflag_theory.claims.engine.operators import sum_over
from cflag_theory.claims.engine.relation import Relation, at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation, Proof, Step
from cflag_theory.claims.engine.terms import dot, norm, norm2

#: What others name by this module.
__all__ = ["T", "grad_h", "h", "h_sizes", "least", "least_sizes", "printed_sum", "round_sum", "share_spread", "t"]


def round_steps() -> tuple[Step, ...]:
    """One round of (67)-(68) in terms of ||e_t||, given "small": beta L (1 + E) <= 1; named "one round"."""
    G, D, step, after = grad_h(t), norm(union.deviation), x_next - x(t), h(t + 1)
    bound = -beta * (1 + E) * G**2 + beta * (1 - beta * L * (1 + E)) * G * D
    bound += L * beta**2 / 2 * ((1 + E) ** 2 * G**2 + D**2)
    return (
        rules.smooth("one component", component[i, j], x(t), x_next),
        rules.mean("their mean at a client", both, given="one component"),
        rules.mean("all components", clients, given="their mean at a client"),
        rules.rewrite("next x", unfold(after), given=ROUND),
        rules.square("length", step),
        Obligation(
            "smooth",
            at_most(after, h(t) + dot(slope, step) + L * norm2(step) / 2),
            ("all components", "next x", "length", *union.smooth),
        ),
        rules.norm_squared("||grad||^2", slope),
        rules.norm_squared("||e||^2", union.deviation),
        rules.cauchy_schwarz("worst direction", -union.deviation, slope),
        Obligation(
            "one round", at_most(after - h(t), bound), ("smooth", "||grad||^2", "||e||^2", "worst direction", "small")
        ),
    )


def over_rounds(of: str, values: sp.Expr, smallest: sp.Expr) -> tuple[Step, ...]:
    """The step `of`, shown in any round, as "sum"; `values` telescope, and the least square is below the mean."""
    return (
        rules.at("any round", t, s, given=of),
        rules.mean("sum", sum_over(s, T), given="any round"),
        rules.telescoping("telescoped", s, T, unfold(values)),
        rules.minimum("least", unfold(smallest)),
    )


SUMMED = ("sum", "telescoped", "least")


def small_steps() -> Obligation:
    """beta L (1 + E) <= 1 from "range", beta L E <= limit <= 1/2."""
    return Obligation("small", at_most(beta * L * (1 + E), 1), ("range", "E"))


def eq69(square: Any = 10, fourth: Any = 80) -> Claim:
    """(69) as printed with ||h~(x_t)||^2, and with the gradient in its place."""
    limit = sp.Rational(1, 4)
    hypotheses = (QUARTER, LOCAL_STEPS, WITHIN)
    mended = (*hypotheses, KEPT)

    def relation(A: Any, B: Any, size2: sp.Expr) -> Relation:
        lead = -beta + A * beta**2 * L * E**2 + B * beta**4 * L**3 * E**4 - beta * E
        return at_most(h(t + 1) - h(t), lead * size2)

    def statement(A: Any, B: Any, words: str) -> Statement:
        follows = Obligation(
            "the statement follows",
            relation(A, B, grad_h(t) ** 2),
            ("one round", "small", "short deviation", "range", "E"),
        )
        steps = (*deviation(union), *second_order(union, limit), small_steps(), *round_steps(), follows)
        return Statement(words, relation(A, B, grad_h(t) ** 2), mended, Proof(steps))

    words = (
        f"h~(x_{{t+1}}) - h~(x_t) <= (-beta + {square} beta^2 L E^2 + {fourth} beta^4 L^3 E^4 - beta E) ||h~(x_t)||^2 "
        "along (67)-(68), for beta <= 1/(4 L E), with h~ = sum_i p_i h~_i, as (68) sums it."
    )
    repaired = statement(square, fourth, words.replace("||h~(x_t)||", "||grad h~(x_t)||"))
    sharpened = statement(2, 0, "h~(x_{t+1}) - h~(x_t) <= (-beta + 2 beta^2 L E^2 - beta E) ||grad h~(x_t)||^2.")
    part = Part(
        "1",
        Statement(words, relation(square, fourth, h(t) ** 2), hypotheses),
        Repair(
            "needs-hypothesis",
            "||grad h~(x_t)||^2 in place of ||h~(x_t)||^2, and every component that is kept in memory is L-smooth",
            repaired,
        ),
        Sharp("the coefficient of beta^2 L E^2; no beta^4 is needed", sp.sympify(square), sp.Integer(2), sharpened),
    )
    return Claim(
        "cflag.eq69",
        "(69)",
        "Descent of the union's loss in one round of (67)-(68)",
        (part,),
        (
            "h~_i is the mean over the client's memory and current data. For this h~ the tracking terms of (67) sum to "
            "zero; for the h~ of (3) they need equal shares: cflag.lemma3_surrogate.2.",
            "The components kept in memory must be L-smooth, which the paper says of the g_{i,j} only: "
            "cflag.lemma3_surrogate.1.",
            "The constant 2 is attained at E = 1 by h~ = (L/2) ||x||^2. For every E and beta L (1 + E) <= 1 the "
            "decrease is at least (1 - q^2) / (2 L) ||grad h~(x_t)||^2 with q = (1 + beta L)^E - beta L - 2 beta L E: "
            "ours.union_descent.",
        ),
    )


def _squared(
    key: str,
    words: str,
    relation: Callable[[sp.Expr], Relation],
    under: Fact,
    line: tuple[str, Relation],
    source: Source,
) -> Part:
    """A bound that prints ||h~(x_t)||^2; with the gradient it follows from the corrected line before it."""
    slip, meant = "||h~(x_t)||^2", "||grad h~(x_t)||^2"
    granted = "; granted that the components kept in memory are L-smooth."
    before = Fact(*line, f"{line[0]} with {meant}.", sources=(source,))
    goal, given = relation(grad_h(t) ** 2), (line[0], under.name)
    mended = shown(words.replace(slip, meant) + ".", goal, given=given, under=(under, before))
    printed = Statement(words + granted, relation(h(t) ** 2), (under, LOCAL_STEPS, WITHIN, KEPT))
    return Part(key, printed, Repair("typo", f"{meant} in place of {slip}", mended))


def eq71(lead: Any = 15, inverse_limit: Any = 4) -> Claim:
    """(69) < (70) <= (71), and (71) as a bound on the decrease."""
    u = beta * L * E
    fact = Fact("range", at_most(u, 1 / sp.sympify(inverse_limit)), f"beta <= 1/({inverse_limit} L E).")
    step = shown(
        f"Step (a), (70) <= (71): 10 u + 80 u^3 <= {lead} u, u = beta L E, for beta <= 1/({inverse_limit} L E).",
        at_most(10 * u + 80 * u**3, lead * u),
        given=("range",),
        under=(fact,),
    )
    of_70 = -beta * E + 10 * beta**2 * L * E**2 + 80 * beta**4 * L**3 * E**4
    with_beta, without = (of_70 - beta) * h(t) ** 2, of_70 * h(t) ** 2
    strict = Part(
        "strict",
        Statement("(69) < (70): -beta ||h~(x_t)||^2 is dropped from the bound.", below(with_beta, without)),
        Repair("typo", "<= in place of <", shown("The same with <=.", at_most(with_beta, without))),
    )
    decrease = _squared(
        "decrease",
        f"h~(x_{{t+1}}) - h~(x_t) <= -beta E (1 - {lead} beta L E) ||h~(x_t)||^2 along (67)-(68), for "
        f"beta <= 1/({inverse_limit} L E)",
        lambda size2: at_most(h(t + 1) - h(t), -beta * E * (1 - lead * u) * size2),
        fact,
        ("(69)", at_most(h(t + 1) - h(t), (of_70 - beta) * grad_h(t) ** 2)),
        Source("cflag.eq69", on="repair", besides=("range", "E", "k", "kept")),
    )
    return Claim(
        "cflag.eq71",
        "(70)-(71)",
        "The descent of the union's loss with one constant",
        (Part("1", step), strict, decrease),
        (
            "Step (a) is true whatever is squared, since the square is not negative. Equality at u = 1/4, so neither "
            "the constant 15 nor the range can be moved; the difference is 5 u (1 - 4 u)(1 + 4 u).",
            "(69) < (70) fails where h~(x_t) = 0, and with the gradient where grad h~(x_t) = 0.",
            "At the step size of Lemma 3, u = 1/30, the left side of step (a) is 10.09 u.",
        ),
    )


def eq73(constant: Any = 60) -> Claim:
    """(73): the constant of (72) at the step size of Lemma 3, and the bound."""
    value = 1 / (beta * E * (1 - 15 * beta * L * E))
    goal = equal(value, constant * L)
    # 1/(beta E s) - 60 L = (30 L E)^2 (beta - 1/(30 L E))^2 / (beta E s), s = 1 - 15 beta L E.
    gap = (30 * L * E) ** 2 * (beta - 1 / (30 * L * E)) / (beta * E * slack("positive"))
    factors = shown(
        "(72) = (73): 1 / (beta E (1 - 15 beta L E)) = 60 L at beta = 1/(30 L E).",
        goal,
        Obligation("positive", below(0, 1 - 15 * beta * L * E), ("beta",)),
        given=("beta", "positive"),
        certificate=(constant - 60) * L - gap * residual("beta"),
        under=(STEP,),
    )
    bound = _squared(
        "bound",
        f"(72)-(73): ||h~(x_t)||^2 <= {constant} L (h~(x_t) - h~(x_{{t+1}})) along (67)-(68), at beta = 1/(30 L E)",
        lambda size2: at_most(size2, constant * L * (h(t) - h(t + 1))),
        STEP,
        ("(71)", at_most(h(t + 1) - h(t), -beta * E * (1 - 15 * beta * L * E) * grad_h(t) ** 2)),
        Source("cflag.eq71", "decrease", on="repair", besides=("range", "(69)")),
    )
    return Claim(
        "cflag.eq73",
        "(72)-(73)",
        "60 L at the step size of Lemma 3",
        (Part("1", factors), bound),
        ("beta = 1/(30 L E) makes the factor of (72) least; ours.union_rate has 3.6 L, at 1/(2 L E).",),
    )


def eq74() -> Claim:
    """The telescoped sum, with the summand as printed."""
    drop = h(0) - h(T)
    sources = (Source("cflag.eq73", "bound", on="repair", besides=("beta", "(71)")),)
    each = Fact("(73)", at_most(grad_h(t) ** 2, 60 * L * (h(t) - h(t + 1))), "(73) in every round.", (t,), sources)
    goal = at_most(least, 60 * L / T * printed_sum)
    words = "min_{t<T} ||grad h~(x_t)||^2 <= (60 L / T) sum_{t=0}^{T-1} (h~(x_0) - h~(x_T)), given (73)."
    first = Part("1", shown(words, goal, *over_rounds("(73)", h(s), least), given=(*SUMMED, "T"), under=(each, ROUNDS)))
    wanted = 60 * L / T * drop
    second = Statement(
        "The right side of (74) is the desired one, that of (66).", equal(60 * L / T * printed_sum, wanted)
    )
    mended = equal(60 * L / T * round_sum(T), wanted)
    repaired = shown(
        "(60 L / T) sum_{t=0}^{T-1} (h~(x_t) - h~(x_{t+1})) is the right side of (66).",
        mended,
        rules.telescoping("telescoped", s, T, unfold(h(s))),
        given=("telescoped",),
    )
    repair = Repair("typo", "sum h~(x_t) - h~(x_{t+1}), not h~(x_0) - h~(x_T)", repaired)
    return Claim(
        "cflag.eq74",
        "(74)",
        "The telescoped sum",
        (first, Part("2", second, repair)),
        (
            "The summand does not depend on t, so the printed bound is T times the one of (66): true after (73), since "
            "(73) makes h~(x_0) - h~(x_T) non-negative, and no longer a rate.",
            "The two bounds agree at T = 1, so part 1 has no smaller constant.",
        ),
    )


def _each_round(C: sp.Expr) -> tuple[Step, ...]:
    """(73) with C for 60 at the step size of Lemma 3 and h~ = sum_i p_i h~_i; the last step is "each round"."""
    u, G = sp.Rational(1, 30), grad_h(t)
    return (
        Obligation("range", at_most(beta * L * E, u), ("beta",)),
        *deviation(union),
        *second_order(union, u),
        small_steps(),
        *round_steps(),
        Obligation(
            "each round",
            at_most(G**2, C * L * h(t) - C * L * h(t + 1)),
            ("one round", "small", "short deviation", "beta", "E"),
        ),
    )


def equal_shares(v: sp.Expr) -> tuple[Step, ...]:
    """sum_i p_i off_i v_i is the "null gap" where all shares are equal, as the root "no spread" is not above 0."""
    gap = clients(off(i) * v)
    return (
        Obligation("spread", at_most(share_spread, 0), ("equal shares",)),
        rules.square_root("no spread", sp.sqrt(clients(off(i) ** 2)), sp.S.Zero, given="spread"),
        rules.cauchy_schwarz_numbers("gap", off(i), dot(v, gap), clients),
        Obligation("at most 0", at_most(norm2(gap), 0), ("gap", "no spread")),
        rules.square("at least 0", gap),
        rules.both_bounds("null gap", given=("at most 0", "at least 0")),
    )


def _by_sizes(C: sp.Expr) -> tuple[Step, ...]:
    """ "each round" for the h~ of (3), which equal shares make the same function, with the same (67)-(68)."""
    turn = clients(off(i) * apart[i].grad(x(t)))
    return (
        *equal_shares(apart[i].grad(x(t))),
        rules.null("along", turn, slope, given="null gap"),
        rules.norm_squared("by clients", slope),
        rules.norm_squared("by sizes", slope - turn),
        rules.cauchy_schwarz_numbers("value", off(i), apart[i](x(t)), clients),
        rules.cauchy_schwarz_numbers("next value", off(i), -apart[i](x(t + 1)), clients),
        Obligation("values", at_most(h(t), h_sizes(t)), ("value", "no spread")),
        Obligation("next values", at_most(h_sizes(t + 1), h(t + 1)), ("next value", "no spread")),
        Obligation(
            "each round by sizes",
            at_most(grad_h_sizes(t) ** 2, C * L * h_sizes(t) - C * L * h_sizes(t + 1)),
            ("each round", "values", "next values", "along", "null gap", "by clients", "by sizes"),
        ),
    )


def lemma3_surrogate(constant: Any = 60) -> Claim:
    """(66) for the iterates of (67)-(68), with h~ as (68) sums it, and with h~ by total sizes, as in (3)."""
    hypotheses = (STEP, LOCAL_STEPS, ROUNDS, WITHIN)

    def goal(C: sp.Expr, *, sizes: bool) -> Relation:
        smallest, value = (least_sizes, h_sizes) if sizes else (least, h)
        return at_most(smallest, C * L / T * (value(0) - value(T)))

    def mended(C: sp.Expr, words: str, *, sizes: bool) -> Statement:
        shown, value = goal(C, sizes=sizes), h_sizes if sizes else h
        last = "each round by sizes" if sizes else "each round"
        steps = (
            *_each_round(C),
            *(_by_sizes(C) if sizes else ()),
            *over_rounds(last, value(s), shown.left),
            Obligation("the statement follows", shown, SUMMED),
        )
        extra = (KEPT, EQUAL_SHARES) if sizes else (KEPT,)
        return Statement(words, shown, (*hypotheses, *extra), Proof(steps))

    value, best = sp.sympify(constant), sp.Rational(3103, 100)
    words = (
        f"min_{{t<T}} ||grad h~(x_t)||^2 <= ({constant} L / T) (h~(x_0) - h~(x_T)) for the iterates of (67)-(68) with "
        "beta = 1/(30 L E), under Assumption 1, with h~ = "
    )
    by_client = f"{words}sum_i p_i h~_i, as (68) sums it."
    whole = f"{words}(|M| f_memory + |C| g) / (|M| + |C|), that is (3) on memory and current data."
    smooth = "every past component that is kept in memory is L-smooth, not only the means f_i, g_i, h_i and the g_{i,j}"
    first = Part(
        "1",
        Statement(by_client, goal(value, sizes=False), hypotheses),
        Repair("needs-hypothesis", smooth, mended(value, by_client, sizes=False)),
        Sharp(
            "the constant of L (h~(x_0) - h~(x_T)) / T",
            value,
            best,
            mended(best, "The same with 31.03 L in place of 60 L.", sizes=False),
        ),
    )
    shares = "all clients keep the same share of memory, |M^i| / |C^i| = |M| / |C|, besides the hypothesis of part 1"
    second = Part(
        "2",
        Statement(whole, goal(value, sizes=True), hypotheses),
        Repair("needs-hypothesis", f"{shares}; then h~ by (3) is sum_i p_i h~_i", mended(value, whole, sizes=True)),
    )
    return Claim(
        "cflag.lemma3_surrogate",
        "Lemma 3, (66)",
        "Convergence on the union, for (67)-(68)",
        (first, second),
        (
            "h~_i is the mean over the client's memory and current data. The tracking terms of (67) sum to zero if h~ "
            "= sum_i p_i h~_i; with the total sizes of (3) they do so, in general, only for equal shares.",
            "The supplement makes the g_{i,j} L-smooth; of past data Assumption 1 says it only of means, which bounds "
            "no component: f_i = 0 can be the mean of K x^2/2 and -K x^2/2, and a memory that keeps the first alone "
            "makes h~ as curved as K.",
            "min_t is over t = 0, ..., T - 1, as the sum in (74).",
            "h~ = (L/2) x^2 with T = 1 needs a constant that tends to 2 / (1 - exp(-1/15)) > 31.011 as E grows; so the "
            "best constant lies in [31.011, 31.03], and 31.03 is proved but not attained. A linear h~ needs "
            "30 E / (1 + E) for every T.",
        ),
    )


CLAIMS = {
    "cflag.eq69": eq69,
    "cflag.eq71": eq71,
    "cflag.eq73": eq73,
    "cflag.eq74": eq74,
    "cflag.lemma3_surrogate": lemma3_surrogate,
}
