"""The refuting side: a claim with vectors as one about the numbers of small explicit instances.

Vectors have one or two rational coordinates. Functions are quadratic in pieces and really have the properties that are
declared: nothing rests on values at a few points. So the search, exact evaluation and shrinking of `falsify` apply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from operator import is_
from typing import Any

import numpy as np
import sympy as sp

from cflag_theory.claims.engine.operators import Index, Largest, Least
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.terms import Dot, Function, Named, Norm
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.quantity import Hypothesis, Quantity, by_name
from cflag_theory.falsify.ranges import INTEGER, Range, range_of
from cflag_theory.falsify.search.exact_numbers import DIGITS, Undecided
from cflag_theory.falsify.vector_terms.checking import continuation, holds, judged, of_numbers
from cflag_theory.falsify.vector_terms.continuing import NoMeaning
from cflag_theory.falsify.vector_terms.draws import Drawn, equal_numbers, outcomes
from cflag_theory.falsify.vector_terms.evaluating import World, piecewise
from cflag_theory.falsify.vector_terms.reading import (
    Entry,
    Reading,
    bounded_numbers,
    families,
    places,
    read_vectors,
    with_entries,
    word,
)
from cflag_theory.falsify.vector_terms.solved import Solved

#: Coordinates, members of a family, and how often equations are used in turn, until the vectors that they give stay.
_DIMENSIONS, _MEMBERS, _PASSES = 2, 2, 8
#: The largest number in more dimensions.
_LARGEST = 10**12
#: Terms that a sum may have: numbers of terms are looked for up to three. No family has more members than the second.
_TERMS, _WIDEST = 5, 12
#: Of the instances in exact numbers, how many are continued in every way at first, and then each which.
_AT_FIRST, _SELDOM = 50, 10
_SHAPE = {"outer": Range(0, 1), "inner": Range(0, 1), "slope": Range(-2, 2), "kink": Range(-2, 2), "width": Range(0, 2)}


@dataclass(frozen=True, kw_only=True, eq=False)
class Instances(Conjecture):
    """The numbers of small instances; hypotheses are graded, so that the search sees how far they are from holding."""

    facts: tuple[Hypothesis, ...]
    family: _Family
    #: The same with up to so many coordinates, which may be large.
    wide: Callable[[int], Instances]

    @cached_property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        return self.facts


def instances(conjecture: Conjecture, free: Fraction | None = None, dimension: int = 0) -> Instances:
    """A conjecture with vectors over small explicit instances; those of a given dimension may have larger numbers."""
    reading = with_entries(replace(read_vectors(conjecture, free), hints=()))
    family = _Family(reading, dict(conjecture.variables), dimension)
    names = list(family.ranges)

    def side(name: str, relation: Relation, number: int) -> Callable[..., Any]:
        return by_name(name, names, lambda draw: family.side(draw, relation, number))

    exists = Quantity("the instance", by_name("exists", names, family.lacks), tuple(names))
    zero = Quantity("the instance", sp.S.Zero, ())
    facts = [Hypothesis("functions have their declared properties", None, "<=", (exists, zero))]
    for fact, relation in zip(reading.facts, family.facts, strict=True):
        sides = (Quantity(fact.words, side("hypothesis", relation, number), tuple(names)) for number in (0, 1))
        facts.append(Hypothesis(fact.words, None, fact.relation.op, tuple(sides)))
    return Instances(
        name=conjecture.name,
        ranges=family.ranges,
        left=side("left", reading.goal, 0),
        right=side("right", reading.goal, 1),
        relation=reading.goal.op,
        facts=tuple(facts),
        family=family,
        wide=lambda most: instances(conjecture, free, most),
    )


@lru_cache(maxsize=1 << 12)
def _running(terms: tuple[sp.Basic, ...]) -> list[Index]:
    """The indices in some terms."""
    return sorted({i for one in terms for i in one.free_symbols if isinstance(i, Index)}, key=str)


class _Family:
    """Which numbers make an instance of a claim, and the instance that they make."""

    def __init__(self, reading: Reading, given: Mapping[str, Range], dimension: int) -> None:
        self.reading, self.dimension, self.wide = reading, max(dimension, _DIMENSIONS), dimension > 0
        self.drawn = reading.atoms(Drawn)
        chances = {one.chance for one in self.drawn}
        self.means = [one for one in reading.operators if not (one.is_sum or one in chances)]
        #: The means that a draw is from, with the number of all their members.
        self.whole = {one.over: one.args[4] for one in self.drawn if one.args[4] != 0}
        self.divided = any(p.exp.is_negative and p.base.atoms(Dot, Norm) for p in reading.atoms(sp.Pow))
        self.count = {one.index: f"members_{word(one)}" for one in self.means}
        #: What equations give: what the search need not look for.
        self.solved = Solved(reading.facts)
        self.given = given
        #: Of sequences, whose members are the only entries of theirs.
        self.sorts = {one.args[0].args[0]: one.sort for one in reading.atoms(Entry)}
        self.equal = equal_numbers(reading.facts, solved=True)
        self.shares = bounded_numbers(reading, self.equal, given)
        self.families = families(reading)
        self.facts = [of_numbers(fact.relation) for fact in reading.facts]
        self.most = self._universes()
        self.ranges: dict[str, Range] = {}
        for name, one in self._ranges():
            if name in self.ranges:
                raise InvalidInput(f"{reading.name}: two things are called {name}: give one of them another name")
            self.ranges[name] = one
        #: How many values every index has in the instance that was made last.
        self._size: dict[sp.Symbol, int] = {}
        self._seen: tuple[tuple[Any, ...], World | None] = ((), None)
        #: What relations say in that instance.
        self._said: dict[Relation, tuple[tuple[Any, Any], dict[sp.Symbol, int]]] = {}
        self._finished, self._helped = 0, False

    def _ranges(self) -> Iterator[tuple[str, Range]]:
        yield "dimension", Range(1, self.dimension, kind=INTEGER)
        wide = {self.count[one.index] for one in self.whole}
        for name in dict.fromkeys(self.count.values()):
            yield name, Range(1, _MEMBERS + (name in wide), kind=INTEGER)
        for symbol in self.reading.symbols:
            if symbol in self.equal or symbol in self.whole.values():
                continue
            if symbol in self.shares:
                yield f"{word(symbol)}_share", Range(0, 1, open="low")
            else:
                yield word(symbol), self.given.get(symbol.name) or self._wider(range_of(symbol))
        for one in self.means:
            yield f"weights_{word(one)}", Range("1/16", 1, shape=(self.count[one.index],))
        for name, members in self.families.items():
            shape = tuple(self._width(place) for place in places(members))
            if isinstance(members[0], Function):
                for part, span in _SHAPE.items():
                    yield f"{name}_{part}", Range(span.low, span.high, shape=(*shape, "dimension"))
                if members[0].properties.lower is not None:
                    yield f"{name}_above", Range(0, 1, shape=(*shape, 1))
            elif self.drawn_apart(members):
                sort = self.sorts.get(members[0].args[0])
                span = Range(-2, 2) if sort is None else range_of(sp.Dummy(**sort.assumptions))
                yield name, replace(self._wider(span), shape=(*shape, "dimension" if sort is None else 1))

    def _wider(self, one: Range) -> Range:
        """A range of the search; where another found the dimension, numbers may be larger too."""
        if not self.wide or one.kind == INTEGER:
            return one
        return replace(one, low=-_LARGEST if one.low < 0 else one.low, high=_LARGEST)

    def drawn_apart(self, members: list[sp.Basic]) -> bool:
        """Whether a family has members that no equation gives."""
        return not all(map(self.solved.gives, members))

    def _universes(self) -> dict[sp.Symbol, int]:
        """How many values an index has where a family has a member at a number, or at another index, too."""
        found: dict[sp.Symbol, int] = {one.bound: _TERMS for one in self.reading.atoms(Largest, Least)}
        for one in (one for one in self.reading.operators if one.is_sum):
            still = 0 if any(isinstance(s, Index) for s in one.total.free_symbols) else self._highest(one.total)
            found[one.index] = max(found.get(one.index, _TERMS), min(still, _WIDEST))
        for place in (place for members in self.families.values() for place in places(members)):
            running = {i for one in place for i in one.free_symbols if isinstance(i, Index)}
            if len(place) == 1 and place[0] in self.count:
                continue
            still = max((self._highest(one) + 1 for one in place if not one.free_symbols & running), default=0)
            for i in running:
                found[i] = max(found.get(i, _MEMBERS), min(still, _WIDEST))
        return found

    def _highest(self, expr: sp.Expr) -> int:
        """The largest whole number that an index may be."""
        ends = {}
        for one in expr.free_symbols:
            known = self.given.get(one.name) or range_of(one)
            ends[one] = (0, self.most.get(one, _MEMBERS) - 1) if isinstance(one, Index) else (known.low, known.high)
        corners = product(*([(one, end) for end in both] for one, both in ends.items()))
        found = [expr.subs(dict(corner)) for corner in corners]
        if not all(one.is_number for one in found):
            raise InvalidInput(
                f"{self.reading.name}: which member the index {expr} names, only an instance tells, and so none is "
                "drawn: state the claim for a number in its place"
            )
        return max(int(sp.floor(one)) for one in found)

    def _width(self, place: list[sp.Expr]) -> int | str:
        """How many members a family has along one of its indices."""
        if len(place) == 1 and place[0] in self.count and place[0] not in self.most:
            return self.count[place[0]]
        return max(1, min(_WIDEST, 1 + max(map(self._highest, place))))

    def world(self, draw: Mapping[str, Any]) -> World | None:
        """The instance that a draw makes; None where it makes none."""
        key = (DIGITS.get(), *draw.values())
        # All parts of a claim are asked with the same arrays, to which nothing can be written.
        if len(key) != len(self._seen[0]) or not all(map(is_, key, self._seen[0])):
            self._seen, self._said = (key, None), {}
            with suppress(ZeroDivisionError):
                self._seen = (key, self.made(draw))
        return self._seen[1]

    def made(self, draw: Mapping[str, Any]) -> World | None:
        """The instance that a draw makes, of numbers that may be symbols; None where it makes none."""
        numbers = {
            whole: Fraction(int(draw[self.count[of.index]])) for of, whole in self.whole.items() if whole.is_Symbol
        }
        known = {*self.shares, *self.equal, *numbers}
        numbers |= {s: draw[word(s)] for s in self.reading.symbols if s not in known}
        for symbol, largest in self.shares.items():
            value = draw[f"{word(symbol)}_share"] * World(1, numbers).number(largest)
            if not value > 0:
                return None
            numbers[symbol] = value
        numbers |= {symbol: World(1, numbers).number(value) for symbol, value in self.equal.items()}
        weights: dict[str, list[Any]] = {}
        for one in self.means:
            drawn = draw[f"weights_{word(one)}"].tolist()
            drawn = [Fraction(1)] * len(drawn) if one in self.whole else drawn
            weights[one.args[0].name] = [weight / sum(drawn) for weight in drawn]
        floats = any(isinstance(one, float) or getattr(one, "dtype", None) == np.float64 for one in draw.values())
        world = World(int(draw["dimension"]), numbers, weights=weights, floats=floats)
        for drawing in self.drawn:
            found = outcomes(drawing, weights[drawing.over.args[0].name], int(world.number(drawing.args[3])))
            if not found or (drawing.over in self.whole and len(weights[drawing.over.args[0].name]) < 2):
                return None
            weights[drawing.chance.args[0].name] = [chance for _, chance in found]
        self._size = {i: int(draw[name]) for i, name in self.count.items()} | self.most
        for name, members in self.families.items():
            of = members[0].args[0].name
            if isinstance(members[0], Function):
                for point in np.ndindex(*draw[f"{name}_slope"].shape[:-1]):
                    shape = {part: draw[f"{name}_{part}"][point].tolist() for part in _SHAPE}
                    made = piecewise(members[0], world, shape)
                    if made is None:
                        return None
                    world.functions[of, point] = made
            elif self.drawn_apart(members):
                array = draw[name]
                world.vectors |= {(of, point): array[point].tolist() for point in np.ndindex(*array.shape[:-1])}
        self._define(world)
        if self.solved.resting:
            self._put_at_rest(world)
            self._define(world)
        return world if self._bounded(world, draw) else None

    def _define(self, world: World) -> None:
        """Give the vectors of equations their values; whether all equations hold is asked of the finished instance."""
        for _ in range(_PASSES):
            before = dict(world.vectors)
            # One that is given by another may come before it.
            for left, value in self.solved.defined.items():
                for _ in self._values(world, left):
                    with suppress(ZeroDivisionError):
                        entry = left.args[0] in self.sorts
                        world.vectors[world.key(left)] = [world.number(value)] if entry else world.vector(value)
            for left, (f, step, target) in self.solved.implicit.items():
                for _ in self._values(world, left):
                    with suppress(ZeroDivisionError):
                        point = world.functions[world.key(f)].resolvent(world.number(step), world.vector(target))
                        world.vectors |= {} if point is None else {world.key(left): point}
            if world.vectors == before:
                return

    def _values(self, world: World, *terms: sp.Basic) -> Iterator[None]:
        """Put the world at all values of the indices in some terms, one after another."""
        running = _running(terms)
        for point in np.ndindex(*(self._size.get(i, _MEMBERS) for i in running)):
            world.at = dict(zip(running, map(int, point), strict=True))
            yield
        world.at = {}

    def _put_at_rest(self, world: World) -> None:
        """Change slopes so that what is said to be at rest is."""
        for relation, gradient, operator in self.solved.resting:
            for _ in self._values(world, relation.left):
                now, weight = world.vector(relation.left), 1
                if operator is not None:
                    shares = world.weights[operator.args[0].name]
                    world.at[operator.index], weight = len(shares) - 1, shares[-1]
                change = [-one / weight for one in now]
                if isinstance(gradient, Named):
                    key = world.key(gradient)
                    world.vectors[key] = [a + b for a, b in zip(world.vectors[key], change, strict=True)]
                    continue
                f, point = gradient.args
                key = world.key(f)
                world.functions[key] = world.functions[key].at_rest(world.vector(point), change)

    def _bounded(self, world: World, draw: Mapping[str, Any]) -> bool:
        """Raise every function to its declared lower bound; False where one has none."""
        for name, members in self.families.items():
            lower = members[0].properties.lower if isinstance(members[0], Function) else None
            if lower is None:
                continue
            for point in np.ndindex(*draw[f"{name}_above"].shape[:-1]):
                key = members[0].args[0].name, point
                least = (made := world.functions[key]).least()
                if least is None:
                    return False
                constant = world.number(lower) - least + draw[f"{name}_above"][point].tolist()[0]
                world.functions[key] = replace(made, constant=constant)
        return True

    def story(self, draw: Mapping[str, Any]) -> list[str]:
        """The instance that a draw makes, a line for each number, vector and function."""
        world = self.world(draw)
        if world is None:
            return []
        lines = [*world.told(), *continuation(self.reading, world)]
        _, least = self.worst(self.reading.goal)
        return [*lines, "at " + ", ".join(f"{i} = {value}" for i, value in least.items())] if least else lines

    def lacks(self, draw: Mapping[str, Any]) -> int:
        """1 where the numbers make no instance, such as L < mu, or, in exact numbers, one that is not finished."""
        world = self.world(draw)
        if world is None or world.floats:
            return int(world is None)
        if self._fails():
            return 1
        # That families stay is seen at once. The other ways are many: where they never helped they are tried seldom.
        self._finished += 1
        every = self._helped or self._finished <= _AT_FIRST or self._finished % _SELDOM == 0
        words, way = judged(self.reading, world, None if every else 1)
        self._helped = self._helped or (words is None and (way.period > 1 or bool(way.moving)))
        return 0 if words is None else 1

    def _fails(self) -> bool:
        """Whether it is seen that a hypothesis fails for the members that are there, or a relation divides by 0."""
        with suppress(Undecided, NoMeaning):
            try:
                for one in (*self.facts, *[self.reading.goal] * self.divided):
                    left, right = self.worst(one)[0]
                    if one is not self.reading.goal and not holds(one.op, left - right):
                        return True
            except ZeroDivisionError:
                return self.divided
        return False

    def side(self, draw: Mapping[str, Any], relation: Relation, number: int) -> Any:
        """The left (0) or right (1) side of a relation, at the values of its indices at which it holds least."""
        if self.world(draw) is None:
            raise ZeroDivisionError("the numbers make no instance")
        return self.worst(relation)[0][number]

    def pairs(self, world: World, relation: Relation) -> Iterator[tuple[Any, Any]]:
        """Both sides of a relation at all values of its indices, at which the world then is."""
        for _ in self._values(world, relation.left, relation.right):
            yield world.number(relation.left), world.number(relation.right)

    def worst(self, relation: Relation) -> tuple[tuple[Any, Any], dict[sp.Symbol, int]]:
        """Both sides, and the values of the indices, at which a relation holds least in the instance made last."""
        if relation not in self._said:
            size = abs if relation.op == "==" else lambda gap: gap
            world = self._seen[1]
            assert world is not None
            found = [(size(left - right), (left, right), dict(world.at)) for left, right in self.pairs(world, relation)]
            self._said[relation] = max(found, key=lambda one: one[0])[1:]
        return self._said[relation]
