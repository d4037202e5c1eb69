"""Our bounds on a round's sums and its forgetting term: the rounds of the paper's rows, and those that attain them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from cflag_theory.claims.c_flag.forgetting.ours.step import sigma
from cflag_theory.claims.c_flag.forgetting.terms import gap, omega2
from cflag_theory.claims.c_flag.local_steps.sums import norm_S
from cflag_theory.claims.engine.notation import E, L, alpha, beta, sum2
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.forgetting import terms
from cflag_theory.verify.evidence import Point, Sample
from cflag_theory.verify.witnesses.instances import on_the_line, root

_UP, _DOWN = (1, 1), (-1, -1)


def _extended(values: dict[Any, Any]) -> dict[Any, Any]:
    """With ||S||, sigma and |1 - L alpha|."""
    power = values[beta] * values[L]
    return values | {sigma: ((1 + power) ** values[E] - 1) / power, gap: abs(1 - values[L] * values[alpha])}


def _steep() -> Iterator[Point]:
    """The concave quadratic with memory against it, or along it for alpha > 1/L, far beyond the paper's step sizes."""
    for steps, local, (step, past) in product(
        (1, 2, 4), (Fraction(1, 60), Fraction(3)), ((Fraction(1, 2), _UP), (Fraction(7, 4), _DOWN))
    ):
        problem = on_the_line([[past]], [[_DOWN]], start=0, L=1)
        yield Point(terms.exact_values(problem, np.zeros((1, steps), dtype=int), step=step, local=local))


@cache
def points() -> tuple[Point, ...]:
    """The instances of the paper's rows and the steep ones; part 3 needs those with a known omega^2."""
    found = []
    for point in (*_steep(), *terms.points()):
        values = _extended(dict(point.values)) | {norm_S: root(point.values[sum2])}
        parts = ("1", "2", "3") if omega2 in values else ("1", "2")
        found += [Point(values, part=part) for part in parts]
    return tuple(found)


def of_sums() -> Iterator[Point]:
    """The same for the sums, whose third part needs no omega^2."""
    for point in points():
        yield Point(point.values, part=point.part)
        if point.part == "2" and omega2 not in point.values:
            yield Point(point.values, part="3")


def samples(seed: int, count: int) -> Iterator[Sample]:
    """The first round of random runs, with all past data in memory."""
    for sample in terms.samples(seed, count):
        values = dict(sample.values)
        yield Sample(_extended(values) | {norm_S: np.sqrt(values[sum2])})


CHECKS = {
    "ours.local_sums": Check(of_sums, samples),
    "ours.forgetting_step": Check(points, samples),
}
