"""(90), (149)-(160) and our forgetting step: verdicts, and what a wrong constant changes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

import pytest
import rows
import sympy as sp
from rows import in_order, points_of

from cflag_theory.claims.c_flag.forgetting import terms
from cflag_theory.claims.c_flag.forgetting.ours import step as ours_forgetting
from cflag_theory.claims.engine.notation import L, alpha

NEEDS = "needs-hypothesis"
EXPECTED = {
    "cflag.eq90": ["typo"],
    "cflag.eq151": ["typo", NEEDS, NEEDS],
    "cflag.eq156": [NEEDS] * 4,
    "cflag.eq158": ["holds", "holds"],
    "cflag.eq160": [NEEDS, "holds"],
    "ours.forgetting_step": ["holds"] * 3,
}
decide = partial(rows.decide, samples=12)


@cache
def decided(id):
    return decide((terms.CLAIMS | ours_forgetting.CLAIMS)[id]())


@pytest.mark.parametrize("id", EXPECTED)
def test_verdict(id):
    verdict = decided(id)
    assert in_order(verdict) == EXPECTED[id]
    for item in verdict.evidence:
        if item.on != "printed":
            assert item.finding == "supports"
        if item.kind == "proof":
            assert item.data["engines"] == ["sympy", "z3"]


def refuted(verdict):
    return {(e.part, e.on) for e in verdict.evidence if e.kind == "counterexample" and e.finding == "refutes"}


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        (lambda: terms.eq90(sp.Rational(99, 100)), {("1", "repair")}),
        (lambda: terms.eq151(0, sp.Rational(127, 100)), {("1", "repair"), ("2", "repair")}),
        (lambda: terms.eq151(third=sp.Rational(469, 1000) ** 2), {("3", "repair")}),
        (lambda: terms.eq156(sp.Rational(1, 2)), {("1", "repair"), ("3", "repair")}),
        (lambda: terms.eq156(second=sp.Rational(46, 100)), {("2", "repair"), ("4", "repair")}),
        (lambda: terms.eq158(35), {("2", "printed")}),
        (lambda: terms.eq160(3), {("2", "printed")}),
    ],
)
def test_a_wrong_constant_is_refuted(wrong, where):
    subject = wrong()
    verdict = decide(subject)
    assert refuted(verdict) >= where
    assert all(part.verdict == "false" for part in verdict.parts if part.key in {key for key, _ in where})


def test_the_bounds_of_158_are_all_needed():
    first = terms.eq158().parts[0].printed
    for fact in first.hypotheses:
        fewer = tuple(kept for kept in first.hypotheses if kept != fact)
        subject = replace(
            terms.eq158(), parts=(replace(terms.eq158().parts[0], printed=replace(first, hypotheses=fewer)),)
        )
        assert decide(subject).verdict in ("open", "false")


def test_the_counterexamples_on_alpha_lie_beyond_1_over_L():
    for id, keys in (("cflag.eq156", ("1", "2")), ("cflag.eq160", ("1",))):
        for item in decided(id).evidence:
            if item.part in keys and item.kind == "counterexample":
                values = {name: sp.Rational(value) for name, value in item.data["values"].items()}
                assert 1 < values[str(L)] * values[str(alpha)] < 2


@pytest.mark.parametrize(("key", "factor"), [("1", 0.999), ("2", 0.98), ("3", 0.45)])
def test_less_than_our_bound_is_refuted(key, factor):
    subject = ours_forgetting.forgetting_step()
    chosen = next(part for part in subject.parts if part.key == key)
    relation = replace(chosen.printed.relation, right=sp.Rational(str(factor)) * chosen.printed.relation.right)
    verdict = decide(subject.with_printed(relation, key))
    assert verdict.verdict == "false"


def test_our_bound_is_attained_on_both_sides_of_alpha():
    relation = ours_forgetting.forgetting_step().parts[0].printed.relation
    equal = {
        bool(point.values[L] * point.values[alpha] > 1)
        for point in points_of("ours.forgetting_step")
        if point.part == "1" and relation.slack.xreplace({k: sp.sympify(v) for k, v in point.values.items()}) == 0
    }
    assert equal == {True, False}
