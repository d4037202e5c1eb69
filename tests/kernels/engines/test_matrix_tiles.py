"""Sweeps over vectors and tiles of products, each against NumPy."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from numba.core.codegen import get_host_cpu_features

from cflag_theory.kernels import formulas
from cflag_theory.kernels.engines.codegen.cache import compiled
from cflag_theory.kernels.engines.codegen.matrix_tiles import tiles
from cflag_theory.kernels.engines.codegen.vector_loops import (
    GROUP,
    Chained,
    Later,
    Lined,
    Number,
    Read,
    Summed,
    Write,
    Written,
    fold_lines,
    folded_slopes,
    sweep,
)
from cflag_theory.kernels.engines.codegen.versions import REASON
from cflag_theory.kernels.engines.cpu.layout import LINE, aligned
from cflag_theory.kernels.engines.own import potentials

# What the slopes call for a user's potential, as `engines.components` does for the runs.
potentials.register()
DTYPES = (np.float64, np.float32)
LINES = (1, 2, 3, 4, 5, 7, 8, 13)


@sweep
def _combine(a: Read, b: Write, c: Write, s: Number) -> Summed:
    """b = a + s b, c = a c / (1 + s), and <a, new b>."""
    new = a + s * b
    return new, a * c / (1 + s), a * new


@sweep
def _shift(a: Read, following: Later, b: Write) -> Written:
    """b = 1 - a b / 2."""
    return 1 - a * b / 2


@sweep
def _product(a: Read, b: Read) -> Summed:
    """<a, b>."""
    return a * b


@sweep
def _product_line(a: Read, b: Read) -> Lined:
    """<a, b> as a line."""
    return a * b


@sweep
def _product_chain(a: Read, b: Read) -> Chained:
    """The same line after line."""
    return a * b


folded_cauchy = folded_slopes(formulas.CAUCHY)


@compiled
def _run(A, i, B, j, C, k, s):
    total = _combine(A, i, B, j, C, k, s)
    # What is asked for need not exist.
    _shift(A, i, A, 1 << 20, C, k)
    return total


@compiled
def _products(A, B, lines, starts, sums, slopes, chained, alone):
    for g in range(len(A)):
        _product_line(A, g, B, g, lines, g)
        alone[g] = _product(A, g, B, g)
    fold_lines(lines, starts, sums)
    folded_cauchy(lines, starts, slopes)
    for g in range(len(A)):
        _product_chain(A, g, B, g, lines, g)
    fold_lines(lines, starts, chained)


ADD = {count: tiles.add_rows(count) for count in (4, 8)}
DOTS = {count: tiles.row_dots(count) for count in (4, 8)}
add_4, add_8, dots_4, dots_8 = ADD[4], ADD[8], DOTS[4], DOTS[8]
chosen_4, chosen_8 = (tiles.chosen_slopes(count, formulas.CAUCHY) for count in (4, 8))
add_chosen_4, add_chosen_8 = (tiles.add_chosen(count) for count in (4, 8))
cauchy = tiles.panel_slopes(formulas.CAUCHY)
panel_tile, gradient_tile, panel_sums = tiles.panel_tile, tiles.gradient_tile, tiles.panel_sums


@compiled
def _rows(rows, q, X, shifts, weights, share, Z, slopes, S, G):
    dots_4(rows, 1, X, 1, Z, 2)
    dots_8(rows, 3, X, 1, Z, 6)
    chosen_8(rows, q, 1, 14, X, shifts, weights, share, Z, slopes)
    chosen_4(rows, q, 1, 22, X, shifts, weights, share, Z, slopes)
    # Asked for and added is what the list says from other places.
    add_chosen_8(rows, q, 1, 14, 0, 3, S, G)
    add_chosen_4(rows, q, 1, 22, 0, 3, S, G)
    add_4(rows, 3, 5, S, 1, G, 0)
    # Far beyond the rows: what is asked for need not exist.
    add_8(rows, 2, 1 << 20, S, 4, G, 1)


@compiled
def _tile(rows, q, height, X, panel, panels, ends, Z, start, stride):
    for k in range(len(ends) - 1):
        panel_tile(rows, q, height, X, panel, panels, ends[k], ends[k + 1], Z, start, stride)


@compiled
def _slopes(shifts, weights, q, count, Z, S, start, sums):
    cauchy(shifts, weights, q, count, Z, start, S, start)
    panel_sums(weights, q, count, S, start, sums, 1)


@compiled
def _gradients(rows, q, count, first, columns, S, start, G, r, replicas):
    gradient_tile(rows, q, count, first, columns, S, start, G, r, replicas)


def vectors(seed, shape, dtype):
    """Standard normal numbers in whole lines."""
    out = aligned(shape, dtype)
    out[:] = np.random.default_rng(seed).standard_normal(shape)
    return out


def close(found, expected, dtype):
    scale = np.abs(expected).max()
    return np.abs(found - expected).max() <= 40 * np.finfo(dtype).eps * scale


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lines", LINES)
def test_a_sweep_writes_and_sums(lines, dtype):
    width = lines * LINE // np.dtype(dtype).itemsize
    A, B, C = (vectors(seed, (3, width), dtype) for seed in range(3))
    a, b, c, s = A[2].astype(float), B[0].astype(float), C[1].astype(float), 0.75
    untouched = [B[1:].copy(), C[::2].copy(), A.copy()]
    total = _run(A, 2, B, 0, C, 1, dtype(s))
    new = a + s * b
    assert close(B[0], new, dtype)
    assert close(C[1], 1 - a * (a * c / (1 + s)) / 2, dtype)
    assert abs(total - a @ new) <= 40 * np.finfo(dtype).eps * np.abs(a * new).sum()
    assert all((x == y).all() for x, y in zip(untouched, (B[1:], C[::2], A), strict=True))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lines", LINES)
def test_sums_taken_together_do_not_depend_on_their_neighbours(lines, dtype):
    """Bit for bit: a lane's product is the same wherever it stands in a group, and whoever stands beside it."""
    width, size = lines * LINE // np.dtype(dtype).itemsize, LINE // np.dtype(dtype).itemsize
    A, B = (vectors(seed, (GROUP, width), dtype) for seed in (5, 6))
    starts = vectors(7, (GROUP, size), dtype)
    found = []
    for order in (np.arange(GROUP), np.roll(np.arange(GROUP), 3)):
        given_a, given_b = (aligned(A.shape, dtype) for _ in range(2))
        given_a[:], given_b[:] = A[order], B[order]
        room, begun = aligned((GROUP, size), dtype), starts[order].copy()
        sums, slopes, chained, alone = np.zeros((4, GROUP), dtype)
        _products(given_a, given_b, room, begun, sums, slopes, chained, alone)
        back = np.argsort(order)
        found.append(np.stack([sums, slopes, chained])[:, back])
        products = (A.astype(float) * B).sum(axis=1)
        assert close(sums[back], products + starts[:, 0], dtype)
        assert close(chained[back], products + starts[:, 0], dtype)
        assert close(slopes, formulas.slope(formulas.CAUCHY, sums.astype(float)), dtype)
        assert close(alone[back], products, dtype)
    assert (found[0] == found[1]).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lines", LINES)
def test_rows_of_one_replica(lines, dtype):
    width, size = lines * LINE // np.dtype(dtype).itemsize, LINE // np.dtype(dtype).itemsize
    rows, X, G = vectors(0, (12, width), dtype), vectors(1, (2, width), dtype), vectors(2, (2, width), dtype)
    S, Z, slopes = vectors(3, (1, 64), dtype)[0], np.zeros(28, dtype), np.zeros(28, dtype)
    shifts, weights, share = vectors(5, (12, size), dtype)[:, 0].copy(), vectors(6, (2, 26), dtype), dtype(0.3)
    q = np.random.default_rng(4).integers(0, len(rows), (2, 26))
    expected = G.astype(float)
    expected[0] += S[1:5].astype(float) @ rows[3:7]
    expected[1] += S[4:12].astype(float) @ rows[2:10] + S[14:26].astype(float) @ rows[q[1, 14:]]
    _rows(rows, q, X, shifts, weights, share, Z, slopes, S, G)
    dots = rows.astype(float) @ X[1]
    assert close(Z[2:6], dots[1:5], dtype)
    assert close(Z[6:14], dots[3:11], dtype)
    z = dots[q[1, 14:]] - shifts[q[1, 14:]]
    assert close(Z[14:26], z, dtype)
    assert close(slopes[14:26], float(share) * weights[1, 14:] * formulas.slope(formulas.CAUCHY, z), dtype)
    assert (Z[[0, 1, 26, 27]] == 0).all()
    assert (slopes[[*range(14), 26, 27]] == 0).all()
    assert close(G, expected, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("panels", range(1, tiles.PANELS + 1))
@pytest.mark.parametrize("height", sorted({4, tiles.ROWS}))
def test_a_tile_of_products(height, panels, dtype):
    size, columns = LINE // np.dtype(dtype).itemsize, 37
    rows, X = vectors(0, (20, 5 * size * 8), dtype), vectors(1, (4, columns, size), dtype)
    stride = 30 * size
    Z = np.full(4 * stride, np.nan, dtype)
    _tile(rows, 5, height, X, 1, panels, np.array([0, 16, columns]), Z, stride + 3 * size, stride)
    found = Z.reshape(4, 30, size)
    expected = np.einsum("qk,pkl->pql", rows[5 : 5 + height, :columns].astype(float), X[1 : 1 + panels])
    assert close(found[1 : 1 + panels, 3 : 3 + height], expected, dtype)
    found[1 : 1 + panels, 3 : 3 + height] = np.nan
    assert np.isnan(Z).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_slopes_and_sums_of_a_panel(dtype):
    size, count = LINE // np.dtype(dtype).itemsize, 6
    shifts, weights, Z = (vectors(seed, (1, 128), dtype)[0] for seed in range(3))
    S, sums = np.zeros_like(Z), np.arange(2.0 * size)
    z = Z[8 : 8 + count * size].astype(float).reshape(count, size) - shifts[3 : 3 + count, None]
    slopes = weights[3 : 3 + count, None] * formulas.slope(formulas.CAUCHY, z)
    expected = sums.copy()
    expected[1 : 1 + size] += weights[3 : 3 + count].astype(float) @ slopes
    _slopes(shifts, weights, 3, count, Z, S, 8, sums)
    assert close(Z[8 : 8 + count * size].reshape(count, size), z, dtype)
    assert close(S[8 : 8 + count * size].reshape(count, size), slopes, dtype)
    assert close(sums, expected, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("columns", range(1, tiles.COLUMNS + 1))
@pytest.mark.parametrize("replicas", [1, 4])
def test_a_tile_of_gradients(replicas, columns, dtype):
    size, count = LINE // np.dtype(dtype).itemsize, 11
    width = (columns + 2) * size
    rows, G, S = vectors(0, (15, width), dtype), vectors(1, (6, width), dtype), vectors(2, (20, size), dtype)
    expected = G.astype(float)
    part = slice(size, (columns + 1) * size)
    expected[1 : 1 + replicas, part] += S[4 : 4 + count, 2 : 2 + replicas].astype(float).T @ rows[3 : 3 + count, part]
    _gradients(rows, 3, count, size, columns, S.reshape(-1), 4 * size + 2, G, 1, replicas)
    assert close(G, expected, dtype)


@pytest.mark.skipif(bool(REASON), reason=f"plain loops know no registers: {REASON}")
@pytest.mark.full
def test_narrow_registers_give_the_same():
    """Other sizes of tiles, which a processor without wide registers gets, compiled for one here."""
    if "+avx2" not in get_host_cpu_features().split(","):
        pytest.skip("not a processor with AVX2")
    program = (
        "import numpy as np\n"
        "from cflag_theory.kernels import random_glm, simulate, uniform\n"
        "from cflag_theory.kernels.engines.codegen.matrix_tiles import tiles\n"
        "assert tiles.ROWS == 4 and tiles.PANELS == 1 and tiles.COLUMNS == 1\n"
        "problem = random_glm(clients=2, components=13, dimension=19)\n"
        "runs = [simulate(problem, 'c_flag', alpha=0.1, beta=0.01, local_steps=3, rounds=10, memory=uniform(3),"
        " replicas=11, seed=1, mode=mode, iterates=True).iterates for mode in ('fast', 'bitwise')]\n"
        "print(np.abs(runs[0] - runs[1]).max() / np.abs(runs[1]).max())"
    )
    narrow = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx,+avx2,+bmi,+bmi2,+fma,+sse2,+sse4.2"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | narrow, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1e-13
