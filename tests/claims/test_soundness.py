"""False statements that a careless examiner would accept: each was accepted once."""

from __future__ import annotations

import pytest
import sympy as sp

from cflag_theory.claims.algebra import ask_z3, certificate_fault, residual, slack, square
from cflag_theory.claims.claim import Fact, Relation, Statement, at_most, equal
from cflag_theory.claims.ledger import LEDGER, claim
from cflag_theory.claims.proof import Induction, Instance, Obligation, Proof, RuleUse, examine
from cflag_theory.claims.rules import tangent_of_exp

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
    assert ask_z3(FALSE, given, certificate) != "proved"


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
    for step in (
        RuleUse("r", "magic", FALSE, ""),
        RuleUse("r", "maximum", FALSE, "", ()),
        RuleUse("r", "chord of exp", at_most(sp.exp(w) - 1, w), ""),
        RuleUse("r", "value of exp", at_most(sp.exp(sp.Rational(1, 4)), 1), ""),
        tangent_of_exp("r", sp.Integer(-5), k),
    ):
        goal = step.conclusion
        follow = Obligation("f", goal, ("r",), slack("r"))
        assert rejected(Statement("", goal, (), Proof((step, follow)))), step


def test_a_proof_by_rules_alone_is_no_proof():
    step = RuleUse("r", "triangle inequality", FALSE, "")
    assert rejected(Statement("", FALSE, (), Proof((step,))))


def test_facts_cannot_replace_each_other():
    goal = at_most(w, 1)
    proof = Proof((Obligation("s", goal, ("h",), slack("h")),))
    facts = Fact("h", at_most(w, 2), ""), Fact("h", at_most(w, 1), "")
    assert rejected(Statement("", goal, facts[:1], proof, facts[1:]))


def test_constants_such_as_pi_are_handled():
    assert certificate_fault(at_most(0, sp.pi), {}, sp.pi) is None
    assert ask_z3(at_most(0, sp.pi), {}, sp.pi) == "proved"


@pytest.mark.parametrize("id", LEDGER)
def test_repairs_and_sharp_statements_belong_to_what_is_printed(id):
    for part in claim(id).parts:
        printed = set(part.printed.hypotheses)
        if part.repair and part.repair.kind == "needs-hypothesis" and part.printed.relation is not None:
            mended = part.repair.statement
            assert mended.relation == part.printed.relation, "a missing hypothesis leaves the relation as it is"
            assert set(mended.hypotheses) - printed, "and adds to the printed hypotheses"
        if part.sharp:
            allowed = printed | (set(part.repair.statement.hypotheses) if part.repair else set())
            assert set(part.sharp.statement.hypotheses) <= allowed
