"""The delayed gradient along a round: Lemma 12 and the lines of Lemma 13's and Corollary 14's proofs."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.local_steps.drift import (
    STEPS,
    UP_TO_K,
    change,
    difference,
    drift,
    error,
    filled,
    gap_mean,
    largest,
    moved,
    path_bound,
    step,
    step_range,
    table_mean,
)
from cflag_theory.claims.c_flag.local_steps.points import before, earlier_points, more_points, up_to_last
from cflag_theory.claims.c_flag.vectors import TABLE, b, client, table_point, tau, x_local
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Sharp, Statement, shown
from cflag_theory.claims.engine.notation import E, L, beta, components, grad_g, j, k, unfold, x_t
from cflag_theory.claims.engine.operators import Largest
from cflag_theory.claims.engine.relation import at_most
from cflag_theory.claims.engine.steps import Induction, Obligation, Proof, Step, deduced
from cflag_theory.claims.engine.terms import norm

_QUARTER, _TWELFTH = sp.Rational(1, 4), sp.Rational(1, 12)
_EMPTY = "At k = 0 the maximum runs over no b; it is read as 0, and the error there is 0."


def lemma12(constant: Any = 3) -> Claim:
    """Lemma 12 with the printed constant of the maximum, or another one in its place."""
    u = beta * L * E
    each = beta * (grad_g + L * before(k))
    here = x_local(client, k)
    after, hypothesis = x_local(client, k + 1), "spread (hypothesis)"

    def spread(index: sp.Expr) -> sp.Expr:
        return Largest(b, k, norm(x_local(client, index) - x_local(client, b)))

    next_bound = (k + 1) * each.xreplace({k: k + 1})
    steps: tuple[Step, ...] = (
        *difference("table", change(k), x_t, table_mean(k)),
        *filled(),
        step("one step", sp.S.Zero),
        Induction(
            "spread",
            k,
            at_most(spread(k), k * each),
            base=Obligation("no step yet", at_most(0, 0), ()),
            step=(
                *up_to_last(),
                *more_points(),
                rules.member("older point", spread(k), b, given="b"),
                rules.triangle("through x_k", after - x_local(client, b), after - here, here - x_local(client, b)),
                Obligation(
                    "older than k + 1",
                    at_most(norm(after - x_local(client, b)), next_bound),
                    (
                        *("older point", "through x_k", "one step", "table", "table points"),
                        *("points so far", "more points", hypothesis),
                    ),
                ),
                rules.maximum_of_bounds("older points", spread(k + 1), given="older than k + 1"),
                Obligation("x_{k+1} itself", at_most(0, next_bound), ()),
                rules.maximum("spread at k + 1", spread(k + 1), given=("older points", "x_{k+1} itself")),
            ),
        ),
        rules.member("gap of an entry", spread(k), tau(client, k, j), given=TABLE),
        rules.mean("gaps", components, given="gap of an entry"),
        *difference("(94)", error(k), here, gap_mean(k)),
    )
    goal = at_most(error(k), u * grad_g + constant * beta * L**2 * E * before(k))
    follows = Obligation("the statement follows", goal, ("(94)", "gaps", "spread", "k"))
    tight = at_most(error(k), k * L * each)
    in_k = Obligation("the statement follows", tight, ("(94)", "gaps", "spread"))
    printed = Statement(
        f"||e_{{t,k}}^i|| <= beta L E ||grad g(x_t)|| + {constant} beta L^2 E max_{{b<=k-1}} ||x_{{t,b}}^i - x_t|| for "
        "k = 0, ..., E - 1 and every step size.",
        goal,
        (STEPS,),
        Proof((*steps, follows)),
        (UP_TO_K,),
    )
    sharp = Statement(
        "||e_{t,k}^i|| <= beta L k (||grad g(x_t)|| + L max_{b<=k-1} ||x_{t,b}^i - x_t||).",
        tight,
        (STEPS,),
        Proof((*steps, in_k)),
        (UP_TO_K,),
    )
    words = "the constant of beta L^2 E max ||x_{t,b}^i - x_t||, with k in place of E in both terms"
    return Claim(
        "cflag.lemma12",
        "Lemma 12, (91)",
        "Error of the delayed gradient by the drift so far",
        (Part("1", printed, sharp=Sharp(words, sp.sympify(constant), sp.S.One, sharp, ((k, E),))),),
        (
            _EMPTY,
            "No step size is assumed and none is needed; the components must be L-smooth.",
            "(100) adds e_{t,l}^i to the delayed gradient, which contains it already; (101) is right again.",
            "The 3 comes from bounding ||e_{t,l}|| by the triangle inequality through grad g_i(x_{t,l}), which is not "
            "needed: a local step moves by the table, not by grad g_i(x_{t,l}).",
            "Left over right of the sharper bound tends to 1 as beta L E tends to 0, for many concave components of"
            " which one is refreshed again and again. The term of the maximum vanishes there, so this does not make"
            " 1 its best constant: for beta L k <= 1 it may be 0, since ||e_{t,k}|| <= beta L k ||grad g(x_t)|| "
            "(cflag.cor14); for every step size it cannot be below 1/8, since two components -(L/2) x^2 - G x, one "
            "of them refreshed at k = 1 and 2, need 1/8 - 1/(2 beta L) at k = 2.",
            "For n components and a given order the largest error that is possible is that of ours.worst_iag_error: "
            "`cflag sharp lemma12`.",
        ),
    )


def eq105(constant: Any = 2) -> Claim:
    """(105), and line (103) of its derivation as it is printed."""

    here = x_local(client, k)
    split = (
        rules.triangle("entry by x_t", table_point(k) - here, table_point(k) - x_t, x_t - here),
        rules.mean("(103)", components, given="entry by x_t"),
    )
    goal = at_most(error(k), constant * L * largest(k))
    first = shown(
        f"||e_{{t,l}}^i|| <= {constant} L max_{{b<=l}} ||x_{{t,b}}^i - x_t||, that is (102) <= (105).",
        goal,
        *difference("(102)", error(k), here, gap_mean(k)),
        *split,
        *filled(),
        rules.member("the last point", unfold(largest(k)), k),
        given=("(102)", "(103)", "table points", "the last point"),
        under=(STEPS,),
    )
    mended = at_most(L * gap_mean(k), L * (table_mean(k) + drift(k)))
    repaired = shown(
        "(102) <= (103) with ||x_{t,tau} - x_t|| + ||x_{t,l} - x_t|| in the brackets.",
        mended,
        *split,
        given=("(103)",),
        under=(STEPS,),
    )
    second = Statement(
        "(102) <= (103) as printed, with ||x_{t,tau} - x_t|| twice in the brackets.",
        at_most(L * gap_mean(k), L * (table_mean(k) + table_mean(k))),
        (STEPS,),
    )
    repair = Repair("typo", "the second norm in (103) and (104) is ||x_{t,l}^i - x_t||", repaired)
    return Claim(
        "cflag.eq105",
        "(102)-(105)",
        "Error of the delayed gradient by twice the drift",
        (Part("1", first), Part("2", second, repair)),
        (
            "(95) and (102) write x_{k,j}^i, which is not defined; it is read as x_{t,l}^i, the point of the step.",
            "The constant 2 of (105) cannot be lowered: n convex components L x^2/2 - G x with beta L = 2/K, of which "
            "the first is refreshed K times, then every other once, then the last 2 K times, come as near to 2 as one "
            "likes when n and K/n grow. The path walks from -D to D while the table keeps the slopes of -D.",
        ),
    )


def eq117(constant: Any = 2) -> Claim:
    """(117) with the printed constant of beta ||grad g||, or another one in its place."""
    bound = (1 + beta * L) * drift(k) + beta * L * before(k)
    steps: tuple[Step, ...] = (
        step("one step", moved(k)),
        *difference("table", change(k), x_t, table_mean(k)),
        *filled(),
        Induction(
            "all points",
            k,
            at_most(largest(k), drift(k) + before(k)),
            base=Obligation("one point", at_most(drift(0), drift(0) + before(0)), ()),
            step=(
                *up_to_last(),
                Obligation("the earlier points", at_most(largest(k), drift(k + 1) + before(k + 1)), ("points so far",)),
                Obligation("the last point", at_most(drift(k + 1), drift(k + 1) + before(k + 1)), ()),
                rules.maximum("points to k + 1", unfold(largest(k)), given=("the earlier points", "the last point")),
            ),
        ),
    )

    def proof(value: sp.Expr) -> Proof:
        goal = at_most(drift(k + 1), bound + value * beta * grad_g)
        given = ("one step", "table", "table points", "all points")
        return deduced(goal, *steps, given=given)

    printed = Statement(
        f"||x_{{t,k+1}} - x_t|| <= (1 + beta L) ||x_{{t,k}} - x_t|| + {constant} beta ||grad g(x_t)|| + beta L "
        "max_{b<=k-1} ||x_{t,b} - x_t|| for beta <= 1/(4 L E).",
        at_most(drift(k + 1), bound + constant * beta * grad_g),
        (step_range(_QUARTER), STEPS),
        proof(constant),
        (UP_TO_K,),
    )
    sharp = Statement(
        "The same with beta ||grad g(x_t)||, for every step size.",
        at_most(drift(k + 1), bound + beta * grad_g),
        (STEPS,),
        proof(sp.S.One),
        (UP_TO_K,),
    )
    words = "the constant of beta ||grad g(x_t)||"
    return Claim(
        "cflag.eq117",
        "(111)-(117)",
        "One step of the drift recursion",
        (Part("1", printed, sharp=Sharp(words, sp.sympify(constant), sp.S.One, sharp)),),
        (
            _EMPTY,
            "At k = 0 the first step is -beta grad g(x_t) and the sharper bound is attained.",
            "Step (b) is right: beta^2 L E <= beta/4 and 3 beta^2 L^2 E <= 3 beta L/4.",
        ),
    )


def eq126() -> Claim:
    """(124)-(126): the induction hypothesis put into (123), and the constants collected."""
    l_th = beta * k * grad_g
    first_line = 4 * l_th + 2 * beta * grad_g + beta * L * (4 * l_th + 4 * l_th)
    second_line = (4 * beta * k + 2 * beta + 2 * beta * (4 * beta * L * E)) * grad_g
    at_l = Fact("(121)", at_most(drift(k), 4 * l_th), "The induction hypothesis (121) at l.")
    hypotheses = (step_range(_QUARTER), STEPS)
    put_in = at_most(drift(k) + 2 * beta * grad_g + beta * L * (drift(k) + before(k)), first_line)
    first = shown(
        "Step (a), (123) <= (124): drift(l) and max_{b<=l-1} drift(b) are at most 4 beta l ||grad g(x_t)||.",
        put_in,
        *path_bound("all points up to l", sp.Integer(4), _QUARTER),
        *earlier_points(),
        given=("(121)", "earlier points", "all points up to l"),
        under=(*hypotheses, at_l),
        where=(UP_TO_K,),
    )
    collected = at_most(first_line, second_line)
    second = shown("Step (b), (124) <= (125).", collected, given=("k",), under=(STEPS,))
    closed = at_most(second_line, 4 * beta * (k + 1) * grad_g)
    third = shown(
        "Step (c), (125) <= (126) = 4 beta (l + 1) ||grad g(x_t)||.", closed, given=("beta",), under=hypotheses
    )
    return Claim(
        "cflag.eq126",
        "(123)-(126)",
        "Induction step of Lemma 13",
        (Part("1", first), Part("2", second), Part("3", third)),
        (
            "The paper assumes (121) at l alone, while step (a) needs it at every b <= l: the induction is a strong "
            "one. (123) <= (124) is true along the algorithm nevertheless, by the growth of the drift, so nothing "
            "printed is false.",
            "4 is the smallest constant for which this recursion closes up to beta = 1/(4 L E): with c in its place "
            "step (c) needs 2 + 2 c u <= c, that is c >= 2/(1 - 2u).",
        ),
    )


def eq129(constant: Any = 4) -> Claim:
    """The two inequalities of line (129)."""
    u = beta * L * E
    hypotheses = (step_range(_TWELFTH), STEPS)

    weight = 3 * beta * L**2 * E

    def first_statement(value: sp.Expr, count: sp.Expr, words: str) -> Statement:
        goal = at_most(u * grad_g + weight * before(k), u * grad_g + weight * (value * beta * count * grad_g))
        given: tuple[str, ...] = ("earlier points", "all points up to k")
        if count != k:
            given += ("k",)
        return shown(
            words,
            goal,
            *path_bound("all points up to k", value, _TWELFTH),
            *earlier_points(),
            given=given,
            under=hypotheses,
            where=(UP_TO_K,),
        )

    best = 12 * (sp.exp(_TWELFTH) - 1)
    first = first_statement(
        sp.sympify(constant),
        E,
        f"Step (a): the maximum in (128) is at most {constant} beta E ||grad g(x_t)||, for beta <= 1/(12 L E).",
    )
    sharp = first_statement(best, k, "The maximum is at most 12 (exp(1/12) - 1) beta k ||grad g(x_t)||.")
    left = u * grad_g + 3 * beta * L**2 * E * (4 * beta * E * grad_g)
    second = Statement(
        "The second inequality, with ||grad g(x_t)|| inside and outside the bracket: ... <= (beta L E ||grad g(x_t)|| "
        "+ 12 beta^2 L^2 E^2) ||grad g(x_t)||.",
        at_most(left, (u * grad_g + 12 * beta**2 * L**2 * E**2) * grad_g),
        hypotheses,
    )
    mended = at_most(left, (u + 12 * beta**2 * L**2 * E**2) * grad_g)
    repaired = shown("... <= (beta L E + 12 beta^2 L^2 E^2) ||grad g(x_t)||, with equality.", mended, under=hypotheses)
    repair = Repair("typo", "drop ||grad g(x_t)|| inside the bracket", repaired)
    words = "the constant of beta E ||grad g(x_t)|| that bounds the maximum, with k in place of E"
    return Claim(
        "cflag.eq129",
        "(128)-(129)",
        "The line that combines Lemmas 12 and 13",
        (
            Part("1", first, sharp=Sharp(words, sp.sympify(constant), best, sharp, ((k, E),))),
            Part("2", second, repair),
        ),
        (
            "Step (a) cites Lemma 3; it is Lemma 13 that bounds the drift.",
            "As printed the second inequality fails whenever 0 < ||grad g(x_t)|| < 1: it compares a gradient with the "
            "square of one.",
        ),
    )


CLAIMS = {
    "cflag.lemma12": lemma12,
    "cflag.eq105": eq105,
    "cflag.eq117": eq117,
    "cflag.eq126": eq126,
    "cflag.eq129": eq129,
}
