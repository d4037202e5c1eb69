"""(67)-(68) with beta = 1/(2 L E): the quadratic that comes closest, and random unions, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterator

from cflag_theory.claims.c_flag.union import surrogate as claim
from cflag_theory.claims.c_flag.union.tracking import L_memory
from cflag_theory.claims.engine.notation import E, L, beta, k
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.union.data import (
    AT_REST,
    CONVEX,
    LINEAR,
    Union,
    random_unions,
    run_union,
)
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.quantities.c_flag import of


def points() -> Iterator[Point]:
    """One round and several."""
    for steps, rounds in ((1, 1), (2, 2), (6, 1), (60, 1)):
        for union in (AT_REST, CONVEX, LINEAR):
            yield _point(union, steps, rounds)
    for union, steps in random_unions(8):
        yield _point(union, steps, 3)


def _point(union: Union, steps: int, rounds: int) -> Point:
    run = run_union(union, Fraction(1, 2 * steps), steps, rounds)
    return Point(of(run, L, E, k, beta, claim.T, claim.h(0), claim.h(claim.T), claim.least, L_memory))


CHECKS = {
    "ours.union_rate": Check(
        points,
    )
}
