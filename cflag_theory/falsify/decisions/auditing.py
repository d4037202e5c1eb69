"""Which hypotheses of a proved claim earn their place: without each, a counterexample, a proof, or neither."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from cflag_theory.claims.engine.claim import every_statement
from cflag_theory.claims.engine.definitions import assumptions
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.terms import Function
from cflag_theory.claims.uses import idle, named, without
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import Conjecture, Stated, stated
from cflag_theory.falsify.decisions.deciding import decide, offered
from cflag_theory.falsify.decisions.decision import NEITHER, Decision
from cflag_theory.falsify.falsifying import BUDGET, SECONDS
from cflag_theory.falsify.finding import PROVED, REFUTED, Finding
from cflag_theory.falsify.vector_terms.reading import Reading, claim_of, read_vectors
from cflag_theory.falsify.vector_terms.words import renewed
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


def proved_of_the_ledger(id: str) -> list[Stated]:
    """The statements of a claim of the ledger that have a proof, as claims to audit; none if it has no such claim."""
    from cflag_theory.claims.ledger import LEDGER, claim

    if id not in LEDGER:
        return []
    known = ((part.key, role, one) for part in claim(id).parts for role, one in every_statement(part).items())
    proved = [(key, role, one) for key, role, one in known if one.proof is not None and one.relation is not None]
    kept = [stated(f"{id}.{key}, {role}", one) for key, role, one in proved if role != "refutation"]
    return [replace(one, of_the_ledger=True) for one in kept]


def with_properties(reading: Reading, f: Function, known: Mapping[str, Any]) -> Reading:
    """The reading with other properties of a function."""
    return reading.put({f: renewed(f, **known)})
