"""Both sides of a claim about numbers: proofs, counterexamples, and the constants between them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.falsify import Conjecture, Range, decide, prove
from cflag_theory.falsify.decisions.decision import sandwich, simplest
from cflag_theory.falsify.search.exact_numbers import exp, sqrt

UNIT = {"x": Range(0, 1), "y": Range(0, 1)}
SMALL = {"budget": 300}


def squares(share, **more):
    return Conjecture(
        name="a product", ranges=UNIT, left=lambda x, y: x * y, right=lambda x, y: share * (x**2 + y**2), **more
    )


def test_a_true_and_a_false_claim():
    true = decide(squares(Fraction(1, 2)), **SMALL)
    assert (true.outcome, true.finding.engines, true.constant) == ("proved", ("z3",), None)
    false = decide(squares(Fraction(499, 1000)), **SMALL)
    assert false.refuted
    assert false.finding.case == {"x": "1", "y": "1"}
    assert (false.finding.left, false.finding.right) == ("1", "499/500")


def test_prove_searches_for_nothing():
    root = {"left": lambda x: exp(x), "right": lambda x: 1 + 2 * x}
    claim = Conjecture(name="above a chord", ranges={"x": Range(0, 2)}, **root)
    found = prove(claim, **SMALL)
    assert (found.outcome, found.finding.cases) == ("neither", 0)
    assert decide(claim, **SMALL).refuted


@pytest.mark.parametrize(
    ("slope", "outcome"), [(Fraction(1, 2), "proved"), (Fraction(49, 100), "refuted"), (Fraction(51, 100), "proved")]
)
def test_square_roots_are_algebra(slope, outcome):
    claim = Conjecture(
        name="a root below its tangent",
        ranges={"x": Range(0, 4)},
        left=lambda x: sqrt(1 + sqrt(x) ** 2),
        right=lambda x: 1 + slope * x,
    )
    assert decide(claim, **SMALL).outcome == outcome


def test_a_root_that_may_have_no_value_is_no_proof():
    claim = Conjecture(
        name="a root of what may be negative",
        ranges={"x": Range(-1, 1)},
        left=lambda x: 0,
        right=lambda x: sqrt(x),
    )
    with pytest.raises(InvalidInput, match="not real"):
        prove(claim, **SMALL)


def test_a_free_constant_from_above_and_from_below():
    above = Conjecture(
        name="the least share",
        ranges=UNIT | {"c": Range(0, 4)},
        left=lambda x, y: x * y,
        right=lambda x, y, c: c * (x**2 + y**2),
        free="c",
    )
    found = decide(above, **SMALL).constant
    assert (found.provable, found.larger_is_weaker) == (Fraction(1, 2), True)
    assert Fraction(49, 100) < found.refuted < found.provable
    x, y = (Fraction(found.case[name]) for name in "xy")
    assert x * y > found.refuted * (x**2 + y**2)
    below = Conjecture(
        name="the largest slope",
        ranges={"x": Range(0, 4), "c": Range(0, 20)},
        left=lambda x, c: c * x - x**3,
        right=lambda x: 2,
        free="c",
    )
    found = decide(below, **SMALL).constant
    assert (found.provable, found.larger_is_weaker) == (3, False)
    assert 3 < found.refuted < Fraction(61, 20)


def test_neither_comes_with_the_best_of_both_sides():
    open_claim = Conjecture(
        name="exp below a parabola",
        ranges={"x": Range(0, 1)},
        left=lambda x: exp(x),
        right=lambda x: 1 + x + Fraction(18, 25) * x**2,
    )
    found = decide(open_claim, **SMALL)
    assert (found.outcome, found.constant.provable) == ("neither", None)
    assert found.finding.largest_ratio == 1.0
    assert found.to_json()["constant"]["name"] == "factor of the right side"


def test_the_smallest_factor_that_is_proved(monkeypatch):
    from cflag_theory.falsify import falsifying

    # Without the proof of the claim itself, what is left is the search, which proves nothing.
    monkeypatch.setattr(falsifying, "attempt", lambda *_, **__: falsifying.Attempt("unknown", why="not asked"))
    found = decide(squares(Fraction(5, 8)), **SMALL)
    assert found.outcome == "neither"
    assert found.finding.largest_ratio == pytest.approx(0.8)
    assert found.constant.provable == Fraction(4, 5)


def test_what_a_free_constant_may_be():
    with pytest.raises(InvalidInput, match="free is 'z'"):
        squares(1, free="z")
    with pytest.raises(InvalidInput, match="name a real variable"):
        Conjecture(name="a", ranges={"k": Range(1, 3, kind="integer")}, left=0, right=lambda k: k, free="k")
    with pytest.raises(UnknownName):
        Conjecture(name="a", ranges={"c": Range(0, 1)}, left=0, right=lambda d: d, free="c")


@settings(max_examples=60, deadline=None)
@given(st.fractions(min_value=-3, max_value=3, max_denominator=40), st.booleans())
def test_a_sandwich_reports_only_what_was_asked(threshold, larger):
    asked = {}

    def ask(value):
        true = value >= threshold if larger else value <= threshold
        asked[value] = "proved" if true else "refuted"
        return asked[value], value

    found = sandwich(ask, Fraction(-4), Fraction(4))
    assert found.larger_is_weaker == larger
    assert asked[found.proved[0]] == "proved"
    assert asked[found.refuted[0]] == "refuted"
    assert found.proved[0] == threshold
    assert abs(found.refuted[0] - threshold) < Fraction(1, 20)


def test_values_that_stay_open_keep_both_ends():
    def ask(value):
        return ("proved" if value >= 3 else "refuted" if value <= 1 else "not broken"), value

    found = sandwich(ask, Fraction(0), Fraction(5))
    assert (found.proved[0], found.refuted[0]) == (3, 1)


@given(
    st.fractions(min_value=-5, max_value=5, max_denominator=50),
    st.fractions(min_value=0, max_value=1, max_denominator=50),
)
def test_the_simplest_fraction_between(low, width):
    found = simplest(low, low + width)
    assert low <= found <= low + width
    assert not any(-(-low.numerator * d // low.denominator) <= (low + width) * d for d in range(1, found.denominator))
