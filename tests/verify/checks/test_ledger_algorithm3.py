"""Algorithm 3 line by line: verdicts, and planted errors that change them."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp
from rows import decided, parts, with_repair

from cflag_theory.claims.c_flag.adaptive import algorithm3
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.relation import Relation, at_most
from cflag_theory.verify.check import Check, run_check
from cflag_theory.verify.checks.c_flag.adaptive import algorithm3 as checks

ROWS = {
    "cflag.alg3_line2": {"1": "typo"},
    "cflag.alg3_line4": {"1": "typo"},
    "cflag.alg3_line8": {"1": "typo"},
    "cflag.alg3_line10": {"1": "typo"},
    "cflag.alg3_line14": {"consistent": "typo", "bounded": "typo"},
}


@pytest.mark.parametrize("id", ROWS)
def test_verdicts(id):
    verdict = run_check(algorithm3.CLAIMS[id](), checks.CHECKS[id])
    assert verdict.verdict == "typo"
    assert parts(verdict) == ROWS[id]
    proofs = [evidence for evidence in verdict.evidence if evidence.kind == "proof"]
    assert all(evidence.data["engines"] == ["sympy", "z3"] for evidence in proofs)


def test_every_row_has_its_place():
    assert set(algorithm3.CLAIMS) == set(checks.CHECKS) == set(ROWS)


@pytest.mark.parametrize("id", ROWS)
def test_a_wrong_repair_is_no_repair(id):
    subject = algorithm3.CLAIMS[id]()
    relation = subject.parts[0].repair.statement.relation
    wrong = Relation(relation.left, relation.op, relation.right + sp.Rational(1, 1000))
    assert decided(with_repair(subject, subject.parts[0].key, relation=wrong))[1][subject.parts[0].key] == "false"


def test_the_repair_as_printed_statement_holds():
    for id in ROWS:
        subject = algorithm3.CLAIMS[id]()
        part = subject.parts[0]
        held = replace(subject, parts=(replace(part, printed=part.repair.statement, repair=None),))
        assert decided(held, Check(checks.CHECKS[id].points)) == ("holds", {part.key: "holds"})


def test_the_step_bound_is_attained():
    subject = algorithm3.line14()
    relation = subject.parts[1].repair.statement.relation
    wrong = at_most(relation.left, (1 - sp.Rational(1, 1000)) * relation.right)
    assert decided(with_repair(subject, "bounded", relation=wrong))[1]["bounded"] == "false"


def test_the_unbounded_family_fails_with_another_constant():
    part = algorithm3.line14().parts[1]
    wrong = replace(
        part.refutation, relation=Relation(2 * part.refutation.relation.left, "<", part.refutation.relation.right)
    )
    assert not examine(wrong).accepted
