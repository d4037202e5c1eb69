"""The facts of a statement as the prover and the search take them: unfolded, with indices for what they hold for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

import sympy as sp

from cflag_theory.claims.engine.claim import SETTING, Fact, Statement
from cflag_theory.claims.engine.definitions import quantified, running
from cflag_theory.claims.engine.operators import Index, index
from cflag_theory.claims.engine.relation import Relation, sides
from cflag_theory.claims.engine.terms import Function, Named
from cflag_theory.claims.pages.text import bare
from cflag_theory.falsify.ranges import BOTH, HIGH, LOW, Range


def facts(statement: Statement) -> tuple[Fact, ...]:
    """What a statement is said under, unfolded: its facts, and the settings of what it speaks of.

    What a fact holds for every value of is an index in it; of what it speaks for one value, that is a whole number.
    """
    return tuple(_for_every(fact, every) for fact, every in _known(statement))


def _known(statement: Statement) -> list[tuple[Fact, frozenset[sp.Symbol]]]:
    """The facts, with the symbols for every value of which they hold."""
    known = [*quantified(statement), *((fact, running(fact)) for fact in _settings(statement))]
    claimed = statement.relation.free_symbols if statement.relation else set()

    def spoken(but: Fact) -> set[sp.Symbol]:
        return claimed.union(*(fact.relation.free_symbols - every for fact, every in known if fact is not but))

    return [(_some_member(fact, spoken(fact) | every), every) for fact, every in known]


def fixed(statement: Statement) -> dict[sp.Symbol, sp.Symbol]:
    """The indices of which some fact speaks for one value alone, as numbers."""
    return {k: one for fact, every in _known(statement) for k, one in _fixed(fact, every).items()}


def _fixed(fact: Fact, every: frozenset[sp.Symbol]) -> dict[sp.Symbol, sp.Symbol]:
    """The indices of which a fact speaks for one value alone, as numbers."""
    one = fact.relation.unfolded
    free = (one.left.free_symbols | one.right.free_symbols) - every
    return {k: sp.Symbol(_marked(k.name, "*"), integer=True, nonnegative=True) for k in free if isinstance(k, Index)}


def _some_member(fact: Fact, spoken: set[sp.Symbol]) -> Fact:
    """What is left of `j + 1 <= K`, the range of one j, if nothing else is about it: it has a member."""
    left, op, right = fact.relation.left, fact.relation.op, fact.relation.right
    over = next((one for one in left.free_symbols if left in (one, one + 1)), None)
    if op != "<=" or not isinstance(over, Index) or over in {*spoken, *right.free_symbols}:
        return fact
    return replace(fact, relation=Relation(left.xreplace({over: sp.S.Zero}), op, right))


def _for_every(fact: Fact, every: frozenset[sp.Symbol]) -> Fact:
    one = fact.relation.unfolded
    taken = {s.name for side in sides(one) for s in side.atoms(sp.Symbol)}
    turned = {s: s if isinstance(s, Index) else _index(s, taken) for s in sorted(every, key=str)} | _fixed(fact, every)
    relation = Relation(one.left.xreplace(turned), one.op, one.right.xreplace(turned))
    left, right = relation.left, relation.right
    if relation.op == "==" and isinstance(right, Named) and not isinstance(left, Named):
        # What it says of the named vector comes first, where both could be meant.
        relation = Relation(right, "==", left)
    free = relation.left.free_symbols | relation.right.free_symbols
    return replace(fact, relation=relation, forall=tuple(sorted((s for s in free if isinstance(s, Index)), key=str)))


def _index(number: sp.Symbol, taken: Collection[str]) -> sp.Expr:
    """An index in place of a number: it is 0, 1, 2, ..., and a positive number is one more."""
    name = _marked(number.name)
    while name in taken:
        name = _marked(name)
    return index(name) + int(bool(number.is_positive))


def _marked(name: str, by: str = "'") -> str:
    """k' for k: the index of a fact is not the number of that name in the statement."""
    return name.replace(bare(name), bare(name) + by)


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


def of_ranges(variables: Mapping[str, Range], by_name: Mapping[str, sp.Symbol], but: Collection[str]) -> list[Fact]:
    """The ranges of numbers as hypotheses; a number alone fixes it."""
    facts = []
    for name, one in variables.items():
        symbol = by_name.get(name)
        if symbol is None or name in but:
            continue
        low, high = (sp.Rational(Fraction(end)) for end in (one.low, one.high))
        if one.fixed:
            relations = [Relation(symbol, "==", low)]
        else:
            relations = [
                Relation(low, "<" if one.open in (LOW, BOTH) else "<=", symbol),
                Relation(symbol, "<" if one.open in (HIGH, BOTH) else "<=", high),
            ]
        facts += [Fact(f"range of {name}{mark}", r, str(r)) for mark, r in zip(("", ", end"), relations, strict=False)]
    return facts
