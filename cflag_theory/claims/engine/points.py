"""The value of a relation at exact points: what refutes, and what no proof depends on."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache, cached_property
from math import prod
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.polys.polyerrors import NotAlgebraic

from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.sorts import Sort, sort_of
from cflag_theory.claims.engine.terms import ln


def sides_at(relation: Relation, values: Mapping[sp.Expr, Any]) -> tuple[sp.Expr, sp.Expr]:
    """Both sides at an exact point: a value for every symbol and sequence term, in the range of its sign.

    Raises
    ------
    KeyError
        If a symbol or a term of a sequence has no value.
    ValueError
        If a value is a float, or does not belong to the sort of its symbol.
    """
    exact = values if isinstance(values, Exact) else Exact(values)
    try:
        return _at(relation.left, exact), _at(relation.right, exact)
    except _Other:
        pass
    # At numbers a logarithm is sympy's, which knows that exp(log(2)) is 2.
    left, right = (
        side.xreplace(exact).replace(ln, sp.log) if side.has(ln) else side.xreplace(exact)
        for side in (relation.left, relation.right)
    )
    missing = (left.free_symbols | right.free_symbols | left.atoms(AppliedUndef) | right.atoms(AppliedUndef)) - {*exact}
    if missing:
        raise KeyError(f"no value for {', '.join(sorted(map(str, missing)))} in {relation}")
    return left, right


class _Other(Exception):
    """An expression is more than sums, products and whole powers of fractions: sympy evaluates it."""


def _at(expr: sp.Expr, exact: Exact) -> sp.Rational:
    number = _value(expr, exact.fractions)
    return sp.Rational(number.numerator, number.denominator)


def _value(expr: sp.Expr, values: Mapping[sp.Expr, Fraction | int]) -> Fraction | int:
    """What sympy makes of the expression at these values, which may contain more terms.

    Raises
    ------
    _Other
    """
    found = values.get(expr)
    if found is None:
        if expr.is_Rational:
            return exact_number(expr)
        if expr.is_Add:
            return sum(_value(part, values) for part in expr.args)
        if expr.is_Mul:
            return prod(_value(part, values) for part in expr.args)
        if not (expr.is_Pow and expr.exp.is_Integer):
            raise _Other
        base, power = _value(expr.base, values), int(expr.exp)
        if base == 0 and power < 0:
            raise _Other
        found = Fraction(base) ** power if power < 0 else base**power
    return found


def exact_number(value: sp.Rational) -> Fraction | int:
    """A rational number of sympy as Python's."""
    return Fraction(int(value.p), int(value.q)) if value.q != 1 else int(value.p)


def covered_by(relation: Relation, values: Mapping[sp.Expr, Any]) -> bool:
    """Whether every symbol and every term of a sequence in the relation has a value."""
    return _covered(relation, frozenset(values))


@cache
def _covered(relation: Relation, valued: frozenset[sp.Expr]) -> bool:
    return not (relation.slack.xreplace(dict.fromkeys(valued, sp.S.One)).atoms(sp.Symbol, AppliedUndef))


def holds_at(relation: Relation, values: Mapping[sp.Expr, Any]) -> bool:
    """Whether the relation holds at an exact point.

    Raises
    ------
    ValueError
        If a side has no value there, or a value is not as `sides_at` needs it.
    """
    left, right = sides_at(relation, values)
    gap = right - left
    gap = gap if gap.is_Rational else sp.expand(gap)
    if gap.is_real is False or gap.has(sp.nan, sp.zoo, sp.oo):
        raise ValueError(f"a side of {relation} has no value there: it says nothing of this point")
    if not gap.is_Rational and _is_zero(gap):
        gap = sp.S.Zero
    return bool({"==": gap == 0, "<": gap > 0, "<=": gap >= 0}[relation.op])


def put_in(expr: sp.Expr, values: Mapping[Any, Any]) -> sp.Expr:
    """An expression at exact values of its symbols and sequence terms: as `subs`, without its search for patterns."""
    return expr.xreplace({key: sp.sympify(value) for key, value in values.items()})


class Exact(dict[sp.Expr, sp.Expr]):
    """Exact values for symbols and sequence terms, checked once.

    Raises
    ------
    ValueError
        If a value is a float, or does not belong to the sort of its symbol.
    """

    def __init__(self, values: Mapping[sp.Expr, Any]) -> None:
        super().__init__((key, sp.sympify(value)) for key, value in values.items())
        for key, value in self.items():
            rational = isinstance(value, sp.Rational)
            if not rational and value.atoms(sp.Float):
                raise ValueError(f"{key} = {value} is not an exact number: use integers and fractions")
            sort = sort_of(key)
            if not (sort.holds(value) if rational else _holds(sort, value)):
                raise ValueError(f"{key} = {value} contradicts that {key} is {sort}")

    @cached_property
    def fractions(self) -> dict[sp.Expr, Fraction | int]:
        """The values that are fractions."""
        return {key: exact_number(value) for key, value in self.items() if isinstance(value, sp.Rational)}


def _holds(sort: Sort, number: sp.Expr) -> bool:
    """Whether a number that is not written as a fraction belongs to a sort; whole numbers are written as such."""
    if sort.whole or getattr(number, "is_real", None) is not True:
        return False
    if sort.start is None:
        return True
    return sort is Sort.NONNEGATIVE if _is_zero(number) else bool(number.evalf(30, maxn=200) > 0)


def _is_zero(number: sp.Expr) -> bool:
    """Whether an irrational number is 0, decided exactly: equal roots and exponentials may be written differently."""
    # A value that is not 0 to thirty places is not 0: sympy's evalf keeps track of what it lost.
    value = number.evalf(30, maxn=200)
    if value.is_comparable and abs(value) > sp.Rational(1, 10**20):
        return False
    unknown = sp.Dummy("x")
    try:
        return bool(sp.minimal_polynomial(number, unknown) == unknown)
    except NotAlgebraic:
        return bool(sp.simplify(number) == 0)


def consistent(values: Mapping[sp.Expr, Any]) -> None:
    """Raise if the values of symbols make two terms the same, and they have different values: f(k) and f(0) at k = 0.

    Raises
    ------
    ValueError
        Two values for one term.
    """
    symbols = {key: sp.sympify(value) for key, value in values.items() if key.is_Symbol}
    found: dict[sp.Expr, sp.Expr] = {}
    for key, value in values.items():
        if not isinstance(key, AppliedUndef):
            continue
        place, number = key.xreplace(symbols), sp.sympify(value)
        gap = sp.expand(found.setdefault(place, number) - number)
        if gap != 0 and (gap.is_Rational or not _is_zero(gap)):
            raise ValueError(f"{place} has two values: {found[place]}, and {number} as {key}")
