"""Compiled sums of components: full gradients, one sampled component, the drawing of a memory, vectors.

The table of delayed gradients is one number per row, weight * phi'(row . x - shift), so that a local step costs O(d)
for components of one row.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cflag_theory.kernels import draws, formulas
from cflag_theory.kernels.engines.codegen import elementary
from cflag_theory.kernels.engines.codegen.cache import allocating, callable_from_compiled, inner
from cflag_theory.kernels.engines.codes import SUBSET, Numbers
from cflag_theory.kernels.engines.own import potentials
from cflag_theory.kernels.memory import memory as memories
from cflag_theory.kernels.numbers import Array, Ints, floats, integers
from cflag_theory.kernels.problems.problem import Components

elementary.register()
potentials.register()
callable_from_compiled(
    draws.philox,
    draws.words,
    draws.below,
    draws.lane,
    formulas.potential,
    formulas.slope,
    formulas.refreshed_mean,
    formulas.forgetting,
    formulas.overfitting,
    formulas.state_columns,
    formulas.round_columns,
    formulas.transference_rate,
    formulas.interference_rate,
    formulas.table1_rates,
    formulas.common_rate,
    formulas.interaction_rate,
    memories.draw_subset,
    memories.draw_sign,
    memories.rotate,
)


class Sum(NamedTuple):
    """A `Components` as the loop reads it; `mean_offsets` (N, d) is zero where there are no offsets."""

    rows: Array
    shifts: Array
    weights: Array
    offsets: Array
    mean_offsets: Array
    row_start: Ints
    client_start: Ints


def as_sum(components: Components) -> Sum:
    """The components as contiguous arrays of fixed types."""
    dimension = components.rows.shape[1]
    mean_offsets = np.zeros((len(components.counts), dimension))
    if len(components.offsets):
        mean_offsets += np.add.reduceat(components.offsets, components.client_start[:-1], axis=0)
        mean_offsets /= components.counts[:, None]
    return Sum(
        rows=floats(components.rows),
        shifts=floats(components.shifts),
        weights=floats(components.weights),
        offsets=floats(components.offsets),
        mean_offsets=mean_offsets,
        row_start=integers(components.row_start),
        client_start=integers(components.client_start),
    )


@inner
def dot(a: Array, b: Array) -> float:
    """<a, b>."""
    total = 0.0
    for c in range(len(a)):
        total += a[c] * b[c]
    return total


@inner
def copy(out: Array, vector: Array) -> None:
    """out = vector; a slice assignment would compile its error message too, for two seconds."""
    for c in range(len(out)):
        out[c] = vector[c]


@inner
def add(out: Array, factor: float, vector: Array) -> None:
    """out += factor * vector, without a temporary."""
    for c in range(len(out)):
        out[c] += factor * vector[c]


@allocating
def draw_memory(
    n: Numbers, replica: int, round_: int, p: Array, past: Sum, labels: Ints, factors: Array, offset: Array
) -> None:
    """Fill the weight of every past row in f_memory, factors (rows,), and its linear term, offset (d,)."""
    factors[:] = 0.0
    offset[:] = 0.0
    for i in range(len(p)):
        first = past.client_start[i]
        count = past.client_start[i + 1] - first
        order = np.empty(count, np.int64)
        kept = memories.draw_subset(n.seed, replica, i, round_, labels, first, count, n.size, n.balanced, order)
        for j in order[:kept]:
            factors[past.row_start[j] : past.row_start[j + 1]] = p[i] / kept
            if len(past.offsets) > 0:
                add(offset, p[i] / kept, past.offsets[j])


@inner
def past_gradients(
    n: Numbers, p: Array, past: Sum, factors: Array, offset: Array, x: Array, grad_f: Array, grad_memory: Array
) -> tuple[float, float]:
    """f and f_memory of a subset with their gradients in one pass over the rows."""
    f, f_memory = 0.0, 0.0
    grad_f[:] = 0.0
    grad_memory[:] = 0.0
    subset = n.memory == SUBSET
    for i in range(len(p)):
        first, end = past.client_start[i], past.client_start[i + 1]
        share = p[i] / (end - first)
        for q in range(past.row_start[first], past.row_start[end]):
            row = past.rows[q]
            z = dot(row, x) - past.shifts[q]
            value = past.weights[q] * formulas.potential(n.potential, z)
            slope = past.weights[q] * formulas.slope(n.potential, z)
            f += share * value
            add(grad_f, share * slope, row)
            if subset and factors[q] != 0.0:
                f_memory += factors[q] * value
                add(grad_memory, factors[q] * slope, row)
        f += p[i] * dot(past.mean_offsets[i], x)
        add(grad_f, p[i], past.mean_offsets[i])
    if subset:
        f_memory += dot(offset, x)
        add(grad_memory, 1.0, offset)
    return f, f_memory


@inner
def client_gradient(n: Numbers, current: Sum, i: int, x: Array, grad: Array) -> float:
    """grad g_i(x) into grad (d,); returns g_i(x)."""
    first, end = current.client_start[i], current.client_start[i + 1]
    value: float = 0.0
    grad[:] = 0.0
    for q in range(current.row_start[first], current.row_start[end]):
        row = current.rows[q]
        z = dot(row, x) - current.shifts[q]
        add(grad, current.weights[q] * formulas.slope(n.potential, z), row)
        value += current.weights[q] * formulas.potential(n.potential, z)
    for c in range(len(grad)):
        grad[c] = grad[c] / (end - first) + current.mean_offsets[i, c]
    value = value / (end - first) + dot(current.mean_offsets[i], x)
    return value


@inner
def sample(n: Numbers, current: Sum, j: int, x: Array, estimate: Array) -> None:
    """The gradient of component j at x, (d,)."""
    estimate[:] = 0.0
    if len(current.offsets) > 0:
        add(estimate, 1.0, current.offsets[j])
    for q in range(current.row_start[j], current.row_start[j + 1]):
        row = current.rows[q]
        slope = current.weights[q] * formulas.slope(n.potential, dot(row, x) - current.shifts[q])
        add(estimate, slope, row)


@inner
def finite(values: Array) -> bool:
    """Whether all are; without a way out in the middle, so that it vectorises."""
    every = True
    for value in values:
        every = every and math.isfinite(value)
    return every
