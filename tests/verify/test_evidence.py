"""How evidence is made: exact instances, float runs, and what counts as a contradiction."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from cflag_theory.claims.engine import notation
from cflag_theory.claims.engine.algebra import slack
from cflag_theory.claims.engine.claim import Fact, Part, Repair, Sharp, Statement
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation, Proof
from cflag_theory.claims.ledger import LEDGER, claim
from cflag_theory.verify.check import run_check
from cflag_theory.verify.checks import CHECKS
from cflag_theory.verify.evidence import (
    TOLERANCE,
    Point,
    Sample,
    along_runs,
    applies,
    evaluate,
    numbers_alone,
    prove,
    refute,
    replay,
)

x, y, z = sp.symbols("x y z", real=True)
SMALL = Fact("small", at_most(x, 3), "x <= 3.")


def part(relation, *hypotheses, repair=None, sharp=None, proof=None):
    return Part(
        "1",
        Statement("As printed.", relation, hypotheses, proof),
        Repair("typo", "fix", Statement("Mended.", repair, hypotheses)) if repair else None,
        Sharp("c", sp.Integer(2), sp.Integer(1), Statement("Sharp.", sharp, hypotheses)) if sharp else None,
    )


def points(*values, of=None):
    return [Point({x: value}, (f"x = {value}.",), of) for value in values]


def test_an_instance_refutes_and_tells_its_story():
    (found,) = replay(part(at_most(x, 2)), points(1, Fraction(5, 2), 7))
    assert (found.kind, found.on, found.finding) == ("counterexample", "printed", "refutes")
    assert found.data["instance"] == ["x = 5/2."]
    assert found.data["values"] == {"x": "5/2"}
    assert (found.data["left"], found.data["right"]) == ("5/2", "2")


def test_instances_are_judged_exactly():
    just_above = 2 + Fraction(1, 10**40)
    assert replay(part(at_most(x, 2)), points(just_above))[0].finding == "refutes"
    assert replay(part(below(x, 2)), points(2))[0].finding == "refutes"
    assert replay(part(equal(x, 2)), points(just_above))[0].finding == "refutes"
    assert replay(part(at_most(x, 2)), points(2))[0].finding == "supports"


def test_an_instance_outside_the_hypotheses_does_not_count():
    assert replay(part(at_most(x, 2), SMALL), points(4)) == []
    (found,) = replay(part(at_most(x, 2), SMALL), points(4, 1))
    assert (found.finding, found.data["cases"]) == ("supports", 1)
    assert not applies(Statement("", at_most(x, 2), (SMALL,)), points(4)[0])


def test_agreement_is_no_proof_and_reports_how_near_it_comes():
    (found,) = replay(part(at_most(x, 2)), points(1, Fraction(3, 2), -1))
    assert (found.kind, found.finding, found.data["exact"]) == ("property", "supports", True)
    assert found.data["largest_ratio"] == 0.75


def test_every_statement_of_a_part_is_put_to_the_instances():
    found = replay(part(at_most(x, 0), repair=at_most(x, 2), sharp=at_most(x, 1)), points(Fraction(3, 2)))
    assert [(e.on, e.finding) for e in found] == [("printed", "refutes"), ("repair", "supports"), ("sharp", "refutes")]


def test_instances_and_samples_of_another_part_do_not_count():
    subject = part(at_most(x, 2))
    assert replay(subject, points(5, of="2")) == []
    assert replay(subject, points(5, of="1"))[0].finding == "refutes"
    assert along_runs(subject, [Sample({x: 5.0}, "2")], 0) == []
    assert along_runs(subject, [Sample({x: 5.0}, "1")], 0)[0].finding == "refutes"


def test_runs_count_their_cases_and_contradictions():
    (found,) = along_runs(part(at_most(x, 2 * y)), [Sample({x: np.array([1.0, 3.0, 2.0]), y: np.ones(3)})], 7)
    assert (found.kind, found.finding) == ("property", "refutes")
    assert (found.data["cases"], found.data["violations"], found.data["seed"]) == (3, 1, 7)
    assert found.data["worst_ratio"] == 1.5
    # Runs on floats are not exact instances, so they cannot show that hypotheses can be met.
    assert found.data["exact"] is False


def test_runs_within_rounding_do_not_contradict():
    def finding(value):
        return along_runs(part(at_most(x, y)), [Sample({x: value, y: 1.0})], 0)[0].finding

    assert finding(1 + TOLERANCE) == "supports"
    assert finding(1 + 3 * TOLERANCE) == "refutes"


def test_an_equation_along_runs_is_judged_on_both_sides():
    for off, finding in ((0.0, "supports"), (1e-6, "refutes"), (-1e-6, "refutes")):
        (found,) = along_runs(part(equal(x, y)), [Sample({x: 1 + off, y: 1.0})], 0)
        assert found.finding == finding
        assert "worst_ratio" not in found.data


def test_tolerance_is_relative_to_what_cancels():
    # 10^8 - 10^8 against 10^-3 is rounding; the same gap among small terms is not.
    gap, terms, _ = evaluate(at_most(x - y, z), {x: np.array(1e8 + 1e-3), y: np.array(1e8), z: np.array(0.0)})
    assert gap < 0
    assert gap > -TOLERANCE * terms
    gap, terms, _ = evaluate(at_most(x - y, z), {x: np.array(1e-3), y: np.array(0.0), z: np.array(0.0)})
    assert gap < -TOLERANCE * terms


def test_ratios_where_the_right_side_is_zero_or_negative_do_not_count():
    _, _, ratio = evaluate(at_most(x, y), {x: np.array([-2.0, 1.0, 0.0, 1.0]), y: np.array([-1.0, 0.0, 0.0, 2.0])})
    assert ratio.tolist() == [-np.inf, -np.inf, -np.inf, 0.5]


def test_a_run_that_does_not_measure_a_quantity_says_nothing():
    assert along_runs(part(at_most(x, z)), [Sample({x: 5.0, y: 1.0})], 0) == []


def test_a_value_that_is_no_number_is_no_case_that_agrees():
    sample = Sample({x: np.array([1.0, np.nan, np.inf]), y: np.array([2.0, 2.0, np.inf])})
    with np.errstate(invalid="ignore"):
        (found,) = along_runs(part(at_most(x, y)), [sample], 0)
    assert (found.finding, found.data["cases"], found.data["not_finite"]) == ("supports", 1, 2)
    (found,) = along_runs(part(at_most(x, y)), [Sample({x: np.array([np.nan]), y: np.ones(1)})], 0)
    assert (found.finding, found.data["cases"]) == ("undecided", 0)


def test_a_run_outside_the_hypotheses_does_not_count():
    sample = Sample({x: np.array([1.0, 5.0, 3.0])})
    (found,) = along_runs(part(at_most(x, 4), SMALL), [sample], 0)
    assert (found.finding, found.data["cases"]) == ("supports", 2)
    # A hypothesis about what the run does not measure is left to whoever made the sample.
    (found,) = along_runs(part(at_most(x, 4), Fact("y", at_most(y, 1), "")), [sample], 0)
    assert (found.finding, found.data["cases"]) == ("refutes", 3)


def test_an_instance_that_contradicts_a_definition_is_no_instance():
    double = Fact("double", equal(y, 2 * x), "y is 2 x.")
    statement = Statement("", at_most(x, 2), (), None, (double,))
    assert applies(statement, Point({x: 1, y: 2}, ("",)))
    assert applies(statement, Point({x: 1}, ("",)))
    with pytest.raises(ValueError, match="'x = 1' contradicts the definition 'double'"):
        applies(statement, Point({x: 1, y: 3}, ("x = 1",)))


@pytest.mark.parametrize("value", [0.5, sp.Float(1), -1])
def test_an_instance_is_exact_and_keeps_the_signs_of_its_symbols(value):
    length = sp.Symbol("length", nonnegative=True)
    with pytest.raises(ValueError, match=r"is not an exact number|contradicts that length is nonnegative"):
        replay(part(at_most(length, 2)), [Point({length: value}, ("",))])


@pytest.mark.parametrize(("certificate", "finding"), [(slack("small") + 1, "supports"), (sp.S.One, "undecided")])
def test_a_proof_supports_or_decides_nothing(certificate, finding):
    proof = Proof((Obligation("follows", at_most(x, 4), ("small",), certificate),))
    (found,) = prove(part(at_most(x, 4), SMALL, proof=proof))
    assert (found.kind, found.on, found.finding) == ("proof", "printed", finding)
    assert bool(found.data["faults"]) is (finding == "undecided")
    assert found.data["engines"] == (["sympy", "z3"] if finding == "supports" else [])
    assert ("verified by sympy and z3" in found.summary) is (finding == "supports")


def test_a_part_without_a_proof_has_none():
    assert prove(part(at_most(x, 2), SMALL)) == []


def test_a_refutation_is_seen_to_contradict_what_is_printed_or_says_why_it_is_not():
    parts = [(f"{id}.{part.key}", part) for id in LEDGER for part in claim(id).parts if part.refutation]
    seen = {name: part for name, part in parts if not part.unseen}
    # The others speak of limits, of constants that are chosen first, or of what exists.
    assert set(seen) == {"cflag.assumption3.2", "cflag.lemma3.1", "cfl.lemA2.1"}
    assert len(parts) == 41
    for name, part in seen.items():
        (found,) = refute(part)
        assert found.finding == "refutes", name
        assert "read, not computed" not in found.summary


@pytest.mark.parametrize(("id", "hypothesis"), [("cflag.lemma3", "beta"), ("cfl.lemA2", "eta")])
def test_a_refutation_contradicts_only_where_the_printed_hypotheses_hold(id, hypothesis):
    part = claim(id).parts[0]
    hypotheses = tuple(
        replace(fact, relation=at_most(2 * fact.relation.left, fact.relation.right))
        if fact.name == hypothesis
        else fact
        for fact in part.printed.hypotheses
    )
    assert hypotheses != part.printed.hypotheses
    (found,) = refute(replace(part, printed=replace(part.printed, hypotheses=hypotheses)))
    assert found.finding == "undecided"


def test_a_contradiction_that_is_read_says_so():
    part = claim("cflag.thm5").parts[0]
    (found,) = refute(part)
    assert found.finding == "refutes"
    assert found.summary.endswith(f"This last step is not machine-checked: {part.unseen}.")
    assert found.data["unseen"] == part.unseen


def test_a_relation_between_numbers_alone_is_marked():
    (found,) = replay(part(at_most(x, 2)), points(3))
    assert found.data["numbers_alone"] is True
    assert "no run is needed" in found.summary
    member = sp.Function("member", real=True)
    for relation, hypotheses in (
        (at_most(member(1), 2), ()),
        (at_most(x, 2), (Fact("member", equal(x, member(1)), ""),)),
        (at_most(notation.grad_f2, 2), ()),
    ):
        subject = Statement("", relation, hypotheses)
        assert not numbers_alone(subject)
        values = {x: 3, member(1): 3, notation.grad_f2: 3}
        (found,) = replay(Part("1", subject), [Point(values, ("x = 3.",))])
        assert found.data["numbers_alone"] is False
        assert "no run" not in found.summary


@pytest.mark.parametrize(("id", "alone"), [("cflag.eq177", True), ("cflag.eq7", False), ("cfl.c2", True)])
def test_the_mark_follows_from_the_statement(id, alone):
    found = run_check(claim(id), CHECKS[id]).counterexample
    assert found.data["numbers_alone"] is alone
    assert ("no run is needed" in found.summary) is alone
