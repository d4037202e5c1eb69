"""Repairs of a user's claim, and which hypotheses of a proved one earn their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import sympy as sp

from cflag_theory.claims.engine.claim import every_statement
from cflag_theory.claims.engine.definitions import assumptions
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.terms import Function
from cflag_theory.claims.uses import idle, named, without
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import Conjecture, Stated, stated
from cflag_theory.falsify.decisions.changes import HYPOTHESIS, Change
from cflag_theory.falsify.decisions.deciding import decide, offered
from cflag_theory.falsify.decisions.decision import NEITHER, Decision
from cflag_theory.falsify.decisions.guided import Guided, guided
from cflag_theory.falsify.decisions.repairing import EACH, Repairing
from cflag_theory.falsify.falsifying import BUDGET, SECONDS
from cflag_theory.falsify.finding import PROVED, REFUTED, Finding
from cflag_theory.falsify.proving import attempt_formula, box_of, read
from cflag_theory.falsify.search.guard import TimeUp, time_limit
from cflag_theory.falsify.tracing import NotAlgebra
from cflag_theory.falsify.vector_terms.reading import Reading, claim_of, read_vectors
from cflag_theory.falsify.vector_terms.words import function
from cflag_theory.shown import Sheet, Shown

#: What becomes of a claim without a hypothesis, for people.
WITHOUT = {REFUTED: "needed", PROVED: "idle: proved without it", NEITHER: "undecided without it"}

#: Whether a proof names a hypothesis.
USED = {True: "used", False: "not used", None: ""}


@dataclass(frozen=True)
class Need:
    """One hypothesis of a proved claim: whether the proof that was found names it (None where that cannot be told),
    whether the claim `without` it is "refuted", "proved" or "neither", and the counterexample `against` that.
    """

    words: str
    used: bool | None
    without: str
    against: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        return {"words": self.words, "used": self.used, "without": self.without, "against": list(self.against)}


@dataclass(frozen=True, repr=False)
class Audited(Shown):
    """A claim, what became of it, and, if it is proved, its hypotheses one by one."""

    decision: Decision
    needs: tuple[Need, ...] = ()
    interrupted: bool = False

    @property
    def name(self) -> str:
        """The claim's."""
        return self.decision.name

    def sheet(self) -> Sheet:
        """A line for each hypothesis."""
        rows = [(one.words, USED[one.used], WITHOUT[one.without]) for one in self.needs]
        return Sheet(f"{self.name}: {self.decision.outcome}", ("hypothesis", "in the proof", "without it"), rows)

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        return self.decision.to_json() | {"audit": [one.to_json() for one in self.needs]}


def audit(
    conjecture: Conjecture,
    *,
    budget: int = BUDGET,
    seed: int = 0,
    seconds: float = SECONDS,
    progress: Callable[[int], None] | None = None,
) -> Audited:
    """Decide a claim, and, if it is proved, decide it again without each of its hypotheses.

    Hypotheses are what is given, and that functions are convex, smooth or bounded below.

    Raises
    ------
    InvalidInput, InconsistentEvidence
        As `falsify` does.
    """
    how: dict[str, Any] = {"budget": budget, "seed": seed, "seconds": seconds, "progress": progress}
    known = offered(conjecture) if isinstance(conjecture, Stated) and conjecture.of_the_ledger else None
    if known is not None:
        finding = Finding(conjecture.name, conjecture.relation, PROVED, {}, (), seed, budget, known.engines)
        found = Decision(PROVED, replace(finding, sides=conjecture.words, written=True))
    else:
        found = decide(conjecture, **how)
    needs: list[Need] = []
    try:
        # With constants that are to be found the claim without a hypothesis would be about others.
        plain = found.proved and conjecture.free is None and not conjecture.exists
        for words, used, changed in _each_less(conjecture, found) if plain else ():
            needs.append(Need(words, used, PROVED) if changed is None else _need(words, used, changed, how))
    except KeyboardInterrupt:
        return Audited(found, tuple(needs), interrupted=True)
    return Audited(found, tuple(needs))


def _need(words: str, used: bool | None, changed: Conjecture, how: Mapping[str, Any]) -> Need:
    """What a claim is without a hypothesis; what is no claim then, such as a division by zero, stays undecided."""
    with suppress(InvalidInput):
        less = decide(changed, **how)
        case = less.instance or tuple(f"{name} = {value}" for name, value in less.finding.case.items())
        sides = (f"left = {less.finding.left}, right = {less.finding.right}",)
        return Need(words, used, less.outcome, (*case, *sides) if less.refuted else ())
    return Need(words, used, NEITHER)


def _each_less(conjecture: Conjecture, found: Decision) -> Iterator[tuple[str, bool | None, Conjecture | None]]:
    """Each hypothesis, whether the proof names it, and the claim without it; None where the same proof shows that."""
    proof = found.derivation.statement if found.derivation is not None else None
    if isinstance(conjecture, Stated):
        statement = conjecture.statement
        spare, offers = idle(statement), statement.proof is not None
        for fact in assumptions(statement):
            used = fact.name in named(statement) if offers else None
            less = stated(conjecture.name, without(statement, [fact]))
            yield fact.told, used, None if fact in spare else less
    elif conjecture.about_vectors:
        reading = read_vectors(conjecture)
        for fact in reading.facts:
            used, spared = None, False
            # An equation that was put into the claim is no hypothesis of the proof any more.
            if proof is not None and fact in proof.hypotheses:
                used = fact.name in named(proof)
                same = proof.relation == reading.goal and {*proof.hypotheses} <= {*reading.facts}
                spared = same and not used and examine(without(proof, [fact]), second=False).accepted
            yield str(fact.relation), used, None if spared else claim_of(reading.without(fact))
        for words, weaker in _weaker(reading):
            yield words, None, claim_of(weaker)
    else:
        for place, one in enumerate(conjecture.hypotheses):
            given = (*conjecture.given[:place], *conjecture.given[place + 1 :])
            yield one.words, None, replace(conjecture, given=given)


def _weaker(reading: Reading) -> Iterator[tuple[str, Reading]]:
    """The claim without each property of each function."""
    for f in reading.functions:
        declared = f.properties
        known = {"smooth": declared.smooth, "mu": declared.mu, "lower": declared.lower}
        convex = "convex" if declared.mu == 0 else f"{declared.mu}-strongly convex"
        told = {"smooth": f"{declared.smooth}-smooth", "mu": convex, "lower": f"bounded below by {declared.lower}"}
        for name in (name for name, value in known.items() if value is not None):
            yield f"{f} is {told[name]}", with_properties(reading, f, known | {name: None})


def with_properties(reading: Reading, f: Function, known: Mapping[str, Any]) -> Reading:
    """The reading with other properties of a function."""
    twin = function(str(f.args[0].name), latex=f.properties.latex, **known)
    return reading.put({f: Function(twin.args[0], *f.args[1:])})


def proved_of_the_ledger(id: str) -> list[Stated]:
    """The statements of a claim of the ledger that have a proof, as claims to audit; none if it has no such claim."""
    from cflag_theory.claims.ledger import LEDGER, claim

    if id not in LEDGER:
        return []
    known = ((part.key, role, one) for part in claim(id).parts for role, one in every_statement(part).items())
    proved = [(key, role, one) for key, role, one in known if one.proof is not None and one.relation is not None]
    kept = [stated(f"{id}.{key}, {role}", one) for key, role, one in proved if role != "refutation"]
    return [replace(one, of_the_ledger=True) for one in kept]


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
        changed = replace(formula, goal=one.change.goal, given=one.change.given[len(ranges) :])
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
