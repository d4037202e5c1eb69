"""Sums over local steps: Lemmas 15 and 16.

Both lemmas are stated without a step size and proved with one. The sums themselves are exact for every step size:
summing the growth of the drift gives ||grad g(x_t)|| ((1 + beta L)^E - 1) / (beta L).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.local_steps.delayed import error_by_table
from cflag_theory.claims.c_flag.local_steps.drift import (
    MAJORANTS,
    change,
    difference,
    drift,
    error,
    filled,
    growth,
    largest,
    step_range,
    table,
    table_mean,
)
from cflag_theory.claims.c_flag.vectors import (
    ROUND_SUM,
    client,
    delayed,
    ell,
    errors,
    grad_client,
    rho,
    x_local,
)
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Sharp, Statement
from cflag_theory.claims.engine.notation import (
    E,
    L,
    beta,
    clients,
    delayed_sum,
    grad_current,
    grad_g,
    i,
    k,
    symbol,
    unfold,
    x_t,
)
from cflag_theory.claims.engine.operators import sum_over
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Instance, Obligation, Proof, Step, Use, by_induction, deduced
from cflag_theory.claims.engine.terms import norm

rho_sum = symbol("rho_sum", r"{\|\sum_k\bar\rho_{t,k}\|}", norm(rho))
error_sum = symbol("error_sum", r"{\|\sum_k\bar e_{t,k}\|}", norm(errors))
norm_S = symbol("norm_S", r"{\|S\|}", norm(delayed_sum))

QUARTER, TWELFTH = sp.Rational(1, 4), sp.Rational(1, 12)
u = beta * L * E
SUMMED = Fact("l", at_most(ell + 1, E), "l stands for any of 0, ..., E - 1.")
#: What the bounds on sums of errors define.
ERROR_FACTS = (*MAJORANTS, SUMMED)


def over_round(given: str, v: sp.Expr, name: str) -> tuple[Use, ...]:
    """Steps from ||v|| <= bound, shown for any client at l, to the norm of v's sum over a round, the last `name`.

    v is a vector in `client` and k. "sum of bounds" has the sum over l of the mean over clients of the bounds.
    """
    v = v.xreplace({k: ell}).xreplace({client: i})
    whole = sum_over(ell, E)
    return (
        rules.at("at l and i", client, i, given=given),
        rules.mean("over clients", clients, given="at l and i"),
        rules.mean("sum of bounds", whole, given="over clients"),
        rules.norm_of_mean("norm over clients", clients, v),
        rules.mean("sum of norms", whole, given="norm over clients"),
        rules.norm_of_mean(name, whole, clients(v)),
    )


SUM = ("sum of bounds", "sum of norms")


def plain_change() -> tuple[Use | Obligation, ...]:
    """Steps to "change": ||grad g_i(x_{t,k}) - grad g_i(x_t)|| <= L drift(k)."""
    return difference(
        "change", norm(grad_client(x_local(client, k)) - grad_client(x_t)), x_t, drift(k), x_local(client, k)
    )


def split(whole: sp.Expr) -> Use:
    """(135): the sum of E gradients is E grad g(x_t) and the sum of their changes."""
    if whole == norm_S:
        return rules.triangle("(135)", delayed_sum, rho + errors - E * grad_current, E * grad_current, given=ROUND_SUM)
    return rules.triangle("(135)", rho, rho - E * grad_current, E * grad_current)


def _geometric() -> tuple[Step, ...]:
    """The sum of (1 + beta L)^l over l < E, as "geometric"."""
    power = (1 + beta * L) ** ell

    def closed(count: sp.Expr) -> Relation:
        return equal(sum_over(ell, count)(power), ((1 + beta * L) ** count - 1) / (beta * L))

    return (
        by_induction(
            "powers", k, closed(k), rules.last_term("one more power", ell, k, power), given=("one more power",)
        ),
        Instance("geometric", "powers", k, E),
    )


def exact_sum(name: str, whole: sp.Expr) -> tuple[Step, ...]:
    """Steps to whole <= ||grad g|| ((1 + beta L)^E - 1) / (beta L), for rho_sum or norm_S."""
    at_table = whole == norm_S
    v = (delayed(k) if at_table else grad_client(x_local(client, k))) - grad_client(x_t)
    below = (
        (*difference("change", change(k), x_t, table_mean(k)), *filled())
        if at_table
        else (*plain_change(), rules.member("table points", unfold(largest(k)), k))
    )
    return (
        growth(),
        *below,
        Obligation(
            "by the growth",
            at_most(norm(v), grad_g * ((1 + beta * L) ** k - 1)),
            ("change", "table points", "growth"),
        ),
        rules.at("at l", k, ell, given="by the growth"),
        *over_round("at l", v, "sum of changes"),
        *_geometric(),
        split(whole),
        Obligation(
            name,
            at_most(whole, grad_g * ((1 + beta * L) ** E - 1) / (beta * L)),
            ("(135)", "sum of changes", *SUM, "geometric"),
        ),
    )


def _by_exp(name: str, goal: Relation, bound: Use, attained: bool) -> tuple[Step, ...]:
    """Steps to the goal from the exact sum, for beta L E <= 1/4, and from exp(1/4) <= 9/7 if it leaves room for it."""
    given = ("exact sum", "power", bound.name)
    return (
        *exact_sum("exact sum", rho_sum),
        Obligation("range", at_most(u, QUARTER), ("beta",)),
        rules.tangent_of_exp("power", beta * L, E),
        bound,
        *(() if attained else (rules.exp_quarter("exp"),)),
        Obligation(name, goal, given if attained else (*given, "exp")),
    )


def rho_bound(name: str, constant: sp.Expr) -> tuple[Step, ...]:
    """Steps to (131), ||sum rho|| <= constant * beta L E^2 ||grad g|| + E ||grad g||, for beta L E <= 1/4.

    The constant is 16 exp(1/4) - 20, or one that exp(1/4) <= 9/7 shows to be larger.
    """
    goal = at_most(rho_sum, constant * L * beta * E**2 * grad_g + E * grad_g)
    parabola = rules.parabola_over_exp("parabola", given="range")
    return _by_exp(name, goal, parabola, constant == 16 * sp.exp(QUARTER) - 20)


def rho_linear(name: str, constant: sp.Expr) -> tuple[Step, ...]:
    """Steps to ||sum rho|| <= constant * E ||grad g||, for beta L E <= 1/4.

    The constant is 4 (exp(1/4) - 1), or 8/7, which exp(1/4) <= 9/7 shows to be larger.
    """
    goal = at_most(rho_sum, constant * E * grad_g)
    return _by_exp(name, goal, rules.chord_of_exp("chord", given="range"), constant == 4 * (sp.exp(QUARTER) - 1))


def error_total(name: str, goal: Relation) -> tuple[Step, ...]:
    """Steps to a goal that ||sum e|| <= (1/2) beta L E (E - 1) ||grad g|| implies, for beta L E <= 1."""
    late = error(ell)
    at_l = at_most(late, beta * L * ell * grad_g)
    by_table = at_most(error(k), L * (beta * k * (grad_g + L * table(k)) - table(k)))

    def closed(count: sp.Expr) -> Relation:
        return equal(sum_over(ell, count)(ell), count * (count - 1) / 2)

    return (
        *error_by_table(),
        Obligation("error by the table", by_table, ("(94)", "path by the table")),
        rules.at("error at l", k, ell, given="error by the table"),
        Obligation("range", at_most(beta * L * ell, 1), ("beta", "l")),
        Obligation("in terms of l", at_l, ("error at l", "range")),
        *over_round("in terms of l", delayed(k) - grad_client(x_local(client, k)), "(147)"),
        by_induction(
            "triangular", k, closed(k), rules.last_term("one more summand", ell, k, ell), given=("one more summand",)
        ),
        Instance("sum of l", "triangular", k, E),
        Obligation(name, goal, ("(147)", *SUM, "sum of l")),
    )


def lemma15_1(constant: Any = 4) -> Claim:
    """Lemma 15 (I) with the printed constant, or another one in its place."""
    best = 16 * sp.exp(QUARTER) - 20

    def statement(value: sp.Expr, words: str) -> Statement:
        steps = rho_bound("the statement follows", value)
        goal = at_most(rho_sum, value * L * beta * E**2 * grad_g + E * grad_g)
        return Statement(words, goal, (step_range(QUARTER),), Proof(steps))

    words = f"||sum_k rho_k|| <= {constant} L beta E^2 ||grad g(x_t)|| + E ||grad g(x_t)||"
    mended = statement(sp.sympify(constant), f"{words} for beta <= 1/(4 L E).")
    sharp = statement(best, "The same with 16 exp(1/4) - 20 = 0.544... in place of 4.")
    assert mended.relation is not None
    printed = Statement(f"{words}, under Assumption 1 alone.", mended.relation)
    return Claim(
        "cflag.lemma15_1",
        "Lemma 15 (I), (131)",
        "Sum of the clients' gradients over local steps",
        (
            Part(
                "1",
                printed,
                Repair("needs-hypothesis", "beta <= 1/(4 L E), the range of Lemma 13, which step (d) uses", mended),
                Sharp("the constant of L beta E^2 ||grad g(x_t)||", sp.sympify(constant), best, sharp),
            ),
        ),
        (
            "For every step size the exact worst case is ||grad g(x_t)|| ((1 + beta L)^E - 1) / (beta L), attained by "
            "one client with the one component -(L/2) x^2 + G x: see ours.local_sums. It grows like (beta L)^{E-1}, so "
            "no bound that is linear in beta can hold without a range.",
            "For n components it is that of ours.worst_sums with the components in turn; the printed bound is true up "
            "to beta L E = 4.4299... for every n and E: `cflag sharp lemma15_1`.",
        ),
    )


def lemma15_2(first: Any = 32, second: Any = 2) -> Claim:
    """Lemma 15 (II) with the printed constants, or others in their place."""
    best = 4 * (sp.exp(QUARTER) - 1)
    goal = at_most(rho_sum**2, first * beta**2 * L**2 * E**4 * grad_g**2 + second * E**2 * grad_g**2)
    enough = sp.Rational(8, 7)

    def squared(relation: Relation, constant: sp.Expr) -> Proof:
        return deduced(relation, *rho_linear("(131)", constant), given=("(131)",))

    hypotheses = (step_range(QUARTER),)
    words = f"||sum_k rho_k||^2 <= {first} beta^2 L^2 E^4 ||grad g(x_t)||^2 + {second} E^2 ||grad g(x_t)||^2"
    mended = Statement(f"{words} for beta <= 1/(4 L E).", goal, hypotheses, squared(goal, enough))
    tight = at_most(rho_sum**2, best**2 * E**2 * grad_g**2)
    sharp = Statement(
        "||sum_k rho_k||^2 <= 16 (exp(1/4) - 1)^2 E^2 ||grad g(x_t)||^2, in the same range.",
        tight,
        hypotheses,
        squared(tight, best),
    )
    at_end = sp.sympify(first) / 16 + second
    return Claim(
        "cflag.lemma15_2",
        "Lemma 15 (II), (132), (145)",
        "Squared sum of the clients' gradients over local steps",
        (
            Part(
                "1",
                Statement(f"{words}, under Assumption 1 alone.", goal),
                Repair("needs-hypothesis", "beta <= 1/(4 L E), the range of Lemma 13, which step (d) uses", mended),
                Sharp(
                    "the right side over E^2 ||grad g(x_t)||^2 at beta = 1/(4 L E); a constant replaces both terms",
                    at_end,
                    best**2,
                    sharp,
                    ((beta, 1 / (4 * L * E)),),
                ),
            ),
        ),
        (
            "16 (exp(1/4) - 1)^2 = 1.2908...: the term 32 beta^2 L^2 E^4 is not needed at all, and 2 E^2 is enough.",
            "For n components the exact worst case is that of ours.worst_sums with the components in turn; the printed "
            "bound is true up to beta L E = 4.9334... for every n and E: `cflag sharp lemma15_2`.",
        ),
    )


def lemma16(constant: Any = 2) -> Claim:
    """Lemma 16 with the printed constant, or another one in its place."""
    half = sp.Rational(1, 2)

    def statement(value: sp.Expr, words: str) -> Statement:
        goal = at_most(error_sum, value * beta * L * E**2 * grad_g)
        proof = Proof(error_total("the statement follows", goal))
        return Statement(words, goal, (step_range(TWELFTH),), proof, ERROR_FACTS)

    words = f"||sum_k e_k|| <= {constant} beta L E^2 ||grad g(x_t)||"
    mended = statement(sp.sympify(constant), f"{words} for beta <= 1/(12 L E).")
    assert mended.relation is not None
    sharp = statement(half, "||sum_k e_k|| <= (1/2) beta L E^2 ||grad g(x_t)||, in the same range.")
    return Claim(
        "cflag.lemma16",
        "Lemma 16, (146)",
        "Sum of the delayed gradients' errors over local steps",
        (
            Part(
                "1",
                Statement(f"{words}, with no condition on beta.", mended.relation),
                Repair("needs-hypothesis", "beta <= 1/(12 L E), the range of Corollary 14, which is used", mended),
                Sharp("the constant of beta L E^2 ||grad g(x_t)||", sp.sympify(constant), half, sharp),
            ),
        ),
        (
            "The proof gives (1/2) beta L E (E - 1) ||grad g(x_t)|| up to beta = 1/(L E): see ours.local_sums.",
            "For n components the exact worst case is that of ours.worst_sums; up to beta L E = 1 it is (n - 1) sum_k "
            "((1 + beta L / n)^k - 1) ||grad g(x_t)|| (ours.worst_order). The printed bound is true up to beta L E = "
            "5.3566..., by an argument that is not one of the ledger's proofs (ours.worst_sums): `cflag sharp "
            "lemma16`.",
        ),
    )


CLAIMS = {"cflag.lemma15_1": lemma15_1, "cflag.lemma15_2": lemma15_2, "cflag.lemma16": lemma16}
