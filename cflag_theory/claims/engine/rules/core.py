"""What a rule is, how it concludes, and the checks that rules share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from typing import Any

import sympy as sp

from cflag_theory.claims.engine.algebra import manifestly_nonnegative, undefined
from cflag_theory.claims.engine.operators import Index, Operator
from cflag_theory.claims.engine.relation import Relation, sides
from cflag_theory.claims.engine.sorts import Sort, sort_of
from cflag_theory.claims.engine.steps import Use
from cflag_theory.claims.engine.terms import Basis, TermError, is_vector, parts


class RuleError(TermError):
    """A use of a rule that does not fit it."""


@dataclass(frozen=True)
class Known:
    """What an earlier step shows, the symbols that it does not hold for all values of, and the ranges that it needs."""

    relation: Relation
    fixed: frozenset[sp.Symbol] = frozenset()
    ranges: frozenset[Relation] = frozenset()

    def for_every(self, index: sp.Symbol, within: Relation | None = None) -> bool:
        """Whether the relation holds for every value of the index, or for every one in the range `within`."""
        needed = {range for range in self.ranges if index in range.left.free_symbols}
        return index not in self.fixed and needed <= {within}


@dataclass(frozen=True)
class Rule:
    """A rule: its statement in words, and how it concludes."""

    words: str
    conclude: Callable[..., Relation]


RULES: dict[str, Rule] = {}
#: Rules as proofs call them, by the name of their function.
USES: dict[str, Callable[..., Use]] = {}


def rule(name: str, words: str) -> Callable[[Callable[..., Relation]], Callable[..., Use]]:
    def declare(conclude: Callable[..., Relation]) -> Callable[..., Use]:
        RULES[name] = Rule(words, conclude)

        @wraps(conclude)
        def use(step: str, *terms: Any, given: tuple[str, ...] | str = (), words: str = "") -> Use:
            return Use(step, name, terms, (given,) if isinstance(given, str) else given, words)

        USES[conclude.__name__] = use
        return use

    return declare


def concluded(step: Use, premises: list[Known], strict: Mapping[str, Relation] | None = None) -> Relation:
    """What a use of a rule shows; by the `strict` inequalities a divisor may be known to differ from 0.

    Raises
    ------
    TermError
        If the rule does not exist or does not fit its terms and premises.
    """
    if step.rule not in RULES:
        raise RuleError(f"{step.rule!r} is not a rule")
    conclude = RULES[step.rule].conclude
    terms = (*map(sp.sympify, step.terms), *sides(*(premise.relation for premise in premises)))
    # What a rule cancels is not seen any more: 1/r times r says something of r = 0, where 1/r does not exist.
    for fault in filter(None, (undefined(one, strict or {}) for one in terms)):
        raise RuleError(fault)
    try:
        signature(conclude).bind(premises, *step.terms)
    except TypeError as error:
        raise RuleError(f"{step.rule!r} is used with the wrong number of terms: {error}") from None
    try:
        relation = conclude(premises, *step.terms)
    except (AttributeError, TypeError):
        listed = ", ".join(map(str, step.terms))
        raise RuleError(f"{step.rule!r} is not for {listed}: {RULES[step.rule].words}") from None
    if is_vector(relation.left) or is_vector(relation.right):
        raise RuleError("the conclusion is not a relation between numbers")
    return relation


def one_step(premises: list[Known], what: str) -> Known:
    if len(premises) != 1:
        raise RuleError(f"the rule needs one step: {what}")
    return premises[0]


def no_steps(premises: list[Known]) -> None:
    if premises:
        raise RuleError("the rule uses no other steps")


def nonnegative(weight: sp.Expr) -> sp.Expr:
    weight = sp.sympify(weight)
    if not (weight.is_nonnegative or manifestly_nonnegative(weight)):
        raise RuleError(f"{weight} could be negative")
    return weight


def positive(number: sp.Expr) -> sp.Expr:
    number = sp.sympify(number)
    if not (number.is_positive or manifestly_nonnegative(number, strictly=True)):
        raise RuleError(f"{number} could be zero or negative")
    return number


def rewritten(expr: sp.Expr, premises: list[Known]) -> sp.Expr:
    """The expression with the left sides of vector equations replaced by the right ones, in the order given."""
    for premise in premises:
        relation = premise.relation
        if relation.op != "==" or not isinstance(relation.left, Basis):
            raise RuleError(f"{relation} is not an equation that defines a vector")
        if any(isinstance(s, Index) and not premise.for_every(s) for s in relation.left.free_symbols):
            raise RuleError(f"{relation} holds for one value of its index only")
        expr = sp.expand(expr.xreplace({relation.left: relation.right}))
    return expr


def same_vector(u: sp.Expr, v: sp.Expr, premises: list[Known]) -> None:
    difference = parts(rewritten(sp.expand(u - v), premises))
    if difference:
        raise RuleError(f"{u} and {v} are different vectors")


def counting(value: sp.Expr, sort: Sort = Sort.NATURAL) -> None:
    value = sp.sympify(value)
    if not sort.fits(value):
        raise RuleError(f"{value} need not be {'1' if sort is Sort.POSITIVE_NATURAL else '0, 1'}, 2, ...")


def sort_of_index(over: Any) -> Sort:
    """The sort of what a rule runs through: its values are whole numbers from a start on."""
    sort = sort_of(over)
    if not sort.whole:
        raise RuleError(f"{over} is {sort} and no index: declare it integer and nonnegative")
    return sort


def under(expr: sp.Expr, operators: tuple[Operator, ...]) -> sp.Expr:
    """The expression under the operators, the first one innermost."""
    for operator in operators:
        if not isinstance(operator, Operator):
            raise RuleError(f"{operator} is neither a mean nor a sum")
        expr = operator(expr)
    return expr
