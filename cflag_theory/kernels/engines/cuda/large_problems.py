"""CUDA kernels of large problems: a block a client and replica, two launches a round.

The last block of a replica to finish a launch does the server's part. It sums over the clients in their order,
whichever block it is: the count of finished blocks is the only atomic, and an integer. Which round it is stands in the
results, so that the launches of all rounds have the same arguments.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from cflag_theory.kernels.engines.codes import DIVERGED, ROTATED, SCALED, SUBSET
from cflag_theory.kernels.engines.cuda.begin_round import FINISH, SLOPES, client_gradient, draw_memory, past_gradient
from cflag_theory.kernels.engines.cuda.end_round import (
    in_bounds,
    measure_round,
    measure_state,
    server_step,
    sum_clients,
)
from cflag_theory.kernels.engines.cuda.local_steps import local_steps
from cflag_theory.kernels.engines.cuda.team import block_sync, cuda, device, draw_sign, kernel
from cflag_theory.kernels.engines.cuda.workspace import Work, work_on
from cflag_theory.kernels.numbers import Array

#: Threads of a block.
THREADS = 256
#: Numbers of shared memory that the sums of a block use.
SCRATCH = 32
#: Vectors of local steps that lie in shared memory where they fit: x, local, estimate, u, a.
VECTORS = 5


@device
def replica_and_client(replicas: int) -> tuple[Any, Any]:
    """What this block serves; neighbours are replicas of one client, which read the same rows."""
    # Only the first dimension of a grid reaches beyond 65535 blocks.
    return cuda.blockIdx.x % replicas, cuda.blockIdx.x // replicas


@device
def work_of_block(data: Any, store: Any, block: int, scratch: Array) -> Work:
    """The arrays of this block's replica, all in global memory but the scratch."""
    return work_on(
        store.vectors[block],
        len(data.p),
        len(data.start),
        store.control,
        store.offset,
        store.table[block],
        store.slopes[block],
        store.kept_slopes[block],
        store.factors[block],
        store.order[block],
        scratch,
    )


@device
def is_last(arrived: Any, block: int, N: int, scratch: Any, rank: int) -> Any:
    """Whether all other blocks of the replica have passed here; then what they wrote can be seen."""
    block_sync()
    if rank == 0:
        # Both fences are the counting thread's: a barrier hands it what its block wrote before the first one, and
        # hands its block what it may see after the second.
        cuda.threadfence()
        scratch[0] = cuda.atomic.add(arrived, block, 1)
        cuda.threadfence()
    block_sync()
    last = scratch[0] == N - 1
    block_sync()
    if last and rank == 0:
        arrived[block] = 0
    return last


@lru_cache
def gradients_kernel(dtype: Any) -> Any:
    """The kernel of full gradients and state columns, for `float64` or `float32` of Numba."""

    @kernel(THREADS)
    def gradients(n, first_replica, stage, data, store, out):  # type: ignore[no-untyped-def]
        p, start, past, current, labels = data
        block, i = replica_and_client(len(store.arrived))
        rank, size = cuda.threadIdx.x, cuda.blockDim.x
        if out.status[block] == DIVERGED:
            return
        replica, t = first_replica + block, int(out.rounds_done[block])
        N, d = len(p), len(start)
        scratch = cuda.shared.array(0, dtype)
        w = work_of_block(data, store, block, scratch)
        measure = n.diagnostics > 0 or t == n.rounds
        drawn = t if n.redraw else 0
        whole = measure or n.memory == SCALED or n.memory == ROTATED
        if n.memory == SUBSET and drawn == t and stage != FINISH:
            draw_memory(n, replica, t, i, p, past, labels, w, rank, size)
        if whole or n.memory == SUBSET:
            past_gradient(n, i, p, past, w, whole, stage, rank, size)
        client_gradient(n, i, current, w.x, w.estimate[i * d : (i + 1) * d], w, measure, stage, rank, size)
        if stage == SLOPES or not is_last(store.arrived, block, N, scratch, rank):
            return

        sign = 1 if n.memory == ROTATED else 0
        if n.signed:
            sign = draw_sign(n.seed, replica, drawn)
        sum_clients(n, p, sign, whole, w, rank, size)
        slot = t if n.diagnostics > 0 else 0
        if measure and not measure_state(n, sign, p, w, out.state[block, slot], rank, size):
            if rank == 0:
                out.status[block] = DIVERGED
                out.rounds_done[block] = t - 1
            return
        if out.iterates.shape[1] > 0:
            for c in range(rank, d, size):
                out.iterates[block, t, c] = w.x[c]

    return gradients


@lru_cache
def steps_kernel(dtype: Any) -> Any:
    """The kernel of local steps and the server's step, for `float64` or `float32` of Numba."""

    @kernel(THREADS)
    def steps(n, first_replica, data, store, out):  # type: ignore[no-untyped-def]
        p, start, _, current, _ = data
        block, i = replica_and_client(len(store.arrived))
        rank, size = cuda.threadIdx.x, cuda.blockDim.x
        if out.status[block] == DIVERGED:
            return
        replica, t = first_replica + block, int(out.rounds_done[block])
        N, d = len(p), len(start)
        shared = cuda.shared.array(0, dtype)
        scratch = shared[0:SCRATCH]
        w = work_of_block(data, store, block, scratch)
        begin, end = i * d, (i + 1) * d
        x, local, estimate = w.x, w.local[begin:end], w.estimate[begin:end]
        u, a = w.u[begin:end], w.a[begin:end]
        near = shared[SCRATCH:]
        if len(near) >= VECTORS * d:
            x, local, estimate = near[0:d], near[d : 2 * d], near[2 * d : 3 * d]
            u, a = near[3 * d : 4 * d], near[4 * d : 5 * d]
            for c in range(rank, d, size):
                x[c] = w.x[c]
                estimate[c] = w.estimate[begin + c]
        local_steps(n, replica, t, i, current, x, local, estimate, u, a, w, rank, size)
        if len(near) >= VECTORS * d:
            for c in range(rank, d, size):
                w.local[begin + c], w.u[begin + c], w.a[begin + c] = local[c], u[c], a[c]
        if not is_last(store.arrived, block, N, scratch, rank):
            return

        alpha = server_step(n, p, w, rank, size)
        fine = in_bounds(w, rank, size)
        if fine and n.diagnostics > 0:
            fine = measure_round(n, N, alpha, w, out.per_round[block, t], out.Lambda[block, t], rank, size)
        if rank == 0:
            if fine:
                out.rounds_done[block] = t + 1
            else:
                out.status[block] = DIVERGED

    return steps
