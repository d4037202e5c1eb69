"""The local steps of a client by a team of CUDA threads: the same steps as in `cpu`."""

from __future__ import annotations

from cflag_theory.kernels.engines.codes import (
    COMPONENT_DRAW,
    CONSTANT,
    CONTROL,
    DELAYED,
    FULL,
    STOCHASTIC,
    STOCHASTIC_DRAW,
    TRACKING,
    Numbers,
)
from cflag_theory.kernels.engines.components import Sum
from cflag_theory.kernels.engines.cuda.begin_round import WHOLE, client_gradient
from cflag_theory.kernels.engines.cuda.team import (
    below,
    device,
    lane,
    lanes,
    real,
    refreshed_mean,
    slope,
    team_dot,
    team_sum,
    team_sync,
    warp_sync,
    words,
)
from cflag_theory.kernels.engines.cuda.workspace import Work
from cflag_theory.kernels.numbers import Array


@device
def sample(
    n: Numbers, i: int, j: int, current: Sum, local: Array, estimate: Array, w: Work, rank: int, size: int
) -> None:
    """Component j at x: refreshed in the delayed gradient (5), or its gradient alone as the estimate."""
    delayed = n.estimator == DELAYED
    count = real(local, current.client_start[i + 1] - current.client_start[i])
    if not delayed:
        for c in range(rank, len(local), size):
            estimate[c] = current.offsets[j, c] if len(current.offsets) > 0 else real(local, 0.0)
    for q in range(current.row_start[j], current.row_start[j + 1]):
        old = w.table[q]
        z = real(local, 0.0)
        for c in range(rank, len(local), size):
            z += current.rows[q, c] * local[c]
        z = team_sum(z, rank, size, w.scratch) - current.shifts[q]
        new = real(local, current.weights[q] * slope(n.potential, z))
        change = new
        if delayed:
            # (5) is linear along the row, so that its scalar changes by the formula of a coordinate.
            change = real(local, refreshed_mean(real(local, 0.0), new, old, count))
            if size <= lanes():
                warp_sync()
            if rank == 0:
                w.table[q] = new
            team_sync(size)
        for c in range(rank, len(local), size):
            estimate[c] += change * current.rows[q, c]


@device
def local_steps(
    n: Numbers,
    replica: int,
    t: int,
    i: int,
    current: Sum,
    x: Array,
    local: Array,
    estimate: Array,
    u: Array,
    a: Array,
    w: Work,
    rank: int,
    size: int,
) -> None:
    """Client i's local steps from x to `local`, and their sum times server_rate into `a`; vectors (d,).

    `estimate` holds grad g_i(x) before.
    """
    d = len(x)
    first = current.client_start[i]
    count = current.client_start[i + 1] - first
    purpose = STOCHASTIC_DRAW if n.estimator == STOCHASTIC else COMPONENT_DRAW
    for c in range(rank, d, size):
        local[c] = x[c]
        a[c] = 0.0
        u[c] = 0.0
        if n.correction == TRACKING:
            u[c] = w.grad_g[c] - estimate[c]
        elif n.correction == CONTROL:
            u[c] = w.control_mean[c] - w.control[i * d + c]
    drift2_max = real(x, 0.0)
    four = words(n.seed, purpose, replica, i, t, 0)
    for k in range(n.local_steps):
        if n.estimator == FULL and k > 0:
            client_gradient(n, i, current, local, estimate, w, False, WHOLE, rank, size)
        elif n.estimator == STOCHASTIC or k > 0:
            if k > 0 and k % 4 == 0:
                four = words(n.seed, purpose, replica, i, t, k >> 2)
            sample(n, i, first + below(lane(four, k), count), current, local, estimate, w, rank, size)
        drift2 = real(x, 0.0)
        for c in range(rank, d, size):
            moved = local[c] - x[c]
            drift2 += moved * moved
            step = estimate[c] + n.proximal * moved
            a[c] += step
            local[c] -= n.beta * (step + u[c])
        if n.diagnostics > 0:
            drift2_max = max(drift2_max, team_sum(drift2, rank, size, w.scratch))
    for c in range(rank, d, size):
        a[c] *= n.server_rate
    if n.diagnostics > 0 or n.adaptive != CONSTANT:
        product = team_dot(w.grad_memory, a, rank, size, w.scratch)
        norm2 = team_dot(a, a, rank, size, w.scratch)
        if rank == 0:
            w.products[i], w.norms[i], w.drift[i] = product, norm2, drift2_max
