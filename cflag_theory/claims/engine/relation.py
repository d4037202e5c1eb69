"""A Relation between two scalar expressions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from cflag_theory.claims.engine.meanings import unfold


@dataclass(frozen=True)
class Relation:
    """`left op right` between scalar sympy expressions, op one of "==", "<=", "<".

    sympy's own relations simplify themselves to True or False when they can; a statement must stay what was printed.
    """

    left: sp.Expr
    op: str
    right: sp.Expr

    @property
    def slack(self) -> sp.Expr:
        """right - left: not negative (or zero, for "==") where the relation holds."""
        return self.right - self.left

    @property
    def unfolded(self) -> Relation:
        """The relation with every named quantity replaced by what it means."""
        return Relation(unfold(self.left), self.op, unfold(self.right))

    def subs(self, values: Mapping[Any, Any]) -> Relation:
        """The relation with symbols or sequence terms replaced, all at once."""
        if all(isinstance(key, sp.Symbol) for key in values):
            # A symbol is no pattern that has to be searched for.
            return self.xreplace({key: sp.sympify(value) for key, value in values.items()})
        return Relation(self.left.subs(values, simultaneous=True), self.op, self.right.subs(values, simultaneous=True))

    def xreplace(self, values: Mapping[Any, sp.Expr]) -> Relation:
        """The relation with terms replaced, vectors too, all at once."""
        return Relation(self.left.xreplace(values), self.op, self.right.xreplace(values))

    def __str__(self) -> str:
        return f"{self.left} {self.op} {self.right}"


def equal(left: Any, right: Any) -> Relation:
    """left == right."""
    return Relation(sp.sympify(left), "==", sp.sympify(right))


def at_most(left: Any, right: Any) -> Relation:
    """left <= right."""
    return Relation(sp.sympify(left), "<=", sp.sympify(right))


def below(left: Any, right: Any) -> Relation:
    """left < right."""
    return Relation(sp.sympify(left), "<", sp.sympify(right))
