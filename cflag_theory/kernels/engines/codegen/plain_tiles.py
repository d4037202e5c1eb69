"""The loops of `matrix_tiles` as plain Python that Numba compiles through its public interface alone."""

from __future__ import annotations

from typing import Any

from cflag_theory.kernels import formulas
from cflag_theory.kernels.engines.codegen.cache import in_order, inner
from cflag_theory.kernels.engines.cpu.layout import LINE

#: The largest tiles, in rows, panels, and lines of columns; a plain loop has one code for all.
ROWS, PANELS, COLUMNS = 8, 2, 16

_slope = in_order(formulas.slope)


@inner
def _dot(rows: Any, q: int, X: Any, r: int) -> Any:
    total = rows.dtype.type(0)
    for c in range(rows.shape[1]):
        total += rows[q, c] * X[r, c]
    return total


def row_dots(count: int) -> Any:
    """(rows, q, X, r, Z, at): Z[at], Z[at + 1], ... = the products of X[r] with `count` rows from q on."""

    @inner
    def dots(rows: Any, q: int, X: Any, r: int, Z: Any, at: int) -> None:
        for j in range(count):
            Z[at + j] = _dot(rows, q + j, X, r)

    return dots


def chosen_slopes(count: int, kind: int) -> Any:
    """(rows, lists, r, k, X, shifts, weights, share, Z, S): z and slopes of the rows lists[r, k], ..."""

    @inner
    def slopes(
        rows: Any, lists: Any, r: int, k: int, X: Any, shifts: Any, weights: Any, share: Any, Z: Any, S: Any
    ) -> None:
        for j in range(k, k + count):
            Z[j] = _dot(rows, lists[r, j], X, r) - shifts[lists[r, j]]
            S[j] = share * weights[r, j] * _slope(kind, Z[j])

    return slopes


def add_chosen(count: int) -> Any:
    """(rows, lists, r, k, next_r, next_k, S, G): G[r] += the sum of S[k + j] row over rows lists[r, k], ..."""

    @in_order
    def add(rows: Any, lists: Any, r: int, k: int, next_r: int, next_k: int, S: Any, G: Any) -> None:
        for j in range(k, k + count, 4):
            a, b, c, e = lists[r, j], lists[r, j + 1], lists[r, j + 2], lists[r, j + 3]
            for column in range(rows.shape[1]):
                first = G[r, column] + S[j] * rows[a, column] + S[j + 2] * rows[c, column]
                G[r, column] = first + (S[j + 1] * rows[b, column] + S[j + 3] * rows[e, column])

    return add


def add_rows(count: int) -> Any:
    """(rows, q, ahead, S, at, G, r): G[r] += the sum of S[at + j] row_(q + j) over j < count, even and odd j apart."""

    @in_order
    def add(rows: Any, q: int, ahead: int, S: Any, at: int, G: Any, r: int) -> None:
        for c in range(rows.shape[1]):
            even, odd = G[r, c], S[at + 1] * rows[q + 1, c]
            for j in range(0, count, 2):
                even += S[at + j] * rows[q + j, c]
                if j > 0:
                    odd += S[at + j + 1] * rows[q + j + 1, c]
            G[r, c] = even + odd

    return add


def _panel_tile(
    rows: Any, q: int, height: int, X: Any, panel: int, panels: int, first: int, end: int, Z: Any, start: int,
    stride: int,
) -> None:  # fmt: skip
    size = X.shape[2]
    for v in range(panels):
        for j in range(height):
            # Eight places at once, so that the compiler keeps their sums in a register.
            for lane in range(0, size, 8):
                to = start + v * stride + j * size + lane
                if first == 0:
                    Z[to : to + 8] = 0
                s, t, u, w = Z[to], Z[to + 1], Z[to + 2], Z[to + 3]
                a, b, c, e = Z[to + 4], Z[to + 5], Z[to + 6], Z[to + 7]
                # An index that counts from zero is not asked for its sign.
                x, row = X[panel + v, first:end, lane : lane + 8], rows[q + j, first:end]
                for k in range(len(row)):
                    factor = row[k]
                    s, t, u, w = s + factor * x[k, 0], t + factor * x[k, 1], u + factor * x[k, 2], w + factor * x[k, 3]
                    a, b, c, e = a + factor * x[k, 4], b + factor * x[k, 5], c + factor * x[k, 6], e + factor * x[k, 7]
                Z[to], Z[to + 1], Z[to + 2], Z[to + 3] = s, t, u, w
                Z[to + 4], Z[to + 5], Z[to + 6], Z[to + 7] = a, b, c, e


def panel_slopes(kind: int) -> Any:
    """(shifts, weights, q, count, Z, start, S, to): z -= shift and S = weight phi'(z) for `count` lines."""

    @in_order
    def slopes(shifts: Any, weights: Any, q: int, count: int, Z: Any, start: int, S: Any, to: int) -> None:
        size = LINE // Z.itemsize
        for j in range(count):
            at, shift, weight = j * size, shifts[q + j], weights[q + j]
            z, slope = Z[start + at : start + at + size], S[to + at : to + at + size]
            for lane in range(size):
                z[lane] -= shift
                slope[lane] = weight * _slope(kind, z[lane])

    return slopes


def _panel_sums(weights: Any, q: int, count: int, P: Any, start: int, sums: Any, at: int) -> None:
    size = LINE // P.itemsize
    for lane in range(size):
        total = P.dtype.type(0)
        for j in range(count):
            total += weights[q + j] * P[start + j * size + lane]
        sums[at + lane] += total


def _gradient_tile(
    rows: Any, q: int, count: int, first: int, columns: int, S: Any, start: int, G: Any, r: int, replicas: int
) -> None:
    size = LINE // S.itemsize
    for i in range(replicas):
        g = G[r + i, first : first + columns * size]
        for j in range(count):
            factor, row = S[start + j * size + i], rows[q + j, first : first + columns * size]
            for c in range(len(row)):
                g[c] += factor * row[c]


panel_tile: Any = in_order(_panel_tile)
panel_sums: Any = in_order(_panel_sums)
gradient_tile: Any = in_order(_gradient_tile)
