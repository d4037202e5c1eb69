"""CUDA kernel of small problems: a block a replica, a warp a client, all rounds in one launch.

x and the vectors of all clients lie in shared memory.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from cflag_theory.kernels.engines.codes import DIVERGED, OK, ROTATED, SCALED, SUBSET
from cflag_theory.kernels.engines.cuda.begin_round import WHOLE, client_gradient, draw_memory, past_gradient
from cflag_theory.kernels.engines.cuda.end_round import (
    in_bounds,
    measure_round,
    measure_state,
    server_step,
    sum_clients,
)
from cflag_theory.kernels.engines.cuda.local_steps import local_steps
from cflag_theory.kernels.engines.cuda.team import LANES, block_sync, cuda, draw_sign, kernel, lanes
from cflag_theory.kernels.engines.cuda.workspace import work_on

#: Warps of a block at most, so that each thread may use 255 registers; a warp then serves several clients.
TEAMS = 8
#: Numbers of shared memory that the sums of a block use.
SCRATCH = 32


@lru_cache
def small_kernel(dtype: Any) -> Any:
    """The kernel for numbers of this type, `float64` or `float32` of Numba."""

    @kernel(TEAMS * LANES)
    def small(n, first_replica, data, store, out):  # type: ignore[no-untyped-def]
        p, start, past, current, labels = data
        block = cuda.blockIdx.x
        replica = first_replica + block
        thread, threads = cuda.threadIdx.x, cuda.blockDim.x
        team, rank, width = thread // lanes(), thread % lanes(), lanes()
        teams = threads // width
        N, d = len(p), len(start)
        shared = cuda.shared.array(0, dtype)
        w = work_on(
            shared[SCRATCH:],
            N,
            d,
            store.control,
            store.offset,
            store.table[block],
            store.slopes[block],
            store.kept_slopes[block],
            store.factors[block],
            store.order[block],
            shared[0:SCRATCH],
        )
        for c in range(thread, d, threads):
            w.x[c] = start[c]
            w.control_mean[c] = 0.0
        for c in range(thread, store.control, threads):
            w.control[c] = 0.0
        for i in range(thread, N, threads):
            w.drift[i] = 0.0
        block_sync()

        sign = 1 if n.memory == ROTATED else 0
        status, done = OK, n.rounds
        for t in range(n.rounds + 1):
            measure = n.diagnostics > 0 or t == n.rounds
            drawn = t if n.redraw else 0
            if n.signed:
                sign = draw_sign(n.seed, replica, drawn)
            whole = measure or n.memory == SCALED or n.memory == ROTATED
            for i in range(team, N, teams):
                if n.memory == SUBSET and drawn == t:
                    draw_memory(n, replica, t, i, p, past, labels, w, rank, width)
                if whole or n.memory == SUBSET:
                    past_gradient(n, i, p, past, w, whole, WHOLE, rank, width)
                grad = w.estimate[i * d : (i + 1) * d]
                client_gradient(n, i, current, w.x, grad, w, measure, WHOLE, rank, width)
            block_sync()
            sum_clients(n, p, sign, whole, w, thread, threads)
            slot = t if n.diagnostics > 0 else 0
            if measure and not measure_state(n, sign, p, w, out.state[block, slot], thread, threads):
                status, done = DIVERGED, t - 1
                break
            if out.iterates.shape[1] > 0:
                for c in range(thread, d, threads):
                    out.iterates[block, t, c] = w.x[c]
            if t == n.rounds:
                break
            for i in range(team, N, teams):
                begin, end = i * d, (i + 1) * d
                local, estimate = w.local[begin:end], w.estimate[begin:end]
                u, a = w.u[begin:end], w.a[begin:end]
                local_steps(n, replica, t, i, current, w.x, local, estimate, u, a, w, rank, width)
            block_sync()
            alpha = server_step(n, p, w, thread, threads)
            fine = in_bounds(w, thread, threads)
            if fine and n.diagnostics > 0:
                fine = measure_round(n, N, alpha, w, out.per_round[block, t], out.Lambda[block, t], thread, threads)
            if not fine:
                status, done = DIVERGED, t
                break
            block_sync()
        if thread == 0:
            out.status[block] = status
            out.rounds_done[block] = done

    return small
