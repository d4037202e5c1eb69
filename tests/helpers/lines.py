"""The lines of a proof at exact points: what a step concludes must hold wherever its terms have values.

A line speaks of vectors, a point of symbols. What a symbol means is one equation for the numbers made of vectors, so
that a point gives values to those that its equations determine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.symbol import Str

from cflag_theory.claims.engine.claim import Statement
from cflag_theory.claims.engine.meanings import unfold
from cflag_theory.claims.engine.operators import Largest, Least, Total
from cflag_theory.claims.engine.points import holds_at
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.steps import Obligation, Step, Use
from cflag_theory.claims.engine.terms import Dot, Function, Named, Norm, Term, norm2, parts
from cflag_theory.claims.engine.transcript import Line, transcript
from cflag_theory.verify.evidence import Point, applies

#: Rules that use what they are given at every value of an index, that of their first term.
RUNNING = ("mean of bounds", "maximum of bounds", "at one value", "monotone sequence")

Table = dict[sp.Expr, sp.Expr]
Indices = Mapping[sp.Symbol, sp.Expr]


@dataclass(frozen=True)
class Evaluated:
    """A line with the number of cases (points, and values of its indices) that cover it, and what contradicts it."""

    line: Line
    cases: int
    faults: tuple[str, ...]


def running_index(step: Step) -> sp.Symbol | None:
    """The index for every value of which a rule needs what it is given; None for steps that need it at one."""
    if not (isinstance(step, Use) and step.rule in RUNNING):
        return None
    first = step.terms[0]
    return getattr(first, "index", getattr(first, "bound", first))


def evaluate_lines(statement: Statement, points: Iterable[Point]) -> list[Evaluated]:
    """Every use of a rule and every obligation of a proof, at the points that satisfy the statement's hypotheses.

    A line outside of inductions must hold at every such point; with other values of its indices, and within inductions,
    it must hold where what it is given does.

    Raises
    ------
    ValueError
        If a point contradicts a definition, or the vectors that its values are made of.
    """
    places = [(point, _Place(values_at(point))) for point in points if applies(statement, point)]
    found = []
    for line in transcript(statement):
        if isinstance(line.step, Use | Obligation):
            cases = [(point, where, holds) for point, place in places for where, holds in place.cases(line)]
            faults = (
                f"{line.step.name!r} fails at {point.lines[0]!r} with {where}: {line.conclusion}"
                for point, where, holds in cases
                if not holds
            )
            found.append(Evaluated(line, len(cases), tuple(faults)))
    return found


def values_at(point: Point) -> Table:
    """A value for every symbol and term of a sequence, and for the numbers made of vectors that they determine.

    Raises
    ------
    ValueError
        If no vectors have these values.
    """
    given = {key: sp.sympify(value) for key, value in point.values.items()}
    symbols = {key: value for key, value in given.items() if key.is_Symbol and key.is_integer}
    table: Table = dict(given)
    waiting: list[tuple[sp.Expr, sp.Expr]] = []
    for key, value in given.items():
        place, meaning = key if key.is_Symbol else _at(key, symbols), _at(unfold(key), symbols)
        table[place] = value
        if meaning not in (key, value, place):
            waiting.append((meaning, value))
    learned = True
    while learned:
        learned = False
        for equation in tuple(waiting):
            for term, number in _determined(*equation, table, point):
                learned = True
                table[term] = number
                if isinstance(term, Norm):
                    waiting.append((norm2(term.args[0]), number**2))
                if equation in waiting:
                    waiting.remove(equation)
    for meaning, value in waiting:
        list(_determined(meaning, value, table, point))
    return table


def _determined(meaning: sp.Expr, value: sp.Expr, table: Table, point: Point) -> Iterator[tuple[sp.Expr, sp.Expr]]:
    """The one number without a value in an equation, with what the equation makes of it."""
    left, unknown = _with_values(meaning, table)
    if not unknown:
        if not holds_at(Relation(left, "==", value), {}):
            raise ValueError(
                f"the instance {point.lines[0]!r} contradicts its vectors: {meaning} is {left}, not {value}"
            )
    elif len(unknown) == 1 and (poly := _linear(left - value, unknown[0])) is not None:
        yield unknown[0], -poly[0] / poly[1]


def _linear(expr: sp.Expr, term: sp.Expr) -> tuple[sp.Expr, sp.Expr] | None:
    rest, slope = expr.subs(term, 0), sp.expand(expr).coeff(term)
    return (rest, slope) if slope.is_number and slope != 0 and sp.expand(expr - rest - slope * term) == 0 else None


def _with_values(expr: sp.Expr, table: Table) -> tuple[sp.Expr, list[sp.Expr]]:
    """The expression with the values that are known, and the terms that have none."""
    unknown: dict[sp.Expr, None] = {}

    def inside(part: sp.Expr) -> sp.Expr:
        if (value := table.get(part)) is not None or part.is_Number:
            return part if value is None else value
        if isinstance(part, Norm) and all(Dot(basis, basis) in table for basis in _bases(part)):
            square, absent = _with_values(norm2(part.args[0]), table)
            if not absent:
                return sp.sqrt(square)
        if (members := _members(part)) is not None:
            inner, without = zip(*(_with_values(member, table) for member in members), strict=True)
            # A sum determines one member that has no value; else the whole is the number.
            absent = [term for terms in without for term in terms]
            if not absent or (isinstance(part, Total) and len(absent) == 1):
                unknown.update(dict.fromkeys(absent))
                return {Total: sp.Add, Largest: sp.Max, Least: sp.Min}[type(part)](*inner)
        if part.is_Symbol or isinstance(part, Term | AppliedUndef):
            unknown[part] = None
            return part
        return part.func(*map(inside, part.args)) if part.args else part

    return inside(expr), list(unknown)


@cache
def _indices(expr: sp.Expr) -> tuple[sp.Symbol, ...]:
    return tuple(s for s in expr.free_symbols if s.is_integer)


def _at(expr: sp.Expr, values: Indices) -> sp.Expr:
    """The expression with numbers in place of its indices."""
    return _replaced(expr, frozenset((s, values[s]) for s in _indices(expr) if s in values))


@cache
def _replaced(expr: sp.Expr, values: frozenset[tuple[sp.Symbol, sp.Expr]]) -> sp.Expr:
    return expr.xreplace(dict(values))


@cache
def _bases(length: Norm) -> tuple[sp.Expr, ...]:
    return tuple(parts(length.args[0]))


def _members(term: sp.Expr) -> list[sp.Expr] | None:
    """The members of a sum, maximum or minimum over a range that ends at a number; None for anything else."""
    if not isinstance(term, Largest | Least) and not (isinstance(term, Total) and term.operator.is_sum):
        return None
    if not term.outside.is_Integer:
        return None
    count = int(term.outside) + isinstance(term, Largest)
    return [term.body.xreplace({term.bound: sp.Integer(n)}) for n in range(count)] or None


@cache
def _names(term: sp.Expr) -> frozenset[Any]:
    """The names of the sequences, vectors, functions and means in a term."""
    return frozenset((term.atoms(Str) - {Str("sum")}) | {one.func for one in term.atoms(AppliedUndef)})


@cache
def _leaves(relation: Relation) -> tuple[sp.Expr, ...]:
    """The symbols and terms that need a value, those inside of others left out."""
    found: dict[sp.Expr, None] = {}
    for side in (relation.left, relation.right):
        terms = sp.preorder_traversal(side)
        for term in terms:
            if term.is_Symbol or isinstance(term, Term | AppliedUndef):
                found[term] = None
                terms.skip()
    return tuple(found)


@cache
def _running(relation: Relation) -> tuple[sp.Symbol, ...]:
    """The symbols in a relation that are indices of sequences and vectors."""
    terms = set().union(*(leaf.atoms(AppliedUndef, Named, Function) for leaf in _leaves(relation)))
    free = set().union(*(leaf.free_symbols for leaf in _leaves(relation)))
    return tuple(sorted((s for s in free if s.is_integer and any(s in t.free_symbols for t in terms)), key=str))


class _Place:
    """An exact point at which relations are evaluated, also at other values of their indices."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.symbols = {key: value for key, value in table.items() if key.is_Symbol and key.is_integer}
        terms = (term for key in table for term in key.atoms(AppliedUndef, Named))
        ends = {n for term in terms for n in term.args if n.is_Integer and n >= 0}
        #: The indices at which sequences and vectors have members, and those before them.
        self.members = sorted(ends | {n - 1 for n in ends if n > 0})
        #: The indices that stand for any member in the vectors of the point.
        self.free = frozenset().union(*(key.free_symbols for key in table)) - {*self.symbols}
        self.names = frozenset().union(*map(_names, table))
        self.kept: dict[Any, sp.Expr | None] = {}

    def cases(self, line: Line) -> Iterator[tuple[Indices, bool]]:
        """The values of the indices at which a line can be evaluated, and whether it holds there."""
        said: dict[tuple[tuple[sp.Symbol, sp.Expr], ...], bool] = {}
        for relation in (line.conclusion, *([line.step.goal] if isinstance(line.step, Obligation) else [])):
            for where in self.covering(relation):
                own = all(value == self.symbols.get(index, index) for index, value in where.items())
                if (own and not line.depth) or all(self.given(line, known.relation, where) for known in line.given):
                    key = tuple(where.items())
                    said[key] = said.get(key, True) and self.truth(relation, where) is not False
        for key, holds in said.items():
            yield dict(key), holds

    def covering(self, relation: Relation) -> Iterator[Indices]:
        """The values of the indices at which every term of a relation has a value."""
        if not all(_names(leaf) <= self.names for leaf in _leaves(relation)):
            return
        choices = []
        running = _running(relation)
        for index in running:
            own = [leaf for leaf in _leaves(relation) if leaf.free_symbols & {*running} == {index}]
            values = [index] if index in self.free else [self.symbols.get(index, index), *self.members]
            choices.append(
                [n for n in dict.fromkeys(values) if all(self.value(leaf, {index: n}) is not None for leaf in own)]
            )
        for chosen in product(*choices):
            where = dict(zip(running, chosen, strict=True))
            if all(self.value(leaf, where) is not None for leaf in _leaves(relation)):
                yield where

    def given(self, line: Line, relation: Relation, where: Indices) -> bool:
        """Whether what a line is given holds; for a rule that uses it at every value of an index, at all known ones."""
        running = running_index(line.step)
        if running is None:
            return self.truth(relation, where) is True
        said = [self.truth(relation, {**where, running: value}) for value in self.members]
        return True in said and False not in said

    def truth(self, relation: Relation, where: Indices) -> bool | None:
        """Whether a relation holds at these values of its indices; None where a term has no value."""
        values = {leaf: self.value(leaf, where) for leaf in _leaves(relation)}
        if None in values.values():
            return None
        left, right = relation.left.xreplace(values), relation.right.xreplace(values)
        return holds_at(Relation(left, relation.op, right), {}) if left.is_finite and right.is_finite else None

    def value(self, leaf: sp.Expr, where: Indices) -> sp.Expr | None:
        if not _names(leaf) <= self.names:
            return None
        here = frozenset((s, n) for s in _indices(leaf) if (n := where.get(s, self.symbols.get(s))) is not None)
        if (leaf, here) not in self.kept:
            number, unknown = _with_values(_replaced(leaf, here), self.table)
            self.kept[leaf, here] = None if unknown else number
        return self.kept[leaf, here]
