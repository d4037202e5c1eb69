"""exp in rational arithmetic, with bounds on both sides, and the place where a condition ends."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil

from cflag_theory.errors import InvalidInput

#: A number between two fractions.
Interval = tuple[Fraction, Fraction]


def exp_bounds(x: Fraction, *, terms: int = 24) -> Interval:
    """Fractions below and above exp(x), for x >= 0.

    exp(x) = exp(x / m)^m with x / m <= 1/2; of exp(y) the first `terms` terms of the series are taken, and the rest
    of it is at most twice the next term.
    """
    if x < 0:
        raise InvalidInput(f"x = {x} is negative: use 1 / exp(-x)")
    m = max(1, ceil(2 * x))
    y = Fraction(x) / m
    term, low = Fraction(1), Fraction(0)
    for place in range(1, terms + 1):
        low += term
        term *= y / place
    return low**m, (low + 2 * term) ** m


def last_place(
    holds: Callable[[Fraction], bool], low: Fraction, *, bits: int = 24, top: int | None = 10_000
) -> Interval | None:
    """Where a condition that holds at `low` and, once it fails, fails for good, comes to its end.

    Parameters
    ----------
    holds : callable
        The condition.
    low : Fraction
        A positive place at which it holds.
    bits : int
        The interval found is at most 2^-bits of its place wide.
    top : int or None
        The largest place that is searched; None for a condition that is known to fail somewhere.

    Returns
    -------
    (Fraction, Fraction) or None
        It holds at the first and not at the second; None if it still holds at `top`.
    """
    if not holds(low):
        raise InvalidInput(f"the condition does not hold at {low}: begin lower")
    high = low
    while holds(high):
        if top is not None and high >= top:
            return None
        low, high = high, 2 * high
    while (high - low) * 2**bits > low:
        middle = (low + high) / 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low, high
