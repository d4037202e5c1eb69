"""What a batch of replicas writes on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cflag_theory.kernels.engines.codegen.cache import allocating
from cflag_theory.kernels.engines.codegen.vector_loops import GROUP
from cflag_theory.kernels.engines.codes import CONSTANT, CONTROL, ROUNDS, STATES, SUBSET, Numbers
from cflag_theory.kernels.engines.cpu.layout import LINE, Padded
from cflag_theory.kernels.engines.cpu.local_steps import Lanes
from cflag_theory.kernels.engines.cpu.ridge_gradients import MOST_ROWS
from cflag_theory.kernels.numbers import Array, Ints


class Workspace(NamedTuple):
    """What a batch writes on."""

    #: (R, width).
    X: Array
    grad_f: Array
    grad_g: Array
    grad_memory: Array
    b: Array
    S: Array
    step: Array
    displacement: Array
    #: (N, R, width): grad g_i(x_t).
    clients: Array
    #: (panels or 0, d, lanes): X, where replicas go together: its columns as lines.
    panels: Array
    #: (R * rows,): Of the current rows, where `ridge_gradients.place` says; of one client's past rows past_Z,
    #: past_slopes.
    Z: Array
    slopes: Array
    past_Z: Array
    past_slopes: Array
    #: (rows of a pass * lanes or 0,): phi at the z of a panel.
    potentials: Array
    #: (R or 0, width): phi' at X, of an elementwise problem.
    coordinate_slopes: Array
    #: (R, width).
    scratch: Array
    #: (R,): Values are as many as whole panels have.
    f: Array
    f_memory: Array
    g: Array
    values: Array
    #: (R, N, width): Where rates are adapted.
    a: Array
    u: Array
    #: (R, N).
    products: Array
    #: (R, N, width), (R, width), (R, width).
    control: Array
    control_mean: Array
    control_change: Array
    #: (R, N), (R, N), (R, N, most): Of a memory of some components: rows that a client keeps, p_i over its kept
    #: components, and the rows, filled up to a multiple of four.
    kept: Ints
    kept_share: Array
    kept_rows: Ints
    #: (R, width): Of an elementwise problem: their mean coefficients; and their mean linear term.
    kept_means: Array
    memory_offset: Array
    #: (R,), (N * K * R,), K = E in whole fours.
    signs: Ints
    orders: Ints
    #: (8,).
    state: Array
    measured: Array


@allocating
def rows_from(like: Array, rows: int, width: int) -> Array:
    """Zeros (rows, width) that start at a cache line."""
    line, size = 64 // like.itemsize, rows * width
    buffer = np.zeros(size + line, like.dtype)
    skip = (-(buffer.ctypes.data // like.itemsize)) % line
    return buffer[skip : skip + size].reshape(rows, width)


@allocating
def new_workspace(n: Numbers, s: Padded, R: int) -> Workspace:
    x, N, width = s.point, len(s.p), len(s.point)
    elementwise = len(s.basis) > 0
    widest = 0
    for i in range(N):
        if not elementwise:
            widest = max(widest, s.past.client_rows[i + 1] - s.past.client_rows[i])
    rows = 0 if elementwise else len(s.current.rows)
    size = 1 << n.bits
    panels = (R + size - 1) >> n.bits
    own = panels if n.bits > 0 else 0
    at_once = MOST_ROWS * size if n.bits > 0 else 0
    coordinates = R if elementwise else 0
    lists = R if n.memory == SUBSET else 0
    controlled = R if n.correction == CONTROL else 0
    adapted, each = (R, N) if n.adaptive != CONSTANT else (0, 0)
    workspace = Workspace(
        rows_from(x, R, width),
        rows_from(x, R, width),
        rows_from(x, R, width),
        rows_from(x, R, width),
        rows_from(x, R, width),
        rows_from(x, R, width),
        rows_from(x, R, width),
        rows_from(x, R, width),
        rows_from(x, N * R, width).reshape(N, R, width),
        rows_from(x, own * n.dimension, size).reshape(own, n.dimension, size),
        rows_from(x, 1, panels * size * rows)[0],
        rows_from(x, 1, panels * size * rows)[0],
        rows_from(x, 1, panels * size * widest)[0],
        rows_from(x, 1, panels * size * widest)[0],
        rows_from(x, 1, at_once)[0],
        rows_from(x, coordinates, width),
        rows_from(x, R, width),
        np.zeros(R),
        np.zeros(R),
        np.zeros(R),
        np.zeros(panels * size),
        rows_from(x, adapted * each, width).reshape(adapted, each, width),
        rows_from(x, adapted * each, width).reshape(adapted, each, width),
        np.zeros((R, N)),
        rows_from(x, controlled * N, width).reshape(controlled, N, width),
        rows_from(x, controlled, width),
        rows_from(x, controlled, width),
        np.zeros((lists, N), np.int64),
        np.zeros((lists, N)),
        np.zeros((lists, N, widest), np.int64),
        rows_from(x, lists, width),
        rows_from(x, lists, width),
        np.ones(R, np.int64),
        np.zeros(N * R * ((n.local_steps + 3) >> 2 << 2), np.uint64),
        np.zeros(STATES),
        np.zeros(ROUNDS),
    )
    for r in range(R):
        for c in range(width):
            workspace.X[r, c] = x[c]
    return workspace


@allocating
def new_lanes(n: Numbers, s: Padded, R: int, group: int) -> Lanes:
    x, width, E = s.point, len(s.point), n.local_steps
    elementwise = len(s.basis) > 0
    components, rows = 0, 0
    for i in range(len(s.p)):
        components = max(components, s.current.client_start[i + 1] - s.current.client_start[i])
        if not elementwise:
            rows = max(rows, s.current.client_rows[i + 1] - s.current.client_rows[i])
    together = max(group, GROUP)
    histories, steps = group if elementwise else 0, E if n.exact_errors else 0
    return Lanes(
        rows_from(x, group, width),
        rows_from(x, group, width),
        rows_from(x, group, width),
        rows_from(x, group, width),
        rows_from(x, steps, width),
        rows_from(x, steps, width),
        rows_from(x, 1, width),
        rows_from(x, 1, width),
        rows_from(x, 1, together)[0],
        np.zeros(group, np.uint64),
        rows_from(x, 1, together)[0],
        rows_from(x, together, LINE // x.itemsize),
        rows_from(x, 1, together)[0],
        np.zeros(group, np.int64),
        np.zeros(group, np.int64),
        np.zeros(group, np.uint64),
        np.zeros(group, np.uint64),
        np.zeros(group),
        rows_from(x, histories * E, width),
        np.zeros((histories, components), np.int64),
        rows_from(x, 1, rows)[0],
        rows_from(x, 1, rows)[0],
        np.zeros(1),
        np.zeros(R),
        np.zeros(R),
        np.zeros((R, width)),
        np.zeros((R, width)),
    )
