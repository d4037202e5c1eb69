"""Families of vectors and functions: members of a family differ in their indices alone."""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.engine.operators import Index
from cflag_theory.claims.engine.terms import Named
from cflag_theory.claims.pages.text import bare
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.ranges import INTEGER, Range
from cflag_theory.falsify.vector_terms.reading import Reading

#: The largest number that is drawn.
LARGEST = 2


def families(reading: Reading) -> dict[str, list[sp.Basic]]:
    """The vectors and functions of a claim by their names: members of a family differ in their indices alone."""
    found: dict[str, list[sp.Basic]] = {}
    for term in (*reading.atoms(Named), *reading.functions):
        for one in (s for i in term.args[1:] for s in i.free_symbols if not (isinstance(s, Index) or s.is_integer)):
            raise InvalidInput(f"{reading.name}: the index {one} of {term} is not an integer: declare it integer=True")
        members = found.setdefault(word(term), [])
        if members and members[0].args[0] != term.args[0]:
            raise InvalidInput(f"{reading.name}: two things are called {word(term)}: give one of them another name")
        members.append(term)
    return found


def places(members: list[sp.Basic]) -> list[list[sp.Expr]]:
    """For every place of an index, the indices that stand there."""
    return [list(dict.fromkeys(place)) for place in zip(*(one.args[1:] for one in members), strict=True)]


def range_of(symbol: sp.Symbol) -> Range:
    """Where a number without a range is looked for."""
    if symbol.is_integer:
        return Range(1 if symbol.is_positive else 0 if symbol.is_nonnegative else -3, 3, kind=INTEGER, shape=())
    if symbol.is_positive:
        return Range(0, LARGEST, open="low")
    return Range(0, LARGEST) if symbol.is_nonnegative else Range(-LARGEST, LARGEST)


def word(term: sp.Basic) -> str:
    """The name of a number, a vector, a function or a mean, as a variable's."""
    name = bare(term.name if term.is_Symbol else term.args[0].name)
    return "".join(c if c.isalnum() or c == "_" else "_" for c in name)
