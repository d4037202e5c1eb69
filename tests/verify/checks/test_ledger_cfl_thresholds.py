"""Step sizes, c_1, c_2, (23) and phi_t of App. B.4.2: verdicts, and what a wrong constant does to them."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp
from rows import decide, findings, parts, points_of

from cflag_theory.claims.cfl.one_round import phi, thresholds
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.relation import at_most

TINY = sp.Rational(1, 10**6)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (thresholds.step6, {"1": "holds", "2": "typo"}),
        (thresholds.step12, {"1": "holds"}),
        (thresholds.ratio_bound, {"1": "holds", "2": "typo"}),
        (thresholds.c1, {"1": "holds"}),
        (thresholds.c2, {"1": "typo"}),
        (phi.phi, {"1": "needs-hypothesis", "2": "needs-hypothesis"}),
    ],
)
def test_verdict(build, expected):
    verdict = decide(build())
    assert parts(verdict) == expected
    proofs = [e for e in verdict.evidence if e.kind == "proof"]
    assert proofs
    for item in proofs:
        assert item.data["engines"] == ["sympy", "z3"], item.summary
        assert item.data["undecided"] == []


def test_step6_is_an_equality_at_its_bound():
    """Six is the largest step for (22), and leaves nothing: the coefficient is exactly 0."""
    at_bound = [p for p in points_of("cfl.step6") if "the bound with 6" in p.story[0]]
    assert at_bound
    assert all(sp.simplify(thresholds.LEFT.subs(p.values)) == 0 for p in at_bound)
    past = at_most(thresholds.LEFT, -TINY * thresholds.eta)
    assert parts(decide(thresholds.step6().with_printed(past, "1")))["1"] == "false"


@pytest.mark.parametrize("factor", [11, sp.Rational(21, 2), 6])
def test_step12_with_a_smaller_factor_is_not_proved(factor):
    verdict = decide(thresholds.step12(factor))
    assert findings(verdict, "printed", "proof") == ["undecided"]


def test_step12_with_6_is_refuted():
    assert decide(thresholds.step12(6)).verdict == "false"


@pytest.mark.parametrize("bound", [sp.Rational(5, 4) - sp.Rational(1, 1000), 1, sp.Rational(1, 12)])
def test_ratio_below_five_quarters_is_refuted(bound):
    verdict = decide(thresholds.ratio_bound(bound))
    assert parts(verdict)["2"] == "false"
    assert findings(verdict, "repair", "counterexample", "2") == ["refutes"]
    assert findings(verdict, "repair", "proof", "2") == ["undecided"]


def test_c1_with_less_than_2():
    verdict = decide(thresholds.c1(2 - TINY))
    assert verdict.verdict == "false"
    assert findings(verdict, "printed", "proof") == ["undecided"]


@pytest.mark.parametrize("drift", [5 - sp.Rational(1, 250), 4, sp.Rational(1, 3)])
def test_c2_with_less_than_5_is_refuted(drift):
    verdict = decide(thresholds.c2(drift))
    assert verdict.verdict == "false"
    assert findings(verdict, "repair", "proof") == ["undecided"]
    assert findings(verdict, "repair", "counterexample") == ["refutes"]


def test_phi_needs_its_hypothesis():
    subject = phi.phi()
    part = subject.parts[1]
    bare = replace(part.repair, statement=replace(part.repair.statement, hypotheses=()))
    verdict = decide(replace(subject, parts=(replace(part, repair=bare),)))
    assert verdict.verdict == "false"
    assert findings(verdict, "repair", "counterexample", "2") == ["refutes"]


def test_eq23_needs_the_display_before_it():
    subject = phi.phi()
    part = subject.parts[0]
    known = part.repair.statement
    bare = replace(known, hypotheses=part.printed.hypotheses)
    verdict = decide(replace(subject, parts=(replace(part, repair=replace(part.repair, statement=bare)),)))
    assert verdict.verdict == "false"
    assert findings(verdict, "repair", "proof") == ["undecided"]
    assert findings(verdict, "repair", "counterexample") == ["refutes"]


@pytest.mark.parametrize("drop", [phi.c_1 * TINY, phi.c_2 * phi.eta * TINY])
def test_eq23_with_a_smaller_constant_is_not_proved(drop):
    known = phi.phi().parts[0].repair.statement
    relation = at_most(known.relation.left, known.relation.right - phi.eta * drop)
    assert examine(known).accepted
    assert not examine(replace(known, relation=relation)).accepted


def test_eq23_is_refuted_below_the_step_size():
    relation = phi.phi().parts[0].printed.relation
    points = list(points_of("cfl.phi"))
    assert all(fact.relation.holds_at(p.values) for p in points for fact in phi.phi().parts[0].printed.hypotheses)
    assert [relation.holds_at(p.values) for p in points] == [False, True, True, True]


@pytest.mark.parametrize(("build", "words"), [(thresholds.step6, "at most 0."), (thresholds.step12, "at most -eta.")])
def test_steps_say_what_is_left(build, words):
    assert build().parts[0].printed.words.endswith(words)
