"""What a batch of replicas writes on."""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from math import prod
from typing import Any, NamedTuple

import numpy as np

from cflag_theory.kernels.engines.codegen.vector_loops import GROUP
from cflag_theory.kernels.engines.codes import CONSTANT, CONTROL, ROUNDS, STATES, SUBSET, Numbers
from cflag_theory.kernels.engines.cpu.layout import LINE, Padded, rounded_up
from cflag_theory.kernels.engines.cpu.local_steps import Lanes
from cflag_theory.kernels.engines.cpu.ridge_gradients import AHEAD, MOST_ROWS
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
    #: (R * rows,): Of the current rows, where `ridge_gradients.place` says, or Z of a chunk of them where no step reads
    #: it; of one client's past rows past_Z, past_slopes.
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
    #: (R,): Values are as many as whole panels have; alpha is that of the steps taken.
    alphas: Array
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
    #: (R, N), (R, N), (R, N), (R, most), (R, most): Of a memory of some components: where a client's list begins and
    #: ends, and its factor; and the rows of all lists, each filled up to a multiple of four, with their weights.
    kept_begin: Ints
    kept_end: Ints
    kept_share: Array
    kept_rows: Ints
    kept_weights: Array
    #: (R, width): Of an elementwise problem: their mean coefficients; and their mean linear term.
    kept_means: Array
    memory_offset: Array
    #: (R,), (R,), (most components of a client's past or 0,), (N * K * R,): 1 until a replica diverges, and scratch of
    #: a draw; K = E in whole fours.
    signs: Ints
    alive: Ints
    order: Ints
    orders: Ints
    #: (8,).
    state: Array
    measured: Array


def _views(dtype: Any, **shapes: tuple[int, ...]) -> dict[str, Array]:
    """Zeros of these shapes, each from a cache line on, in one piece of memory."""
    ends = _ends(np.dtype(dtype).itemsize, tuple(shapes.values()))
    memory = np.zeros(ends[-1] + LINE, np.uint8)
    first = -memory.ctypes.data % LINE
    return {name: np.ndarray(shapes[name], dtype, memory, first + end) for name, end in zip(shapes, ends, strict=False)}


@lru_cache
def _ends(size: int, shapes: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Where these arrays, one after the other, begin, and where the last ends."""
    return tuple(accumulate((rounded_up(prod(shape) * size, LINE) for shape in shapes), initial=0))


def new_workspace(n: Numbers, s: Padded, R: int) -> Workspace:
    """What a batch of R replicas writes on, at x_0."""
    N, width, dtype = len(s.p), len(s.point), s.point.dtype
    elementwise = len(s.basis) > 0
    rows = 0 if elementwise else len(s.current.rows)
    widest = 0 if elementwise else int(np.diff(s.past.client_rows).max())
    past = len(s.past.rows) - 1
    size = 1 << n.bits
    numbers = -(-R // size) * size
    own, at_once = (numbers // size, MOST_ROWS * size) if n.bits > 0 else (0, 0)
    lists = R if n.memory == SUBSET else 0
    controlled = R if n.correction == CONTROL else 0
    adapted = (R, N, width) if n.adaptive != CONSTANT else (0, 0, width)
    every, chosen = (R, width), (lists, width)
    workspace = Workspace(
        **_views(
            dtype, X=every, grad_f=every, grad_g=every, grad_memory=every, b=every, S=every, step=every,
            displacement=every, clients=(0 if n.summed else N, R, width), panels=(own, n.dimension, size),
            Z=(own * at_once if n.summed else numbers * rows,), slopes=(numbers * rows,),
            past_Z=(max(numbers * widest, past),), past_slopes=(max(numbers * widest, past),), potentials=(at_once,),
            coordinate_slopes=(R if elementwise else 0, width), scratch=every, a=adapted, u=adapted,
            control=(controlled, N, width), control_mean=(controlled, width), control_change=(controlled, width),
            kept_means=chosen, kept_weights=(lists, past), memory_offset=chosen,
        ),
        **_views(
            np.float64, f=(R,), f_memory=(R,), g=(R,), values=(numbers,), products=(R, N), kept_share=(lists, N),
            state=(STATES,), measured=(ROUNDS,), alphas=(R,),
        ),
        **_views(
            np.int64, kept_begin=(lists, N), kept_end=(lists, N), kept_rows=(lists, past + AHEAD), signs=(R,),
            alive=(R,), order=(int(np.diff(s.past.client_start).max()) if lists else 0,),
        ),
        orders=np.zeros(N * R * rounded_up(n.local_steps, 4), np.uint64),
    )  # fmt: skip
    workspace.X[:] = s.point
    workspace.signs[:] = workspace.alive[:] = 1
    return workspace


def new_lanes(n: Numbers, s: Padded, R: int, group: int) -> Lanes:
    """What the lanes of a group write on."""
    width, E, dtype = len(s.point), n.local_steps, s.point.dtype
    elementwise = len(s.basis) > 0
    components = int(np.diff(s.current.client_start).max())
    rows = 0 if elementwise else int(np.diff(s.current.client_rows).max())
    together = max(group, GROUP)
    histories, steps = group if elementwise else 0, E if n.exact_errors else 0
    every, line = (group, width), (together, LINE // dtype.itemsize)
    return Lanes(
        **_views(
            dtype, D=every, u=every, V=every, estimate=every, path=(steps, width), estimates=(steps, width),
            rho=(1, width), point=(1, width), z=(together,), slopes_met=(together,), lines=line, starts=line,
            nothing=line, squares=(together,), history=(histories * E, width), zs=(rows,), slopes=(rows,),
        ),
        **_views(
            np.float64, components=(group,), value=(1,), drift2=(R,), error2=(R,), rho_sum=(R, width),
            error_sum=(R, width),
        ),
        **_views(np.int64, client=(group,), replica=(group,), last=(histories, components)),
        **_views(np.uint64, row=(group,), drawn=(group,), base=(group,), places=(group, 8)),
    )  # fmt: skip
