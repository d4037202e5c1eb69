"""A problem as the compiled loop of plain runs reads it: rows in whole vectors, and in whole fours.

Every vector is padded with zeros to a multiple of 64 bytes and starts at one, and every client's rows are padded with
zero rows to a multiple of four, so that no loop has a remainder. Zeros add nothing to any sum.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cflag_theory.kernels.numbers import Array, Ints, floats, integers
from cflag_theory.kernels.problems.problem import Components, Problem

#: Bytes of a vector register and of a cache line.
LINE = 64
#: Rows that share one sweep over a vector.
TILE = 4


class Part(NamedTuple):
    """One task.

    Attributes
    ----------
    rows : (P + 1, width)
        P is a multiple of four; the last row is zero, for lists of rows that are padded to a multiple of four.
    shifts, weights, shares : (P + 1,)
        A share is the weight times p_i over the client's components: it stands for the weight in sums over all clients.
    begin, end : (components,)
        Rows of a component are begin[j] : end[j].
    client_rows, client_start : (N + 1,)
        Rows and components of a client.
    offsets, mean_offsets : (components or 0, width), (N, width)
    coefficients, means, shift : (components, width), (N, width), (width,)
        Of an elementwise problem: component j is sum_c coefficients[j, c] phi(y_c - shift[c]); then there are no rows,
        and otherwise no coefficients.
    """

    rows: Array
    shifts: Array
    weights: Array
    shares: Array
    begin: Ints
    end: Ints
    client_rows: Ints
    client_start: Ints
    offsets: Array
    mean_offsets: Array
    coefficients: Array
    means: Array
    shift: Array


class Padded(NamedTuple):
    """A problem; `basis` (d, d) holds the rows q_c of y = basis x where the problem is elementwise in y, else (0, 0).

    `single` says that every component has one row and no linear term; `start` is x_0 (d,) and `point` the same padded
    and in y.
    """

    past: Part
    current: Part
    p: Array
    start: Array
    point: Array
    labels: Ints
    basis: Array
    single: bool


def aligned(shape: tuple[int, ...], dtype: Any) -> Array:
    """Zeros that start at a cache line."""
    size, item = int(np.prod(shape)), np.dtype(dtype).itemsize
    buffer = np.zeros(size + LINE // item, dtype)
    skip = (-buffer.ctypes.data // item) % (LINE // item)
    return buffer[skip : skip + size].reshape(shape)


def padded_problem(problem: Problem, dtype: Any, *, rotate: bool = True) -> Padded:
    """The arrays of a float problem in the given precision.

    `rotate` allows coordinates in which a separable problem is elementwise.
    """
    basis = common_basis(problem) if rotate else None
    d = problem.dimension
    width = rounded_up(d, LINE // np.dtype(dtype).itemsize)
    point = aligned((width,), dtype)
    point[:d] = problem.start if basis is None else basis @ problem.start
    counts = [np.diff(part.row_start) for part in (problem.past, problem.current)]
    return Padded(
        past=_part(problem.past, problem.p, width, dtype, elementwise=basis is not None),
        current=_part(problem.current, problem.p, width, dtype, elementwise=basis is not None),
        p=floats(problem.p),
        start=floats(problem.start),
        point=point,
        labels=integers(problem.labels),
        basis=np.zeros((0, 0)) if basis is None else floats(basis),
        single=bool((counts[1] == 1).all()) and len(problem.current.offsets) == 0,
    )


def rounded_up(size: int, multiple: int) -> int:
    """The least multiple that is no smaller than `size`."""
    return -(-size // multiple) * multiple


def common_basis(problem: Problem) -> Array | None:
    """The d orthonormal rows that every component of both tasks repeats with the task's shifts, if it does."""
    d = problem.dimension
    basis: Array = problem.past.rows[:d]
    if d < 2 or basis.shape != (d, d):
        return None
    for part in (problem.past, problem.current):
        components = len(part.row_start) - 1
        if len(part.rows) != d * components or len(part.offsets) or (np.diff(part.row_start) != d).any():
            return None
        if (part.rows.reshape(-1, d, d) != basis).any() or (part.shifts.reshape(-1, d) != part.shifts[:d]).any():
            return None
    if abs(basis @ basis.T - np.eye(d)).max() > 1e-12:
        return None
    return basis


def _part(part: Components, p: Array, width: int, dtype: Any, *, elementwise: bool) -> Part:
    d, clients, components = part.rows.shape[1], len(part.client_start) - 1, len(part.row_start) - 1
    own = np.diff(part.row_start[part.client_start])
    client_rows = np.concatenate([[0], np.cumsum(-(-own // TILE) * TILE)]).astype(np.int64)
    shift_of_client = client_rows[:-1] - part.row_start[part.client_start[:-1]]
    shift_of_component = np.repeat(shift_of_client, part.counts)
    rows = 0 if elementwise else int(client_rows[-1])
    out = Part(
        rows=aligned((rows + 1, width), dtype),
        shifts=aligned((rows + 1,), dtype),
        weights=aligned((rows + 1,), dtype),
        shares=aligned((rows + 1,), dtype),
        begin=part.row_start[:-1] + shift_of_component,
        end=part.row_start[1:] + shift_of_component,
        client_rows=client_rows,
        client_start=integers(part.client_start),
        offsets=aligned((len(part.offsets), width), dtype),
        mean_offsets=aligned((clients, width), dtype),
        coefficients=aligned((components if elementwise else 0, width), dtype),
        means=aligned((clients if elementwise else 0, width), dtype),
        shift=aligned((width,), dtype),
    )
    if elementwise:
        weights = part.weights.reshape(-1, d)
        out.coefficients[:, :d] = weights
        out.means[:, :d] = _client_means(weights, part)
        out.shift[:d] = part.shifts[:d]
        return out
    for i in range(clients):
        a, b = part.row_start[part.client_start[i : i + 2]]
        to = slice(client_rows[i], client_rows[i] + b - a)
        out.rows[to, :d] = part.rows[a:b]
        out.shifts[to], out.weights[to] = part.shifts[a:b], part.weights[a:b]
        out.shares[to] = part.weights[a:b] * (p[i] / part.counts[i])
    if len(part.offsets):
        out.offsets[:, :d] = part.offsets
        out.mean_offsets[:, :d] = _client_means(part.offsets, part)
    return out


def _client_means(values: Array, part: Components) -> Array:
    means: Array = np.add.reduceat(values, part.client_start[:-1], axis=0) / part.counts[:, None]
    return means
