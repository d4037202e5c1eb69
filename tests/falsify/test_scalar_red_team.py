"""Attacks on the door for claims about numbers: nothing false is proved, nothing true refuted, the rest is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import pytest
import sympy as sp

from cflag_theory.errors import InvalidInput
from cflag_theory.falsify import Conjecture, Range, decide, norm2, prove, repair, vectors
from cflag_theory.falsify.search.exact_numbers import exp, log, sqrt

UNIT, BOTH_SIGNS, INNER = Range(0, 1), Range(-1, 1), Range(0, 1, open="low")
COUNT = Range(0, 4, kind="integer")
HALF = Fraction(1, 2)
bare, real = sp.Symbol("x"), sp.Symbol("x", real=True)
nonnegative, positive = sp.Symbol("x", nonnegative=True), sp.Symbol("x", positive=True)
natural, counted = (sp.Symbol("x", integer=True, **{sign: True}) for sign in ("nonnegative", "positive"))
y = sp.Symbol("y", real=True)


def outcome(left, right, relation="<=", given=(), budget=120, **ranges):
    claim = Conjecture(name="a claim", ranges=ranges, left=left, right=right, relation=relation, given=given)
    return decide(claim, budget=budget, seconds=4).outcome


def of(left, right, *more, x=UNIT, given=(), **ranges):
    return {"left": left, "right": right, "relation": (*more, "<=")[0], "given": given, "x": x, **ranges}


# What is refused at the door, in one sentence with its remedy

OUTSIDE = "holds other numbers|does not lie within"
LOST = "nothing reads x"
REFUSED = {
    # sympy has simplified by a sort that the range leaves.
    "root of a square": (of(sp.sqrt(positive**2), positive, x=BOTH_SIGNS), OUTSIDE),
    "root of a square, from 0": (of(sp.sqrt(nonnegative**2), nonnegative, x=BOTH_SIGNS), OUTSIDE),
    "power of zero": (of(0**positive, 0, x=UNIT), LOST),
    "power of zero beside it": (of(0**positive + positive, positive, x=UNIT), OUTSIDE),
    "floor of an integer": (of(natural, sp.floor(natural), x=Range(0, 2)), OUTSIDE),
    "floor of a positive integer": (of(counted, sp.floor(counted), x=Range(1, 2)), OUTSIDE),
    "absolute value": (of(sp.Abs(positive), positive, x=BOTH_SIGNS), OUTSIDE),
    "absolute value, from 0": (of(sp.Abs(nonnegative), nonnegative, x=BOTH_SIGNS), OUTSIDE),
    "maximum with 0": (of(sp.Max(positive, 0), positive, "==", x=BOTH_SIGNS), OUTSIDE),
    "sign": (of(sp.sign(positive), 1, "==", x=BOTH_SIGNS), LOST),
    "sign beside it": (of(positive * sp.sign(positive), positive, x=BOTH_SIGNS), OUTSIDE),
    "positive from the end 0": (of(positive, 1, x=UNIT), OUTSIDE),
    "positive natural from 0": (of(counted, 4, x=COUNT), OUTSIDE),
    "natural below 0": (of(natural, 4, x=Range(-1, 4, kind="integer")), OUTSIDE),
    "natural that is a half": (of(natural, 1, x=Fraction(1, 2)), OUTSIDE),
    "positive sign": (of(positive, 1, x=Range(kind="sign")), OUTSIDE),
    "in a hypothesis": (of(0, 1, x=BOTH_SIGNS, given=(sp.Le(positive, HALF),)), OUTSIDE),
    "an array as a number": (of(real, 1, x=Range(0, 1, shape=(2,))), "is an array"),
    # No sort, or two.
    "even": (of((-1) ** sp.Symbol("x", even=True), 1, "==", x=COUNT), LOST),
    "even beside it": (of(sp.Symbol("x", even=True), 4, x=COUNT), "declared even"),
    "odd": (of(sp.Symbol("x", odd=True), 4, x=COUNT), "declared odd"),
    "prime": (of(sp.Symbol("x", prime=True), 4, x=COUNT), "declared prime"),
    "negative": (of(sp.Symbol("x", negative=True), 0, x=UNIT), "declared negative"),
    "integer alone": (of(sp.Symbol("x", integer=True), 4, x=COUNT), "declared integer"),
    "not zero": (of(sp.Symbol("x", nonzero=True), 4, x=UNIT), "declared nonzero"),
    "imaginary": (of(sp.Symbol("x", imaginary=True) ** 2, 4, x=UNIT), "is declared"),
    "not commutative": (of(sp.Symbol("x", commutative=False), 4, x=UNIT), "is declared"),
    "positive and real": (of(positive - real, 1, x=INNER), "two different symbols"),
    "bare and real": (of(bare, real + 1), "two different symbols"),
    "a dummy and a symbol": (of(sp.Dummy("x", real=True), real, x=UNIT), "two different symbols"),
    "two in a hypothesis": (of(real, 1, given=(sp.Le(bare, HALF),)), "two different symbols"),
    # What was cancelled.
    "x over x": (of(real * (1 / real), 1, "=="), LOST),
    "x to the power 0": (of(real**0, 1, "=="), LOST),
    "a root squared over it": (of(sp.sqrt(real) ** 2 / real, 1, "==", x=BOTH_SIGNS), LOST),
    "logarithm of exp": (of(sp.log(sp.exp(real)) - real, 0, "==", x=BOTH_SIGNS), LOST),
    "0 times 1/x": (of(0 * (1 / real), 0, "=="), LOST),
    "exp of log over it": (of(sp.exp(sp.log(real)) / real, 1, "==", x=BOTH_SIGNS), LOST),
    "without a value, as a function": (of(lambda x: x * (1 / x), 1, "=="), "ZeroDivisionError"),
    "root without a value": (of(lambda x: sqrt(x) ** 2, lambda x: x, "==", x=BOTH_SIGNS), "not real"),
    "logarithm without a value": (of(lambda x: 0 * log(x), 0, "=="), "not real"),
    # Names.
    "a cyrillic symbol": (of(sp.Symbol("\u0445", real=True), 1), "cyrillic small letter ha"),
    "a cyrillic range": (of(1, 1) | {"\u0445": UNIT}, "cyrillic small letter ha"),
    "a trailing blank": (of(sp.Symbol("x ", real=True), 1), "is no name"),
    "a zero-width space": (of(sp.Symbol("x\u200b", real=True), 1), "zero width space"),
    "an invisible letter in a range": (of(lambda x: x, 1, **{"x\u200b": UNIT}), "zero width space"),
    "a ligature that python reads as fi": (of(1, 1) | {"\ufb01": UNIT}, "small ligature fi"),
    "an empty name": (of(1, 1, **{"": UNIT}), "is no name"),
    "a greek range": (of(1, 1) | {"\u03b1": UNIT}, "greek small letter alpha"),
    "an argument in cyrillic": (of(eval("lambda \u0445: \u0445"), 1), "cyrillic small letter ha"),
    "a default beside a range": (of(lambda x, y=0: x + y, 1, y=UNIT), "value of its own"),
    # Parts without a meaning.
    "a float": (of(real * 0.1, 1), "holds the float 0.1"),
    "a float as a power": (of(real**0.5, 1), "holds the float 0.5"),
    "a float in a hypothesis": (of(real, 1, given=(sp.Le(real, 0.1),)), "holds the float"),
    "infinity": (of(real, sp.oo), "is no number"),
    "minus infinity": (of(-sp.oo, real), "is no number"),
    "complex infinity": (of(real + sp.zoo, 1), "is no number"),
    "nan": (of(sp.nan, 1), "is no number"),
    "I": (of(sp.I * real, 1), "real and its imaginary part"),
    "a sum": (of(sp.Sum(real, (y, 0, 3)), 1), "no exact value"),
    "a product": (of(sp.Product(real, (y, 0, 3)), 1), "no exact value"),
    "a derivative": (of(sp.Derivative(real**2, real), 1), "no exact value"),
    "an integral": (of(sp.Integral(real, (real, 0, 1)), 1), "no exact value"),
    "cases": (of(sp.Piecewise((real, real > 0), (0, True)), 1), "no exact value"),
    "floor of a real": (of(sp.floor(real), 1), "no exact value"),
    "ceiling": (of(sp.ceiling(real), 1), "no exact value"),
    "sign of a real": (of(sp.sign(real), 1), "no exact value"),
    "real part": (of(sp.re(bare), 1), "no exact value"),
    "factorial": (of(sp.factorial(natural), 30, x=COUNT), "no exact value"),
    "sine": (of(sp.sin(real), 1), "no exact value"),
    "pi": (of(sp.pi * real, 4), "no exact value"),
    "a matrix symbol": (of(sp.MatrixSymbol("x", 2, 2), 1), "no exact value"),
    "a matrix": (of(sp.Matrix([real]), 1), "Matrix"),
    "an undefined function": (of(sp.Function("f")(real), 1), "nothing defines"),
    "an undefined function in a hypothesis": (
        of(real, 1, given=(sp.Le(sp.Function("f")(real), 1),)),
        "nothing defines",
    ),
    "a relation as a side": (of(sp.Eq(real, y), 1, y=UNIT), "is no number"),
    "a relation that sympy decided": (of(real, 1, given=(sp.Ge(positive, 0),)), "no condition"),
    "not equal": (of(real, 1, given=(sp.Ne(real, 0),)), "use <=, <"),
    "a side that is no number": (of(lambda x: "x", 1), "return a real number"),
    "a side that is a float": (of(lambda x: math.exp(x), 3), "turned into a float"),
    "a float that was made exact": (of(lambda x: Fraction(float(x)), 3), "turned into a float"),
}


@pytest.mark.parametrize(("attack", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_at_the_door(attack, words):
    with pytest.raises(InvalidInput, match=words) as caught:
        outcome(**attack)
    assert "\n" not in str(caught.value)


# True claims, none of which is refuted: with a word of their own where they are decided

TRUE = {
    "a range within the sort": (of(sp.sqrt(positive**2), positive, x=INNER), "proved"),
    "from 0": (of(sp.sqrt(nonnegative**2), nonnegative), "proved"),
    "natural": (of(natural, natural**2, x=COUNT), "proved"),
    "positive natural": (of(1 / counted, 1, x=Range(1, 4, kind="integer")), "proved"),
    "a natural that is fixed": (of(natural, 3, x=3), "proved"),
    "a bare symbol": (of(bare, bare**2 + HALF), "proved"),
    "a root of a square": (of(sp.sqrt(real**2), sp.Abs(real), "==", x=BOTH_SIGNS), "proved"),
    "a bare root of a square": (of(bare, sp.sqrt(bare**2), x=BOTH_SIGNS), "proved"),
    "absolute value": (of(real, sp.Abs(real), x=BOTH_SIGNS), "proved"),
    "absolute value as a function": (of(lambda x: -x, lambda x: abs(x), x=BOTH_SIGNS), "proved"),
    "triangle inequality": (of(sp.Abs(real + y), sp.Abs(real) + sp.Abs(y), x=BOTH_SIGNS, y=BOTH_SIGNS), "proved"),
    "maximum": (of(real, sp.Max(real, 0), x=BOTH_SIGNS), "proved"),
    "maximum as a function": (of(lambda x: x, lambda x: max(x, 0), x=BOTH_SIGNS), "neither"),
    "minimum": (of(sp.Min(real, y), (real + y) / 2, x=BOTH_SIGNS, y=BOTH_SIGNS), "proved"),
    "x over x where it is": (of(lambda x: x * (1 / x), 1, "==", x=INNER), "proved"),
    "x over x under a hypothesis": (of(lambda x: x * (1 / x), 1, "==", given=(lambda x: x > 0,)), "proved"),
    "a root squared": (of(lambda x: sqrt(x) ** 2, lambda x: x, "=="), "proved"),
    "a quotient": (of(lambda x: x / (1 + x), HALF), "proved"),
    "strict": (of(lambda x: x, 1, "<", x=Range(0, 1, open="high")), "proved"),
    "strict in the middle": (of(lambda x: x * (1 - x), HALF, "<"), "proved"),
    "powers": (of(lambda x: x**3, lambda x: x**2), "proved"),
    "a half power": (of(real, sp.sqrt(real)), "proved"),
    "a third power": (of(real ** sp.Rational(1, 3), 1), "neither"),
    "a power that varies": (of(real**real, 1), "neither"),
    "a power of zero": (of(0**real, 1), "neither"),
    "exp above its tangent": (of(lambda x: 1 + x, lambda x: exp(x), x=BOTH_SIGNS), "proved"),
    "log below its tangent": (of(lambda x: log(x), lambda x: x - 1, x=Range(1, 2)), "proved"),
    "exp times its inverse": (of(lambda x: exp(x) * exp(-x), 1, "=="), "proved"),
    "integers": (of(lambda x: x, lambda x: x**2, x=Range(-3, 3, kind="integer")), "proved"),
    "integer division": (of(lambda x: x // 2 * 2, lambda x: x, x=COUNT), "proved"),
    "remainder": (of(lambda x: x % 3, 2, x=Range(-9, 9, kind="integer")), "proved"),
    "floor": (of(lambda x: math.floor(x), lambda x: x, x=BOTH_SIGNS), "neither"),
    "truncation": (of(lambda x: abs(int(x)), lambda x: abs(x), x=BOTH_SIGNS), "neither"),
    "signs": (of(lambda x: x**2, 1, "==", x=Range(kind="sign")), "proved"),
    "an array": (of(lambda x: sum(x) ** 2, lambda x: 2 * sum(x * x), x=Range(-1, 1, shape=(2,))), "neither"),
    "a loop": (of(lambda x: sum(x**k for k in range(4)), 4), "proved"),
    "a branch": (of(lambda x: x if x > HALF else 1 - x, 1), "neither"),
    "a default": (of(lambda x, c=2: c * x, 2), "proved"),
    "a closure": (of((lambda c: lambda x: c * x)(2), 2), "proved"),
    "a hypothesis of a root": (of(real, 2, given=(sp.Le(sp.sqrt(real), 1),), x=Range(0, 2)), "proved"),
    "a hypothesis of a logarithm": (of(real, 2, given=(sp.Le(sp.log(real), 1),), x=Range(1, 2)), "proved"),
    "a hypothesis of a maximum": (of(real, 1, given=(sp.Le(sp.Max(real, 0), 1),), x=Range(-2, 2)), "proved"),
    "an equation as a hypothesis": (of(real + y, 1, given=(sp.Eq(y, 1 - real),), y=UNIT), "proved"),
    "a chained comparison as a hypothesis": (of(lambda x: x, HALF, given=(lambda x: 0 <= 2 * x <= 1,)), "neither"),
    "two comparisons as a hypothesis": (of(lambda x: x, HALF, given=(lambda x: (x >= 0) & (2 * x <= 1),)), "proved"),
    "two numbers": (of(real * y, (real**2 + y**2) / 2, x=BOTH_SIGNS, y=BOTH_SIGNS), "proved"),
    "nested roots": (of(lambda x: sqrt(sqrt(x)) ** 4, lambda x: x, "=="), "proved"),
    "an open pole": (of(lambda x: 1, lambda x: 1 / x, x=INNER), "proved"),
}


@pytest.mark.parametrize(("claim", "word"), TRUE.values(), ids=TRUE)
def test_true_claims_are_not_refuted(claim, word):
    assert outcome(**claim) == word


# False claims, none of which is proved


def _cases(x):
    return x if x < Fraction(9, 10) else 2 * x


def _by_kind(x):
    return x if not isinstance(x, Fraction | int | float) else x + 1


def _by_type(x):
    return x + 1 if type(x).__name__ in ("Exact", "Fraction", "float") else x


def _helped(x):
    return _by_kind(x)


class _Called:
    def __call__(self, x):
        return _by_kind(x)


def _shifted(by, x):
    return _by_kind(x) + by


def _by_words(x):
    return x if "object" in str(x) or "Traced" in repr(x) else x + 1


def _caught(x):
    try:
        return x + 1 if x > HALF else x
    except Exception:
        return 0 * x


FALSE = {
    "a bare root of a square": of(sp.sqrt(bare**2), bare, x=BOTH_SIGNS),
    "a real root of a square": of(sp.sqrt(real**2), real, x=BOTH_SIGNS),
    "a bare power of zero": of(0**bare, 0),
    "a power of zero from 0": of(0**nonnegative, 0),
    "a power of zero as a function": of(lambda x: 0**x, 0, x=COUNT),
    "a sign that changes": of((-1) ** natural, 0, x=COUNT),
    "absolute value": of(sp.Abs(real), real, x=BOTH_SIGNS),
    "absolute value as a function": of(lambda x: abs(x), lambda x: x, x=BOTH_SIGNS),
    "maximum with 0": of(sp.Max(real, 0), real, "==", x=BOTH_SIGNS),
    "maximum as a function": of(lambda x: max(x, 0), lambda x: x, x=BOTH_SIGNS),
    "integer below": of(lambda x: x, lambda x: math.floor(x)),
    "integer part": of(lambda x: x, lambda x: int(x)),
    "integer division": of(lambda x: x, lambda x: x // 2 * 2, x=COUNT),
    "remainder": of(lambda x: x % 3, 1, x=COUNT),
    "strict at a closed end": of(lambda x: x, 1, "<"),
    "strict at 0": of(lambda x: x**2, lambda x: x, "<"),
    "sharp but for a little": of(lambda x: x * (1 - x), Fraction(249, 1000)),
    "beyond an open end": of(lambda x: x, Fraction(999, 1000), x=Range(0, 1, open="high")),
    "a cube": of(lambda x: x**2, lambda x: x**3),
    "a half power": of(sp.sqrt(real), real),
    "a third power": of(real ** sp.Rational(1, 3), real),
    "a power that varies": of(real**real, HALF),
    "exp below its tangent": of(lambda x: exp(x), lambda x: 1 + x),
    "log above": of(lambda x: x - 1, lambda x: log(x), x=Range(1, 2)),
    "a root by decimals": of(lambda x: sqrt(2 + 0 * x), lambda x: Fraction(14142, 10000)),
    "an equation": of(lambda x: x**2, lambda x: x, "=="),
    "an equation at few points": of(lambda x: x * (x - 1) * (x - 2), 0, "==", x=Range(0, 3, kind="integer")),
    "an array": of(lambda x: sum(x) ** 2, lambda x: sum(x * x), x=Range(-1, 1, shape=(2,))),
    "signs": of(lambda x: x, 0, x=Range(kind="sign")),
    "a branch": of(_cases, 1),
    "a branch in a hypothesis": of(lambda x: x, HALF, given=(lambda x: x < 1 if x > HALF else x > 0,)),
    "the kind of a number": of(_by_kind, 1),
    "the type of a number": of(_by_type, 1),
    "the kind, in a helper": of(_helped, 1),
    "the kind, in an object": of(_Called(), 1),
    "the kind, in a part of a function": of(partial(_shifted, 0), 1),
    "the words of a number": of(_by_words, 1),
    "an exception that is caught": of(_caught, 1),
    "a hypothesis that does not help": of(real, HALF, given=(sp.Le(y, real),), y=UNIT),
    "a hypothesis without a value": of(lambda x: x, HALF, given=(lambda x: x * x / x <= 1,), x=INNER),
    "a hypothesis of a root": of(real, HALF, given=(sp.Le(sp.sqrt(real), 1),)),
    "min for max": of((real + y) / 2, sp.Min(real, y), y=UNIT),
    "a quotient over a sign change": of(lambda x: 1 / (x + 2), HALF, x=BOTH_SIGNS),
    "a loop": of(lambda x: sum(x**k for k in range(4)), 3),
}
#: Of these no point with a value is short enough, or rational: the tool stays without an answer.
OPEN = frozenset[str]()


@pytest.mark.parametrize("name", FALSE)
def test_false_claims_are_not_proved(name):
    assert outcome(**FALSE[name]) == ("neither" if name in OPEN else "refuted")


def test_what_was_read_is_printed():
    claim = Conjecture(name="a root", ranges={"x": BOTH_SIGNS}, left=sp.sqrt(real) ** 2 + 1, right=real + 2)
    found = decide(claim, budget=50).finding
    assert found.claim == "x + 1 <= x + 2"
    assert found.scope == "for all values in the ranges at which both sides, as written, have values"
    plain = Conjecture(name="a function", ranges={"x": UNIT}, left=lambda x: x, right=1)
    assert decide(plain, budget=50).finding.scope == "for all values in the ranges"


def test_sides_without_a_variable_are_no_claim():
    x = sp.Symbol("x", positive=True)
    with pytest.raises(InvalidInput, match="no variable is left"):
        Conjecture(name="two symbols", ranges={"x": UNIT}, left=sp.sqrt(x**2) - x, right=0, given=(real <= 1,))


# Constants and repairs


def test_a_free_constant_is_proved_and_refuted_on_its_own_sides():
    ranges = {"x": BOTH_SIGNS, "c": Range(0, 4)}
    c = sp.Symbol("c", nonnegative=True)
    claim = Conjecture(name="a constant", ranges=ranges, left=real**2, right=c * sp.Abs(real), free="c")
    best = decide(claim, budget=300).constant
    assert best.provable == 1
    assert Fraction(9, 10) < best.refuted < 1


@pytest.mark.parametrize(
    "claim",
    [
        {"left": real, "right": 1, "given": (sp.Le(real, 2),)},
        {"left": 3 * (real + y), "right": 3},
        {"left": real, "right": HALF, "given": (sp.Le(real, y),)},
        {"left": 3 - 3 * real * y, "right": 0},
        {"left": real, "right": y, "relation": "=="},
    ],
)
def test_no_repair_is_the_conclusion_or_says_nothing(claim):
    ranges = {"x": Range(0, 3), "y": Range(0, 3)} if claim["right"] != 1 else {"x": Range(0, 3)}
    made = repair(Conjecture(name="a claim", ranges=ranges, **claim), budget=60, seconds=1)
    assert made.decision.refuted
    gap = claim["right"] - claim["left"]
    seen = set()
    for one in made.proposals:
        if one.added is not None:
            ratio = sp.cancel(one.added.slack / gap)
            assert not (ratio.is_number and (ratio > 0 or one.added.op == "==")), one.words
        assert one.goal.left != one.goal.right, one.words
        assert one.goal.slack.free_symbols, one.words
        assert (one.goal, one.given) not in seen, one.words
        seen.add((one.goal, one.given))


def test_the_engines_of_a_claim_with_vectors_are_those_of_its_examination(monkeypatch):
    """Where z3 gives up, sympy alone has proved it."""
    from cflag_theory.claims.engine import examiner

    u, v = vectors("u v")
    claim = Conjecture(name="a sum", left=norm2(u + v), right=2 * norm2(u) + 2 * norm2(v))
    assert prove(claim).finding.engines == ("sympy", "z3")
    monkeypatch.setattr(examiner.algebra, "ask_z3", lambda *_: "unknown")
    assert prove(claim).finding.engines == ("sympy",)
