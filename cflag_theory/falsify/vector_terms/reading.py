"""A conjecture with vectors as relations between numbers, with the functions and means that these speak of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from cflag_theory.claims.engine.claim import Fact
from cflag_theory.claims.engine.operators import Index, Operator
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.sorts import sort_of
from cflag_theory.claims.engine.terms import Basis, Function, Gradient, Norm, Value, is_vector
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.ranges import BOTH, HIGH, LOW
from cflag_theory.falsify.stated import Stated
from cflag_theory.falsify.stated import facts as facts_of


@dataclass(frozen=True)
class Reading:
    """A claim with vectors.

    Attributes
    ----------
    goal : Relation
    facts : tuple of Fact
        The hypotheses, the ranges of the numbers among them.
    """

    name: str
    goal: Relation
    facts: tuple[Fact, ...]

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The goal and the hypotheses."""
        return (self.goal, *(fact.relation for fact in self.facts))

    def atoms(self, *kinds: type) -> list[sp.Basic]:
        """All terms of these kinds, however deep, in an order that does not change."""
        found = {
            atom
            for one in self.relations
            for side in (one.left, one.right)
            for atom in _deep(side)
            if isinstance(atom, kinds)
        }
        return sorted(found, key=sp.default_sort_key)

    @property
    def symbols(self) -> list[sp.Symbol]:
        """The numbers, declared constants of functions among them, without the indices of means."""
        found = {s for s in self.atoms(sp.Symbol) if not isinstance(s, Index)}
        for f in self.functions:
            for constant in (f.properties.smooth, f.properties.mu, f.properties.lower):
                found |= constant.free_symbols if constant is not None else set()
        return sorted(found, key=str)

    @property
    def functions(self) -> dict[Function, list[sp.Expr]]:
        """Every function with the points at which its value or gradient is spoken of."""
        found: dict[Function, list[sp.Expr]] = {}
        for term in self.atoms(Value, Gradient):
            points = found.setdefault(term.args[0], [])
            if term.args[1] not in points:
                points.append(term.args[1])
        return found

    @property
    def operators(self) -> list[Operator]:
        """Means and sums."""
        return self.atoms(Operator)

    @property
    def bases(self) -> list[sp.Expr]:
        """Basis vectors."""
        return self.atoms(Basis)

    @property
    def norms(self) -> list[sp.Expr]:
        """The vectors whose norms are spoken of."""
        return [norm.args[0] for norm in self.atoms(Norm)]


def _deep(expr: sp.Expr) -> Iterable[sp.Basic]:
    yield from sp.preorder_traversal(expr)


def read_vectors(conjecture: Conjecture, free: Fraction | None = None) -> Reading:
    """A conjecture with vectors as relations; `free` is the value of its free constant."""
    name = conjecture.name
    if isinstance(conjecture, Stated):
        return Reading(
            name, Relation(conjecture.left, conjecture.relation, conjecture.right), facts_of(conjecture.statement)
        )
    if conjecture.runs:
        raise InvalidInput(f"{name} is about vectors and about runs: state it for one of the two")
    goal = Relation(_side(name, "left", conjecture.left), conjecture.relation, _side(name, "right", conjecture.right))
    if is_vector(goal.left) or is_vector(goal.right):
        raise InvalidInput(f"{name}: a side is a vector and no number: take dot, norm or norm2")
    facts = []
    for number, one in enumerate(conjecture.hypotheses, start=1):
        if one.predicate is not None:
            raise InvalidInput(
                f"{name}: hypothesis {number} is a Python function: with vectors, write a sympy relation"
            )
        left, right = (_side(name, f"hypothesis {number}", side.of) for side in one.sides)
        if (is_vector(left) or is_vector(right)) and one.op != "==":
            raise InvalidInput(f"{name}: hypothesis {number} orders vectors: take dot, norm or norm2")
        relation = Relation(left, one.op, right)
        facts.append(Fact(f"hypothesis {number}", relation, str(relation), _running(relation)))
    read = Reading(name, goal, tuple(facts))
    by_name = {symbol.name: symbol for symbol in read.symbols}
    facts += _of_ranges(conjecture, by_name)
    read = Reading(name, goal, tuple(facts))
    if conjecture.free is not None and free is not None:
        value = sp.Rational(free.numerator, free.denominator)
        fixed = {by_name[conjecture.free]: value} if conjecture.free in by_name else {}
        facts = [Fact(f.name, f.relation.xreplace(fixed), f.words, f.forall) for f in facts]
        return Reading(name, goal.xreplace(fixed), tuple(facts))
    return read


def _side(name: str, what: str, value: object) -> sp.Expr:
    if isinstance(value, int | Fraction | str) and not isinstance(value, bool):
        return sp.Rational(Fraction(value))
    if not isinstance(value, sp.Expr):
        raise InvalidInput(f"{name}: {what} is {value!r}: with vectors, write an expression of sympy")
    for symbol in value.free_symbols:
        sort_of(symbol)
    return value


def _running(relation: Relation) -> tuple[sp.Symbol, ...]:
    free = relation.left.free_symbols | relation.right.free_symbols
    return tuple(sorted((s for s in free if isinstance(s, Index)), key=str))


def _of_ranges(conjecture: Conjecture, by_name: Mapping[str, sp.Symbol]) -> list[Fact]:
    """The ranges of numbers as hypotheses; a number alone fixes it."""
    facts = []
    for name, one in conjecture.variables.items():
        symbol = by_name.get(name)
        if symbol is None or name == conjecture.free:
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
