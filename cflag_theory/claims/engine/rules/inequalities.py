"""Rules on inner products, norms and functions, and on exp, ln and roots of numbers."""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.engine.operators import Operator
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.rules.core import (
    Known,
    RuleError,
    counting,
    no_steps,
    nonnegative,
    one_step,
    positive,
    rewritten,
    rule,
    same_vector,
    under,
)
from cflag_theory.claims.engine.terms import Function, dot, is_vector, ln, norm, norm2


@rule("Cauchy-Schwarz", "<u, v> <= ||u|| ||v||.")
def cauchy_schwarz(premises: list[Known], u: sp.Expr, v: sp.Expr) -> Relation:
    """<u, v> <= ||u|| ||v||."""
    no_steps(premises)
    return at_most(dot(u, v), norm(u) * norm(v))


@rule("triangle inequality", "||u_1 + ... + u_n|| <= ||u_1|| + ... + ||u_n||.")
def triangle(premises: list[Known], total: sp.Expr, *summands: sp.Expr) -> Relation:
    """||total|| <= sum of the summands' norms; `given` names the vector equations by which they sum to the total."""
    same_vector(total, sp.Add(*summands), premises)
    return at_most(norm(total), sp.Add(*map(norm, summands)))


@rule("square of a norm", "||v||^2 = <v, v>, expanded, and so under means.")
def norm_squared(premises: list[Known], v: sp.Expr, *operators: Operator) -> Relation:
    """norm(v)^2 == norm2(v), under the operators, of which the first is the innermost."""
    no_steps(premises)
    return equal(under(norm(v) ** 2, operators), under(norm2(v), operators))


def _real(number: sp.Expr) -> sp.Expr:
    if not number.is_real:
        raise RuleError(f"{number} need not be real")
    return number


@rule("norm of a multiple", "||c v|| = c ||v|| for c >= 0.")
def norm_of_multiple(premises: list[Known], v: sp.Expr, c: sp.Expr) -> Relation:
    """norm(c v) == c norm(v), where `given` shows a relation with right - left = c, such as s <= 1 for c = 1 - s."""
    relation = one_step(premises, "0 <= c").relation
    if relation.op == "==" or sp.expand(relation.slack - c) != 0:
        raise RuleError(f"{relation} does not say that {c} is not negative")
    return equal(norm(sp.expand(c * v)), c * norm(v))


@rule("square", "0 <= <v, v>, expanded, and so under means; for a number, its square.")
def square(premises: list[Known], v: sp.Expr, *operators: Operator) -> Relation:
    """0 <= norm2(v), under the operators, of which the first is the innermost: for v = a u - w, Young's inequality.

    The square of a number is expanded too, so that that of a root is what stands under it.
    """
    no_steps(premises)
    return at_most(0, under(norm2(v) if is_vector(v) else sp.expand(_real(v) ** 2), operators))


@rule("equal vectors", "Equal vectors may replace each other.")
def rewrite(premises: list[Known], expr: sp.Expr) -> Relation:
    """expr == the same with the vectors that `given` defines replaced by their definitions."""
    return equal(expr, rewritten(expr, premises))


@rule("equal vectors in a relation", "Equal vectors may replace each other.")
def replaced(premises: list[Known]) -> Relation:
    """The first step in `given`, with the vectors that the others define replaced by their definitions."""
    if len(premises) < 2:
        raise RuleError("the rule needs a relation and the vector equations to use in it")
    relation, equations = premises[0].relation, premises[1:]
    kind = equal if relation.op == "==" else at_most
    return kind(rewritten(relation.left, equations), rewritten(relation.right, equations))


@rule("equation along a vector", "If u = v then <u, w> = <v, w>.")
def along(premises: list[Known], w: sp.Expr) -> Relation:
    """<u, w> == <v, w> for the vector equation u == v that `given` names."""
    relation = one_step(premises, "a vector equation").relation
    if relation.op != "==" or not (is_vector(relation.left) or is_vector(relation.right)):
        raise RuleError(f"{relation} is not an equation between vectors")
    return equal(dot(relation.left, w), dot(relation.right, w))


@rule("null vector", "If ||v|| = 0 then <v, w> = 0.")
def null(premises: list[Known], v: sp.Expr, w: sp.Expr) -> Relation:
    """<v, w> == 0, where `given` shows norm(v) == 0 or norm2(v) == 0."""
    relation = one_step(premises, "||v|| = 0").relation
    if relation.op != "==" or relation.right != 0 or relation.left not in (norm(v), norm2(v)):
        raise RuleError(f"{relation} does not say that {v} is zero")
    return equal(dot(v, w), 0)


# Functions.


def _declared(value: sp.Expr | None, f: Function, what: str) -> sp.Expr:
    if value is None:
        raise RuleError(f"{f} is not declared {what}")
    return value


@rule("smoothness", "An L-smooth f has f(y) <= f(x) + <grad f(x), y - x> + (L/2) ||y - x||^2.")
def smooth(premises: list[Known], f: Function, x: sp.Expr, y: sp.Expr) -> Relation:
    """f(y) <= f(x) + <grad f(x), y - x> + (L/2) ||y - x||^2."""
    no_steps(premises)
    L = _declared(f.properties.smooth, f, "smooth")
    return at_most(f(y), f(x) + dot(f.grad(x), y - x) + sp.expand(L * norm2(y - x) / 2))


@rule("Lipschitz gradient", "An L-smooth f has ||grad f(x) - grad f(y)|| <= L ||x - y||.")
def lipschitz(premises: list[Known], f: Function, x: sp.Expr, y: sp.Expr) -> Relation:
    """||grad f(x) - grad f(y)|| <= L ||x - y||."""
    no_steps(premises)
    return at_most(norm(f.grad(x) - f.grad(y)), _declared(f.properties.smooth, f, "smooth") * norm(x - y))


@rule("convexity", "A mu-convex f has f(y) >= f(x) + <grad f(x), y - x> + (mu/2) ||y - x||^2.")
def convex(premises: list[Known], f: Function, x: sp.Expr, y: sp.Expr) -> Relation:
    """f(x) + <grad f(x), y - x> + (mu/2) ||y - x||^2 <= f(y)."""
    no_steps(premises)
    mu = _declared(f.properties.mu, f, "convex")
    return at_most(f(x) + dot(f.grad(x), y - x) + sp.expand(mu * norm2(y - x) / 2), f(y))


@rule(
    "interpolation",
    "A convex, L-smooth f has f(y) >= f(x) + <g, y - x> + ||g - h||^2 / (2L); a mu-convex one (mu = -L: any) has "
    "||g - h||^2 + mu L ||x - y||^2 - 2 mu <g - h, x - y> <= 2 (L - mu) (f(y) - f(x) - <g, y - x>), g, h being grad f.",
)
def interpolation(premises: list[Known], f: Function, x: sp.Expr, y: sp.Expr, strongly: int = 0) -> Relation:
    """f(x) + <grad f(x), y - x> + ||grad f(x) - grad f(y)||^2 / (2 L) <= f(y); L > 0. Or, `strongly`, the other."""
    no_steps(premises)
    L, mu = _declared(f.properties.smooth, f, "smooth"), f.properties.mu
    mu = -L if strongly and mu is None else _declared(mu, f, "convex")
    change, gap = f.grad(x) - f.grad(y), f(x) + dot(f.grad(x), y - x)
    if not strongly:
        return at_most(gap + sp.expand(norm2(change) / (2 * positive(L))), f(y))
    left = norm2(change) + mu * L * norm2(x - y) - 2 * mu * dot(change, x - y)
    return at_most(sp.expand(left), sp.expand(2 * (L - mu) * (f(y) - gap)))


@rule("lower bound", "f is bounded below by the number that is declared.")
def bounded_below(premises: list[Known], f: Function, x: sp.Expr) -> Relation:
    """lower <= f(x)."""
    no_steps(premises)
    return at_most(_declared(f.properties.lower, f, "bounded below"), f(x))


# Numbers.


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


@rule("tangent of ln", "ln(b) - ln(a) >= 1 - a/b for a, b > 0, since ln(x) <= x - 1.")
def tangent_of_ln(premises: list[Known], a: sp.Expr, b: sp.Expr) -> Relation:
    """1 - a/b <= ln(b) - ln(a)."""
    no_steps(premises)
    a, b = sp.sympify(a), sp.sympify(b)
    positive(a)
    positive(b)
    return at_most(1 - a / b, ln(b) - ln(a))


@rule("square root", "u <= v where u^2 <= v^2 and v is not negative.")
def square_root(premises: list[Known], u: sp.Expr, v: sp.Expr) -> Relation:
    """u <= v, where `given` shows u^2 <= v^2."""
    relation = one_step(premises, "u^2 <= v^2").relation
    u, v = _real(sp.sympify(u)), nonnegative(v)
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
