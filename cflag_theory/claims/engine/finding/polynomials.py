"""Polynomials as coefficients by exponents, and quotients of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from operator import add, sub
from typing import Any

import sympy as sp

Powers = tuple[int, ...]
Polynomial = Mapping[Powers, Fraction]


def divisions(*terms: sp.Expr) -> set[sp.Expr]:
    """The negative powers in some expressions."""
    inside = (one for term in terms for one in sp.preorder_traversal(term))
    return {one for one in inside if isinstance(one, sp.Pow) and one.exp.is_negative}


def cofactors(rows: Iterable[Powers], polynomial: Polynomial) -> set[Powers]:
    """Exponents of the monomials that carry a monomial of the polynomial onto a row."""
    found = set()
    for row in rows:
        for powers in polynomial:
            left = tuple(map(sub, row, powers))
            if min(left, default=0) >= 0:
                found.add(left)
    return found


def coefficients(element: Any) -> dict[Powers, Fraction]:
    """A ring element by exponents."""
    return {tuple(powers): Fraction(int(c.numerator), int(c.denominator)) for powers, c in element.terms()}


def put(quotient: Any, at: int, value: Any) -> Any:
    """A quotient of polynomials with another one in place of a symbol."""
    return _put(quotient.numer, at, value) / _put(quotient.denom, at, value)


def _put(polynomial: Any, at: int, value: Any) -> Any:
    ring = polynomial.ring
    by_power: dict[int, Any] = {}
    for powers, coefficient in polynomial.terms():
        rest = ring({tuple(0 if n == at else power for n, power in enumerate(powers)): coefficient})
        by_power[powers[at]] = by_power.get(powers[at], ring.zero) + rest
    total = value.field.zero
    for power in range(max(by_power, default=0), -1, -1):
        total = total * value + value.field(by_power.get(power, ring.zero))
    return total


def times(a: Polynomial, b: Polynomial) -> Polynomial:
    """The product of two polynomials."""
    total: dict[Powers, Fraction] = {}
    for p, u in a.items():
        for q, v in b.items():
            at = product(p, q)
            total[at] = total.get(at, Fraction(0)) + u * v
    return {powers: value for powers, value in total.items() if value}


def product(a: Powers, b: Powers) -> Powers:
    """Exponents of the product of two monomials."""
    return tuple(map(add, a, b))
