"""Rules on means, sums and expectations, on maxima and minima, and on what holds for every value of an index."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.engine.operators import Largest, Least, Operator, sum_over
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
    sort_of_index,
    under,
)
from cflag_theory.claims.engine.terms import dot, is_vector, norm, norm2


@rule("mean of bounds", "A mean or a sum, with non-negative weights, of numbers is at most that of their bounds.")
def mean(premises: list[Known], operator: Operator, weight: sp.Expr = sp.S.One) -> Relation:
    """The step in `given`, which holds for every value of the operator's index, times `weight`, under the operator."""
    premise = one_step(premises, "a relation for every value of the index")
    within = at_most(operator.index + 1, operator.total) if operator.is_sum else None
    if not premise.for_every(operator.index, within):
        raise RuleError(f"{premise.relation} does not hold for every {operator.index}")
    relation = premise.relation
    weight = nonnegative(weight) if relation.op != "==" else sp.sympify(weight)
    kind = equal if relation.op == "==" else at_most
    return kind(operator(weight * relation.left), operator(weight * relation.right))


@rule("norm of a mean", "||mean_i v_i|| <= mean_i ||v_i||, for sums too.")
def norm_of_mean(premises: list[Known], operator: Operator, v: sp.Expr) -> Relation:
    """norm(operator(v)) <= operator(norm(v))."""
    no_steps(premises)
    return at_most(norm(operator(v)), operator(norm(v)))


@rule("Jensen", "||mean_i v_i||^2 <= mean_i ||v_i||^2; for a sum of n terms, n times the sum of squares.")
def jensen(premises: list[Known], operator: Operator, v: sp.Expr) -> Relation:
    """norm2(operator(v)) <= total * operator(norm2(v)); for numbers, the square of the mean."""
    no_steps(premises)
    nonnegative(operator.total)
    if is_vector(v):
        return at_most(norm2(operator(v)), sp.expand(operator.total * operator(norm2(v))))
    return at_most(operator(v) ** 2, sp.expand(operator.total * operator(v**2)))


@rule("Cauchy-Schwarz under a mean", "mean_i <u_i, v_i> <= (mean_i ||u_i||^2)^(1/2) (mean_i ||v_i||^2)^(1/2).")
def cauchy_schwarz_mean(premises: list[Known], operator: Operator, u: sp.Expr, v: sp.Expr) -> Relation:
    """operator(<u, v>) <= sqrt(operator(norm2(u))) sqrt(operator(norm2(v)))."""
    no_steps(premises)
    return at_most(operator(dot(u, v)), sp.sqrt(operator(norm2(u))) * sp.sqrt(operator(norm2(v))))


@rule("Cauchy-Schwarz for numbers", "mean(a b) <= mean(a^2)^(1/2) mean(b^2)^(1/2), for means of means too.")
def cauchy_schwarz_numbers(premises: list[Known], a: sp.Expr, b: sp.Expr, *operators: Operator) -> Relation:
    """The mean of a b is at most sqrt(mean of a^2) sqrt(mean of b^2); the first operator is the innermost."""
    no_steps(premises)
    if is_vector(a) or is_vector(b):
        raise RuleError("the rule is about numbers")
    return at_most(under(a * b, operators), sp.sqrt(under(a**2, operators)) * sp.sqrt(under(b**2, operators)))


@rule("exchange with a sum", "A mean of a sum is the sum of the means: the weights do not depend on the sum's index.")
def exchange(premises: list[Known], operator: Operator, total: Operator, expr: sp.Expr) -> Relation:
    """operator(total(expr)) == total(operator(expr)) for a sum `total` whose range does not depend on the other index.

    Two means are not exchanged: the weights of the one, such as those of a client's components, may depend on the
    index of the other.
    """
    no_steps(premises)
    if not total.is_sum or operator.index == total.index:
        raise RuleError(f"{total} is not a sum over another index")
    if operator.index in total.total.free_symbols or total.index in operator.total.free_symbols:
        raise RuleError("the range of one depends on the other's index")
    return equal(operator(total(expr)), total(operator(expr)))


@rule("last term", "The sum of k + 1 terms is the sum of k terms and the last one.")
def last_term(premises: list[Known], over: sp.Symbol, count: sp.Expr, expr: sp.Expr) -> Relation:
    """sum_{over < count + 1} expr == sum_{over < count} expr + expr at over = count."""
    no_steps(premises)
    counting(count)
    if is_vector(expr):
        raise RuleError("the rule is about numbers")
    last = expr.xreplace({over: sp.sympify(count)})
    return equal(sum_over(over, count + 1)(expr), sum_over(over, count)(expr) + last)


@rule("telescoping", "sum_{t<T} (v_t - v_{t+1}) = v_0 - v_T.")
def telescoping(premises: list[Known], over: sp.Symbol, count: sp.Expr, v: sp.Expr) -> Relation:
    """sum_{over < count} (v - v at over + 1) == v at 0 - v at count."""
    no_steps(premises)
    counting(count)

    def at(value: sp.Expr) -> sp.Expr:
        return v.xreplace({over: sp.sympify(value)})

    return equal(sum_over(over, count)(v - at(over + 1)), at(sp.S.Zero) - at(count))


@rule("monotone sequence", "A non-decreasing sequence keeps the order of its indices.")
def monotone(premises: list[Known], over: sp.Symbol, expr: sp.Expr) -> Relation:
    """expr at a <= expr at b; `given` shows expr <= expr at over + 1 for every over, and a <= b."""
    if len(premises) != 2:
        raise RuleError("the rule needs two steps: the sequence does not decrease, and a <= b")
    sort = sort_of_index(over)
    _non_decreasing(premises[:1], over, expr)
    order = premises[1].relation
    if order.op == "==":
        raise RuleError(f"{order} is not of the form a <= b")
    counting(order.left, sort)
    counting(order.right, sort)
    return at_most(expr.xreplace({over: order.left}), expr.xreplace({over: order.right}))


def _non_decreasing(premises: list[Known], over: sp.Symbol, expr: sp.Expr) -> None:
    premise = one_step(premises, "the sequence does not decrease")
    if premise.relation != at_most(expr, expr.xreplace({over: over + 1})) or not premise.for_every(over):
        raise RuleError(f"{premise.relation} does not say that {expr} does not decrease with {over}")


@rule("at one value", "What holds for every value of an index holds at one.")
def at(premises: list[Known], over: sp.Symbol, value: sp.Expr) -> Relation:
    """The step in `given`, which holds for every value of the index `over`, at one value."""
    premise = one_step(premises, "a relation for every value of the index")
    counting(value, sort_of_index(over))
    if not premise.for_every(over):
        raise RuleError(f"{premise.relation} does not hold for every {over}")
    return premise.relation.subs({over: value})


# Maxima and minima.


@rule("member of the maximum", "Every member is at most the maximum.")
def member(premises: list[Known], largest: Largest, value: sp.Expr) -> Relation:
    """The member at index = value is at most the maximum; `given` shows value <= end, if they are not the same."""
    _extreme(largest, Largest)
    counting(value)
    if value != largest.outside and value != 0:
        _says(premises, at_most(value, largest.outside))
    return at_most(largest.at(value), largest)


@rule("maximum", "max_{b<=k+1} a_b <= c when max_{b<=k} a_b <= c and a_{k+1} <= c.")
def maximum(premises: list[Known], largest: Largest) -> Relation:
    """largest at end + 1 is at most what `given` shows `largest` (up to its end) and the next member to be at most."""
    _extreme(largest, Largest)
    if len(premises) != 2:
        raise RuleError("the rule needs two steps: the bound of the earlier members, and that of the next one")
    first, last = (premise.relation for premise in premises)
    end = largest.outside + 1
    if first.op == "==" or last.op == "==" or first.right != last.right:
        raise RuleError("the two bounds differ")
    if first.left != largest or last.left != largest.at(end):
        raise RuleError(f"{first} and {last} do not bound {largest} and its next member")
    return at_most(Largest(largest.bound, end, largest.body), first.right)


@rule("maximum of bounds", "If every member is at most c, so is the maximum.")
def maximum_of_bounds(premises: list[Known], largest: Largest) -> Relation:
    """largest <= c, where `given` shows the member at every index <= end to be at most c."""
    _extreme(largest, Largest)
    premise = one_step(premises, "a bound for every member")
    bound = premise.relation
    if bound.op == "==" or bound.left != largest.body or largest.bound in bound.right.free_symbols:
        raise RuleError(f"{bound} does not bound the members of {largest}")
    if not premise.for_every(largest.bound, at_most(largest.bound, largest.outside)):
        raise RuleError(f"{bound} does not hold for every {largest.bound}")
    return at_most(largest, bound.right)


@rule("member of the minimum", "The minimum is at most every member.")
def least_member(premises: list[Known], least: Least, value: sp.Expr) -> Relation:
    """The minimum is at most the member at index = value; `given` shows value + 1 <= count."""
    _extreme(least, Least)
    counting(value)
    _says(premises, at_most(value + 1, least.outside))
    return at_most(least, least.at(value))


@rule("minimum of fewer", "The least of n numbers is at most the least of the first k of them, k <= n.")
def fewer(premises: list[Known], least: Least, count: sp.Expr) -> Relation:
    """The minimum is at most that of the first `count` members; `given` shows count <= the number of members."""
    _extreme(least, Least)
    positive(count)
    counting(count)
    _says(premises, at_most(count, least.outside))
    return at_most(least, Least(least.bound, count, least.body))


@rule("minimum and sum", "The least of n numbers, times the sum of non-negative weights, is at most the weighted sum.")
def minimum(premises: list[Known], least: Least, weight: sp.Expr = sp.S.One) -> Relation:
    """sum of the weights * least <= sum of weight * member; count * least <= sum of the members by default."""
    no_steps(premises)
    _extreme(least, Least)
    counting(least.outside)
    total = sum_over(least.bound, least.outside)
    return at_most(total(nonnegative(weight)) * least, total(weight * least.body))


def _says(premises: list[Known], relation: Relation) -> None:
    """Refuse a step that shows anything else."""
    if (shown := one_step(premises, str(relation)).relation) != relation:
        raise RuleError(f"{shown} does not say that {relation}")


def _extreme(term: Any, kind: type[Largest] | type[Least]) -> None:
    if not isinstance(term, kind):
        raise RuleError(f"{term} is no {'maximum' if kind is Largest else 'minimum'}")
    # A range that may be empty has no maximum.
    counting(term.outside)
