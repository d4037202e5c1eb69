"""The first quantity that differs, and the slips that reproduce a user's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from cflag_theory.conform.numbers import ROUNDOFF, SLACK, Rounded, Vector, plain
from cflag_theory.conform.running import Record

_SHORT = 12


@dataclass(frozen=True)
class Difference:
    """The first quantity in which two records differ.

    Attributes
    ----------
    name : str
        As the reference calls it; "y" for a local iterate.
    t, client, step : int or None
        Round and client from 0, the local step; None for the server.
    expected, met : tuple of str
        The coordinates.
    tolerance : float
        How far rounding could have moved the coordinate that differs most; 0 for fractions.
    single : bool
        Whether rounding in float32 would explain this difference and all others.
    """

    name: str
    t: int
    client: int | None
    step: int | None
    expected: tuple[str, ...]
    met: tuple[str, ...]
    tolerance: float = 0.0
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
