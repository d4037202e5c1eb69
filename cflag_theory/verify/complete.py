"""What a refuting point leaves open: a point covers everything that its statement assumes, or refutes nothing.

A hypothesis for every value of an index is tested at every member of the instance's finite family. A definition may be
left out only if it introduces something that the point does not value: then it can be completed, whatever the values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Protocol

import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.engine.claim import Fact, Statement
from cflag_theory.claims.engine.definitions import Definition, assumptions, defined, quantified
from cflag_theory.claims.engine.meanings import unfold
from cflag_theory.claims.engine.operators import Index
from cflag_theory.claims.engine.points import Exact, covered_by, holds_at, put_in
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.terms import Basis


class Instance(Protocol):
    """What is read of a refuting point."""

    @property
    def values(self) -> Mapping[sp.Expr, Any]:
        """Exact values of symbols and members."""

    @property
    def members(self) -> Mapping[str, Sequence[Mapping[sp.Expr, Any]]]:
        """By hypothesis, the other members of the instance's finite family."""

    @property
    def exact(self) -> Mapping[sp.Expr, Any]:
        """The values, checked."""


def left_open(statement: Statement, point: Instance) -> Iterator[str]:
    """What a point that satisfies a statement's hypotheses leaves for a reader to see; nothing if it covers all."""
    meanings = _meanings(statement)
    heads = {_head(key) for key in point.values} | {_head(unfold(key)) for key in point.values}
    for fact, running in quantified(statement):
        what, relation = meanings.get(fact), fact.relation.unfolded
        if what is not None and what.head not in heads:
            continue
        if what is not None and isinstance(what.term, AppliedUndef):
            yield from _members(fact, what, _placed(point.values))
            continue
        if _has_an_index(relation, point):
            continue
        if not covered_by(fact.relation, point.values):
            yield f"{fact.name!r} speaks of what the point does not value"
        elif running:
            yield from _everywhere(fact, running, point)


@cache
def _meanings(statement: Statement) -> dict[Fact, Definition]:
    """The definitions that introduce something, with what it is."""
    relations, others = ([f.relation.unfolded for f in facts] for facts in (statement.definitions, statement.facts))
    found = zip(
        statement.definitions, defined(tuple(relations), tuple(others[: len(statement.hypotheses)])), strict=True
    )
    restricting = assumptions(statement)
    return {fact: what for fact, what in found if isinstance(what, Definition) and fact not in restricting}


def _everywhere(fact: Fact, running: frozenset[sp.Symbol], point: Instance) -> Iterator[str]:
    indices = ", ".join(sorted(map(str, running)))
    if any(not isinstance(index, Index) and _inside(index, fact.relation) for index in running):
        yield f"{fact.name!r} is for every {indices}, without end, and the point says nothing of the later ones"
        return
    members = point.members.get(fact.name, ())
    if not members:
        yield f"{fact.name!r} is for every {indices}, and the point has one: list its `members`"
    named = fact.relation.slack.atoms(sp.Symbol, AppliedUndef)
    for member in members:
        if not {*member} & named:
            yield f"a member of the point for {fact.name!r} values nothing in it"
        elif not holds_at(fact.relation, Exact({**point.values, **member})):
            yield f"{fact.name!r} fails at another {indices}"


def _inside(index: sp.Symbol, relation: Relation) -> bool:
    """Whether an index numbers the members of a sequence or vectors: then it has no end."""
    return any(index in term.free_symbols for term in relation.slack.atoms(AppliedUndef, Basis))


def _members(fact: Fact, what: Definition, placed: Mapping[sp.Expr, Any]) -> Iterator[str]:
    """A valued member of a defined sequence must be what the definition makes of other valued ones."""
    relation = fact.relation.unfolded
    for member in (term for term in placed if _head(term) == what.head):
        at = _place(what.term, member)
        if at is None:
            continue
        here = Relation(put_in(relation.left, at), relation.op, put_in(relation.right, at))
        if not covered_by(here, placed):
            yield f"{fact.name!r} at {member} speaks of what the point does not value"
        elif not holds_at(here, Exact(placed)):
            yield f"{fact.name!r} fails at {member}"


def _place(term: sp.Expr, member: sp.Expr) -> dict[sp.Expr, sp.Expr] | None:
    """The values of its indices at which a term is a member of its sequence; None if it never is."""
    found: dict[sp.Expr, sp.Expr] = {}
    for index, value in zip(term.args, member.args, strict=True):
        symbols, number = index.as_coeff_Add()[::-1]
        if symbols == 0 and number != value:
            return None
        if symbols != 0:
            at = value - number
            if not symbols.is_Symbol or not at.is_nonnegative or found.setdefault(symbols, at) != at:
                return None
    return found


def _placed(values: Mapping[sp.Expr, Any]) -> dict[sp.Expr, Any]:
    """The values with the point's numbers as indices: f(k) is f(2) at k = 2."""
    numbers = {key: sp.sympify(value) for key, value in values.items() if key.is_Symbol}
    return {key if key.is_Symbol else key.xreplace(numbers): value for key, value in values.items()}


def _has_an_index(relation: Relation, point: Instance) -> bool:
    """Whether a fact only says that an index of an operator lies in a range, and the first one does."""
    index = next((one for one in relation.left.free_symbols if isinstance(one, Index)), None)
    if index is None or index in point.values or relation.op != "<=" or relation.left not in (index, index + 1):
        return False
    room = put_in(relation.right, point.exact) - relation.left.xreplace({index: sp.S.Zero})
    return bool(room.is_nonnegative)


def _head(term: sp.Expr) -> Any:
    return term.func if isinstance(term, AppliedUndef) else term
