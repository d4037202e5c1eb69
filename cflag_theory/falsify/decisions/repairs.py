"""Repairs of a user's claim, each of them decided."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import sympy as sp

from cflag_theory.claims.engine.relation import sides
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.decisions.auditing import with_properties
from cflag_theory.falsify.decisions.changes import HYPOTHESIS, Change
from cflag_theory.falsify.decisions.deciding import decide
from cflag_theory.falsify.decisions.decision import Decision
from cflag_theory.falsify.decisions.guided import Guided, guided
from cflag_theory.falsify.decisions.repairing import EACH, Repairing
from cflag_theory.falsify.falsifying import BUDGET, SECONDS
from cflag_theory.falsify.finding import PROVED
from cflag_theory.falsify.proving import attempt_formula, box_of, read
from cflag_theory.falsify.search.guard import TimeUp, time_limit
from cflag_theory.falsify.tracing import NotAlgebra, needs_of
from cflag_theory.falsify.vector_terms.reading import Reading, claim_of, read_vectors
from cflag_theory.shown import Sheet, Shown

#: Seconds of the search for changes, in evaluations; cases that a changed claim is tried on.
_SEARCH, _LOOK = 3, 150


@dataclass(frozen=True, repr=False)
class Repaired(Shown):
    """A claim, what became of it as it is (its counterexample shows that some change is necessary), and changes with
    which it was proved, the smallest first.
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
        proposals = (
            _of_vectors(conjecture, budget, seconds) if conjecture.about_vectors else _of_numbers(conjecture, seconds)
        )
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
        goal, given = one.change.goal, one.change.given[len(ranges) :]
        needs = (need for side in sides(goal, *given) for need in needs_of(side))
        changed = replace(formula, goal=goal, given=given, needs=(*formula.needs, *needs))
        if attempt_formula(changed, box).word == PROVED:
            proved.append(one.change)
    return proved


def _of_vectors(conjecture: Conjecture, budget: int, seconds: float) -> list[Change]:
    """Changes of a claim with vectors, each of which was decided as the claim was."""
    reading = read_vectors(conjecture)
    found: list[Change] = []
    done: set[str] = set()
    with suppress(TimeUp, sp.PolynomialError, ValueError, ArithmeticError), time_limit(_SEARCH * seconds):
        for one in chain(_convex(reading), guided(reading)):
            kept = [by for by in found if by.kind == one.change.kind]
            if len(kept) < EACH and one.place not in done and not any(_same(one.change, by) for by in kept):
                with suppress(InvalidInput):
                    if decide(claim_of(one.reading), budget=min(budget, _LOOK), seconds=seconds / 4).proved:
                        found.append(one.change)
                        done |= {one.place} - {""}
    return found


def _same(one: Change, other: Change) -> bool:
    """Whether two changes bound one amount, the first that was proved with the larger bound."""
    return one.added is not None and other.added is not None and one.added.left == other.added.left


def _convex(reading: Reading) -> Iterator[Guided]:
    """Each function convex."""
    for f in reading.functions:
        declared = f.properties
        if declared.mu is None:
            known = {"smooth": declared.smooth, "mu": 0, "lower": declared.lower}
            changed = with_properties(reading, f, known)
            words = f"assume that {f.args[0].name} is convex"
            given = tuple(fact.relation for fact in changed.facts)
            yield Guided(Change(HYPOTHESIS, words, changed.goal, given, None, 10), changed)
