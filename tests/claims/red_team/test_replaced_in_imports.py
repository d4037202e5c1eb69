"""Attacks through what an import replaces: signs, functions, minimisers, quantifiers, ranges, names."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp
from attacks import Attack, answer, fact, table
from test_imported_facts import named, takes

from cflag_theory.claims.engine.claim import Source, setting
from cflag_theory.claims.engine.meanings import symbol
from cflag_theory.claims.engine.operators import index, mean_over, sum_over
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.terms import dot, function, norm2, vector
from cflag_theory.claims.imports import faults

a = sp.Symbol("a", positive=True)
b, c = sp.symbols("b c", nonnegative=True)
u, v, w = sp.symbols("u v w", real=True)
k, n = (sp.Symbol(name, integer=True, nonnegative=True) for name in "kn")
T = sp.Symbol("T", integer=True, positive=True)
s, d = sp.Function("s", real=True), sp.Function("red_d", nonnegative=True)
i = index("i")
every = mean_over("red team", i)
mu = sp.Symbol("mu_red", nonnegative=True)
strong = function("red strong", "h", smooth=a, mu=c, lower=u)
same = function("red same", "p", smooth=a, mu=c, lower=u)
weaker = [
    function(f"red weaker {number}", f"q_{number}", **{"smooth": a, "mu": c, "lower": u} | less)
    for number, less in enumerate([{"smooth": 2 * a}, {"mu": c / 2}, {"lower": u - 1}])
]
bare = function("red bare", "r")
smooth_only = function("red smooth", "r_s", smooth=a)
convex_only = function("red convex", "r_c", mu=c)
x, y, z, least = (vector(f"red {name}", name)() for name in ("x", "y", "z", "least"))
run = vector("red run", "r_{@}")
MINIMISER = setting("red minimiser", equal(strong.grad(least), 0), "The minimiser.")


def of(relation, *given, uses=(), where=()):
    """A claim with a proof that uses settings."""
    from cflag_theory.claims.engine.claim import Claim, Part, Statement
    from cflag_theory.claims.engine.steps import Obligation, Proof

    return Claim(
        "cflag.source",
        "",
        "",
        (Part("1", Statement("", relation, given, Proof((Obligation("f", relation, uses),)), where)),),
    )


def sort(old, new, relation):
    """A relation of `old` at `new`."""
    goal = type(relation)(relation.left.subs(old, new), relation.op, relation.right.subs(old, new))
    return takes(goal, sources=named(at=((old, new),)), source=of(relation))


CONVEX = of(at_most(strong(x) + dot(strong.grad(x), y - x), strong(y)))


def convex(f, **changes):
    pairs = changes.pop("at", ((strong, f),))
    return takes(at_most(f(x) + dot(f.grad(x), y - x), f(y)), sources=named(at=pairs, **changes), source=CONVEX)


AT_LEAST = of(at_most(strong(least), strong(x)), uses=(MINIMISER,))
FOR_ALL = of(at_most(s(n), s(0)), fact("falls", at_most(s(k + 1), s(k)), k))
ONE = of(at_most(s(i), c), fact("bounded", at_most(s(i), c / 2)))
RANGE = of(at_most(1, n), fact("range", at_most(i + 1, n)))

ATTACKS = [
    Attack("zero for a positive symbol", sort(a, sp.S.Zero, below(0, a)), "need not be positive"),
    Attack("a nonnegative symbol for a positive one", sort(a, b, below(0, a)), "need not be positive"),
    Attack("a real symbol for a positive one", sort(a, u, below(0, a)), "need not be positive"),
    Attack("a real symbol for a nonnegative one", sort(c, u, at_most(0, c)), "need not be nonnegative"),
    Attack("a difference for a nonnegative symbol", sort(c, b - 1, at_most(0, c)), "need not be nonnegative"),
    Attack("a negative number", sort(c, sp.Integer(-1), at_most(0, c)), "need not be nonnegative"),
    Attack("a number for a natural", sort(n, b, at_most(n, n**2)), "need not be natural"),
    Attack("one half for a natural", sort(n, sp.Rational(1, 2), at_most(n, n**2)), "need not be natural"),
    Attack("a natural for a positive one", sort(T, n, at_most(1, T)), "need not be positive natural"),
    Attack("a positive number for a positive natural", sort(T, a, at_most(1, T)), "need not be positive natural"),
    Attack("a real member for a nonnegative symbol", sort(c, s(k), at_most(0, c)), "need not be nonnegative"),
    Attack("an imaginary number", sort(u, sp.I, at_most(0, u**2)), "need not be real"),
    Attack("infinity", sort(u, sp.oo, below(u, u + 1)), "need not be real"),
    Attack("a vector for a number", sort(u, x, at_most(0, u**2)), "a number is replaced by a number"),
    Attack("a function that declares nothing", convex(bare), "does not declare that mu"),
    Attack("a function that is smooth only", convex(smooth_only), "does not declare that mu"),
    Attack("a function that is convex only", convex(convex_only), "does not declare that smooth"),
    *(Attack(f"a function that declares less, {f}", convex(f), "does not declare that") for f in weaker),
    Attack(
        "the values of a function that declares nothing",
        convex(bare, at=((strong(x), bare(x)), (strong(y), bare(y)), (dot(strong.grad(x), y), dot(bare.grad(x), y)))),
        "functions and vectors are replaced themselves",
    ),
    Attack("a number for a function", convex(bare, at=((strong, u),)), "by a function"),
    Attack("a gradient for another", convex(bare, at=((strong.grad(x), bare.grad(x)),)), "a named vector is replaced"),
    Attack(
        "any point for the minimiser",
        takes(at_most(strong(z), strong(x)), sources=named(at=((least, z),)), source=AT_LEAST),
        "its proof uses 'red minimiser'",
    ),
    Attack(
        "the value at any point for that at the minimiser",
        takes(at_most(strong(z), strong(x)), sources=named(at=((strong(least), strong(z)),)), source=AT_LEAST),
        "functions and vectors are replaced themselves",
    ),
    Attack(
        "another function with the minimiser",
        takes(at_most(same(least), same(x)), sources=named(at=((strong, same),)), source=AT_LEAST),
        "its proof uses 'red minimiser'",
    ),
    Attack(
        "a constant that a function declares",
        takes(
            at_most(norm2(strong.grad(x)), b * norm2(x)),
            sources=named(at=((a, b + 1),)),
            source=of(at_most(norm2(strong.grad(x)), a * norm2(x))),
        ),
        "declared with a constant that is replaced",
    ),
    Attack(
        "what is for every index, at one",
        takes(at_most(s(T), s(0)), fact("falls", at_most(s(T + 1), s(T))), sources=named(at=((n, T),)), source=FOR_ALL),
        "assumes 'falls'",
    ),
    Attack(
        "what is for every index, its index replaced",
        takes(at_most(s(n), s(0)), fact("falls", at_most(s(n + 1), s(n))), sources=named(at=((k, n),)), source=FOR_ALL),
        "assumes 'falls'",
    ),
    *(
        Attack(
            f"one client for all, under {over}",
            takes(
                at_most(over(s(i)), over(c)),
                fact("bounded", at_most(s(i), c / 2)),
                sources=named(over=(over,)),
                source=ONE,
            ),
            "assumes 'bounded'",
        )
        for over in (every, sum_over(i, n))
    ),
    Attack(
        "a symbol under a quantifier",
        takes(
            at_most(u, s(k)),
            fact("bounded", at_most(d(k), s(k)), k),
            sources=named(at=((c, s(k) ** 2),)),
            source=of(at_most(u, c), fact("bounded", at_most(d(k), c), k)),
        ),
        "assumes 'bounded'",
    ),
    Attack(
        "every value from a fact about one",
        takes(at_most(s(k), b), fact("one", equal(c, b - s(k))), forall=(k,), source=of(at_most(0, c))),
        "it does not follow",
    ),
    Attack("a range that may be empty", takes(at_most(1, n), source=RANGE), "assumes 'range'"),
    Attack(
        "a range whose index stands elsewhere",
        takes(
            at_most(u, n),
            fact("u", at_most(u, i)),
            source=of(at_most(u, n), fact("r", at_most(i + 1, n)), fact("u", at_most(u, i))),
        ),
        "assumes 'r'",
    ),
    Attack(
        "two values for one symbol",
        takes(at_most(0, b), sources=named(at=((c, b), (c, a))), source=of(at_most(0, c))),
        "in two ways",
    ),
    Attack(
        "one name for two terms",
        takes(
            at_most(b, 2 * b), sources=named(at=((norm2(x), b), (norm2(y), b))), source=of(at_most(norm2(x), norm2(y)))
        ),
        "stands for two things",
    ),
    Attack(
        "one member for every round",
        takes(at_most(d(0), 1), forall=(k,), sources=named(at=((norm2(x), d(0)),)), source=of(at_most(norm2(x), 1))),
        "is one number for every k",
    ),
    Attack(
        "a swap",
        takes(at_most(u, v), sources=named(at=((u, v), (v, u))), source=of(at_most(u, v))),
        "it does not follow",
    ),
    Attack(
        "a name of its source",
        takes(at_most(u, 2 * c), sources=named(here=((c, c / 2),)), source=of(at_most(u, c))),
        "another thing in its source",
    ),
    Attack(
        "a name without its sign",
        takes(at_most(b, 1), sources=named(here=((b, u),)), source=of(at_most(u, 1))),
        "b is nonnegative",
    ),
    Attack(
        "an assumption besides that cannot hold",
        takes(
            at_most(u, 2),
            fact("two", at_most(2, v)),
            sources=named(besides=("small",)),
            source=of(at_most(u, v), fact("small", at_most(v, 1))),
        ),
        "contradicts the other facts",
    ),
    Attack(
        "an assumption besides that becomes false",
        takes(
            at_most(u, 2),
            sources=named(at=((c, sp.Integer(2)),), besides=("small",)),
            source=of(at_most(u, c), fact("small", at_most(c, 1))),
        ),
        "contradicts the other facts",
    ),
]


@table(*ATTACKS)
def test_what_is_replaced_must_fit(attack):
    assert attack.sentence in answer(attack)


@pytest.mark.parametrize(
    "sound",
    [
        sort(a, b + 1, below(0, a)),
        sort(c, a, at_most(0, c)),
        sort(n, T, at_most(n, n**2)),
        sort(u, b, at_most(0, u**2)),
        convex(same),
        takes(at_most(u, v), sources=named(at=((u, v), (v, u))), source=of(at_most(v, u))),
        takes(at_most(0, v), fact("v", at_most(0, v)), sources=named(at=((c, v),)), source=of(at_most(0, c))),
        takes(at_most(strong(least), strong(z)), sources=named(at=((x, z),)), source=AT_LEAST),
        takes(
            at_most(s(T), s(0)), fact("falls", at_most(s(k + 1), s(k)), k), sources=named(at=((n, T),)), source=FOR_ALL
        ),
        takes(
            at_most(every(s(i)), c), fact("bounded", at_most(s(i), c / 2), i), sources=named(over=(every,)), source=ONE
        ),
        takes(at_most(1, n), fact("some", at_most(1, n)), source=RANGE),
        takes(at_most(d(k), 1), forall=(k,), sources=named(at=((norm2(x), d(k)),)), source=of(at_most(norm2(x), 1))),
        takes(at_most(w, 1), sources=named(here=((w, u),)), source=of(at_most(u, 1))),
    ],
)
def test_what_fits_may_be_replaced(sound):
    assert sound() == "nothing"


#: The square that a term of the source has here, and what a name for it must not be.
square = symbol("red_square", "q", norm2(z), nonnegative=True)
steep = function("red steep", "h_b", smooth=b)
SQUARE = norm2(x)
SMALL = at_most(SQUARE, 1)
narrow, wide = (sp.Symbol("L_red", **{sort: True}) for sort in ("positive", "nonnegative"))
real = sp.Symbol("m_red", real=True)
low = function("red low", "h_l", lower=real)
curved = function("red curved", "h_c", mu=wide)
GROWS = at_most(curved(x) + dot(curved.grad(x), y - x) + wide / 2 * norm2(y - x), curved(y))


def renamed(new, *given, relation=SMALL, goal=None, old=SQUARE, pairs=(), forall=(), where=(), over=()):
    """A relation of the source with a term of it called something."""
    goal = at_most(relation.left.xreplace({old: new}), relation.right.xreplace({old: new})) if goal is None else goal
    sources = named(at=((old, new), *pairs), over=over)
    return takes(goal, *given, forall=forall, sources=sources, source=of(relation, where=where))


def two_sources():
    """||x||^2 <= 1 and 2 <= ||y||^2, of which both squares are called b."""
    first, second = of(SMALL), replace(of(at_most(2, norm2(y))), id="cflag.second")
    sources = (Source("cflag.source", at=((norm2(x), b),)), Source("cflag.second", at=((norm2(y), b),)))
    taken = replace(fact("taken", at_most(2, 1)), sources=sources)
    user = replace(of(at_most(2, 1), taken), id="cflag.user")
    return "; ".join(faults(user, {one.id: one for one in (first, second, user)}.__getitem__)["1", "printed"])


NAMES = [
    Attack("a symbol with a meaning", renamed(square), "functions and vectors are replaced themselves"),
    Attack("a term of other vectors", renamed(norm2(z)), "functions and vectors are replaced themselves"),
    Attack(
        "a square where an inner product stays",
        renamed(norm2(z), relation=at_most(2 * dot(x, y), norm2(x) + norm2(y))),
        "functions and vectors are replaced themselves",
    ),
    Attack(
        "the square of a meaning",
        renamed(square**2, relation=at_most(norm2(x), 1)),
        "functions and vectors are replaced themselves",
    ),
    Attack("nothing for a square", renamed(sp.S.Zero, relation=at_most(1, norm2(x))), "is no new name"),
    Attack("a multiple of a name", renamed(2 * b), "is no new name"),
    Attack("a symbol of another fact", renamed(b, fact("two", at_most(2, b))), "known as something else"),
    Attack("a sequence of another fact", renamed(d(0), fact("grows", at_most(2, d(k)), k)), "known as something else"),
    Attack("a symbol that is defined", renamed(b, fact("b", equal(b, 2 * c))), "known as something else"),
    Attack(
        "a constant that a function declares",
        renamed(b, fact("steep", at_most(0, dot(steep.grad(x), y)))),
        "known as something else",
    ),
    Attack("a symbol of its source", renamed(b, relation=at_most(dot(x, y), b), old=dot(x, y)), "need not be"),
    Attack("a symbol that its source bounds", renamed(b, relation=at_most(norm2(x), 2 * b)), "known as something else"),
    Attack(
        "a symbol that stands for another one as well",
        renamed(b, relation=at_most(norm2(x), c), pairs=((c, b / 2),)),
        "known as something else",
    ),
    Attack("one name in two sources", two_sources, "stands for two things"),
    Attack(
        "a name that stands for something of the source",
        takes(at_most(u, 1), sources=named(at=((norm2(x), b),), here=((b, c),)), source=of(at_most(norm2(x), 1))),
        "known as something else",
    ),
    Attack(
        "a sign that the term need not have",
        renamed(b, relation=at_most(dot(x, y), c), old=dot(x, y)),
        "need not be nonnegative",
    ),
    Attack("a positive name for a square", renamed(a), "need not be positive"),
    Attack(
        "one symbol for every member",
        renamed(b, relation=at_most(norm2(run(n)), 1), old=norm2(run(n)), pairs=((n, k),), forall=(k,)),
        "is one number for every",
    ),
    Attack(
        "one symbol under a sum",
        renamed(
            b,
            relation=at_most(norm2(run(i)), 1),
            old=norm2(run(i)),
            over=(sum_over(i, n),),
            goal=at_most(n * b, n),
        ),
        "is one number for every",
    ),
]
CONSTANTS = [
    Attack(
        f"the constant of a function, {words}",
        takes(
            GROWS.subs({wide: new}),
            sources=named(at=((wide, new),)),
            source=of(GROWS),
        ),
        "declared with a constant that is replaced",
    )
    for words, new in {
        "of a narrower sort": narrow,
        "of another name": a,
        "as a number": sp.Integer(3),
        "as its own double": 2 * wide,
        "of its name, without a sort that fits": sp.Symbol("L_red", positive=True, integer=True),
    }.items()
]


CONSTANTS.append(
    Attack(
        "a lower bound for a positive one of its name",
        takes(
            at_most(sp.Symbol("m_red", positive=True), low(x)),
            sources=named(at=((real, sp.Symbol("m_red", positive=True)),)),
            source=of(at_most(real, low(x))),
        ),
        "declared with a constant that is replaced",
    )
)


@table(*NAMES, *CONSTANTS)
def test_a_name_is_new_and_a_constant_stays(attack):
    assert attack.sentence in answer(attack)


@pytest.mark.parametrize(
    "sound",
    [
        renamed(b),
        renamed(u, relation=at_most(dot(x, y), c), old=dot(x, y)),
        renamed(b, fact("other", at_most(2, c))),
        renamed(d(k), relation=at_most(norm2(run(n)), 1), old=norm2(run(n)), pairs=((n, k),), forall=(k,)),
        renamed(square, old=norm2(x), pairs=((x, z),)),
        takes(GROWS, sources=named(at=((wide, wide),)), source=of(GROWS)),
    ],
)
def test_a_new_name_and_an_unmoved_constant_are_allowed(sound):
    assert sound() == "nothing"
