"""Expressions as quotients of polynomials over the rationals: identities without sympy's tree of terms.

What is neither a number, a sum, a product nor a whole power is one more variable. So an identity that is found holds
for whatever such a part stands for; that none is found says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp
from sympy.polys.rings import PolyElement, PolyRing

#: Terms of a polynomial beyond which this is given up: sympy's other ways may cancel first.
MOST_TERMS = 20_000


class TooLarge(Exception):
    """A polynomial has more than `MOST_TERMS` terms."""


class Quotients:
    """Numerators and denominators in one ring, whose variables are the parts of these expressions."""

    def __init__(self, *expressions: sp.Expr) -> None:
        found: dict[sp.Expr, None] = {}
        for expr in expressions:
            _collect(expr, found)
        self.symbols = sorted(found, key=str)
        self.ring = PolyRing([f"x{i}" for i in range(len(found))] or ["x"], sp.QQ)
        self._known: dict[sp.Expr, tuple[PolyElement, PolyElement]] = {
            symbol: (variable, self.ring.one) for symbol, variable in zip(self.symbols, self.ring.gens, strict=False)
        }

    def let(self, meanings: Mapping[sp.Expr, sp.Expr]) -> None:
        """From now on these parts stand for these expressions."""
        self._known |= {part: self.of(meaning) for part, meaning in meanings.items()}

    def of(self, expr: sp.Expr) -> tuple[PolyElement, PolyElement]:
        """(numerator, denominator), not in lowest terms.

        Raises
        ------
        TooLarge
            One of them has too many terms.
        ZeroDivisionError
            A denominator is zero.
        """
        if expr in self._known:
            return self._known[expr]
        if expr.is_Rational:
            return self.ring.ground_new(sp.QQ(int(expr.p), int(expr.q))), self.ring.one
        if isinstance(expr, sp.Add):
            above, under = self.of(expr.args[0])
            for part in expr.args[1:]:
                over, below = self.of(part)
                above, under = _sum(above, under, over, below)
        elif isinstance(expr, sp.Mul):
            above, under = self.ring.one, self.ring.one
            for part in expr.args:
                over, below = self.of(part)
                above, under = above * over, under * below
        else:
            above, under = self.of(expr.base)
            power = int(expr.exp)
            if power < 0:
                above, under, power = under, above, -power
            above, under = above**power, under**power
        if len(above) > MOST_TERMS or len(under) > MOST_TERMS:
            raise TooLarge
        if not under:
            raise ZeroDivisionError
        self._known[expr] = above, under
        return above, under

    def one_sign(self, polynomial: PolyElement, *, strictly: bool) -> bool:
        """Whether its coefficients are not negative and its variables are not; see `algebra.one_sign`."""
        terms = polynomial.terms()
        used = {place for powers, _ in terms for place, power in enumerate(powers) if power}
        if not all(isinstance(self.symbols[place], sp.Symbol) and self.symbols[place].is_nonnegative for place in used):
            return False
        if any(coefficient < 0 for _, coefficient in terms):
            return False
        positive = {place for place in used if self.symbols[place].is_positive}
        return not strictly or any(
            all(place in positive for place, power in enumerate(powers) if power) for powers, _ in terms
        )


def _sum(above: Any, under: Any, over: Any, below: Any) -> tuple[PolyElement, PolyElement]:
    if under == below:
        return above + over, under
    shared, rest, other = under.cofactors(below)
    return above * other + over * rest, shared * rest * other


def _is_whole_power(expr: sp.Expr) -> bool:
    return isinstance(expr, sp.Pow) and bool(expr.exp.is_Integer)


def _collect(expr: sp.Expr, found: dict[sp.Expr, None]) -> None:
    if expr.is_Rational or expr in found:
        return
    if isinstance(expr, sp.Add | sp.Mul):
        for part in expr.args:
            _collect(part, found)
    elif _is_whole_power(expr):
        _collect(expr.base, found)
    else:
        found[expr] = None
