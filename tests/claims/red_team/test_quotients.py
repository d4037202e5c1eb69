"""Attacks through certificates: quotients by zero, what is not real, multipliers, words that z3 did not prove."""

from __future__ import annotations

import sympy as sp
from attacks import Attack, answer, claims, fact, table

from cflag_theory.claims.engine.algebra import residual, slack, square
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation

k = sp.Symbol("k", integer=True, nonnegative=True)
a = sp.Symbol("a", positive=True)
x = sp.Symbol("x", nonnegative=True)
w, y = sp.symbols("w y", real=True)
s = sp.Function("s", nonnegative=True)
FALSE = at_most(1, 0)


def shows(goal, certificate, **given):
    """A goal in one step, from hypotheses by name."""
    facts = tuple(fact(name, relation) for name, relation in given.items())
    return claims(goal, Obligation("step", goal, tuple(given), sp.sympify(certificate)), given=facts)


UNDER = "has a denominator that nothing given makes positive"


def vanishes(factor, zero):
    """zero * factor == 0 from zero == 0, for a factor that has no value there."""
    return shows(equal(zero * (factor + 1), 0), -residual("e") * (factor + 1), e=equal(zero, 0))


@table(
    Attack("an inverse power of what is zero", vanishes(w**-k, w), UNDER),
    Attack("an inverse root of what is zero", vanishes(1 / sp.sqrt(x), x), UNDER),
    Attack("an inverse root in the exponent", vanishes(sp.exp(1 / sp.sqrt(x)), x), UNDER),
    Attack("an inverse inside an index", vanishes(s(1 / w), w), "an index is a natural"),
    Attack("a quotient by zero in a fact", shows(at_most(1 / w, 1), slack("e"), e=at_most(1 / w, 1)), UNDER),
    Attack(
        "a quotient by a member of a sequence", shows(at_most(1 / s(k), 1), slack("e"), e=at_most(1 / s(k), 1)), UNDER
    ),
    Attack("the square of exp of 1/w", shows(at_most(0, sp.exp(2 / w)), square(sp.exp(1 / w))), UNDER),
    Attack(
        "the square of exp of an angle that is not real: -1 at w = 0",
        shows(at_most(0, sp.exp(2 * sp.acosh(w))), square(sp.exp(sp.acosh(w)))),
        "has no meaning here",
    ),
    Attack(
        "a logarithm of what may be negative",
        shows(at_most(0, sp.log(w) ** 2), square(sp.log(w))),
        "has no meaning here",
    ),
    Attack("a complex square", shows(at_most(0, -(w**2)), square(sp.I * w)), "has no meaning here"),
    Attack(
        "a negative multiplier", shows(at_most(0, w), w * slack("e"), e=at_most(0, 1)), "not manifestly non-negative"
    ),
    Attack(
        "an inequality that is turned round",
        shows(at_most(w, 0), -slack("e"), e=at_most(0, w)),
        "not manifestly non-negative",
    ),
    Attack("the slack of an equation", shows(at_most(0, w), slack("e"), e=equal(0, w)), "is used as an inequality"),
    Attack(
        "the residual of an inequality", shows(at_most(w, 0), -residual("e"), e=at_most(w, 0)), "is used as an equation"
    ),
    Attack("a slack of nothing", shows(FALSE, slack("nobody") - 1), "which is not given"),
    Attack(
        "a strict goal from a weak fact",
        shows(below(0, w), slack("e"), e=at_most(0, w)),
        "needs a positive certificate",
    ),
    Attack("an equation from a square", shows(equal(0, w**2), square(w)), "needs a certificate of residuals alone"),
    Attack(
        "a certificate of another goal", shows(at_most(w, 2), slack("e"), e=at_most(w, 1)), "is not right minus left"
    ),
)
def test_certificates(attack):
    assert attack.sentence in answer(attack)


def test_denominators_that_something_given_makes_positive():
    inverse = shows(at_most(0, 1 / (1 - w)), 1 / slack("e"), e=below(w, 1))()
    assert examine(inverse).accepted
    assert not examine(shows(at_most(0, 1 / (1 - w)), 1 / slack("e"), e=at_most(w, 1))()).accepted
