"""What we prove about the weights of Theorem 4.9: a closed form, the optimum without negative weights, and Q's size."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.symbols import D2, R2
from cflag_theory.claims.cfl.symbols import correlation as alpha
from cflag_theory.claims.cfl.weights.correlated import (
    D_POSITIVE,
    FORM,
    NONZERO,
    QUADRATIC,
    RANGE,
    VECTOR,
    ZERO_SUM,
    between,
    delta,
    further,
    least_eigenvalue,
    multiplier,
    norm2,
    optimality,
    other,
    sum_x,
    value,
)
from cflag_theory.claims.engine.algebra import residual
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement, shown
from cflag_theory.claims.engine.notation import k, sequence, symbol
from cflag_theory.claims.engine.relation import Relation, at_most, below, equal
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Proof, Step

#: t - 2.
m = further + 1
own = D2 * delta * (1 + alpha)
# The closed form, times its denominator: p_1, each of p_2, ..., p_{t-2}, p_{t-1} and p_t.
FIRST = own + alpha * R2
MIDDLE = delta * FIRST
LAST_PAST = delta * own - alpha * R2 * (alpha + m * delta)
CURRENT = own + R2 * (1 + alpha + m * delta)
DENOMINATOR = own * (2 + m * delta) + R2 * (1 + alpha + m * delta)
PAST_SUM = FIRST * (1 + (m - 1) * delta) + LAST_PAST
#: Row tau < t of Q p, times the denominator.
LEVEL = D2 * (1 + alpha) * FIRST + R2 * PAST_SUM

j = symbol("j", "j", nonnegative=True, integer=True)
# sum over earlier and later rounds of alpha^distance p, times the denominator.
before = sequence("met_before", r"\sum_{j<@+2}\alpha^{@+2-j}Zp_j", real=True)
after = sequence("met_after", r"\sum_{j>t-2-@}\alpha^{j-t+2+@}Zp_j", real=True)
_SUMS = (
    RANGE,
    Fact("before at 0", equal(before(0), alpha * FIRST), "Round 2 has round 1 before it."),
    Fact("before", equal(before(k + 1), alpha * (before(k) + MIDDLE)), "One more round, of the middle ones, before."),
    Fact("after at 0", equal(after(0), alpha * (LAST_PAST + alpha * CURRENT)), "Round t-2 has two rounds after it."),
    Fact("after", equal(after(k + 1), alpha * (MIDDLE + after(k))), "One more round, of the middle ones, after."),
)


def _constant(name: str, sums: Any) -> Induction:
    """sums(k) = alpha Z p_1 for every k; `start` is what Z p_1 alpha exceeds sums(0) by."""
    relation = equal(sums(k), alpha * FIRST)
    held = f"{name}s (hypothesis)"
    base = Obligation(f"{name}: first", relation.subs({k: 0}), ("alpha", f"{name} at 0"))
    step = Obligation(f"{name}: next", relation.subs({k: k + 1}), ("alpha", name, held))
    return Induction(f"{name}s", k, relation, base, (step,))


def reduced(expression: sp.Expr, facts: tuple[Fact, ...], leading: tuple[sp.Symbol, ...]) -> sp.Expr:
    """An expression that vanishes where the equations of `facts` hold, written with their residuals.

    `leading` are the symbols to be eliminated, first to last.

    Raises
    ------
    ValueError
        If a remainder is left, so that the expression need not vanish.
    """
    expression = sp.expand(expression)
    if expression == 0:
        return sp.S.Zero
    others = sorted((expression.free_symbols | {*leading}) - {*leading}, key=str)
    equations = [-fact.relation.slack for fact in facts]
    quotients, rest = sp.reduced(expression, equations, *leading, *others, order="lex")
    if rest != 0:
        raise ValueError(f"{expression} leaves {rest}: it is no consequence of {', '.join(f.name for f in facts)}")
    return sp.Add(*(q * residual(fact.name) for q, fact in zip(quotients, facts, strict=True)))


def _row(key: str, words: str, sums: sp.Expr, uses: tuple[str, ...], current: bool, tail: tuple[Step, ...]) -> Part:
    """One row of Q p = -lambda: D^2 sums, and R^2 times the past weights except in the row of round t."""
    relation = equal(D2 * sums + (0 if current else R2 * PAST_SUM), LEVEL)
    follows = Obligation("the statement follows", relation, ("alpha", *uses))
    statement = Statement(f"{words}, times Z.", relation, proof=Proof((*tail, follows)), definitions=_SUMS)
    return Part(key, statement)


def correlated_weights() -> Claim:
    """The solution of (7)."""
    befores = _constant("before", before)
    afters = _constant("after", after)
    at_j = Instance("after j", "afters", k, j)
    total = equal(PAST_SUM + CURRENT, DENOMINATOR)
    sums = Obligation("the statement follows", total, ("alpha",))
    return Claim(
        "ours.cfl_correlated_weights",
        "Theorem 4.9 in closed form, t >= 3",
        "The solution of (7) for every t, and when p_{t-1} is negative",
        (
            Part("1", Statement("The weights sum to one, times Z.", total, proof=Proof((sums,)), definitions=(RANGE,))),
            _row("2", "Row 1 of Q p = -lambda", FIRST + after(k), ("afters",), False, (afters,)),
            _row(
                "3",
                "Row k + 2 = t - 2 - j of Q p = -lambda",
                before(k) + MIDDLE + after(j),
                ("befores", "after j"),
                False,
                (befores, afters, at_j),
            ),
            _row(
                "4",
                "Row t - 1 of Q p = -lambda",
                before(k) + LAST_PAST + alpha * CURRENT,
                ("befores",),
                False,
                (befores,),
            ),
            _row(
                "5",
                "Row t of Q p = -lambda",
                alpha * (before(k) + LAST_PAST) + CURRENT,
                ("befores",),
                True,
                (befores,),
            ),
        ),
        (
            "With u = D^2 (1-alpha^2) and e = u + alpha R^2: Z p_1 = e, Z p_tau = (1-alpha) e for 1 < tau < t-1, Z "
            "p_{t-1} = (1-alpha) u - alpha R^2 (alpha + (t-2)(1-alpha)), Z p_t = u + R^2 (1 + alpha + (t-2)(1-alpha)), "
            "Z = u (2 + (t-2)(1-alpha)) + R^2 (1 + alpha + (t-2)(1-alpha)). For t = 2: p_1 = D^2 (1-alpha) / (2 D^2 "
            "(1-alpha) + R^2), p_2 = 1 - p_1.",
            "For t >= 3 and D > 0 all are positive but p_{t-1}, which is negative exactly where alpha R^2 (alpha + "
            "(t-2)(1-alpha)) > (1-alpha)^2 (1+alpha) D^2: for any alpha > 0 and R > 0 once t is large enough.",
            "For t >= 3 p_1 grows with alpha: as alpha tends to 1 and R > 0, it tends to 1/2, p_{t-1} to -1/2 and p_t "
            "to 1.",
        ),
    )


# Support 1, ..., k and t: beta = alpha^{t-k}, next = alpha^{t-k-1}; a dropped round j has near = alpha^{j-k} and
# far = alpha^{t-j}.
beta = symbol("gap_power", r"\beta", nonnegative=True)
gamma = symbol("one_less_beta", r"(1-\beta)", nonnegative=True)
next_power = symbol("next_power", r"\beta'", nonnegative=True)
near = symbol("near_power", r"\alpha^{j-k}", nonnegative=True)
far = symbol("far_power", r"\alpha^{t-j}", nonnegative=True)
kept = symbol("kept_middle", "(k-2)", nonnegative=True, integer=True)
# Two or more past rounds are kept: the weights of rounds 1, t and k, up to a factor.
LONG_FIRST = D2 * gamma * (1 + beta) + R2 * beta
LONG_CURRENT = D2 * (1 + alpha) * gamma + R2 * (2 + kept * delta)
LONG_LAST = D2 * gamma * (1 - alpha * beta) - beta * R2 * (1 + kept * delta)
# Round 1 alone is kept: the weights of rounds 1 and t.
ONE_FIRST = D2 * gamma
ONE_CURRENT = D2 * gamma + R2
gain = symbol("dropped_gain", r"\sum_{k<j<t}p'_j((Q p)_j+\lambda)", nonnegative=True)

_POWERS = (
    RANGE,
    Fact("1 - beta", equal(beta + gamma, 1), "beta = alpha^{t-k} is at most 1."),
    Fact("beta", equal(beta, alpha * next_power), "alpha^{t-k} = alpha alpha^{t-k-1}."),
    Fact("powers", equal(near * far, beta), "alpha^{t-k} = alpha^{j-k} alpha^{t-j}."),
    Fact("near", at_most(near, 1), "alpha < 1."),
    Fact("far", at_most(next_power, far), "j >= k + 1."),
)


def _dropped(key: str, words: str, first: sp.Expr, seen: sp.Expr, current: sp.Expr, rounds: Any) -> Part:
    """Row j of K p is at least `first` at a dropped round, where the condition fails for k + 1."""
    fails = Fact(
        "k + 1",
        at_most(D2 * (1 - next_power) * gamma, next_power * R2 * rounds),
        "Round k + 1 would get no positive weight.",
    )
    goal = at_most(first, near * seen + far * current)
    follows = Obligation("the statement follows", goal, ("near", "far", "k + 1", "alpha", "1 - beta", "beta", "powers"))
    return Part(key, Statement(words, goal, (fails,), Proof((follows,)), _POWERS))


def _kept(key: str, words: str, relation: Relation) -> Part:
    uses = _POWERS[:2]
    follows = Obligation("the statement follows", relation, tuple(fact.name for fact in uses))
    return Part(key, Statement(words, relation, proof=Proof((follows,)), definitions=uses))


def nonnegative_weights() -> Claim:
    """The optimum of Theorem 4.9 among weights that are not negative."""
    past_rounds = LONG_FIRST * (1 + kept * delta) + LONG_LAST
    level = (1 + alpha) * LONG_FIRST
    met = alpha * LONG_FIRST + LONG_LAST
    more = Statement(
        "For any p' >= 0 that sums to one, p'^T Q p' > p^T Q p: the rows of kept rounds are equal to -lambda, those of "
        "dropped rounds are not below.",
        below(value, other),
        (NONZERO, D_POSITIVE),
        optimality(gain, ()),
        (
            Fact(
                "system",
                equal(between, -multiplier * sum_x + gain),
                "(Q p)_tau = -lambda at kept rounds, and p'_tau = x_tau at dropped ones; each row times x_tau.",
            ),
            FORM,
            ZERO_SUM,
            *VECTOR,
        ),
    )
    dropped = "{}: a dropped round j has a row of K p that is not below that of the kept rounds (K_ij = alpha^|i-j|)."
    return Claim(
        "ours.cfl_nonnegative_weights",
        "Theorem 4.9 with p >= 0",
        "The optimal weights among those that are not negative",
        (
            _kept(
                "1",
                "k >= 2: the rows of round t and of rounds 1, ..., k of Q p agree.",
                equal(D2 * (LONG_CURRENT + beta * met), D2 * level + R2 * past_rounds),
            ),
            _dropped(
                "2",
                dropped.format("k >= 2"),
                level,
                met,
                LONG_CURRENT,
                1 + (kept + 1) * delta,
            ),
            _kept(
                "3",
                "k = 1: the rows of rounds 1 and t of Q p agree.",
                equal(
                    D2 * (ONE_CURRENT + beta * ONE_FIRST),
                    D2 * (ONE_FIRST + beta * ONE_CURRENT) + R2 * ONE_FIRST,
                ),
            ),
            _dropped(
                "4",
                dropped.format("k = 1"),
                ONE_FIRST + beta * ONE_CURRENT,
                ONE_FIRST,
                ONE_CURRENT,
                sp.S.One,
            ),
            Part("5", more),
        ),
        (
            "k is the largest number from 2 to t-1 with (1-beta)(1 - alpha beta) D^2 >= beta R^2 (1 + (k-2)(1-alpha)), "
            "beta = alpha^{t-k}, and 1 if there is none (t >= 2). Then p_{k+1} = ... = p_{t-1} = 0, and up to a common "
            "factor, for k >= 2: p_1 = (1-beta^2) D^2 + beta R^2, p_tau = (1-alpha) p_1 for 1 < tau < k, p_k = "
            "(1-beta)(1 - alpha beta) D^2 - beta R^2 (1 + (k-2)(1-alpha)), p_t = (1+alpha)(1-beta) D^2 + R^2 (2 + "
            "(k-2)(1-alpha)); for k = 1: p_1 = (1-beta) D^2, p_t = p_1 + R^2.",
            "The rows of rounds 2, ..., k-1 agree as in ours.cfl_correlated_weights; row k is alpha p_1 + p_k + beta "
            "p_t = (1+alpha) p_1 by p_k = p_1 - beta p_t.",
            "These weights may be put into the bound: cfl.thm4_9, part 2. The nearest rounds are dropped first: what "
            "they share with round t makes them worth least.",
        ),
    )


def least(factor: Any = 1) -> Claim:
    """The least eigenvalue of Q, with another factor in place of 1."""
    goal = at_most(factor * D2 * delta * norm2(k), (1 + alpha) * QUADRATIC)
    statement = shown(
        "x^T Q x >= D^2 (1-alpha) / (1+alpha) ||x||^2 for every t and x.",
        goal,
        least_eigenvalue(),
        given=("least eigenvalue",),
        where=VECTOR,
    )
    return Claim(
        "ours.cfl_least_eigenvalue",
        "in place of Lemma B.9",
        "The least eigenvalue of Q, for every number of rounds",
        (Part("1", statement),),
        (
            "Best possible without t: for R = 0 and entries 1, -1, 1, ... the quotient tends to D^2 (1-alpha) / "
            "(1+alpha) as t grows.",
        ),
    )


CLAIMS = {
    "ours.cfl_correlated_weights": correlated_weights,
    "ours.cfl_nonnegative_weights": nonnegative_weights,
    "ours.cfl_least_eigenvalue": least,
}
