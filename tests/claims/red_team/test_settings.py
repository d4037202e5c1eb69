"""Attacks through settings, constants of functions, logarithms, and hypotheses that hold for no value of an index."""

from __future__ import annotations

import itertools

import pytest
import sympy as sp
from attacks import Attack, answer, claims, fact, table

from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import SETTING, setting
from cflag_theory.claims.engine.definitions import assumptions
from cflag_theory.claims.engine.operators import index, mean_over, sum_over
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation
from cflag_theory.claims.engine.terms import function, ln, norm2, vector

k, n, j, m = (sp.Symbol(name, integer=True, nonnegative=True) for name in "knjm")
N = sp.Symbol("N", integer=True, positive=True)
c, w = sp.symbols("c w", real=True)
p, L = sp.Symbol("p", nonnegative=True), sp.Symbol("L", positive=True)
i, ell = index("i"), index("l")
x, v, z, y = (vector(f"settings {name}", f"{name}_{{@}}") for name in "xvzy")
u = vector("settings u", "u")()
mean, total = mean_over("settings mean", i), sum_over(ell, N)
f, g = function("settings f", "f", smooth=1, mu=1), function("settings g", "g_{@}", mu=1)
F = function("settings constant", "f", smooth=p)
s = sp.Function("settings_s", nonnegative=True)
a, b = sp.Function("settings_a", real=True), sp.Function("settings_b", real=True)
tau = sp.Function("settings_tau", integer=True, nonnegative=True)
_NUMBERS = itertools.count()
TRUE = at_most(0, 1)


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch):
    """What an attack declares is forgotten after it."""
    kept = dict(SETTING)
    yield
    SETTING.clear()
    SETTING.update(kept)


def using(*relations, where=(), given=(), besides=()):
    """A proof that rests on these settings, `besides` others; what it would conclude does not matter."""

    def build():
        for relation in besides:
            setting(f"attack {next(_NUMBERS)}", relation, "")
        names = tuple(setting(f"attack {next(_NUMBERS)}", relation, "") for relation in relations)
        vectors = tuple(n for n, r in zip(names, relations, strict=True) if r.op == "==")
        ranges = tuple(n for n in names if n not in vectors)
        steps = tuple(rules.along(f"along {n}", u, given=n) for n in vectors)
        return claims(TRUE, *steps, Obligation("s", TRUE, ranges), given=given, where=where)()

    return build


RESTRICTS = "restricts what is said elsewhere: make it a hypothesis"
VACUOUS = "contradict each other"


@table(
    Attack("all members and one", using(equal(x(k), 0), equal(x(j), u)), RESTRICTS),
    Attack("all members and the first", using(equal(x(k), 0), equal(x(0), u)), RESTRICTS),
    Attack("all members and the next", using(equal(x(k), 0), equal(x(k + 1), u)), RESTRICTS),
    Attack("a recursion and a member", using(equal(x(k + 1), x(k)), equal(x(3), u)), RESTRICTS),
    Attack("two values of one vector", using(equal(x(0), 0), equal(x(0), u)), RESTRICTS),
    Attack("a mean and its members", using(equal(mean(v(i)), 0), equal(v(i), u)), RESTRICTS),
    Attack("a mean and its members, the other way round", using(equal(v(k), u), equal(mean(v(i)), 0)), RESTRICTS),
    Attack("two means of one vector", using(equal(mean(v(i)), 0), equal(mean(v(i + 1)), u)), RESTRICTS),
    Attack("a sum and its members", using(equal(total(v(ell)), 0), equal(v(k), u)), RESTRICTS),
    Attack("a mean and a sum", using(equal(mean(v(i)), 0), equal(total(v(ell)), u)), RESTRICTS),
    Attack("a vector that is itself and more", using(equal(z(k), z(k) + u)), RESTRICTS),
    Attack("a mean of what it contains", using(equal(mean(v(i)), mean(2 * v(i)))), RESTRICTS),
    Attack("a sum that may be empty", using(equal(sum_over(ell, n)(v(ell)), u)), RESTRICTS),
    Attack("a member defined many times", using(equal(x(k + j), v(k))), RESTRICTS),
    Attack("a circle of two", using(equal(z(k), y(k)), equal(y(k), z(k) + u)), RESTRICTS),
    Attack("a circle of three", using(equal(z(k), y(k)), equal(y(k), x(k)), equal(x(k), z(k) + u)), RESTRICTS),
    Attack("a later one behind an earlier", using(equal(z(k), y(k + 2)), equal(y(k + 1), z(k) + u)), RESTRICTS),
    Attack("from the right, in a circle", using(equal(z(k), 2 * z(k) - y(k)), equal(y(k), z(k) + u)), RESTRICTS),
    Attack("the next one from the right", using(equal(z(k), z(k + 1) + z(k)), equal(z(3), u)), RESTRICTS),
    Attack("a table without a range", using(equal(x(k + 1), x(tau(k)) + u)), RESTRICTS),
    Attack("all members by their mean", using(equal(x(i + 1), mean(x(i)) + u)), RESTRICTS),
    Attack("a minimiser at its own gradient", using(equal(f.grad(f.grad(u) + u), 0)), RESTRICTS),
    Attack("a step that needs itself", using(equal(f.grad(u), 0), equal(x(0), f.grad(x(0)))), RESTRICTS),
    Attack("a mean of gradients that vanishes", using(equal(mean(f.grad(x(i))), 0)), RESTRICTS),
    Attack("a gradient that vanishes at every iterate", using(equal(f.grad(x(k)), 0)), RESTRICTS),
    Attack("a gradient that is the iterate", using(equal(f.grad(x(k)), x(k))), RESTRICTS),
    Attack("gradients that are one vector", using(equal(f.grad(x(k)), u)), RESTRICTS),
    Attack("two minimisers", using(equal(f.grad(0), 0), equal(f.grad(u), 0)), RESTRICTS),
    Attack("two minimisers of a member", using(equal(g[0].grad(0), 0), equal(g[0].grad(u), 0)), RESTRICTS),
    Attack(
        "a range beside a definition", using(at_most(tau(k), k), where=(fact("t", equal(tau(k), k + 1)),)), RESTRICTS
    ),
)
def test_settings_restrict_nothing(attack):
    assert attack.sentence in answer(attack)


def test_a_setting_without_a_name_restricts_nothing():
    setting("", equal(z(k), z(k) + u), "")
    built = claims(TRUE, rules.along("along", u, given=""), Obligation("s", TRUE, ()))
    assert RESTRICTS in answer(Attack("", built, ""))


@pytest.mark.parametrize(
    "relations",
    [
        (equal(x(k), u),),
        (equal(x(0), u), equal(x(k + 1), x(k) + v(k))),
        (equal(mean(v(i)), 0), equal(x(k), v(k))),
        (equal(f.grad(0), 0), equal(x(k), u)),
        (equal(f.grad(x(k)), v(k)), equal(f.grad(0), 0)),
        (equal(x(k), 0), equal(x(0), 0)),
        (equal(g[0].grad(0), 0), equal(g[1].grad(u), 0)),
        (equal(z(k), 2 * z(k) - y(k)), equal(v(k), y(k) + z(k))),
        (equal(z(k), z(k + 1) + z(k)), equal(z(0), u)),
        (at_most(tau(k), k), equal(x(k + 1), x(tau(k)) + u)),
    ],
)
def test_settings_that_define_are_used(relations):
    assert answer(Attack("", using(*relations), "")) == "accepted"


sums = sum_over(ell, k), sum_over(ell, k + 1)
RANGE = at_most(tau(k), k)
LOOKUP = equal(x(k + 1), x(tau(k)) + u)


@table(
    Attack("two places swapped", using(equal(x(k, j), y(j, k)), equal(y(k, j), x(j, k) + u)), RESTRICTS),
    Attack("one smaller, one larger", using(equal(x(k + 1, j), x(k, j + 1)), equal(x(0, j), x(j, 0) + u)), RESTRICTS),
    Attack("each smaller in turn", using(equal(x(k + 1, j), y(k, j + 2)), equal(y(k, j + 1), x(k + 2, j))), RESTRICTS),
    Attack("later, at another place", using(equal(x(j, k), y(k + 1)), equal(y(k + 1), x(0, k) + u)), RESTRICTS),
    Attack("an index that the other lacks", using(equal(x(j, k), y(j)), equal(y(j), x(j, N) + u)), RESTRICTS),
    Attack("any member, by a mean", using(equal(z(k, 0), y(k)), equal(y(k + 1), mean(z(i, 0)) + u)), RESTRICTS),
    Attack("a mean of the same name", using(equal(y(i + 1), z(i)), equal(z(i), mean(y(i)) + u)), RESTRICTS),
    Attack("a sum up to itself", using(equal(x(k), sums[1](x(ell)) + u)), RESTRICTS),
    Attack("two members that are one another", using(equal(x(0), y(3)), equal(y(k), x(0) + u)), RESTRICTS),
    Attack("singular: each is the other", using(equal(z(k), 2 * z(k) - y(k)), equal(y(k), z(k))), RESTRICTS),
    Attack("singular: sum, difference", using(equal(x(k), y(k) + z(k)), equal(y(k), x(k) + z(k) + u)), RESTRICTS),
    Attack("singular: twice the same", using(equal(x(k), y(k) + u), equal(y(k), x(k) - 2 * u)), RESTRICTS),
    Attack("singular: three of two", using(equal(x(k), y(k)), equal(y(k), 2 * x(k)), equal(x(k), 3 * y(k))), RESTRICTS),
    Attack(
        "a ring of three",
        using(equal(x(k), y(k) + u), equal(y(k), z(k) + u), equal(z(k), x(k) + u)),
        RESTRICTS,
    ),
    Attack("through a gradient", using(equal(f.grad(x(k)), y(k)), equal(x(k), y(k) + u)), RESTRICTS),
    Attack("a constant of its function", using(equal(u, F.grad(u)), where=(fact("p", equal(p, norm2(u))),)), RESTRICTS),
    Attack(
        "through a number",
        using(equal(x(k + 1), x(k) + c * u), where=(fact("c", equal(c, norm2(x(3)) + 1)),)),
        RESTRICTS,
    ),
    Attack(
        "through a number of every round",
        using(equal(x(k + 1), x(k) + b(k + 1) * u), where=(fact("b", equal(b(k), norm2(x(k)) + 1)),)),
        RESTRICTS,
    ),
    Attack("through a vector", using(equal(x(k), y(k)), where=(fact("y", equal(y(k), x(k) + u)),)), RESTRICTS),
    Attack("a table without a range", using(LOOKUP), RESTRICTS),
    Attack("a later entry of a table", using(RANGE, equal(x(k + 1), x(tau(k + 1)) + u)), RESTRICTS),
    Attack("after an entry of a table", using(RANGE, equal(x(k + 1), x(tau(k) + 1) + u)), RESTRICTS),
    Attack("a table's range at one place", using(at_most(tau(0), 0), LOOKUP), RESTRICTS),
    Attack("a table's range at a size", using(at_most(tau(N), N), LOOKUP), RESTRICTS),
    Attack("a table's range by another index", using(at_most(tau(k), j), equal(x(j + 1), x(tau(k)) + u)), RESTRICTS),
    Attack("a table of more", using(at_most(tau(k, j), k), LOOKUP), RESTRICTS),
    Attack(
        "a table that is defined", using(LOOKUP, besides=(RANGE,), where=(fact("t", equal(tau(k), k + 1)),)), RESTRICTS
    ),
    Attack(
        "a table that is assumed", using(LOOKUP, besides=(RANGE,), given=(fact("t", below(k, tau(k)), k),)), RESTRICTS
    ),
    Attack("a range against a hypothesis", using(RANGE, given=(fact("t", below(k, tau(k)), k),)), VACUOUS),
    Attack("no terms at one round", using(equal(sums[0](v(ell)), y(k))), RESTRICTS),
    Attack("a mean of sums of no terms", using(equal(mean(sum_over(ell, n)(v(i, ell))), u)), RESTRICTS),
)
def test_no_circle_is_a_setting(attack):
    assert attack.sentence in answer(attack)


START, ROUND = equal(x(0), u), equal(x(k + 1), x(k) - y(k))


@table(
    Attack("a start that is another", using(equal(x(0), 0), given=(fact("h", equal(norm2(x(0)), 1)),)), VACUOUS),
    Attack("a start away from itself", using(START, given=(fact("h", at_most(1, norm2(x(0) - u))),)), VACUOUS),
    Attack("a mean that is not", using(equal(mean(v(i)), 0), given=(fact("h", below(0, norm2(mean(v(i))))),)), VACUOUS),
    Attack(
        "a round away from itself", using(ROUND, given=(fact("h", at_most(1, norm2(x(k + 1) - x(k) + y(k)))),)), VACUOUS
    ),
    Attack("one round away", using(ROUND, given=(fact("h", below(0, norm2(x(3) - x(2) + y(2)))),)), VACUOUS),
    Attack("rounds that go on", using(START, ROUND, given=(fact("h", at_most(1, norm2(x(1) - u + y(0)))),)), VACUOUS),
    Attack(
        "every round away from itself",
        using(equal(x(k), y(k)), given=(fact("h", at_most(1, norm2(x(n) - y(n))), n),)),
        VACUOUS,
    ),
    Attack(
        "a hypothesis and what it says a vector is",
        claims(
            TRUE, Obligation("s", TRUE, ()), given=(fact("e", equal(x(0), u)), fact("h", at_most(1, norm2(x(0) - u))))
        ),
        VACUOUS,
    ),
)
def test_no_hypothesis_is_against_what_vectors_are(attack):
    assert attack.sentence in answer(attack)


@pytest.mark.parametrize(
    "hypothesis",
    [
        equal(norm2(x(1)), 1),
        at_most(1, norm2(x(0))),
        equal(norm2(x(0)), norm2(u)),
        at_most(norm2(x(3)), norm2(x(2))),
        equal(norm2(x(k + 1) - x(k)), norm2(y(k))),
    ],
)
def test_hypotheses_that_runs_can_meet_are_no_contradiction(hypothesis):
    told = answer(Attack("", using(START, ROUND, given=(fact("h", hypothesis),)), ""))
    assert told == "accepted"


@pytest.mark.parametrize(
    "relations",
    [
        # One index at three places, as an iterate, a mean over clients and a client's have.
        (equal(y(k), mean(z(i, n, k))), equal(x(n, k + 1), x(n, k) + y(k)), equal(z(j, n, k), x(n, k) + v(j))),
        (equal(z(j, 0, k), x(k)), equal(z(j, n + 1, k), z(j, n, k) + v(n)), equal(x(k + 1), mean(z(i, N, k)))),
        # Two indices, the first before the second.
        (equal(x(k + 1, j + 1), x(k, 2 * j) + x(k + 1, j)), equal(x(0, j), u), equal(x(k + 1, 0), x(k, N))),
        (equal(x(k, j + 1), y(j, k + 5)), equal(y(k, j), x(j, k) + u)),
        (equal(x(k + 1), y(k)), equal(y(k), x(k) + u)),
        (equal(x(0), u), equal(y(k), x(0)), equal(x(k + 1), y(5))),
        (equal(x(k), sums[0](x(ell)) + u),),
        (equal(sums[1](v(ell)), y(k)),),
        (equal(sums[0](v(ell)), 0),),
        (equal(mean(total(v(i, ell))), u),),
        (equal(x(k), y(k) + z(k)), equal(y(k), 2 * z(k))),
        (equal(f.grad(x(k)), y(k)), equal(x(k + 1), x(k) - y(k))),
        (at_most(tau(k), k), equal(y(k), x(tau(k))), equal(x(k + 1), y(k) + u)),
        (at_most(tau(k), k), at_most(tau(k), tau(k + 1)), equal(x(k + 1), x(tau(k)) + u)),
        (at_most(tau(k), k), equal(x(k + 2), x(tau(k) + 1) + u)),
    ],
)
def test_settings_that_end_are_used(relations):
    assert answer(Attack("", using(*relations), "")) == "accepted"


@pytest.mark.parametrize(
    ("relation", "defined"),
    [
        (equal(x(k + 1), x(k) + c * u), equal(c, norm2(x(0)) + 1)),
        (equal(x(k + 1), x(k) + b(k) * u), equal(b(k), norm2(x(k)) + 1)),
        (equal(y(k), x(k) + u), equal(x(k), b(k) * u)),
        (equal(F.grad(x(k)), y(k)), equal(p, norm2(x(0)))),
    ],
)
def test_settings_and_definitions_that_end_are_used(relation, defined):
    assert answer(Attack("", using(relation, where=(fact("d", defined),)), "")) == "accepted"


def test_a_range_that_no_step_cites_bounds_a_table():
    assert answer(Attack("", using(LOOKUP, besides=(RANGE,)), "")) == "accepted"


Ls = sp.Function("settings_Ls", nonnegative=True)


@table(
    *(
        Attack(
            f"{what} = {constant}",
            lambda what=what, constant=constant: function(f"settings {what}", "f", **{what: constant}),
            "may be an index",
        )
        for what, constant in itertools.product(("smooth", "mu", "lower"), (m, m + 1, Ls(m), Ls(i), 2 * N, p * m))
    ),
)
def test_constants_of_functions_depend_on_no_index(attack):
    assert attack.sentence in answer(attack)


def test_constants_may_be_real():
    assert function("settings h", "h", smooth=L, mu=p, lower=c).properties.smooth == L


def assumed(*where):
    return [one.name for one in assumptions(claims(TRUE, where=where)()) if one in where]


@pytest.mark.parametrize(
    "relation",
    [equal(ln(2), 0), equal(ln(3), 1), equal(ln(n + 1), n), equal(ln(k + 2), 0), equal(ln(1), 1), equal(ln(N), c * 0)],
    ids=str,
)
def test_nobody_defines_a_logarithm(relation):
    assert assumed(fact("a", relation)) == ["a"]


def test_the_logarithm_of_one_is_zero():
    assert ln(1) == 0
    assert ln(n + 1).is_nonnegative
    assert ln(c).is_real is None


@pytest.mark.parametrize("argument", [c, w - 1, p, -L], ids=str)
def test_a_logarithm_of_what_may_be_negative_is_refused(argument):
    goal = at_most(ln(argument), ln(argument) + 1)
    assert "logarithm of" in answer(Attack("", claims(goal, Obligation("s", goal, (), sp.S.One)), ""))


def test_a_constant_of_a_function_is_defined_without_it():
    assert assumed(fact("a", equal(p, norm2(F.grad(u))))) == ["a"]
    assert assumed(fact("a", equal(p, 1))) == []


@table(
    *(
        Attack(name, claims(TRUE, Obligation("s", TRUE, ()), given=given, where=where), VACUOUS)
        for name, given, where in (
            ("at 0 only", (fact("h", at_most(s(k), k - 1), k),), ()),
            ("at 0, strictly", (fact("h", below(0, n), n),), ()),
            ("at 1 only", (fact("h", at_most(s(k), (k - 1) ** 2 - sp.Rational(1, 2) + (1 - k) ** 2 * k), k),), ()),
            ("at 2 only", (fact("h", below(0, (k - 2) ** 2), k),), ()),
            ("a quadratic at 0", (fact("h", at_most(1 + s(k), k**2), k),), ()),
            ("two facts at 0", (fact("h", at_most(s(k), a(k)), k), fact("g", below(a(0), 0))), ()),
            ("a definition at 1", (fact("h", below(a(1), 0)),), (fact("d", equal(a(k), k)),)),
            (
                "a recursion from 0",
                (fact("h", at_most(a(1), 0)),),
                (fact("d", equal(a(k + 1), a(k) + 1)), fact("e", equal(a(0), 0))),
            ),
            ("another index", (fact("h", at_most(s(j), j - 1), j),), ()),
            ("two indices", (fact("h", at_most(s(j), k - 1), j, k),), ()),
        )
    )
)
def test_what_holds_for_every_index_is_asked_at_several(attack):
    assert attack.sentence in answer(attack)


@pytest.mark.parametrize("relation", [at_most(s(k), k + 1), at_most(0, k), at_most(a(k), k - 1), below(0, N)], ids=str)
def test_what_holds_at_every_index_is_no_contradiction(relation):
    one = fact("h", relation, k)
    assert answer(Attack("", claims(TRUE, Obligation("s", TRUE, ()), given=(one,)), "")) == "accepted"
