"""What a statement takes for granted can hold: a kept model shows it, and a contradiction is reported."""

from __future__ import annotations

import pytest
import sympy as sp

from cflag_theory.claims import find
from cflag_theory.claims.engine import models, vacuity
from cflag_theory.claims.engine.claim import Fact, Statement
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation, Proof
from cflag_theory.claims.ledger import claim

a, b = sp.symbols("a b", real=True)
x = sp.Symbol("x", nonnegative=True)
n = sp.Symbol("n", positive=True, integer=True)
term = sp.Function("term", positive=True)


def statement(*facts, definitions=()):
    goal = at_most(a, a + 1)
    named = tuple(Fact(f"h{number}", fact, "") for number, fact in enumerate(facts))
    meant = tuple(Fact(f"d{number}", fact, "") for number, fact in enumerate(definitions))
    return Statement("", goal, named, Proof((Obligation("s", goal, ()),)), meant)


CONTRADICTORY = {
    "two inequalities": statement(below(a, b), below(b, a)),
    "a sign": statement(below(x, 0)),
    "a definition": statement(at_most(2, a), definitions=[equal(a, 1)]),
    "a whole number between 0 and 1": statement(below(n, 1)),
    "a term of a sequence": statement(at_most(term(n), 0)),
    "a maximum": statement(below(sp.Max(a, b), a)),
}


@pytest.mark.parametrize("case", CONTRADICTORY)
def test_a_contradiction_is_reported(case):
    assert "the hypotheses and definitions contradict each other" in examine(CONTRADICTORY[case]).faults


@pytest.mark.parametrize("facts", [(), (below(a, b), below(b, n)), (equal(a**2, 2),), (at_most(term(n), a),)])
def test_what_can_hold_is_no_contradiction(facts):
    assert examine(statement(*facts)).accepted


def test_a_kept_model_is_checked_by_its_numbers():
    facts = vacuity.Facts(statement(below(a, n), definitions=[equal(b, a + n)]))
    assert facts.hold(models.at(facts, {"a": "1/2", "n": "1", "b": "3/2"}))
    for edit in ({"a": "1"}, {"b": "2"}, {"n": "-1", "b": "-1/2"}, {"n": "3/2", "b": "2"}):
        assert not facts.hold(models.at(facts, {"a": "1/2", "n": "1", "b": "3/2"} | edit))
    assert models.at(facts, {"a": "1/2", "n": "1", "b": "3/2", "c": "1"}) is None
    assert not facts.hold({})
    assert not facts.hold({a: sp.Rational(1, 2), n: sp.S.One})


def test_an_edited_model_hides_no_contradiction(tmp_path, monkeypatch):
    contradictory = CONTRADICTORY["two inequalities"]
    monkeypatch.setattr(models, "STORE", tmp_path / "models.json")
    find.save_models({models.key(vacuity.Facts(contradictory)): {"a": "0", "b": "1"}})
    assert vacuity.vacuous(contradictory)
    monkeypatch.undo()
    models.load.cache_clear()


def test_a_kept_model_answers_without_z3(monkeypatch):
    found = vacuity.Facts.contradict

    def asked(self, units, *, whole):
        return pytest.fail("z3 is asked") if whole else found(self, units, whole=whole)

    monkeypatch.setattr(vacuity.Facts, "contradict", asked)
    assert not any(vacuity.vacuous(part.printed) for part in claim("cflag.lemma13").parts)


@pytest.mark.full
def test_the_store_has_every_model_that_the_ledger_needs_and_no_other():
    found, missing = find.models_of(statement for _, statement in find.statements())
    assert not missing
    assert found == models.load()
