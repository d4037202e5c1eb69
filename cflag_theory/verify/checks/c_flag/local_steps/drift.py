"""Lemma 13: the concave quadratic that comes closest, and random runs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from cflag_theory.claims.c_flag.local_steps.drift import drift
from cflag_theory.claims.engine.notation import E, L, beta, grad_g, k
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point, Sample
from cflag_theory.verify.quantities.c_flag import ExactRound, of
from cflag_theory.verify.witnesses.instances import on_the_line, random_runs

#: Sizes of the exact instances: (E, number of components).
_DRIFT_SIZES = ((2, 1), (8, 1), (40, 1))


@cache
def concave_round(steps: int, n: int, step: Fraction) -> ExactRound:
    """A round of E local steps with beta = `step` on n components -x^2/2 + x from x_0 = 0.

    The one client refreshes its first component at every step. L = ||grad g(x_0)|| = 1.
    """
    problem = on_the_line([[(1, 0)]], [[(-1, -1)] * n], start=0, L=1)
    return ExactRound(problem, Fraction(1, 2), step, steps, np.zeros((1, 1, steps), dtype=np.int64))


def points(symbol: Any, sizes: tuple[tuple[int, int], ...], limit: Fraction) -> Iterator[Point]:
    """The last local step of `concave_round` for these (E, number of components), at beta L E = limit and below."""
    for steps, n in sizes:
        for u in (limit, limit / 4):
            yield Point(of(concave_round(steps, n, u / steps), symbol(k), k, beta, L, E, grad_g))


def drift_points() -> Iterator[Point]:
    """The concave quadratic with one component, whose growth is exactly (1 + beta L)^k."""
    return points(drift, _DRIFT_SIZES, Fraction(1, 4))


def samples(symbol: Any, column: str, limit: float, seed: int, count: int) -> Iterator[Sample]:
    """The largest of a quantity over clients and steps up to every k, in random runs."""
    for run in random_runs(seed, count, beta_limit=limit):
        # The draws of a step do not depend on E: a round of k + 1 steps is the beginning of the round of E steps, and
        # its largest value is held against the bound at k.
        for steps in range(1, run.local_steps + 1):
            trace = run.trace if steps == run.local_steps else run.first_round(steps)
            yield Sample(
                {
                    symbol(k): trace.root(column),
                    k: steps - 1,
                    **of(run, beta, L, E),
                    grad_g: trace.root("grad_g2"),
                }
            )


def drift_samples(seed: int, count: int) -> Iterator[Sample]:
    """The largest client drift up to every k, in random runs."""
    return samples(drift, "drift2_max", 1 / 4, seed, count)


def _met(steps: int, n: int, u: Fraction, column: str) -> Fraction:
    return concave_round(steps, n, u / steps).root(column)


def constants_along_range() -> dict[str, Any]:
    """Printed constants, proved ones and exact instances along u = beta L E, for the figure."""
    grid = [Fraction(i, 48) for i in range(1, 25)]
    u = np.array([float(v) for v in grid])
    return {
        "drift": {
            "title": "Lemma 13: client drift",
            "ylabel": r"$\|x_{t,k}-x_t\| \,/\, (\beta k \|\nabla g(x_t)\|)$",
            "printed": 4.0,
            "range": 0.25,
            "range_words": r"$u = 1/4$",
            "u": u,
            "proved": np.expm1(u) / u,
            "instances": {
                steps: [
                    float(concave_round(steps, 1, v / steps).root("drift2_max") * steps / (v * (steps - 1)))
                    for v in grid
                ]
                for steps in (2, 8, 40)
            },
        },
        "error": {
            "title": "Corollary 14: error of the delayed gradient",
            "ylabel": r"$\|e_{t,k}\| \,/\, (\beta L E \|\nabla g(x_t)\|)$",
            "printed": 2.0,
            "range": 1 / 12,
            "range_words": r"$u = 1/12$",
            "u": u,
            "proved": np.ones_like(u),
            "instances": {
                steps: [float(_met(steps, 64, v, "iag_error2_max") / v) for v in grid] for steps in (2, 8, 32)
            },
        },
    }


CHECKS = {
    "cflag.lemma13": Check(drift_points, drift_samples),
}
