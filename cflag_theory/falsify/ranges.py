"""Hypotheses as ranges: what a variable of a conjecture may be, with exact ends."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.numbers import is_integer
from cflag_theory.public import quoted

if TYPE_CHECKING:
    import sympy as sp

REAL, INTEGER, ORDER, SIGN = KINDS = ("real", "integer", "order", "sign")
LINEAR, LOG = SCALES = ("linear", "log")
NEITHER, LOW, HIGH, BOTH = OPENINGS = ("neither", "low", "high", "both")
#: A point of an open range stays this part of the width away from an end that does not belong to it.
_MARGIN = Fraction(1, 1 << 20)
#: The largest number that is drawn where no range is given.
LARGEST = 2
#: Bits of the longest numbers that are read: they have to be printed.
LONGEST = 8192


def as_exact(what: str, value: Any) -> Fraction:
    """A number as the fraction that was written: 0.1 and "1/10" are both one tenth."""
    try:
        if isinstance(value, float):
            return Fraction(repr(float(value)))
        if isinstance(value, bool):
            raise TypeError
        found = Fraction(value)
        if max(abs(found.numerator), found.denominator).bit_length() > LONGEST:
            raise OverflowError
        return found
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        raise InvalidInput(
            f"{what} is {quoted(value)}: give a finite number, such as 2, 0.1, '1/3' or a Fraction"
        ) from None


@dataclass(frozen=True)
class Range:
    """What a variable of a conjecture may be.

    Parameters
    ----------
    low, high : number, str
        Exact ends, 0.1 being one tenth. For kind "order": `high` is the number of components n, or the name of an
        integer range that is, and entries are 0, ..., n - 1. For kind "sign": left out, entries are -1 and 1.
    kind : {"real", "integer", "order", "sign"}
        What the entries are.
    scale : {"linear", "log"}
        How the search spreads over a real range; "log" needs positive ends.
    open : {"neither", "low", "high", "both"}
        The ends that do not belong to a real range.
    shape : tuple of int or str
        Of an array of such entries; a word is the name of an integer range, as in ("N", "n"). A number without it.

    Raises
    ------
    InvalidInput
        An end that is not a number, a range that is reversed or empty, a word that is unknown.
    """

    low: Any = None
    high: Any = None
    kind: str = field(default=REAL, kw_only=True)
    scale: str = field(default=LINEAR, kw_only=True)
    open: str = field(default=NEITHER, kw_only=True)
    shape: tuple[Any, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        for what, word, known in (
            ("kind", self.kind, KINDS),
            ("scale", self.scale, SCALES),
            ("open", self.open, OPENINGS),
        ):
            if not isinstance(word, str) or word not in known:
                raise InvalidInput(f"{what} of a range is {quoted(word)}: use one of {', '.join(known)}")
        if self.kind != REAL and (self.scale != LINEAR or self.open != NEITHER):
            raise InvalidInput(f"scale and open are for real ranges, and the kind is {self.kind!r}: leave them out")
        if not isinstance(self.shape, tuple | list):
            raise InvalidInput(f"the shape of a range is {quoted(self.shape)}: give a tuple, such as ('N', 'n')")
        for size in self.shape:
            if not isinstance(size, str) and not (is_integer(size) and size >= 1):
                raise InvalidInput(
                    f"the shape of a range holds {quoted(size)}: use names of integer ranges and integers from 1"
                )
        if self.kind == SIGN:
            if not (self.low is None and self.high is None):
                raise InvalidInput("a sign is -1 or 1: leave out the ends")
            self._set(-1, 1)
        elif self.kind == ORDER:
            self._check_order()
        else:
            self._check_numbers()

    def _set(self, low: Any, high: Any) -> None:
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def _check_order(self) -> None:
        if self.low is not None and not (is_integer(self.low) and self.low == 0):
            raise InvalidInput(f"an order counts components from 0, and its low end is {quoted(self.low)}: use 0")
        if not isinstance(self.high, str) and not (is_integer(self.high) and self.high >= 1):
            raise InvalidInput(
                f"the high end of an order is {quoted(self.high)}: give the number of components, or the name of an "
                "integer range that holds it"
            )
        self._set(0, self.high)

    def _check_numbers(self) -> None:
        if self.low is None or self.high is None:
            raise InvalidInput("a range lacks an end: give Range(low, high)")
        low, high = as_exact("the low end of a range", self.low), as_exact("the high end of a range", self.high)
        if low > high:
            raise InvalidInput(f"the range from {low} to {high} is reversed: exchange its ends")
        if low == high and self.open != NEITHER:
            raise InvalidInput(
                f"the range from {low} to {high} is empty, an end does not belong to it: widen or close it"
            )
        if self.scale == LOG and low <= 0:
            raise InvalidInput(f"a log scale needs positive ends, and the low end is {low}: raise it, or use 'linear'")
        if self.kind == INTEGER:
            if math.ceil(low) > math.floor(high):
                raise InvalidInput(f"the range from {low} to {high} holds no integer: widen it")
            self._set(math.ceil(low), math.floor(high))
        else:
            self._set(low, high)

    @property
    def fixed(self) -> bool:
        """Whether there is nothing to choose."""
        return bool(self.low == self.high)

    def top(self, sizes: dict[str, int]) -> Any:
        """The largest entry, with `sizes` the integer variables by name."""
        if self.kind != ORDER:
            return self.high
        return (sizes[self.high] if isinstance(self.high, str) else int(self.high)) - 1

    def at(self, u: Any, sizes: dict[str, int]) -> Any:
        """The entry at u in [0, 1]: a float for a float u on a real range, else exact."""
        high = self.top(sizes)
        if self.kind == SIGN:
            return 1 if u >= 0.5 else -1
        if self.kind in (INTEGER, ORDER):
            return int(min(high, self.low + math.floor(u * (high - self.low + 1))))
        if self.fixed:
            return float(self.low) if isinstance(u, float) else self.low
        if self.open in (LOW, BOTH):
            u = max(u, _MARGIN if not isinstance(u, float) else float(_MARGIN))
        if self.open in (HIGH, BOTH):
            u = min(u, 1 - _MARGIN if not isinstance(u, float) else float(1 - _MARGIN))
        if self.scale == LOG and 0 < u < 1:
            value = float(self.low) * (float(self.high) / float(self.low)) ** float(u)
            return value if isinstance(u, float) else self.nearest(value, 1 << 12)
        if isinstance(u, float):
            return float(self.low) + (float(self.high) - float(self.low)) * u
        return self.low + (self.high - self.low) * u

    def nearest(self, value: float | Fraction, denominator: int) -> Fraction:
        """A fraction of about this denominator near a value, inside of the range."""
        found = min(max(Fraction(value).limit_denominator(denominator), self.low), self.high)
        if self.holds(found):
            return Fraction(found)
        inwards = (self.high - self.low) / (denominator + 1)
        return Fraction(found + inwards if found == self.low else found - inwards)

    def holds(self, value: Any, sizes: dict[str, int] | None = None) -> bool:
        """Whether an exact entry belongs to the range."""
        if self.kind == SIGN:
            return value in (-1, 1)
        if self.kind in (INTEGER, ORDER) and Fraction(value).denominator != 1:
            return False
        if not self.low <= value <= self.top(sizes or {}):
            return False
        return not (
            (value == self.low and self.open in (LOW, BOTH)) or (value == self.high and self.open in (HIGH, BOTH))
        )

    def __str__(self) -> str:
        if self.kind == SIGN:
            words = "-1 or 1"
        elif self.kind == ORDER:
            words = f"0, ..., {self.high} - 1"
        elif self.fixed:
            words = str(self.low)
        else:
            left = "(" if self.open in (LOW, BOTH) else "["
            right = ")" if self.open in (HIGH, BOTH) else "]"
            words = f"{left}{self.low}, {self.high}{right}" + (" integer" if self.kind == INTEGER else "")
        return words + (f" x ({', '.join(map(str, self.shape))})" if self.shape else "")


def range_of(symbol: sp.Symbol) -> Range:
    """Where a number without a range is looked for."""
    if symbol.is_integer:
        return Range(1 if symbol.is_positive else 0 if symbol.is_nonnegative else -3, 3, kind=INTEGER, shape=())
    if symbol.is_positive:
        return Range(0, LARGEST, open="low")
    return Range(0, LARGEST) if symbol.is_nonnegative else Range(-LARGEST, LARGEST)
