"""Lemma 12 and the lines of the proofs of Lemma 13 and Corollary 14: verdicts, and what a wrong constant changes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

import pytest
import rows
import sympy as sp
from rows import in_order, points_of

from cflag_theory.claims.c_flag.local_steps import iag
from cflag_theory.claims.c_flag.local_steps.drift import drift, error
from cflag_theory.claims.c_flag.local_steps.iag import before
from cflag_theory.claims.engine.notation import E, L, beta, grad_g, k
from cflag_theory.claims.engine.relation import at_most

EXPECTED = {
    "cflag.lemma12": ["loose"],
    "cflag.eq105": ["holds", "typo"],
    "cflag.eq117": ["loose"],
    "cflag.eq126": ["holds", "holds", "holds"],
    "cflag.eq129": ["loose", "typo"],
}
SHARP = {
    "cflag.lemma12": (3, 0.97),
    "cflag.eq117": (2, 1),
    "cflag.eq129": (4 / (12 * sp.exp(sp.Rational(1, 12)) - 12), 1),
}
decide = partial(rows.decide, samples=12)


@cache
def decided(id):
    return decide(iag.CLAIMS[id]())


@pytest.mark.parametrize("id", EXPECTED)
def test_verdict(id):
    verdict = decided(id)
    assert in_order(verdict) == EXPECTED[id]
    for item in verdict.evidence:
        if item.on != "printed" or item.kind == "proof":
            assert item.finding == "supports"
        if item.kind == "proof":
            assert item.data["engines"] == ["sympy", "z3"]


@pytest.mark.parametrize("id", SHARP)
def test_sharp_constants(id):
    (found,) = decided(id).sharp
    factor, nearest = SHARP[id]
    assert found["factor"] == pytest.approx(float(factor))
    assert nearest <= found["reached"] <= 1 + 1e-12


def planted(id, relation, key="1", on="printed"):
    """The findings about a part with another relation and no proof."""
    subject = iag.CLAIMS[id]()
    chosen = next(part for part in subject.parts if part.key == key)
    statement = chosen.printed if on == "printed" else chosen.sharp.statement
    statement = replace(statement, relation=relation, proof=None)
    part = replace(chosen, printed=statement, sharp=None, repair=None)
    return decide(replace(subject, parts=(part,))).verdict


def scaled(id, factor, key="1", on="printed"):
    subject = iag.CLAIMS[id]()
    chosen = next(part for part in subject.parts if part.key == key)
    relation = (chosen.printed if on == "printed" else chosen.sharp.statement).relation
    return planted(id, replace(relation, right=factor * relation.right), key, on)


@pytest.mark.parametrize(
    ("id", "key", "on", "factor"),
    [
        ("cflag.lemma12", "1", "sharp", sp.Rational(97, 100)),
        ("cflag.eq105", "1", "printed", sp.Rational(92, 100)),
        ("cflag.eq117", "1", "sharp", sp.Rational(999, 1000)),
        ("cflag.eq126", "1", "printed", sp.Rational(999, 1000)),
        ("cflag.eq126", "2", "printed", sp.Rational(99, 100)),
        ("cflag.eq126", "3", "printed", sp.Rational(999, 1000)),
        ("cflag.eq129", "2", "printed", sp.Rational(99, 100)),
    ],
)
def test_past_its_sharp_value_a_bound_is_refuted(id, key, on, factor):
    assert scaled(id, factor, key, on) == "false"


def test_the_maximum_of_129_is_more_than_beta_k():
    weight = 3 * beta * L**2 * E
    assert planted("cflag.eq129", at_most(weight * before(k), weight * beta * k * grad_g)) == "false"


def test_a_constant_below_the_sharp_one_is_not_proved():
    assert in_order(decide(iag.lemma12(sp.Rational(1, 2)))) == ["open"]
    assert in_order(decide(iag.eq105(sp.Rational(9, 5)))) == ["false", "typo"]
    assert in_order(decide(iag.eq117(sp.Rational(9, 10)))) == ["false"]
    assert in_order(decide(iag.eq129(1))) == ["open", "typo"]


def test_103_as_printed_fails_where_the_table_is_old():
    (found,) = (e for e in decided("cflag.eq105").evidence if e.part == "2" and e.kind == "counterexample")
    assert "4 components x^2/2 - x, refreshed in turn" in found.data["instance"][0]
    assert (found.data["left"], found.data["right"]) == ("3/128", "1/64")


def test_129_as_printed_is_right_for_large_gradients_only():
    relation = iag.eq129().parts[1].printed.relation
    at = {beta: sp.Rational(1, 12), L: 1, E: 1}
    assert relation.holds_at({**at, grad_g: 2})
    assert relation.holds_at({**at, grad_g: 1})
    assert not relation.holds_at({**at, grad_g: sp.Rational(1, 2)})


def test_step_zero_is_covered():
    for point in points_of("cflag.lemma12"):
        if point.values[k] == 0:
            assert point.values[before(k)] == point.values[error(k)] == point.values[drift(k)] == 0
            break
    else:
        pytest.fail("no instance at k = 0")
