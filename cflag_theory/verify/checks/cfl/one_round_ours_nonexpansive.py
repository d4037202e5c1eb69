"""(14) and (17) in rounds whose local steps do not increase distances, and in one whose steps do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.one_round_local_drift import eq14_points, eq17_points
from cflag_theory.verify.evidence import Point


def nonexpansive_points() -> Iterator[Point]:
    """The same rounds, for (14) and for (17)."""
    for point in eq14_points():
        yield from (replace(point, part=part) for part in "12")
    yield from (replace(point, part="3") for point in eq17_points())


CHECKS = {
    "ours.cfl_nonexpansive": Check(nonexpansive_points),
}
