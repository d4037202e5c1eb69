"""Compiled full gradients of ridge functions: all z = row . x - shift, then the sum of weight phi'(z) row.

A replica alone sums in an order of its own, whatever the batch. Replicas together go through products of matrices
(see `matrix_tiles`), equal to the others up to rounding. Then z and slopes of a row lie in lines of as many replicas
as a line has numbers, a panel; `bits` says how many, as a power of two, and is zero for replicas alone.
"""

from __future__ import annotations

import numpy as np

from cflag_theory.kernels import formulas
from cflag_theory.kernels.engines.codegen.cache import apart, inner
from cflag_theory.kernels.engines.codegen.matrix_tiles import tiles
from cflag_theory.kernels.engines.codegen.vector_loops import (
    Number,
    Read,
    Summed,
    Write,
    scale,
    sweep,
)
from cflag_theory.kernels.engines.cpu.layout import Part
from cflag_theory.kernels.numbers import Array, Ints

CAUCHY, GEMAN_MCCLURE = formulas.CAUCHY, formulas.GEMAN_MCCLURE
#: Numbers of the rows that are read twice in a row, so that the second time they come from a near cache, for replicas
#: alone, which ask for as many beforehand, and together; and rows, for both.
NEAR, NEAR_TOGETHER, FEW_ROWS, MOST_ROWS = 2048, 32768, 32, 48
#: In place of a client: all of them, in shares.
EVERY = -1
#: Rows of a list between those that are added and those that are asked for.
AHEAD = 16
#: Columns of a matrix product at once, so that those of two panels stay in a near cache.
DEPTH = 256

TILE_ROWS, TILE_PANELS, TILE_COLUMNS = tiles.ROWS, tiles.PANELS, tiles.COLUMNS

add_rows_4, add_rows_8 = tiles.add_rows(4), tiles.add_rows(8)
dots_of_4, dots_of_8 = tiles.row_dots(4), tiles.row_dots(8)
cauchy_of_4, cauchy_of_8 = (tiles.chosen_slopes(count, CAUCHY) for count in (4, 8))
add_chosen_4, add_chosen_8 = tiles.add_chosen(4), tiles.add_chosen(8)
cauchy_slopes, geman_mcclure_slopes = tiles.panel_slopes(CAUCHY), tiles.panel_slopes(GEMAN_MCCLURE)
panel_sums = tiles.panel_sums
panel_tile, gradient_tile = tiles.panel_tile, tiles.gradient_tile


@sweep
def _complete(offset: Read, x: Read, G: Write, share: Number) -> Summed:
    """G = share G + offset, and <offset, x>."""
    return share * G + offset, offset * x


@inner
def place(r: int, q: int, rows: int, bits: int) -> int:
    """Where row q of replica r stands among z or slopes of `rows` rows."""
    return (((r >> bits) * rows + q) << bits) + (r & ((1 << bits) - 1))


@inner
def fill_panels(X: Array, panels: Array) -> None:
    """The columns of X (R, width) as lines: panels (panels, columns, lanes)."""
    size = panels.shape[2]
    for r in range(len(X)):
        for k in range(panels.shape[1]):
            panels[r // size, k, r % size] = X[r, k]


@inner
def _dots_alone(rows: Array, first: int, end: int, X: Array, r: int, Z: Array, at: int) -> None:
    """Z[at], ... = <X[r], row_q> for q from first to end, a multiple of four later."""
    q = first
    while q + 8 <= end:
        dots_of_8(rows, q, X, r, Z, at + q - first)
        q += 8
    if q < end:
        dots_of_4(rows, q, X, r, Z, at + q - first)


@inner
def _add_alone(rows: Array, first: int, end: int, S: Array, at: int, G: Array, r: int) -> None:
    """G[r] += the sum of S[at + q - first] row_q for q from first to end, a multiple of four later."""
    q = first
    while q + 8 <= end:
        add_rows_8(rows, q, end - first, S, at + q - first, G, r)
        q += 8
    if q < end:
        add_rows_4(rows, q, end - first, S, at + q - first, G, r)


@inner
def _slopes_together(
    potential: int, rows: Array, shifts: Array, weights: Array, first: int, end: int, X: Array, Z: Array, at: int,
    stride: int, S: Array, at_slopes: int, stride_of_slopes: int,
) -> None:  # fmt: skip
    """z and weight phi'(z) of rows first to end, a multiple of four later, in all panels X, a stride apart."""
    panels, columns, size = X.shape
    for k in range(0, columns, DEPTH):
        stop = min(columns, k + DEPTH)
        panel = 0
        while panel < panels:
            # A tile of one panel waits for its rows, so that four panels are two and two.
            wide = min(TILE_PANELS, 2 if panels - panel == 4 else panels - panel)
            to, slopes, q = panel * stride + at, panel * stride_of_slopes + at_slopes, first
            while q < end:
                tall = TILE_ROWS if q + TILE_ROWS <= end else 4
                panel_tile(rows, q, tall, X, panel, wide, k, stop, Z, to, stride)
                # Tile by tile, because quotients take long and the products of the next tile do not wait for them.
                for v in range(wide if stop == columns else 0):
                    _fill_panel_slopes(
                        potential, shifts, weights, q, tall, Z, to + v * stride, S, slopes + v * stride_of_slopes, size
                    )
                q += tall
                to += tall * size
                slopes += tall * size
            panel += wide


@inner
def _add_together(rows: Array, first: int, count: int, S: Array, at: int, stride: int, size: int, G: Array) -> None:
    """G[r] += the sum of S row over `count` rows, for all replicas."""
    R, width = G.shape
    column = 0
    while column < width:
        left = (width - column) // size
        # A tile of one line waits for itself, so that five lines are three and two.
        lines = min(TILE_COLUMNS, 3 if left == 5 else left)
        r = 0
        while r < R:
            many = 4 if r + 4 <= R else 1
            start = (r // size) * stride + at + r % size
            gradient_tile(rows, first, count, column, lines, S, start, G, r, many)
            r += many
        column += lines * size


@inner
def fill_slopes(potential: int, shifts: Array, weights: Array, q: int, count: int, Z: Array, S: Array, at: int) -> None:
    """z -= shift and S = weight phi'(z) for `count` rows from q on; for one potential a loop, so that it vectorises."""
    if potential == CAUCHY:
        for k in range(count):
            to, of = np.uint64(at + k), np.uint64(q + k)
            Z[to] -= shifts[of]
            S[to] = weights[of] * formulas.slope(CAUCHY, Z[to])
    elif potential == GEMAN_MCCLURE:
        for k in range(count):
            to, of = np.uint64(at + k), np.uint64(q + k)
            Z[to] -= shifts[of]
            S[to] = weights[of] * formulas.slope(GEMAN_MCCLURE, Z[to])
    else:
        for k in range(count):
            Z[at + k] -= shifts[q + k]
            S[at + k] = weights[q + k] * formulas.slope(potential, Z[at + k])


@inner
def _fill_panel_slopes(
    potential: int, shifts: Array, weights: Array, q: int, count: int, Z: Array, start: int, S: Array, to: int,
    size: int,
) -> None:  # fmt: skip
    """The same for the lines of a panel."""
    if potential == CAUCHY:
        cauchy_slopes(shifts, weights, q, count, Z, start, S, to)
    elif potential == GEMAN_MCCLURE:
        geman_mcclure_slopes(shifts, weights, q, count, Z, start, S, to)
    else:
        for k in range(count):
            for at in range(k * size, (k + 1) * size):
                Z[start + at] -= shifts[q + k]
                S[to + at] = weights[q + k] * formulas.slope(potential, Z[start + at])


@inner
def _multiply_slopes(potential: int, first: int, end: int, Z: Array, S: Array) -> None:
    """S *= phi'(z) for the numbers from first to end; where the potential is known, the quotient comes last."""
    if potential == CAUCHY:
        for k in range(first, end):
            S[k] *= formulas.slope(CAUCHY, Z[k])
    elif potential == GEMAN_MCCLURE:
        for k in range(first, end):
            S[k] *= formulas.slope(GEMAN_MCCLURE, Z[k])
    else:
        for k in range(first, end):
            S[k] *= formulas.slope(potential, Z[k])


@inner
def sum_values(potential: int, weights: Array, q: int, count: int, Z: Array, at: int) -> float:
    """sum weights phi(z) over `count` rows from q on; for one potential a loop, so that it vectorises."""
    total = 0.0
    if potential == CAUCHY:
        for k in range(count):
            to, of = np.uint64(at + k), np.uint64(q + k)
            total += weights[of] * formulas.potential(CAUCHY, Z[to])
    else:
        for k in range(count):
            total += weights[q + k] * formulas.potential(potential, Z[at + k])
    return total


@inner
def _fill_potentials(potential: int, Z: Array, start: int, count: int, P: Array) -> None:
    """P[0], ... = phi(z) for `count` numbers of Z."""
    if potential == CAUCHY:
        for k in range(count):
            P[np.uint64(k)] = formulas.potential(CAUCHY, Z[np.uint64(start + k)])
    else:
        for k in range(count):
            P[k] = formulas.potential(potential, Z[start + k])


@apart
def client_gradients(
    potential: int, part: Part, i: int, X: Array, panels: Array, bits: int, valued: bool, base: int, height: int,
    Z: Array, S: Array, potentials: Array, G: Array, values: Array,
) -> None:  # fmt: skip
    """Client i's mean gradient at every X[r] into G (R, width), and with `valued` its mean into values (R,).

    For `EVERY` client the means of all in the weights p, of rows without offsets. On the way z, unless it is for every
    client, and weight phi'(z) of row q go where `place` says for row q - base of `height`. With `bits` X stands in
    `panels`, too, and values are as many as panels have replicas.
    """
    R, width = G.shape
    rows, shifts, whole = part.rows, part.shifts, i == EVERY
    weights = part.shares if whole else part.weights
    first, end = (0, len(rows) - 1) if whole else (part.client_rows[i], part.client_rows[i + 1])
    G[:] = 0
    values[:] = 0.0
    size, stride = 1 << bits, height << bits
    near, most = (NEAR_TOGETHER, MOST_ROWS) if bits > 0 else (NEAR, FEW_ROWS)
    chunk = min(most, max(8, near // width // 8 * 8))
    for q in range(first, end, chunk):
        stop = min(end, q + chunk)
        at = (q - base) << bits
        if bits > 0:
            # What is not kept stays near, one chunk in place of another.
            to, apart = (0, chunk << bits) if whole else (at, stride)
            _slopes_together(potential, rows, shifts, weights, q, stop, panels, Z, to, apart, S, at, stride)
            for panel in range(len(panels) if valued else 0):
                _fill_potentials(potential, Z, panel * apart + to, (stop - q) * size, potentials)
                panel_sums(weights, q, stop - q, potentials, 0, values, panel * size)
            _add_together(rows, q, stop - q, S, at, stride, size, G)
            continue
        for r in range(R):
            start = r * height + at
            _dots_alone(rows, q, stop, X, r, Z, start)
            fill_slopes(potential, shifts, weights, q, stop - q, Z, S, start)
            if valued:
                values[r] += sum_values(potential, weights, q, stop - q, Z, start)
            _add_alone(rows, q, stop, S, start, G, r)
    if whole:
        return
    one = X.dtype.type(1) / (part.client_start[i + 1] - part.client_start[i])
    for r in range(R):
        values[r] *= one
        if len(part.offsets) > 0:
            values[r] += _complete(part.mean_offsets, i, X, r, G, r, one)
        else:
            scale(G, r, one)


@apart
def kept_gradients(
    potential: int, part: Part, i: int, chosen: Ints, begin: Ints, ends: Ints, weights: Array, factors: Array,
    together: bool, valued: bool, Z: Array, S: Array, X: Array, G: Array, values: Array,
) -> None:  # fmt: skip
    """G[r] += factors[r, i] times the sum of weight phi'(z) row over a list, and values with phi(z).

    The list is chosen[r, begin[r, i] : ends[r, i]], a multiple of four, with its weights[r]; Z and S are scratch for as
    many numbers as chosen[r] has.
    """
    rows, shifts, R = part.rows, part.shifts, len(X)
    for r in range(R):
        share, first, end = X.dtype.type(factors[r, i]), begin[r, i], ends[r, i]
        total, k = 0.0, first
        while k < end:
            whole, stop = k + 8 <= end, min(k + 8, end)
            next_r, next_k = r, k + AHEAD
            if next_k >= end:
                next_r, after = (r + 1, i) if r + 1 < R else (0, min(i + 1, begin.shape[1] - 1))
                next_k = begin[next_r, after] + (next_k - end) // 8 * 8
            if whole:
                cauchy_of_8(rows, chosen, r, k, X, shifts, weights, share, Z, S)
            else:
                cauchy_of_4(rows, chosen, r, k, X, shifts, weights, share, Z, S)
            # Slopes of float32 were rounded from float64 in replicas alone, and still are.
            if potential != CAUCHY or (Z.itemsize == 4 and not together):
                for j in range(k, stop):
                    S[j] = share * weights[r, j]
                _multiply_slopes(potential, k, stop, Z, S)
            if valued:
                for j in range(k, stop):
                    total += weights[r, j] * formulas.potential(potential, Z[j])
            # The rows are still near, and those of the next products are asked for.
            if whole:
                add_chosen_8(rows, chosen, r, k, next_r, next_k, S, G)
            else:
                add_chosen_4(rows, chosen, r, k, next_r, next_k, S, G)
            k += 8
        values[r] += factors[r, i] * total
