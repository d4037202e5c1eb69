"""Families of weights p_i: what holds for each member is summed with them, and members scatter around weighed sums."""

from __future__ import annotations

import pytest
import sympy as sp

from cflag_theory.claims.engine import meanings
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.pages.text import bare
from cflag_theory.falsify import Conjecture, decide, dot, function, index, norm2, sequence, sum_over, vector, vectors
from cflag_theory.falsify.vector_terms.words import own_names

L, M = sp.Symbol("L", positive=True), sp.Symbol("M", nonnegative=True)
N = sp.Symbol("N", integer=True, positive=True)
i = index("i")
total = sum_over(i, N)
p, a = sequence("p", nonnegative=True)(i), sequence("a", real=True)(i)
v, w = vector("weighed v", i), vector("weighed w", i)
x, y = vectors("x y")
f = function("weighed losses", smooth=L)[i]
h, q = function("weighed convex", smooth=L, convex=True), function("weighed convex losses", convex=True)[i]
ONE = sp.Eq(total(p), 1)
mean = total(p * v)


def claim(left, right, *given):
    return Conjecture(name="weighed", left=left, right=right, given=given)


PROVED = {
    "Jensen": claim(norm2(mean), total(p * norm2(v)), ONE),
    "Jensen for numbers": claim(total(p * a) ** 2, total(p * a**2), ONE),
    "variance": claim(total(p * norm2(v - mean)), total(p * norm2(v)), ONE),
    "distance": claim(norm2(mean - y), total(p * norm2(v - y)), ONE),
    "two families": claim(norm2(total(p * (v + w))), 2 * total(p * norm2(v)) + 2 * total(p * norm2(w)), ONE),
    "each": claim(norm2(mean), M, ONE, norm2(v) <= M),
    "smooth": claim(total(p * f(y)), total(p * f(x)) + dot(total(p * f.grad(x)), y - x) + L / 2 * norm2(y - x), ONE),
    "convex": claim(h(mean), total(p * h(v)), ONE),
    "convex losses": claim(2 * total(p * q(x)) - 2 * total(p * q(y)), total(p * norm2(q.grad(x))) + norm2(x - y), ONE),
    "largest weight": claim(total(p**2), M, ONE, p <= M),
    "equal weights are best": claim(1, N * total(p**2), ONE),
    "sum of squares": claim(total(a) ** 2, N * total(a**2)),
}
QUICK = ("Jensen", "Jensen for numbers", "convex losses", "equal weights are best")


@pytest.mark.parametrize("name", [pytest.param(one, marks=() if one in QUICK else pytest.mark.full) for one in PROVED])
def test_a_claim_with_weights_is_proved(name):
    found = decide(PROVED[name])
    assert found.proved
    assert examine(found.derivation.statement).accepted


def test_numbers_that_the_ledger_calls_so_are_the_users_own():
    """A number and a sequence of ours that mean something: a user who calls his own so has others."""
    now = meanings.symbol("weighed_now", "n", norm2(x))
    meanings.sequence("weighed_a", "a", lambda k: norm2(v.xreplace({i: k})))
    a = sequence("weighed_a", real=True)(i)
    assert set(own_names([now, a], but=())) == {now, a}
    found = decide(claim(total(p * a) ** 2 + now, total(p * a**2) + now, ONE))
    assert found.proved
    assert examine(found.derivation.statement).accepted
    assert "__" not in bare(str(found.derivation.text()))


@pytest.mark.parametrize(
    "wrong",
    [
        claim(norm2(mean), total(p * norm2(v))),
        claim(norm2(mean), total(p * norm2(v)) / 2, ONE),
        pytest.param(claim(norm2(mean), M / 2, ONE, norm2(v) <= M), marks=pytest.mark.full),
        claim(total(p**2), M / 2, ONE, p <= M),
    ],
    ids=["no sum", "half", "half of each", "half the largest weight"],
)
def test_a_false_claim_with_weights_is_refuted(wrong):
    assert decide(wrong).refuted
