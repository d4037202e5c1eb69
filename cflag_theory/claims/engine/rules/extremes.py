"""Rules on maxima and minima."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.engine.operators import Largest, Least, sum_over
from cflag_theory.claims.engine.relation import Relation, at_most
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


@rule("member of the maximum", "Every member is at most the maximum.")
def member(premises: list[Known], largest: Largest, value: sp.Expr) -> Relation:
    """The member at index = value is at most the maximum; `given` shows value <= end, if they are not the same."""
    _extreme(largest, Largest)
    counting(value)
    if value != largest.outside and value != 0:
        within = one_step(premises, f"{value} <= {largest.outside}").relation
        if within != at_most(value, largest.outside):
            raise RuleError(f"{within} does not say that {value} <= {largest.outside}")
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
    within = one_step(premises, f"{value} + 1 <= {least.outside}").relation
    if within != at_most(value + 1, least.outside):
        raise RuleError(f"{within} does not say that {value} + 1 <= {least.outside}")
    return at_most(least, least.at(value))


@rule("minimum of fewer", "The least of n numbers is at most the least of the first k of them, k <= n.")
def fewer(premises: list[Known], least: Least, count: sp.Expr) -> Relation:
    """The minimum is at most that of the first `count` members; `given` shows count <= the number of members."""
    _extreme(least, Least)
    positive(count)
    counting(count)
    within = one_step(premises, f"{count} <= {least.outside}").relation
    if within != at_most(count, least.outside):
        raise RuleError(f"{within} does not say that {count} <= {least.outside}")
    return at_most(least, Least(least.bound, count, least.body))


@rule("minimum and sum", "The least of n numbers, times the sum of non-negative weights, is at most the weighted sum.")
def minimum(premises: list[Known], least: Least, weight: sp.Expr = sp.S.One) -> Relation:
    """sum of the weights * least <= sum of weight * member; count * least <= sum of the members by default."""
    no_steps(premises)
    _extreme(least, Least)
    counting(least.outside)
    total = sum_over(least.bound, least.outside)
    return at_most(total(nonnegative(weight)) * least, total(weight * least.body))


def _extreme(term: Any, kind: type[Largest] | type[Least]) -> None:
    if not isinstance(term, kind):
        raise RuleError(f"{term} is no {'maximum' if kind is Largest else 'minimum'}")
    # A range that may be empty has no maximum.
    counting(term.outside)
