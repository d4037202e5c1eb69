"""Ten false lemmas, each with the repair that its author would accept; none is the ledger's."""

from __future__ import annotations

import pytest
import sympy as sp

from cflag_theory.claims.engine.relation import Relation
from cflag_theory.falsify import Conjecture, Range, dot, function, index, mean, norm2, repair, vector, vectors

L, a, mu, s, d = sp.symbols("L a mu s d", positive=True)
m, sigma = sp.symbols("m sigma", nonnegative=True)
K = sp.Symbol("K", integer=True, positive=True)
x, y, xs, u, v, e, g, p = vectors("x y xs u v e g p")
i = index("i")
E = mean("E", i)
n_i = vector("noise", i)
smooth = function("ten smooth", smooth=L)
convex = function("ten convex", smooth=L, convex=True)
H = function("ten convex losses", smooth=L, convex=True)
step = smooth.grad(x)


def claim(left, right, *given, **ranges):
    return Conjecture(name="a lemma", left=left, right=right, given=given, ranges=ranges)


def biased(longest):
    right = smooth(x) - a * (1 - m) / 2 * norm2(step)
    return claim(smooth(x - a * (step + g)), right, norm2(g) <= m * norm2(step), a * L <= longest)


def young(second):
    return claim(norm2(u + v), (1 + s) * norm2(u) + second * norm2(v))


def average(power):
    left = E(norm2((1 - s) * v + s * (g + n_i) - g))
    right = (1 - s) * norm2(v - g) + s**power * sigma
    return claim(left, right, sp.Eq(E(n_i), 0), E(norm2(n_i)) <= sigma, s <= 1)


def contraction(*given):
    return claim(norm2(x - a * convex.grad(x) - y + a * convex.grad(y)), norm2(x - y), *given)


def compressed(scale):
    left = norm2(e + a * g - p)
    right = (1 - d / 2) * norm2(e) + 2 * a**2 / d * norm2(g)
    return claim(left, right, left <= (1 - scale * d) * norm2(e + a * g), d <= 1)


def second_moment(factor):
    right = factor * L * (E(H[i](x)) - E(H[i](xs))) + 2 * E(norm2(H[i].grad(xs)))
    return claim(E(norm2(H[i].grad(x))), right, sp.Eq(E(H[i].grad(xs)), 0))


def below(sign):
    return claim(smooth(x) + dot(step, y - x) + sign * L / 2 * norm2(y - x), smooth(y))


def shrunk(*given):
    numbers = {"mu": Range("1/10", 1), "s": Range(0, 3, open="low")}
    return claim((1 - s * mu) ** 2, 1 - s * mu, *given, **numbers)


def says(wanted):
    """That a change is this claim, up to a factor, under these hypotheses; or that it says these words."""

    def scaled(one, other):
        ratio = sp.cancel(sp.expand(one.slack) / sp.expand(other.slack)) if other.slack != 0 else sp.S.Zero
        return bool(ratio.is_number and ratio > 0)

    def fits(change):
        if isinstance(wanted, str):
            return wanted in change.words
        goal = Relation(wanted.left, wanted.relation, wanted.right)
        given = [Relation(one.lhs, "<=", one.rhs) for one in wanted.given if one.rel_op == "<="]
        return scaled(change.goal, goal) and all(any(scaled(one, fact) for one in change.given) for fact in given)

    return fits


LEMMAS = {
    "a constant of a hypothesis": (biased(3), says(biased(1))),
    "a term that is missing": (young(1 / s), says(young(1 + 1 / s))),
    "an exponent": (average(3), says(average(2))),
    "a step size that is not bounded": (contraction(), says(contraction(a * L <= 2))),
    "a number in a hypothesis": (compressed(sp.Rational(1, 2)), says(compressed(1))),
    "a constant on the right": (second_moment(2), says(second_moment(4))),
    "a sign on the left": (below(1), says(below(-1))),
    "convexity": (claim(smooth(x) - smooth(xs), dot(step, x - xs)), says("convex")),
    "from which index on": (claim(norm2(u + v), K * (norm2(u) + norm2(v))), says("2 <= K")),
    "a product of numbers": (shrunk(), says(shrunk(s * mu <= 1))),
}


QUICK = ("convexity", "a product of numbers")


@pytest.mark.parametrize("name", [pytest.param(one, marks=() if one in QUICK else pytest.mark.full) for one in LEMMAS])
def test_its_repair_is_proposed(name):
    lemma, fits = LEMMAS[name]
    found = repair(lemma, seconds=60)
    assert found.decision.refuted
    assert any(map(fits, found.proposals)), [one.words for one in found.proposals]
