"""A conjecture with vectors as relations between numbers, with the functions and means that these speak of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, combinations_with_replacement
from keyword import iskeyword
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.symbol import Str

from cflag_theory.claims.engine.algebra import manifestly_nonnegative
from cflag_theory.claims.engine.claim import Fact, Statement
from cflag_theory.claims.engine.operators import Atom, Index, Largest, Operator, Total, TotalVector
from cflag_theory.claims.engine.relation import Relation, sides
from cflag_theory.claims.engine.sorts import Sort, sort_of
from cflag_theory.claims.engine.terms import Basis, Dot, Function, Gradient, Named, Norm, Term, Value, dot, is_vector
from cflag_theory.claims.pages.text import bare
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import Conjecture, Stated, stated
from cflag_theory.falsify.facts import facts as facts_of
from cflag_theory.falsify.facts import of_ranges
from cflag_theory.falsify.quantity import Hypothesis
from cflag_theory.falsify.ranges import Range
from cflag_theory.falsify.vector_terms.draws import Drawn, equal_numbers, maxima, named, one_each
from cflag_theory.falsify.vector_terms.words import own_names, renewed, with_ln


@dataclass(frozen=True)
class Reading:
    """A claim with vectors."""

    name: str
    goal: Relation
    #: The hypotheses, the ranges of the numbers among them.
    facts: tuple[Fact, ...]
    #: Further terms of which a proof speaks.
    spoken: tuple[sp.Expr, ...] = ()
    #: What is to be proved first.
    hints: tuple[Fact, ...] = ()

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The goal, the hypotheses and the hints."""
        return (self.goal, *(fact.relation for fact in (*self.facts, *self.hints)))

    def atoms(self, *kinds: type) -> list[sp.Basic]:
        """All terms of these kinds, however deep, in an order that does not change."""
        return [one for one in self._terms if isinstance(one, kinds)]

    @cached_property
    def _terms(self) -> list[sp.Basic]:
        spoken = (*sides(*self.relations), *self.spoken)
        return sorted({term for side in spoken for term in sp.preorder_traversal(side)}, key=sp.default_sort_key)

    @cached_property
    def symbols(self) -> list[sp.Symbol]:
        """The numbers, declared constants of functions among them, without the indices of means."""
        constants = (constant for f in self.functions for constant in f.properties.constants)
        found = {s for s in self.atoms(sp.Symbol) if not isinstance(s, Index)}
        return sorted(found.union(*(constant.free_symbols for constant in constants)), key=str)

    @cached_property
    def functions(self) -> dict[Function, list[sp.Expr]]:
        """Every function with the points at which its value or gradient is spoken of."""
        found: dict[Function, list[sp.Expr]] = {}
        for term in self.atoms(Value, Gradient):
            points = found.setdefault(term.args[0], [])
            if term.args[1] not in points:
                points.append(term.args[1])
        return found

    @cached_property
    def operators(self) -> list[Operator]:
        """Means and sums."""
        return self.atoms(Operator)

    @cached_property
    def bases(self) -> list[sp.Expr]:
        """Basis vectors."""
        return self.atoms(Basis)

    @cached_property
    def norms(self) -> list[sp.Expr]:
        """The vectors whose norms are spoken of."""
        return [norm.args[0] for norm in self.atoms(Norm)]

    @property
    def sums_outside(self) -> bool:
        """Whether no sum stands under a mean."""
        means = [one for one in self.atoms(Total, TotalVector) if not one.operator.is_sum]
        return not any(inside.is_sum for one in means for inside in one.body.atoms(Operator))

    def as_proved(self) -> Reading:
        """The same as the proving side takes it."""
        return self.with_draws().with_maxima().in_polynomials().with_order().with_exchanges()

    def with_draws(self) -> Reading:
        """The same with a named vector for every mean over a draw, and what is known of it."""
        if not (drawn := self.atoms(Drawn)):
            return self
        names, facts, sizes = named(drawn, self.fresh)
        return replace(self, facts=(*self.facts, *facts)).put(names).put(sizes)

    def with_maxima(self) -> Reading:
        """The same with a number for every maximum, and what is known of it."""
        names, facts = maxima(self.atoms(Largest), self.goal, (*self.facts, *self.hints), self.fresh)
        return replace(read := self.put(names), facts=(*read.facts, *facts))

    def with_exchanges(self) -> Reading:
        """The same with what exchanging two means says: their weights depend on no other index."""
        facts = []
        for a, b in combinations(self.operators, 2):
            if a.index == b.index or a.index in b.total.free_symbols or b.index in a.total.free_symbols:
                continue
            if a.is_sum != b.is_sum and self.sums_outside:
                continue
            both = {a.index, b.index}
            inside = [v for v in self.bases if both & v.free_symbols]
            pairs = [dot(u, v) for u, v in combinations_with_replacement(inside, 2)]
            for one in (one for one in (*inside, *pairs, *self.atoms(Value)) if both <= one.free_symbols):
                relation = Relation(a(b(one)), "==", b(a(one)))
                name = f"{a} and {b} of {one} are exchanged"
                if sp.expand(relation.slack) != 0:
                    facts.append(Fact(name, relation, name, _running(relation)))
        return replace(self, facts=(*self.facts, *facts)) if facts else self

    @property
    def divisors(self) -> list[sp.Expr]:
        """The lengths that the claim divides by: it is about vectors for which they are not 0."""
        below = {p.base for p in self.atoms(sp.Pow) if p.exp.is_negative}
        return sorted((one for one in below if isinstance(one, Norm) or _is_square(one)), key=str)

    @property
    def assumed(self) -> set[sp.Basic]:
        """What the claim takes to exist, or not to be 0."""
        return {*(f.args[0] for f in self.functions), *self.atoms(Drawn), *self.divisors}

    def fresh(self, name: str) -> str:
        """A name that no number of the claim has: this one, or its first word with primes."""
        taken = {one.name for one in (*self.atoms(sp.Symbol), *self.symbols)}
        taken |= {str(one.func) for one in self.atoms(AppliedUndef)}
        word, *others = name.split(" ")
        while " ".join([word, *others]) in taken:
            word += "'"
        return " ".join([word, *others])

    def with_order(self) -> Reading:
        """The same with what is known of numbers by what they are: divisors, whole numbers, mu <= L.

        A function that is mu-convex and L-smooth has mu <= L unless all vectors are 0.
        """
        facts = [Fact(f"{one} is not 0", Relation(sp.S.Zero, "<", one), f"0 < {one}") for one in self.divisors]
        whole = [s for s in self.symbols if s.is_integer and s.is_positive]
        facts += [Fact(f"{s} is a whole number", Relation(sp.S.One, "<=", s), f"1 <= {s}") for s in whole]
        for f in self.functions:
            mu, L = f.properties.mu, f.properties.smooth
            if mu and L is not None and (mu - L).free_symbols:
                relation = Relation(mu, "<=", L)
                facts.append(Fact(f"{f} is at most as convex as it is smooth", relation, str(relation)))
        return replace(self, facts=(*self.facts, *facts)) if facts else self

    def put(self, values: Mapping[Any, sp.Expr]) -> Reading:
        """The same with terms replaced, in what functions declare too, without what says nothing more, as 1 <= 1."""
        if not values:
            return self
        for f in self.functions:
            declared = f.properties.declared
            if (known := {name: one.xreplace(values) for name, one in declared.items()}) != declared:
                values = {**values, f: renewed(f.xreplace(values), **known)}
        facts, hints = (
            tuple(replace(fact, relation=fact.relation.xreplace(values)) for fact in of)
            for of in (self.facts, self.hints)
        )
        facts = tuple(one for one in facts if one.relation.op == "<" or one.relation.left != one.relation.right)
        return replace(self, goal=self.goal.xreplace(values), facts=facts, hints=hints)

    def without(self, fact: Fact) -> Reading:
        """The same without a hypothesis."""
        return replace(self, facts=tuple(one for one in self.facts if one is not fact))

    def in_polynomials(self) -> Reading:
        """The same with r^2 for a positive number whose root r is taken, and without numbers that an equation gives."""
        declared = {s for f in self.functions for one in f.properties.constants for s in one.free_symbols}
        powers = [p for p in self.atoms(sp.Pow) if p.base.is_Symbol and p.exp.is_Rational and p.exp.q == 2]
        roots = {p.base for p in powers if p.base.is_positive and not p.base.is_integer} - declared
        squares = {s: sp.Symbol(self.fresh(f"root_{s}"), positive=True) ** 2 for s in sorted(roots, key=str)}
        rest = self._complements(declared)
        read = self
        for change in (*({s: value} for s, value in equal_numbers(self.facts).items()), squares, rest):
            try:
                read = read.put(change)
            except InvalidInput:
                read = read.put({s: value for s, value in change.items() if s not in declared})
        signs = [(Relation(sp.S.Zero, "<", value), f"{s} is positive") for s, value in rest.items() if s.is_positive]
        return replace(read, facts=(*read.facts, *(Fact(name, relation, name) for relation, name in signs)))

    def _complements(self, declared: set[sp.Symbol]) -> dict[sp.Symbol, sp.Expr]:
        """1 - q for a number s with s <= 1, where powers of 1 - s weigh a sum: q has a sign that is seen."""
        found: dict[sp.Symbol, sp.Expr] = {}
        for fact in self.facts:
            left, op, right = fact.relation.left, fact.relation.op, fact.relation.right
            weighs = any(p.base == 1 - left and p.exp.atoms(Index) for p in self.atoms(sp.Pow))
            if op != "==" and left.is_Symbol and right == 1 and weighs and left not in declared:
                found[left] = 1 - sp.Symbol(
                    self.fresh(f"rest_{left}"), **{"positive" if op == "<" else "nonnegative": True}
                )
        return found


def _is_square(one: sp.Expr) -> bool:
    return isinstance(one, Dot) and one.args[0] == one.args[1]


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
    facts = [_fact(name, f"hypothesis {number}", one) for number, one in enumerate(conjecture.hypotheses, start=1)]
    hints = tuple(_fact(name, f"hint {number}", one) for number, one in enumerate(conjecture.hinted, start=1))
    by_name = {symbol.name: symbol for symbol in Reading(name, goal, tuple(facts), hints=hints).symbols}
    facts += of_ranges(conjecture.variables, by_name, but=conjecture.frees)
    read = Reading(name, goal, tuple(facts), hints=hints)
    read = read.put(
        own_names(read.atoms(sp.Symbol, AppliedUndef), but={*conjecture.frees, *map(str, conjecture.exists)})
    )
    one_each(read.atoms(Drawn), read.relations)
    # Of what a hint alone speaks nothing is known, not even that it is not 0.
    every, met = (one.assumed for one in (read, replace(read, hints=())))
    if unmet := sorted(map(str, every - met)):
        raise InvalidInput(f"{name}: a hint alone speaks of {unmet[0]}, or divides by it: leave it out")
    if free is None:
        return read
    return read.put({by_name[one]: sp.Rational(free) for one in conjecture.frees if one in by_name})


def _fact(name: str, what: str, one: Hypothesis) -> Fact:
    if one.predicate is not None:
        raise InvalidInput(f"{name}: {what} is a Python function: with vectors, write a sympy relation")
    left, right = (_side(name, what, side.of) for side in one.sides)
    if (is_vector(left) or is_vector(right)) and one.op != "==":
        raise InvalidInput(f"{name}: {what} orders vectors: take dot, norm or norm2")
    relation = Relation(left, one.op, right)
    return Fact(what, relation, str(relation), _running(relation))


def claim_of(reading: Reading) -> Conjecture:
    """The claim that a reading is."""
    goal = reading.goal
    if not reading.atoms(*Atom, Basis):
        # Numbers without ranges are read like a page's.
        return stated(reading.name, Statement(str(goal), goal, reading.facts))
    given, hints = (tuple(fact.relation for fact in of) for of in (reading.facts, reading.hints))
    return Conjecture(name=reading.name, left=goal.left, relation=goal.op, right=goal.right, given=given, hints=hints)


def _side(name: str, what: str, value: object) -> sp.Expr:
    if isinstance(value, int | Fraction | str) and not isinstance(value, bool):
        return sp.Rational(Fraction(value))
    if not isinstance(value, sp.Expr):
        raise InvalidInput(f"{name}: {what} is {value!r}: with vectors, write an expression of sympy")
    for symbol in value.free_symbols:
        sort_of(symbol)
    return with_ln(value)


def _running(relation: Relation) -> tuple[sp.Symbol, ...]:
    free = relation.left.free_symbols | relation.right.free_symbols
    return tuple(sorted((s for s in free if isinstance(s, Index)), key=str))


class Entry(Term):
    """A member of a sequence, which stands at the same place of a family of vectors."""

    def __new__(cls, member: sp.Expr, sort: Str) -> Any:
        return sp.Expr.__new__(cls, member, sort)

    def _eval_is_nonnegative(self) -> bool | None:
        return self.sort is not Sort.REAL or None

    def _eval_is_positive(self) -> bool | None:
        return self.sort in (Sort.POSITIVE, Sort.POSITIVE_NATURAL) or None

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


def bounded_numbers(
    reading: Reading, equal: Mapping[sp.Symbol, sp.Expr], given: Mapping[str, Range]
) -> dict[sp.Symbol, sp.Expr]:
    """Numbers with their largest value, by hypotheses such as alpha L <= 1: worst cases often lie there.

    Instances draw which part of it a number is. The largest values speak of no other number that is here.
    """
    found: dict[sp.Symbol, sp.Expr] = {}
    # Such as L: other numbers are bounded by it.
    declared = {s for f in reading.functions for one in f.properties.constants for s in one.free_symbols}
    for fact in reading.facts:
        slack = sp.expand(fact.relation.slack.xreplace(equal))
        numbers = slack.free_symbols
        if fact.relation.op == "==" or fact.forall or slack.atoms(sp.Function, *Atom) or numbers & found.keys():
            continue
        for symbol in sorted(numbers, key=str, reverse=True):
            by = slack.coeff(symbol)
            rest = sp.expand(slack - by * symbol)
            taken = any(symbol in bound.free_symbols for bound in found.values())
            drawn = symbol.is_positive and not symbol.is_integer and symbol.name not in given and not taken
            linear = by != 0 and not rest.has(symbol) and not by.has(symbol) and manifestly_nonnegative(-by)
            if drawn and linear and symbol not in declared:
                found[symbol] = -rest / by
                break
    return found


def families(reading: Reading) -> dict[str, list[sp.Basic]]:
    """The vectors and functions of a claim by their names: members of a family differ in their indices alone."""
    found: dict[str, list[sp.Basic]] = {}
    for term in (*reading.atoms(Named), *reading.functions):
        for one in (s for i in term.args[1:] for s in i.free_symbols if not (isinstance(s, Index) or s.is_integer)):
            raise InvalidInput(f"{reading.name}: the index {one} of {term} is not an integer: declare it integer=True")
        members = found.setdefault(word(term), [])
        if members and (members[0].func, members[0].args[0]) != (term.func, term.args[0]):
            raise InvalidInput(f"{reading.name}: two things are called {word(term)}: give one of them another name")
        members.append(term)
    return found


def places(members: list[sp.Basic]) -> list[list[sp.Expr]]:
    """For every place of an index, the indices that stand there."""
    return [list(dict.fromkeys(place)) for place in zip(*(one.args[1:] for one in members), strict=True)]


def word(term: sp.Basic) -> str:
    """The name of a number, a vector, a function or a mean, as a variable's."""
    name = bare(term.name if term.is_Symbol else term.args[0].name)
    return "".join(c if c.isalnum() or c == "_" else "_" for c in name) + "_" * iskeyword(name)
