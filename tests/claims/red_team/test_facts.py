"""Attacks through hypotheses, definitions and names."""

from __future__ import annotations

import pytest
import sympy as sp
from attacks import Attack, answer, claims, fact, table

from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.definitions import assumptions
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.meanings import symbol
from cflag_theory.claims.engine.operators import index, sum_over
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Use
from cflag_theory.claims.engine.terms import norm, vector

k, n, j = (sp.Symbol(name, integer=True, nonnegative=True) for name in "knj")
u, v, w = sp.symbols("u v w", real=True)
p = sp.Symbol("p", nonnegative=True)
s, z = sp.Function("s", real=True), sp.Function("z", real=True)
q, r = (sp.Function(name, nonnegative=True) for name in "qr")
FALSE = at_most(1, 0)
START = fact("start", equal(s(0), 0))
NEXT = fact("next", equal(s(k + 1), s(k) + 1))


def assumed(*where, given=()):
    """The names of the definitions that count as hypotheses."""
    counted = assumptions(claims(FALSE, given=given, where=where)())
    return ", ".join(one.name for one in counted if one in where)


def restricts(name, *where, given=(), assumes):
    return Attack(name, lambda: assumed(*where, given=given), assumes)


@table(
    restricts("an inequality", fact("a", at_most(w, 0)), assumes="a"),
    restricts("a strict inequality", fact("a", below(w, 0)), assumes="a"),
    restricts("two values of one symbol", fact("a", equal(w, 0)), fact("b", equal(w, 1)), assumes="b"),
    restricts("a negative size", fact("a", equal(p, -1 - v**2)), assumes="a"),
    restricts("a size of unknown sign", fact("a", equal(p, v)), assumes="a"),
    restricts("a square that is negative", fact("a", equal(w**2, -1)), assumes="a"),
    restricts("a root of what may be negative", fact("a", equal(w**2, v)), assumes="a"),
    restricts("an inverse of what may be zero", fact("a", equal(w * p, 1)), assumes="a"),
    restricts("a number", fact("a", equal(0, 1)), assumes="a"),
    restricts("itself", fact("a", equal(w, w + 1)), assumes="a"),
    restricts("a circle", fact("a", equal(w, v + 1)), fact("b", equal(v, w)), assumes="a, b"),
    restricts("signs that hold each other up", fact("a", equal(p, u)), fact("b", equal(v**2, u)), assumes="a"),
    restricts("a member given twice", START, fact("again", equal(s(0), 1)), assumes="again"),
    restricts("a recursion given twice", NEXT, fact("again", equal(s(k + 1), 2 * s(k))), assumes="again"),
    restricts("a member inside a recursion", NEXT, fact("again", equal(s(3), 0)), assumes="again"),
    restricts("a recursion into the future", fact("a", equal(s(k), s(k + 1) + 1)), assumes="a"),
    restricts(
        "two sequences that wait for each other",
        fact("a", equal(s(k + 1), z(k + 1))),
        fact("b", equal(z(k + 1), s(k + 1) + 1)),
        assumes="a, b",
    ),
    restricts("a sequence that falls below zero", fact("a", equal(q(k + 1), q(k) - 1)), assumes="a"),
    restricts(
        "a sign from a hypothesis about itself", fact("a", equal(p, v)), given=(fact("h", at_most(0, p)),), assumes="a"
    ),
)
def test_what_restricts_is_no_definition(attack):
    assert attack.build() == attack.sentence


def test_definitions_assume_nothing():
    half = fact("half", equal(2 * w, u))
    root = fact("root", equal(p**2, v**2 + 1))
    inverse = fact("inverse", equal(u * (1 + p), 1))
    later = fact("later", equal(z(k + 1), z(k) + s(k + 1)))
    assert assumed(half, root, START, NEXT, later) == ""
    assert assumed(inverse, half) == ""
    bound = fact("range", at_most(v, 1))
    assert assumed(fact("rest", equal(p, 1 - v)), given=(bound,)) == ""


# 0 <= s(k) for every k, by an induction.
INDEXED = at_most(0, s(k))
BASE = Obligation("base", at_most(0, s(0)), ("start",), residual("start"))
FALLS = fact("falls", equal(s(k + 1), s(k) - w))


def induction(*inner):
    return Induction("P", k, INDEXED, BASE, inner)


def outrun(bound, tie):
    """q(n) <= bound + 1 for every n, though q(n) = n: the step takes q(k) for the bound, as `tie` says."""
    relation = at_most(q(k), bound + 1)
    base = Obligation("base", at_most(q(0), bound + 1), ("q(0)",), bound + 1 - residual("q(0)"))
    following = Obligation("step", at_most(q(k + 1), bound + 1), ("q", tie.name), -residual("q") + residual(tie.name))
    steps = (Induction("P", k, relation, base, (following,)), Instance("at n", "P", k, n))
    where = (fact("q(0)", equal(q(0), 0)), fact("q", equal(q(k + 1), q(k) + 1)), tie)
    return claims(at_most(q(n), bound + 1), *steps, where=where)


def rebound():
    """0 <= D(k), though D(1) = -2: from k >= 2, which an inner step of its name makes look like nothing about k."""
    D, positive = sp.Function("D", real=True), Obligation("h", at_most(0, k + 1), (), k + 1)
    hides = Induction("Z", k, at_most(0, k), Obligation("Z at 0", at_most(0, 0), (), sp.S.Zero), (positive,))
    following = Obligation("X step", at_most(2, k + j + 1), ("X (hypothesis)",), slack("X (hypothesis)") + 1)
    first = Induction("X", j, at_most(2, k + j), Obligation("X at 0", at_most(2, k), ("h",), slack("h")), (following,))
    grows = slack("Y (hypothesis)") + slack("X0") + residual("D")
    second = Induction(
        "Y",
        k,
        at_most(0, D(k)),
        Obligation("Y at 0", at_most(0, D(0)), ("D0",), residual("D0")),
        (
            Instance("X0", "X", j, sp.S.Zero),
            Obligation("Y step", at_most(0, D(k + 1)), ("Y (hypothesis)", "D", "X0"), grows),
        ),
    )
    where = (fact("D0", equal(D(0), 0)), fact("D", equal(D(k + 1), D(k) + k - 2)))
    return claims(at_most(0, D(k)), hides, first, second, given=(fact("h", at_most(2, k)),), where=where)


N = sp.Symbol("N", integer=True, positive=True)
positive = sp.Function("s", positive=True)
named = sp.Symbol("s(0)", nonnegative=True)
SUMMED = at_most(N * w, s(0) - s(N))
t, member = index("t"), sp.Symbol("attacked member", integer=True, nonnegative=True)
a = vector("attacked a_i", "a_{@}")
size = symbol("attacked size", r"{\|a_i\|}", norm(a(member)), nonnegative=True)
SUMS = (
    rules.mean("sum", sum_over(t, N), given="round"),
    rules.telescoping("ends", t, N, s(t)),
    Obligation("f", SUMMED, ("sum", "ends")),
)


# k <= N for every k <= N, by an induction that ends; its member at t, summed over t < M.
M = sp.Symbol("M", integer=True, positive=True)
IN_RANGE, BELOW = fact("in range", at_most(k + 1, N)), fact("t < N", at_most(t + 1, N))
BEYOND = fact("t < M", at_most(t + 1, M))
ENDS = Induction(
    "P",
    k,
    at_most(k, N),
    Obligation("base", at_most(0, N), (), N),
    (Obligation("step", at_most(k + 1, N), ("P (range)",), slack("P (range)")),),
    "in range",
)
INSIDE = Obligation("inside", at_most(t, N), ("t < N",), slack("t < N") + 1)


def summed(total, *steps, given=(IN_RANGE, BELOW), goal=None):
    """The steps, and then the sum of the last one's bound over t < total."""
    last = rules.mean("sum", sum_over(t, total), given=steps[-1].name)
    goal = goal or at_most(sum_over(t, total)(t), N * total)
    return claims(goal, *steps, last, Obligation("f", goal, ("sum",), slack("sum")), given=given)


def fixed_member():
    """z(t) is not negative for one t: an induction from there shows nothing of the others."""
    relation, h = at_most(0, z(t) + k), fact("h", at_most(0, z(t)))
    base = Obligation("base", at_most(0, z(t)), ("h",), slack("h"))
    following = Obligation("step", at_most(0, z(t) + k + 1), ("Q (hypothesis)",), slack("Q (hypothesis)") + 1)
    steps = Induction("Q", k, relation, base, (following,)), Instance("at t", "Q", k, t)
    return summed(M, *steps, given=(h,), goal=at_most(0, sum_over(t, M)(z(t) + t)))


def test_an_induction_that_ends_holds_for_every_member_of_a_sum():
    result = examine(summed(N, ENDS, INSIDE, Instance("at t", "P", k, t, within="inside"))())
    assert (result.faults, result.accepted) == ((), True)


@table(
    Attack("a step named like a hypothesis of the outer index", rebound(), "two steps are named 'h'"),
    Attack(
        "a plain symbol that is a member at the running index",
        outrun(p, fact("tie", equal(p, q(k)))),
        "not established: tie",
    ),
    Attack(
        "another sequence's member at the running index",
        outrun(r(j), fact("tie", equal(r(j), q(k)))),
        "not established: tie",
    ),
    Attack(
        "a hypothesis about one index in a step",
        claims(
            INDEXED,
            induction(
                Obligation(
                    "step",
                    at_most(0, s(k + 1)),
                    ("P (hypothesis)", "falls"),
                    slack("P (hypothesis)") + residual("falls"),
                )
            ),
            given=(FALLS,),
            where=(START,),
        ),
        "not established: falls",
    ),
    Attack(
        "a fact named like the induction hypothesis",
        claims(INDEXED, induction(), given=(fact("P (hypothesis)", FALSE),), where=(START,)),
        "two facts are named 'P (hypothesis)'",
    ),
    Attack(
        "a fact named like the range",
        claims(INDEXED, induction(), given=(fact("P (range)", FALSE),), where=(START,)),
        "two facts are named 'P (range)'",
    ),
    Attack(
        "sequences that print alike",
        claims(at_most(0, positive(k)), Obligation("a", at_most(0, positive(k)), (), positive(k)), where=(START, NEXT)),
        "two different things are printed as s",
    ),
    Attack(
        "a symbol that prints like a member of a sequence",
        claims(at_most(0, named), Obligation("a", at_most(0, named), (), named), where=(START,)),
        "'s(0)' is no name",
    ),
    Attack(
        "symbols that print alike and cancel",
        claims(
            at_most(0, 1),
            Obligation("a", at_most(0, 1), (), sp.S.One),
            given=(fact("h", equal(sp.Symbol("w") + w, sp.Symbol("w"))),),
        ),
        "the symbol w is declared nothing",
    ),
    Attack(
        "a rule that is named induction",
        claims(FALSE, Use("r", "induction", ()), Obligation("f", FALSE, ("r",), slack("r"))),
        "'induction' is not a rule",
    ),
    Attack(
        "a sum beyond the end of an induction",
        summed(M, ENDS, INSIDE, Instance("at t", "P", k, t, within="inside")),
        "does not hold for every t",
    ),
    Attack(
        "a member that the range of another sum bounds",
        summed(M, ENDS, Instance("at t", "P", k, t, within="t < M"), given=(IN_RANGE, BEYOND)),
        "t <= N is not established",
    ),
    Attack(
        "a member of an induction that ends, at the index of a hypothesis, for every value of it",
        claims(
            at_most(n, N),
            ENDS,
            Obligation("here", at_most(k, N), ("in range",), slack("in range") + 1),
            Instance("at k", "P", k, k, within="here"),
            rules.at("at n", k, n, given="at k"),
            Obligation("f", at_most(n, N), ("at n",), slack("at n")),
            given=(IN_RANGE,),
        ),
        "does not hold for every k",
    ),
    Attack("an induction from one member, summed over all", fixed_member(), "does not hold for every t"),
    Attack(
        "one round that telescopes over all",
        claims(SUMMED, *SUMS, given=(fact("round", at_most(w, s(t) - s(t + 1))),)),
        "does not hold for every t",
    ),
)
def test_names_and_indices(attack):
    assert attack.sentence in answer(attack)


@pytest.mark.parametrize(
    "where",
    [
        (fact("D", equal(sp.Symbol("D", real=True), size)),),
        (fact("start", equal(s(0), 0)), fact("D", equal(s(k + 1), s(k) + size))),
    ],
    ids=["a symbol", "a recursion"],
)
def test_a_definition_by_one_client_is_about_no_other(where):
    """D = ||a_i|| for one client i, taken at two of them, would make all the norms equal."""
    goal = equal(norm(a(0)), norm(a(1)))
    steps = (rules.at("first", member, 0, given="D"), rules.at("second", member, 1, given="D"))
    result = examine(claims(goal, *steps, Obligation("f", goal, ("first", "second")), where=where)())
    assert "does not hold for every attacked member" in result.faults[0]


def test_what_a_symbol_means_quantifies_nothing():
    """n ||a|| = 3 says nothing of another n: with n = 0 it would be 0 = 3."""
    lengths = symbol("attacked lengths", "u", n * norm(a(0)), nonnegative=True)
    step = rules.at("zero", n, 0, given="u")
    result = examine(claims(FALSE, step, Obligation("f", FALSE, ("zero",)), where=(fact("u", equal(lengths, 3)),))())
    assert "does not hold for every n" in result.faults[0]


def test_an_equation_for_every_client_is_no_definition_of_one_number():
    assert assumed(fact("D", equal(sp.Symbol("D", real=True), size), member)) == "D"
    assert assumed(fact("D", equal(sp.Symbol("D", real=True), size))) == ""


def test_a_hypothesis_of_every_round_telescopes():
    every = fact("round", at_most(w, s(t) - s(t + 1)), t)
    assert examine(claims(SUMMED, *SUMS, given=(every,))()).accepted
