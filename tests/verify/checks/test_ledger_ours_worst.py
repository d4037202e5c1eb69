"""Our claims on exact worst cases: proved, attained, and rejected with anything smaller."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
import sympy as sp
from rows import decide, in_order, parts

from cflag_theory.claims.c_flag.local_steps.ours import worst_order as ours_worst_order
from cflag_theory.claims.c_flag.local_steps.ours import worst_path as ours_worst_path
from cflag_theory.claims.c_flag.local_steps.ours import worst_sums as ours_worst_sums
from cflag_theory.claims.c_flag.local_steps.ours import worst_turns as ours_worst_turns
from cflag_theory.claims.c_flag.union.ours import rate as ours_worst_union
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.ledger import claim
from cflag_theory.errors import InconsistentEvidence
from cflag_theory.verify.checks.c_flag.local_steps.ours import worst_order as order_checks
from cflag_theory.verify.checks.c_flag.local_steps.ours import worst_turns as turn_checks
from cflag_theory.verify.worst_cases.attaining import walk_attaining
from cflag_theory.verify.worst_cases.orders import repeated, settled

MODULES = (ours_worst_path, ours_worst_sums, ours_worst_order, ours_worst_turns, ours_worst_union)
BUILDERS = {id: build for module in MODULES for id, build in module.CLAIMS.items()}


@cache
def decided(id):
    return decide(BUILDERS[id]())


@pytest.mark.parametrize("id", BUILDERS)
def test_every_part_holds_by_both_engines(id):
    verdict = decided(id)
    assert verdict.verdict == "holds"
    assert set(in_order(verdict)) == {"holds"}
    proofs = [e for e in verdict.evidence if e.kind == "proof"]
    assert {e.part for e in proofs} == {part.key for part in claim(id).parts}
    for item in proofs:
        assert item.data["engines"] == ["sympy", "z3"]
        assert item.data["undecided"] == item.data["pieces"] == []


#: Parts that bound something, with how near an instance comes.
BOUNDS = {
    ("ours.worst_drift", "bound"): 1,
    ("ours.worst_iag_error", "bound"): 1,
    ("ours.worst_sums", "gradients"): 1,
    ("ours.worst_sums", "delayed"): 1,
    ("ours.worst_sums", "errors"): 1,
    ("ours.worst_order", "drift"): 1,
    ("ours.worst_order", "error"): 1,
    ("ours.worst_error_beyond", "1"): 0.98,
    ("ours.worst_turns", "bound"): 1,
    ("ours.union_rate", "1"): 0.85,
}


@pytest.mark.parametrize(("id", "key"), BOUNDS)
def test_how_near_an_instance_comes(id, key):
    reached = [e.data["largest_ratio"] for e in decided(id).evidence if e.part == key and "largest_ratio" in e.data]
    assert 1 >= max(reached) >= BOUNDS[id, key]


@pytest.mark.parametrize(("id", "key"), BOUNDS)
def test_less_is_refuted(id, key):
    subject = BUILDERS[id]()
    (chosen,) = (part for part in subject.parts if part.key == key)
    smaller = sp.nsimplify(min(BOUNDS[id, key], sp.Rational(9999, 10000)))
    relation = replace(chosen.printed.relation, right=smaller * chosen.printed.relation.right)
    verdict = decide(subject.with_printed(relation, key))
    assert parts(verdict)[key] == "false"
    kinds = {e.kind for e in verdict.evidence if e.part == key and e.finding == "refutes"}
    assert kinds == {"counterexample"}
    # The proof no longer shows the statement either.
    changed = next(part for part in subject.with_printed(relation, key).parts if part.key == key)
    assert not examine(changed.printed).accepted


@pytest.mark.parametrize(
    "id", ["ours.worst_drift", "ours.worst_iag_error", "ours.worst_sums", "ours.worst_order", "ours.worst_turns"]
)
def test_an_equation_that_is_a_little_off_is_refuted(id):
    subject = BUILDERS[id]()
    for part in subject.parts:
        if part.printed.relation.op != "==":
            continue
        wrong = replace(part.printed.relation, right=part.printed.relation.right * sp.Rational(1001, 1000))
        assert parts(decide(subject.with_printed(wrong, part.key)))[part.key] == "false"


def test_without_beta_L_k_at_most_one_another_order_is_worse():
    subject = BUILDERS["ours.worst_order"]()
    (chosen,) = (part for part in subject.parts if part.key == "error")
    kept = tuple(fact for fact in chosen.printed.hypotheses if fact.name != "short")
    free = replace(chosen, printed=replace(chosen.printed, hypotheses=kept))
    changed = replace(subject, parts=tuple(free if part is chosen else part for part in subject.parts))
    assert parts(decide(changed))["error"] == "false"
    assert not examine(free.printed).accepted


@pytest.mark.parametrize(
    ("id", "dropped"),
    [
        ("ours.worst_error_beyond", "from"),
        ("ours.worst_error_beyond", "to"),
        ("ours.worst_turns", "turns pay"),
        ("ours.worst_turns", "another turn does not"),
    ],
)
def test_the_last_place_where_turns_pay_is_needed(id, dropped):
    part = BUILDERS[id]().parts[0]
    kept = tuple(fact for fact in part.printed.hypotheses if fact.name != dropped)
    assert not examine(replace(part.printed, hypotheses=kept)).accepted


def test_turns_that_end_too_early_or_too_late_are_beaten():
    step, n, E = Fraction(2), 3, 6
    last = turn_checks.turns(n, E, step)
    most = walk_attaining(settled(n, E, last), n=n, step=step).error[-1]
    assert last == 4
    for other in (1, 2, 3, 5):
        assert walk_attaining(settled(n, E, other), n=n, step=step).error[-1] < most


def test_union_rate_with_a_smaller_constant_is_not_proved():
    assert examine(ours_worst_union.union_rate().parts[0].printed).accepted
    smaller = ours_worst_union.union_rate(sp.Rational(359, 100))
    assert not examine(smaller.parts[0].printed).accepted


def test_all_orders_are_enumerated():
    check = order_checks.CHECKS["ours.worst_order"]
    (found,) = check.further(claim("ours.worst_order"), 0, 1)
    assert found.finding == "supports"
    assert found.data["cases"] > 2000
    assert found.data["above"] == []


def test_the_enumeration_rejects_a_wrong_worst_order(monkeypatch):
    monkeypatch.setattr(order_checks, "worst_order", lambda *_, n, local_steps, step: repeated(local_steps))
    (found,) = order_checks.enumerated(claim("ours.worst_order"), 0, 1)
    assert found.finding == "refutes"
    # And no verdict is given while a proof and an enumeration disagree.
    with pytest.raises(InconsistentEvidence, match="exceed the one that is the worst"):
        decide(claim("ours.worst_order"), further=True)


def test_what_lemma_12_says_of_its_constant():
    """The note's instance: two components, one refreshed at k = 1 and 2, needs 1/8 - 1/(2 beta L) at k = 2."""
    assert "1/8 - 1/(2 beta L)" in " ".join(claim("cflag.lemma12").notes)
    for b in (Fraction(5), Fraction(1000)):
        met = walk_attaining((0, 0), n=2, step=b)
        assert (met.error[2] - 2 * b) / (2 * b * met.drift[1]) == Fraction(1, 8) - 1 / (2 * b)
