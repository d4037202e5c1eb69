"""Expressions of claims as numbers: one compiled function each, for numbers and for arrays of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from functools import cache
from typing import Any

import numpy as np
import sympy as sp
from sympy.codegen.cfunctions import log1p
from sympy.printing.numpy import NumPyPrinter

from cflag_theory.claims.c_flag.past_task.runs import T
from cflag_theory.claims.cfl.symbols import T as cfl_T
from cflag_theory.claims.engine.notation import E, L, beta
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.numbers import is_finite_real
from cflag_theory.public import quoted

Values = Mapping[sp.Symbol, Any]

# (1 + beta L)^E - 1 and exp(beta sqrt(T) L E) - 1 keep all digits for tiny steps only as one function each.
_grown = sp.Symbol("grown")
_grown_by_c = sp.Symbol("grown_by_c")
_STEADY = {(1 + beta * L) ** E: 1 + _grown, sp.exp(beta * sp.sqrt(T) * L * E): 1 + _grown_by_c}
#: Above this a float no longer tells one integer from the next.
MOST = 2**53
#: An equality in floats is met up to rounding of the few operations behind it.
ROUNDING = 1e-12
_PRINTED = {"fully_qualified_modules": False, "inline": True}


@cache
def _compiled(expression: sp.Expr) -> tuple[tuple[sp.Symbol, ...], Callable[..., Any]]:
    steady = expression.xreplace(_STEADY).replace(_shrinks, lambda power: sp.exp(power.exp * log1p(power.base - 1)))
    symbols = tuple(sorted(steady.free_symbols, key=str))
    # By the name "numpy" sympy would import all of it, down to its compiler for Fortran.
    return symbols, sp.lambdify(symbols, steady, modules=[vars(np)], printer=NumPyPrinter(_PRINTED))


def _shrinks(expression: Any) -> bool:
    """Whether this is (1 - x)^T, whose base has lost the digits of a small x before it is raised to a large T."""
    return expression.is_Pow and expression.exp in (T, cfl_T) and (expression.base - 1).could_extract_minus_sign()


def needed(expression: sp.Expr) -> frozenset[sp.Symbol]:
    """The symbols that must have a value."""
    return frozenset(expression.free_symbols)


def evaluate(expression: sp.Expr, values: Values) -> Any:
    """The expression at `values`, numbers or arrays that broadcast; what overflows is infinite, 0/0 is NaN."""
    symbols, function = _compiled(expression)

    def known(symbol: sp.Symbol) -> Any:
        return np.asarray(values[symbol], dtype=np.float64)

    with np.errstate(all="ignore"):
        made = {
            _grown: lambda: np.expm1(known(E) * np.log1p(known(beta) * known(L))),
            _grown_by_c: lambda: np.expm1(known(beta) * np.sqrt(known(T)) * known(L) * known(E)),
        }
        return function(*(made[symbol]() if symbol in made else known(symbol) for symbol in symbols))


def number(expression: sp.Expr, values: Values) -> float:
    """The expression as one float; NaN becomes infinite, because a bound without a value says nothing."""
    value = float(evaluate(expression, values))
    return math.inf if math.isnan(value) else value


def both_sides(relation: Relation, values: Values) -> tuple[Any, Any]:
    """Left and right side."""
    return evaluate(relation.left, values), evaluate(relation.right, values)


def met(relation: Relation, values: Values) -> Any:
    """Whether the relation holds, up to the rounding of floats where equality is allowed; a bool or an array."""
    left, right = both_sides(relation, values)
    with np.errstate(all="ignore"):
        if relation.op == "==":
            size = np.maximum(np.where(right == 0, 1.0, 0.0), np.maximum(np.abs(left), np.abs(right)))
            return np.abs(left - right) <= ROUNDING * size
        return left < right if relation.op == "<" else left <= right * (1 + ROUNDING)


def positive(**values: float) -> None:
    """Refuse what is not a positive finite number."""
    for name, value in values.items():
        if not (math.isfinite(value) and value > 0):
            raise InvalidInput(f"{name} = {value} is not allowed: give a positive finite number")


def not_negative(**values: float) -> None:
    """Refuse what is not a finite number of at least 0."""
    for name, value in values.items():
        if not (math.isfinite(value) and value >= 0):
            raise InvalidInput(f"{name} = {value} is not allowed: give a finite number that is at least 0")


def counts(**values: Any) -> None:
    """Refuse what is no integer from 1 to 2^53."""
    for name, value in values.items():
        if not (is_finite_real(value) and 1 <= value <= MOST and int(value) == value):
            known = f"{name} = {quoted(value)} is not allowed"
            raise InvalidInput(f"{known}: give an integer that is at least 1 and at most 2^53")


def as_json(value: Any) -> Any:
    """Plain values only: dataclasses become mappings, tuples lists, and an infinite number the string "inf"."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {key: as_json(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [as_json(one) for one in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value
