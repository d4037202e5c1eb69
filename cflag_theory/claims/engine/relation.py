"""A Relation between two scalar expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    def free_symbols(self) -> set[sp.Symbol]:
        """The symbols that are not bound in it."""
        return {*self.left.free_symbols, *self.right.free_symbols}

    @property
    def unfolded(self) -> Relation:
        """The relation with every named quantity replaced by what it means."""
        return self.map(unfold)

    def map(self, change: Callable[[sp.Expr], sp.Expr]) -> Relation:
        """The relation between what becomes of both sides."""
        return Relation(change(self.left), self.op, change(self.right))

    def subs(self, values: Mapping[Any, Any]) -> Relation:
        """The relation with symbols or sequence terms replaced, all at once."""
        if all(isinstance(key, sp.Symbol) for key in values):
            # A symbol is no pattern that has to be searched for.
            return self.xreplace({key: sp.sympify(value) for key, value in values.items()})
        return self.map(lambda side: side.subs(values, simultaneous=True))

    def xreplace(self, values: Mapping[Any, sp.Expr]) -> Relation:
        """The relation with terms replaced, vectors too, all at once."""
        return self.map(lambda side: side.xreplace(values))

    def __str__(self) -> str:
        return f"{self.left} {self.op} {self.right}"


def sides(*relations: Relation) -> list[sp.Expr]:
    """Left and right of each."""
    return [side for relation in relations for side in (relation.left, relation.right)]


def equal(left: Any, right: Any) -> Relation:
    """left == right."""
    return Relation(sp.sympify(left), "==", sp.sympify(right))


def at_most(left: Any, right: Any) -> Relation:
    """left <= right."""
    return Relation(sp.sympify(left), "<=", sp.sympify(right))


def below(left: Any, right: Any) -> Relation:
    """left < right."""
    return Relation(sp.sympify(left), "<", sp.sympify(right))
