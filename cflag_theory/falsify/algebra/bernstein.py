"""The sign of a polynomial on a box, by the signs of its Bernstein coefficients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import sympy as sp

from cflag_theory.claims.engine.relation import Relation

#: The most coefficients and the largest degree that are computed, and the degrees by which a polynomial is raised.
_COEFFICIENTS, _DEGREE, _ELEVATIONS = 4000, 40, (0, 1, 2, 4)


def holds_on_box(goal: Relation, box: Mapping[sp.Symbol, tuple[Any, Any]]) -> bool:
    """Whether a relation was seen to hold on the closed box, numerator and denominator having one sign each."""
    try:
        above, under = sp.fraction(sp.cancel(sp.together(goal.slack)))
    except (sp.PolynomialError, RuntimeError):
        return False
    if goal.op == "==":
        return bool(above == 0)
    signs = [_sign_on_box(part, box) for part in (above, under)]
    if 0 in signs or abs(signs[1]) != 2:
        return False
    sign = signs[0] * signs[1]
    return sign == 4 if goal.op == "<" else sign > 0


def _sign_on_box(expr: sp.Expr, box: Mapping[sp.Symbol, tuple[Any, Any]]) -> int:
    """The sign of a polynomial with rational coefficients on a closed box, by those of its Bernstein coefficients.

    2 if it is positive, 1 if it is not negative, -1 and -2 likewise, 0 if the coefficients do not say. `box` holds the
    exact ends for every symbol.
    """
    if expr == 0:
        return 1
    used = [symbol for symbol in box if expr.has(symbol)]
    if not used:
        return (2 if expr > 0 else -2) if expr.is_Rational else 0
    if expr.free_symbols != set(used):
        return 0
    try:
        poly = sp.Poly(expr, *used)
    except sp.PolynomialError:
        return 0
    if not all(coefficient.is_Rational for coefficient in poly.coeffs()):
        return 0
    ends = [box[symbol] for symbol in used]
    degrees = poly.degree_list()
    if max(degrees) > _DEGREE:
        return 0
    for more in _ELEVATIONS:
        if prod(degree + more + 1 for degree in degrees) > _COEFFICIENTS:
            return 0
        found = _coefficients(poly, ends, [degree + more for degree in degrees])
        if all(one > 0 for one in found):
            return 2
        if all(one >= 0 for one in found):
            return 1
        if all(one < 0 for one in found):
            return -2
        if all(one <= 0 for one in found):
            return -1
    return 0


def _coefficients(poly: sp.Poly, ends: Sequence[tuple[Any, Any]], degrees: Sequence[int]) -> list[Fraction]:
    """Coefficients in s of prod (1 + s_i)^degree_i p((low + high s) / (1 + s)), positive multiples of Bernstein's."""
    total: dict[tuple[int, ...], Fraction] = {}
    tables = [
        [_expanded(Fraction(low), Fraction(high), power, degree) for power in range(degree + 1)]
        for (low, high), degree in zip(ends, degrees, strict=True)
    ]
    for powers, coefficient in poly.terms():
        value = Fraction(int(coefficient.p), int(coefficient.q))
        rows = [table[power] for table, power in zip(tables, powers, strict=True)]
        for at in product(*(range(degree + 1) for degree in degrees)):
            total[at] = total.get(at, Fraction(0)) + value * prod(row[k] for row, k in zip(rows, at, strict=True))
    return list(total.values())


def _expanded(low: Fraction, high: Fraction, power: int, degree: int) -> list[Fraction]:
    """The coefficients of (low + high s)^power (1 + s)^(degree - power)."""
    found = [Fraction(1)]
    for factor in [(low, high)] * power + [(Fraction(1), Fraction(1))] * (degree - power):
        found = [
            (found[k] if k < len(found) else 0) * factor[0] + (found[k - 1] if k else 0) * factor[1]
            for k in range(len(found) + 1)
        ]
    return found
