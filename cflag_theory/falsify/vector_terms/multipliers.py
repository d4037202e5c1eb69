"""Simple expressions between the bounds of a multiplier."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import sympy as sp

from cflag_theory.falsify.decisions.decision import simplest
from cflag_theory.falsify.vector_terms.gram import Array

#: Candidates for one multiplier, and products that are tried two at a time.
_CANDIDATES, _TERMS = 10, 120
#: What a program's bound is off by, and the largest numbers of a candidate.
NEAR, _LARGEST = 2e-5, 64


def between(letters: Sequence[sp.Expr], values: Array, least: Sequence[float], most: Sequence[float]) -> list[sp.Expr]:
    """Multiples of products of letters, with values (a row for each draw) between the bounds, the simplest first."""
    low, high = np.array(least), np.array(most)
    if not low.size:
        return []
    room = 1e-7 + NEAR * np.minimum(np.maximum(np.abs(low), np.abs(high)), 1 + np.abs(low))
    low, high = low - room, high + room
    found: list[tuple[float, str, sp.Expr]] = []
    if (low <= 0).all() and (high >= 0).all():
        found.append((0.0, "", sp.S.Zero))
    powers = _powers(len(letters))
    with np.errstate(all="ignore"):
        monomials = np.exp(powers @ np.log(np.abs(values)).T)
    for sign in (1, -1):
        bottom = ((low if sign > 0 else -high) / monomials).max(axis=1)
        top = ((high if sign > 0 else -low) / monomials).min(axis=1)
        for n in np.flatnonzero((bottom <= top) & (top > 1e-9)):
            c = simplest(Fraction(max(float(bottom[n]), 1e-9)), Fraction(float(top[n])))
            if max(c.numerator, c.denominator) <= _LARGEST:
                cost = float(np.abs(powers[n]).sum()) + (c.numerator + c.denominator - 2) / 2
                monomial = sp.Mul(*(letter ** int(p) for letter, p in zip(letters, powers[n], strict=True)))
                found.append((cost, str(monomial), sign * sp.Rational(c.numerator, c.denominator) * monomial))
    if not found:
        found = list(_of_two(letters, powers, monomials, low, high))
    return [expr for *_, expr in sorted(found, key=lambda one: one[:2])][:_CANDIDATES]


def _of_two(
    letters: Sequence[sp.Expr], powers: Array, monomials: Array, low: Array, high: Array
) -> Iterator[tuple[float, str, sp.Expr]]:
    """Sums of two such products between bounds that leave hardly any room."""
    middle = (low + high) / 2
    if not (high - low <= 1e-3 * (1e-3 + np.abs(middle))).all():
        return
    cost = np.abs(powers).sum(axis=1)
    chosen = [n for n in np.argsort(cost, kind="stable")[:_TERMS] if np.isfinite(monomials[n]).all()]
    scaled = monomials[chosen] / np.abs(middle)
    first, second = np.triu_indices(len(chosen), 1)
    inner, right = scaled @ scaled.T, scaled @ np.sign(middle)
    one, two, both = inner[first, first], inner[second, second], inner[first, second]
    with np.errstate(all="ignore"):
        wanted = np.stack((two * right[first] - both * right[second], one * right[second] - both * right[first]))
        wanted /= one * two - both**2
    for place in np.flatnonzero(np.isfinite(wanted).all(axis=0) & (np.abs(wanted).max(axis=0) <= _LARGEST)):
        c = [Fraction(float(value)).limit_denominator(16) for value in wanted[:, place]]
        terms = [chosen[first[place]], chosen[second[place]]]
        value = sum(float(a) * monomials[n] for a, n in zip(c, terms, strict=True))
        if all(c) and (low <= value).all() and (value <= high).all():
            made = (sp.Mul(*(x ** int(p) for x, p in zip(letters, powers[n], strict=True))) for n in terms)
            expr = sp.Add(*(sp.Rational(a) * m for a, m in zip(c, made, strict=True)))
            yield float(cost[terms].sum()), str(expr), expr


@cache
def _powers(letters: int) -> Array:
    """Exponents of up to four letters, a row for each product."""
    rows = [
        [dict(zip(chosen, powers, strict=True)).get(at, 0) for at in range(letters)]
        for count in range(5)
        for chosen in combinations(range(letters), count)
        for powers in product((1, -1, 2, -2) if count < 4 else (1, -1), repeat=count)
        if sum(map(abs, powers)) <= 5
    ]
    return np.array(rows)
