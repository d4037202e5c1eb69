"""Maxima over a family, norms that compare, and the largest of many by a threshold."""

from __future__ import annotations

import pytest
import sympy as sp
from needs import quick

from cflag_theory.errors import InvalidInput
from cflag_theory.falsify import Conjecture, decide, index, largest, least, mean, norm2, sequence, sum_over, vector

n, k = sp.symbols("n k", integer=True, positive=True)
m = sp.Symbol("m", integer=True, nonnegative=True)
c, tau = sp.Symbol("c", positive=True), sp.Symbol("tau", nonnegative=True)
i, j = index("i"), index("j")
a, b, p, q = (sequence(name, nonnegative=True) for name in ("a", "b", "p", "q"))
r = sequence("r", real=True)
S, top, g = sum_over(i, n), largest(i, n, a(i)), vector("g", i)


def claim(left, right, *given):
    return Conjecture(name="maximum", left=left, right=right, given=given)


def sparsified(left, right):
    """Of k + m squares the k numbers p are kept, and the m numbers q are not: none of these is larger."""
    kept, dropped = sum_over(j, k)(p(j)), sum_over(i, m)(q(i))
    return claim(left(kept, dropped), right(kept, dropped), p(j) >= tau, q(i) <= tau)


TRUE = {
    "below the sum": claim(top, S(a(i))),
    "squared, below the sum of squares": claim(top**2, S(a(i) ** 2)),
    "the sum below n times it": claim(S(a(i)), n * top),
    "the sum of squares below n times its square": claim(S(a(i) ** 2), n * top**2),
    "Hoelder": claim(S(a(i) ** 2), top * S(a(i))),
    "weighed": claim(S(a(i) * b(i)), top * S(b(i))),
    "bounded": claim(top, 2 * tau, a(i) <= tau),
    "of multiples": claim(largest(i, n, c * a(i)), c * top),
    "of sums": claim(largest(i, n, a(i) + b(i)), top + largest(i, n, b(i))),
    "of vectors": claim(largest(i, n, norm2(g)), S(norm2(g))),
    "of reals, above the mean": claim(S(r(i)), n * largest(i, n, r(i))),
    "above the least": claim(least(i, n, a(i)), top),
    "the 1-norm by the 2-norm": claim(S(a(i)) ** 2, n * S(a(i) ** 2)),
    "the 2-norm by the 1-norm, with the maximum": claim(S(a(i) ** 2), top * S(a(i))),
    "top-k": sparsified(lambda s, t: t, lambda s, t: m / (k + m) * (s + t)),
    "top-k, what is kept": sparsified(lambda s, t: k * (s + t), lambda s, t: (k + m) * s),
}
FALSE = {
    "the sum below it": claim(S(a(i)), top),
    "half of the sum": claim(top, S(a(i)) / 2),
    "half of the squares": claim(top**2, S(a(i) ** 2) / 2),
    "n times it below the sum": claim(n * top, S(a(i))),
    "of sums, from above": claim(top + largest(i, n, b(i)), largest(i, n, a(i) + b(i))),
    "Hoelder, half": claim(S(a(i) ** 2), top * S(a(i)) / 2),
    "a member beyond the last": claim(a(n), top),
    "any member": claim(a(i), top),
    "a longer sum": claim(sum_over(i, 2 * n)(a(i)), 2 * n * top),
    "a mean of whichever members": claim(mean("E", i)(a(i)), top),
    "what falls with the index": claim(
        -S(r(i) ** 2) / 5 - 1, n * largest(i, n, r(i) / (i + 1)), r(i) >= -2, r(i) <= -1
    ),
    "for another index": claim(largest(i, n, a(i) * b(j)), top * largest(i, n, b(i))),
    "members one further": claim(S(a(i + 1)), n * top),
    "with a step": claim(a(n), top, a(i + 1) <= a(i) + 1),
    "of reals, squared": claim(largest(i, n, r(i)) ** 2, largest(i, n, r(i) ** 2) / 2),
    "the 1-norm by the 2-norm, half": claim(S(a(i)) ** 2, n * S(a(i) ** 2) / 2),
    "top-k, with all of the rest": sparsified(lambda s, t: k * t, lambda s, t: (m - 1) * s),
    "top-k, twice as well": sparsified(lambda s, t: t, lambda s, t: m / (2 * (k + m)) * (s + t)),
    "top-k of none larger": claim(sum_over(i, m)(q(i)), m / (k + m) * (sum_over(i, m)(q(i)) + sum_over(j, k)(p(j)))),
}


@pytest.mark.parametrize("name", quick(TRUE, "bounded", "of multiples", of=2))
def test_it_is_proved(name):
    assert decide(TRUE[name]).outcome == "proved"


@pytest.mark.parametrize("name", FALSE)
def test_it_is_refuted(name):
    assert decide(FALSE[name]).outcome == "refuted"


#: True, and of these the bound of every member would be said too much: what follows is not what holds.
@pytest.mark.parametrize(
    "one",
    [
        pytest.param(claim(a(n), 3 * n * top + 3 * n, a(i + 1) <= a(i) + 1), marks=pytest.mark.full),
        claim(S(a(i)) + a(n), n * top + tau, a(i) <= tau),
    ],
)
def test_a_maximum_of_members_that_are_spoken_of_elsewhere_is_not_taken_for_all(one):
    assert decide(one, budget=200).outcome != "refuted"


def test_the_largest_of_none():
    with pytest.raises(InvalidInput, match="largest of none"):
        largest(i, m, a(i))
