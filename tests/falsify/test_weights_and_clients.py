"""Weights that may vanish or that an equation gives, and T local steps of every client."""

from __future__ import annotations

import pytest
import sympy as sp

from cflag_theory.falsify import (
    Conjecture,
    decide,
    dot,
    function,
    index,
    mean,
    norm,
    norm2,
    sum_over,
    vector,
    vectors,
)

T = sp.Symbol("T", integer=True, positive=True)
a, L, e = sp.symbols("a L e", positive=True)
p, q, r, d, G = sp.symbols("p q r d G", nonnegative=True)
s, s_2 = sp.symbols("s s_2", real=True)
t, j = index("t"), index("j")
u, v, w, x, z = vectors("u v w x z")
S, C = sum_over(t, T), mean("clients", j)
f, h = function("f", smooth=L), function("h", convex=True)
F = function("F", smooth=L)
SIMPLEX = sp.Eq(p + q + r, 1)


def y(at):
    return vector("y", j, at)


def g(at):
    return vector("g", j, at)


def X(at):
    return vector("X", at)


def V(at):
    return vector("V", at)


WEIGHED = p * norm2(u) + q * norm2(v) + r * norm2(w)
LOCAL = (sp.Eq(y(t + 1), y(t) - a * g(t)), sp.Eq(y(0), x))
WALK = (sp.Eq(X(t + 1), X(t) - a * V(t)), sp.Eq(X(0), x))

TRUE = {
    "three weights": (norm2(p * u + q * v + r * w), (p + q + r) * WEIGHED),
    "four weights": (norm2(p * u + q * v + r * w + d * z), (p + q + r + d) * (WEIGHED + d * norm2(z))),
    "weights that add up to 1": (norm2(p * u + q * v + r * w), WEIGHED, SIMPLEX),
    "to a point": (
        norm2(p * u + q * v + r * w - x),
        p * norm2(u - x) + q * norm2(v - x) + r * norm2(w - x),
        SIMPLEX,
    ),
    "a convex function": (h(p * u + q * v + r * w), p * h(u) + q * h(v) + r * h(w), SIMPLEX),
    "three nodes that gossip": (
        norm2((1 - p - q) * u + p * v + q * w),
        (1 - p - q) * norm2(u) + p * norm2(v) + q * norm2(w),
        p + q <= 1,
    ),
    "a graph's Laplacian": (
        p * dot(u, v) + q * dot(u, w) + r * dot(v, w),
        (p + q) / 2 * norm2(u) + (p + r) / 2 * norm2(v) + (q + r) / 2 * norm2(w),
    ),
    "Young with weights on three": (p * q * r * norm2(u + v + w), (p * q + q * r + r * p) * WEIGHED),
    "two equations": (norm2(p * u + q * v), p * norm2(u) + q * norm2(v), sp.Eq(p + q, e), sp.Eq(e, 1)),
    "a real weight": (norm2(s * u + p * v), s * norm2(u) + p * norm2(v), sp.Eq(s + p, 1), p <= 1),
    "two real weights": (
        norm2(s * u + s_2 * v),
        s * norm2(u) + s_2 * norm2(v) - s * s_2 * norm2(u - v),
        sp.Eq(s + s_2, 1),
    ),
    "the step 1/L": (f(x - a * f.grad(x)), f(x) - a / 2 * norm2(f.grad(x)), sp.Eq(a * L, 1)),
    "a walk": (norm2(X(T) - x), T * a**2 * S(norm2(V(t))), *WALK),
    "a walk with a bound": (norm2(X(T) - x), a**2 * T**2 * G**2, *WALK, norm(V(t)) <= G),
    "local drift": (C(norm2(y(T) - x)), T * a**2 * C(S(norm2(g(t)))), *LOCAL),
    "local drift, sums outside": (C(norm2(y(T) - x)), T * a**2 * S(C(norm2(g(t)))), *LOCAL),
    "local drift of the mean": (norm2(C(y(T)) - x), T * a**2 * S(norm2(C(g(t)))), *LOCAL),
    "local drift with a bound": (C(norm2(y(T) - x)), a**2 * T**2 * G**2, *LOCAL, norm2(g(t)) <= G**2),
    "lengths of local drift": (C(norm(y(T) - x)), a * C(S(norm(g(t)))), *LOCAL),
    "local descent": (C(F[j](x - a * F[j].grad(x))), C(F[j](x)) - a / 2 * C(norm2(F[j].grad(x))), a * L <= 1),
}
FALSE = {
    "three weights, half of one": (norm2(p * u + q * v + r * w), (p + q + r) * (WEIGHED - r * norm2(w) / 2)),
    "weights that add up to 2": (norm2(p * u + q * v + r * w), WEIGHED, sp.Eq(p + q + r, 2)),
    "a convex function, less": (h(p * u + q * v + r * w), p * h(u) + q * h(v), SIMPLEX),
    "gossip that exceeds": (
        norm2((1 - p - q) * u + p * v + q * w),
        (1 - p - q) * norm2(u) + p * norm2(v) + q * norm2(w),
        p + q <= 2,
    ),
    "a graph without an edge": (
        p * dot(u, v) + q * dot(u, w) + r * dot(v, w),
        (p + q) / 2 * norm2(u) + (p + r) / 2 * norm2(v) + q / 2 * norm2(w),
    ),
    "two equations, to 2": (norm2(p * u + q * v), p * norm2(u) + q * norm2(v), sp.Eq(p + q, e), sp.Eq(e, 2)),
    "a weight that may be negative": (norm2(s * u + p * v), s * norm2(u) + p * norm2(v), sp.Eq(s + p, 1)),
    "twice the decrease at 1/L": (f(x - a * f.grad(x)), f(x) - a * norm2(f.grad(x)), sp.Eq(a * L, 1)),
    "a walk without T": (norm2(X(T) - x), a**2 * S(norm2(V(t))), *WALK),
    "local drift, half": (C(norm2(y(T) - x)), T * a**2 * C(S(norm2(g(t)))) / 2, *LOCAL),
    "local drift with T once": (C(norm2(y(T) - x)), a**2 * T * G**2, *LOCAL, norm2(g(t)) <= G**2),
    "the mean of products": (C(norm(y(0)) * norm(g(0))), norm(C(y(0))) * norm(C(g(0)))),
    "local descent, twice": (C(F[j](x - a * F[j].grad(x))), C(F[j](x)) - a * C(norm2(F[j].grad(x))), a * L <= 1),
}


def decided(left, right, *given):
    return decide(Conjecture(name="a claim", left=left, right=right, given=given))


@pytest.mark.parametrize("name", TRUE)
def test_true_claims_are_proved(name):
    found = decided(*TRUE[name])
    assert found.outcome == "proved"
    assert "sympy" in found.finding.engines


@pytest.mark.parametrize("name", FALSE)
def test_what_lies_next_to_them_is_refuted(name):
    assert decided(*FALSE[name]).outcome == "refuted"
