"""Attacks on claims with vectors by kind: what is true is never refuted, what is false is refuted and never proved."""

from __future__ import annotations

from contextlib import suppress

import pytest
import sympy as sp

from cflag_theory.claims.engine.terms import Function
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify import (
    Conjecture,
    decide,
    dot,
    falsify,
    function,
    index,
    mean,
    norm,
    norm2,
    prove,
    sum_over,
    vector,
    vectors,
)
from cflag_theory.falsify.finding import NoCase
from cflag_theory.falsify.vector_terms.checking import fault
from cflag_theory.falsify.vector_terms.evaluating import Piecewise, World
from cflag_theory.falsify.vector_terms.reading import read_vectors

pytestmark = pytest.mark.full

L, alpha, mu, c, eta = sp.symbols("L alpha mu c eta", positive=True)
m = sp.Symbol("m", nonnegative=True)
k = sp.Symbol("k", integer=True, nonnegative=True)
T = sp.Symbol("T", integer=True, positive=True)
u, v, w, y, s, p, z = vectors("u v w y s p z")
f, q = function("f", smooth=L), function("q", smooth=L, convex=True)
g, h, r = function("g", convex=True), function("h", smooth=L, mu=mu), function("r", smooth=L, lower=0)
i, t, j = index("i"), index("t"), index("j")
E, N, S = mean("clients", i), mean("noise", j), sum_over(j, T)


def at(name):
    return lambda *place: vector(name, *place)


x, b, d, local = at("x"), at("b"), at("d"), at("local")


def prox(F: Function, of, point):
    return sp.Eq(of, point + alpha * F.grad(point))


def step(move):
    return sp.Eq(x(t + 1), move)


DESCENT = step(x(t) - alpha * q.grad(x(t)))
SHORT = alpha * L <= 1
MEAN = (sp.Eq(d(t), E(f[i].grad(x(t)))), step(x(t) - alpha * d(t)), SHORT)

#: What is true for reasons that lie at other indices than those an instance lists.
INDICES = {
    "an index that turns back": (norm2(x(0)), c, norm2(x((t - 10) ** 2)) <= c),
    "an index that is 0 twice": (norm2(x(0)), c, norm2(x(t * (t - 1))) <= c),
    "a difference that grows": (
        norm2(x(0)),
        0,
        step(2 * x(t)),
        sp.Eq(d(t), x(t + 1) - x(t)),
        norm2(d(t)) <= c,
    ),
    "a mean that grows": (norm2(x(0)), 0, step(2 * x(t)), norm2(E(x(t) + b(i))) <= c),
    "values that grow": (norm2(x(0)), 0, step(2 * x(t)), h(x(t)) <= c),
    "moves that stay": (norm2(b(0)), 0, sp.Eq(b(t + 1), b(t)), step(x(t) + b(t)), norm2(x(t)) <= c),
    "moves that are bounded": (norm2(x(4) - x(3)), c, step(x(t) + b(t)), norm2(b(t)) <= c),
    "an index squared": (norm2(u), 0, t**2 * norm2(u) <= c * t + c),
    "a power": (norm2(u), 0, 2**t * norm2(u) <= c),
    "a quotient": (norm2(u), 0, norm2(u) <= c / (t + 1)),
    "an index and a number": (norm2(u) * k, 0, t * k * norm2(u) <= c),
    "two indices": (norm2(u), 0, (t - i) * norm2(u) <= c),
    "an index and its member": (norm2(u), 0, i * norm2(b(i)) <= c, norm2(u) <= norm2(b(i))),
    "a sum of so many": (norm2(u), 0, sum_over(j, t)(norm2(u)) <= c),
    "a sum of so many members": (norm2(u), 0, sum_over(j, t)(norm2(b(j))) <= c, norm2(u) <= norm2(b(t))),
    "members that fall": (norm2(b(5)), norm2(b(2)), norm2(b(t + 1)) <= norm2(b(t))),
    "signs in turn": (norm2(b(0) + b(1)), 0, sp.Eq(b(t + 1), -b(t))),
    "a period of three": (norm2(b(3) - b(0)), 0, sp.Eq(b(t + 3), b(t))),
    "steps from one gradient": (
        norm2(x(t + 1) - x(t)),
        0,
        step(x(t) - alpha * f.grad(x(0))),
        sp.Eq(f.grad(x(0)), 0),
    ),
    "rounds of means": (E(f[i](x(1))), E(f[i](x(0))) - alpha / 2 * norm2(d(0)), *MEAN),
}
#: Runs that go on by their steps, and steps that use each other.
RUNS = {
    "a period that is not two": (norm2(b(2) - b(0)), 0, sp.Eq(b(t + 3), b(t))),
    "sizes that fall": (
        norm2(x(2) - y),
        norm2(x(0) - y) / 2,
        step(x(t) - eta / (t + 1) * q.grad(x(t))),
        sp.Eq(q.grad(y), 0),
        eta * L <= 1,
    ),
    "a heavy ball": (
        f(x(2)),
        f(x(1)),
        sp.Eq(x(t + 2), x(t + 1) - alpha * f.grad(x(t + 1)) + m * (x(t + 1) - x(t))),
        SHORT,
    ),
    "momentum": (
        f(x(1)),
        f(x(0)),
        sp.Eq(d(t + 1), m * d(t) + f.grad(x(t))),
        step(x(t) - alpha * d(t + 1)),
        SHORT,
    ),
    "a delayed gradient": (f(x(2)), f(x(1)), sp.Eq(x(t + 2), x(t + 1) - alpha * f.grad(x(t))), SHORT),
    "the first gradient": (norm2(x(3) - x(2)), norm2(x(1) - x(0)) / 2, step(x(t) - alpha * f.grad(x(0)))),
    "a mean gradient": (E(f[i](x(1))), E(f[i](x(0))) - alpha * norm2(d(0)), *MEAN),
    "local models": (
        norm2(E(local(i, 1)) - u),
        norm2(E(local(i, 0)) - u),
        sp.Eq(local(i, t + 1), local(i, t) - alpha * q[i].grad(local(i, t))),
    ),
    "descent twice": (S(norm2(q.grad(x(j)))) * alpha, q(x(0)) - q(x(T)), DESCENT, SHORT),
    "members against their mean": (norm2(b(0)), c, norm2(b(i)) <= c + E(norm2(b(i)))),
}
#: Pairs of a true claim and a false one beside it.
STEPS_TRUE = {
    "prox fixed point": (norm2(p - z), 0, prox(g, z, p), sp.Eq(g.grad(z), 0)),
    "prox descent": (g(p), g(z) - norm2(z - p) / alpha / 2, prox(g, z, p)),
    "prox strong": ((1 + alpha * mu) ** 2 * norm2(p - s), norm2(z - y), prox(h, z, p), prox(h, y, s)),
    "prox once": (norm2(p - s), 0, prox(g, z, p), prox(g, z, s)),
    "projections": (norm2(p - s), norm2(z - y), dot(z - p, s - p) <= 0, dot(y - s, p - s) <= 0),
    "Pythagoras": (norm2(p - s) + norm2(z - p), norm2(z - s), dot(z - p, s - p) <= 0),
    "a short step": (q(u - alpha * q.grad(u)), q(u), alpha * L <= 2),
    "a step at rest": (norm2(y - s), 0, sp.Eq(y, s - alpha * f.grad(s)), sp.Eq(f.grad(s), 0)),
    "a mean at rest": (norm2(E(y - q[i].grad(s)) - y), 0, sp.Eq(E(q[i].grad(s)), 0)),
    "a biased mean": (q(y), q(u), sp.Eq(y, u - alpha * E(q.grad(u) + b(i))), sp.Eq(E(b(i)), 0), SHORT),
    "descent": (S(norm2(q.grad(x(j)))) * alpha / 2, q(x(0)) - q(x(T)), DESCENT, SHORT),
    "least": (g(s), g(u), sp.Eq(g.grad(s), 0)),
    "least of two": (g(s) + q(s), g(u) + q(u), sp.Eq(g.grad(s) + q.grad(s), 0)),
    "Lojasiewicz": (2 * mu * (h(u) - h(s)), norm2(h.grad(u)), sp.Eq(h.grad(s), 0)),
    "growth": (mu * norm2(u - s) / 2, h(u) - h(s), sp.Eq(h.grad(s), 0)),
    "gap": (norm2(r.grad(u)), 2 * L * r(u)),
    "two functions": (norm2(f.grad(u) + q.grad(u) - f.grad(v) - q.grad(v)), 4 * L**2 * norm2(u - v)),
}
STEPS_FALSE = {
    "prox descent": (g(p), g(z) - 2 * norm2(z - p) / alpha, prox(g, z, p)),
    "prox strong": ((1 + 2 * alpha * mu) ** 2 * norm2(p - s), norm2(z - y), prox(h, z, p), prox(h, y, s)),
    "prox once": (norm2(p - s), 0, prox(f, z, p), prox(f, z, s)),
    "projections": (norm2(p - s), norm2(z - y) / 2, dot(z - p, s - p) <= 0, dot(y - s, p - s) <= 0),
    "Pythagoras": (norm2(z - s), norm2(p - s) + norm2(z - p), dot(z - p, s - p) <= 0),
    "a long step": (q(u - alpha * q.grad(u)), q(u), alpha * L <= 3),
    "a biased mean": (q(y), q(u), sp.Eq(y, u - alpha * E(q.grad(u) + b(i))), SHORT),
    "least": (f(s), f(u), sp.Eq(f.grad(s), 0)),
    "least of two": (f(s) + q(s), f(u) + q(u), sp.Eq(f.grad(s) + q.grad(s), 0)),
    "each at rest": (norm2(g.grad(s)), 0, sp.Eq(g.grad(s) + q.grad(s), 0)),
    "Lojasiewicz": (3 * mu * (h(u) - h(s)), norm2(h.grad(u)), sp.Eq(h.grad(s), 0)),
    "Lojasiewicz without mu": (2 * c * (q(u) - q(s)), norm2(q.grad(u)), sp.Eq(q.grad(s), 0)),
    "growth": (mu * norm2(u - s), h(u) - h(s), sp.Eq(h.grad(s), 0)),
    "gap": (norm2(r.grad(u)), L * r(u)),
    "a bound that is met": (r(u), 0),
    "convex and bounded": (0, q(u)),
    "two functions": (norm2(f.grad(u) + q.grad(u) - f.grad(v) - q.grad(v)), 3 * L**2 * norm2(u - v)),
}
MEANS_TRUE = {
    "variance": (E(norm2(b(i) - E(b(i)))), E(norm2(b(i) - u))),
    "noise": (E(norm2(u + b(i))), norm2(u) + E(norm2(b(i))), sp.Eq(E(b(i)), 0)),
    "cross terms": (E(dot(b(i), u)), 0, sp.Eq(E(b(i)), 0)),
    "bounded members": (norm2(E(b(i))), c, norm2(b(i)) <= c),
    "Jensen": (g(E(b(i))), E(g(b(i)))),
    "smooth mean": (norm2(E(f[i].grad(u)) - E(f[i].grad(v))), L**2 * norm2(u - v)),
    "dissimilarity": (
        E(norm2(q[i].grad(u) - q[i].grad(s))),
        2 * L * (E(q[i](u)) - E(q[i](s))),
        sp.Eq(E(q[i].grad(s)), 0),
    ),
    "two means": (E(N(norm2(b(i) + d(j)))), E(norm2(b(i))) + N(norm2(d(j))), sp.Eq(N(d(j)), 0)),
    "sum": (norm2(S(b(j))), T * S(norm2(b(j)))),
    "bounded sum": (S(norm2(b(j))), T * c, norm2(b(j)) <= c),
    "telescope": (S(norm2(x(j)) - norm2(x(j + 1))), norm2(x(0))),
    "one of a sum": (norm2(b(0)), S(norm2(b(j)))),
}
MEANS_FALSE = {
    "variance": (E(norm2(b(i) - u)), E(norm2(b(i) - E(b(i))))),
    "noise": (E(norm2(u + b(i))), norm2(u) + E(norm2(b(i)))),
    "bounded mean": (norm2(b(0)), c, E(norm2(b(i))) <= c),
    "one of a mean": (norm2(b(1)), 2 * E(norm2(b(i)))),
    "Jensen": (f(E(b(i))), E(f(b(i)))),
    "co-coercive mean": (
        norm2(E(f[i].grad(u)) - E(f[i].grad(v))),
        L * dot(E(f[i].grad(u)) - E(f[i].grad(v)), u - v),
    ),
    "dissimilarity": (
        E(norm2(q[i].grad(u) - q[i].grad(s))),
        L * (E(q[i](u)) - E(q[i](s))),
        sp.Eq(E(q[i].grad(s)), 0),
    ),
    "each client at rest": (E(norm2(q[i].grad(s))), 0, sp.Eq(E(q[i].grad(s)), 0)),
    "two means": (E(N(norm2(b(i) + d(j)))), E(norm2(b(i))) + N(norm2(d(j)))),
    "sum": (norm2(S(b(j))), S(norm2(b(j)))),
    "bounded sum": (S(norm2(b(j))), T * c / 2, norm2(b(j)) <= c),
    "telescope": (S(norm2(x(j)) - norm2(x(j + 1))), norm2(x(0)) / 2),
    "one of a sum": (norm2(b(1)), S(norm2(b(j)))),
}
#: Numbers at their ends, and what holds in one dimension alone.
ENDS_TRUE = {
    "from one": (norm2(u), T * norm2(u)),
    "whole": (k * norm2(u), k**2 * norm2(u)),
    "nothing": (m * norm2(u), 0, sp.Eq(m, 0)),
    "Cauchy": (dot(u, v) ** 2, norm2(u) * norm2(v)),
    "three": (norm(u + v + w), norm(u) + norm(v) + norm(w)),
    "parallelogram": (norm2(u + v) + norm2(u - v), 2 * norm2(u) + 2 * norm2(v)),
    "a right angle": (norm2(u), norm2(u + v), sp.Eq(dot(u, v), 0)),
}
ENDS_FALSE = {
    "from nought": (norm2(u), k * norm2(u)),
    "from two": (2 * norm2(u), T * norm2(u)),
    "below one": (m * norm2(u), m**2 * norm2(u)),
    "Cauchy on a line": (norm2(u) * norm2(v), dot(u, v) ** 2),
    "the other way": (norm(u) + norm(v), norm(u + v)),
    "a product": (norm(u) * norm(v), dot(u, v)),
    "angles on a line": (dot(u, w), 0, dot(u, v) <= 0, dot(v, w) <= 0),
    "a right angle on a line": (norm2(u) * norm2(v), 0, sp.Eq(dot(u, v), 0)),
    "right angles in turn": (dot(u, w) ** 2, 0, sp.Eq(dot(u, v), 0), sp.Eq(dot(v, w), 0)),
}
#: False in three dimensions, and true in those that instances have: neither is the answer.
OPEN = {
    "three right angles": (
        norm2(u) * norm2(v) * norm2(w),
        0,
        sp.Eq(dot(u, v), 0),
        sp.Eq(dot(v, w), 0),
        sp.Eq(dot(u, w), 0),
    ),
}
CONTRADICTORY = {
    "below zero at 0": (c, c * t, norm2(b(t)) <= t - 1),
    "two bounds": (c, 0, norm2(b(t)) <= c, c <= norm2(b(t)) - 1),
    "two step sizes": (norm2(u), 0, alpha * L <= 1, alpha * L >= 2),
    "Cauchy-Schwarz": (norm2(u), 0, sp.Eq(dot(u, v), 2), norm2(u) <= 1, norm2(v) <= 1),
    "Jensen": (c, 0, E(norm2(b(i))) <= c, c + 1 <= norm2(E(b(i)))),
    "below the least": (c, 0, sp.Eq(g.grad(s), 0), g(y) <= g(s) - 1),
    "more curved than smooth": (norm2(u), 0, mu >= 2 * L, h(y) <= c),
}
SLOW = {"values that grow", "prox once", "descent", "a mean that grows", "a difference that grows"}


def claim(name, sides):
    left, right, *given = sides
    return Conjecture(name=name, left=left, right=right, given=tuple(given))


def cases(*tables):
    return pytest.mark.parametrize(
        ("name", "sides"),
        [
            pytest.param(name, sides, marks=[pytest.mark.full] if name in SLOW else [], id=name)
            for table in tables
            for name, sides in table.items()
        ],
    )


@cases(INDICES, STEPS_TRUE, MEANS_TRUE, ENDS_TRUE)
def test_what_is_true_is_never_refuted(name, sides):
    with suppress(NoCase):
        assert not falsify(claim(name, sides), budget=40).refuted


@cases(RUNS, STEPS_FALSE, MEANS_FALSE, ENDS_FALSE)
def test_what_is_false_is_refuted(name, sides):
    assert falsify(claim(name, sides), budget=600).refuted


@pytest.mark.full
@cases(RUNS, STEPS_FALSE, MEANS_FALSE, ENDS_FALSE, OPEN)
def test_what_is_false_is_never_proved(name, sides):
    assert prove(claim(name, sides), budget=60, seconds=1).outcome == "neither"


@cases(CONTRADICTORY)
def test_what_nothing_satisfies_is_not_proved(name, sides):
    with pytest.raises(InvalidInput, match=r"contradict each other|no case satisfies"):
        decide(claim(name, sides), budget=40, seconds=0.5)


# The checker alone: finished instances that are none.


def faults(sides, **parts):
    return fault(read_vectors(claim("an instance", sides)), World(1, parts.pop("numbers", {}), **parts))


def family(name, *members):
    return {(vector(name, 0).args[0].name, (place,)): [sp.Rational(one)] for place, one in enumerate(members)}


def curve(bend, above=0):
    return Piecewise([0], [bend], [bend], [0], [0], above)


@pytest.mark.parametrize(
    ("sides", "parts", "words"),
    [
        ((norm2(x(3)), 0, step(2 * x(t))), {"vectors": family("x", 1, 2, 4, 8)}, None),
        ((norm2(x(3)), 0, step(2 * x(t))), {"vectors": family("x", 1, 2, 4, 9)}, "does not hold at t = 2"),
        (
            (norm2(x(3)), 0, step(x(t) + b(t))),
            {"vectors": family("x", 0, 1, 2, 5) | family("b", 1)},
            "does not hold at t = 2",
        ),
        (
            (norm2(x(0)), 0, step(2 * x(t)), norm2(x(t)) <= c),
            {"vectors": family("x", 1, 2), "numbers": {c: 4}},
            "does not hold at t = 1",
        ),
        ((norm2(x(0)), 0, norm2(x(t)) <= c), {"vectors": family("x", 1, 2), "numbers": {c: 4}}, None),
        ((norm2(x(0)), 0, norm2(x(t)) <= c), {"vectors": family("x", 1), "numbers": {c: -4}}, "is not positive"),
        ((norm2(x(0)), 0, norm2(x(t)) < c * t + c), {"vectors": family("x", 1), "numbers": {c: 2}}, None),
        (
            (norm2(x(0)), 0, t * norm2(x(t)) <= c),
            {"vectors": family("x", 1), "numbers": {c: 9}},
            "not shown for every t",
        ),
    ],
)
def test_the_checker_sees_what_an_instance_lacks(sides, parts, words):
    found = faults(sides, **parts)
    assert found is None if words is None else words in found


@pytest.mark.parametrize(
    ("of", "made", "words"),
    [
        (h, curve(1), None),
        (h, curve(3), "bends more than 2"),
        (h, curve(sp.Rational(1, 2)), "bends less than 1"),
        (r, curve(1), None),
        (r, curve(1, -1), "not bounded below by 0"),
        (r, curve(-1), "not bounded below by 0"),
    ],
)
def test_the_checker_looks_at_the_functions(of, made, words):
    numbers = {L: 2, mu: 1} if of is h else {L: 2}
    sides = (of(u), norm2(u))
    parts = {"vectors": {(u.args[0].name, ()): [1]}, "functions": {(of.args[0].name, ()): made}}
    found = faults(sides, numbers=numbers, **parts)
    assert found is None if words is None else words in found


@pytest.mark.parametrize(("weights", "words"), [([2, -1], "negative"), ([1, 1], "sum to one"), ([1, 0], None)])
def test_the_checker_looks_at_the_weights(weights, words):
    parts = {"vectors": family("b", 1, 2), "weights": {E.args[0].name: weights}}
    found = faults((norm2(E(b(i))), 0), **parts)
    assert found is None if words is None else words in found
