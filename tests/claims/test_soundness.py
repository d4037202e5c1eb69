"""False statements that a careless examiner would accept: each was accepted once."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
import sympy as sp
from cflag_theory.claims.cfl.one_round.leaning import NONEXPANSIVE, RUNS, S, changes, expansion, expected, no_leaning
from cflag_theory.claims.cfl.techniques.chebyshev import H
from cflag_theory.claims.cfl.vectors import client

from cflag_theory.claims.cfl.rates import weighted_means as rates
from cflag_theory.claims.engine.algebra import ask_z3, certificate_fault, residual, slack, square
from cflag_theory.claims.engine.claim import Fact, Statement
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.rules import exp_quarter, square_root, tangent_of_exp, tangent_of_ln
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Proof, Use
from cflag_theory.claims.engine.terms import dot, ln
from cflag_theory.claims.ledger import LEDGER, claim

k = sp.Symbol("k", nonnegative=True, integer=True)
L = sp.Symbol("L", positive=True)
w = sp.Symbol("w", real=True)
FALSE = at_most(1, 0)


def rejected(statement: Statement) -> bool:
    return not examine(statement).accepted


def test_an_induction_step_cannot_use_a_hypothesis_about_its_own_index():
    goal = at_most(k, 0)
    step = Obligation(
        "s", at_most(k + 1, 0), ("k >= 1", "P (hypothesis)"), 2 * slack("P (hypothesis)") + slack("k >= 1")
    )
    induction = Induction("P", k, goal, Obligation("b", at_most(0, 0), (), sp.S.Zero), (step,))
    assert rejected(Statement("", goal, (Fact("k >= 1", at_most(1, k), ""),), Proof((induction,))))


@pytest.mark.parametrize("value", [sp.Integer(-5), sp.Rational(1, 2), w])
def test_an_instance_lies_in_the_range_of_the_index(value):
    goal = at_most(0, k)
    step = Obligation("s", at_most(0, k + 1), ("P (hypothesis)",), slack("P (hypothesis)") + 1)
    induction = Induction("P", k, goal, Obligation("b", at_most(0, 0), (), sp.S.Zero), (step,))
    proof = Proof((induction, Instance("i", "P", k, value), Obligation("e", at_most(0, value), ("i",), slack("i"))))
    assert rejected(Statement("", at_most(0, value), (), proof))


def test_an_induction_that_ends_says_nothing_beyond_its_end():
    end = sp.Symbol("n", positive=True, integer=True)
    goal = at_most(k, end)
    step = Obligation("s", at_most(k + 1, end), ("P (range)",), slack("P (range)"))
    base = Obligation("b", at_most(0, end), (), end)
    within = Fact("in range", at_most(k + 1, end), "")
    inside = Induction("P", k, goal, base, (step,), within="in range")
    assert examine(Statement("", goal, (within,), Proof((inside,)))).accepted
    beyond = Proof(
        (inside, Instance("i", "P", k, end + 3, within="in range"), Obligation("e", FALSE, ("i",), slack("i") - 0))
    )
    assert rejected(Statement("", FALSE, (within,), beyond))
    without = Induction("P", k, goal, base, (step,))
    assert rejected(Statement("", goal, (within,), Proof((without,))))


def test_what_rests_on_the_outer_index_says_nothing_inside_an_induction_over_it():
    """2 <= j + k for every k, from 2 <= j: at j = 0 it is false, and an induction over j begins there."""
    j = sp.Symbol("j", integer=True, nonnegative=True)
    inner = sp.Symbol("k", integer=True, nonnegative=True)
    D = sp.Function("D", real=True)
    first = Induction(
        "X",
        inner,
        at_most(2, j + inner),
        Obligation("X at 0", at_most(2, j + 0), ("h",), slack("h")),
        (Obligation("X step", at_most(2, j + inner + 1), ("X (hypothesis)",), slack("X (hypothesis)") + 1),),
    )
    at_zero = Instance("X0", "X", inner, sp.S.Zero)
    grows = slack("Y (hypothesis)") + slack("X0") + residual("D")
    second = Induction(
        "Y",
        j,
        at_most(0, D(j)),
        Obligation("Y at 0", at_most(0, D(0)), ("D0",), residual("D0")),
        (at_zero, Obligation("Y step", at_most(0, D(j + 1)), ("Y (hypothesis)", "D", "X0"), grows)),
    )
    definitions = (Fact("D0", equal(D(0), 0), "D(0) = 0."), Fact("D", equal(D(j + 1), D(j) + j - 2), "The step."))
    goal = at_most(0, D(j))
    # False: D(1) = -2 and D(2) = -3.
    assert rejected(Statement("...", goal, (Fact("h", at_most(2, j), "j >= 2."),), Proof((first, second)), definitions))


def test_an_induction_cannot_end_where_its_index_leads():
    """C(k) >= k for k <= N(k), C(k + 1) = C(k) + N(k) - k: false for N = 0, 0, 2."""
    index = sp.Symbol("k", integer=True, nonnegative=True)
    C, N = sp.Function("C", real=True), sp.Function("N", real=True)
    grows = slack("Z (hypothesis)") + slack("Z (range)") + residual("C")
    moving = Induction(
        "Z",
        index,
        at_most(index, C(index)),
        Obligation("Z at 0", at_most(0, C(0)), ("C0",), residual("C0")),
        (Obligation("Z step", at_most(index + 1, C(index + 1)), ("Z (hypothesis)", "Z (range)", "C"), grows),),
        within="h",
    )
    step = equal(C(index + 1), C(index) + N(index) - index)
    definitions = (Fact("C0", equal(C(0), 0), "C(0) = 0."), Fact("C", step, "The step."))
    hypothesis = Fact("h", at_most(index, N(index)), "k <= N(k).")
    assert rejected(Statement("...", at_most(index, C(index)), (hypothesis,), Proof((moving,)), definitions))


def test_an_induction_inside_another_is_refused():
    index, inner = (sp.Symbol(name, integer=True, nonnegative=True) for name in "jk")
    D = sp.Function("D", nonnegative=True)
    nested = Induction(
        "X",
        inner,
        at_most(0, D(inner)),
        Obligation("X at 0", at_most(0, D(0)), (), D(0)),
        (Obligation("X step", at_most(0, D(inner + 1)), (), D(inner + 1)),),
    )
    outer = Induction(
        "Y",
        index,
        at_most(0, D(index)),
        Obligation("Y at 0", at_most(0, D(0)), (), D(0)),
        (nested, Obligation("Y step", at_most(0, D(index + 1)), (), D(index + 1))),
    )
    assert rejected(Statement("...", at_most(0, D(index)), (), Proof((outer,))))


def test_an_induction_runs_over_the_natural_numbers():
    x = sp.Symbol("x", real=True)
    f = sp.Function("f", real=True)
    goal = equal(f(x), 0)
    step = Obligation(
        "s", equal(f(x + 1), 0), ("step", "P (hypothesis)"), -residual("step") - residual("P (hypothesis)")
    )
    facts = (Fact("start", equal(f(0), 0), ""), Fact("step", equal(f(x + 1), f(x)), ""))
    induction = Induction("P", x, goal, Obligation("b", equal(f(0), 0), ("start",), -residual("start")), (step,))
    assert rejected(Statement("", goal, (), Proof((induction,)), facts))


@pytest.mark.parametrize(
    "certificate",
    [
        -residual("e") / w,
        L * (-residual("e") / (L * w) + square(sp.S.Zero)),
        (square(sp.S.Zero) - residual("e") / w) ** 3,
        -residual("e") / residual("e"),
        -(w**-2) * residual("e") ** 2,
    ],
    ids=str,
)
def test_denominators_may_not_vanish_however_deep(certificate):
    given = {"e": equal(w, 0)}
    assert certificate_fault(FALSE, given, certificate) is not None
    assert ask_z3(FALSE, given) != "proved"


@pytest.mark.parametrize("term", [sp.I, sp.sqrt(w), sp.Symbol("z"), sp.Symbol("i", imaginary=True)], ids=str)
def test_squares_of_what_need_not_be_real_prove_nothing(term):
    goal = Relation(sp.S.Zero, "<=", term**2)
    assert certificate_fault(goal, {}, square(term)) is not None


def test_names_that_collide_are_told_apart():
    a = sp.Function("a", real=True)
    assert certificate_fault(equal(sp.Symbol("atom0", real=True), a(0)), {}, sp.S.Zero) is not None
    assert certificate_fault(at_most(0, sp.Symbol("square0", real=True)), {}, square(w)) is not None
    positive, real = sp.Symbol("y", positive=True), sp.Symbol("y", real=True)
    proof = Proof((Obligation("s", at_most(0, positive), (), positive),))
    facts = (Fact("h", at_most(real, 1), ""),)
    assert rejected(Statement("", at_most(0, positive), facts, proof))


def test_rules_cannot_be_invented_nor_bent():
    for step, goal in (
        (Use("r", "magic", ()), FALSE),
        (Use("r", "maximum", ()), FALSE),
        (Use("r", "chord of exp", ()), at_most(sp.exp(w) - 1, w)),
        (exp_quarter("r"), at_most(sp.exp(sp.Rational(1, 4)), 1)),
        (tangent_of_exp("r", sp.Integer(-5), k), at_most((-4) ** k, sp.exp(-5 * k))),
    ):
        follow = Obligation("f", goal, ("r",), slack("r"))
        assert rejected(Statement("", goal, (), Proof((step, follow)))), step


def test_a_square_root_needs_sides_that_are_not_negative():
    """2^2 <= w^2 gives 2 <= w only where w is not negative: w = -3 is not."""
    for side, accepted in ((w, False), (L, True)):
        goal = at_most(2, side)
        proof = Proof((square_root("r", sp.S(2), side, given="squares"), Obligation("f", goal, ("r",), slack("r"))))
        squares = Fact("squares", at_most(4, side**2), "")
        assert examine(Statement("", goal, (squares,), proof)).accepted == accepted, side


def test_a_logarithm_that_is_declared_non_negative_starts_at_one():
    """Below 1 the tangent of such a logarithm gives 1/2 <= 0."""
    half = sp.Rational(1, 2)
    goal = at_most(half, 0)
    tangent = tangent_of_ln("t", half, sp.S.One)
    follows = Obligation("f", goal, ("t",), slack("t") + ln(half))
    assert rejected(Statement("", goal, (), Proof((tangent, follows))))
    inside = tangent_of_ln("t", sp.S.One, sp.S(2))
    true = at_most(half, ln(2))
    kept = Obligation("f", true, ("t",), slack("t"))
    assert examine(Statement("", true, (), Proof((inside, kept)))).accepted


@pytest.mark.parametrize("rule", ["harmonic sum", "weighted mean", "nonexpansive steps"])
def test_what_can_be_proved_is_no_rule(rule):
    """Each of these once carried a conclusion that had nothing to do with its premises."""
    below, more = Fact("a weight", at_most(w, 1), ""), Fact("another", at_most(0, 2), "")
    step = Use("r", rule, (H(0), 0), ("a weight", "another"))
    goal = at_most(H(0), 0)
    assert rejected(Statement("", goal, (below, more), Proof((step, Obligation("f", goal, ("r",), slack("r"))))))


@pytest.mark.full
def test_weights_that_fall_have_no_chebyshev_sum():
    """The proof of the logarithm stands on weights that rise and on the members' sums as they are."""
    statement = LEDGER["cfl.lnT"]().parts[0].printed
    assert examine(statement).accepted
    for name in ("rising", "weight", "part", "plain", "1/t", "first apart"):
        without = tuple(fact for fact in statement.definitions if fact.name != name)
        assert rejected(replace(statement, definitions=without)), name
    falling = tuple(
        replace(fact, relation=fact.relation.subs({rates.x: -rates.x})) if fact.name == "rising" else fact
        for fact in statement.definitions
    )
    assert rejected(replace(statement, definitions=falling))


def test_noises_lean_only_where_steps_increase_distances():
    goal = at_most(expected(dot(changes, S(client, k))), 0)
    statement = Statement("", goal, (NONEXPANSIVE,), Proof(no_leaning("no leaning")), RUNS)
    assert examine(statement).accepted
    wider = replace(NONEXPANSIVE, relation=at_most(expansion, 1 + sp.Rational(1, 100)))
    assert rejected(replace(statement, hypotheses=(wider,)))
    assert rejected(replace(statement, hypotheses=()))
    for fact in RUNS:
        assert rejected(replace(statement, definitions=tuple(kept for kept in RUNS if kept != fact))), fact.name


def leaning_of(slopes: tuple[Fraction, Fraction], size: int, later: tuple[int, int]) -> Fraction:
    """E<sum of the gradients, sum of the noises> after two steps x - g(x) - noise from 0, by enumeration.

    x - g(x) has the first slope below 0 and the second above; the second noise is +-later[0] after -size, +-later[1]
    after +size.
    """
    total = Fraction(0)
    for s, r in product((-1, 1), repeat=2):
        first, second = s * size, r * later[s > 0]
        place, gradients = Fraction(0), Fraction(0)
        for noise in (first, second, 0):
            after = slopes[place > 0] * place
            gradients += place - after
            place = after - noise
        total += gradients * (first + second) / 4
    return total


def test_noises_whose_law_depends_on_the_past_do_not_lean_either():
    """A later noise that is large after one sign and absent after the other moves the last point against the first."""
    half = Fraction(1, 2)
    slopes = (Fraction(-1), Fraction(0), half, Fraction(1))
    for pair in product(slopes, repeat=2):
        for later in product((0, 1, 9), repeat=2):
            assert leaning_of(pair, 1, later) <= 0
    # Steps that increase distances: gradients of a concave function lean along the noise.
    assert leaning_of((Fraction(2), Fraction(2)), 1, (0, 0)) > 0


def test_a_proof_by_rules_alone_is_no_proof():
    step = exp_quarter("r")
    goal = at_most(sp.exp(sp.Rational(1, 4)), sp.Rational(9, 7))
    assert rejected(Statement("", goal, (), Proof((step,))))
    assert examine(Statement("", goal, (), Proof((step, Obligation("f", goal, ("r",)))))).accepted


def test_facts_cannot_replace_each_other():
    goal = at_most(w, 1)
    proof = Proof((Obligation("s", goal, ("h",), slack("h")),))
    facts = Fact("h", at_most(w, 2), ""), Fact("h", at_most(w, 1), "")
    assert rejected(Statement("", goal, facts[:1], proof, facts[1:]))


def test_constants_such_as_pi_are_handled():
    assert certificate_fault(at_most(0, sp.pi), {}, sp.pi) is None
    assert ask_z3(at_most(0, sp.pi), {}) == "proved"


def test_repairs_and_sharp_statements_belong_to_what_is_printed():
    for id, part in [(one, part) for one in LEDGER for part in claim(one).parts]:
        printed = set(part.printed.hypotheses)
        if part.repair and part.repair.kind == "needs-hypothesis" and part.printed.relation is not None:
            assert set(part.repair.statement.hypotheses) - printed, f"{id}: a condition is added, whatever else changes"
        if part.sharp:
            allowed = printed | (set(part.repair.statement.hypotheses) if part.repair else set())
            assert set(part.sharp.statement.hypotheses) <= allowed, id
