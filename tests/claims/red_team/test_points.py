"""Attacks through exact instances: two values of one number, values that a sign forbids, roots in other words."""

from __future__ import annotations

import pytest
import sympy as sp
from attacks import Attack, answer, claims, fact, table

from cflag_theory.claims.engine.claim import Part, Statement
from cflag_theory.claims.engine.points import holds_at, sides_at
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation
from cflag_theory.verify.evidence import Point, refute, replay

k = sp.Symbol("k", integer=True, nonnegative=True)
p = sp.Symbol("p", positive=True)
w = sp.Symbol("w", real=True)
f = sp.Function("f", real=True)


def replayed(relation, **values):
    """What comes of an instance: its evidence's summary."""
    point = Point({sp.Symbol(name, real=True): value for name, value in values.items()}, ("attack",))
    return lambda: replay(Part("1", Statement("", relation)), [point])[0].summary


def refuted(printed, refutation, *hypotheses, **fields):
    return lambda: refute(Part("1", Statement("", printed, hypotheses), refutation=refutation(), **fields))[0].summary


def at(number):
    """The instance w = number, where w is above 1."""
    return claims(below(1, w), Obligation("s", below(1, w), ("a",)), given=(fact("a", equal(w, number)),))


@table(
    Attack("f(0) and f(k) at k = 0", lambda: Point({f(0): 2, f(k): 1, k: 0}, ("attack",)), "f(0) has two values"),
    Attack(
        "f(k + 1) and f(2) at k = 1", lambda: Point({f(2): 2, f(k + 1): 1, k: 1}, ("attack",)), "f(2) has two values"
    ),
    Attack("a negative positive number", lambda: sides_at(at_most(p, 1), {p: -1}), "contradicts that p is positive"),
    Attack("half a step", lambda: sides_at(at_most(k, 1), {k: sp.S.Half}), "contradicts that k is natural"),
    Attack("a float", lambda: sides_at(at_most(w, 1), {w: 0.1}), "is not an exact number"),
    Attack(
        "hypotheses that contradict each other",
        refuted(
            at_most(w, 1),
            claims(
                below(1, w),
                Obligation("s", below(1, w), ("a",)),
                given=(fact("a", below(1, w)), fact("b", at_most(w, 1))),
            ),
        ),
        "its hypotheses contradict each other",
    ),
    Attack(
        "what is true of everything",
        refuted(at_most(w, 1), claims(equal(4, 4), Obligation("s", equal(4, 4), ()))),
        "true of everything",
    ),
    Attack(
        "a refutation of something else",
        refuted(at_most(p, 1), at(3)),
        "what it shows does not contradict the printed statement",
    ),
    Attack(
        "another name for what it is about",
        refuted(at_most(p, 1), at(3), family=((p, w - 3),)),
        "what it shows does not contradict the printed statement",
    ),
    Attack(
        "an instance outside of the hypotheses",
        refuted(at_most(w, 1), at(3), fact("small", at_most(w, 2))),
        "it contradicts the hypotheses of the printed statement",
    ),
    Attack(
        "the same, where the contradiction is read",
        refuted(None, at(3), fact("small", at_most(p, 2)), family=((p, w),), unseen="a limit"),
        "it contradicts the hypotheses of the printed statement",
    ),
    Attack(
        "an instance that may be outside of the hypotheses",
        refuted(at_most(w, 1), at(3), fact("small", at_most(p, 2))),
        "it need not satisfy 'small' of the printed statement",
    ),
    Attack("a refutation of words", refuted(None, at(3)), "no relation is printed for it to contradict"),
)
def test_instances(attack):
    assert attack.sentence in answer(attack)


ROOTS = [
    (sp.sqrt(5 + 2 * sp.sqrt(6)), sp.sqrt(2) + sp.sqrt(3)),
    (sp.cbrt(sp.sqrt(5) + 2) - sp.cbrt(sp.sqrt(5) - 2), sp.S.One),
    (sp.sqrt(sp.sqrt(2) + 1) * sp.sqrt(sp.sqrt(2) - 1), sp.S.One),
]


@pytest.mark.parametrize(("left", "right"), ROOTS)
def test_roots_are_equal_in_whatever_words(left, right):
    x, y = sp.symbols("x y", real=True)
    values = {x: left, y: right}
    assert holds_at(equal(x, y), values)
    assert holds_at(at_most(x, y), values)
    assert not holds_at(below(x, y), values)
    assert not holds_at(equal(x, y), {x: left, y: right + sp.Rational(1, 10**12)})
