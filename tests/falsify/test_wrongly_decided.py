"""Claims that were decided wrongly once, each with what is near to it and was right."""

from __future__ import annotations

import functools
import operator
import sys
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from needs import quick

from cflag_theory.claims.engine.claim import statements
from cflag_theory.falsify import Conjecture, Range, decide, index, largest, sequence, sum_over
from cflag_theory.falsify.conjecture import stated
from cflag_theory.falsify.saving import pages_of
from cflag_theory.falsify.tracing import asks_for_more
from cflag_theory.falsify.vector_terms.checking import holds
from cflag_theory.falsify.vector_terms.continuing import Continuation, Growing, NoMeaning

n = sp.Symbol("n", integer=True, positive=True)
b = sp.Symbol("b", nonnegative=True)
i, t = index("i"), index("t")
A, B, C = (sequence(name, nonnegative=True) for name in ("A", "B", "C"))
TOP = largest(i, n, A(i))
BELOW = (B(i) <= A(i), B(i) <= b)


@pytest.mark.parametrize(
    ("left", "right", "given"),
    [
        (B(n), TOP, BELOW),
        (sum_over(i, n + 1)(B(i)), (n + 1) * TOP, BELOW),
        (C(n), TOP, (C(i) <= B(i), *BELOW)),
    ],
)
def test_what_hypotheses_tie_to_a_maximum_ends_where_it_ends(left, right, given):
    assert (
        decide(Conjecture(name="beyond the end", left=left, right=right, given=given), budget=200).outcome != "proved"
    )


def test_what_is_tied_to_a_maximum_within_its_end_is_below_it():
    claim = Conjecture(name="within", left=sum_over(i, n)(B(i)), right=n * TOP, given=BELOW)
    assert decide(claim).outcome == "proved"


BOUNDS = (t * b <= 5, t * b < 5, t**2 * b <= t + 5, sum_over(i, t)(b * B(0)) <= 5)


@pytest.mark.parametrize("bound", quick(BOUNDS, *BOUNDS[1:]))
@pytest.mark.parametrize("ratio", quick(("1/2", "-1/2"), "-1/2"))
def test_an_index_grows_where_members_shrink(bound, ratio):
    """Whatever b is, the members are A, A/2, A/4, ...; and t b <= 5 for every t leaves b = 0 alone."""
    real = sequence("real_", real=True)
    of = A if ratio == "1/2" else real
    given = (sp.Eq(of(t + 1), of(t) * sp.Rational(ratio)), of(t) <= 4, bound)
    claim = Conjecture(name="an index", left=b * B(0) * of(0) ** 2, right=sp.S.Zero, given=given)
    assert decide(claim, budget=60).outcome != "refuted"


def test_a_bound_that_grows_with_the_index_leaves_members_that_shrink():
    given = (sp.Eq(A(t + 1), A(t) / 2), A(t) <= 4, b <= t + 5)
    claim = Conjecture(name="room", left=b * A(0), right=sp.S.Zero, given=given)
    assert decide(claim, budget=200).outcome == "refuted"


PAGE = """
symbol b nonnegative
symbol N positive natural
sequence a(k) nonnegative
index k, j
fact ONE = one: a(k) <= b
fact EVERY = every: for every k, a(k) <= b

claim p.next | 1 | The next member
    say a(k + 1) <= b
    for {fact}
claim p.sum | 2 | A sum
    say sum(k, N)(a(k)) <= N b
    for {fact}
claim p.same | 3 | The same member
    say a(k) <= b
    for {fact}
"""


@pytest.mark.parametrize(("fact", "found"), [("ONE", ("refuted", "refuted", "proved")), ("EVERY", ("proved",) * 3)])
def test_what_holds_for_one_k_is_not_taken_for_every_k(tmp_path, fact, found):
    page = tmp_path / "p.page"
    page.write_text(PAGE.format(fact=fact), encoding="utf-8")
    said = [statements(one.parts[0])["printed"] for one in pages_of(page).claims.values()]
    assert tuple(decide(stated("a claim", one), budget=300).outcome for one in said) == found


ONE = Fraction(1, 7)


def matches(x):
    match x:
        case Fraction(numerator=1, denominator=7):
            return 5
    return x


def _branching(f):
    @functools.wraps(f)
    def inner(x):
        return 5 if isinstance(x, Fraction) and x == ONE else f(x)

    return inner


kind = isinstance


def alias(x):
    return 5 if kind(x, Fraction) and x == ONE else x


def default(x, kind=isinstance):
    return 5 if kind(x, Fraction) and x == ONE else x


def private(x):
    try:
        return 5 if (x._numerator, x._denominator) == (1, 7) else x
    except AttributeError:
        return x


def caught(x):
    try:
        return 5 if Fraction(x) == ONE else x
    except TypeError:
        return x


def scalar(x):
    return 5 if np.isscalar(x) and x == ONE else x


class Made:
    def __new__(cls, x):
        return 5 if isinstance(x, Fraction) and x == ONE else x


def made(x):
    return Made(x)


def within(x):
    return (lambda y: 5 if kind(y, Fraction) and y == ONE else y)(x)


def deep(x):
    return 5 if np.polynomial.polyutils.np.isscalar(x) and x == ONE else x


def sized(x):
    return 5 if sys.getsizeof(x) > 50 and x == ONE else x


def formula(x):
    return x.expr if x == ONE else x


TELLING = (
    matches,
    _branching(lambda x: x),
    alias,
    default,
    private,
    caught,
    scalar,
    made,
    formula,
    within,
    deep,
    sized,
)
TELLING += (functools.partial(lambda x, of: 5 if of(x, Fraction) and x == ONE else x, of=isinstance),)
ranges = {"x": Range(0, 1)}


@pytest.mark.parametrize("function", TELLING)
def test_a_function_that_tells_numbers_from_formulas_proves_nothing(function):
    claim = Conjecture(name="a function", ranges=ranges, left=function, right=1)
    assert asks_for_more(function) is not None
    assert decide(claim, budget=30).outcome != "proved"


@pytest.mark.parametrize(
    "function",
    [
        lambda x: sum([x, x * x]) / 2,
        lambda x: np.sum([x, x * x]) / 2,
        lambda x: functools.reduce(operator.mul, [x, x, x]),
        lambda x: np.square(x),
        functools.partial(lambda x, of: of * x, of=Fraction(1, 2)),
        lambda x: x / 2,
    ],
)
def test_plain_arithmetic_is_still_a_formula(function):
    assert decide(Conjecture(name="a formula", ranges=ranges, left=function, right=1)).outcome == "proved"


z = Growing((0, 1))


@pytest.mark.parametrize(
    ("ratio", "op", "gap", "shown"),
    [
        (Fraction(1, 2), "<=", z - 1, True),
        (Fraction(1, 2), "<", z - 1, False),
        (Fraction(1, 2), "<", z**2 - 2 * z, True),
        (Fraction(1, 2), "<=", 1 - 2 * z, False),
        (Fraction(2), "<=", 1 - z**2, True),
        (Fraction(2), "<=", z - 1000, False),
        (Fraction(2), "==", z - z, True),
        (Fraction(2), "==", z * z - z, False),
        (None, "<=", 3 - 3 * z, False),
        (None, "<=", -z * z, True),
        (Fraction(1), "<=", z - 10, False),
    ],
)
def test_a_polynomial_keeps_its_sign_or_nothing_is_shown(ratio, op, gap, shown):
    assert Continuation({}, 1, ratio).never_above(op, gap) is shown


@pytest.mark.parametrize(
    ("op", "where"), [("<=", (True, True, False)), ("<", (True, False, False)), ("==", (False, True, False))]
)
def test_a_relation_holds_by_the_gap_between_its_sides(op, where):
    assert tuple(holds(op, gap) for gap in (-1, 0, 1)) == where


@pytest.mark.parametrize("of", [abs, lambda z: z < 1, lambda z: z**-1, lambda z: 1 / z, lambda z: (z + 1).root()])
def test_what_is_no_polynomial_is_not_shown(of):
    with pytest.raises(NoMeaning):
        of(z)
