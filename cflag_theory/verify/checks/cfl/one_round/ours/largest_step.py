"""The printed steps, the largest one, and steps beyond it."""

from __future__ import annotations

from collections.abc import Iterator

from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.one_round.thresholds import step_points, step_values
from cflag_theory.verify.evidence import Point


def points() -> Iterator[Point]:
    """eta L at which c = 1 / (16 eta L + 20 (eta L)^2 / eta_g^2) makes the step the largest one, and around it."""
    yield from step_points()
    for product, g, scale in (
        (Fraction(1, 20), Fraction(1), Fraction(1)),
        (Fraction(1, 50), Fraction(1, 2), Fraction(1)),
        (Fraction(1, 20), Fraction(1), Fraction(101, 100)),
        (Fraction(1, 20), Fraction(1), Fraction(99, 100)),
    ):
        c = 1 / (16 * product + 20 * product**2 / g**2)
        step = scale * product / 3
        yield Point(step_values(Fraction(3), step, g, c))


CHECKS = {
    "ours.cfl_step": Check(
        points,
    )
}
