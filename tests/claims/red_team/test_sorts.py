"""Attacks through what a symbol, an index, a name or a divisor may be: what sympy assumes, and what it cancels."""

from __future__ import annotations

import pytest
import sympy as sp
from attacks import Attack, answer, claims, fact, table

from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import setting
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.meanings import sequence, symbol
from cflag_theory.claims.engine.operators import Index, Largest, index, mean_over, sum_over
from cflag_theory.claims.engine.points import holds_at, sides_at
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation
from cflag_theory.claims.engine.terms import dot, function, norm, norm2, vector

k, m = (sp.Symbol(name, integer=True, nonnegative=True) for name in "km")
n = sp.Symbol("n", integer=True, positive=True)
c, w = sp.symbols("c w", real=True)
r = sp.Symbol("r", nonnegative=True)
p = sp.Symbol("p", positive=True)
s = sp.Function("s", real=True)
u, v = (vector(f"sorted {name}", name)() for name in "uv")
f = function("sorted f", "f", smooth=1)
b = index("b")
mean = mean_over("sorted", b)
TRUE = Obligation("step", at_most(0, 1), ())
SORT, NAME = "declare it real, nonnegative, positive", "is no name"


def says(*terms, given=()):
    """A statement in which these terms stand."""
    return claims(at_most(0, 1), TRUE, given=(fact("h", equal(sum(terms), 0)), *given))


def uses(step, **given):
    """A proof that rests on one use of a rule."""
    return claims(at_most(0, 1), step, TRUE, given=tuple(fact(name, one) for name, one in given.items()))


def every(relation, over, step, goal, certificate):
    """From what holds for every value of an index, by one step, a goal."""
    last = Obligation("f", goal, (step.name,), certificate)
    return claims(goal, step, last, given=(fact("h", relation, over),))


ASSUMED = {
    "nothing": {},
    "integer": {"integer": True},
    "even": {"even": True},
    "even and nonnegative": {"even": True, "nonnegative": True},
    "odd": {"odd": True},
    "prime": {"prime": True},
    "negative": {"negative": True},
    "nonpositive": {"nonpositive": True},
    "nonzero": {"nonzero": True, "real": True},
    "zero": {"zero": True},
    "rational": {"rational": True},
    "irrational": {"irrational": True},
    "imaginary": {"imaginary": True},
    "complex": {"complex": True},
    "extended": {"extended_real": True},
}


@table(
    *(Attack(f"a symbol: {a}", says(sp.Symbol("x", **told)), SORT) for a, told in ASSUMED.items()),
    *(Attack(f"a sequence: {a}", says(sp.Function("x", **told)(k)), SORT) for a, told in ASSUMED.items()),
    *(
        Attack(
            f"in a certificate: {a}",
            claims(at_most(0, 1), Obligation("step", at_most(0, 1), (), 1 + 0 * w + sp.Symbol("x", **ASSUMED[a]))),
            SORT,
        )
        for a in ("even", "negative")
    ),
    Attack("in a rule's term", uses(rules.square("r", sp.Symbol("x", negative=True))), SORT),
    Attack("an index of an induction", uses(Induction("P", sp.Symbol("x", even=True), TRUE.goal, TRUE, (TRUE,))), SORT),
    Attack(
        "an index for every value",
        claims(TRUE.goal, TRUE, given=(fact("h", TRUE.goal, sp.Symbol("x", odd=True)),)),
        SORT,
    ),
    Attack("an even index of an operator", lambda: sum_over(Index("x", even=True, nonnegative=True), n), SORT),
    Attack(
        "a positive index of an operator",
        lambda: mean_over("sorted", Index("x", integer=True, positive=True)),
        "is not an index of an operator",
    ),
    Attack("an operator's real index", lambda: Largest(Index("x", real=True), n, s(k)), "is not an index"),
    Attack("a symbol of the notation", lambda: symbol("sorted x", "x", even=True), SORT),
    Attack("a sequence of the notation", lambda: sequence("sorted y", "y", negative=True), SORT),
    Attack(
        "a positive turn that is at most 0",
        lambda: setting("sorted", at_most(sp.Function("turn", integer=True, positive=True)(k), k), ""),
        "make it a hypothesis",
    ),
    Attack(
        "a positive value of a negative symbol",
        lambda: holds_at(at_most(w, 0), {sp.Symbol("w", negative=True): 1}),
        SORT,
    ),
    Attack("an odd value of an even symbol", lambda: holds_at(at_most(k, 0), {sp.Symbol("k", even=True): 1}), SORT),
    Attack(
        "zero for a positive natural", lambda: sides_at(at_most(n, 1), {n: 0}), "contradicts that n is positive natural"
    ),
    Attack(
        "a negative root", lambda: sides_at(at_most(r, 1), {r: 1 - sp.sqrt(2)}), "contradicts that r is nonnegative"
    ),
    Attack(
        "a root that is zero",
        lambda: sides_at(at_most(p, 1), {p: sp.sqrt(5 + 2 * sp.sqrt(6)) - sp.sqrt(2) - sp.sqrt(3)}),
        "contradicts that p is positive",
    ),
    Attack("a root for a natural", lambda: sides_at(at_most(k, 1), {k: sp.sqrt(2)}), "contradicts that k is natural"),
    Attack("an infinite value", lambda: sides_at(at_most(w, 1), {w: sp.oo}), "contradicts that w is real"),
    Attack("an imaginary value", lambda: sides_at(at_most(w, 1), {w: sp.I}), "contradicts that w is real"),
    Attack("a point where a side has no value", lambda: holds_at(at_most(1 / w, 1), {w: 0}), "has no value there"),
    Attack("a root of a negative number", lambda: holds_at(at_most(sp.sqrt(w), 1), {w: -1}), "has no value there"),
)
def test_sorts(attack):
    assert attack.sentence in answer(attack)


def from_one(start):
    """s(n) = 0 for every n from 1 on, from its value at `start`."""
    following = Obligation(
        "next", equal(s(n + 1), 0), ("P (hypothesis)", "grows"), -residual("grows") - residual("P (hypothesis)")
    )
    base = Obligation("base", equal(s(start), 0), ("first",), -residual("first"))
    facts = (fact("first", equal(s(start), 0)), fact("grows", equal(s(n + 1), s(n)), n))
    return claims(equal(s(n), 0), Induction("P", n, equal(s(n), 0), base, (following,)), given=facts)


def at_zero(value):
    """1 <= n by an induction from 1 on, at another value."""
    following = Obligation("next", at_most(1, n + 1), (), n)
    first = Induction("P", n, at_most(1, n), Obligation("base", at_most(1, 1), (), sp.S.Zero), (following,))
    last = Obligation("f", at_most(1, value), ("i",), slack("i"))
    return claims(at_most(1, value), first, Instance("i", "P", n, value), last)


def rises(start, end):
    """s(start) <= s(end), from s(n) <= s(n + 1) for every n from 1 on."""
    goal = at_most(s(start), s(end))
    facts = (fact("h", at_most(s(n), s(n + 1)), n), fact("order", at_most(start, end)))
    steps = (rules.monotone("r", n, s(n), given=("h", "order")), Obligation("f", goal, ("r",), slack("r")))
    return claims(goal, *steps, given=facts)


@table(
    Attack(
        "0 < n at a natural",
        every(below(0, n), n, rules.at("r", n, m, given="h"), below(0, m), slack("r")),
        "m need not be 1, 2",
    ),
    Attack(
        "0 < n at 0",
        every(below(0, n), n, rules.at("r", n, 0, given="h"), at_most(1, 0), slack("r")),
        "0 need not be 1, 2",
    ),
    Attack(
        "n s(n) = 1 at 0",
        every(equal(n * s(n), 1), n, rules.at("r", n, 0, given="h"), at_most(1, 0), None),
        "0 need not be 1, 2",
    ),
    Attack(
        "1 <= n at n - 1",
        every(at_most(1, n), n, rules.at("r", n, n - 1, given="h"), at_most(1, n - 1), slack("r")),
        "need not be 1, 2",
    ),
    Attack(
        "at a real symbol",
        every(at_most(0, w), w, rules.at("r", w, m, given="h"), at_most(0, m), slack("r")),
        "w is real and no index",
    ),
    Attack(
        "at a nonnegative symbol",
        every(at_most(0, r), r, rules.at("r", r, m, given="h"), at_most(0, m), None),
        "r is nonnegative and no index",
    ),
    Attack("an induction from before its start", from_one(0), "the base does not show the relation at 1"),
    Attack("an induction from after its start", from_one(2), "the base does not show the relation at 1"),
    Attack("an instance at 0", at_zero(sp.S.Zero), "takes an instance at 0"),
    Attack("an instance at a natural", at_zero(m), "takes an instance at m"),
    Attack("a sequence that rises from 1, from 0", rises(sp.S.Zero, sp.Integer(5)), "0 need not be 1, 2"),
    Attack("a sequence that rises from 1, from a natural", rises(m, m + 1), "m need not be 1, 2"),
    Attack("a real index", says(s(w)), "an index is a natural"),
    Attack("half an index", says(s(k + sp.S.Half)), "an index is a natural"),
    Attack("an index before the start", says(s(k - 1)), "an index is a natural"),
    Attack("a vector's real index", says(norm(vector("sorted x", "x")(w))), "an index is a natural"),
    Attack("a family's real index", says(f[w](u)), "an index is a natural"),
    Attack("a vector for an index", says(s(u)), "an index is a natural"),
)
def test_indices(attack):
    assert attack.sentence in answer(attack)


NAMES = (
    "\u0445",
    "x ",
    " x",
    "x\u200b",
    "x\u00a0y",
    "||u||",
    "f(u)",
    "x  y",
    "2x",
    "",
    "x+y",
    "slack[h]",
    "residual[h]",
)
MADE = {
    "vector": lambda name: vector(name, "x"),
    "function": lambda name: function(name, "x"),
    "index": index,
    "mean": lambda name: mean_over(name, b),
    "symbol": lambda name: symbol(name, "x", real=True),
    "sequence": lambda name: sequence(name, "x", real=True),
}


@table(
    *(Attack(f"a symbol {name!r}", says(sp.Symbol(name, real=True)), NAME) for name in NAMES),
    *(Attack(f"a sequence {name!r}", says(sp.Function(name, real=True)(k)), NAME) for name in NAMES if name),
    *(
        Attack(f"a {what} {name!r}", lambda make=make, name=name: make(name), NAME)
        for what, make in MADE.items()
        for name in ("\u0445", "x\u200b", "x ", "||u||")
    ),
    *(
        Attack(f"a sequence {name}", says(sp.Function(name, real=True)(k)), "means something else")
        for name in ("exp", "sqrt", "square", "Max")
    ),
    Attack("a function and a sequence", says(f(u), sp.Function("sorted f", real=True)(k)), "printed as sorted f"),
    Attack("a vector and a symbol", says(norm(u), sp.Symbol("sorted u", real=True)), "printed as sorted u"),
    Attack(
        "a vector and a sequence",
        says(norm(vector("sorted x", "x")(k)), sp.Function("sorted x", real=True)(k)),
        "printed as sorted x",
    ),
    Attack("a mean and a sequence", says(mean(s(b)), sp.Function("sorted_b", real=True)(k)), "printed as sorted_b"),
    Attack("a gradient and a vector", says(norm(f.grad(u)), norm(vector("grad sorted f", "x")(k))), "printed as grad"),
    Attack("the number e and a symbol", says(sp.E, sp.Symbol("E", positive=True)), "printed as E"),
)
def test_names(attack):
    assert attack.sentence in answer(attack)


@table(
    Attack("a vector over what may be 0", lambda: r**2 * norm2(u / r), "could be 0"),
    Attack("a norm over what may be 0", lambda: r * norm(u / r), "could be 0"),
    Attack("an inner product over a real", lambda: w * dot(u / w, v), "could be 0"),
    Attack("a value over a difference", lambda: f(u / (p - 1)), "could be 0"),
    Attack("a gradient at u over r^2", lambda: f.grad(u / r**2), "could be 0"),
    Attack("a root below", lambda: norm(u / sp.sqrt(r)), "could be 0"),
    Attack("a rule at a quotient", uses(rules.smooth("r", f, u, v / r)), "denominator"),
    Attack(
        "an equation over r",
        every(equal(r * w, r * c), k, rules.mean("r", mean, 1 / r, given="h"), equal(w, c), None),
        "denominator",
    ),
    Attack(
        "an inequality over r",
        every(at_most(r * w, r * c), k, rules.mean("r", mean, 1 / r, given="h"), at_most(w, c), None),
        "denominator",
    ),
    Attack(
        "a quotient that a weight cancels",
        every(at_most(s(k) / k, c), k, rules.mean("r", mean, k, given="h"), at_most(s(k), c * k), None),
        "denominator",
    ),
    Attack("floor", says(sp.floor(w)), "floor has no meaning here"),
    Attack("ceiling", says(sp.ceiling(w)), "ceiling has no meaning here"),
    Attack("sign", says(sp.sign(w)), "sign has no meaning here"),
    Attack("Heaviside", says(sp.Heaviside(w)), "has no meaning here"),
    Attack("sin", says(sp.sin(w)), "sin has no meaning here"),
    Attack("log", says(sp.log(p)), "log has no meaning here"),
    Attack("Piecewise", says(sp.Piecewise((w, w > 0), (0, True))), "has no meaning here"),
    Attack("a derivative", says(sp.Derivative(w**2, w, evaluate=False)), "Derivative has no meaning here"),
    Attack("a sum of sympy", says(sp.Sum(s(k), (k, 0, n))), "Sum has no meaning here"),
    Attack("factorial", says(sp.factorial(k)), "factorial has no meaning here"),
    Attack("infinity", says(sp.oo), "has no meaning here"),
    Attack("a float", says(sp.Float("0.1") * w), "is not an exact number"),
    Attack("a power of 0", says(sp.Pow(0, r, evaluate=False)), "must be a fraction or a whole number"),
    Attack("a real power", says(p**w), "must be a fraction or a whole number"),
    Attack("the imaginary unit", says(sp.I * w), "has no meaning here"),
)
def test_terms(attack):
    assert attack.sentence in answer(attack)


@pytest.mark.parametrize(
    "build",
    [
        from_one(1),
        at_zero(m + 1),
        at_zero(n),
        rises(sp.S.One, sp.Integer(5)),
        every(at_most(1, n), n, rules.at("r", n, m + 1, given="h"), at_most(1, m + 1), slack("r")),
        every(at_most(p * w, p * c), k, rules.mean("r", mean, 1 / p, given="h"), at_most(w, c), slack("r")),
    ],
)
def test_what_is_right_is_accepted(build):
    assert examine(build()).faults == ()


def test_a_positive_divisor_may_stand_below_a_vector():
    assert p**2 * norm2(u / p) == norm2(u)
    assert holds_at(at_most(sp.sqrt(2), p), {p: sp.sqrt(2)})
