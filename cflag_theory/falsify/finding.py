"""The result of a search: refuted, proved or not broken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from cflag_theory.errors import InvalidInput
from cflag_theory.shown import Sheet, Shown, number

if TYPE_CHECKING:
    # `conform` gives findings of its own, without sympy.
    from cflag_theory.claims.engine.claim import Statement

REFUTED, PROVED, NOT_BROKEN = ("refuted", "proved", "not broken")


def plain_fields(record: Any, without: str = "") -> dict[str, Any]:
    """The fields of a record but some: tuples as lists, mappings as dictionaries, all else as it is."""

    def plain(value: Any) -> Any:
        return list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value

    return {one.name: plain(getattr(record, one.name)) for one in fields(record) if one.name not in without.split()}


class NoCase(InvalidInput):
    """No case that was tried satisfies the hypotheses: widen the ranges, or drop one."""


@dataclass(frozen=True, repr=False)
class Finding(Shown):
    """The result of `falsify`."""

    #: The conjecture's.
    name: str
    relation: str
    #: "refuted": `case` is a counterexample in exact arithmetic. "proved": by the engines listed, for all values (see
    #: `scope`). "not broken": no counterexample was found, which proves nothing.
    status: str
    #: The variables and their ranges.
    ranges: Mapping[str, str]
    #: The further hypotheses.
    given: tuple[str, ...]
    seed: int
    budget: int
    #: Of a proof: "sympy", "z3", or "enumeration" where all cases of a finite range were evaluated exactly.
    engines: tuple[str, ...] = ()
    #: Of a counterexample: "algebra", "corners", "hypothesis", "optimisation" or "enumeration".
    found_by: str = ""
    #: The counterexample, shrunk, and both sides at it.
    case: Mapping[str, Any] = field(default_factory=dict)
    left: str = ""
    right: str = ""
    #: The largest left/right found where the right side is positive, at `worst`, in exact arithmetic.
    largest_ratio: float | None = None
    #: Where.
    worst: Mapping[str, Any] = field(default_factory=dict)
    #: Cases evaluated on floats, how many satisfy the hypotheses, and the same in exact arithmetic.
    cases: int = 0
    feasible: int = 0
    exact_cases: int = 0
    exact_feasible: int = 0
    #: What the search did not cover.
    not_covered: tuple[str, ...] = ()
    #: Whether it was stopped before its budget was spent.
    interrupted: bool = False
    #: Whether an evaluation that runs none of the user's code took longer than it may: the search ended there.
    out_of_time: bool = False
    #: Both sides as they were read; "left" and "right" for Python functions.
    sides: tuple[str, str] = ("left", "right")
    #: Whether a side is a sympy expression.
    written: bool = False
    #: The claim with the proof that rules are, if they are one.
    proof: Statement | None = None

    @property
    def claim(self) -> str:
        """What was decided; of a Python function only which side it is."""
        return f"{self.sides[0]} {self.relation} {self.sides[1]}"

    @property
    def scope(self) -> str:
        """Which values a proof is about: of what sympy cancels before anything is read, it knows nothing."""
        return "for all values in the ranges" + (" at which both sides, as written, have values" * self.written)

    @property
    def refuted(self) -> bool:
        """Whether a counterexample was found."""
        return self.status == REFUTED

    def sheet(self) -> Sheet:
        """The status; of a counterexample its numbers and both sides, else how far the search came."""
        rows: list[tuple[str, str]] = [(name, str(value)) for name, value in (self.case or self.worst).items()]
        if self.refuted:
            rows += [("left", self.left), ("right", self.right)]
        notes = [f"Proved by {' and '.join(self.engines)}, {self.scope}."] if self.engines else []
        if self.largest_ratio is not None and not self.refuted:
            notes.append(f"The largest left/right among {self.cases} cases is {number(self.largest_ratio)}.")
        return Sheet(f"{self.name}: {self.status}", ("number", "value"), rows, notes)

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        found = plain_fields(self, "case left right exact_feasible out_of_time sides written proof")
        against = {"values": dict(self.case), "left": self.left, "right": self.right} if self.refuted else None
        found |= {"claim": self.claim, "counterexample": against}
        return found | {name: found[name] or None for name in ("found_by", "worst")}
