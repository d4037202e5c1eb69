"""What a sympy expression of a claim about numbers may hold, and its exact value."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.engine.sorts import Sort, sort_of
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.ranges import BOTH, INTEGER, LOW, ORDER, Range
from cflag_theory.falsify.search import exact_numbers

_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    sp.Add: lambda *parts: sum(parts[1:], parts[0]),
    sp.Mul: lambda *parts: math.prod(parts),
    sp.exp: exact_numbers.exp,
    sp.log: exact_numbers.log,
    sp.Abs: abs,
    sp.Max: max,
    sp.Min: min,
}


def expression_fault(expr: Any) -> str | None:
    """What in an expression has no meaning here, and what to write instead; None if all has one."""
    return next(filter(None, map(_part_fault, sp.preorder_traversal(expr))), None)


def _part_fault(part: Any) -> str | None:
    if isinstance(part, sp.Symbol | sp.Rational | sp.Pow) or part is sp.E or part.func in _FUNCTIONS:
        return None
    if isinstance(part, sp.Float):
        return (
            f"holds the float {part.evalf(6)}, which is a binary number near it: write a fraction, as Rational(1, 10)"
        )
    if isinstance(part, AppliedUndef):
        return f"holds {part}, which nothing defines: write its formula, or a symbol for its value"
    if part in (sp.oo, -sp.oo, sp.zoo, sp.nan):
        return f"holds {part}, which is no number: leave it out, or give a symbol a range"
    if part is sp.I:
        return "holds I, and is no real number: write its real and its imaginary part as two claims"
    return f"holds {part}, which has no exact value here: use + - * / powers, exp, log, sqrt, Abs, Max and Min"


def symbols_of(terms: Iterable[Any]) -> list[sp.Symbol]:
    """The symbols of some terms, in an order that does not change."""
    found: dict[str, sp.Symbol] = {}
    for symbol in sorted(set().union(*(term.atoms(sp.Symbol) for term in terms)), key=sp.default_sort_key):
        if found.setdefault(symbol.name, symbol) != symbol:
            raise InvalidInput(f"two different symbols are called {symbol.name}: declare it once, and use that symbol")
    return list(found.values())


def symbol_fault(symbol: sp.Symbol, one: Range | None) -> str | None:
    """What is wrong with a symbol that has this range; None if nothing is.

    sympy simplifies by the sort of a symbol: of sqrt(x**2) it makes x where x is positive. So the range lies within it.
    """
    bare = type(symbol) in (sp.Symbol, sp.Dummy) and symbol.assumptions0 == {"commutative": True}
    sort = Sort.REAL if bare else sort_of(symbol)
    if one is None:
        return None
    if one.shape:
        return f"{symbol} is an array, and an expression takes it for a number: write a Python function"
    if sort.whole and not (one.kind in (INTEGER, ORDER) or one.fixed):
        return (
            f"{symbol} is declared {sort}, and its range {one} holds other numbers: give it kind='integer', or declare "
            "it real"
        )
    if sort.holds(one.low) or (sort is Sort.POSITIVE and one.low == 0 and one.open in (LOW, BOTH)):
        return None
    start = (
        "at 1" if sort is Sort.POSITIVE_NATURAL else "above 0, as with open='low'," if sort is Sort.POSITIVE else "at 0"
    )
    return f"{symbol} is declared {sort}, and its range {one} does not lie within: start it {start} or declare it real"


def exact_value(expr: sp.Expr, values: Mapping[str, Any]) -> Any:
    """An expression without a fault at exact values: a fraction, or an enclosure where it is irrational."""
    if expr.is_Symbol:
        return values[expr.name]
    if expr.is_Rational:
        return Fraction(int(expr.p), int(expr.q))
    if expr is sp.E:
        return exact_numbers.exp(Fraction(1))
    if (fault := _part_fault(expr)) is not None:
        raise InvalidInput(f"an expression {fault}")
    parts = [exact_value(part, values) for part in expr.args]
    return _power(*parts) if isinstance(expr, sp.Pow) else _FUNCTIONS[expr.func](*parts)


def _power(base: Any, power: Any) -> Any:
    """0 to a positive power is 0; a base below 0 takes whole powers alone."""
    if isinstance(power, int | Fraction):
        if power.denominator == 1:
            return base ** int(power)
        if power.denominator == 2:
            return exact_numbers.sqrt(base) ** int(power.numerator)
    if isinstance(base, int | Fraction) and base == 0 and power > 0:
        return Fraction(0)
    return exact_numbers.exp(power * exact_numbers.log(base))
