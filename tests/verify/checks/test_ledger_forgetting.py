"""(161)-(165) and (178): verdicts, and what a wrong constant changes."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp
from rows import decide, in_order

from cflag_theory.claims.c_flag.forgetting import bounds as forgetting
from cflag_theory.claims.c_flag.forgetting.terms import omega2
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.notation import E, L, alpha, beta, m, r
from cflag_theory.claims.engine.relation import at_most, equal

EXPECTED = {
    "cflag.eq161": ["false"],
    "cflag.eq163": ["holds"],
    "cflag.eq164": ["typo", "typo"],
    "cflag.eq177": ["needs-hypothesis"],
    "cflag.eq178": ["needs-hypothesis"],
}


@pytest.mark.parametrize("id", EXPECTED)
def test_verdict(id):
    verdict = decide(forgetting.CLAIMS[id]())
    assert in_order(verdict) == EXPECTED[id]
    for item in verdict.evidence:
        if item.on != "printed":
            assert item.finding == "supports"
        if item.kind == "proof":
            assert item.data["engines"] == ["sympy", "z3"]


def test_161_by_hand():
    """grad f = 1, grad g = -3, one local step: everything about the round fits on a line."""
    (found,) = (e for e in decide(forgetting.eq161()).evidence if e.kind == "counterexample")
    values = {name: sp.Rational(value) for name, value in found.data["values"].items()}
    step, local, slope = sp.Rational(1, 2), sp.Rational(1, 60), 4
    assert (values["alpha"], values["beta"], values["E"], values["m"]) == (step, local, 1, 0)
    x = 1 - step * 1 - local * (1 - slope)
    h = [sp.Rational(1, 2) - 2, x**2 / 2 - 2 * x]
    Gamma = local**2 * 9 / 2 - local * (1 - step) * (1 * -3)
    at = {L: 1, r: sp.Rational(1, 3), alpha: step, beta: local, E: 1}
    right = forgetting.Q().subs(at) / forgetting.Z().subs(at) * (h[0] - h[1]) + forgetting.Q().subs(at) * 4
    assert values["Gamma"] == Gamma > 0 > right
    # alpha <= 1/L and beta L E = 1/60: the step sizes that the proof would like to have.
    assert step <= 1
    assert h[1] > h[0]


def test_161_is_not_refuted_by_what_is_true():
    subject = forgetting.eq161()
    relation = subject.parts[0].printed.relation
    assert in_order(decide(subject.with_printed(at_most(relation.left, relation.left + 1)))) == ["open"]


def test_163_with_one_round_more_is_refuted():
    subject = forgetting.eq163()
    relation = subject.parts[0].printed.relation
    wrong = equal(relation.left, relation.right + forgetting.Q_constant * omega2)
    assert in_order(decide(subject.with_printed(wrong))) == ["false"]


def test_164_without_its_slip_is_not_refuted():
    assert in_order(decide(forgetting.eq164(slip=sp.S.One)))[0] == "open"


def test_165_is_not_refuted_by_more_than_is_true():
    statement = forgetting.eq164().parts[1].refutation
    assert examine(statement).accepted
    too_much = replace(statement, relation=replace(statement.relation, left=10 * statement.relation.left))
    assert not examine(too_much).accepted


def test_the_family_of_165_exists():
    """A beta for every K: the left side of its equation falls from 1 to below 0."""
    (fact,) = forgetting.eq164().parts[1].refutation.hypotheses
    left = sp.Poly(fact.relation.left, beta)
    assert left.eval(0) == 1
    assert left.eval(sp.Rational(1, 20)) < 0


@pytest.mark.parametrize(
    ("constant", "slope"),
    [(sp.Rational(11, 60), sp.Rational(36, 1000)), (sp.Rational(1, 1000), sp.Rational(2, 15))],
)
def test_178_with_less_than_the_exact_values_is_refuted(constant, slope):
    verdict = decide(forgetting.eq178(constant, slope))
    assert in_order(verdict) == ["false"]
    assert any(e.on == "repair" and e.kind == "counterexample" for e in verdict.evidence)


def test_178_exactly():
    (found,) = decide(forgetting.eq178()).sharp
    assert found["value"] == "11/300"
    assert found["factor"] == pytest.approx(40 / 11)
    at = {L: 1, E: 1, beta: sp.Rational(1, 60), alpha: sp.Rational(1, 2), m: 0, r: 1}
    assert forgetting.Q().subs(at) == sp.Rational(67, 60000) + sp.Rational(11, 600)
