"""What a statement takes from other claims, compared with what those claims show.

A fact with `sources` must be one of their relations, in its own symbols, or follow from them and from the statement's
other facts. What the sources assume must be among the statement's facts, or be named. So no statement imports another
constant, another range, or itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.engine import algebra
from cflag_theory.claims.engine.claim import Claim, Fact, Source, Statement, every_statement
from cflag_theory.claims.engine.definitions import assumptions, quantified
from cflag_theory.claims.engine.meanings import unfold
from cflag_theory.claims.engine.operators import Atom, Index
from cflag_theory.claims.engine.relation import Relation, at_most, sides
from cflag_theory.claims.engine.sorts import sort_of
from cflag_theory.claims.engine.terms import TermError
from cflag_theory.claims.replacing import heads, here, misfits, names, naming_faults, replaced, squares

#: Claim, part and role.
Place = tuple[str, str, str]


def faults(subject: Claim, lookup: Callable[[str], Claim]) -> dict[tuple[str, str], list[str]]:
    """What is wrong with the imports of a claim, by part and role; nothing else is in the mapping.

    `subject` stands for the claim of its id; `lookup` gives the others, and must give those. Whether a source's proof
    is accepted is that claim's own verdict.
    """

    def of(place: Place) -> Statement | None:
        found = subject if place[0] == subject.id else lookup(place[0])
        part = next((part for part in found.parts if (found.id, part.key) == place[:2]), None)
        return None if part is None else every_statement(part).get(place[2])

    wrong = {}
    for part in subject.parts:
        for on, statement in every_statement(part).items():
            place = (subject.id, part.key, on)
            imported = [fact for fact in statement.facts if fact.sources]
            if not imported:
                continue
            found = [f"{fact.name!r}: {words}" for fact in imported for words in _wrong(statement, fact, of)]
            wrong[part.key, on] = found + (["it imports itself in a circle"] if place in _behind(place, of) else [])
    return {place: found for place, found in wrong.items() if found}


def _behind(start: Place, of: Callable[[Place], Statement | None]) -> set[Place]:
    """What a statement imports, and what that imports."""
    seen: set[Place] = set()
    waiting = [start]
    while waiting:
        statement = of(waiting.pop())
        for source in (source for fact in (statement.facts if statement else ()) for source in fact.sources):
            if source.place not in seen:
                seen.add(source.place)
                waiting.append(source.place)
    return seen


def _wrong(statement: Statement, fact: Fact, of: Callable[[Place], Statement | None]) -> Iterator[str]:
    """What is wrong with one imported fact of a statement."""
    shown: list[Relation] = []
    # Of the facts about one value, those say nothing that are about a value of an index for all of which this one is.
    every = {*fact.forall}
    given = [
        _meant(other.relation, statement)
        for other, running in quantified(statement)
        if other != fact and not other.relation.free_symbols & every - running
    ]
    for source in fact.sources:
        origin = of(source.place)
        if origin is None or origin.relation is None:
            yield f"the ledger has no relation at {source}"
            return

        def has(relation: Relation, all: frozenset[sp.Symbol]) -> bool:
            return _has(statement, fact, relation, all)

        unfit = [*misfits(statement, fact, source, origin, has)]
        unfit += naming_faults(statement, source, origin, has)
        if unfit:
            # What comes of them need not even be a term.
            yield from unfit
            return
        if not source.granted:
            if origin.proof is None:
                yield f"{source} has no proof"
            yield from _missing(statement, fact, source, origin)
            besides = [
                _meant(here(one.relation, replaced(source, origin)), statement)
                for one in _needed(origin)
                if one.name in source.besides
            ]
            if besides and _contradict(besides, given):
                yield f"what {source.claim} assumes besides contradicts the other facts"
            given += besides
        elif source.claim.startswith("ours.") or source.on != "printed" or fact not in statement.hypotheses:
            yield "only what a paper prints is granted, and as a hypothesis"
        shown.append(_over(_meant(here(origin.relation, replaced(source, origin)), statement), source))
    goal = _meant(fact.relation, statement)
    if not any(_same(goal, one) for one in shown) and not algebra.follows(goal, [*shown, *given]):
        yield f"it does not follow from {' and '.join(map(str, fact.sources))}: {'; '.join(map(str, shown))}"


def _missing(statement: Statement, fact: Fact, source: Source, origin: Statement) -> Iterator[str]:
    """What a source assumes and the importing statement neither says nor names."""
    needed = _needed(origin)
    quantifiers = dict(quantified(origin))
    over = {one.index for one in source.over if not isinstance(one, int)}
    for one in needed:
        if one.name in source.besides:
            continue
        # What holds for every value of an index is needed for every value: the index stays.
        running = quantifiers.get(one, frozenset())
        moved = tuple(pair for pair in replaced(source, origin) if pair[0] not in running)
        relation = _meant(here(one.relation, moved), statement)
        captured = running & set().union(
            *(sp.sympify(new).free_symbols for old, new in moved if _speaks(one.relation, old))
        )
        if captured or not _has(statement, fact, relation, running | over):
            yield f"{source.claim}, part {source.part}, assumes {one.name!r}, which is not among the facts"
    for name in {*source.besides} - {one.name for one in needed}:
        yield f"{source.claim}, part {source.part}, assumes no {name!r}"


def _needed(origin: Statement) -> list[Fact]:
    """What a statement assumes, and the definitions of what it and its assumptions speak of."""
    assumed = assumptions(origin)
    found = [_some(fact, origin) for fact in assumed]
    others = [fact for fact in origin.definitions if fact not in assumed]
    while True:
        spoken = heads(origin.relation, *(fact.relation for fact in found))
        more = [fact for fact in others if fact not in found and _defines(fact) & spoken]
        if not more:
            return found
        found += more


def _some(fact: Fact, origin: Statement) -> Fact:
    """Of a range of an index of which the statement does not speak: that it is not empty, so that 0 lies within it."""
    left = fact.relation.left
    indices = {one for one in left.free_symbols if isinstance(one, Index) and left in (one, one + 1)}
    others = (one.relation.free_symbols - running for one, running in quantified(origin) if one != fact)
    if not indices or origin.relation is None or not indices.isdisjoint(origin.relation.free_symbols.union(*others)):
        return fact
    return replace(fact, relation=fact.relation.xreplace(dict.fromkeys(indices, sp.S.Zero)))


def _defines(fact: Fact) -> set[object]:
    """The symbols and sequences of which a definition may be one, with no index of theirs."""
    left = unfold(fact.relation.left)
    return heads(Relation(left.replace(AppliedUndef, lambda *_: sp.S.Zero), "==", sp.S.Zero)) | {
        term.func for term in left.atoms(AppliedUndef)
    }


def _has(statement: Statement, fact: Fact, relation: Relation, all: frozenset[sp.Symbol]) -> bool:
    """Whether a relation is among the other facts of a statement, or follows from them.

    Where the imported fact or what is needed is for every value of an index, so must be what it follows from.
    """
    if relation.op != "==" and (relation.slack.is_positive if relation.op == "<" else relation.slack.is_nonnegative):
        return True
    every = relation.free_symbols & {*fact.forall, *all}
    given = []
    for other, running in quantified(statement):
        if other == fact:
            continue
        own = _meant(other.relation, statement)
        if any(_same(relation, one) for one in _instances(own, running, relation, every)):
            return True
        if not own.free_symbols & every - running:
            given.append(own)
    return algebra.follows(relation, given)


def _instances(one: Relation, running: frozenset[sp.Symbol], to: Relation, every: set[sp.Symbol]) -> Iterator[Relation]:
    """A fact that holds for every value of the `running` indices, at the symbols of another relation."""
    moving = sorted(running & one.free_symbols, key=str)
    if one.free_symbols & every <= running:
        yield one
    if not (one.free_symbols - running) & every:
        for places in product(sorted(to.free_symbols, key=str), repeat=len(moving)) if len(moving) <= 2 else ():
            at = dict(zip(moving, places, strict=True))
            if all(sort_of(place).within(sort_of(index)) for index, place in at.items()):
                yield one.xreplace(at)


def _contradict(besides: list[Relation], given: list[Relation]) -> bool:
    """Whether assumptions contradict the facts that share terms with them: the others can be met apart from them."""
    told, near = besides, given
    while more := [one for one in near if heads(one) & heads(*told)]:
        told, near = [*told, *more], [one for one in near if one not in more]
    return algebra.follows(at_most(1, 0), told)


def _speaks(relation: Relation, term: sp.Expr) -> bool:
    return any(side.has(term) or unfold(side).has(term) for side in sides(relation))


def _over(relation: Relation, source: Source) -> Relation:
    """What a source's operators make of its relation, its index being free.

    Raises
    ------
    TermError
        A power of what may be negative.
    """
    for one in source.over:
        sides = [relation.left, relation.right]
        if not isinstance(one, int):
            sides = [one(side) for side in sides]
        elif all(side.is_nonnegative for side in sides):
            sides = [squares(side**one) for side in sides]
        else:
            raise TermError(f"{relation} is raised to the power {one}, and a side may be negative")
        relation = Relation(sides[0], relation.op, sides[1])
    return relation


def _meant(relation: Relation, statement: Statement) -> Relation:
    """A relation of the importing statement, its symbols replaced by what they stand for in its sources."""
    return relation.xreplace(dict(names(statement))).unfolded


def _same(one: Relation, other: Relation) -> bool:
    """Whether two relations say the same: their slacks are equal, up to a factor that is positive."""
    if one.op != other.op or one.slack == other.slack:
        return one.op == other.op
    slack, wanted = squares(one.slack), squares(other.slack)
    if slack == wanted:
        return True
    if wanted == 0 or slack.atoms(*Atom, AppliedUndef, sp.Symbol) != wanted.atoms(*Atom, AppliedUndef, sp.Symbol):
        return False
    factor = sp.cancel(slack / wanted)
    return bool(factor.is_positive or (one.op == "==" and factor.is_nonzero))
