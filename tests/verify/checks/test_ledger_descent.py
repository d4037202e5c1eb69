"""Lemma 1 of the supplement, (15), (36)-(56) and Theorem 2: verdicts, and what a wrong constant does to them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
import rows
import sympy as sp
from rows import findings, parts

from cflag_theory.claims.c_flag.past_task import descent, theorem2
from cflag_theory.claims.engine.notation import L, alpha, beta, sum2
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.verify.checks.c_flag.past_task import theorem2 as theorem2_checks

TINY = sp.Rational(1, 10**6)
decide = partial(rows.decide, samples=12)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (descent.lemma1_supp, {"1": "typo", "2": "needs-hypothesis"}),
        (descent.eq15, {"1": "holds"}),
        (descent.eq56, {"1": "holds", "2": "holds"}),
        (theorem2.thm2, {"1": "needs-hypothesis", "2": "needs-hypothesis"}),
    ],
)
def test_verdict(build, expected):
    verdict = decide(build())
    assert parts(verdict) == expected
    proofs = [e for e in verdict.evidence if e.kind == "proof"]
    assert proofs
    for item in proofs:
        assert item.data["engines"] == ["sympy", "z3"]
        assert item.data["undecided"] == []


def test_lemma1_supp_printed_with_sums_from_zero_is_proved():
    subject = descent.lemma1_supp()
    mended = subject.parts[0].repair.statement
    verdict = decide(replace(subject, parts=(replace(subject.parts[0], printed=mended, repair=None),)))
    assert verdict.verdict == "holds"


def test_lemma1_supp_with_less_than_half_of_L_is_false_and_not_repaired():
    """The last term of Gamma(t) cannot be smaller: one round of the simulator attains the bound."""
    verdict = decide(descent.lemma1_supp(L / 2 - TINY * L))
    assert parts(verdict)["1"] == "false"
    assert findings(verdict, "repair", "counterexample") == ["refutes"]
    assert findings(verdict, "repair", "proof") == ["undecided"]


@pytest.mark.parametrize("lead", [L, L / 4, (sp.Rational(1, 2) + TINY) * L])
def test_eq15_with_another_lead(lead):
    verdict = decide(descent.eq15(lead))
    assert verdict.verdict == "false"
    assert findings(verdict, "printed", "proof") == ["undecided"]
    assert findings(verdict, "printed", "counterexample") == ["refutes"]


def test_eq15_with_the_other_sign_of_its_inner_product():
    subject = descent.eq15()
    relation = subject.parts[0].printed.relation
    wrong = relation.right - 2 * beta * (1 - L * alpha) * -descent.Lambda
    assert decide(subject.with_printed(equal(relation.left, wrong))).verdict == "false"


@pytest.mark.parametrize("constant", [1 - TINY, sp.Rational(1, 2), 0])
def test_eq56_with_less_than_m(constant):
    verdict = decide(descent.eq56(constant))
    assert parts(verdict) == {"1": "holds", "2": "false"}
    assert findings(verdict, "printed", "counterexample", "2") == ["refutes"]


def test_eq56_with_the_sums_of_57_and_58_fails():
    """What the paper prints after (56): sums from k = 1, in points where they differ from those from k = 0."""
    late = descent.forgetting(
        descent.late_sum2, descent.late_grad_dot_sum, descent.late_bias_dot_sum, L / 2
    ) + descent.overfitting(descent.late_bias_dot_sum)
    now = descent.forgetting(sum2, descent.grad_dot_sum, descent.bias_dot_sum, L / 2) + descent.overfitting()
    relation = descent.eq56().parts[1].printed.relation
    printed = at_most(relation.left, relation.right - now + late)
    assert parts(decide(descent.eq56().with_printed(printed, "2")))["2"] == "false"


@pytest.mark.parametrize("constant", [2 - TINY, sp.Rational(3, 2), 1])
def test_theorem2_with_less_than_2_is_false_even_for_fresh_memories(constant):
    verdict = decide(theorem2.thm2(constant))
    assert parts(verdict) == {"1": "false", "2": "false"}
    assert findings(verdict, "repair", "counterexample") == ["refutes"]


def test_theorem2_without_fresh_memories_in_its_repair():
    subject = theorem2.thm2()
    held = subject.parts[0].repair
    bare = replace(held, statement=replace(held.statement, hypotheses=(theorem2.CONSTANT_STEP, theorem2.BIAS)))
    verdict = decide(replace(subject, parts=(replace(subject.parts[0], repair=bare),)))
    assert verdict.verdict == "false"
    assert findings(verdict, "repair", "counterexample") == ["refutes"]


def test_theorem2_is_refuted_by_the_memory_that_is_drawn_once():
    """The same instance with fresh memories and with T = 1 satisfies the bound."""
    relation = theorem2.bound()
    for point in theorem2_checks.points():
        if point.part == "1":
            once = "drawn once" in point.story[0] and "T = 1" not in point.story[0]
            biased = point.values[theorem2.bias2_sum] > 0
            assert relation.holds_at(point.values) or (once and biased)
