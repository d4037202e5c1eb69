"""Attacks through uses of rules: malformed ones, one index for every index, vectors and functions that are others."""

from __future__ import annotations

import sympy as sp
from attacks import Attack, answer, claims, fact, table

from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import setting
from cflag_theory.claims.engine.meanings import sequence, symbol
from cflag_theory.claims.engine.operators import Largest, Least, index, mean_over, sum_over
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Induction, Obligation
from cflag_theory.claims.engine.terms import dot, function, norm, norm2, vector

k, n = (sp.Symbol(name, integer=True, nonnegative=True) for name in "kn")
c, w = sp.symbols("c w", real=True)
i, b = index("i"), index("b")
u, v, x = (vector(f"attacked {name}", name) for name in "uvx")
# Names of their own: a sequence of the ledger may be called a, and have a meaning.
a, z = sp.Function("attacked_a", real=True), sp.Function("attacked_z", real=True)
mean = mean_over("attacked", i)
plain = function("attacked plain", "f")
smooth = function("attacked smooth", "f", smooth=1)
TRUE = Obligation("step", at_most(0, 1), ())


def using(step, **given):
    """A proof that rests on one use of a rule; what it would conclude does not matter."""
    facts = tuple(fact(name, relation) for name, relation in given.items())
    return claims(at_most(0, 1), step, TRUE, given=facts)


def spread():
    """mean a(k) <= 0 from a(0, i) <= 0 for one i, by the hypothesis of an induction on k."""
    relation = at_most(a(k, i), 0)
    base = Obligation("base", at_most(a(0, i), 0), ("one",))
    inner = (
        rules.mean("mean", mean, given="P (hypothesis)"),
        Obligation("following", at_most(a(k + 1, i), 0), ("mean", "next")),
    )
    where = (fact("next", equal(a(k + 1, i), mean(a(k, i)))),)
    return claims(
        relation, Induction("P", k, relation, base, inner), given=(fact("one", at_most(a(0, i), 0)),), where=where
    )


MAX = Largest(b, n, a(b))
ONE = "does not hold for every i"


@table(
    Attack("a premise about one index under a mean", using(rules.mean("r", mean, given="h"), h=at_most(z(i), 0)), ONE),
    Attack("an induction's hypothesis about one index under a mean", spread(), ONE),
    Attack("a negative weight", using(rules.mean("r", mean, -1, given="h"), h=at_most(0, 1)), "could be negative"),
    Attack(
        "a weight of unknown sign", using(rules.mean("r", mean, w, given="h"), h=at_most(0, 1)), "could be negative"
    ),
    Attack("no premise under a mean", using(rules.mean("r", mean)), "needs one step"),
    Attack(
        "a hypothesis about one index at another",
        using(rules.at("r", k, n, given="h"), h=at_most(a(k), 0)),
        "for every k",
    ),
    Attack("an index that is not a number of steps", using(rules.telescoping("r", b, w, a(b))), "need not be 0, 1, 2"),
    Attack("summands of another vector", using(rules.triangle("r", u(), v(), 2 * u())), "are different vectors"),
    Attack(
        "an equation that defines no vector",
        using(rules.triangle("r", u(), v(), given="h"), h=equal(c, w)),
        "is not an equation that",
    ),
    Attack(
        "a vector for one index",
        using(rules.triangle("r", u(), v(i), given="h"), h=equal(v(i), u())),
        "one value of its index",
    ),
    Attack("smoothness that is not declared", using(rules.smooth("r", plain, u(), v())), "is not declared smooth"),
    Attack("convexity that is not declared", using(rules.convex("r", smooth, u(), v())), "is not declared convex"),
    Attack(
        "a bound below that is not declared", using(rules.bounded_below("r", smooth, u())), "is not declared bounded"
    ),
    Attack(
        "a Lipschitz gradient that is not declared",
        using(rules.lipschitz("r", plain, u(), v())),
        "is not declared smooth",
    ),
    Attack(
        "a member past the end",
        using(rules.member("r", MAX, n + 1, given="h"), h=at_most(n, n + 1)),
        "does not say that",
    ),
    Attack("a member without its range", using(rules.member("r", MAX, k)), "needs one step"),
    Attack(
        "a member before the start",
        using(rules.member("r", MAX, sp.Integer(-1), given="h"), h=at_most(-1, n)),
        "need not be",
    ),
    Attack(
        "a bound of something else for a maximum",
        using(rules.maximum("r", MAX, given=("h", "g")), h=at_most(c, w), g=at_most(a(n + 1), w)),
        "do not bound",
    ),
    Attack(
        "bounds of a maximum that differ",
        using(rules.maximum("r", MAX, given=("h", "g")), h=at_most(MAX, c), g=at_most(a(n + 1), w)),
        "the two bounds differ",
    ),
    Attack(
        "one member for the maximum",
        using(rules.maximum_of_bounds("r", MAX, given="h"), h=at_most(a(b), c)),
        "for every b",
    ),
    Attack(
        "a bound that moves",
        using(rules.maximum_of_bounds("r", MAX, given="h"), h=at_most(a(b), b)),
        "does not bound the members",
    ),
    Attack(
        "the least of nothing",
        using(rules.least_member("r", Least(b, n, a(b)), 0 * n, given="h"), h=at_most(0, n)),
        "does not say",
    ),
    Attack(
        "a sequence that may fall",
        using(rules.monotone("r", b, a(b), given=("h", "order")), h=at_most(a(0), a(1)), order=at_most(0, n)),
        "not decrease",
    ),
    Attack(
        "a square root of other squares",
        using(rules.square_root("r", n, k, given="h"), h=at_most(n, k)),
        "does not compare",
    ),
    Attack(
        "a square root of what may be negative",
        using(rules.square_root("r", c, w, given="h"), h=at_most(c**2, w**2)),
        "negative",
    ),
    Attack("decay of unknown sign", using(rules.decay("r", k, given="h"), h=at_most(w, 1)), "could be negative"),
    Attack("a logarithm at zero", using(rules.tangent_of_ln("r", 0, 3)), "could be zero or negative"),
    Attack("a logarithm below zero", using(rules.tangent_of_ln("r", 3, -sp.S.Half)), "could be zero or negative"),
    Attack("a logarithm of unknown sign", using(rules.tangent_of_ln("r", w, 3)), "could be zero or negative"),
    Attack("decay beyond one", using(rules.decay("r", k, given="h"), h=at_most(n, 2)), "is not of the form u <= 1"),
    Attack(
        "a chord from a negative end", using(rules.chord_of_exp("r", given="h"), h=at_most(n, w)), "zero or negative"
    ),
    Attack("a tangent of exp below zero", using(rules.tangent_of_exp("r", w, k)), "could be negative"),
    Attack(
        "vectors for numbers",
        claims(at_most(0, u()), Obligation("step", at_most(0, u()), ())),
        "takes vectors for numbers",
    ),
    Attack("the product of two vectors", lambda: norm(u() * v()), "is not a multiple of one vector"),
    Attack("a vector and a number", lambda: norm2(u() + c), "is not a multiple of one vector"),
    Attack("a vector under a fraction", lambda: dot(u(), c / v()), "is not a multiple of one vector"),
    Attack("a norm in place of a vector", lambda: norm(norm(u())), "is not a multiple of one vector"),
    Attack(
        "an induction over a mean's index",
        claims(at_most(0, i), Induction("P", i, at_most(0, i), TRUE, ())),
        "is an induction on i",
    ),
    Attack(
        "a meaning that hides a mean's index",
        lambda: symbol("attacked hidden", "w", norm(u(i)), nonnegative=True),
        "which depends on an index",
    ),
    Attack(
        "a sequence that hides a mean's index",
        lambda: sequence("attacked sequence", "w_@", lambda step: norm(u(step, i)), nonnegative=True),
        "an index that is none of its arguments",
    ),
    Attack(
        "a meaning without the sign of its symbol",
        lambda: symbol("attacked sign", "w", dot(u(), v()), nonnegative=True),
        "state it as a hypothesis",
    ),
    Attack("an index put into a mean", lambda: mean(norm(u(k, i))).xreplace({k: i}), "is bound in"),
    Attack("a mean over what is not an index", lambda: mean_over("attacked by k", k), "is not an index of an operator"),
    Attack("a sum over what is not an index", lambda: sum_over(w, n), "is not an index of an operator"),
    Attack(
        "a setting that restricts a number",
        lambda: setting("attacked", equal(norm(u()), 0), ""),
        "make it a hypothesis",
    ),
    Attack(
        "an index that is below zero",
        lambda: setting("attacked", at_most(sp.Function("tau", integer=True)(k), k - 1), ""),
        "the sequence tau is declared integer",
    ),
    Attack("a sum of w terms", lambda: sum_over(i, w), "is not a number of terms"),
    Attack("a sum of half a term", lambda: sum_over(i, n + sp.Rational(1, 2)), "is not a number of terms"),
    Attack("a sum of n - 1 terms, n = 0", lambda: sum_over(i, n - 1), "is not a number of terms"),
    Attack("negative smoothness", lambda: function("attacked a", "f", smooth=-1), "could be negative"),
    Attack("smoothness of unknown sign", lambda: function("attacked b", "f", smooth=w), "could be negative"),
    Attack("convexity of unknown sign", lambda: function("attacked c", "f", mu=w), "could be negative"),
    Attack("a complex bound", lambda: function("attacked d", "f", lower=sp.I), "is not declared to be real"),
    Attack("convexity beyond smoothness", lambda: function("attacked e", "f", smooth=1, mu=2), "no function is"),
    Attack("a function declared twice", lambda: function("attacked smooth", "f", smooth=2), "is declared twice"),
)
def test_rules(attack):
    assert attack.sentence in answer(attack)
