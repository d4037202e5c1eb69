"""Numbers of exact evaluations: integers whose quotients are fractions, and enclosures of what is irrational.

`sqrt`, `exp` and `log` take whatever a conjecture is evaluated on: floats, fractions, enclosures, algebra. On a
fraction they return the exact value where it is rational, and otherwise two fractions between which it lies.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import wraps
from typing import Any

from cflag_theory.errors import InvalidInput

#: Binary digits of the enclosures.
DIGITS: ContextVar[int] = ContextVar("digits", default=128)


class Undecided(ArithmeticError):
    """Two enclosures overlap: their order is not known at this precision."""


class Whole(int):
    """An integer whose quotients are fractions, so that 1/E does not leave exact arithmetic."""

    def __truediv__(self, other: Any) -> Any:
        return Fraction(int(self)) / other

    def __rtruediv__(self, other: Any) -> Any:
        return other / Fraction(int(self))

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if modulus is None and isinstance(other, int) and other < 0:
            return Fraction(int(self)) ** int(other)
        return _whole(int.__pow__(self, other) if modulus is None else int.__pow__(self, other, modulus))

    def __rpow__(self, other: Any, modulus: Any = None) -> Any:
        return _whole(other ** int(self))

    def __hash__(self) -> int:
        return int.__hash__(self)


class Exact(Fraction):
    """A fraction that does not become a float: a float turned back into a fraction would pass for exact."""

    def __float__(self) -> float:
        raise InvalidInput(
            "an exact number is turned into a float: write Fraction(1, 10) for 0.1 and Fraction(1, 2) for 1/2, and "
            "take sqrt, exp and log from cflag_theory.falsify.search.exact_numbers"
        )

    def __repr__(self) -> str:
        return f"Fraction({self.numerator}, {self.denominator})"


def _whole(value: Any) -> Any:
    return Whole(value) if type(value) is int else value


def _exact(value: Any) -> Any:
    return Exact(value) if type(value) is Fraction else value


def _close(kind: type, wrap: Callable[[Any], Any], names: str) -> None:
    """Let these operations of a number's subclass return the subclass again."""

    def closed(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def operation(self: Any, *others: Any) -> Any:
            return wrap(method(self, *others))

        return operation

    for name in names.split():
        setattr(kind, f"__{name}__", closed(getattr(kind, f"__{name}__")))


_close(Whole, _whole, "add radd sub rsub mul rmul floordiv rfloordiv mod rmod neg pos abs")
_close(Exact, _exact, "add radd sub rsub mul rmul truediv rtruediv mod rmod neg pos abs pow rpow")


@dataclass(frozen=True, eq=False)
class Enclosure:
    """A real number between two fractions; comparisons that these do not decide raise `Undecided`."""

    low: Fraction
    high: Fraction

    def __add__(self, other: Any) -> Any:
        other = enclose(other)
        return NotImplemented if other is None else _between(self.low + other.low, self.high + other.high)

    __radd__ = __add__

    def __neg__(self) -> Any:
        return Enclosure(-self.high, -self.low)

    def __sub__(self, other: Any) -> Any:
        other = enclose(other)
        return NotImplemented if other is None else self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        other = enclose(other)
        if other is None:
            return NotImplemented
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return _between(min(ends), max(ends))

    __rmul__ = __mul__

    def _inverse(self) -> Enclosure:
        if self.low <= 0 <= self.high:
            raise Undecided
        return Enclosure(1 / self.high, 1 / self.low)

    def __truediv__(self, other: Any) -> Any:
        other = enclose(other)
        return NotImplemented if other is None else self * other._inverse()

    def __rtruediv__(self, other: Any) -> Any:
        return self._inverse() * other

    def __pow__(self, power: Any) -> Any:
        if isinstance(power, int):
            if power < 0:
                return (self ** -int(power))._inverse()
            ends = [self.low**power, self.high**power]
            lowest = Fraction(0) if power % 2 == 0 and power > 0 and self.low < 0 < self.high else min(ends)
            return _between(lowest, max(ends))
        if isinstance(power, Fraction) and power.denominator == 2:
            return sqrt(self) ** power.numerator
        return NotImplemented

    def __abs__(self) -> Any:
        if self.low >= 0:
            return self
        return -self if self.high <= 0 else Enclosure(Fraction(0), max(-self.low, self.high))

    def __lt__(self, other: Any) -> bool:
        return _below(self, _end(other), strictly=True)

    def __le__(self, other: Any) -> bool:
        return _below(self, _end(other), strictly=False)

    def __gt__(self, other: Any) -> bool:
        return _below(_end(other), self, strictly=True)

    def __ge__(self, other: Any) -> bool:
        return _below(_end(other), self, strictly=False)

    def __eq__(self, other: object) -> bool:
        other = enclose(other)
        if other is None or self.high < other.low or other.high < self.low:
            return False
        raise Undecided

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return self != 0

    def __float__(self) -> float:
        return as_float((self.low + self.high) / 2)


def enclose(value: Any) -> Enclosure | None:
    """A number as an enclosure; None for what is neither a fraction, an integer nor an enclosure."""
    if isinstance(value, Enclosure):
        return value
    return Enclosure(Fraction(value), Fraction(value)) if isinstance(value, int | Fraction) else None


def as_float(value: Any) -> float:
    """The float next to an exact number; an infinity where it is too large for floats."""
    try:
        return float(Fraction(value) if isinstance(value, Exact) else value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _between(low: Fraction, high: Fraction) -> Enclosure:
    """Rounded outwards, so that the fractions stay short."""
    largest = max(abs(low), abs(high))
    size = largest.numerator.bit_length() - largest.denominator.bit_length()
    unit = Fraction(2) ** (DIGITS.get() - size)
    return Enclosure(math.floor(low * unit) / unit, math.ceil(high * unit) / unit)


def _end(other: Any) -> Any:
    """What an enclosure is compared with: an enclosure, or an infinity."""
    if isinstance(other, float) and math.isinf(other):
        return other
    found = enclose(other)
    if found is None:
        raise TypeError(f"an enclosure is compared with {other!r}: compare it with exact numbers")
    return found


def _below(left: Any, right: Any, *, strictly: bool) -> bool:
    if isinstance(left, float) or isinstance(right, float):
        return bool(left == -math.inf or right == math.inf)
    if left.high < right.low or (left.high == right.low and not strictly):
        return True
    if left.low > right.high or (left.low == right.high and strictly):
        return False
    raise Undecided


def _root(value: Fraction) -> tuple[Fraction, Fraction]:
    above, under = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if above**2 == value.numerator and under**2 == value.denominator:
        return Fraction(above, under), Fraction(above, under)
    unit = 1 << (DIGITS.get() + value.denominator.bit_length())
    floor = math.isqrt(value.numerator * unit * unit // value.denominator)
    return Fraction(floor, unit), Fraction(floor + 1, unit)


def _exp(value: Fraction) -> tuple[Fraction, Fraction]:
    """Taylor's sum at value / 2^k in [-1/2, 1/2], whose rest is below twice its last term, squared k times."""
    halvings = max(0, math.ceil(abs(value)).bit_length() + 1)
    small, unit = value / (1 << halvings), 1 << (DIGITS.get() + 2 * halvings + 16)
    # In whole units squared: fractions would take a greatest common divisor at each step.
    total = term = unit * unit
    k = 0
    while abs(term) > unit:
        k += 1
        term = _rounded(term * small.numerator, small.denominator * k)
        total += term
    error = (4 + k) * unit
    found = Enclosure(Fraction(total - error, unit * unit), Fraction(total + error, unit * unit))
    for _ in range(halvings):
        found = found * found
    return found.low, found.high


def _log(value: Fraction) -> tuple[Fraction, Fraction]:
    """2 artanh((s - 1) / (s + 1)) for value = s 2^k with s in [1/2, 2], and log 2 likewise."""
    k = value.numerator.bit_length() - value.denominator.bit_length()
    low, high = _artanh_twice(value / Fraction(2) ** k)
    if k:
        two = _artanh_twice(Fraction(2))
        low, high = low + min(k * two[0], k * two[1]), high + max(k * two[0], k * two[1])
    return low, high


def _artanh_twice(s: Fraction) -> tuple[Fraction, Fraction]:
    z = (s - 1) / (s + 1)
    unit = 1 << (DIGITS.get() + 32)
    total, power, k = 0, _rounded(z.numerator * unit * unit, z.denominator), 0
    while abs(power) > unit:
        total += _rounded(power, 2 * k + 1)
        power = _rounded(power * z.numerator**2, z.denominator**2)
        k += 1
    # |z| <= 1/3, so the rest is below 9/8 of the next term, and the roundings are far smaller.
    error = (4 + k) * unit
    return Fraction(2 * total - error, unit * unit), Fraction(2 * total + error, unit * unit)


def _rounded(above: int, under: int) -> int:
    """The whole number next to a quotient."""
    return (2 * above + under) // (2 * under)


def _function(
    name: str,
    exact: Callable[[Fraction], tuple[Fraction, Fraction]],
    floating: Callable[[float], float],
    least: int | None,
    known: int | None = None,
) -> Callable[[Any], Any]:
    """`least` is 0 where 0 is the least argument, 1 where 0 is excluded; at `known` the value is 1 - known."""

    def apply(x: Any) -> Any:
        if hasattr(x, "traced"):
            return x.traced(name)
        if isinstance(x, float):
            try:
                return floating(x)
            except ValueError:
                # Rounding may have led out of the domain: exact numbers decide whether the case does.
                return math.nan
        inside = enclose(x)
        if inside is None:
            raise TypeError(f"{name} of {type(x).__name__} {x!r}: pass a number")
        if known is not None and inside.low == inside.high == known:
            return Fraction(1 - known)
        if least is not None and (inside.high < 0 or (least and inside.high == 0)):
            raise InvalidInput(f"{name} of {x} is not real: restrict the ranges, or add a hypothesis")
        if least is not None and (inside.low < 0 or (least and inside.low == 0)):
            raise Undecided
        low, high = exact(inside.low)
        high = high if inside.low == inside.high else exact(inside.high)[1]
        return low if low == high else Enclosure(low, high)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"{name}, exact or enclosed on fractions."
    return apply


sqrt = _function("sqrt", _root, math.sqrt, 0)
exp = _function("exp", _exp, math.exp, None, 0)
log = _function("log", _log, math.log, 1, 1)
