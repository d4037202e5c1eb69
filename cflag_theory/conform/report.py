"""What a comparison found, in words and as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cflag_theory.conform.comparing import Difference
from cflag_theory.falsify.finding import NOT_BROKEN, REFUTED

_QUANTITIES = {
    "y": "local iterate y",
    "x_i": "the client's model x_i after its local steps",
    "x": "the server's model x",
    "c_i": "the client's control variate c_i",
    "c": "the server's control variate c",
    "delta_c": "what the client sends, c_i+ - c_i",
    "h_i": "the client's linear term h_i",
    "h": "the server's h",
    "s": "the momentum s",
    "g_i": "the client's gradient g_i",
    "delta": "the client's step Delta x_i",
}


@dataclass(frozen=True)
class Report:
    """Whether an implementation computed what the reference computes.

    Attributes
    ----------
    algorithm, title, source : str
        The reference.
    status : str
        "refuted": `difference` is the first quantity that differs. "not broken": all numbers agreed on the problems
        that were tried, which is not a proof.
    numbers : str
        What the functions ran on; `why` says why not on fractions.
    problems, rounds, compared : int
        How many were run, and how many vectors were compared.
    difference : Difference or None
    place : str
        Where the source computes that quantity.
    slips : tuple of str
        Known slips that reproduce all numbers of the functions, in words.
    tried : int
        How many slips were tried.
    case : mapping
        The problem on which the difference shows.
    """

    algorithm: str
    title: str
    source: str
    status: str
    numbers: str
    problems: int
    rounds: int
    seed: int
    compared: int
    why: str = ""
    difference: Difference | None = None
    place: str = ""
    slips: tuple[str, ...] = ()
    tried: int = 0
    case: Mapping[str, Any] | None = None

    @property
    def refuted(self) -> bool:
        """Whether a difference was found."""
        return self.status == REFUTED

    def __bool__(self) -> bool:
        return not self.refuted

    def lines(self) -> list[str]:
        """The report in a few lines."""
        ran = f"{self.numbers} numbers" + (f" ({self.why})" if self.why else "")
        if self.difference is None:
            return [
                f"{self.title}: {NOT_BROKEN}",
                f"  {self.compared} vectors agree, in {self.problems} problems of {self.rounds} rounds, seeds from "
                f"{self.seed}, {ran}. This is not a proof.",
            ]
        found = self.difference
        who = "server" if found.client is None else f"client {found.client}"
        step = "" if found.step is None else f", after local step {found.step}"
        tolerance = f" (rounding explains {found.tolerance:.1e})" if found.tolerance else ""
        place = f"; {self.source}, {self.place}" if self.place else f"; {self.source}"
        lines = [
            f"{self.title}: {REFUTED}",
            f"  the first difference is in round {found.t + 1}, {who}{step}: {_QUANTITIES.get(found.name, found.name)}",
            f"    expected  ({', '.join(found.expected)})",
            f"    got       ({', '.join(found.met)}){tolerance}",
            f"    where     {self.title}{place}",
        ]
        if self.slips:
            lines.append(f"  the most likely slip: {self.slips[0]}")
            lines += [f"  or, with the same numbers: {words}" for words in self.slips[1:]]
            lines.append("    with it the reference gives all of the numbers that your functions gave")
        else:
            lines.append(f"  none of the {self.tried} known slips gives these numbers")
        lines.append(f"  {ran}")
        return lines

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        found = self.difference
        return {
            "algorithm": self.algorithm,
            "title": self.title,
            "source": self.source,
            "status": self.status,
            "numbers": self.numbers,
            "why": self.why,
            "problems": self.problems,
            "rounds": self.rounds,
            "seed": self.seed,
            "compared": self.compared,
            "difference": None if found is None else {**vars(found), "place": self.place},
            "slips": list(self.slips),
            "slips_tried": self.tried,
            "case": None if self.case is None else dict(self.case),
        }
