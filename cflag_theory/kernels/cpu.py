"""The loop as compiled code: float64, each replica runs all its rounds, threads share the replicas.

A replica touches nothing that another one writes, and sums in an order of its own: results do not depend on threads.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from . import draws, formulas
from . import memory as memories
from .adaptive import adapted_step
from .cache import compiled, default_threads
from .local_passes import (
    Rules,
    as_rules,
    begin_round,
    complete_step,
    local_work,
    weighted_gradient,
    weighted_sample,
)
from .passes import (
    CONSTANT,
    CONTROL,
    FULL,
    NO_MEMORY,
    PRINTED,
    ROTATED,
    SCALED,
    STOCHASTIC,
    SUBSET,
    TRACKING,
    Numbers,
    Sum,
    add,
    as_numbers,
    as_sum,
    client_gradient,
    copy,
    dot,
    draw_memory,
    floats,
    past_pass,
    sample,
)
from .past_passes import information_loss, open_objective, remember
from .plan import LIMIT, Outputs, Plan
from .problem import Array, Ints
from .trace import ROUND, STATE, Status

OK, DIVERGED = int(Status.OK), int(Status.DIVERGED)
COMPONENT_DRAW, STOCHASTIC_DRAW = draws.COMPONENT, draws.STOCHASTIC
STATES, ROUNDS = len(STATE), len(ROUND)


class Work(NamedTuple):
    """What one replica writes on: vectors (d,), per client (N, d), factors and table one number a row."""

    x: Array
    local: Array
    grad_f: Array
    grad_memory: Array
    b: Array
    grad_g: Array
    grad_clients: Array
    estimate: Array
    u: Array
    a: Array
    S: Array
    step: Array
    displacement: Array
    rho: Array
    rho_sum: Array
    error_sum: Array
    control: Array
    control_mean: Array
    control_change: Array
    memory_offset: Array
    memory_factors: Array
    table: Array


def run(plan: Plan, out: Outputs, *, threads: int | None = None) -> None:
    """Run all replicas into `out`, on as many threads as Numba would use unless told otherwise."""
    threads = min(threads or default_threads(), plan.replicas)
    problem = plan.problem
    labels = np.ascontiguousarray(problem.labels, dtype=np.int64)
    rules = None if plan.framework is None else as_rules(plan, plan.framework)
    read = (as_numbers(plan), rules, floats(problem.p), floats(problem.start))
    sums = (as_sum(problem.past), as_sum(problem.current), labels)
    written = (out.state, out.per_round, out.Lambda, out.iterates)

    def one(replica: int) -> None:
        mine = (array[replica] for array in written)
        out.status[replica], out.rounds_done[replica] = _run_replica(replica, *read, *sums, *mine)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(one, range(plan.replicas)))


@compiled
def _finite(values: Array) -> bool:
    finite = True
    for value in values:
        finite = finite and math.isfinite(value)
    return finite


@compiled
def _work(start: Array, N: int, past_rows: int, current_rows: int) -> Work:
    d = len(start)
    return Work(
        start.copy(),
        np.empty(d),
        np.empty(d),
        np.empty(d),
        np.empty(d),
        np.empty(d),
        np.empty((N, d)),
        np.empty(d),
        np.empty((N, d)),
        np.empty((N, d)),
        np.empty(d),
        np.empty(d),
        np.empty(d),
        np.empty(d),
        np.empty(d),
        np.empty(d),
        np.zeros((N, d)),
        np.zeros(d),
        np.empty(d),
        np.zeros(d),
        np.zeros(past_rows),
        np.empty(current_rows),
    )


@compiled
def _bias(n: Numbers, sign: int, f: float, f_memory: float, w: Work) -> float:
    """Complete b and grad_f_memory = grad f + b of (6); returns f_memory, 0 where there is none."""
    if n.memory == SUBSET:
        for c in range(len(w.b)):
            w.b[c] = w.grad_memory[c] - w.grad_f[c]
        return f_memory
    if n.memory == NO_MEMORY:
        w.b[:] = 0.0
        return 0.0
    if n.memory == ROTATED:
        memories.rotate(w.grad_f, n.angle, w.b)
    else:
        copy(w.b, w.grad_f)
    for c in range(len(w.b)):
        w.b[c] *= sign * n.scale
        w.grad_memory[c] = w.grad_f[c] + w.b[c]
    return (1.0 + sign * n.scale) * f if n.memory == SCALED else 0.0


@compiled
def _measure_state(n: Numbers, f: float, g: float, f_memory: float, w: Work, out: Array) -> bool:
    """The columns of STATE into out (8,); False if one is not finite, and then `out` is left alone."""
    share, rest = n.memory_share, 1.0 - n.memory_share
    grad_h2 = 0.0
    for c in range(len(w.x)):
        component = share * w.grad_memory[c] + rest * w.grad_g[c]
        grad_h2 += component * component
    now = np.empty(STATES)
    now[0], now[1], now[2] = f, g, share * f_memory + rest * g
    now[3], now[4], now[5] = dot(w.grad_f, w.grad_f), dot(w.grad_g, w.grad_g), grad_h2
    now[6], now[7] = dot(w.grad_memory, w.grad_memory), dot(w.b, w.b)
    if not _finite(now):
        return False
    copy(out, now)
    return True


@compiled
def _local_steps(
    replica: int, t: int, i: int, n: Numbers, r: Rules | None, share: float, current: Sum, w: Work, h: Any
) -> tuple[float, float]:
    """Client i's local steps from w.x to w.local, their sum in w.a[i]; returns drift2_max and error2_max.

    In plain runs r and h are None, and branches that read them are not compiled.
    """
    first = current.client_start[i]
    count = current.client_start[i + 1] - first
    purpose = STOCHASTIC_DRAW if n.estimator == STOCHASTIC else COMPONENT_DRAW
    a, u = w.a[i], w.u[i]
    for c in range(len(w.x)):
        u[c] = 0.0
        if n.correction == TRACKING:
            u[c] = w.grad_g[c] - w.grad_clients[i, c]
        elif n.correction == CONTROL:
            u[c] = w.control_mean[c] - w.control[i, c]
    if r is not None:
        open_objective(r, n, current, i, w.x, u, h)
    copy(w.local, w.x)
    a[:] = 0.0
    copy(w.estimate, w.grad_clients[i])
    drift2_max, error2_max = 0.0, 0.0
    four = (0, 0, 0, 0)
    for k in range(n.local_steps):
        if n.estimator == FULL:
            if r is not None:
                weighted_gradient(r, n, current, i, h, w.local, w.estimate)
            else:
                client_gradient(n, current, i, w.local, w.estimate, w.table, False)
        else:
            if k % 4 == 0:
                four = draws.words(n.seed, purpose, replica, i, t, k >> 2)
            if r is not None:
                weighted_sample(r, n, current, i, draws.lane(four, k), h, w.local, w.estimate)
            elif n.estimator == STOCHASTIC or k > 0:
                j = first + draws.below(draws.lane(four, k), count)
                sample(n, current, i, j, w.local, w.estimate, w.table)

        if n.diagnostics > 1:
            if r is not None:
                weighted_gradient(r, n, current, i, h, w.local, w.rho)
            else:
                client_gradient(n, current, i, w.local, w.rho, w.table, False)
            error2 = 0.0
            for c in range(len(w.x)):
                error = w.estimate[c] - w.rho[c]
                error2 += error * error
                w.rho_sum[c] += share * w.rho[c]
                w.error_sum[c] += share * error
            error2_max = max(error2_max, error2)
        if r is not None:
            complete_step(r, n, replica, i, t, k, w.x, h, w.local, w.estimate)

        drift2 = 0.0
        for c in range(len(w.x)):
            moved = w.local[c] - w.x[c]
            drift2 += moved * moved
            step = w.estimate[c] + n.proximal * moved
            a[c] += step
            w.local[c] -= n.beta * (step + u[c])
        drift2_max = max(drift2_max, drift2)
    return drift2_max, error2_max


@compiled
def _collect(i: int, n: Numbers, p: Array, share: float, w: Work) -> None:
    """Client i's share of S and of the displacement, and its new control variate."""
    for c in range(len(w.x)):
        w.a[i, c] *= n.server_rate
        w.S[c] += share * w.a[i, c]
        w.displacement[c] += share * (w.local[c] - w.x[c])
        if n.correction == CONTROL:
            change = (w.x[c] - w.local[c]) / (n.beta * n.local_steps) - w.control_mean[c]
            w.control[i, c] += change
            w.control_change[c] += p[i] * change


@compiled
def _server_step(n: Numbers, p: Array, w: Work) -> float:
    """Move w.x; leave in w.S the S of the step taken, and return the alpha of the step taken."""
    alpha = n.alpha
    if n.server == PRINTED:
        # sum_i p_i x_E^i is x_t and the averaged displacement.
        copy(w.step, w.x)
        add(w.step, 1.0, w.displacement)
    elif n.adaptive != CONSTANT:
        alpha = adapted_step(n, p, w.grad_memory, w.a, w.u, w.S, w.step)
    if n.server == PRINTED or n.adaptive != CONSTANT:
        add(w.x, -1.0, w.step)
        for c in range(len(w.x)):
            w.S[c] = w.step[c] / n.beta
    else:
        add(w.x, n.server_rate, w.displacement)
    add(w.x, -alpha, w.grad_memory)
    return alpha


@compiled
def _run_replica(
    replica: int,
    n: Numbers,
    r: Rules | None,
    p: Array,
    start: Array,
    past: Sum,
    current: Sum,
    labels: Ints,
    state: Array,
    per_round: Array,
    Lambda: Array,
    iterates: Array,
) -> tuple[int, int]:
    """All rounds of one replica; state (T + 1 or 1, 8), per_round (T, 8), Lambda (T, N), iterates (T + 1 or 0, d)."""
    N = len(p)
    w = _work(start, N, len(past.shifts), len(current.shifts))
    h: Any = local_work(r, n, N, len(start), len(current.row_start) - 1) if r is not None else None
    measured, products = np.zeros(ROUNDS), np.empty(N)
    sign = 1 if n.memory == ROTATED else 0

    for t in range(n.rounds + 1):
        measure = n.diagnostics > 0 or t == n.rounds
        if t == 0 or n.redraw:
            if n.memory == SUBSET:
                draw_memory(n, replica, t, p, past, labels, w.memory_factors, w.memory_offset)
            elif n.signed:
                sign = memories.draw_sign(n.seed, replica, t)

        whole = measure or n.memory == SCALED or n.memory == ROTATED
        f, f_memory = past_pass(n, p, past, w.memory_factors, w.memory_offset, whole, w.x, w.grad_f, w.grad_memory)
        f_memory = _bias(n, sign, f, f_memory, w)
        g = 0.0
        w.grad_g[:] = 0.0
        if measure or r is None:
            for i in range(N):
                g += p[i] * client_gradient(n, current, i, w.x, w.grad_clients[i], w.table, True)
                add(w.grad_g, p[i], w.grad_clients[i])

        if measure and not _measure_state(n, f, g, f_memory, w, state[t if n.diagnostics > 0 else 0]):
            return DIVERGED, t - 1
        if len(iterates) > 0:
            copy(iterates[t], w.x)
        if t == n.rounds:
            break

        w.displacement[:] = 0.0
        w.S[:] = 0.0
        w.rho_sum[:] = 0.0
        w.error_sum[:] = 0.0
        w.control_change[:] = 0.0
        drift2_max, error2_max = 0.0, 0.0
        if r is not None:
            begin_round(r, n, replica, t, p, current, w.x, h)
            if n.diagnostics > 1:
                measured[7] = information_loss(r, n, current, w.x, h)
        for i in range(N):
            share = p[i]
            if r is not None:
                share = h.shares[i]
                if share == 0.0:
                    products[i] = 0.0
                    continue
            drift2, error2 = _local_steps(replica, t, i, n, r, share, current, w, h)
            drift2_max, error2_max = max(drift2_max, drift2), max(error2_max, error2)
            _collect(i, n, p, share, w)
            products[i] = dot(w.grad_memory, w.a[i])
            if r is not None:
                remember(r, n, current, replica, i, t, w.x, w.local, h)
        if r is not None:
            copy(h.momentum, h.momentum_next)
        add(w.control_mean, 1.0, w.control_change)
        alpha = _server_step(n, p, w)

        # A NaN met in a local step reaches x by way of the displacement, though a maximum may hide it.
        norm2 = dot(w.x, w.x)
        if not (math.isfinite(norm2) and norm2 <= LIMIT):
            return DIVERGED, t
        if n.diagnostics > 0:
            S2 = dot(w.S, w.S)
            measured[0] = formulas.forgetting(n.L, alpha, n.beta, S2, dot(w.grad_memory, w.S))
            measured[1] = formulas.overfitting(n.L, alpha, n.beta, dot(w.grad_f, w.b), dot(w.b, w.S))
            measured[2], measured[3], measured[4] = S2, drift2_max, error2_max
            measured[5], measured[6] = dot(w.rho_sum, w.rho_sum), dot(w.error_sum, w.error_sum)
            if not (_finite(measured) and _finite(products)):
                return DIVERGED, t
            copy(per_round[t], measured)
            copy(Lambda[t], products)
    return OK, n.rounds
