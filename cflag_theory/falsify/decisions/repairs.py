"""Repairs of a user's claim: numbers by algebra, vectors by what functions and constants may be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import sympy as sp

from cflag_theory.claims.engine.claim import Fact
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.terms import Function
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.decisions.changes import EDIT, HYPOTHESIS, Change, coefficients, subtracted
from cflag_theory.falsify.decisions.deciding import decide
from cflag_theory.falsify.decisions.decision import Decision, sandwich
from cflag_theory.falsify.decisions.repairing import EACH, Repairing
from cflag_theory.falsify.falsifying import BUDGET, SECONDS
from cflag_theory.falsify.finding import NOT_BROKEN, PROVED
from cflag_theory.falsify.proving import attempt_formula, box_of, read
from cflag_theory.falsify.search.guard import TimeUp, time_limit
from cflag_theory.falsify.tracing import NotAlgebra
from cflag_theory.falsify.vector_terms.proving import prove_vectors
from cflag_theory.falsify.vector_terms.reading import Reading, read_vectors
from cflag_theory.falsify.vector_terms.words import function
from cflag_theory.shown import Sheet, Shown


@dataclass(frozen=True, repr=False)
class Repaired(Shown):
    """A claim, what became of it, and changes with which it is proved, the smallest first.

    Attributes
    ----------
    decision : Decision
        Of the claim as it is. Its counterexample shows that some change is necessary.
    proposals : tuple of Change
        Each of them was proved.
    """

    decision: Decision
    proposals: tuple[Change, ...] = ()
    interrupted: bool = False

    @property
    def name(self) -> str:
        """The claim's."""
        return self.decision.name

    def sheet(self) -> Sheet:
        """The outcome, and every change with which the claim is proved."""
        rows = [(one.kind, one.words, str(one.goal)) for one in self.proposals]
        line = f"{self.name}: {self.decision.outcome}, {len(rows)} repairs"
        return Sheet(line, ("repair", "change", "claim"), rows)

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        return self.decision.to_json() | {
            "repairs": [
                {
                    "kind": one.kind,
                    "words": one.words,
                    "claim": str(one.goal),
                    "added": None if one.added is None else str(one.added),
                }
                for one in self.proposals
            ]
        }


def repair(
    conjecture: Conjecture,
    *,
    budget: int = BUDGET,
    seed: int = 0,
    seconds: float = SECONDS,
    progress: Callable[[int], None] | None = None,
) -> Repaired:
    """Propose the smallest changes that make a refuted claim provable.

    Parameters
    ----------
    budget, seed, seconds, progress
        As `falsify` takes them; the search for repairs takes at most six times `seconds`.

    Raises
    ------
    InvalidInput
        As `falsify` does; a claim about runs, or with a free constant, is only decided.
    """
    if conjecture.runs or conjecture.free is not None:
        what = "speaks of runs" if conjecture.runs else "has a free constant"
        raise InvalidInput(f"{conjecture.name} {what}: repairs are proposed for claims about numbers and vectors")
    found = decide(conjecture, budget=budget, seed=seed, seconds=seconds, progress=progress)
    if not found.refuted:
        return Repaired(found)
    try:
        proposals = _of_vectors(conjecture, seconds) if conjecture.about_vectors else _of_numbers(conjecture, seconds)
    except KeyboardInterrupt:
        return Repaired(found, interrupted=True)
    return Repaired(found, tuple(proposals))


def _of_numbers(conjecture: Conjecture, seconds: float) -> list[Change]:
    """Changes of a claim about numbers; each is proved again as the claim was, with all that its steps need."""
    try:
        formula = read(conjecture)
    except NotAlgebra as error:
        raise InvalidInput(f"{conjecture.name}: {error}, and only formulas are repaired") from None
    box = box_of(conjecture, formula)
    ranges = tuple(formula.ranges)
    search = Repairing(formula.goal, (*ranges, *formula.given), len(ranges), seconds=3 * seconds)
    proved = []
    for one in search.proposals():
        changed = replace(formula, goal=one.change.goal, given=one.change.given[len(ranges) :])
        if attempt_formula(changed, box).word == PROVED:
            proved.append(one.change)
    return proved


def _of_vectors(conjecture: Conjecture, seconds: float) -> list[Change]:
    """Changes of a claim with vectors: its constants, properties of functions, ranges of products of numbers."""
    reading = read_vectors(conjecture)
    given = tuple(fact.relation for fact in reading.facts)
    found: list[Change] = []

    def proves(changed: Reading) -> bool:
        try:
            with time_limit(max(seconds / 2, 1.0)):
                return prove_vectors(changed) is not None
        except TimeUp:
            return False

    with suppress(TimeUp), time_limit(3 * seconds):
        found += _constants(reading, given, proves, "left", subtracted(reading.goal))
    try:
        with time_limit(3 * seconds):
            for change, changed in (*_convex(reading), *_assumed(reading)):
                # The largest bound of a product that is proved is the weakest hypothesis.
                stronger = change.added is not None and any(
                    one.added is not None and one.added.left == change.added.left for one in found
                )
                if not stronger and len(found) < EACH and proves(changed):
                    found.append(change)
            found += _constants(reading, given, proves, "right", coefficients(reading.goal))
    except TimeUp:
        pass
    return found


def _convex(reading: Reading) -> Iterator[tuple[Change, Reading]]:
    """Each function convex."""
    for f in reading.functions:
        declared = f.properties
        if declared.mu is None:
            name = str(f.args[0].name)
            twin = function(name, smooth=declared.smooth, convex=True, lower=declared.lower, latex=declared.latex)
            swap = {f: Function(twin.args[0], *f.args[1:])}
            changed = _rewritten(reading, swap)
            words = f"assume that {name} is convex"
            yield Change(HYPOTHESIS, words, changed.goal, tuple(x.relation for x in changed.facts), None, 10), changed


def _rewritten(reading: Reading, swap: Mapping[sp.Basic, sp.Basic]) -> Reading:
    def of(one: Relation) -> Relation:
        return Relation(one.left.xreplace(swap), one.op, one.right.xreplace(swap))

    facts = tuple(Fact(one.name, of(one.relation), one.words, one.forall) for one in reading.facts)
    return replace(reading, goal=of(reading.goal), facts=facts)


def _assumed(reading: Reading) -> Iterator[tuple[Change, Reading]]:
    """Numbers and products of two of them at most 2, 1, 1/2; the first that is proved is the weakest."""
    numbers = [symbol for symbol in reading.symbols if symbol.is_nonnegative]
    products = [*(u * v for u, v in combinations(numbers, 2)), *numbers]
    for product in products:
        for bound in (sp.Integer(2), sp.S.One, sp.Rational(1, 2)):
            added = Relation(product, "<=", bound)
            if any(fact.relation.left == product for fact in reading.facts):
                continue
            changed = replace(reading, facts=(*reading.facts, Fact("the new hypothesis", added, str(added))))
            given = tuple(fact.relation for fact in changed.facts)
            yield Change(HYPOTHESIS, f"assume {added}", reading.goal, given, added, 12), changed


def _constants(
    reading: Reading,
    given: tuple[Relation, ...],
    proves: Callable[[Reading], bool],
    side: str,
    numbers: Iterable[tuple[sp.Rational, Callable[[Fraction], Relation]]],
) -> list[Change]:
    """The best value of a number on one side, between its own and 64 times that; of one on the right, or none of it."""
    found = []
    for number, changed in numbers:
        now = Fraction(int(number.p), int(number.q))

        def ask(value: Fraction, changed: Callable[[Fraction], Relation] = changed) -> tuple[str, None]:
            return (PROVED if proves(replace(reading, goal=changed(value))) else NOT_BROKEN), None

        for end in (64 * now,) if side == "left" else (Fraction(0), 64 * now):
            if end != now and ask(end)[0] == PROVED:
                reached = sandwich(ask, *sorted((now, end)), steps=10)
                if reached.proved is not None and reached.proved[0] != 0:
                    value = reached.proved[0]
                    words = f"{side}: {value} in place of {number}"
                    found.append(Change(EDIT, words, changed(value), given, None, 3))
                break
    return found
