"""Our adaptive rates: verdicts, and constants moved past what is attained."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp
from rows import decided

from cflag_theory.claims.c_flag.adaptive.ours import rates as claims
from cflag_theory.claims.engine.relation import Relation, at_most
from cflag_theory.verify.check import Check, run_check
from cflag_theory.verify.checks.c_flag.adaptive.ours import rates as checks

SMALL = sp.Rational(1, 1000)


@pytest.mark.parametrize("id", claims.CLAIMS)
def test_verdicts(id):
    verdict = run_check(claims.CLAIMS[id](), checks.CHECKS[id])
    assert verdict.verdict == "holds"
    proofs = [evidence for evidence in verdict.evidence if evidence.kind == "proof"]
    assert all(evidence.data["engines"] == ["sympy", "z3"] for evidence in proofs)
    assert set(claims.CLAIMS) == set(checks.CHECKS)


@pytest.mark.parametrize(
    ("id", "key", "wrong"),
    [
        ("ours.adaptive_server", "transference", lambda r: Relation(r.left, "==", r.right + SMALL)),
        ("ours.adaptive_server", "interference", lambda r: at_most((1 + SMALL) * r.left, r.right)),
        ("ours.adaptive_clients", "1", lambda r: at_most(r.left, r.right - SMALL * claims.L * claims.moved2)),
        ("ours.adaptive_condition", "average", lambda r: Relation(r.left, "==", r.right + SMALL)),
        ("ours.adaptive_condition", "worst", lambda r: Relation(r.left, "==", r.right + SMALL)),
        (
            "ours.adaptive_descent",
            "round",
            lambda r: at_most(r.left, claims.f_before - (1 + SMALL) * claims.decrease() * claims.grad**2),
        ),
        ("ours.adaptive_descent", "run", lambda r: at_most(sp.Rational(11, 10) * r.left, r.right)),
    ],
)
def test_a_constant_past_what_is_attained(id, key, wrong):
    subject = claims.CLAIMS[id]()
    relation = next(part for part in subject.parts if part.key == key).printed.relation
    planted = subject.with_printed(wrong(relation), key)
    assert decided(planted, Check(checks.CHECKS[id].points))[1][key] == "false"


@pytest.mark.parametrize("left_out", ["alpha", "rate", "(27)"])
def test_descent_uses_its_hypotheses(left_out):
    subject = claims.descent()
    part = subject.parts[0]
    fewer = tuple(fact for fact in part.printed.hypotheses if fact.name != left_out)
    weaker = replace(subject, parts=(replace(part, printed=replace(part.printed, hypotheses=fewer)),))
    assert decided(weaker, Check(checks.CHECKS[subject.id].points))[1]["round"] in ("open", "false")


def test_a_run_of_the_descent_rule_names_its_ranges():
    run = claims.descent().parts[1].printed
    assert [fact.name for fact in run.hypotheses] == ["alpha", "m", "end"]
    assert "rule of part round" in run.words


def test_a_run_that_raised_gamma_would_be_seen():
    # The worst case of Table 1 does raise Gamma in some random rounds: the same search must say so.
    found = list(checks.lowers_gamma("worst", "1")(claims.clients(), 0, 60))
    assert found[0].finding == "refutes"
    assert found[0].data["violations"] == found[0].data["table1_raised"] > 0
