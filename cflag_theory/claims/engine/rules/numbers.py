"""Rules on exp, ln and roots."""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.rules.core import (
    Known,
    RuleError,
    counting,
    no_steps,
    nonnegative,
    one_step,
    positive,
    rule,
)
from cflag_theory.claims.engine.terms import ln


@rule("tangent of exp", "(1 + u)^k <= exp(k u) for u >= 0, and for every u if k = 1, since 1 + u <= exp(u).")
def tangent_of_exp(premises: list[Known], u: sp.Expr, k: sp.Expr = sp.S.One) -> Relation:
    """(1 + u)^k <= exp(k u)."""
    no_steps(premises)
    u, k = sp.sympify(u), sp.sympify(k)
    if k != 1:
        counting(k)
        nonnegative(u)
    elif not u.is_real:
        raise RuleError(f"{u} need not be real")
    return at_most((1 + u) ** k, sp.exp(k * u))


def _between(premises: list[Known]) -> tuple[sp.Expr, sp.Expr]:
    """y and a of a step that shows y <= a, where 0 <= y and 0 < a."""
    relation = one_step(premises, "y <= a").relation
    if relation.op == "==":
        raise RuleError(f"{relation} is not of the form y <= a")
    return nonnegative(relation.left), positive(relation.right)


@rule("chord of exp", "exp(y) - 1 <= (exp(a) - 1) y / a for 0 <= y <= a, since exp is convex.")
def chord_of_exp(premises: list[Known]) -> Relation:
    """exp(y) - 1 <= (exp(a) - 1) y / a, for the step y <= a in `given`."""
    y, end = _between(premises)
    return at_most(sp.exp(y) - 1, (sp.exp(end) - 1) / end * y)


@rule(
    "parabola over exp",
    "exp(y) - 1 - y <= (exp(a) - 1 - a) y^2 / a^2 for 0 <= y <= a: every further term grows at least as fast as y^2.",
)
def parabola_over_exp(premises: list[Known]) -> Relation:
    """exp(y) - 1 - y <= (exp(a) - 1 - a) y^2 / a^2, for the step y <= a in `given`."""
    y, end = _between(premises)
    return at_most(sp.exp(y) - 1 - y, (sp.exp(end) - 1 - end) / end**2 * y**2)


@rule("value of exp", "exp(1/4) <= 9/7: the series after 1 + 1/4 is below (1/32) / (1 - 1/12) < 1/28.")
def exp_quarter(premises: list[Known]) -> Relation:
    """exp(1/4) <= 9/7."""
    no_steps(premises)
    return at_most(sp.exp(sp.Rational(1, 4)), sp.Rational(9, 7))


@rule("decay", "(1 - u)^k <= exp(-k u) for 0 <= u <= 1, since 1 - u <= exp(-u).")
def decay(premises: list[Known], k: sp.Expr) -> Relation:
    """(1 - u)^k <= exp(-k u), for the step u <= 1 in `given`."""
    relation = one_step(premises, "u <= 1").relation
    if relation.op == "==" or relation.right != 1:
        raise RuleError(f"{relation} is not of the form u <= 1")
    counting(k)
    u = nonnegative(relation.left)
    return at_most((1 - u) ** k, sp.exp(-k * u))


@rule("tangent of ln", "ln(b) - ln(a) >= 1 - a/b for a, b >= 1, since ln(x) <= x - 1.")
def tangent_of_ln(premises: list[Known], a: sp.Expr, b: sp.Expr) -> Relation:
    """1 - a/b <= ln(b) - ln(a)."""
    no_steps(premises)
    a, b = sp.sympify(a), sp.sympify(b)
    nonnegative(a - 1)
    nonnegative(b - 1)
    return at_most(1 - a / b, ln(b) - ln(a))


@rule("square root", "u <= v where u^2 <= v^2 and neither is negative.")
def square_root(premises: list[Known], u: sp.Expr, v: sp.Expr) -> Relation:
    """u <= v, where `given` shows u^2 <= v^2."""
    relation = one_step(premises, "u^2 <= v^2").relation
    u, v = nonnegative(u), nonnegative(v)
    same = sp.expand(relation.left - u**2) == 0 and sp.expand(relation.right - v**2) == 0
    if relation.op == "==" or not same:
        raise RuleError(f"{relation} does not compare the squares of {u} and {v}")
    return at_most(u, v)


@rule("both bounds", "a = b where a <= b and b <= a.")
def both_bounds(premises: list[Known]) -> Relation:
    """a == b, where `given` shows a <= b and b <= a."""
    relations = [premise.relation for premise in premises]
    if len(relations) != 2 or any(relation.op != "<=" for relation in relations):
        raise RuleError("the rule needs two steps: a <= b, and b <= a")
    first, second = relations
    if first.left != second.right or first.right != second.left:
        raise RuleError(f"{second} is not {first} the other way round")
    return equal(first.left, first.right)
