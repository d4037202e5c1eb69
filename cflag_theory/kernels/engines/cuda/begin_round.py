"""What a team of CUDA threads does for one client at the start of a round: its memory and its full gradients.

The same steps as in `components`. Full gradients go over the rows twice: first the slopes
weight * phi'(row . x - shift), a lane or a warp a row, then the sum of slope times row, a thread a coordinate. In place
of the first half of either sweep a matrix product of all replicas may have been computed before.
"""

from __future__ import annotations

from typing import Any

from cflag_theory.kernels.engines.codes import SUBSET, Numbers
from cflag_theory.kernels.engines.components import Sum
from cflag_theory.kernels.engines.cuda.team import (
    device,
    draw_subset,
    lanes,
    potential,
    real,
    slope,
    team_sum,
    team_sync,
    warp_sum,
)
from cflag_theory.kernels.engines.cuda.workspace import Work
from cflag_theory.kernels.numbers import Array, Ints

# How much of the full gradients a launch computes: all, or what comes before or after a library's matrix product.
WHOLE, SLOPES, FINISH = range(3)


@device
def draw_memory(
    n: Numbers, replica: int, round_: int, i: int, p: Array, past: Sum, labels: Ints, w: Work, rank: int, size: int
) -> None:
    """Fill the weights of client i's past rows in f_memory and its linear term; one thread draws."""
    first, end = past.client_start[i], past.client_start[i + 1]
    for q in range(past.row_start[first] + rank, past.row_start[end], size):
        w.factors[q] = 0.0
    counts = w.order[len(w.order) - len(p) :]
    if rank == 0:
        order = w.order[first:end]
        counts[i] = draw_subset(n.seed, replica, i, round_, labels, first, end - first, n.size, n.balanced, order)
    team_sync(size)
    kept = counts[i]
    weight = real(w.x, p[i] / kept)
    d = len(w.x)
    for position in range(rank, kept, size):
        j = w.order[first + position]
        for q in range(past.row_start[j], past.row_start[j + 1]):
            w.factors[q] = weight
    if len(w.memory_offset) > 0:
        for c in range(rank, d, size):
            total = real(w.x, 0.0)
            for position in range(kept):
                total += weight * past.offsets[w.order[first + position], c]
            w.memory_offset[i * d + c] = total
    team_sync(size)


@device
def fill_slopes(
    n: Numbers,
    part: Sum,
    first: int,
    end: int,
    x: Array,
    w: Work,
    subset: bool,
    whole: bool,
    given: bool,
    slopes: Array,
    rank: int,
    size: int,
) -> tuple[Any, Any]:
    """Slopes of the rows first, ..., end - 1 at x; a thread's part of the sum of values, and of those in memory.

    With `subset` also the slopes times the rows' weights in memory; rows outside the memory only if `whole`. `given`:
    the products row . x stand in `slopes`.
    """
    team_sync(size)
    # Few columns leave most lanes of a warp idle in a product, many make a lane's reads of its own row slow; a warp
    # alone has no others that hide the time of its sums.
    width = 1 if given or len(x) < (lanes() if size > lanes() else 4 * lanes()) else lanes()
    value = real(x, 0.0)
    kept_value = real(x, 0.0)
    for q in range(first + rank // width, end, size // width):
        factor = real(x, 0.0)
        if subset:
            factor = w.factors[q]
        if whole or factor != 0:
            z = real(x, 0.0)
            if given:
                z = slopes[q]
            else:
                for c in range(rank % width, len(x), width):
                    z += part.rows[q, c] * x[c]
                z = warp_sum(z, width)
            z -= part.shifts[q]
            if rank % width == 0:
                slopes[q] = part.weights[q] * slope(n.potential, z)
                phi = real(x, part.weights[q] * potential(n.potential, z))
                value += phi
                kept_value += factor * phi
        if given and subset and rank % width == 0:
            w.kept_slopes[q] = factor * slopes[q] if factor != 0 else real(x, 0.0)
    team_sync(size)
    return value, kept_value


@device
def sum_rows(part: Sum, first: int, end: int, factors: Array, weighted: bool, slopes: Array, c: int) -> Any:
    """Coordinate c of the sum of slope times row; `weighted`: times the rows' factors, of which most are zero."""
    total = real(slopes, 0.0)
    for q in range(first, end):
        if not weighted:
            total += slopes[q] * part.rows[q, c]
        elif factors[q] != 0:
            total += factors[q] * slopes[q] * part.rows[q, c]
    return total


@device
def past_gradient(
    n: Numbers, i: int, p: Array, past: Sum, w: Work, whole: bool, stage: int, rank: int, size: int
) -> None:
    """Client i's parts of grad f and grad_f_memory at w.x into w.local and w.a, and of f and f_memory."""
    d = len(w.x)
    first, end = past.client_start[i], past.client_start[i + 1]
    share = real(w.x, p[i] / (end - first))
    begin, stop = past.row_start[first], past.row_start[end]
    subset = n.memory == SUBSET
    if stage != FINISH:
        f, f_memory = fill_slopes(n, past, begin, stop, w.x, w, subset, whole, stage == SLOPES, w.slopes, rank, size)
        f *= share
        for c in range(rank, d, size):
            f += p[i] * past.mean_offsets[i, c] * w.x[c]
            if len(w.memory_offset) > 0:
                f_memory += w.memory_offset[i * d + c] * w.x[c]
        f = team_sum(f, rank, size, w.scratch)
        f_memory = team_sum(f_memory, rank, size, w.scratch)
        if rank == 0:
            w.f[i], w.f_memory[i] = f, f_memory
    if stage != SLOPES:
        for c in range(rank, d, size):
            own = i * d + c
            if whole:
                if stage == WHOLE:
                    w.local[own] = sum_rows(past, begin, stop, w.factors, False, w.slopes, c)
                w.local[own] = share * w.local[own] + p[i] * past.mean_offsets[i, c]
            if subset:
                if stage == WHOLE:
                    w.a[own] = sum_rows(past, begin, stop, w.factors, True, w.slopes, c)
                if len(w.memory_offset) > 0:
                    w.a[own] += w.memory_offset[own]


@device
def client_gradient(
    n: Numbers, i: int, current: Sum, x: Array, grad: Array, w: Work, measured: bool, stage: int, rank: int, size: int
) -> None:
    """grad g_i(x) into grad (d,) with the rows' slopes in the table; with `measured` also g_i(x) into w.g."""
    d = len(x)
    first, end = current.client_start[i], current.client_start[i + 1]
    begin, stop = current.row_start[first], current.row_start[end]
    count = real(x, end - first)
    if stage != FINISH:
        g, _ = fill_slopes(n, current, begin, stop, x, w, False, True, stage == SLOPES, w.table, rank, size)
        if measured:
            g /= count
            for c in range(rank, d, size):
                g += current.mean_offsets[i, c] * x[c]
            g = team_sum(g, rank, size, w.scratch)
            if rank == 0:
                w.g[i] = g
    if stage != SLOPES:
        for c in range(rank, d, size):
            if stage == WHOLE:
                grad[c] = sum_rows(current, begin, stop, w.table, False, w.table, c)
            grad[c] = grad[c] / count + current.mean_offsets[i, c]
