"""The result of `decide`: what is known of a constant, and the derivation of a proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Generic, TypeVar

from cflag_theory.falsify.decisions.derivation import Derivation
from cflag_theory.falsify.finding import PROVED, REFUTED, Finding, plain_fields
from cflag_theory.shown import Sheet, Shown

NEITHER = "neither"


@dataclass(frozen=True, repr=False)
class Decision(Shown):
    """What proving and refuting a claim gave."""

    #: "proved", "refuted" or "neither". With a free constant: whether a value was proved, else refuted.
    outcome: str
    #: What was established; of a free constant, at the value that was proved, else at the one that was refuted.
    finding: Finding
    #: Of the free variable; where the outcome is "neither", of a factor of the right side.
    constant: Constant | None = None
    #: The lines of a proof, each with its multiplier, where a certificate was found.
    derivation: Derivation | None = None
    #: Of a refuted claim with vectors: its numbers, vectors and functions, a line each.
    instance: tuple[str, ...] = ()
    #: Formulas of constants that the claim says to exist, with which it was proved.
    chosen: Mapping[str, str] = field(default_factory=dict)

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
        notes += [f"with {name} = {value}" for name, value in self.chosen.items()]
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
            "chosen": dict(self.chosen),
            "derivation": None if self.derivation is None else self.derivation.to_json(),
        }


#: Values of a constant that are tried, and how near to each other the two ends may stop, relative to their size.
_STEPS, _NEAR = 24, Fraction(1, 1000)
#: The largest factor of the right side that is tried.
LARGEST_FACTOR = 1 << 12

T = TypeVar("T")


@dataclass(frozen=True)
class Constant:
    """What is known of the best value of a constant."""

    #: The free variable, or "factor of the right side".
    name: str
    #: The best value at which the claim is proved, by `engines`.
    provable: Fraction | None = None
    #: The value next to it at which it was refuted, by `case`, with both sides in `left` and `right`.
    refuted: Fraction | None = None
    #: Whether `provable` is the smallest value, and `refuted` the largest; else the other way.
    larger_is_weaker: bool = True
    engines: tuple[str, ...] = ()
    case: Mapping[str, Any] = field(default_factory=dict)
    left: str = ""
    right: str = ""
    #: Values at which both sides were asked.
    tried: int = 0
    #: Where values were tried, such as "up to 4096" or "in (0, 4]".
    within: str = f"up to {LARGEST_FACTOR}"
    #: Values between the two that were neither proved nor refuted: what stopped the search.
    undecided: tuple[Fraction, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        found = plain_fields(self, "case left right within")
        ends = {name: None if found[name] is None else str(found[name]) for name in ("provable", "refuted")}
        against = {"values": dict(self.case), "left": self.left, "right": self.right} if self.case else None
        return found | ends | {"counterexample": against, "undecided": list(map(str, self.undecided))}


@dataclass
class Sandwich(Generic[T]):
    """The two ends that were reached: a value and the answer at it, or None."""

    proved: tuple[Fraction, T] | None = None
    refuted: tuple[Fraction, T] | None = None
    larger_is_weaker: bool = True
    tried: int = 0
    undecided: tuple[Fraction, ...] = ()


def sandwich(
    ask: Callable[[Fraction], tuple[str, T]], low: Fraction, high: Fraction, *, steps: int = _STEPS
) -> Sandwich[T]:
    """Where a claim that is true at one end of [low, high] and false at the other turns; `ask` gives for a value
    "proved", "refuted" or another word, and the answer, so many times at most.

    Nothing is assumed of the values in between: what is reported was proved, or refuted, at exactly that value.
    """
    found: Sandwich[T] = Sandwich()

    def look(value: Fraction) -> str:
        word, answer = ask(value)
        found.tried += 1
        side = 1 if found.larger_is_weaker else -1
        if word == PROVED and (found.proved is None or side * value < side * found.proved[0]):
            found.proved = (value, answer)
        if word == REFUTED and (found.refuted is None or side * value > side * found.refuted[0]):
            found.refuted = (value, answer)
        return word

    at_high = look(high)
    # At a true high end the low one is the false end; else the true end may be the low one.
    if at_high != PROVED:
        found.larger_is_weaker = False
        if look(low) != PROVED:
            found.larger_is_weaker = at_high != REFUTED
            return found
    elif look(low) == PROVED:
        return found
    weak, strong = (high, low) if found.larger_is_weaker else (low, high)
    open_values: list[Fraction] = [] if found.refuted is not None else [strong]
    while found.tried < steps:
        proved = found.proved[0] if found.proved is not None else weak
        refuted = found.refuted[0] if found.refuted is not None else strong
        # Between the ends, or, where values stay open, between these and each end in turn.
        inner = (proved, refuted)
        if open_values:
            near_proved = min(open_values, key=lambda value: abs(value - proved))
            near_refuted = min(open_values, key=lambda value: abs(value - refuted))
            inner = (proved, near_proved) if found.tried % 4 < 2 else (near_refuted, refuted)
        value = _next_value(*sorted(inner), simple=found.tried % 2 == 0)
        if value is None or value in open_values:
            value = _next_value(*sorted((proved, refuted)), simple=False)
            if value is None or value in open_values:
                break
        if look(value) not in (PROVED, REFUTED):
            open_values.append(value)
    found.undecided = tuple(sorted(open_values))
    return found


def _next_value(low: Fraction, high: Fraction, *, simple: bool) -> Fraction | None:
    """A value strictly between: the simplest of all, or of the middle third; None where they are near each other."""
    width = high - low
    if width <= _NEAR * max(abs(low), abs(high)):
        # The simplest value between may be where the claim turns.
        inside = simplest(low + width / 1024, high - width / 1024) if width else None
        return inside if inside is not None and inside.denominator <= 1000 and simple else None
    return simplest(low + width / 1024, high - width / 1024) if simple else simplest(low + width / 3, high - width / 3)


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of the smallest denominator in [low, high]."""
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -simplest(-high, -low)
    whole = -(-low.numerator // low.denominator)
    if whole <= high:
        return Fraction(whole)
    floor = whole - 1
    return floor + 1 / simplest(1 / (high - floor), 1 / (low - floor))


def least(holds: Callable[[Fraction], tuple[str, T]], low: Fraction) -> Sandwich[T]:
    """The smallest factor above `low`, where nothing smaller can be, that is proved; factors grow until one is."""
    tried: Sandwich[T] = Sandwich()
    factor = Fraction(max(1, -(-low.numerator // low.denominator)))
    while factor <= LARGEST_FACTOR:
        word, _ = holds(factor)
        tried.tried += 1
        if word == PROVED:
            found = sandwich(holds, max(low, Fraction(0)), factor)
            found.tried += tried.tried
            return found
        factor *= 2 if factor < 16 else 16
    return tried
