"""The refuting side: a claim with vectors as one about the numbers of small explicit instances.

Vectors have one or two rational coordinates. Functions are quadratic in pieces and really have the properties that are
declared: nothing rests on values at a few points. So the search, exact evaluation and shrinking of `falsify` apply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from inspect import Parameter, Signature
from typing import Any

import numpy as np
import sympy as sp

from cflag_theory.claims.engine.algebra import manifestly_nonnegative
from cflag_theory.claims.engine.operators import Atom, Index, Operator, TotalVector
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.terms import Function, Gradient, Named, is_vector, norm2
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.quantity import Hypothesis, Quantity
from cflag_theory.falsify.ranges import INTEGER, Range
from cflag_theory.falsify.search.exact_numbers import DIGITS
from cflag_theory.falsify.vector_terms.evaluating import Piecewise, World
from cflag_theory.falsify.vector_terms.reading import Reading, read_vectors

#: Coordinates, members of a family, largest number, and how far functions may curve where nothing is declared.
_DIMENSIONS, _MEMBERS, _LARGEST, _CURVED = 2, 2, 2, 2
#: Terms that a sum may have: numbers of terms are looked for up to three.
_TERMS = 5
_SHAPE = {"outer": Range(0, 1), "inner": Range(0, 1), "slope": Range(-2, 2), "kink": Range(-2, 2), "width": Range(0, 2)}


@dataclass(frozen=True, kw_only=True, eq=False)
class Instances(Conjecture):
    """The numbers of small instances; hypotheses are graded, so that the search sees how far they are from holding."""

    facts: tuple[Hypothesis, ...]
    told: Callable[[Mapping[str, Any]], list[str]]

    @cached_property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        return self.facts


def instances(conjecture: Conjecture, free: Fraction | None = None) -> Instances:
    """A conjecture with vectors over small explicit instances.

    Raises
    ------
    InvalidInput
        It cannot be read.
    """
    reading = read_vectors(conjecture, free)
    family = _Family(reading, dict(conjecture.variables))
    names = list(family.ranges)
    exists = Quantity("the instance", _function("exists", names, family.lacks), tuple(names))
    zero = Quantity("the instance", sp.S.Zero, ())
    facts = [Hypothesis("functions have what is declared of them", None, "<=", (exists, zero))]
    for fact in reading.facts:
        if not family.built_in(fact.relation):
            sides = tuple(_quantity(fact.words, names, family, _gap(fact.relation), side) for side in (0, 1))
            facts.append(Hypothesis(fact.words, None, fact.relation.op, sides))
    goal = reading.goal
    return Instances(
        name=conjecture.name,
        ranges=family.ranges,
        left=_function("left", names, lambda draw: family.side(draw, goal.left)),
        right=_function("right", names, lambda draw: family.side(draw, goal.right)),
        relation=goal.op,
        facts=tuple(facts),
        told=family.story,
    )


def _gap(relation: Relation) -> Relation:
    """An equation between vectors as one between numbers."""
    if is_vector(relation.left) or is_vector(relation.right):
        return Relation(norm2(relation.left - relation.right), relation.op, sp.S.Zero)
    return relation


def _quantity(what: str, names: list[str], family: _Family, relation: Relation, side: int) -> Quantity:
    """One side of a hypothesis: for every value of its indices, the one at which it holds least."""

    def of(draw: Mapping[str, Any]) -> Any:
        return family.hypothesis(draw, relation)[side]

    return Quantity(what, _function("hypothesis", names, of), tuple(names))


def _function(name: str, words: list[str], of: Callable[[Mapping[str, Any]], Any]) -> Callable[..., Any]:
    def function(**draw: Any) -> Any:
        return of(draw)

    function.__name__ = name
    function.__signature__ = Signature([Parameter(word, Parameter.KEYWORD_ONLY) for word in words])  # type: ignore[attr-defined]
    return function


class _Family:
    """Which numbers make an instance of a claim, and the instance that they make."""

    def __init__(self, reading: Reading, given: Mapping[str, Range]) -> None:
        self.reading = reading
        self.means = [one for one in reading.operators if not one.is_sum]
        self.sums = {one.index for one in reading.operators if one.is_sum}
        self.count = {one.index: f"members_{_word(one)}" for one in self.means}
        self.defined: dict[sp.Expr, Relation] = {}
        self.resting: list[tuple[Relation, Gradient, Operator | None]] = []
        for fact in reading.facts:
            self._take_equation(fact.relation)
        self.given = given
        self.shares = self._bounded_numbers()
        self.names: dict[str, tuple[str, tuple[Any, ...]]] = {}
        self.ranges: dict[str, Range] = {}
        for name, one in self._ranges():
            if name in self.ranges:
                raise InvalidInput(f"{reading.name}: two things are called {name}: give one of them another name")
            self.ranges[name] = one
        #: How many values every index has in the instance that was made last.
        self._size: dict[sp.Symbol, int] = {}
        self._seen: tuple[Any, World | None] = (None, None)

    def _take_equation(self, relation: Relation) -> None:
        """An equation of vectors that defines one, or that puts a function at rest at a point."""
        left, right = relation.left, relation.right
        if relation.op != "==" or not (is_vector(left) or is_vector(right)):
            return
        if isinstance(left, Named) and left not in self.defined:
            self.defined[left] = relation
            return
        if right == 0 and isinstance(left, Gradient):
            self.resting.append((relation, left, None))
        if right == 0 and isinstance(left, TotalVector) and isinstance(left.body, Gradient):
            self.resting.append((relation, left.body, left.operator))

    def _bounded_numbers(self) -> dict[sp.Symbol, sp.Expr]:
        """Numbers with their largest value, by hypotheses such as alpha L <= 1: worst cases often lie there.

        Instances draw which part of it a number is. The largest values speak of no other number that is here.
        """
        found: dict[sp.Symbol, sp.Expr] = {}
        for fact in self.reading.facts:
            slack = sp.expand(fact.relation.slack)
            numbers = slack.free_symbols
            if fact.relation.op == "==" or fact.forall or slack.atoms(sp.Function, *Atom) or numbers & found.keys():
                continue
            for symbol in sorted(numbers, key=str, reverse=True):
                by = slack.coeff(symbol)
                rest = sp.expand(slack - by * symbol)
                taken = any(symbol in bound.free_symbols for bound in found.values())
                drawn = symbol.is_positive and not symbol.is_integer and symbol.name not in self.given and not taken
                linear = by != 0 and not rest.has(symbol) and not by.has(symbol) and manifestly_nonnegative(-by)
                if drawn and linear and not _constant(symbol, self.reading):
                    found[symbol] = -rest / by
                    break
        return found

    def built_in(self, relation: Relation) -> bool:
        """Whether instances are made so that a hypothesis holds."""
        return relation in self.defined.values() or any(relation == one for one, _, _ in self.resting)

    def _ranges(self) -> Iterator[tuple[str, Range]]:
        yield "dimension", Range(1, _DIMENSIONS, kind=INTEGER)
        for name in dict.fromkeys(self.count.values()):
            yield name, Range(1, _MEMBERS, kind=INTEGER)
        for symbol in self.reading.symbols:
            if symbol in self.shares:
                yield f"{symbol.name}_share", Range(0, 1, open="low")
            else:
                yield symbol.name, self.given.get(symbol.name) or _range_of(symbol)
        for one in self.means:
            yield f"weights_{_word(one)}", Range("1/16", 1, shape=(self.count[one.index],))
        for vector in self.reading.atoms(Named):
            if vector not in self.defined:
                yield from self._arrays(vector, {"": Range(-2, 2)})
        for f in self.reading.functions:
            extra = {"above": Range(0, 1)} if f.properties.lower is not None else {}
            yield from self._arrays(f, _SHAPE, flat=extra)

    def _arrays(
        self, term: sp.Basic, parts: Mapping[str, Range], flat: Mapping[str, Range] | None = None
    ) -> Iterator[tuple[str, Range]]:
        """An array for every part of a vector or function: its running indices, then coordinates."""
        name, *indices = term.args
        running = [i for i in indices if isinstance(i, Index)]
        still = "".join(f"_{i}" for i in indices if not isinstance(i, Index))
        stem = f"{_word(term)}{_identifier(still)}"
        shape = tuple(self.count.get(i, _TERMS if i in self.sums else _MEMBERS) for i in running)
        self.names[stem] = (name.name, tuple(str(i) for i in indices if not isinstance(i, Index)))
        for part, one in parts.items():
            yield f"{stem}_{part}" if part else stem, Range(one.low, one.high, shape=(*shape, "dimension"))
        for part, one in (flat or {}).items():
            yield f"{stem}_{part}", Range(one.low, one.high, shape=(*shape, 1))

    def _stem(self, term: sp.Basic) -> str:
        name, *indices = term.args
        key = (name.name, tuple(str(i) for i in indices if not isinstance(i, Index)))
        return next(stem for stem, one in self.names.items() if one == key)

    def world(self, draw: Mapping[str, Any]) -> World | None:
        """The instance that a draw makes; None where it makes none."""
        key = (
            DIGITS.get(),
            [(type(v), v.tolist() if isinstance(v, np.ndarray) else v) for v in draw.values()],
        )
        if self._seen[0] != key:
            self._seen = (key, self._world(draw))
        return self._seen[1]

    def _world(self, draw: Mapping[str, Any]) -> World | None:
        numbers = {s: draw[s.name] for s in self.reading.symbols if s not in self.shares}
        for symbol, largest in self.shares.items():
            value = draw[f"{symbol.name}_share"] * World(1, numbers).number(largest)
            if not value > 0:
                return None
            numbers[symbol] = value
        weights: dict[str, list[Any]] = {}
        for one in self.means:
            drawn = draw[f"weights_{_word(one)}"].tolist()
            weights[one.args[0].name] = [weight / sum(drawn) for weight in drawn]
        world = World(int(draw["dimension"]), numbers, weights=weights)
        for vector in self.reading.atoms(Named):
            if vector not in self.defined:
                for at, value in self._members(vector, draw[self._stem(vector)]):
                    world.at = at
                    world.vectors[world.key(vector)] = value
        for f in self.reading.functions:
            stem = self._stem(f)
            shapes = {part: dict(self._tagged(f, draw[f"{stem}_{part}"])) for part in _SHAPE}
            for at, _ in self._members(f, draw[f"{stem}_slope"]):
                world.at = at
                tag = tuple(at.values())
                made = _piecewise(f, world, {part: shapes[part][tag] for part in _SHAPE})
                if made is None:
                    return None
                world.functions[world.key(f)] = made
        world.at = {}
        for left, relation in self.defined.items():
            for at in self._values(left):
                world.at = dict(at)
                world.vectors[world.key(left)] = world.vector(relation.right)
        world.at = {}
        self._put_at_rest(world)
        return world if self._bounded(world, draw) else None

    def _values(self, term: sp.Basic) -> Iterator[dict[sp.Symbol, int]]:
        running = [i for i in term.args[1:] if isinstance(i, Index)]
        sizes = [len(self._weights(i)) for i in running]
        for point in np.ndindex(*sizes):
            yield dict(zip(running, map(int, point), strict=True))

    def _weights(self, i: sp.Symbol) -> range:
        return range(self._size.get(i, _MEMBERS))

    def _members(self, term: sp.Basic, array: Any) -> Iterator[tuple[dict[sp.Symbol, int], list[Any]]]:
        running = [i for i in term.args[1:] if isinstance(i, Index)]
        for place, i in enumerate(running):
            self._size[i] = array.shape[place]
        for point in np.ndindex(*array.shape[:-1]):
            yield dict(zip(running, map(int, point), strict=True)), array[point].tolist()

    def _tagged(self, term: sp.Basic, array: Any) -> Iterator[tuple[tuple[int, ...], list[Any]]]:
        for at, value in self._members(term, array):
            yield tuple(at.values()), value

    def _put_at_rest(self, world: World) -> None:
        """Change slopes so that what is said to be at rest is."""
        for relation, gradient, operator in self.resting:
            f, point = gradient.args
            now = world.vector(relation.left)
            at, weight = {}, 1
            if operator is not None:
                shares = world.weights[operator.args[0].name]
                at, weight = {operator.index: len(shares) - 1}, shares[-1]
            world.at = dict(at)
            key = world.key(f)
            world.functions[key] = world.functions[key].at_rest(world.vector(point), [-one / weight for one in now])
            world.at = {}

    def _bounded(self, world: World, draw: Mapping[str, Any]) -> bool:
        """Raise every function to its declared lower bound; False where one has none."""
        for f in self.reading.functions:
            lower = f.properties.lower
            if lower is None:
                continue
            above = dict(self._tagged(f, draw[f"{self._stem(f)}_above"]))
            for at in self._values(f):
                world.at = dict(at)
                key = world.key(f)
                made = world.functions[key]
                least = made.least()
                if least is None:
                    return False
                constant = world.number(lower) - least + above[tuple(at.values())][0]
                world.functions[key] = Piecewise(made.slope, made.outer, made.inner, made.kink, made.width, constant)
        world.at = {}
        return True

    def story(self, draw: Mapping[str, Any]) -> list[str]:
        """The instance that a draw makes, a line for each number, vector and function."""
        world = self.world(draw)
        if world is None:
            return []
        lines = [", ".join(f"{s} = {value}" for s, value in world.numbers.items())] if world.numbers else []
        lines += [f"weights of {name}: {', '.join(map(str, weights))}" for name, weights in world.weights.items()]
        for (name, at), vector in world.vectors.items():
            lines.append(f"{name}{_indices(at)} = {_row(vector)}")
        for (name, at), made in world.functions.items():
            lines.append(f"{name}{_indices(at)}(w) = {made}")
        return lines

    def lacks(self, draw: Mapping[str, Any]) -> int:
        """1 where the numbers make no instance, such as L < mu, else 0."""
        return 1 if self.world(draw) is None else 0

    def side(self, draw: Mapping[str, Any], expr: sp.Expr) -> Any:
        """A side of the claim."""
        world = self.world(draw)
        if world is None:
            raise ZeroDivisionError("the numbers make no instance")
        return world.number(expr)

    def hypothesis(self, draw: Mapping[str, Any], relation: Relation) -> tuple[Any, Any]:
        """Both sides where a hypothesis holds least, over all values of its indices."""
        world = self.world(draw)
        if world is None:
            return 1, 0
        free = relation.left.free_symbols | relation.right.free_symbols
        running = sorted((i for i in free if isinstance(i, Index)), key=str)
        worst: tuple[Any, Any] | None = None
        for point in np.ndindex(*(len(self._weights(i)) for i in running)):
            world.at = dict(zip(running, map(int, point), strict=True))
            sides = world.number(relation.left), world.number(relation.right)
            gap = sides[0] - sides[1]
            if relation.op == "==":
                gap = abs(gap)
            if worst is None or gap > (abs(worst[0] - worst[1]) if relation.op == "==" else worst[0] - worst[1]):
                worst = sides
        world.at = {}
        assert worst is not None
        return worst


def _constant(symbol: sp.Symbol, reading: Reading) -> bool:
    """Whether a number is declared of a function, such as L: other numbers are bounded by it."""
    declared = [(f.properties.smooth, f.properties.mu, f.properties.lower) for f in reading.functions]
    return any(symbol in one.free_symbols for three in declared for one in three if one is not None)


def _range_of(symbol: sp.Symbol) -> Range:
    """Where a number without a range is looked for."""
    if symbol.is_integer:
        return Range(1 if symbol.is_positive else 0 if symbol.is_nonnegative else -3, 3, kind=INTEGER, shape=())
    if symbol.is_positive:
        return Range(0, _LARGEST, open="low")
    return Range(0, _LARGEST) if symbol.is_nonnegative else Range(-_LARGEST, _LARGEST)


def _piecewise(f: Function, world: World, shape: Mapping[str, list[Any]]) -> Piecewise | None:
    """A function with the declared smoothness and convexity; None where these contradict each other."""
    declared = f.properties
    high = world.number(declared.smooth) if declared.smooth is not None else None
    low = world.number(declared.mu) if declared.mu is not None else None
    if low is None:
        low = -high if high is not None else -_CURVED
    if high is None:
        high = low + _CURVED
    if high < low or (declared.smooth is not None and low < -high):
        return None

    def between(levels: list[Any]) -> list[Any]:
        return [low + (high - low) * level for level in levels]

    return Piecewise(shape["slope"], between(shape["outer"]), between(shape["inner"]), shape["kink"], shape["width"])


def _identifier(words: str) -> str:
    return "".join(c if c.isalnum() or c == "_" else "_" for c in words)


def _word(term: sp.Basic) -> str:
    """The name of a vector, a function or a mean, as a variable's."""
    return _identifier(term.args[0].name)


def _indices(at: tuple[Any, ...]) -> str:
    return f"[{', '.join(map(str, at))}]" if at else ""


def _row(vector: list[Any]) -> str:
    return str(vector[0]) if len(vector) == 1 else f"({', '.join(map(str, vector))})"
