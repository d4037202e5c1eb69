"""What further checks bring: counts or instances with every finding that decides, and errors that they refuse."""

from __future__ import annotations

import inspect
from dataclasses import replace

import pytest
from needs import quick

from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.ledger import LEDGER, claim
from cflag_theory.verify.checks import CHECKS
from cflag_theory.verify.verdict import REFUTES, UNDECIDED, Evidence, decide

FURTHER = [id for id in LEDGER if CHECKS[id].further]


@pytest.mark.parametrize("id", quick(FURTHER, of=3))
def test_what_decides_says_over_how_many_cases_or_from_which_instance(id):
    found = list(CHECKS[id].further(claim(id), 0, 24))
    assert found
    for item in found:
        if item.kind in ("enumeration", "recomputation") and item.finding != UNDECIDED:
            counts = [item.data[name] for name in ("cases", "compared") if name in item.data]
            assert counts
            assert all(type(count) is int and count > 0 for count in counts), (item.part, item.on)
        if item.kind == "counterexample" and item.finding == REFUTES:
            assert item.data["instance"], (item.part, item.on)
    # The same findings without their counts decide nothing.
    listed = [item for item in found if item.kind in ("enumeration", "recomputation")]
    bare = [Evidence(item.kind, item.part, item.on, item.finding, item.summary) for item in listed]
    assert {part.verdict for part in decide(claim(id), bare).parts} == {"open"}


def reads_the_relation(id):
    """Whether a further check evaluates the printed relation of the claim that it is given."""
    return "printed.relation" in inspect.getsource(CHECKS[id].further)


EVALUATING = [id for id in FURTHER if reads_the_relation(id)]


def test_some_further_checks_evaluate_what_is_printed():
    assert {"cflag.lemma8", "cflag.overfitting_mean"} <= {*EVALUATING}


@pytest.mark.parametrize("id", EVALUATING)
@pytest.mark.parametrize("error", ["one more", "twice", "nothing"])
def test_a_planted_error_is_refused_by_a_further_check(id, error):
    subject = claim(id)
    right = subject.parts[0].printed.relation
    sides = {"one more": right.right + 1, "twice": 2 * right.right + 1, "nothing": right.right - right.right - 1}
    if right.op == "<=":
        # A bound errs where it is below what it bounds.
        sides = {"one more": right.left - 1, "twice": right.left - 2, "nothing": right.left / 2 - 1}
    planted = replace(subject.parts[0].printed, relation=Relation(right.left, right.op, sides[error]))
    wrong = replace(subject, parts=(replace(subject.parts[0], printed=planted), *subject.parts[1:]))
    found = [item for item in CHECKS[id].further(wrong, 0, 24) if item.part == subject.parts[0].key]
    assert REFUTES in {item.finding for item in found}
