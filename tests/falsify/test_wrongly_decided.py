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
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify import (
    Conjecture,
    Range,
    decide,
    dot,
    draws,
    function,
    index,
    largest,
    mean,
    norm2,
    prove,
    sequence,
    sum_over,
    vector,
    vectors,
)
from cflag_theory.falsify.conjecture import stated
from cflag_theory.falsify.decisions.repairs import repair
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


L, C = sp.symbols("L C", positive=True)
x, y, z = vectors("x y z")
f = function("f_", smooth=L)


def lipschitz(of, right, **more):
    return Conjecture(
        name="a gradient", left=norm2(of.grad(x) - of.grad(y)), right=sp.sympify(right) * norm2(x - y), **more
    )


@pytest.mark.parametrize(
    ("right", "proved", "refuted"),
    [(L**2, Fraction(1), None), (4, Fraction(2), Fraction(9, 4))],
)
def test_a_free_constant_has_its_value_in_what_functions_declare_too(right, proved, refuted):
    """Before, f was L-smooth for every L, whatever value of L was asked about: 1 was refuted by L = 4."""
    constant = decide(lipschitz(f, right, free="L", ranges={"L": Range(1, 4)}), budget=150).constant
    assert constant.provable == proved
    assert (constant.refuted is None) == (refuted is None)
    assert refuted is None or proved < constant.refuted <= refuted


def test_so_has_a_number_that_an_equation_gives():
    assert decide(lipschitz(f, 4, given=(sp.Eq(L, 2),)), budget=150).proved
    assert decide(lipschitz(f, 3, given=(sp.Eq(L, 2),)), budget=150).refuted


@pytest.mark.parametrize("more", [{"ranges": {"C": Range(1, 2)}}, {"free": "C", "ranges": {"C": Range(1, 2)}}])
def test_a_constant_that_is_to_exist_has_no_range_and_is_not_free(more):
    """C = L with a range of C restricted L: a claim that is false for L = 5 was proved."""
    with pytest.raises(InvalidInput, match="is free or has a range"):
        lipschitz(f, C**2, exists={"C": (L,)}, **more)


@pytest.mark.parametrize(
    ("hint", "left", "right"),
    [
        (dot(x, y) / norm2(x) <= norm2(y) + 5, sp.S.Zero, norm2(x)),
        (f(x) <= f(y) + norm2(x), sp.S.Zero, norm2(x)),
        (mean("E_", i)(norm2(vector("v_", i))) / norm2(x) >= -norm2(y), b, b + norm2(x)),
    ],
)
def test_nothing_is_assumed_of_a_hint(hint, left, right):
    """That a hint divides by ||x||^2 would have made x other than 0."""
    with pytest.raises(InvalidInput, match="a hint alone speaks of"):
        prove(Conjecture(name="a hint", left=left, right=right, relation="<", hints=(hint,)), budget=1)


def test_what_becomes_of_a_hint_is_said():
    """Hints of claims with vectors or sequences reached no proof."""
    claim = Conjecture(name="a hint", left=A(0), right=TOP, hints=(A(0) <= A(1),))
    assert any("hint 1 was not proved" in words for words in decide(claim, budget=150).finding.not_covered)


def test_a_repair_has_values_where_the_claim_is_said():
    """1 - p in place of 1 + p proves it for z3, whose quotients have values everywhere; it has none at p = 1."""
    p, q = sp.symbols("p q", nonnegative=True)
    ranges = {"p": Range(0, 1), "q": Range(0, 1)}
    claim = Conjecture(
        name="r", left=q / (1 + p), right=1 - p, relation="==", given=(sp.Eq(q, (1 - p) ** 2),), ranges=ranges
    )
    found = repair(claim, budget=150)
    assert found.proposals
    assert all((1 - p) not in one.goal.left.as_numer_denom() for one in found.proposals)


K, N = sp.symbols("K N", integer=True, positive=True)


def test_two_draws_of_one_name_are_one_draw():
    over = mean("D_", i)
    v = vector("v_", i)
    (once, some), (twice, more) = draws("S_", over, 1), draws("S_", over, 2)
    claim = {"left": once(norm2(some(v))), "right": twice(norm2(more(v)))}
    with pytest.raises(InvalidInput, match="two different draws are called S_"):
        decide(Conjecture(name="draws", **claim))
    (once, some), (twice, more) = draws("R_", over, 1), draws("S_", over, 2)
    claim = {"left": twice(norm2(more(v))), "right": once(norm2(some(v)))}
    assert decide(Conjecture(name="draws", **claim), budget=150).outcome == "neither"


@pytest.mark.parametrize(
    ("claim", "outcome"),
    [
        # The examiner refused what was found: powers became one power, and no index counts down.
        ({"left": (1 + C) ** (-K), "right": 1 / (1 + K * C), "ranges": {"C": Range(0, 2, open="low")}}, "proved"),
        ({"left": sum_over(i, K)(A(K - 1 - i)), "right": sum_over(i, K)(A(i)), "relation": "=="}, "neither"),
        # Errors of Python: z3 has no logarithm, an index has no value yet, enclosures meet floats.
        ({"left": sp.log(C) * norm2(x), "right": (C - 1) * norm2(x)}, "proved"),
        ({"left": sp.log(C) * norm2(x), "right": (C - 2) * norm2(x)}, "refuted"),
        ({"left": b, "right": A(1), "given": (sp.Eq(b, A(t)),)}, "neither"),
        ({"left": b, "right": A(0), "given": (sp.Eq(b, A(0)),)}, "proved"),
        ({"left": b, "right": A(1), "given": (sp.Eq(b, A(0)),)}, "refuted"),
        ({"left": norm2(x) / sp.sqrt(K), "right": norm2(x) / 2}, "refuted"),
        # What was found in more dimensions had fewer after it was made small, and large numbers still.
        ({"left": C * norm2(x), "right": norm2(y), "given": (sp.Eq(3, C), norm2(x) <= norm2(y))}, "refuted"),
    ],
)
def test_no_claim_ends_in_an_error(claim, outcome):
    more = {} if "ranges" not in claim else {"ranges": {**claim["ranges"], "K": Range(1, 30, kind="integer")}}
    assert decide(Conjecture(name="no error", **{**claim, **more}), budget=150).outcome == outcome


def test_draws_in_draws_are_no_program_of_two_matrices_for_one_product():
    j, k = index("j"), index("k")
    clients, parts = mean("clients_", j), mean("parts_", k)
    (few, some), (one, each) = draws("Few_", clients, 1, out_of=N), draws("Each_", parts, K)
    w = vector("w_", j, k)
    claim = {"left": few(one(norm2(some(each(w))))), "right": clients(parts(norm2(w)))}
    assert not prove(Conjecture(name="draws in draws", **claim), budget=1).refuted


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
