"""Claims about powers, exp and logarithms: what rules and induction prove, and what lies next to it."""

from __future__ import annotations

import math

import pytest
import sympy as sp
from needs import quick

from cflag_theory.errors import InvalidInput
from cflag_theory.falsify import Conjecture, Range, decide
from cflag_theory.falsify.search.exact_numbers import Exact, as_float, exp, log

R = sp.Rational
T, m = sp.Symbol("T", integer=True, positive=True), sp.Symbol("m", integer=True, nonnegative=True)
a, b, c, x = sp.symbols("a b c x", positive=True)
d, r = sp.Symbol("d", nonnegative=True), sp.Symbol("r", real=True)
RANGES = {
    "a": Range(0, 10, open="low"),
    "b": Range(0, 10, open="low"),
    "c": Range(0, 1, open="low"),
    "d": Range(0, 10),
    "m": Range(0, 500, kind="integer"),
    "r": Range(-5, 5),
    "T": Range(1, 1000, kind="integer"),
    "x": Range(0, 100, open="low"),
}
HALF, THREE = {"c": Range(0, "1/2", open="low")}, {"c": Range(0, 3, open="low")}

TRUE = {
    "Bernoulli": (1 - c * m, (1 - c) ** m),
    "Bernoulli, half": (1 - c * m, (1 - c) ** m, HALF),
    "Bernoulli upwards": (1 + d * m, (1 + d) ** m),
    "Bernoulli, inverse": ((1 - c) ** m * (1 + c * m), 1),
    "decay": ((1 - c) ** m, sp.exp(-c * m)),
    "decay, half": ((1 - c) ** m, sp.exp(-c * m), HALF),
    "decay, scaled": (b * (1 - c) ** m, b * sp.exp(-c * m)),
    "decay of a product": ((1 - a * b) ** m, sp.exp(-a * b * m), {}, a * b <= 1),
    "decay, squared": ((1 - c) ** (2 * m), sp.exp(-2 * c * m)),
    "growth": ((1 + d) ** m, sp.exp(d * m)),
    "below e": ((1 + 1 / T) ** T, sp.E),
    "below 1/e": ((1 - 1 / T) ** T, sp.exp(-1)),
    "exp above its tangent": (1 + r, sp.exp(r)),
    "exp downwards": (1 - d, sp.exp(-d)),
    "exp, times more": (1 + d, sp.exp(d) * sp.exp(d * d)),
    "log below": (sp.log(x), x - 1),
    "log above": (1 - 1 / x, sp.log(x)),
    "log near 1": (sp.log(1 + d), d),
    "log near 1 from below": (d / (1 + d), sp.log(1 + d)),
    "log of more": (sp.log(T), sp.log(T + 1)),
    "one term of a harmonic sum": (1 / (T + 1), sp.log(T + 1) - sp.log(T)),
    "powers decrease": ((1 - c) ** (T + 1), (1 - c) ** T),
    "powers of 2": (T, 2**T),
    "a Python function": (lambda c, m: (1 - c) ** m, lambda c, m: exp(-c * m)),
    "a Python logarithm": (lambda x: log(x), lambda x: x - 1),
}
FALSE = {
    "Bernoulli, half the slope": (1 - c * T / 2, (1 - c) ** T),
    "Bernoulli, c up to 3": (1 - c * T, (1 - c) ** T, THREE),
    "Bernoulli with a square": (1 + d * m + d**2 * m**2, (1 + d) ** m),
    "Bernoulli, inverse": (1, (1 - c) ** m * (1 + c * m)),
    "decay, too fast": ((1 - c) ** T, sp.exp(-R(3, 2) * c * T)),
    "decay, c up to 3": ((1 - c) ** T, sp.exp(-c * T), THREE),
    "decay from below": (sp.exp(-c * T), (1 - c) ** T),
    "growth from below": (sp.exp(d * m), (1 + d) ** m),
    "above e": (sp.E, (1 + 1 / T) ** T),
    "above 1/e": (sp.exp(-1), (1 - 1 / T) ** T),
    "exp above another line": (1 + R(11, 10) * d, sp.exp(d)),
    "exp below its tangent": (sp.exp(-d), 1 - d),
    "log below less": (sp.log(x), x - R(11, 10)),
    "log near 1, less": (sp.log(1 + d), R(9, 10) * d),
    "log above its tangent": (d, sp.log(1 + d)),
    "log above more": (1 - 1 / x**2, sp.log(x)),
    "powers of 2, squared": (T**2, 2**T),
    "powers increase": ((1 - c) ** T, (1 - c) ** (T + 1)),
    "powers from the second": ((1 - c) ** T, (1 - c) ** 2),
}


def decided(left, right, ranges=None, *given):
    parts = [side for side in (left, right, *given) if isinstance(side, sp.Basic)]
    names = {symbol.name for part in parts for symbol in part.free_symbols}
    names |= {name for side in (left, right) if not isinstance(side, sp.Basic | int) for name in _arguments(side)}
    spans = {name: RANGES[name] for name in names} | (ranges or {})
    return decide(Conjecture(name="numbers", left=left, right=right, ranges=spans, given=given))


def _arguments(function):
    return function.__code__.co_varnames[: function.__code__.co_argcount]


@pytest.mark.parametrize("name", quick(TRUE, of=3))
def test_it_is_proved(name):
    assert decided(*TRUE[name]).outcome == "proved"


@pytest.mark.parametrize("name", FALSE)
def test_what_lies_next_to_it_is_refuted(name):
    assert decided(*FALSE[name]).outcome == "refuted"


def test_the_proof_is_a_chain():
    text = "\n".join(decided(*TRUE["decay"]).derivation.text())
    assert "(1 - c)**m <= exp(-c*m)  [for induction on m]" in text
    assert "1 <= 1  [for the first m]" in text
    assert "1 - c <= exp(-c)  [tangent of exp]" in text
    assert "  <= exp(-c*(m + 1))  (by exp(-c*m) * [4])" in text
    assert decided(*TRUE["powers of 2"]).derivation is None


def test_what_was_tried_is_said():
    found = decided(c - c**2 / 2, sp.log(1 + c))
    assert found.outcome == "neither"
    assert "algebra: rules and induction do not decide it" in found.finding.not_covered


def test_what_nothing_satisfies_proves_nothing():
    with pytest.raises(InvalidInput, match=r"no case satisfies|contradict each other"):
        decided(sp.exp(-c * T), (1 - c) ** T, {}, c >= 2)


def test_numbers_too_large_for_floats_are_compared_exactly():
    """(1 + 10)^500 is no float: the search used to end in a message about the user's floats."""
    assert decided((1 + d) ** m, sp.exp(d * m)).outcome == "proved"


def test_a_recursion_decays_like_exp():
    from cflag_theory.falsify import index, sequence

    t, A = index("t"), sequence("A", nonnegative=True)
    step = A(t + 1) <= (1 - c) * A(t)
    claim = Conjecture(name="decay", left=A(T), right=sp.exp(-c * T) * A(0), given=(step, c <= 1))
    assert decide(claim).outcome == "proved"
    without = Conjecture(name="decay", left=A(T), right=sp.exp(-2 * c * T) * A(0), given=(step, c <= 1))
    assert decide(without).outcome != "proved"


def test_an_exact_number_has_a_float_next_to_it():
    """Also one too large for floats, and one that refuses to be turned into one by a user's code."""
    assert as_float(Exact(1, 3)) == 1 / 3
    assert as_float(Exact(10**400)) == math.inf
    assert as_float(-Exact(10**400)) == -math.inf
