"""A statement of a claim as a conjecture: what a page says is decided as what a Python file says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import sympy as sp

from cflag_theory.claims.engine.claim import SETTING, Fact, Statement
from cflag_theory.claims.engine.definitions import quantified, running
from cflag_theory.claims.engine.operators import Index, index
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.terms import Function, Named, is_vector
from cflag_theory.claims.pages.text import bare
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import Conjecture


@dataclass(frozen=True, kw_only=True, eq=False)
class Stated(Conjecture):
    """A statement whose symbols are declared by their sorts, and need no range."""

    statement: Statement

    @property
    def about_vectors(self) -> bool:
        """Numbers alone are decided in the same way."""
        return True


def stated(name: str, statement: Statement) -> Stated:
    """The conjecture that a statement holds."""
    if statement.relation is None:
        raise InvalidInput(f"{name} says no relation: nothing can be decided")
    goal = statement.relation.unfolded
    if is_vector(goal.left) or is_vector(goal.right):
        raise InvalidInput(f"{name} says what a vector is: take norms, |v|^2, or products, <u, v>")
    given = tuple(fact.relation for fact in facts(statement))
    return Stated(name=name, left=goal.left, relation=goal.op, right=goal.right, given=given, statement=statement)


def facts(statement: Statement) -> tuple[Fact, ...]:
    """What a statement is said under, unfolded: its facts, and the settings of what it speaks of.

    What a fact holds for every value of is an index in it.
    """
    known = [*quantified(statement), *((fact, running(fact)) for fact in _settings(statement))]
    return tuple(_for_every(fact, every) for fact, every in known)


def _for_every(fact: Fact, every: frozenset[sp.Symbol]) -> Fact:
    turned = {one: one if isinstance(one, Index) else index(_marked(one.name)) for one in sorted(every, key=str)}
    one = fact.relation.unfolded
    relation = Relation(one.left.xreplace(turned), one.op, one.right.xreplace(turned))
    left, right = relation.left, relation.right
    if relation.op == "==" and isinstance(right, Named) and not isinstance(left, Named):
        # What it says of the named vector comes first, where both could be meant.
        relation = Relation(right, "==", left)
    free = relation.left.free_symbols | relation.right.free_symbols
    return replace(fact, relation=relation, forall=tuple(sorted((s for s in free if isinstance(s, Index)), key=str)))


def _marked(name: str) -> str:
    """k' for k: the index of a fact is not the number of that name in the statement."""
    return name.replace(bare(name), f"{bare(name)}'")


def _settings(statement: Statement) -> list[Fact]:
    """The settings that say something of what a statement speaks of, and of what these speak of."""
    spoken = {head for one in statement.relations for head in _heads(one.unfolded)}
    found: list[Fact] = []
    while True:
        new = [
            fact for fact in SETTING.values() if fact not in found and spoken & {*_spoken(fact.relation.unfolded.left)}
        ]
        if not new:
            return found
        found += new
        spoken |= {head for fact in new for head in _heads(fact.relation.unfolded)}


def _heads(relation: Relation) -> Iterator[sp.Basic]:
    yield from _spoken(relation.left)
    yield from _spoken(relation.right)


def _spoken(side: sp.Expr) -> Iterator[sp.Basic]:
    for term in sp.preorder_traversal(side):
        if isinstance(term, Named | Function):
            yield term.args[0]
