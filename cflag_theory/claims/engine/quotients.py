"""Expressions as quotients of polynomials over the rationals: identities and signs, without sympy's tree of terms.

What is neither a number, a sum, a product nor a whole power is one more variable. So an identity that is found holds
for whatever such a part stands for; that none is found says nothing. Denominators stay products of factors: no common
divisor is computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import reduce
from operator import add, mul, or_
from typing import Any, NamedTuple

import sympy as sp
from sympy.polys.rings import PolyElement, PolyRing

#: Terms of a polynomial beyond which this is given up.
MOST_TERMS = 20_000


class NoQuotient(ArithmeticError):
    """A polynomial has more than `MOST_TERMS` terms, or a denominator is zero."""


class Quotient(NamedTuple):
    """A polynomial over a product of powers of others."""

    above: PolyElement
    under: Counter[PolyElement]


class Quotients:
    """The quotients of some expressions in one ring, where some parts of them have a meaning."""

    def __init__(self, *expressions: sp.Expr, meanings: Mapping[sp.Expr, sp.Expr] | None = None) -> None:
        found: dict[sp.Expr, None] = {}
        for expr in (*expressions, *(meanings or {}).values()):
            _collect(expr, found)
        self.symbols = sorted(found, key=str)
        self.ring = PolyRing([f"x{i}" for i in range(len(found))] or ["x"], sp.QQ)
        self._known = {
            symbol: Quotient(variable, Counter())
            for symbol, variable in zip(self.symbols, self.ring.gens, strict=False)
        }
        self._known |= {part: self.of(meaning) for part, meaning in (meanings or {}).items()}

    def of(self, expr: sp.Expr) -> Quotient:
        """The quotient, not in lowest terms.

        Raises
        ------
        NoQuotient
            It is too large, or not defined.
        """
        if expr not in self._known:
            found = self._made(expr)
            if any(len(one) > MOST_TERMS for one in (found.above, *found.under)):
                raise NoQuotient
            self._known[expr] = found
        return self._known[expr]

    def _made(self, expr: sp.Expr) -> Quotient:
        if expr.is_Rational:
            return Quotient(self.ring.ground_new(sp.QQ(int(expr.p), int(expr.q))), Counter())
        if isinstance(expr, sp.Add):
            return self.total(map(self.of, expr.args))
        if isinstance(expr, sp.Mul):
            factors = [self.of(part) for part in expr.args]
            return Quotient(reduce(mul, (one.above for one in factors)), reduce(add, (one.under for one in factors)))
        above, under = self.of(expr.base)
        power = int(expr.exp)
        if power < 0:
            if not above:
                raise NoQuotient
            above, under = self._product(under) / above.LC, Counter({above.monic(): 1})
        return Quotient(above ** abs(power), Counter({one: abs(power) * count for one, count in under.items()}))

    def total(self, parts: Iterable[Quotient]) -> Quotient:
        """The sum."""
        found = [*parts]
        under: Counter[PolyElement] = reduce(or_, (one.under for one in found))
        return Quotient(self.ring.add(*(one.above * self._product(under - one.under) for one in found)), under)

    def _product(self, factors: Counter[PolyElement]) -> Any:
        return self.ring.mul(*(one**count for one, count in factors.items()))

    def nonnegative(self, expr: sp.Expr, *, strictly: bool) -> bool:
        """Whether an expression is not negative, by the signs of all coefficients and variables; `strictly`: nor 0."""
        above, under = self.of(expr)
        return self._signed(above, strictly=strictly) and all(self._signed(one, strictly=True) for one in under)

    def _signed(self, polynomial: PolyElement, *, strictly: bool) -> bool:
        """If `strictly`, a term made of positive variables alone must be among its terms."""
        monomials = [{place for place, power in enumerate(powers) if power} for powers in polynomial.itermonoms()]
        used: set[int] = set().union(*monomials)
        if any(coefficient < 0 for coefficient in polynomial.itercoeffs()):
            return False
        known = {place for place in used if self.symbols[place].is_Symbol or self.symbols[place].is_number}
        if not all(place in known and self.symbols[place].is_nonnegative for place in used):
            return False
        positive = {place for place in used if self.symbols[place].is_positive}
        return not strictly or any(places <= positive for places in monomials)


def _collect(expr: sp.Expr, found: dict[sp.Expr, None]) -> None:
    if expr.is_Rational or expr in found:
        return
    if isinstance(expr, sp.Add | sp.Mul):
        for part in expr.args:
            _collect(part, found)
    elif isinstance(expr, sp.Pow) and expr.exp.is_Integer:
        _collect(expr.base, found)
    else:
        found[expr] = None
