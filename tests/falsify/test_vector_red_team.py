"""Claims with vectors that were refuted or proved wrongly, and more of their kinds: none is decided wrongly."""

from __future__ import annotations

from contextlib import suppress

import pytest
import sympy as sp

from cflag_theory.claims.engine.points import holds_at
from cflag_theory.claims.engine.relation import at_most
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
    vector,
    vectors,
)
from cflag_theory.falsify.finding import NoCase

pytestmark = pytest.mark.full

L, alpha, mu, c, eta, eps = sp.symbols("L alpha mu c eta epsilon", positive=True)
m = sp.Symbol("m", nonnegative=True)
k = sp.Symbol("k", integer=True, nonnegative=True)
n = sp.Symbol("n", integer=True, positive=True)
u, v, w, x, y, s, p = vectors("u v w x y s p")
f, q = function("f", smooth=L), function("q", smooth=L, convex=True)
g, h, r = function("g", convex=True), function("h", mu=mu), function("r", smooth=L, lower=0)
i, t = index("i"), index("t")
clients = mean("clients", i)


def at(name, place):
    return vector(name, place)


def step(move):
    """x(t + 1) = move of x(t)."""
    return sp.Eq(at("x", t + 1), move(at("x", t)))


def descends(x_t):
    return x_t - alpha * q.grad(x_t)


#: True because of what happens at every index: (left, right, hypotheses).
FOR_EVER = {
    "a doubling that stays bounded": (norm2(at("x", 0)), 0, (step(lambda x: 2 * x), norm2(at("x", t)) <= c)),
    "a tripling below its start": (
        norm2(at("x", 2)),
        0,
        (step(lambda x: 3 * x), norm2(at("x", t)) <= norm2(at("x", 0))),
    ),
    "a drift that stays bounded": (norm2(v), 0, (step(lambda x: x + v), norm2(at("x", t)) <= c)),
    "an alternation that grows": (norm2(at("x", 0)), 0, (step(lambda x: -2 * x), norm2(at("x", t)) <= c)),
    "two steps in turn": (
        norm2(at("x", 0)),
        0,
        (step(lambda x: 2 * at("y", t)), sp.Eq(at("y", t + 1), at("x", t)), norm2(at("x", t)) <= c),
    ),
    "a bound by the index": (norm2(u), 0, (i * norm2(u) <= c,)),
    "a bound by one more than the index": (norm2(u), 0, ((i + 1) * norm2(u) <= 1,)),
    "a bound by the index's square": (norm2(u), 0, (i**2 * norm2(u) <= c + i * c,)),
    "an inner product with the index": (dot(u, v), 0, (i * dot(u, v) <= c,)),
    "a norm times the index": (norm(u), 0, (i * norm(u) <= c,)),
    "growth without end below a bound": (
        norm2(at("d", 0)),
        0,
        (4 * norm2(at("d", t)) <= norm2(at("d", t + 1)), norm2(at("d", t)) <= c),
    ),
    "growth by a constant below a bound": (
        c,
        0,
        (norm2(at("d", t)) + c <= norm2(at("d", t + 1)), norm2(at("d", t)) <= 1 + norm2(u)),
    ),
    "descent without end": (
        eps,
        0,
        (
            r(at("x", t + 1)) <= r(at("x", t)) - norm2(r.grad(at("x", t))),
            eps <= norm2(r.grad(at("x", t))),
        ),
    ),
}
#: False, with an instance that goes on for ever.
BROKEN_FOR_EVER = {
    "a constant family": (norm2(at("x", 0)), c / 2, (norm2(at("x", t)) <= c,)),
    "a step alone": (q(at("x", 0)), q(at("x", 2)), (step(descends), alpha * L <= 1)),
    "a halving that does not end": (norm2(at("x", 3)), 0, (step(lambda x: x / 2),)),
    "a step from a fixed point": (c, norm2(at("x", 0)), (step(descends), norm2(at("x", t)) <= c)),
    "a bound by the index that holds": (norm2(u), c / 2, (norm2(u) <= (i + 1) * c,)),
    "a family of gradients": (norm2(f[0].grad(x)), c / 2, (norm2(f[i].grad(x)) <= c,)),
    "a mean of members": (norm2(clients(at("v", i))), c / 2, (norm2(at("v", i)) <= c,)),
    "one member of a mean of zero": (norm2(at("v", 0)), 0, (sp.Eq(clients(at("v", i)), 0),)),
}
#: True, and refuted once by an instance that was changed after it was looked at, or by none at all.
FINISHED = {
    "three points of a proximal step": (
        norm2(p - s),
        norm2(x - s) - norm2(x - p),
        (sp.Eq(x, p + alpha * g.grad(p)), sp.Eq(g.grad(s), 0)),
    ),
    "a proximal step that stays": (norm2(g.grad(p)), 0, (sp.Eq(x, p + alpha * g.grad(p)), sp.Eq(x, p))),
    "a step that stays": (norm2(g.grad(y)), 0, (sp.Eq(y, y - alpha * g.grad(y)),)),
    "two names of a vector": (norm2(u), 0, (sp.Eq(x, y), sp.Eq(y, x + u))),
    "two equations for one vector": (norm2(u), 0, (sp.Eq(x, y), sp.Eq(x, y + u))),
    "a circle of three": (norm2(u + v + w), 0, (sp.Eq(x, y + u), sp.Eq(y, s + v), sp.Eq(s, x + w))),
    "two minimisers": (norm2(x - y), 0, (sp.Eq(h.grad(x), 0), sp.Eq(h.grad(y), 0))),
    "a mean of gradients at rest": (
        dot(clients(f[i].grad(x)), u),
        0,
        (sp.Eq(clients(f[i].grad(x)), 0), sp.Eq(y, x + f[0].grad(x))),
    ),
    "proximal points come no farther apart": (
        norm2(u - v),
        norm2(x - y),
        (sp.Eq(x, u + alpha * g.grad(u)), sp.Eq(y, v + alpha * g.grad(v))),
    ),
    "a determinant of three vectors": (
        norm2(u) * dot(v, w) ** 2 + norm2(v) * dot(u, w) ** 2 + norm2(w) * dot(u, v) ** 2,
        norm2(u) * norm2(v) * norm2(w) + 2 * dot(u, v) * dot(v, w) * dot(w, u),
        (),
    ),
}
#: False, and nothing that is proved: what fails in two dimensions, at 0, or without what is assumed.
FALSE = {
    "what holds in one dimension": (norm2(u) * norm2(v), dot(u, v) ** 2, ()),
    "two minimisers of a convex function": (norm2(x - y), 0, (sp.Eq(g.grad(x), 0), sp.Eq(g.grad(y), 0))),
    "a contraction by a proximal step": (
        norm2(u - v),
        norm2(x - y) / 2,
        (sp.Eq(x, u + alpha * g.grad(u)), sp.Eq(y, v + alpha * g.grad(v))),
    ),
    "a natural number that may be 0": (norm2(u), k * norm2(u), ()),
    "a square that is larger": (n**2 * norm2(u), n * norm2(u), ()),
    "Young with too little": (2 * dot(u, v), eta * norm2(u) + norm2(v) / (eta + 1), ()),
    "co-coercivity without convexity": (norm2(f.grad(x) - f.grad(y)), L * dot(f.grad(x) - f.grad(y), x - y), ()),
    "Jensen the other way": (clients(norm2(at("v", i))), norm2(clients(at("v", i))), ()),
    "a step that is too long": (
        norm2(descends(x) - s),
        norm2(x - s),
        (sp.Eq(q.grad(s), 0), alpha * L <= sp.Rational(21, 10)),
    ),
    "a gradient against the gap": (norm2(r.grad(x)), sp.Rational(19, 10) * L * r(x), ()),
}


def claim(name, left, right, given):
    return Conjecture(name=name, left=left, right=right, given=given)


def cases(table):
    return pytest.mark.parametrize(("name", "sides"), table.items(), ids=list(table))


@cases(FOR_EVER | FINISHED)
def test_what_is_true_is_never_refuted(name, sides):
    try:
        found = falsify(claim(name, *sides), budget=120)
    except NoCase:
        return
    assert not found.refuted, found.case


@cases(BROKEN_FOR_EVER | FALSE)
def test_what_is_false_is_refuted(name, sides):
    found = decide(claim(name, *sides), budget=600)
    assert found.outcome == "refuted"


def test_a_counterexample_says_how_it_goes_on():
    stays = decide(claim("a family that stays", *BROKEN_FOR_EVER["a constant family"]), budget=200)
    assert "x stays at its last member for ever" in stays.instance
    steps = decide(claim("a run", *BROKEN_FOR_EVER["a step alone"]), budget=200)
    assert "x goes on for ever by hypothesis 1" in steps.instance


def test_neither_says_what_no_instance_shows():
    found = decide(claim("a doubling", *FOR_EVER["a doubling that stays bounded"]), budget=60, seconds=0.5)
    assert found.outcome == "neither"
    assert any("for ever" in one for one in found.finding.not_covered)


@pytest.mark.parametrize("sort", [{"integer": True}, {"even": True}, {"negative": True}, {}], ids=str)
def test_a_number_without_a_sort_is_refused(sort):
    with pytest.raises(InvalidInput, match="declare it"):
        decide(claim("without a sort", sp.Symbol("z", **sort) * norm2(u), norm2(u), ()), budget=10)


def test_no_gram_matrix_is_typed_by_hand():
    relation = at_most(dot(u, v) ** 2, norm2(u) * norm2(v))
    with pytest.raises(InvalidInput, match="neither a symbol nor a sequence"):
        holds_at(relation, {dot(u, v): 5, norm2(u): 1, norm2(v): 1})


#: False, with an instance that goes on for ever in another way than as its last member: its words.
MOVING = {
    "an alternation": (norm2(at("x", 1) - at("x", 0)), 0, (step(lambda x: -x), norm2(at("x", t)) <= c), "last 2"),
    "a quarter turn": (
        norm2(at("x", 2) - at("x", 0)),
        0,
        (sp.Eq(at("x", t + 2), -at("x", t)), norm2(at("x", t)) <= c),
        "last 4",
    ),
    "neighbours apart": (c, 0, (c <= norm2(at("x", t + 1) - at("x", t)), norm2(at("x", t)) <= norm2(u)), "last 2"),
    "a halving": (norm2(at("x", 0)), 0, (step(lambda x: x / 2), norm2(at("x", t)) <= c), "(1/2)^n"),
    "a halving by its norm": (norm2(at("x", 0)), 0, (step(lambda x: x / 2), norm(at("x", t)) <= c), "(1/2)^n"),
    "a halving that turns": (norm2(at("x", 0)), 0, (step(lambda x: -x / 2), norm2(at("x", t)) <= c), "(-1/2)^n"),
    "a halving towards a point": (
        norm2(at("x", 0) - u),
        0,
        (step(lambda x: (x + u) / 2), norm2(at("x", t) - u) <= c),
        "(1/2)^n",
    ),
    "a doubling": (norm2(at("x", 0)), 0, (step(lambda x: 2 * x), norm2(at("x", 0)) <= norm2(at("x", t))), "(2)^n"),
    "a drift": (norm2(v), 0, (step(lambda x: x + v), norm2(at("x", t + 1) - at("x", t)) <= c), "+ n "),
    "a drift uphill": (norm2(v), 0, (step(lambda x: x + v), dot(v, at("x", t)) >= 0), "+ n "),
    "steps of two over the curvature": (
        norm2(at("x", 0) - at("x", 1)),
        0,
        (step(descends), alpha * L <= 2, norm2(q.grad(at("x", t))) <= norm2(q.grad(at("x", t + 1)))),
        "x goes on for ever as",
    ),
}

#: True, though each is false of the first few members, or of most numbers.
FOR_EVER_TOO = {
    "a halving above a bound": (eps, 0, (step(lambda x: x / 2), eps <= norm2(at("x", t)))),
    "a halving below a bound that halves faster": (
        norm2(at("x", 1)),
        0,
        (step(lambda x: x / 2), 8 * norm2(at("x", t + 1)) <= norm2(at("x", t))),
    ),
    "a halving above a point": (norm2(u), 0, (step(lambda x: x / 2), norm2(u) <= 100 * norm2(at("x", t)))),
    "a halving that turns, on one side": (
        norm2(u) ** 2,
        0,
        (step(lambda x: -x / 2), norm2(u) <= dot(u, at("x", t))),
    ),
    "a drift along a bound": (norm2(v), 0, (step(lambda x: x + v), dot(v, at("x", t)) <= 10)),
    "a third of a turn": (
        norm2(at("x", 3) - at("x", 0)),
        0,
        (sp.Eq(at("x", t + 2), -at("x", t) - at("x", t + 1)), norm2(at("x", t)) <= c),
    ),
}


@cases(MOVING)
def test_an_instance_may_turn_or_move_for_ever(name, sides):
    *sides, words = sides
    found = decide(claim(name, *sides), budget=1000)
    assert found.outcome == "refuted"
    assert any(words in line for line in found.instance)


@cases(FOR_EVER_TOO)
def test_what_only_the_first_members_break_is_not_refuted(name, sides):
    with suppress(NoCase):
        assert not falsify(claim(name, *sides), budget=60).refuted
