"""Coq as a witness: it accepts what is proved, refuses what is not, and is not needed by anybody else."""

from __future__ import annotations

import shutil
from functools import cache

import pytest
import sympy as sp
from needs import needs_coq
from rows import points_of

from cflag_theory.claims.coq import instances as coq_instances
from cflag_theory.claims.coq import lemmas as words
from cflag_theory.claims.coq.theorem import theorem
from cflag_theory.claims.engine.algebra import slack, square
from cflag_theory.claims.engine.claim import Fact, Statement, statements
from cflag_theory.claims.engine.relation import at_most, below
from cflag_theory.claims.engine.transcript import inferences
from cflag_theory.claims.ledger import claim
from cflag_theory.cli import main as cli
from cflag_theory.errors import InvalidInput, MissingExtra
from cflag_theory.verify import coq, theory, verify
from cflag_theory.verify.checks import CHECKS
from cflag_theory.verify.evidence import prove, refute, replay

a, b = sp.symbols("a b", nonnegative=True)
m = sp.Symbol("m", nonnegative=True)


@cache
def evidence(id):
    subject, points = claim(id), points_of(id)
    found = [item for part in subject.parts for item in (*prove(part), *refute(part), *replay(part, points))]
    return coq.witness(subject, points, found)


@needs_coq
@pytest.mark.parametrize("id", ["cflag.eq7", "cflag.lemma1", "cflag.lemma13", "ours.drawn_once_rate"])
def test_proofs_and_exact_instances_are_accepted(id):
    seen = [item for item in evidence(id) if "coq" in item.data]
    assert seen
    for item in seen:
        assert all(lemma["accepted"] for lemma in item.data["coq"]["lemmas"])
        assert "coq" in item.data["engines"]
        assert set(item.data["coq"]["axioms"]) <= coq.AXIOMS


@needs_coq
def test_a_whole_statement_is_one_theorem_and_a_hypothesis_fewer_is_none():
    statement = claim("cflag.lemma13").parts[0].printed
    good = theorem("good", statement)
    without = theorem("without", statement)
    dropped = "(forall n0 n1 : nat, lipschitz L (grad_g n0 n1)) ->\n    "
    assert dropped in without.statement
    weaker = words.Lemma("without", "", without.text.replace(dropped, "").replace(" lipschitz_g ", " ", 1))
    # A smaller constant in the statement alone, which its proof does not reach.
    sharper = theorem("sharper", statement)
    smaller = words.Lemma("sharper", "", sharper.text.replace("<= (4 * beta * (INR k) *", "<= (3 * beta * (INR k) *"))
    assert smaller.text != sharper.text
    found = coq.check([weaker, good, smaller], wholes=True)
    assert found.accepted == {"good"}
    assert set(found.axioms) <= coq.AXIOMS
    (first, *_) = evidence("cflag.lemma13")
    assert first.data["whole"] == {"accepted": True, "statement": good.statement}


@needs_coq
def test_a_certificate_that_proves_less_is_refused_and_the_others_are_kept():
    good = words.lemma("good", at_most(2 * a, 2 * b), {"h": at_most(a, b)}, 2 * slack("h"))
    # Each is written as if sympy had accepted it.
    off = words.lemma("off", at_most(3 * a, 2 * b), {"h": at_most(a, b)}, 2 * slack("h"))
    sign = words.lemma("sign", at_most(b, a), {"h": at_most(a, b)}, -slack("h"))
    zero = words.lemma("zero", below(a - b, a - b), {}, square(a - b))
    found = coq.check([off, good, sign, zero])
    assert found.accepted == {"good"}


@needs_coq
def test_a_denominator_that_may_vanish_is_refused():
    given = {"h": at_most(1, 2 / (1 - m))}
    goal = at_most(1 - m, 2)
    loose = words.lemma("loose", goal, given, (1 - m) * slack("h"))
    assert coq.check([loose]).accepted == frozenset()


@needs_coq
def test_an_instance_that_contradicts_nothing_is_refused():
    statement = Statement("a <= b.", at_most(a, b), (Fact("h", at_most(b, 2), "b <= 2."),))
    right = coq_instances.counterexample("right", statement, {a: 2, b: 1})
    wrong = coq_instances.counterexample("wrong", statement, {a: 1, b: 2})
    outside = coq_instances.counterexample("outside", statement, {a: 4, b: 3})
    assert coq.check([wrong, right, outside]).accepted == {"right"}


@needs_coq
def test_an_axiom_of_ones_own_makes_everything_worthless():
    cheat = words.Lemma("cheat", "False", "Axiom cheat : False.")
    good = words.lemma("good", at_most(a, a), {}, sp.S.Zero)
    assert coq.check([cheat, good]).accepted == frozenset()


def test_without_coq_one_sentence_says_so(monkeypatch, cflag):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(MissingExtra, match="coqc is not installed: install Coq"):
        verify(["cflag.eq7"], prover="coq")
    code, out, err = cflag("verify", "cflag.eq7", "--prover", "coq")
    assert (code, out) == (2, "")
    assert err.startswith("cflag: coqc is not installed")


def test_a_claim_that_does_not_exist_is_named_before_anything_is_compiled(cflag, monkeypatch):
    monkeypatch.setattr(theory, "compile_theory", None)
    code, out, err = cflag("verify", "cflag.nosuch", "--prover", "coq")
    assert (code, out) == (2, "")
    assert err.startswith("cflag: no claim is called 'cflag.nosuch'")


def test_another_prover_is_unknown(cflag):
    with pytest.raises(InvalidInput, match="prover is 'lean'"):
        verify(["cflag.eq7"], prover="lean")
    assert cflag("show", "cflag.eq7", "--prover", "lean")[0] == 2


@needs_coq
def test_the_statement_of_a_theorem_stands_beside_the_ledgers():
    made = theory.Theorem("Drift.lemma13", "lemma13 : ...", ("a",))
    found = {name: made for names in theory.theorems().values() for name in names}
    (first, *_) = theory.attach("cflag.lemma13", evidence("cflag.lemma13"), found)
    assert first.data["theorems"] == [{"name": "Drift.lemma13", "statement": "lemma13 : ...", "axioms": ["a"]}]
    assert "Drift.lemma13" in first.summary


@needs_coq
def test_people_see_the_theorem_its_statement_and_its_axioms(cflag, monkeypatch):
    made = theory.Theorem("Drift.lemma13", "lemma13\n  : forall x, x = x", ("Mine.axiom",))
    found = {name: made for names in theory.theorems().values() for name in names}
    monkeypatch.setattr(cli.shell, "read_theory", lambda prover, claims: found)
    code, out, _ = cflag("show", "cflag.lemma13", "--prover", "coq")
    assert code == 0
    assert "Coq, Drift.lemma13" in out
    assert ": forall x, x = x" in out
    assert "axioms: Mine.axiom" in out
    code, out, _ = cflag("verify", "cflag.lemma13", "--prover", "coq")
    assert code == 0
    flat = " ".join(out.split())
    assert "checked by Coq: Drift.lemma13" in flat
    count = sum(len(inferences(one)) for part in claim("cflag.lemma13").parts for one in statements(part).values())
    assert f"Coq's kernel: 2 of 2 proofs ({count} lemmas), 0 of 0 exact counterexamples; " in flat
    assert "; 2 hand-written Coq theorems covering" in flat
    assert "whole statements: 2 of 2 are generated as one theorem each" in flat
    assert "axioms behind the headline theorems: Mine.axiom" in flat


@needs_coq
def test_a_simulated_counterexample_gets_no_word_from_coq():
    subject, check = claim("cflag.alg3_line14"), CHECKS["cflag.alg3_line14"]
    found = list(check.further(subject, 0, 1))
    assert any(item.kind == "counterexample" and item.finding == "refutes" for item in found)
    assert not any("coq" in item.data for item in coq.witness(subject, points_of("cflag.alg3_line14"), found))


@needs_coq
@pytest.mark.parametrize(
    "text",
    [
        "Axiom cheat' : False.",
        "Axiom classic : False.",
        "Unset Guard Checking. Fixpoint cheat (n : nat) : False := cheat n.",
        "Unset Universe Checking. Definition cheat : Type := Type.",
    ],
)
def test_whatever_coq_assumes_is_seen(text):
    name = "classic" if "classic" in text else "cheat'" if "'" in text else "cheat"
    assert coq.check([words.Lemma(name, "", text)]).accepted == frozenset()


@pytest.mark.parametrize(
    ("answer", "axioms"),
    [
        ("Closed under the global context\n", ()),
        ("Axioms:\nClassical_Prop.classic : forall P, P \\/ ~ P\n", ("Classical_Prop.classic",)),
        ("Axioms:\nClassicalDedekindReals.sig_not_dec\n  : forall P\n", ("ClassicalDedekindReals.sig_not_dec",)),
        ("Axioms:\nMine.classic : False\n", None),
        ("Axioms:\ncheat' : False\n", None),
        ("Axioms:\nloop is assumed to be guarded.\n", None),
        ("loop is assumed to be guarded.\n", None),
        ("", None),
    ],
)
def test_answers_are_understood_or_refused(answer, axioms):
    assert coq.axioms_in(answer) == axioms
