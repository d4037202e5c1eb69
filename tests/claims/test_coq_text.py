"""Obligations as Coq text: what is written, with no prover asked."""

from __future__ import annotations

import pytest
import sympy as sp

from cflag_theory.claims.coq import instances as coq_instances
from cflag_theory.claims.coq import lemmas as coq
from cflag_theory.claims.engine.algebra import residual, slack, square
from cflag_theory.claims.engine.claim import Fact, Statement
from cflag_theory.claims.engine.relation import at_most, below, equal

a, b = sp.symbols("a b", nonnegative=True)
x, y = sp.symbols("x y", real=True)
m = sp.Symbol("m", nonnegative=True)


def test_a_lemma_has_the_signs_the_premises_and_the_goal():
    lemma = coq.lemma("l", at_most(a, b + x**2), {"h": at_most(a, b)}, slack("h") + square(x))
    assert lemma.statement == "forall a b x : R,\n    0 <= a ->\n    0 <= b ->\n    a <= b ->\n    a <= (b + (x ^ 2))"
    assert lemma.text.startswith(f"Lemma l : {lemma.statement}.\nProof.")
    assert lemma.text.endswith("Qed.")


def test_terms_that_are_not_polynomial_are_named_and_explained():
    d = sp.Function("d", nonnegative=True)
    k = sp.Symbol("k", integer=True, nonnegative=True)
    lemma = coq.lemma("l", at_most(d(k), d(k) + sp.exp(a)), {}, sp.exp(a))
    assert "d_k is d(k)" in lemma.text
    assert "exp_a is exp(a)" in lemma.text
    assert "0 < exp_a" in lemma.statement


def test_names_are_never_shared_and_never_words_of_the_language():
    other = sp.Dummy("x", real=True)
    match = sp.Symbol("match", real=True)
    lemma = coq.lemma("l", equal(x + other + match, match + other + x), {}, sp.S.Zero)
    names = lemma.statement.partition(" : R")[0].split()[1:]
    assert sorted(names) == ["v_match", "x", "x_2"]


def test_a_hypothesis_becomes_a_premise_only_to_keep_a_denominator_from_zero():
    goal, given = at_most(0, a / (1 - m)), {"h": at_most(0, a / (1 - m))}
    bare = coq.lemma("l", goal, given, slack("h"))
    helped = coq.lemma("l", goal, given, slack("h"), [below(m, 1), below(x, y)])
    assert "m < 1" not in bare.statement
    assert "m < 1" in helped.statement
    assert "x < y" not in helped.statement


def test_what_coq_has_no_word_for():
    with pytest.raises(TypeError, match="no word"):
        coq.lemma("l", at_most(sp.Abs(x), y), {}, y - sp.Abs(x))


def test_a_counterexample_says_that_numbers_exist():
    statement = Statement("x <= y.", at_most(x, y * m), (Fact("h", at_most(y, 2), "y <= 2."),))
    lemma = coq_instances.counterexample("l", statement, {x: sp.Rational(3, 2), y: 1, m: 1})
    assert lemma.statement == "exists x y m : R,\n    0 <= m /\\\n    y <= 2 /\\\n    ~ (x <= (m * y))"
    assert "exists (3 / 2), 1, 1." in lemma.text


def test_a_counterexample_that_is_not_rational_has_no_words():
    statement = Statement("x <= 1.", at_most(x, 1))
    with pytest.raises(TypeError, match="not rational"):
        coq_instances.counterexample("l", statement, {x: sp.sqrt(2)})


def test_equations_use_residuals():
    lemma = coq.lemma("l", equal(x, y), {"h": equal(x, y)}, -residual("h"))
    assert "by_residuals" in lemma.text


def test_a_comment_cannot_be_ended_from_inside():
    odd = sp.Function("f*) Axiom foo : False. (*")
    lemma = coq.lemma("l", at_most(odd(a) ** 2, odd(a) ** 2), {}, sp.S.Zero)
    assert lemma.text.count("(*") == lemma.text.count("*)") == 1


def test_an_instance_keeps_its_denominators_from_zero():
    statement = Statement("x/m <= 1.", at_most(x / m, 1))
    lemma = coq_instances.counterexample("l", statement, {x: 2, m: 1})
    assert "m <> 0" in lemma.statement


def test_a_symbol_in_an_exponent_is_its_number_everywhere():
    k = sp.Symbol("k", integer=True, nonnegative=True)
    statement = Statement("(1 + a)^k <= k.", at_most((1 + a) ** k, k))
    lemma = coq_instances.counterexample("l", statement, {a: 1, k: 2})
    assert lemma.statement == "exists a : R,\n    0 <= a /\\\n    ~ (((a + 1) ^ 2) <= 2)"


@pytest.mark.parametrize("key", [sp.exp(a), sp.sqrt(a)])
def test_a_term_with_a_value_of_its_own_gets_no_other(key):
    with pytest.raises(TypeError, match="has one already"):
        coq_instances.counterexample("l", Statement("...", equal(key, 1)), {key: 3, a: 0})


def test_a_member_of_a_sequence_has_one_value():
    d, k = sp.Function("d", real=True), sp.Symbol("k", integer=True, nonnegative=True)
    with pytest.raises(TypeError, match="has one already"):
        coq_instances.counterexample("l", Statement("...", at_most(d(k), d(0))), {d(k): 2, d(0): 1, k: 0})
