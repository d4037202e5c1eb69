"""The exact side of the falsifier: numbers, ranges, formulas; an answer is right or none is given."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from cflag_theory.claims.engine.models import look_for_model
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.proving import attempt, read
from cflag_theory.falsify.quantity import exact_value
from cflag_theory.falsify.ranges import Range
from cflag_theory.falsify.search.exact_numbers import DIGITS, Enclosure, Exact, Undecided, Whole, exp, log, sqrt
from cflag_theory.falsify.tracing import NotAlgebra, Traced

UNIT = {"x": Range(0, 1), "y": Range(0, 1)}


def of(left, right, **more):
    return Conjecture(name="a claim", ranges=UNIT, left=left, right=right, **more)


# Numbers


@settings(max_examples=60, deadline=None)
@given(st.fractions(min_value=Fraction(-40), max_value=40, max_denominator=60))
def test_enclosures_hold_what_sympy_evaluates(value):
    number = sp.Rational(value.numerator, value.denominator)
    cases = [(exp, sp.exp(number))]
    if value > 0:
        cases += [(sqrt, sp.sqrt(number)), (log, sp.log(number))]
    for function, wanted in cases:
        found = function(value)
        if isinstance(found, Fraction):
            assert wanted == sp.Rational(found.numerator, found.denominator)
            continue
        assert sp.Rational(found.low.numerator, found.low.denominator) < wanted
        assert wanted < sp.Rational(found.high.numerator, found.high.denominator)
        assert found.high - found.low < abs(found.low) / 2**100


def test_roots_of_squares_and_trivial_values_are_rational():
    assert sqrt(Fraction(4, 9)) == Fraction(2, 3)
    assert (exp(Fraction(0)), log(Fraction(1)), sqrt(Whole(9))) == (1, 0, 3)
    assert sqrt(2.0) == math.sqrt(2.0)


def test_enclosures_that_overlap_decide_nothing():
    two = sqrt(Fraction(2)) * sqrt(Fraction(2))
    for question in (lambda: two <= 2, lambda: two < 2, lambda: two == 2, lambda: 1 / (two - 2), lambda: log(two - 2)):
        with pytest.raises(Undecided):
            question()
    assert two < Fraction(3)
    assert two != 3
    assert not two > 3
    assert sqrt(Fraction(2)) + sqrt(Fraction(3)) > sqrt(Fraction(9, 1)) + Fraction(1, 10)


def test_more_digits_decide_more():
    near = Fraction(math.isqrt(2 * 10**100), 10**50)
    assert isinstance(sqrt(Fraction(2)) - near, Enclosure)
    with pytest.raises(Undecided):
        bool(sqrt(Fraction(2)) > near)
    token = DIGITS.set(512)
    try:
        assert sqrt(Fraction(2)) > near
    finally:
        DIGITS.reset(token)


@pytest.mark.parametrize(("function", "value"), [(sqrt, -1), (log, 0), (log, -2)])
def test_what_is_not_real_is_said(function, value):
    with pytest.raises(InvalidInput, match="is not real"):
        function(Fraction(value))


def test_quotients_of_whole_numbers_stay_exact():
    E = Whole(3)
    assert Fraction(1, 3) == 1 / E
    assert Fraction(1, 5) == 1 / (2 * E - 1)
    assert Fraction(3, 2) == E / 2
    assert Fraction(8, 3) == (2**E) / 3
    assert Fraction(1, 3) == E**-1
    assert isinstance(1 / (E + 1) + 1 / E, Fraction)
    assert list(range(E)) == [0, 1, 2]


def test_sympy_expressions_have_exact_values():
    x = sp.Symbol("x", positive=True)
    values = {"x": Fraction(1, 4)}
    assert exact_value(sp.sqrt(x) + x**-2 + sp.Rational(1, 3), values) == Fraction(1, 2) + 16 + Fraction(1, 3)
    assert exact_value(sp.Max(x, 1) - sp.Abs(x - 1), values) == Fraction(1, 4)
    assert exact_value(sp.exp(x), values) < Fraction(13, 10)
    with pytest.raises(InvalidInput, match="no exact value"):
        exact_value(sp.sin(x), values)


# Ranges


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"low": 2, "high": 1}, "reversed"),
        ({"low": 1, "high": 1, "open": "high"}, "empty"),
        ({"low": 0, "high": math.inf}, "finite number"),
        ({"low": 0, "high": float("nan")}, "finite number"),
        ({"low": 0, "high": "one"}, "finite number"),
        ({"low": 0}, "lacks an end"),
        ({"low": 0, "high": 1, "scale": "log"}, "positive ends"),
        ({"low": "1/4", "high": "3/4", "kind": "integer"}, "holds no integer"),
        ({"low": 0, "high": 0, "kind": "order"}, "number of components"),
        ({"low": 0, "high": 1, "kind": "sign"}, "leave out the ends"),
        ({"low": 0, "high": 1, "kind": "whole"}, "use one of real, integer"),
        ({"low": 0, "high": 1, "shape": "N"}, "give a tuple"),
        ({"low": 0, "high": 1, "shape": (0,)}, "integers from 1"),
    ],
)
def test_a_range_that_cannot_be_is_refused(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        Range(**arguments)


def test_ends_are_the_numbers_that_were_written():
    one = Range(0.1, "1/3", open="low")
    assert (one.low, one.high) == (Fraction(1, 10), Fraction(1, 3))
    assert not one.holds(Fraction(1, 10))
    assert one.holds(Fraction(1, 3))
    assert one.at(Fraction(0), {}) > one.low
    assert str(one) == "(1/10, 1/3]"


@pytest.mark.parametrize(
    "one", [Range(-1, 2), Range(1, 1000, scale="log"), Range(0, 1, open="both"), Range(3, 7, kind="integer")]
)
def test_every_coordinate_lies_in_the_range(one):
    for k in range(61):
        assert one.holds(one.at(Fraction(k, 60), {}))
        inside = one.at(k / 60, {})
        assert float(one.low) <= inside <= float(one.high)
    assert float(one.at(1.0, {})) == pytest.approx(float(one.high))


# Algebra


@pytest.mark.parametrize(
    ("left", "right", "engines"),
    [
        (lambda x, y: x * y, lambda x: x, {"sympy", "z3"}),
        (lambda x, y: x * y, lambda x, y: (x**2 + y**2) / 2, {"z3"}),
        (lambda x: 1 / (1 + x), lambda x: 1 - x / 2, {"sympy", "z3"}),
        (lambda x: sqrt(x), lambda x: sqrt(x) + x, {"sympy", "z3"}),
    ],
)
def test_what_algebra_proves(left, right, engines):
    found = attempt(of(left, right), seconds=20)
    assert found.word == "proved"
    assert engines <= set(found.engines)


def test_a_strict_relation_is_not_proved_where_it_is_met():
    assert attempt(of(lambda x: x, lambda x, y: x + y, relation="<"), seconds=20).word == "refuted"
    assert attempt(of(lambda x: x, lambda x, y: x + y + 1, relation="<"), seconds=20).engines == ("sympy", "z3")


def test_a_side_that_is_not_defined_everywhere_is_not_proved():
    """1/x has no value at 0, which belongs to the range."""
    assert attempt(of(lambda x: -x, lambda x: 1 / x), seconds=20).word != "proved"
    away = Conjecture(name="a claim", ranges={"x": Range(0, 1, open="low")}, left=lambda x: -x, right=lambda x: 1 / x)
    assert attempt(away, seconds=20).word == "proved"


def test_hypotheses_count():
    claim = of(lambda x, y: x + y, lambda: Fraction(1))
    assert attempt(claim, seconds=20).word == "refuted"
    half = Fraction(1, 2)
    under = of(lambda x, y: x + y, lambda: Fraction(1), given=(lambda x, y: x**2 + y**2 <= half,))
    assert attempt(under, seconds=20).engines == ("z3",)


def test_an_equation_is_proved_by_expanding_and_refuted_by_a_point():
    square = of(lambda x, y: (x + y) ** 2, lambda x, y: x**2 + 2 * x * y + y**2, relation="==")
    assert attempt(square, seconds=20).engines == ("sympy", "z3")
    assert attempt(of(lambda x, y: (x + y) ** 2, lambda x, y: x**2 + y**2, relation="=="), seconds=20).word == "refuted"


def branching(x):
    return 0 if x == Fraction(1, 3) else x


@pytest.mark.parametrize(
    "left",
    [branching, lambda x: max(x, 1 - x), lambda x: float(x), lambda x: x if x > 1 else 0, math.sqrt],
)
def test_a_function_that_looks_at_its_argument_is_no_formula(left):
    """Otherwise a case apart would be hidden from the proof."""
    claim = of(left if left is not math.sqrt else (lambda x: math.sqrt(x)), lambda: Fraction(2))
    with pytest.raises(NotAlgebra):
        read(claim)
    assert attempt(claim, seconds=20).word == "unknown"


def test_a_traced_number_answers_no_questions():
    x = Traced(sp.Symbol("x"))
    for question in (bool, float, int, hash, iter, str):
        with pytest.raises((NotAlgebra, TypeError)):
            question(x)
    with pytest.raises(NotAlgebra):
        bool(x <= 1)


def test_an_atom_proves_and_does_not_refute():
    """exp(x) is only known to be positive: that refutes nothing."""
    assert attempt(of(lambda x: exp(x), lambda x: 1 + 2 * x), seconds=20).word == "unknown"
    assert attempt(of(lambda x: -exp(x), lambda: Fraction(0)), seconds=20).word == "proved"


def test_a_model_satisfies_what_is_given():
    x, y = sp.symbols("x y", real=True)
    answer = look_for_model(Relation(x, "<=", y), (Relation(x**2 + y**2, "==", sp.S.One),))
    assert answer.word == "refuted"
    assert answer.point[x] > answer.point[y]
    assert float(answer.point[x] ** 2 + answer.point[y] ** 2) == pytest.approx(1)
    assert look_for_model(None, (Relation(x**2, "<", sp.S.Zero),)).word == "proved"
    assert look_for_model(None, (Relation(sp.exp(x), "<", sp.S.One),)).word == "unknown"


SEVENTH = Fraction(2, 7)


def caught(x):
    try:
        return (x - SEVENTH) / (x - SEVENTH)
    except ZeroDivisionError:
        return 5


def asked(x):
    try:
        return 5 if x == SEVENTH else x
    except Exception:
        return x


def kind(x):
    try:
        return 5 if float(x) == 0.5 else x
    except Exception:
        return x


@pytest.mark.parametrize(
    "left",
    [
        lambda x: (x - SEVENTH) / (x - SEVENTH),
        lambda x: (x - SEVENTH) * (x - SEVENTH) ** -1,
        lambda x: exp(log((x - SEVENTH) ** 2)),
        lambda x: sqrt(x - SEVENTH) ** 2,
        caught,
        asked,
        kind,
    ],
)
def test_a_formula_that_hides_a_point_proves_nothing(left):
    """sympy cancels what Python divides by, and a function may catch what a question raises: 2/7 is apart."""
    assert attempt(of(left, lambda x: 1 + x), seconds=20).word == "unknown"


def test_a_divisor_that_the_hypotheses_keep_from_zero_is_no_obstacle():
    claim = of(lambda x: x / x, 1, given=(lambda x: x > 0,))
    assert attempt(claim, seconds=20).word == "proved"
    assert attempt(of(lambda x: (x + 1) / (x + 1), 1), seconds=20).engines == ("sympy", "z3")


def test_fractions_of_functions_do_not_become_floats():
    half = Exact(Fraction(1, 2))
    for question in (float, math.sqrt, lambda x: x**0.5, lambda x: 0.1 * x, lambda x: float(1 + (-x) ** 2 / 3)):
        with pytest.raises(InvalidInput, match="turned into a float"):
            question(half)
    assert (half + Whole(1), 1 / half, half > 0.25, int(half)) == (Fraction(3, 2), 2, True, 0)


def test_an_enclosure_is_below_infinity():
    two = sqrt(Fraction(2))
    assert two < math.inf
    assert two > -math.inf
    assert not two > math.inf
    with pytest.raises(TypeError, match="exact numbers"):
        bool(two < 1.5)
