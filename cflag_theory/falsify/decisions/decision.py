"""The result of `decide`, and the derivation of a proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cflag_theory.falsify.decisions.constants import Constant
from cflag_theory.falsify.decisions.derivation import Derivation
from cflag_theory.falsify.finding import PROVED, REFUTED, Finding
from cflag_theory.shown import Sheet, Shown

NEITHER = "neither"


@dataclass(frozen=True, repr=False)
class Decision(Shown):
    """What proving and refuting a claim gave.

    Attributes
    ----------
    outcome : str
        "proved", "refuted" or "neither". With a free constant: whether a value was proved, else refuted.
    finding : Finding
        What was established; of a free constant, at the value that was proved, else at the one that was refuted.
    constant : Constant or None
        Of the free variable; where the outcome is "neither", of a factor of the right side.
    derivation : Derivation or None
        The lines of a proof, each with its multiplier, where a certificate was found.
    instance : tuple of str
        Of a refuted claim with vectors: its numbers, vectors and functions, a line each.
    """

    outcome: str
    finding: Finding
    constant: Constant | None = None
    derivation: Derivation | None = None
    instance: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The claim's."""
        return self.finding.name

    @property
    def proved(self) -> bool:
        """Whether the claim was proved for all values."""
        return self.outcome == PROVED

    @property
    def refuted(self) -> bool:
        """Whether a counterexample was found."""
        return self.outcome == REFUTED

    def sheet(self) -> Sheet:
        """The outcome; then the derivation, or the counterexample; below, what is known of a constant."""
        head, rows = ("number", "value"), [*self.finding.sheet().rows]
        notes = [*self.instance]
        if self.derivation is not None:
            head, rows = ("line", "why"), [(str(one.relation), one.why) for one in self.derivation.lines]
            notes += self.derivation.text()[len(rows) :]
        if self.constant is not None:
            best = self.constant
            notes.append(f"{best.name}: proved {best.provable}, refuted {best.refuted}")
        return Sheet(f"{self.name}: {self.outcome}", head, rows, notes)

    def to_json(self) -> dict[str, Any]:
        """Plain values only: those of the finding, and what decides it."""
        return self.finding.to_json() | {
            "outcome": self.outcome,
            "constant": None if self.constant is None else self.constant.to_json(),
            "instance": list(self.instance),
            "derivation": None if self.derivation is None else self.derivation.to_json(),
        }
