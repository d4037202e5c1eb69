"""Sequences of numbers in small instances: each is the first entry of a family of vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.symbol import Str

from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.sorts import Sort, sort_of
from cflag_theory.claims.engine.terms import Named, Term
from cflag_theory.falsify.vector_terms.reading import Reading


class Entry(Term):
    """A member of a sequence, which stands at the same place of a family of vectors."""

    def __new__(cls, member: sp.Expr, sort: Str) -> Any:
        return sp.Expr.__new__(cls, member, sort)

    def _eval_is_nonnegative(self) -> bool | None:
        return self.sort is not Sort.REAL or None

    @property
    def sort(self) -> Sort:
        """That of the sequence."""
        return Sort(self.args[1].name)

    def words(self, shown: Callable[[Any], str]) -> str:
        return shown(self.args[0])


def with_entries(reading: Reading) -> Reading:
    """A reading in which entries stand for the members of sequences."""

    def of(side: sp.Expr) -> sp.Expr:
        found = side.atoms(AppliedUndef)
        return side.xreplace(
            {one: Entry(Named(Str(str(one.func)), *one.args), Str(str(sort_of(one)))) for one in found}
        )

    def both(one: Relation) -> Relation:
        return Relation(of(one.left), one.op, of(one.right))

    facts = tuple(replace(fact, relation=both(fact.relation)) for fact in reading.facts)
    return replace(reading, goal=both(reading.goal), facts=facts)


def head(term: sp.Expr) -> sp.Expr:
    """The vector of which a sequence's member is an entry; anything else as it is."""
    return term.args[0] if isinstance(term, Entry) else term
