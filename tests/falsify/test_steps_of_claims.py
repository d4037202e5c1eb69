"""Proximal steps, steps of clients under a mean, and rates that a step has: in one round and in T."""

from __future__ import annotations

import pytest
import sympy as sp

from cflag_theory.falsify import Conjecture, decide, dot, function, index, mean, norm, norm2, sum_over, vector, vectors

T = sp.Symbol("T", integer=True, positive=True)
a, L, mu, s = sp.symbols("a L mu s", positive=True)
t, k = index("t"), index("k")
x, y, z, p, q, star = vectors("x y z p q star")
C = mean("clients", k)
f, h = function("f", smooth=L, convex=True), function("h", convex=True)
strong = function("strong", smooth=L, mu=mu)
F, H = function("F", smooth=L), function("H", smooth=L, convex=True)
p_k, g_k = vector("p", k), vector("g", k)


def X(at):
    return vector("X", at)


def proximal(of, at, to):
    return sp.Eq(to, at - a * of.grad(to))


def forward_backward(at, to):
    return sp.Eq(to, at - a * f.grad(at) - a * h.grad(to))


AT_REST = (sp.Eq(strong.grad(star), 0), a * L <= 1)
DESCENT = (sp.Eq(X(t + 1), X(t) - a * strong.grad(X(t))), *AT_REST)
LOCAL, LOCAL_CONVEX = proximal(F[k], x, p_k), proximal(H[k], x, p_k)
BOTH = (forward_backward(x, p), forward_backward(y, q))

TRUE = {
    "forward and backward": (norm2(p - q), norm2(x - y), *BOTH, a * L <= 2),
    "proximal points of clients": (C(norm2(p_k - x)), a**2 * C(norm2(F[k].grad(p_k))), LOCAL),
    "gradients at them": (C(norm2(H[k].grad(p_k))), C(norm2(H[k].grad(x))), LOCAL_CONVEX),
    "the mean of steps": (norm2(C(p_k) - y), C(norm2(p_k - y)), sp.Eq(p_k, x - a * g_k)),
    "the mean of gradient steps": (norm2(C(p_k) - y), C(norm2(p_k - y)), sp.Eq(p_k, x - a * F[k].grad(x))),
    "the mean of proximal points": (norm2(C(p_k) - y), C(norm2(p_k - y)), LOCAL),
    "a length by a factor below 1": (norm(x - a * strong.grad(x) - star), (1 - a * mu) * norm(x - star), *AT_REST),
    "lengths over T rounds": (norm(X(T) - star), (1 - a * mu) ** T * norm(X(0) - star), *DESCENT),
    "lengths from squares": (
        norm(X(T)),
        (1 - s) ** T * norm(X(0)),
        norm2(X(t + 1)) <= (1 - s) ** 2 * norm2(X(t)),
        s <= 1,
    ),
    "T proximal steps": (
        (1 + a * mu) ** T * norm(X(T) - star),
        norm(X(0) - star),
        proximal(strong, X(t), X(t + 1)),
        sp.Eq(strong.grad(star), 0),
    ),
    "values over T proximal steps": (
        sum_over(t, T)(h(X(t + 1)) - h(star)),
        norm2(X(0) - star) / (2 * a),
        proximal(h, X(t), X(t + 1)),
        sp.Eq(h.grad(star), 0),
    ),
    "an index of the claim, by induction": (norm2(X(t)), norm2(X(0)), norm2(X(t + 1)) <= norm2(X(t))),
    "a length with a factor at an index": (norm2(X(t)), s**t * norm2(X(0)), norm2(X(t + 1)) <= s * norm2(X(t))),
    "an equation with an index on the right alone": (C(norm2(p_k - x)), 0, sp.Eq(x, p_k)),
    "members that are all the same": (norm2(p_k - p_k.subs(k, t)), 0, sp.Eq(p_k, p_k.subs(k, t))),
}
FALSE = {
    "forward and backward, too far": (norm2(p - q), norm2(x - y), *BOTH, a * L <= 3),
    "proximal and gradient": (
        f(p) + h(p),
        f(z) + h(z) + (norm2(x - z) - norm2(p - z)) / (2 * a),
        BOTH[0],
        a * L <= 2,
    ),
    "proximal points of clients, gradients at x": (
        C(norm2(p_k - x)),
        a**2 * C(norm2(F[k].grad(x))),
        LOCAL,
        2 * a * L <= 1,
    ),
    "gradients at them, less": (
        C(norm2(H[k].grad(p_k))),
        (1 - a * L / 2) ** 2 * C(norm2(H[k].grad(x))),
        LOCAL_CONVEX,
        a * L <= 1,
    ),
    "two proximal points": (norm2(p + q), norm2(x + y), proximal(h, x, p), proximal(f, y, q)),
    "proximal points of one x, near and far": (
        norm2(p - x),
        norm2(q - x) / 4,
        proximal(f, x, p),
        sp.Eq(q, x - 2 * a * f.grad(q)),
    ),
    "a proximal step that moves on": (
        norm2(p - x),
        a**2 * norm2(f.grad(x)) / 2,
        sp.Eq(p, x - a * f.grad(p) + s * (p - x)),
        s < 1,
    ),
    "a function of another point": (
        dot(p - q, x - y),
        norm2(p - q),
        proximal(h, x, p),
        proximal(h, y, q),
    ),
    "the mean of steps, strictly less": (norm2(C(p_k) - y), C(norm2(p_k - y)) / 2, sp.Eq(p_k, x - a * g_k)),
    "lengths from squares, less": (norm(X(T)), s**T * norm(X(0)) / 2, norm2(X(t + 1)) <= s**2 * norm2(X(t))),
    "T proximal steps, faster": (
        (1 + 2 * a * mu) ** T * norm(X(T) - star),
        norm(X(0) - star),
        proximal(strong, X(t), X(t + 1)),
        sp.Eq(strong.grad(star), 0),
    ),
    "an index of the claim, from one on": (norm2(X(t)), norm2(X(1)), norm2(X(t + 1)) <= norm2(X(t))),
    "members that are all the same, and 0": (norm2(p_k), 0, sp.Eq(p_k, p_k.subs(k, t))),
    "a factor that may be negative": (norm(x), (1 - s) * norm(y), norm2(x) <= (1 - s) ** 2 * norm2(y)),
    "a factor that may be negative, T times": (
        norm(X(T)),
        (1 - s) ** T * norm(X(0)),
        norm2(X(t + 1)) <= (1 - s) ** 2 * norm2(X(t)),
    ),
}


def outcome(left, right, *given):
    return decide(Conjecture(name="a step", left=left, right=right, given=given)).outcome


@pytest.mark.parametrize("claim", TRUE.values(), ids=TRUE)
def test_true_claims_are_proved(claim):
    assert outcome(*claim) == "proved"


@pytest.mark.parametrize("claim", FALSE.values(), ids=FALSE)
def test_what_lies_next_to_them_is_refuted(claim):
    assert outcome(*claim) == "refuted"
