"""Whether a finished instance is one, in fractions, by code that did not make it.

A hypothesis with an index holds for every value of it, and an instance has a few members of a family. So an instance
says how it goes on for ever: as `continuing` has it, unless a hypothesis is a step, x(t+1) from x(t), of a family of
which only steps speak at every index; such a run goes on by its step, and nothing else may ask for its later members.
What members that come again say over one period, they say for ever. An index that is a number too, as in
t ||u||^2 <= c, or at which a family is a progression, needs more: a polynomial that is shown to keep its sign.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import chain, islice, product
from numbers import Rational
from typing import Any, NamedTuple

import sympy as sp

from cflag_theory.claims.engine.algebra import manifestly_nonnegative, unknown
from cflag_theory.claims.engine.claim import Fact
from cflag_theory.claims.engine.operators import Total, TotalVector
from cflag_theory.claims.engine.relation import Relation, at_most, sides
from cflag_theory.claims.engine.sorts import Sort, SortError, sort_of
from cflag_theory.claims.engine.terms import Function, Named, Term, is_vector, ln, norm2
from cflag_theory.falsify.vector_terms.continuing import Continuation, Growing, NoMeaning, continuations, row
from cflag_theory.falsify.vector_terms.draws import Drawn, faults
from cflag_theory.falsify.vector_terms.evaluating import World
from cflag_theory.falsify.vector_terms.reading import Entry, Reading, head


def fault(reading: Reading, world: World) -> str | None:
    """What a world has that the claim does not allow; None if it satisfies all that the claim assumes."""
    return judged(reading, world)[0]


def judged(reading: Reading, world: World, ways: int | None = None) -> tuple[str | None, Continuation]:
    """The same, and the first of so many continuations with which there is none; none helps what its members break."""
    found: list[str] = []
    held: set[tuple[Fact, tuple[int, ...]]] = set()
    stepped = _stepped(reading.facts, _leaving(reading.facts, world))
    own = {step.name for fact in stepped if (step := _step(fact)) is not None}
    for way in islice(continuations(world.vectors, _last(world, own)), ways):
        world.beyond, world.asked = way, False
        try:
            parts = (
                _values(reading, world),
                _functions(reading, world),
                _later(reading, world, way),
                _hypotheses(reading, world, way, stepped, held),
            )
            words = next(chain(*parts), None)
        except (NoMeaning, SortError, ZeroDivisionError) as error:
            words = str(error)
        finally:
            world.at, world.beyond = {}, None
        if words is None:
            return None, way
        found.append(words)
        if not world.asked:
            break
    return found[0], way


def asked_of(reading: Reading, world: World) -> Iterator[Relation]:
    """What makes a world of symbols one of a claim, as relations between numbers; families stay at their last members.

    Raises
    ------
    NoMeaning
        A hypothesis speaks of an index otherwise than as the place of a member, or a number need not be whole.
    """
    entries = [
        (world.vectors[key][0], one.sort)
        for one in reading.atoms(Entry)
        for key in world.vectors
        if key[0] == one.args[0].args[0].name
    ]
    for value, sort in [*((value, sort_of(symbol)) for symbol, value in world.numbers.items()), *entries]:
        if sort.whole and not sp.sympify(value).is_integer:
            raise NoMeaning(f"{value} need not be whole")
        if sort.start is not None:
            yield Relation(sp.S.Zero, "<=" if sort.holds(0) else "<", sp.sympify(value))
    if words := next(chain(_weights(world), faults(reading.atoms(Drawn), world.weights, world.number)), None):
        raise NoMeaning(words)
    for f in reading.functions:
        for made in (made for (of, _), made in world.functions.items() if of == f.args[0].name):
            if f.properties.lower is not None:
                if (least := made.least()) is None:
                    raise NoMeaning(f"{f} is bounded below")
                yield at_most(world.number(f.properties.lower), made.constant + least)
            bends = [*made.outer, *(one for one, width in zip(made.inner, made.width, strict=True) if width)]
            for bend in bends:
                if (smooth := f.properties.smooth) is not None:
                    yield from (at_most(sign * bend, world.number(smooth)) for sign in (1, -1))
                if (mu := f.properties.mu) is not None:
                    yield at_most(world.number(mu), bend)
    last, end = _last(world), _end(world)
    world.beyond = Continuation(last)
    for fact in reading.facts:
        relation = of_numbers(fact.relation)
        if any({*fact.forall} & _without_members(side).free_symbols for side in sides(relation)) or any(
            place not in fact.forall
            for side in sides(relation)
            for one in _deep(side)
            if isinstance(one, Named | Function)
            for place in one.args[1:]
            if {*fact.forall} & place.free_symbols
        ):
            raise NoMeaning(f"{fact.words}, for every index, is more than an instance for every constant can show")
        for place in product(range(end + 1), repeat=len(fact.forall)):
            world.at = dict(zip(fact.forall, place, strict=True))
            yield relation.map(lambda side: sp.sympify(world.number(side)))
    world.at = {}


def _last(world: World, but: Collection[str] = ()) -> dict[str, tuple[int, ...]]:
    """Where the last member of every family stands."""
    return {
        name: tuple(map(max, zip(*(at for of, at in keys if of == name), strict=True)))
        for keys in (world.vectors, world.functions)
        for name in {of for of, _ in keys} - {*but}
    }


def _end(world: World) -> int:
    return 1 + max((top for keys in (world.vectors, world.functions) for _, at in keys for top in at), default=0)


def continuation(reading: Reading, world: World) -> Iterator[str]:
    """How an instance goes on for ever, a line for each family of which a hypothesis speaks at every index."""
    running = [fact for fact in reading.facts if fact.forall]
    stepped = _stepped(reading.facts, _leaving(reading.facts, world))
    steps = {step.name: fact for fact in stepped if (step := _step(fact)) is not None}
    _, way = judged(reading, world)
    for name in sorted(set().union(*map(_spoken, running)) if running else ()):
        yield f"{name} goes on for ever by {steps[name].name}" if name in steps else way.words(name)


def _values(reading: Reading, world: World) -> Iterator[str]:
    for symbol, value in world.numbers.items():
        if not sort_of(symbol).holds(value):
            yield f"{symbol} = {value} is not {sort_of(symbol)}"
    for one in reading.atoms(Entry):
        of = one.args[0].args[0].name
        if wrong := [
            row(entry) for (name, _), entry in world.vectors.items() if name == of and not one.sort.holds(entry[0])
        ]:
            yield f"{of} has the member {wrong[0]}, which is not {one.sort}"
    yield from _weights(world)
    yield from faults(reading.atoms(Drawn), world.weights, world.number)


def _weights(world: World) -> Iterator[str]:
    for name, weights in world.weights.items():
        if min(weights) < 0 or sum(weights) != 1:
            yield f"the weights of {name} are negative or do not sum to one"


def _later(reading: Reading, world: World, way: Continuation) -> Iterator[str]:
    """Sequences that leave their sort as they go on."""
    for one in reading.atoms(Entry):
        of, sort = one.args[0].args[0].name, one.sort
        if sort is Sort.REAL or of not in way.moving:
            continue
        assert way.ratio is not None
        places = (Growing((_end(world) + first, way.period)) for first in range(way.period))
        later = (way.member(world.vectors, of, (place,))[0] for place in places)
        stay = all(way.never_above("<=" if sort.holds(0) else "<", -member) for member in later)
        if not stay or (sort.whole and way.ratio.denominator != 1):
            yield f"{of} is not {sort} for ever"


def _functions(reading: Reading, world: World) -> Iterator[str]:
    for f in reading.functions:
        declared, name = f.properties, f.args[0].name
        smooth, mu, lower = (
            None if c is None else world.number(c) for c in (declared.smooth, declared.mu, declared.lower)
        )
        for (of, at), made in world.functions.items():
            if of != name:
                continue
            bends = [*made.outer, *(one for one, width in zip(made.inner, made.width, strict=True) if width)]
            if smooth is not None and max(map(abs, bends)) > smooth:
                yield f"{name}{list(at) or ''} bends more than {smooth}"
            if mu is not None and min(bends) < mu:
                yield f"{name}{list(at) or ''} bends less than {mu}"
            least = None if lower is None else made.least()
            if lower is not None and (least is None or made.constant + least < lower):
                yield f"{name}{list(at) or ''} is not bounded below by {lower}"


def _hypotheses(reading: Reading, world: World, way: Continuation, stepped: list[Fact], held: Any) -> Iterator[str]:
    """What does not hold; `held` collects what holds of members that are there, however they go on."""
    end = _end(world)
    for fact in reading.facts:
        relation = of_numbers(fact.relation)
        _rising(fact)
        for place in product(range(end + way.period), repeat=len(fact.forall)):
            if (fact, place) in held:
                continue
            world.at, world.asked = dict(zip(fact.forall, place, strict=True)), False
            if fact in stepped and world.key(head(fact.relation.left)) not in world.vectors:
                # It says what that later member is.
                continue
            if not holds(relation.op, world.number(relation.left - relation.right)):
                yield f"{fact.words} does not hold at {_at(world.at)}" if fact.forall else f"{fact.words} does not hold"
            if not world.asked:
                held.add((fact, place))
        index, judge = (None, way) if fact in stepped else _growing(fact, way)
        if index is not None:
            others = [one for one in fact.forall if one != index]
            for first, *others_at in product(range(way.period), *(range(end + way.period) for _ in others)):
                world.at = dict(zip(others, others_at, strict=True)) | {index: Growing((end + first, way.period))}
                if not judge.never_above(relation.op, world.number(_cleared(relation, index))):
                    yield f"{fact.words} is not shown for every {index}"


def _cleared(relation: Relation, index: sp.Symbol) -> sp.Expr:
    """Left minus right, times what is divided by and grows with the index, if that is positive."""
    gap = relation.left - relation.right
    if not any(one.exp.is_negative and one.base.has(index) for one in gap.atoms(sp.Pow)):
        return gap
    above, under = sp.fraction(sp.together(gap))
    return above if manifestly_nonnegative(under, strictly=True) else gap


def _rising(fact: Fact) -> None:
    """That later indices of a hypothesis are later members, so that the last ones stand for all of them."""
    for term in (*_deep(fact.relation.left), *_deep(fact.relation.right)):
        for place in term.args[1:] if isinstance(term, Named | Function) else ():
            if any(place.has(index) for index in fact.forall):
                of = sp.Poly(place, *fact.forall) if place.is_polynomial(*fact.forall) else None
                if of is None or not all(c.is_integer and c.is_nonnegative for c in of.coeffs()):
                    raise NoMeaning(f"{fact.words}, for every index, is more than an instance can show")


def of_numbers(relation: Relation) -> Relation:
    """An equation between vectors as one between numbers."""
    if is_vector(relation.left) or is_vector(relation.right):
        return Relation(norm2(relation.left - relation.right), relation.op, sp.S.Zero)
    return relation


def holds(op: str, gap: Any) -> bool:
    """Whether a relation holds by left less right."""
    return bool(gap == 0 if op == "==" else gap < 0 if op == "<" else gap <= 0)


def _at(at: dict[sp.Symbol, int]) -> str:
    return ", ".join(f"{index} = {value}" for index, value in at.items())


@lru_cache(maxsize=64)
def _stepped(facts: tuple[Fact, ...], leaving: frozenset[Fact]) -> list[Fact]:
    """The hypotheses that are steps of families of which only steps speak at every index.

    Such a family exists whatever the others are: its later members are what the step makes of earlier ones. Steps use
    each other's members from before; one that does so alone may also be used at the index that it has reached.
    """
    running = [fact for fact in facts if fact.forall]
    steps = {fact: found for fact in running if fact not in leaving and (found := _step(fact)) is not None}
    while True:
        names = [step.name for step in steps.values()]
        alone = {fact: all(_earlier(fact, other) for other in steps.values()) for fact in steps}
        free = {
            fact: step
            for fact, step in steps.items()
            if names.count(step.name) == 1
            and all(
                other == fact
                or step.name not in _spoken(other)
                or (other in steps and _earlier(other, step, reached=alone[fact]))
                for other in running
            )
        }
        if len(free) == len(steps):
            return list(free)
        steps = free


def _leaving(facts: tuple[Fact, ...], world: World) -> frozenset[Fact]:
    """What may take a sequence out of its sort, for some values of its members."""
    known = {symbol: sp.Rational(value) for symbol, value in world.numbers.items() if isinstance(value, Rational)}
    found = set()
    for fact in facts:
        left, op, said = fact.relation.left, fact.relation.op, fact.relation.right
        # Steps are equations.
        if op == "==" and isinstance(left, Entry) and (sort := left.sort) is not Sort.REAL:
            said = said.xreplace(known)
            said = said.xreplace({term: unknown("term", term) for term in said.atoms(Term)})
            if sort.whole or not manifestly_nonnegative(said, strictly=sort is Sort.POSITIVE):
                found.add(fact)
    return frozenset(found)


class _Step(NamedTuple):
    """A hypothesis name(index + shift) = ..., with plain indices at its other places."""

    name: str
    place: int
    index: sp.Symbol
    shift: int


def _step(fact: Fact) -> _Step | None:
    left, right = head(fact.relation.left), fact.relation.right
    if fact.relation.op != "==" or not isinstance(left, Named) or not fact.forall or not _total(right):
        return None
    places = [(index, place - index) for place in left.args[1:] for index in fact.forall if place.has(index)]
    several = len(places) == len(left.args) - 1 == len(fact.forall) == len({index for index, _ in places})
    moved = [(index, shift) for index, shift in places if shift != 0]
    if not several or len(moved) > 1:
        return None
    index, shift = moved[0] if moved else places[-1]
    if not (shift.is_Integer and shift >= 0):
        return None
    step = _Step(left.args[0].name, left.args.index(index + shift), index, int(shift))
    return step if _earlier(fact, step) else None


def _total(expr: sp.Expr) -> bool:
    """Whether an expression has a value wherever its members have: divisors and roots are of positive numbers."""
    return all(
        (one.exp.is_Integer and one.exp >= 0) or one.base.is_positive
        for one in _deep(expr)
        if isinstance(one, sp.Pow | sp.exp)
    ) and not expr.has(ln)


def _earlier(fact: Fact, step: _Step, *, reached: bool = False) -> bool:
    """Whether the right side of a hypothesis uses members of a step's family from before what it says."""
    mine = [term for term in _deep(fact.relation.right) if isinstance(term, Named) and term.args[0].name == step.name]
    places = [term.args[step.place] for term in mine]
    by = [(place - step.index, step.shift + reached) if place.free_symbols else (place, step.shift) for place in places]
    return all(one.is_Integer and 0 <= one < end for one, end in by)


def _spoken(fact: Fact) -> set[str]:
    """The families that a hypothesis speaks of at running indices."""
    terms = (*_deep(fact.relation.left), *_deep(fact.relation.right))
    return {one.args[0].name for one in terms if isinstance(one, Named) and {*fact.forall} & one.free_symbols}


def _deep(expr: sp.Expr) -> Iterator[sp.Basic]:
    return sp.preorder_traversal(expr)  # type: ignore[no-any-return]


def _growing(fact: Fact, way: Continuation) -> tuple[sp.Symbol | None, Continuation]:
    """The index that stands in a hypothesis as a number, too, or at which a family is a progression; and what judges
    the polynomial: how the families go on, or the index itself where none moves with it.
    """
    sides = (fact.relation.left, fact.relation.right)
    places = [
        place
        for side in sides
        for one in _deep(side)
        if isinstance(one, Named) and one.args[0].name in way.moving
        for place in one.args[1:]
    ]
    bare, moved = (
        {s for one in found for s in one.free_symbols if s in fact.forall}
        for found in (map(_without_members, sides), places)
    )
    if len(bare | moved) > 1 or (bare and moved and way.geometric):
        raise NoMeaning(f"{fact.words}, for every {min(bare | moved, key=str)}, is more than an instance can show")
    return next(iter(bare | moved), None), way if moved else Continuation(way.last)


def _without_members(expr: sp.Basic) -> sp.Basic:
    """The expression with every family's indices left out."""
    if isinstance(expr, Named | Function):
        return sp.S.Zero
    if isinstance(expr, Total | TotalVector):
        return sp.Tuple(expr.outside, _without_members(expr.body).xreplace({expr.bound: sp.Dummy()}))
    if not expr.args:
        return expr
    return sp.Tuple(*map(_without_members, expr.args))
