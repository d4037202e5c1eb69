"""The exact engines accept what follows, and nothing else."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cflag_theory.claims.engine import algebra
from cflag_theory.claims.engine.algebra import (
    ask_z3,
    certificate_fault,
    manifestly_nonnegative,
    residual,
    slack,
    square,
)
from cflag_theory.claims.engine.points import holds_at
from cflag_theory.claims.engine.relation import at_most, below, equal

a, b, c = sp.symbols("a b c", real=True)
x, y = sp.symbols("x y", nonnegative=True)
L = sp.Symbol("L", positive=True)
k = sp.Symbol("k", integer=True, nonnegative=True)
term = sp.Function("term", nonnegative=True)

ORDER = {"h": at_most(a, b)}
STRICT = {"h": below(a, b)}
EQUATION = {"h": equal(a, b)}

ACCEPTED = {
    "an identity": (equal((a + b) ** 2, a**2 + 2 * a * b + b**2), {}, sp.S.Zero),
    "a square": (at_most(2 * a * b, a**2 + b**2), {}, square(a - b)),
    "two inequalities": (at_most(a, c), {"1": at_most(a, b), "2": at_most(b, c)}, slack("1") + slack("2")),
    "a non-negative multiplier": (at_most(x * a, x * b), ORDER, x * slack("h")),
    "a product of slacks": (at_most(0, (b - a) * x), {"1": at_most(a, b), "2": at_most(0, x)}, slack("1") * slack("2")),
    "a positive denominator": (at_most(a / L, b / L), ORDER, slack("h") / L),
    "one plus non-negative under": (at_most(a / (1 + x), b / (1 + x)), ORDER, slack("h") / (1 + x)),
    "the slack of a strict inequality under": (below(0, 1 / (b - a)), STRICT, 1 / slack("h")),
    "an equation with a multiplier of any sign": (equal(c * a, c * b), EQUATION, -c * residual("h")),
    "a strict conclusion": (below(2 * a, 2 * b + 1), STRICT, 2 * slack("h") + 1),
    "a term of a sequence": (at_most(0, L * term(k) + x), {}, L * term(k) + x),
    "a power with a symbolic exponent": (at_most((1 + L) ** k, (1 + L) ** (k + 1)), {}, L * (1 + L) ** k),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_valid_certificate_is_accepted_by_both_engines(case):
    goal, known, certificate = ACCEPTED[case]
    assert certificate_fault(goal, known, certificate) is None
    assert ask_z3(goal, known) == "proved"


REJECTED = {
    "a wrong identity": (equal((a + b) ** 2, a**2 + b**2), {}, sp.S.Zero, "not right minus left"),
    "one too many": (at_most(a, b - 1), ORDER, slack("h"), "not right minus left"),
    "a constant multiplier of the wrong sign": (at_most(b, a), ORDER, -slack("h"), "multiplier"),
    "a multiplier of unknown sign": (at_most(c * a, c * b), ORDER, c * slack("h"), "multiplier"),
    "a multiplier that is a difference": (at_most((x - y) * a, (x - y) * b), ORDER, (x - y) * slack("h"), "multiplier"),
    "a square with the wrong sign": (at_most(a**2 + b**2, 2 * a * b), {}, -square(a - b), "multiplier"),
    "a missing premise": (at_most(a, b), {}, slack("h"), "not given"),
    "a missing equation": (equal(a, b), {}, -residual("h"), "not given"),
    "a denominator of unknown sign": (at_most(a / c, b / c), ORDER, slack("h") / c, "denominator"),
    "a denominator that may be zero": (at_most(a / x, b / x), ORDER, slack("h") / x, "denominator"),
    "a slack under that may be zero": (at_most(0, 1 / (b - a)), ORDER, 1 / slack("h"), "denominator"),
    # 1 = 0 out of c = 0, with c cancelled against its own inverse.
    "a denominator that a residual cancels": (equal(1, 0), {"h": equal(c, 0)}, -residual("h") / c, "denominator"),
    "an equation used as an inequality": (at_most(x * a, x * b), EQUATION, x * slack("h"), "used as an inequality"),
    "an inequality used as an equation": (at_most(b, a), ORDER, residual("h"), "used as an equation"),
    "strict from weak": (below(a, b), ORDER, slack("h"), "strict inequality"),
    "strict from a vanishing multiplier": (below(x * a, x * b), STRICT, x * slack("h"), "strict inequality"),
    "an equation from an inequality": (equal(a, b), ORDER, slack("h"), "residuals alone"),
    "an equation from a square": (equal(0, (a - b) ** 2), {}, square(a - b), "residuals alone"),
    "a sequence without a sign": (
        at_most(0, sp.Function("s", real=True)(k)),
        {},
        sp.Function("s", real=True)(k),
        "mul",
    ),
}


@pytest.mark.parametrize("case", REJECTED)
def test_invalid_certificate_is_rejected(case):
    goal, known, certificate, fault = REJECTED[case]
    assert fault in certificate_fault(goal, known, certificate)


# False for some numbers. (Of the others, some are true and badly argued; and z3 gives 1/0 any value it likes.)
FALSE = (
    "a wrong identity",
    "one too many",
    "a constant multiplier of the wrong sign",
    "a multiplier of unknown sign",
    "a multiplier that is a difference",
    "a square with the wrong sign",
    "a missing premise",
    "a missing equation",
    "an inequality used as an equation",
    "strict from weak",
    "strict from a vanishing multiplier",
    "an equation from an inequality",
    "an equation from a square",
    "a sequence without a sign",
)


@pytest.mark.parametrize("case", FALSE)
def test_z3_refutes_a_false_goal(case):
    goal, known, _, _ = REJECTED[case]
    assert ask_z3(goal, known) == "refuted"


@pytest.mark.parametrize("op", ["<=", "<", "=="])
def test_z3_refutes_a_false_goal_of_every_kind(op):
    goal = {"<=": at_most, "<": below, "==": equal}[op](b, a - 1)
    assert ask_z3(goal, {"h": below(a, b + 3)}) == "refuted"


def test_z3_that_gives_up_has_proved_nothing(monkeypatch):
    monkeypatch.setattr(algebra.z3.Solver, "check", lambda _: "unknown")
    goal, known, _ = ACCEPTED["two inequalities"]
    assert ask_z3(goal, known) == "unknown"


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (x + L, True),
        (x * y / (L + x), True),
        (sp.S.Zero, True),
        (x - y, False),
        (1 / x, False),
        (a**2, False),
        ((x + 1) ** 2 - x**2, True),
        (-x / (-1 - L), True),
        (sp.sqrt(2) * x, True),
        (x - sp.Rational(1, 10**9), False),
    ],
)
def test_manifest_sign(expr, expected):
    assert manifestly_nonnegative(expr) is expected


fractions = st.fractions(min_value=-3, max_value=3, max_denominator=4)
SYMBOLS = (a, b, c, x, y, L)


@st.composite
def points(draw):
    """A rational point that respects the signs of the symbols."""
    point = {s: draw(fractions) for s in SYMBOLS}
    for s in (x, y):
        point[s] = abs(point[s])
    point[L] = abs(point[L]) + Fraction(1, 4)
    return point


def polynomials():
    monomials = st.lists(st.sampled_from(SYMBOLS), max_size=2).map(lambda found: sp.Mul(*found))
    terms = st.tuples(fractions, monomials).map(lambda t: sp.Rational(t[0].numerator, t[0].denominator) * t[1])
    return st.lists(terms, min_size=1, max_size=3).map(lambda found: sp.Add(*found))


# The first half is sound, the second is not.
MULTIPLIERS = st.sampled_from([sp.S.One, sp.Rational(1, 3), x, y / L, 1 / (1 + x), square(a - b)]) | st.sampled_from(
    [-sp.S.One, a, x - y, 1 / (x - y), 1 / x, L - 1]
)


@st.composite
def inferences(draw):
    """A point, hypotheses that hold there, and a certificate with the goal that it would show, right or wrong."""
    point = draw(points())
    known = {}
    for name in ("1", "2"):
        left, right = draw(polynomials()), draw(polynomials())
        relation = at_most(left, right)
        known[name] = relation if holds_at(relation, point) else at_most(right, left)
    value = draw(polynomials())
    known["="] = equal(value, value.xreplace({s: sp.Rational(v.numerator, v.denominator) for s, v in point.items()}))
    certificate = draw(MULTIPLIERS) * slack("1") + draw(MULTIPLIERS) * slack("2")
    certificate += draw(st.sampled_from([sp.S.Zero, a, 1 - x, 1 / L])) * residual("=")
    certificate += draw(st.sampled_from([sp.S.Zero, square(a + c), x, L, slack("1") * slack("2"), -x]))
    values = {slack(n): r.slack for n, r in known.items()} | {residual(n): -r.slack for n, r in known.items()}
    shown = certificate.replace(square, lambda inner: inner**2).subs(values, simultaneous=True)
    shift = draw(polynomials())
    off = draw(st.sampled_from([sp.S.Zero, sp.S.Zero, sp.S.Zero, sp.Rational(1, 7)]))
    return point, at_most(shift, shift + shown + off), known, certificate, off


@pytest.mark.full
@settings(max_examples=150)
@given(inferences())
def test_accepted_obligations_hold_at_rational_points(case):
    point, goal, known, certificate, off = case
    fault = certificate_fault(goal, known, certificate)
    assert off == 0 or fault is not None
    if fault is None:
        assert holds_at(goal, point)


@pytest.mark.full
@settings(max_examples=40, suppress_health_check=[HealthCheck.filter_too_much])
@given(inferences())
def test_z3_does_not_contradict_what_sympy_accepts(case):
    _, goal, known, certificate, _ = case
    assume(certificate_fault(goal, known, certificate) is None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(algebra, "UNITS", 50_000)
        assert ask_z3(goal, known) != "refuted"
