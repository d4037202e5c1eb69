"""Claims that fail in three dimensions and more alone, and claims next to them that hold in all."""

from __future__ import annotations

import pytest
import sympy as sp
from needs import quick

from cflag_theory.falsify import Conjecture, decide, dot, norm2, vector, vectors
from cflag_theory.falsify.saving import replay, save

R = sp.Rational
u, v, w, x, y, z = vectors("u v w x y z")
a, s = sp.symbols("a s", positive=True)


def claim(left, right, *given):
    return Conjecture(name="dimensions", left=left, right=right, given=given)


def pairs(*of):
    return [(p, q) for n, p in enumerate(of) for q in of[n + 1 :]]


def unit(*of):
    return [sp.Eq(norm2(one), 1) for one in of]


def apart(by, *of):
    return [dot(p, q) <= by for p, q in pairs(*of)]


def orthogonal(*of):
    return [sp.Eq(dot(p, q), 0) for p, q in pairs(*of)]


X = [vector("X", n) for n in range(4)]
FALSE = {
    "three orthogonal": claim(norm2(x + y + z), 2, *unit(x, y, z), *orthogonal(x, y, z)),
    "four orthogonal": claim(norm2(u + v + w + z), R(7, 2), *unit(u, v, w, z), *orthogonal(u, v, w, z)),
    "four far apart": claim(R(1, 2), norm2(u + v + w + z), *unit(u, v, w, z), *apart(-R(1, 4), u, v, w, z)),
    "a simplex": claim(R(1, 10**3), norm2(u + v + w + z), *unit(u, v, w, z), *apart(-R(1, 3) + R(1, 100), u, v, w, z)),
    "of one family": claim(norm2(sum(X)), 3, *unit(*X), *orthogonal(*X)),
    "of different lengths": claim(
        norm2(x + y + z), 13, sp.Eq(norm2(x), 1), sp.Eq(norm2(y), 4), sp.Eq(norm2(z), 9), *orthogonal(x, y, z)
    ),
    "with a number": claim(norm2(x + y + z), 2 * a, *(sp.Eq(norm2(o), a) for o in (x, y, z)), *orthogonal(x, y, z)),
    "with an equation": claim(norm2(w), 2, sp.Eq(w, x + y + z), *unit(x, y, z), *orthogonal(x, y, z)),
    "a bound of one product": claim(dot(x, w), R(1, 2), sp.Eq(w, y + z), *unit(x, y, z), *apart(R(2, 3), x, y, z)),
}
TRUE = {
    "three orthogonal": claim(norm2(x + y + z), 3, *unit(x, y, z), *orthogonal(x, y, z)),
    "three, at most": claim(norm2(x + y + z), 3, *unit(x, y, z), *apart(0, x, y, z)),
    "four orthogonal": claim(norm2(u + v + w + z), 4, *unit(u, v, w, z), *orthogonal(u, v, w, z)),
    "no four so far apart": claim(norm2(u + v + w + z), 1, *unit(u, v, w, z), *apart(-R(1, 4), u, v, w, z)),
    "Pythagoras": claim(norm2(x + y), norm2(x) + norm2(y), sp.Eq(dot(x, y), 0)),
    "of different lengths": claim(
        norm2(x + y + z), 14, sp.Eq(norm2(x), 1), sp.Eq(norm2(y), 4), sp.Eq(norm2(z), 9), *orthogonal(x, y, z)
    ),
    "with a number": claim(norm2(x + y + z), 3 * a, *(sp.Eq(norm2(o), a) for o in (x, y, z)), *orthogonal(x, y, z)),
    "with an equation": claim(norm2(w), 3, sp.Eq(w, x + y + z), *unit(x, y, z), *orthogonal(x, y, z)),
    "a projection": claim(norm2(x - dot(x, y) * y), norm2(x), sp.Eq(norm2(y), 1)),
    "Young": claim(2 * dot(x, y), s * norm2(x) + norm2(y) / s),
    "Bessel": claim(2 * dot(x, y) + 2 * dot(x, z), norm2(x) + 2, *unit(y, z), sp.Eq(dot(y, z), 0)),
}


@pytest.mark.parametrize("name", quick(FALSE, of=2))
def test_it_is_refuted(name, tmp_path):
    found = decide(FALSE[name])
    assert found.outcome == "refuted", found.finding.not_covered
    assert replay(save(found.finding, tmp_path), conjecture=FALSE[name]).broken
    assert any(line.startswith(("x", "u", "X[0]")) for line in found.instance)


@pytest.mark.parametrize("name", quick(TRUE, of=2))
def test_what_holds_in_every_dimension_is_not(name):
    assert decide(TRUE[name]).outcome != "refuted"
