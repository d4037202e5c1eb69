"""(67)-(68) with beta = 1/(2 L E): the quadratic that comes closest, and random unions, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from cflag_theory.claims.c_flag.union import surrogate as claim
from cflag_theory.claims.c_flag.union.tracking import L_memory
from cflag_theory.claims.engine.notation import E, L, beta, k
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.union.data import (
    AT_REST,
    CONVEX,
    LINEAR,
    Union,
    kept_smoothness,
    random_unions,
    run_union,
)
from cflag_theory.verify.checks.c_flag.union.surrogate import losses
from cflag_theory.verify.evidence import Point


def points() -> Iterator[Point]:
    """One round and several."""
    for steps, rounds in ((1, 1), (2, 2), (6, 1), (60, 1)):
        for union in (AT_REST, CONVEX, LINEAR):
            yield _point(union, steps, rounds)
    for union, steps in random_unions(8):
        yield _point(union, steps, 3)


def _point(union: Union, steps: int, rounds: int) -> Point:
    step = Fraction(1, 2 * steps)
    trace = run_union(union, step, steps, rounds)
    path, least = losses(trace), min(trace.column("grad_f2")[0].tolist())
    values: dict[Any, Any] = {
        L: 1,
        E: steps,
        k: steps - 1,
        beta: step,
        claim.T: rounds,
        claim.h(0): path[0],
        claim.h(claim.T): path[-1],
        claim.least: least,
        L_memory: kept_smoothness(union),
    }
    story = (
        union.words,
        f"(67)-(68) with beta = {step}, E = {steps}, {rounds} round{'s' if rounds > 1 else ''}.",
        f"h~(x_0) - h~(x_T) = {float(path[0] - path[-1]):.10g}, min_t ||grad h~(x_t)||^2 = {float(least):.10g}.",
    )
    return Point(values, story)


CHECKS = {"ours.union_rate": Check(points)}
