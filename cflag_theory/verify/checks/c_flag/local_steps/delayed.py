"""Corollary 14: many concave components of which one is refreshed again and again, and random runs."""

from __future__ import annotations

from collections.abc import Iterator

from cflag_theory.claims.c_flag.local_steps.drift import error
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.local_steps.drift import points, samples
from cflag_theory.verify.evidence import Point, Sample

#: (E, number of components).
_SIZES = ((2, 2), (8, 8), (32, 64))


def error_points() -> Iterator[Point]:
    """Many concave components of which one is refreshed again and again."""
    return points(error, _SIZES, Fraction(1, 12))


def error_samples(seed: int, count: int) -> Iterator[Sample]:
    """The largest delayed-gradient error up to every k, in random runs."""
    return samples(error, "iag_error2_max", 1 / 12, seed, count)


CHECKS = {
    "cflag.cor14": Check(error_points, error_samples),
}
