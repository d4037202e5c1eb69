"""The runs of `strongly_convex`, read with mu = 0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cflag_theory.claims.cfl.rates.floors import apart2, start2
from cflag_theory.claims.cfl.rates.ours.strongly_convex import beta, v
from cflag_theory.claims.cfl.rates.theorems import least, total
from cflag_theory.claims.cfl.symbols import T, eta
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.rates.ours.strongly_convex import WORLDS, Moments, bounds
from cflag_theory.verify.checks.cfl.rates.theorems import gaps
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.quantities.cfl import WorldRound

_ONE = Fraction(1)


def convex_points() -> Iterator[Point]:
    """One round, with the T of Young's inequality, and the whole run."""
    for world in WORLDS:
        moments = Moments(world, world.rounds)
        for rounds in (1, 3):
            yield Point({**moments.values((_ONE, _ONE)), T: rounds}, part="round")
        found, at = gaps(world), WorldRound(world)
        bias, noise = bounds(world)
        whole: dict[Any, Any] = {
            **at.values(L, T, eta, start2, apart2(0)),
            beta: bias,
            v: noise,
            least: min(found[:-1]),
            total(T): sum(found[:-1], Fraction(0)),
            apart2(T): 2 * found[-1],
        }
        yield Point(whole, part="rounds")


CHECKS = {
    "ours.cfl_general_convex": Check(
        convex_points,
    )
}
