"""What a comparison found: the first quantity that differs, and the slips that reproduce a user's numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from cflag_theory.conform.case import ASSUMPTIONS, EQUAL_WEIGHTS, SERVER_LR_1
from cflag_theory.conform.numbers import ROUNDOFF, SLACK, Rounded, Vector, plain
from cflag_theory.conform.running import Record
from cflag_theory.falsify.finding import NOT_BROKEN, REFUTED, plain_fields

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
    """Whether an implementation computed what the reference computes."""

    #: The reference.
    algorithm: str
    title: str
    source: str
    #: "refuted": `difference` is the first quantity that differs. "not broken": all numbers agreed on the problems that
    #: were tried, which is not a proof.
    status: str
    #: What the functions ran on; `why` says why not on fractions.
    numbers: str
    #: How many were run, and how many vectors were compared.
    problems: int
    rounds: int
    seed: int
    compared: int
    why: str = ""
    #: What the cases assumed, and what of it the user stated: the rest is the source's, or nobody asked for it.
    assumed: tuple[str, ...] = ()
    stated: tuple[str, ...] = ()
    #: The first line of the functions that makes a float32 of what they run on; "" where none is seen.
    cast: str = ""
    #: "float32" if differences count only beyond its rounding.
    precision: str = ""
    #: What the functions rely on: all numbers agree under these assumptions, and not without one of them.
    takes: tuple[str, ...] = ()
    #: What else is assumed where the slips give all numbers.
    under: tuple[str, ...] = ()
    #: What the functions raise in a case without what they rely on.
    error: str = ""
    difference: Difference | None = None
    #: Where the source computes that quantity.
    place: str = ""
    #: Known slips that reproduce all numbers of the functions, in words.
    slips: tuple[str, ...] = ()
    #: How many slips were tried.
    tried: int = 0
    #: The problem on which the difference shows.
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
        if not self.refuted:
            return [
                f"{self.title}: {NOT_BROKEN}" + (" to float32's precision" if self.precision else ""),
                f"  {self.compared} vectors agree, in {self.problems} problems of {self.rounds} rounds, seeds from "
                f"{self.seed}, {ran}. This is not a proof.",
                *self._granted(),
                *self._single(),
            ]
        return [f"{self.title}: {REFUTED}", *self._takes(), *self._first(), *self._slips(), f"  {ran}", *self._single()]

    def _granted(self) -> list[str]:
        own = [name for name in self.assumed if name not in self.stated]
        return [
            f"  {words}: {', '.join(ASSUMPTIONS[name] for name in names)}"
            for words, names in (("assumed", self.stated), ("held in all problems", own))
            if names
        ]

    def _single(self) -> list[str]:
        if self.precision:
            seen = f"your code computes in float32: {self.cast}" if self.cast else "numbers are float32"
            return [
                f"  {seen}",
                "    Differences below float32's rounding are not seen: run it in float64 to see more.",
            ]
        if self.difference is not None and self.difference.single:
            return [
                "  float32's rounding would explain all differences, but no float32 is seen in your code: if it "
                "computes in float32, use --numbers float32",
            ]
        return []

    def _takes(self) -> list[str]:
        if not self.takes:
            return []
        what = " and ".join(ASSUMPTIONS[name] for name in self.takes)
        known = bool(self.slips) or not {EQUAL_WEIGHTS, SERVER_LR_1}.intersection(self.takes)
        words = f"your code takes {what}" if known else f"your code is right only with {what}"
        return [
            f"  {words}: with that all numbers agree, without it they do not",
            "    if it is meant, check the rest with " + " ".join(f"--assume {name}" for name in self.takes),
        ]

    def _first(self) -> list[str]:
        found = self.difference
        if found is None:
            return [f"  without it your functions fail: {self.error}"]
        who = "server" if found.client is None else f"client {found.client}"
        step = "" if found.step is None else f", after local step {found.step}"
        tolerance = f" (rounding explains {found.tolerance:.1e})" if found.tolerance else ""
        place = f"; {self.source}, {self.place}" if self.place else f"; {self.source}"
        return [
            f"  the first difference is in round {found.t + 1}, {who}{step}: {_QUANTITIES.get(found.name, found.name)}",
            f"    expected  ({', '.join(found.expected)})",
            f"    got       ({', '.join(found.met)}){tolerance}",
            f"    where     {self.title}{place}",
        ]

    def _slips(self) -> list[str]:
        if self.takes:
            return [f"  {words}" for words in self.slips]
        if not self.slips:
            return [f"  none of the {self.tried} known slips gives these numbers"]
        lines = [f"  the most likely slip: {self.slips[0]}"]
        lines += [f"  or, with the same numbers: {words}" for words in self.slips[1:]]
        lines.append("    with it the reference gives all of the numbers that your functions gave")
        if self.under:
            lines.append(f"    where {' and '.join(ASSUMPTIONS[name] for name in self.under)} are assumed besides")
        return lines

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        found = self.difference
        told = {"difference": None if found is None else {**vars(found), "place": self.place}}
        return plain_fields(self, "difference place tried") | told | {"slips_tried": self.tried}


_SHORT = 12


@dataclass(frozen=True)
class Difference:
    """The first quantity in which two records differ."""

    #: As the reference calls it; "y" for a local iterate.
    name: str
    #: Round and client from 0, the local step; None for the server.
    t: int
    client: int | None
    step: int | None
    #: The coordinates.
    expected: tuple[str, ...]
    met: tuple[str, ...]
    #: How far rounding could have moved the coordinate that differs most; 0 for fractions.
    tolerance: float = 0.0
    #: Whether rounding in float32 would explain this difference and all others.
    single: bool = False


def allowed(expected: Any, kind: str) -> float:
    """How far rounding may move a number from what the reference computed in double precision."""
    if not isinstance(expected, Rounded):
        return 0.0
    return SLACK * (ROUNDOFF[kind] + ROUNDOFF["float64"]) * expected.error


def equal(expected: Vector, met: Vector, kind: str) -> bool:
    """Whether two vectors are equal up to rounding."""
    return _excess(expected, met, kind) is None


def _excess(expected: Vector, met: Vector, kind: str) -> float | None:
    """The tolerance where it is exceeded most, None where it is nowhere."""
    worst, found = 0.0, None
    for one, other in zip(plain(expected), plain(met), strict=True):
        tolerance = allowed(one, kind)
        gap = (
            abs(Fraction(one) - Fraction(other)) if isinstance(one, Fraction | int) else abs(float(one) - float(other))
        )
        if gap > tolerance and gap - tolerance >= worst:
            worst, found = float(gap) - tolerance, tolerance
    return found


def first_difference(expected: Record, met: Record, kind: str) -> Difference | None:
    """The earliest quantity of `met` that is not that of `expected`."""
    for key, value in met.values.items():
        name, t, client = key
        if key not in expected.values or equal(expected.values[key], value, kind):
            continue
        if client is not None and name in ("x_i", "delta", "c_i", "h_i"):
            earlier = _first_point(expected.points[t, client], met.points[t, client], t, client, kind)
            if earlier is not None:
                return earlier
        tolerance = _excess(expected.values[key], value, kind) or 0.0
        return Difference(name, t, client, None, words(expected.values[key]), words(value), tolerance)
    return None


def _first_point(wanted: Sequence[Vector], met: Sequence[Vector], t: int, client: int, kind: str) -> Difference | None:
    """The first local iterate at which another gradient was asked for; None where nothing was asked for."""
    for k, (one, other) in enumerate(zip(wanted, met, strict=False), start=1):
        if not equal(one, other, kind):
            tolerance = _excess(one, other, kind) or 0.0
            return Difference("y", t, client, k, words(one), words(other), tolerance)
    return None


def reproduces(mutant: Record, met: Record, kind: str) -> bool:
    """Whether a mutant computes all that the user's functions returned."""
    return all(key in mutant.values and equal(mutant.values[key], value, kind) for key, value in met.values.items())


def words(vector: Vector) -> tuple[str, ...]:
    """Coordinates as text: short fractions as they are, other numbers with nine digits."""
    short = [str(one) if isinstance(one, Fraction | int) else "" for one in plain(vector)]
    return tuple(
        text if 0 < len(text) <= _SHORT else f"{float(one):.9g}" for text, one in zip(short, plain(vector), strict=True)
    )
