"""Compiled values of one finite sum at many points: what is left of an objective along a run."""

from __future__ import annotations

import numpy as np

from cflag_theory.kernels import formulas
from cflag_theory.kernels.engines.codegen.cache import compiled
from cflag_theory.kernels.engines.components import Sum, as_sum, dot
from cflag_theory.kernels.numbers import Array, floats
from cflag_theory.kernels.problems.problem import Components


def mean_values(potential: int, p: Array, part: Components, points: Array) -> Array:
    """sum_i p_i times the mean of client i's components at each of the points (K, d), shape (K,)."""
    out = np.empty(len(points))
    _mean_values(potential, floats(p), as_sum(part), floats(points), out)
    return out


@compiled
def _mean_values(potential: int, p: Array, part: Sum, points: Array, out: Array) -> None:
    for k in range(len(points)):
        out[k] = 0.0
        for i in range(len(p)):
            first, end = part.client_start[i], part.client_start[i + 1]
            value = 0.0
            for q in range(part.row_start[first], part.row_start[end]):
                z = dot(part.rows[q], points[k]) - part.shifts[q]
                value += part.weights[q] * formulas.potential(potential, z)
            out[k] += p[i] * (value / (end - first) + dot(part.mean_offsets[i], points[k]))
