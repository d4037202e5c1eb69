"""Compiled passes over rows: dot products with four rows at once, and the four rows added up at once.

The kernels for one replica sum in an order of their own, whatever the batch. Those for four replicas at once load a
row once for all four: a matrix product in tiles of registers, equal to the others up to rounding.
"""

from __future__ import annotations

import numpy as np

from . import formulas
from .cache import inner
from .packed import Part
from .problem import Array, Ints

CAUCHY, GEMAN_MCCLURE = formulas.CAUCHY, formulas.GEMAN_MCCLURE
#: Numbers of the rows that are read twice in a row, so that the second time they come from a near cache.
NEAR = 8192


@inner
def four_dots(rows: Array, a: int, b: int, c: int, e: int, X: Array, r: int) -> tuple[float, float, float, float]:
    """The products of X[r] with the rows a, b, c and e."""
    zero = X.dtype.type(0)
    s, t, u, v = zero, zero, zero, zero
    for k in range(X.shape[1]):
        x = X[r, k]
        s += rows[a, k] * x
        t += rows[b, k] * x
        u += rows[c, k] * x
        v += rows[e, k] * x
    return s, t, u, v


@inner
def add_four(
    rows: Array, a: int, b: int, c: int, e: int, s: float, t: float, u: float, v: float, G: Array, r: int
) -> None:
    """G[r] += s row_a + t row_b + u row_c + v row_e."""
    for k in range(G.shape[1]):
        G[r, k] += s * rows[a, k] + t * rows[b, k] + u * rows[c, k] + v * rows[e, k]


@inner
def dots_of_one(rows: Array, first: int, end: int, X: Array, r: int, Z: Array, base: int) -> None:
    """Z[r, q - base] = <X[r], row_q> for q from first to end, a multiple of four later."""
    zero = X.dtype.type(0)
    for q in range(first, end, 4):
        at = q - base
        s, t, u, v = zero, zero, zero, zero
        for k in range(X.shape[1]):
            x = X[r, k]
            s += rows[q, k] * x
            t += rows[q + 1, k] * x
            u += rows[q + 2, k] * x
            v += rows[q + 3, k] * x
        Z[r, at], Z[r, at + 1], Z[r, at + 2], Z[r, at + 3] = s, t, u, v


@inner
def add_to_one(rows: Array, first: int, end: int, S: Array, base: int, G: Array, r: int) -> None:
    """G[r] += sum_q S[r, q - base] row_q for q from first to end, a multiple of four later."""
    for q in range(first, end, 4):
        at = q - base
        s, t, u, v = S[r, at], S[r, at + 1], S[r, at + 2], S[r, at + 3]
        for k in range(G.shape[1]):
            G[r, k] += s * rows[q, k] + t * rows[q + 1, k] + u * rows[q + 2, k] + v * rows[q + 3, k]


@inner
def dots_of_four(rows: Array, first: int, end: int, X: Array, r: int, Z: Array, base: int) -> None:
    """Z[r + i, q - base] = <X[r + i], row_q> for i < 4 and q from first to end, a multiple of four later."""
    zero = X.dtype.type(0)
    for q in range(first, end, 4):
        at = q - base
        s0, s1, s2, s3 = zero, zero, zero, zero
        t0, t1, t2, t3 = zero, zero, zero, zero
        u0, u1, u2, u3 = zero, zero, zero, zero
        v0, v1, v2, v3 = zero, zero, zero, zero
        for k in range(X.shape[1]):
            x, y, z, w = X[r, k], X[r + 1, k], X[r + 2, k], X[r + 3, k]
            row = rows[q, k]
            s0 += row * x
            t0 += row * y
            u0 += row * z
            v0 += row * w
            row = rows[q + 1, k]
            s1 += row * x
            t1 += row * y
            u1 += row * z
            v1 += row * w
            row = rows[q + 2, k]
            s2 += row * x
            t2 += row * y
            u2 += row * z
            v2 += row * w
            row = rows[q + 3, k]
            s3 += row * x
            t3 += row * y
            u3 += row * z
            v3 += row * w
        Z[r, at], Z[r, at + 1], Z[r, at + 2], Z[r, at + 3] = s0, s1, s2, s3
        Z[r + 1, at], Z[r + 1, at + 1], Z[r + 1, at + 2], Z[r + 1, at + 3] = t0, t1, t2, t3
        Z[r + 2, at], Z[r + 2, at + 1], Z[r + 2, at + 2], Z[r + 2, at + 3] = u0, u1, u2, u3
        Z[r + 3, at], Z[r + 3, at + 1], Z[r + 3, at + 2], Z[r + 3, at + 3] = v0, v1, v2, v3


@inner
def add_to_four(rows: Array, first: int, end: int, S: Array, base: int, G: Array, r: int) -> None:
    """G[r + i] += sum_q S[r + i, q - base] row_q for i < 4 and q from first to end, a multiple of four later."""
    for q in range(first, end, 4):
        at = q - base
        s0, s1, s2, s3 = S[r, at], S[r, at + 1], S[r, at + 2], S[r, at + 3]
        t0, t1, t2, t3 = S[r + 1, at], S[r + 1, at + 1], S[r + 1, at + 2], S[r + 1, at + 3]
        u0, u1, u2, u3 = S[r + 2, at], S[r + 2, at + 1], S[r + 2, at + 2], S[r + 2, at + 3]
        v0, v1, v2, v3 = S[r + 3, at], S[r + 3, at + 1], S[r + 3, at + 2], S[r + 3, at + 3]
        for k in range(G.shape[1]):
            a, b, c, e = rows[q, k], rows[q + 1, k], rows[q + 2, k], rows[q + 3, k]
            G[r, k] += s0 * a + s1 * b + s2 * c + s3 * e
            G[r + 1, k] += t0 * a + t1 * b + t2 * c + t3 * e
            G[r + 2, k] += u0 * a + u1 * b + u2 * c + u3 * e
            G[r + 3, k] += v0 * a + v1 * b + v2 * c + v3 * e


@inner
def fill_slopes(
    potential: int, shifts: Array, weights: Array, q: int, count: int, Z: Array, S: Array, r: int, at: int
) -> None:
    """Z[r, at:] -= shifts[q:] and S[r, at:] = weights[q:] phi' of them, `count` each; for one potential a loop.

    An unsigned index cannot count from the end, and only then do the loops vectorise.
    """
    if potential == CAUCHY:
        for k in range(count):
            to, of = np.uint64(at + k), np.uint64(q + k)
            Z[r, to] -= shifts[of]
            S[r, to] = weights[of] * formulas.slope(CAUCHY, Z[r, to])
    elif potential == GEMAN_MCCLURE:
        for k in range(count):
            to, of = np.uint64(at + k), np.uint64(q + k)
            Z[r, to] -= shifts[of]
            S[r, to] = weights[of] * formulas.slope(GEMAN_MCCLURE, Z[r, to])
    else:
        for k in range(count):
            Z[r, at + k] -= shifts[q + k]
            S[r, at + k] = weights[q + k] * formulas.slope(potential, Z[r, at + k])


@inner
def sum_values(potential: int, weights: Array, q: int, count: int, Z: Array, r: int, at: int) -> float:
    """sum weights phi(z) over `count` rows from q on; for one potential a loop, so that it vectorises."""
    total = 0.0
    if potential == CAUCHY:
        for k in range(count):
            to, of = np.uint64(at + k), np.uint64(q + k)
            total += weights[of] * formulas.potential(CAUCHY, Z[r, to])
    else:
        for k in range(count):
            total += weights[q + k] * formulas.potential(potential, Z[r, at + k])
    return total


@inner
def client_pass(
    potential: int, part: Part, i: int, X: Array, tiled: bool, valued: bool, base: int, Z: Array, S: Array, G: Array,
    values: Array,
) -> None:  # fmt: skip
    """Client i's mean gradient at every X[r] into G (R, width), and with `valued` its mean into values (R,).

    On the way z and weight phi'(z) of its rows q go to Z[r, q - base] and S[r, q - base].
    """
    R, width = G.shape
    rows, first, end = part.rows, part.client_rows[i], part.client_rows[i + 1]
    shifts, weights, mean_offsets = part.shifts, part.weights, part.mean_offsets
    G[:] = 0
    values[:] = 0.0
    chunk = min(32, max(8, NEAR // width // 4 * 4))
    for q0 in range(first, end, chunk):
        q1 = min(end, q0 + chunk)
        r = 0
        while r < R:
            together = 4 if tiled and r + 4 <= R else 1
            if together == 4:
                dots_of_four(rows, q0, q1, X, r, Z, base)
            else:
                dots_of_one(rows, q0, q1, X, r, Z, base)
            for one in range(r, r + together):
                fill_slopes(potential, shifts, weights, q0, q1 - q0, Z, S, one, q0 - base)
                if valued:
                    values[one] += sum_values(potential, weights, q0, q1 - q0, Z, one, q0 - base)
            if together == 4:
                add_to_four(rows, q0, q1, S, base, G, r)
            else:
                add_to_one(rows, q0, q1, S, base, G, r)
            r += together
    one = X.dtype.type(1) / (part.client_start[i + 1] - part.client_start[i])
    share = X.dtype.type(one)
    for r in range(R):
        linear = 0.0
        for c in range(width):
            G[r, c] = share * G[r, c] + mean_offsets[i, c]
            linear += mean_offsets[i, c] * X[r, c]
        values[r] = values[r] * one + linear


@inner
def chosen_pass(
    potential: int, rows: Array, shifts: Array, weights: Array, i: int, chosen: Ints, counts: Ints, factors: Array,
    known: bool, valued: bool, base: int, Z: Array, S: Array, X: Array, G: Array, values: Array,
) -> None:  # fmt: skip
    """G[r] += factors[r, i] times the sum of weight phi'(z) row over chosen[r, i, :counts[r, i]], filled up to fours.

    The same for the values. With `known`, z and slopes of row q at X[r] stand in Z[r, q - base] and S[r, q - base].
    """
    nothing, zero = len(rows) - 1, X.dtype.type(0)
    for r in range(len(X)):
        scale, value = X.dtype.type(factors[r, i]), 0.0
        for k in range(0, counts[r, i], 4):
            a, b, c, e = chosen[r, i, k], chosen[r, i, k + 1], chosen[r, i, k + 2], chosen[r, i, k + 3]
            if known:
                s = S[r, a - base]
                t = S[r, b - base] if b < nothing else zero
                u = S[r, c - base] if c < nothing else zero
                v = S[r, e - base] if e < nothing else zero
            else:
                x, y, z, w = four_dots(rows, a, b, c, e, X, r)
                x, y, z, w = x - shifts[a], y - shifts[b], z - shifts[c], w - shifts[e]
                s = X.dtype.type(weights[a] * formulas.slope(potential, x))
                t = X.dtype.type(weights[b] * formulas.slope(potential, y))
                u = X.dtype.type(weights[c] * formulas.slope(potential, z))
                v = X.dtype.type(weights[e] * formulas.slope(potential, w))
                if valued:
                    value += weights[a] * formulas.potential(potential, x)
                    value += weights[b] * formulas.potential(potential, y)
                    value += weights[c] * formulas.potential(potential, z)
                    value += weights[e] * formulas.potential(potential, w)
            add_four(rows, a, b, c, e, scale * s, scale * t, scale * u, scale * v, G, r)
        if known and valued:
            for k in range(counts[r, i]):
                q = chosen[r, i, k]
                value += weights[q] * formulas.potential(potential, Z[r, q - base])
        values[r] += factors[r, i] * value
