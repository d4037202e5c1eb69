"""Lemmas 15 and 16 and our exact sums: verdicts, and what a wrong constant changes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache, partial

import pytest
import rows
import sympy as sp
from rows import in_order

from cflag_theory.claims.c_flag.forgetting.ours import step as ours_forgetting
from cflag_theory.claims.c_flag.local_steps import sums
from cflag_theory.verify.checks.c_flag.local_steps import sums as checks

ROWS = ("cflag.lemma15_1", "cflag.lemma15_2", "cflag.lemma16")
QUARTER = sp.exp(sp.Rational(1, 4))
decide = partial(rows.decide, samples=12)


@cache
def decided(id):
    return decide((sums.CLAIMS | ours_forgetting.CLAIMS)[id]())


@pytest.mark.parametrize("id", ROWS)
def test_without_a_step_size_the_lemmas_fail_and_with_it_they_hold(id):
    verdict = decided(id)
    assert in_order(verdict) == ["needs-hypothesis"]
    for item in verdict.evidence:
        if item.on != "printed":
            assert item.finding == "supports"
        if item.kind == "proof":
            assert item.data["engines"] == ["sympy", "z3"]


@pytest.mark.parametrize(
    ("id", "factor", "nearest"),
    [
        ("cflag.lemma15_1", 4 / (16 * QUARTER - 20), 0.99),
        ("cflag.lemma15_2", 4 / (4 * QUARTER - 4) ** 2, 0.99),
        ("cflag.lemma16", 4, 0.95),
    ],
)
def test_sharp_constants(id, factor, nearest):
    (found,) = decided(id).sharp
    assert found["factor"] == pytest.approx(float(factor))
    assert nearest <= found["reached"] <= 1


@pytest.mark.parametrize(
    ("id", "wrong"),
    [
        ("cflag.lemma15_1", lambda: sums.lemma15_1(sp.Rational(1, 2))),
        ("cflag.lemma15_2", lambda: sums.lemma15_2(0, sp.Rational(127, 100))),
        ("cflag.lemma16", lambda: sums.lemma16(sp.Rational(47, 100))),
    ],
)
def test_past_its_sharp_value_the_repair_is_refuted(id, wrong):
    verdict = decide(wrong())
    assert in_order(verdict) == ["false"]
    assert any(e.on == "repair" and e.kind == "counterexample" and e.finding == "refutes" for e in verdict.evidence)


def test_constants_between_the_sharp_and_the_printed_ones_pass():
    assert decide(sums.lemma15_1(1)).verdict == "needs-hypothesis"
    assert decide(sums.lemma15_2(0, 2)).verdict == "needs-hypothesis"
    assert decide(sums.lemma16(1)).verdict == "needs-hypothesis"


def test_the_closed_forms_of_the_instances():
    # One component: sum rho = ((1 + w)^E - 1) / w. Two, one of them old: sum e = sum ((1 + w/2)^k - 1).
    assert checks.concave_sums(4, 1, Fraction(8)) == ((9**4 - 1) // 8, 0)
    assert checks.concave_sums(4, 2, Fraction(12))[1] == sum(7**k - 1 for k in range(4))


def test_our_sums_are_exact():
    verdict = decided("ours.local_sums")
    assert in_order(verdict) == ["holds", "holds", "holds"]
    reached = {e.part: e.data["largest_ratio"] for e in verdict.evidence if "largest_ratio" in e.data}
    assert reached["1"] == reached["2"] == 1
    assert reached["3"] > 0.95


@pytest.mark.parametrize(("key", "factor"), [("1", 0.999), ("2", 0.999), ("3", 0.95)])
def test_less_than_our_sums_is_refuted(key, factor):
    subject = ours_forgetting.local_sums()
    chosen = next(part for part in subject.parts if part.key == key)
    relation = replace(chosen.printed.relation, right=sp.Rational(str(factor)) * chosen.printed.relation.right)
    verdict = decide(subject.with_printed(relation, key))
    assert verdict.verdict == "false"
