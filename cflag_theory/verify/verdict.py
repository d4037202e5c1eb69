"""What a verdict is, and how it follows from evidence.

No verdict is stored: `decide` derives it from what was proved, refuted and searched, on every call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.engine import algebra
from cflag_theory.claims.engine.claim import MEANINGS, Claim, Fact, Part, Sharp, statements
from cflag_theory.claims.engine.definitions import assumptions
from cflag_theory.claims.engine.meanings import unfold
from cflag_theory.claims.engine.printing import in_latex
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.errors import InconsistentEvidence
from cflag_theory.shown import Sheet, Shown


@cache
def fault(part: Part, on: str) -> str | None:
    """What is wrong with a part's repair or sharper statement, as computed from the relations; None if nothing is, or
    no relation tells.

    A repair speaks of what the printed relation speaks of, and the conditions that it adds do not imply its conclusion
    by themselves. A question may be answered by the exact condition, which says the same as its conclusion. A sharper
    statement has the printed left side, and its constant stands before the same term, smaller by the factor.
    """
    printed, repair = part.printed.relation, part.repair.statement.relation if part.repair else None
    if on == "repair" and printed is not None and repair is not None:
        return _unrelated(part, printed, repair) or (_restates(part) if part.kind == "claim" else None)
    if on == "sharp" and part.sharp is not None:
        bases = [one for one in (printed, repair) if one is not None]
        found = [_separation(part.sharp, base) for base in bases]
        return found[0] if found and None not in found else None
    return None


def _unrelated(part: Part, printed: Relation, repair: Relation) -> str | None:
    """A repair shares a side with what is printed, or half of the names of one of the two; facts may link names."""
    sides = [{sp.expand(side) for side in (one.left, one.right)} for one in (printed, repair)]
    if any(side.free_symbols for side in sides[0] & sides[1]):
        return None
    before, after = _names(printed), _names(repair)
    assert part.repair is not None
    linked = set(before)
    for fact in (*part.printed.facts, *part.repair.statement.facts):
        if (names := _names(fact.relation)) & before:
            linked |= names
    shared = after & linked
    if shared and 2 * len(shared) >= min(len(before), len(after)):
        return None
    return "the repair speaks of something else than what is printed"


def _restates(part: Part) -> str | None:
    """The conditions that a repair adds, together and without the printed hypotheses, do not imply its conclusion."""
    assert part.repair is not None
    statement = part.repair.statement
    if part.repair.kind != "needs-hypothesis" or statement.relation is None:
        return None
    printed = {fact.relation.unfolded for fact in part.printed.facts}
    known = {fact.name for fact in statement.facts}
    added = [
        relation
        for fact in statement.hypotheses
        if (relation := fact.relation.unfolded) not in printed and not _shown(fact, known)
    ]
    goal = statement.relation.unfolded
    if not algebra.follows(goal, added) or algebra.follows(goal, ()):
        return None
    return "the added conditions imply the conclusion by themselves, and so restate it"


def _shown(fact: Fact, known: set[str]) -> bool:
    """Whether a fact is a consequence of other rows under what the statement assumes: then it adds no condition."""
    return bool(fact.sources) and all(not one.granted and {*one.besides} <= known for one in fact.sources)


def _separation(sharp: Sharp, base: Relation) -> str | None:
    relation, at = sharp.statement.relation, dict(sharp.at)
    if relation is None:
        return None
    old, new = ([side.subs(at, simultaneous=True) for side in (one.left, one.right)] for one in (base, relation))
    same = [sp.cancel(sp.expand(a - b)) == 0 for a, b in zip(old, new, strict=True)]
    if base.op not in ("<=", "<") or not any(same):
        return "the sharper statement is about something else than the printed one"
    wanted = sp.sympify(sharp.printed / sharp.value)
    side = 1 if same[0] else 0
    above, below = _terms(old[side], new[side]), _terms(new[side], old[side])
    if any(sp.simplify(above[term] / below[term] - wanted) == 0 for term in above.keys() & below.keys()):
        return None
    return f"no term of the sharper side is smaller by the factor {sharp.factor:.6g}"


def _terms(side: sp.Expr, other: sp.Expr) -> dict[tuple[int, ...], Any]:
    """The coefficients of a side, by the powers of what it is made of, over the denominators of both."""
    (top, _), (_, under) = (sp.fraction(sp.together(one)) for one in (side, other))
    names = sorted(set().union(*(_atoms(one) for one in (side, other))), key=str)
    if not names:
        return {(): top * under}
    return dict(sp.Poly(sp.expand(top * under), *names, domain="EX").terms())


def _atoms(side: sp.Expr) -> set[sp.Expr]:
    """The members of sequences and the symbols outside of them."""
    members: set[sp.Expr] = side.atoms(AppliedUndef)
    return members | set(side.xreplace(dict.fromkeys(members, sp.S.One)).free_symbols)


def _names(relation: Relation) -> set[Any]:
    """The symbols and sequences of a relation, its own and those that they stand for."""
    sides = [side for one in (relation.left, relation.right) for side in (one, unfold(one))]
    found: set[Any] = set()
    return found.union(*(side.free_symbols | {term.func for term in side.atoms(AppliedUndef)} for side in sides))


#: What a claim of ours is when it holds: nobody else printed it.
OURS = "proved; a statement of ours, not of a paper"
#: What is found of an assumption or a question, by what the same evidence would say of a claim.
ANSWERS = {
    "holds": "always so",
    "loose": "always so",
    "open": "not decided",
    "typo": "not always so; the condition is proved",
    "needs-hypothesis": "not always so; a condition is proved",
    "false": "not always so",
}
#: From the mildest to the most severe; a row takes the most severe verdict of its parts. A part that is false as
#: printed makes the row false as printed, whatever another part leaves open.
GRAVITY = tuple(MEANINGS)
PROVING = frozenset({"proof", "enumeration", "recomputation"})
REFUTING = frozenset({"counterexample", "enumeration", "recomputation"})
SUPPORTS, REFUTES, UNDECIDED = "supports", "refutes", "undecided"


@dataclass(frozen=True)
class Evidence:
    """One finding about one statement."""

    #: "proof", "counterexample", "enumeration", "recomputation", "worst-case", "property" or "monte-carlo".
    kind: str
    #: Which part of the claim, and which of its statements: "printed", "repair" or "sharp".
    part: str
    on: str
    #: "supports", "refutes" or "undecided".
    finding: str
    #: One sentence for people.
    summary: str
    #: Engines, rules, cases, worst ratio, seed, the lines of a replay: plain JSON values.
    data: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        return {
            "kind": self.kind,
            "part": self.part,
            "on": self.on,
            "finding": self.finding,
            "summary": self.summary,
            **self.data,
        }


@dataclass(frozen=True)
class PartVerdict:
    """What is decided on one part, with its kind and whether its sharper constant is proved.

    `verdict` is read as a verdict of a claim; of an assumption or a question it leads to the answer, see `ANSWERS`.
    """

    key: str
    verdict: str
    sharp_proved: bool
    kind: str = "claim"

    @property
    def label(self) -> str:
        """What people read: the verdict of a claim, the kind of anything else."""
        return self.verdict if self.kind == "claim" else self.kind


@dataclass(frozen=True, repr=False)
class Verdict(Shown):
    """A claim with its verdict and everything that led to it.

    `verdict` is the most severe of the parts that are claims; of a row without any it is the kind of its first part.
    """

    claim: Claim
    verdict: str
    parts: tuple[PartVerdict, ...]
    evidence: tuple[Evidence, ...]

    @property
    def is_claim(self) -> bool:
        """Whether the row has a verdict, and counts."""
        return self.verdict in MEANINGS

    @property
    def meaning(self) -> str:
        """One line for people: what the verdict means, or what was found about an assumption or a question."""
        if not self.is_claim:
            return "; ".join(dict.fromkeys(ANSWERS[part.verdict] for part in self.parts))
        return OURS if self.claim.paper == "ours" and self.verdict == "holds" else MEANINGS[self.verdict]

    @property
    def counterexample(self) -> Evidence | None:
        """The first refutation of a printed statement."""
        for item in self.evidence:
            if item.on == "printed" and item.finding == REFUTES:
                return item
        return None

    @property
    def repairs(self) -> tuple[str, ...]:
        """The named repairs of the parts that are false as printed, where the repair is proved."""
        repaired = {part.key for part in self.parts if part.verdict in ("typo", "needs-hypothesis")}
        words = (part.repair.words for part in self.claim.parts if part.repair and part.key in repaired)
        # Parts may share a repair; it is named once.
        return tuple(dict.fromkeys(words))

    @property
    def instead(self) -> tuple[str, ...]:
        """Claims of our own that the notes point to."""
        return self.claim.instead

    @property
    def sharp(self) -> tuple[dict[str, Any], ...]:
        """Proved sharper constants: name, printed value, proved value, factor, and how close an instance comes."""
        proved = {part.key for part in self.parts if part.sharp_proved}
        found = []
        for part in self.claim.parts:
            if part.sharp and part.key in proved:
                reached = [
                    e.data["largest_ratio"]
                    for e in self.evidence
                    if e.part == part.key and e.on == "sharp" and "largest_ratio" in e.data
                ]
                found.append(
                    {
                        "constant": part.sharp.words,
                        "printed": str(part.sharp.printed),
                        "value": str(part.sharp.value),
                        "factor": part.sharp.factor,
                        "reached": max(reached) if reached else None,
                    }
                )
        return tuple(found)

    def sheet(self) -> Sheet:
        """Its parts with their statements and verdicts; below, what refutes it and what is proved instead."""
        rows = [
            (part.key, part.printed.words, found.label)
            for part, found in zip(self.claim.parts, self.parts, strict=True)
        ]
        found = self.counterexample
        notes = [] if found is None else [f"Counterexample: {found.summary}"]
        notes += [f"Repair, proved: {words}" for words in self.repairs]
        notes += [f"Sharper, proved: {one['constant']}, {one['value']} for {one['printed']}" for one in self.sharp]
        notes += [f"See also: {', '.join(self.instead)}"] if self.instead else []
        line = f"{self.claim.id} ({self.claim.where}): {self.verdict}, {self.meaning}"
        return Sheet(line, ("part", "statement", "verdict"), rows, notes)

    def to_json(self) -> dict[str, Any]:
        """The stable interface of ``cflag verify --format json``."""
        found = self.counterexample
        return {
            "id": self.claim.id,
            "paper": self.claim.paper,
            "where": self.claim.where,
            "title": self.claim.title,
            "statement": [
                {
                    "part": part.key,
                    "words": part.printed.words,
                    "latex": in_latex(part.printed.relation) if part.printed.relation else None,
                    "hypotheses": [fact.words for fact in assumptions(part.printed)],
                    "definitions": [
                        fact.words for fact in part.printed.definitions if fact not in assumptions(part.printed)
                    ],
                }
                for part in self.claim.parts
            ],
            "kind": "claim" if self.is_claim else self.verdict,
            "verdict": self.verdict if self.is_claim else None,
            "parts": {part.key: part.label for part in self.parts},
            "evidence": [item.to_json() for item in self.evidence],
            "sharp": list(self.sharp),
            "repair": list(self.repairs),
            "instead": list(self.instead),
            "counterexample": None if found is None else found.to_json(),
            "notes": list(self.claim.notes),
        }


def decide(claim: Claim, evidence: Sequence[Evidence]) -> Verdict:
    """The verdict that the evidence supports."""
    parts = tuple(_decide_part(claim, part, evidence) for part in claim.parts)
    verdicts = [part.verdict for part in parts if part.kind == "claim"]
    gravest = max(verdicts, key=GRAVITY.index) if verdicts else parts[0].kind
    return Verdict(claim, gravest, parts, tuple(evidence))


def _counted(item: Evidence) -> bool:
    """Whether evidence over a finite set says over how many cases: that of a proof or an instance is in itself."""
    if item.kind not in ("enumeration", "recomputation"):
        return True
    return any(isinstance(n := item.data.get(name), int) and n > 0 for name in ("cases", "compared"))


def _decide_part(claim: Claim, part: Part, evidence: Sequence[Evidence]) -> PartVerdict:
    def proved(on: str) -> bool:
        found = [e for e in evidence if e.part == part.key and e.on == on]
        supported = any(e.finding == SUPPORTS and e.kind in PROVING and _counted(e) for e in found)
        supported = supported and fault(part, on) is None
        if (statement := statements(part).get(on)) is not None and statement.relation is not None:
            # Hypotheses that nothing satisfies would prove anything: some exact instance must meet them.
            supported &= any(e.data.get("exact") and e.data.get("cases") for e in found) or REFUTES in (
                e.finding for e in found
            )
        contradicted = [e for e in found if e.finding == REFUTES]
        if supported and contradicted:
            raise InconsistentEvidence(
                f"{claim.id}.{part.key} ({on}) is proved, and yet {contradicted[0].summary} "
                "Either a rule was applied where it does not apply, or the instance is wrong: read both."
            )
        return supported

    holds, sharp, repaired = proved("printed"), proved("sharp"), proved("repair")
    refuted = any(
        e.part == part.key and e.on == "printed" and e.finding == REFUTES and e.kind in REFUTING and _counted(e)
        for e in evidence
    )
    if holds:
        tighter = sharp and part.sharp is not None and part.sharp.factor > 1
        return PartVerdict(part.key, "loose" if tighter else "holds", sharp, part.kind)
    if refuted:
        return PartVerdict(part.key, part.repair.kind if part.repair and repaired else "false", sharp, part.kind)
    return PartVerdict(part.key, "open", sharp, part.kind)
