"""Several constants of unknown value, and what stops a search between two values."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from cflag_theory.errors import InvalidInput
from cflag_theory.falsify import Conjecture, Range, decide, function, norm2, vectors

L, alpha, c, d = sp.symbols("L alpha c d", positive=True)
r, s = sp.symbols("r s", real=True)
x, y = vectors("x y")
f = function("f", smooth=L)
SPANS = {"c": Range(0, 4, open="low"), "d": Range(0, 4, open="low")}
REALS = {"r": Range(-3, 3), "s": Range(-3, 3)}


def young(**more):
    spans = SPANS | more.pop("ranges", {})
    right = (1 + c) * norm2(x) + (1 + d) * norm2(y)
    return Conjecture(name="young", left=norm2(x + y), right=right, ranges=spans, **more)


def test_the_first_is_best_where_the_others_are_simple():
    found = decide(young(free=("c", "d")))
    assert (found.outcome, found.chosen) == ("proved", {"d": "1"})
    assert found.constant.name == "c where d = 1"
    assert found.constant.provable == 1
    assert found.constant.refuted is not None


def test_another_value_is_taken_where_the_simplest_allows_none():
    """At d <= 1/4 no c <= 2 is enough."""
    found = decide(young(ranges={"c": Range(0, 2, open="low"), "d": Range("1/8", 1)}, free=("c", "d")))
    assert found.proved
    assert Fraction(found.chosen["d"]) * found.constant.provable >= 1


@pytest.mark.full
def test_numbers_too():
    claim = Conjecture(name="n", left=r * s, right=c * r**2 + d * s**2, ranges={**SPANS, **REALS}, free=("d", "c"))
    found = decide(claim)
    assert found.chosen == {"c": "1"}
    assert found.constant.provable == Fraction(1, 4)


def test_where_nothing_is_proved_it_says_which_values_were_tried():
    small = Range(0, "1/4", open="low")
    found = decide(young(ranges={"c": small, "d": small}, free=("c", "d")))
    assert found.outcome == "refuted"
    assert not found.chosen
    assert found.constant.within == "in (0, 1/4] where d = 1/4 or d = 1/8"


def test_what_stopped_a_wide_sandwich_is_said():
    """c - c^2/2 <= ln(1 + c) holds, and has no proof here; with 2/3 in place of 1/2 it is proved by no rule either."""
    claim = Conjecture(
        name="log", left=d * s, right=sp.log(1 + s), ranges={"d": Range("1/8", 1), "s": Range(0, 1)}, free="d"
    )
    found = decide(claim)
    assert found.constant.undecided
    assert any(words.startswith("d = ") and "rules and induction" in words for words in found.finding.not_covered)


@pytest.mark.parametrize("free", [("c", "c"), ("c", "x"), ("c", "n")])
def test_each_is_a_real_variable_and_is_named_once(free):
    spans = {**SPANS, **REALS, "n": Range(1, 3, kind="integer")}
    with pytest.raises(InvalidInput, match="name a real variable"):
        Conjecture(name="n", left=lambda r, s, n: r * s, right=lambda c, d: c + d, ranges=spans, free=free)


def test_vectors_need_ranges_too():
    claim = Conjecture(name="v", left=norm2(x), right=c * d * norm2(x), ranges={"c": SPANS["c"]}, free=("c", "d"))
    with pytest.raises(InvalidInput, match="the free constant d needs a range"):
        decide(claim)
