"""(177): exact values over the stated range of step sizes, boundaries included."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from cflag_theory.claims.symbols import E, L, alpha, beta, m, r
from cflag_theory.verify.check import Check
from cflag_theory.verify.search import Point

_SMOOTHNESS = (Fraction(1), Fraction(7, 3))
_BIAS = (Fraction(0), Fraction(1, 4), Fraction(1), Fraction(3))
# The last is large enough that the constant term cannot hide a slope which is too small.
_RATIO = (Fraction(0), Fraction(1), Fraction(2), Fraction(10), Fraction(10**6))
# Shares of the open range (0, 2/(L(1+m))), near both ends.
_SHARE = (Fraction(1, 1000), Fraction(1, 2), Fraction(19, 20), Fraction(999, 1000))


def points() -> Iterator[Point]:
    """A grid over L, m, r and alpha."""
    for smoothness, bias, ratio, share in product(_SMOOTHNESS, _BIAS, _RATIO, _SHARE):
        step = share * 2 / (smoothness * (1 + bias))
        yield Point(
            {L: smoothness, m: bias, r: ratio, alpha: step, E: 5, beta: 1 / (300 * smoothness)},
            (
                f"L = {smoothness}, m = {bias}, r = {ratio}, E = 5, beta = 1/(60 L E) = {1 / (300 * smoothness)}, "
                f"alpha = {step}.",
                f"alpha < 2/(L(1 + m)) = {2 / (smoothness * (1 + bias))}, and 1 - L alpha = {1 - smoothness * step}.",
            ),
        )


CHECKS = {"cflag.eq177": Check(points)}
