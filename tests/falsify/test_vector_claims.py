"""Claims with vectors: proofs that the examiner accepts, counterexamples that are explicit functions, both exact."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from needs import quick

from cflag_theory.claims.engine.examiner import examine
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify import (
    Conjecture,
    Range,
    decide,
    dot,
    falsify,
    function,
    index,
    mean,
    norm,
    norm2,
    prove,
    replay,
    sum_over,
    vector,
    vectors,
)
from cflag_theory.falsify.saving import save
from cflag_theory.falsify.vector_terms.evaluating import Piecewise

L, alpha, mu, gamma, c = sp.symbols("L alpha mu gamma c", positive=True)
m = sp.Symbol("m", nonnegative=True)
lower = sp.Symbol("lower", real=True)
x, y, z, b = vectors("x y z b")
i = index("i")
clients = mean("some clients", i)
a_i = vector("a", i)
f = function("smooth", smooth=L)
h = function("convex", smooth=L, convex=True)
q = function("strong", smooth=L, mu=mu)
low = function("bounded", smooth=L, lower=lower)
next_x = x - alpha * (f.grad(x) + b)
SMALL = {"budget": 300}


def claim(left, right, *given, **more):
    return Conjecture(name="a claim", left=left, right=right, given=given, **more)


BIASED = (norm2(b) <= m * norm2(f.grad(x)), alpha * L <= 1)
T = sp.Symbol("T", positive=True, integer=True)
t = index("t")
rounds = sum_over(t, T)
F = function("family", smooth=L)


def u(at):
    return vector("u", at)


TRUE = {
    "a sum of T vectors": claim(norm2(rounds(vector("v", t))), T * rounds(norm2(vector("v", t)))),
    "descent with a biased gradient": claim(f(next_x), f(x) - alpha * (1 - m) / 2 * norm2(f.grad(x)), *BIASED),
    "co-coercivity": claim(norm2(h.grad(x) - h.grad(y)), L * dot(h.grad(x) - h.grad(y), x - y)),
    "strong monotonicity": claim(mu * norm2(x - y), dot(q.grad(x) - q.grad(y), x - y)),
    "Young": claim(2 * dot(x, y), alpha * norm2(x) + norm2(y) / alpha),
    "Jensen": claim(norm2(clients(a_i)), clients(norm2(a_i))),
    "variance": claim(clients(norm2(a_i - clients(a_i))), clients(norm2(a_i))),
    "clients' biases": claim(
        norm2(clients(a_i)),
        m * norm2(b),
        norm2(a_i) <= m * norm2(vector("g", i)),
        clients(norm2(vector("g", i))) <= norm2(b),
    ),
    "gradients below a gap": claim(norm2(low.grad(x)), 2 * L * (low(x) - lower)),
    "a step towards a minimiser": claim(
        norm2(x - alpha * q.grad(x) - z), (1 - alpha * mu) * norm2(x - z), alpha * L <= 1, sp.Eq(q.grad(z), 0)
    ),
    "two gradient steps come closer": claim(
        norm2(x - alpha * q.grad(x) - y + alpha * q.grad(y)),
        (1 - alpha * mu) ** 2 * norm2(x - y),
        alpha * (L + mu) <= 2,
    ),
    "a step of every round": claim(
        F[0](u(t + 1)), F[0](u(t)), sp.Eq(u(t + 1), u(t) - alpha * F[0].grad(u(t))), alpha * L <= 2
    ),
    "triangle": claim(norm(x + y), norm(x) + norm(y)),
    "drift of an inexact minimiser": claim(
        norm(y - x), (1 + gamma) / mu * norm(q.grad(x)), norm(q.grad(y)) <= gamma * norm(q.grad(x))
    ),
}
FALSE = {
    "a sum of T vectors without T": claim(norm2(rounds(vector("v", t))), rounds(norm2(vector("v", t)))),
    "descent twice as steep": claim(f(x - alpha * f.grad(x)), f(x) - alpha * norm2(f.grad(x)), alpha * L <= 1),
    "no factor for a biased gradient": claim(f(next_x), f(x) - alpha / 2 * norm2(f.grad(x)), *BIASED),
    "half of Jensen": claim(norm2(clients(a_i)), clients(norm2(a_i)) / 2),
    "without convexity": claim(norm2(x - alpha * f.grad(x) - y + alpha * f.grad(y)), norm2(x - y), alpha * L <= 2),
    "biases of clients that cancel": claim(
        norm2(clients(a_i)), m * norm2(clients(vector("g", i))), norm2(a_i) <= m * norm2(vector("g", i))
    ),
    "a step that is too long in every round": claim(
        F[0](u(t + 1)), F[0](u(t)), sp.Eq(u(t + 1), u(t) - alpha * F[0].grad(u(t))), alpha * L <= 3
    ),
    "half of a telescoping sum": claim(rounds(norm2(u(t)) - norm2(u(t + 1))), norm2(u(0)) / 2),
    "one member below twice the mean": claim(norm2(u(0)), 2 * clients(norm2(u(i)))),
    "half of a gap": claim(norm2(low.grad(x)), L * (low(x) - lower)),
    "a shorter sum": claim(norm(x + y), norm(x) + Fraction(9, 10) * norm(y)),
}


@pytest.mark.parametrize("name", quick(TRUE, "two gradient steps come closer", "drift of an inexact minimiser", of=2))
def test_true_claims_are_proved(name):
    found = prove(TRUE[name], **SMALL)
    assert found.proved
    assert examine(found.derivation.statement).faults == ()
    total = sum(one.multiplier for one in found.derivation.summands if not one.lines)
    assert all(one.lines for one in found.derivation.summands) or total != 0
    assert found.derivation.latex().startswith("% ")
    assert found.derivation.text()[-1] == "where [n] is right - left of line (n)"


@pytest.mark.parametrize("name", FALSE)
def test_false_claims_are_refuted_and_replayed(name, tmp_path):
    found = decide(FALSE[name], **SMALL)
    assert found.refuted
    assert found.instance
    again = replay(save(found.finding, tmp_path), conjecture=FALSE[name])
    assert again.broken
    assert (again.left, again.right) == (found.finding.left, found.finding.right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (rounds(norm2(u(t)) - norm2(u(t + 1))), norm2(u(0))),
        (norm2(u(T) - u(0)), T * rounds(norm2(u(t + 1) - u(t)))),
        (clients(norm2(u(i))), clients(norm2(u(i))) + norm2(u(2))),
    ],
)
def test_members_of_a_family_are_the_same_wherever_they_stand(left, right):
    """True, and refuted only by instances in which u_0 of the sum is another vector than u_0."""
    assert not falsify(claim(left, right), **SMALL).refuted


def test_definitions_that_contradict_each_other_make_no_instance():
    clash = claim(norm2(u(1)), norm2(u(0)), sp.Eq(u(i), x), sp.Eq(u(1), 2 * x))
    assert not decide(clash, **SMALL).refuted


def test_an_index_is_a_whole_number():
    with pytest.raises(InvalidInput, match=r"index alpha of u\(alpha\) is not an integer"):
        decide(claim(norm2(u(alpha)), norm2(x)), **SMALL)


@pytest.mark.full
@pytest.mark.parametrize("name", FALSE)
def test_false_claims_are_not_proved(name):
    assert prove(FALSE[name], **SMALL).outcome == "neither"


@pytest.mark.full
@pytest.mark.parametrize("name", TRUE)
def test_no_counterexample_to_what_is_proved(name):
    assert falsify(TRUE[name], budget=150).status == "not broken"


def test_the_best_step_size():
    claim_of_c = claim(f(x - alpha * f.grad(x)), f(x) - alpha / 2 * norm2(f.grad(x)), alpha * L <= c)
    found = decide(
        Conjecture(
            name="largest step",
            left=claim_of_c.left,
            right=claim_of_c.right,
            given=claim_of_c.given,
            ranges={"c": Range("1/8", 2)},
            free="c",
        ),
        **SMALL,
    )
    assert (found.constant.provable, found.constant.larger_is_weaker) == (1, False)
    assert 1 < found.constant.refuted < Fraction(11, 10)


def test_neither_says_what_is_provable():
    # True, by sums of three squares that are not looked for.
    found = decide(claim(norm2(x + y + z + b), 4 * (norm2(x) + norm2(y) + norm2(z) + norm2(b))), **SMALL)
    assert found.proved
    assert decide(claim(norm2(x + y), 3 * norm2(x) + Fraction(149, 100) * norm2(y)), budget=2000).outcome == "refuted"


# Explicit functions


NUMBER = st.fractions(min_value=-2, max_value=2, max_denominator=6)
SIZE = st.fractions(min_value=0, max_value=2, max_denominator=6)


@settings(max_examples=100, deadline=None)
@given(NUMBER, NUMBER, NUMBER, NUMBER, SIZE, NUMBER, NUMBER)
def test_functions_have_the_declared_curvature(slope, outer, inner, kink, width, u, v):
    made = Piecewise([slope], [outer], [inner], [kink], [width])
    most, least = max(outer, inner), min(outer, inner)
    gap = made.value([v]) - made.value([u]) - made.gradient([u])[0] * (v - u)
    assert least * (v - u) ** 2 / 2 <= gap <= most * (v - u) ** 2 / 2
    bottom = made.least()
    if bottom is not None:
        assert bottom <= made.value([u])
        assert any(made.value([w]) == bottom for w in _candidates(made))


def _candidates(made):
    kink, width, q, p = made.kink[0], made.width[0], made.outer[0], made.inner[0]
    tail = (p - q) * width
    points = [kink - width, kink, kink + width]
    points += [(tail - made.slope[0]) / q, (-tail - made.slope[0]) / q] if q else []
    return [*points, kink - (made.slope[0] + q * kink) / p] if p else points


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: claim(x, norm(y)), "is a vector and no number"),
        (lambda: claim(norm(x), lambda: 1), "write an expression of sympy"),
        (lambda: claim(sp.Symbol("t") * norm(x), norm(y)), "t is declared nothing: declare it real"),
        (lambda: claim(norm(x), norm(y), lambda t: t < 1, ranges={"t": Range(0, 1)}), "is a Python function"),
    ],
)
def test_what_is_no_claim_is_said_in_one_sentence(made, words):
    with pytest.raises(InvalidInput, match=words):
        decide(made())


@pytest.mark.parametrize(
    ("right", "given", "outcome"),
    [
        (lambda size, c: size - c, lambda size, c: size >= c, "proved"),
        (lambda size, c: c - size, lambda size, c: size <= c, "proved"),
        (lambda size, c: size, lambda size, c: size >= c, "proved"),
        (lambda size, c: (size - c) / 2, lambda size, c: size >= c, "refuted"),
        (lambda size, c: size - c, None, "refuted"),
    ],
)
def test_what_clipping_leaves(right, given, outcome):
    """||x - c x/||x|| || is a multiple of ||x||, with a factor whose sign follows from a relation between lengths."""
    c = sp.Symbol("c", positive=True)
    hypotheses = () if given is None else (given(norm(x), c),)
    one = Conjecture(name="clipped", left=norm(x - c * x / norm(x)), right=right(norm(x), c), given=hypotheses)
    assert decide(one).outcome == outcome
