"""The loop of the CFL framework as compiled code: local objectives that change from round to round.

Each replica runs all its rounds; it touches nothing that another one writes, and sums in an order of its own.

Why plain runs have a loop of their own, `cpu.rounds`: it fuses a local step with the product of the next row, takes
many replicas through each row, and keeps one slope a row, all of which need components whose weights stay the same.
Here every client's component weights, u and W change from round to round. The plain rows that both loops can run take
1.4 to 3.7 times as long in this one (FedAvg and full gradients; 5 and 50 clients, d = 50 and 100, 1 to 64 replicas).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cflag_theory.kernels import draws, formulas
from cflag_theory.kernels.cfl.framework import Framework
from cflag_theory.kernels.engines.codegen.cache import allocating, callable_from_compiled, compiled, inner
from cflag_theory.kernels.engines.codes import (
    CONTROL,
    DIVERGED,
    FULL,
    NO_MEMORY,
    OK,
    ROTATED,
    ROUNDS,
    SCALED,
    STATES,
    STOCHASTIC_DRAW,
    SUBSET,
    Numbers,
    numbers_of,
)
from cflag_theory.kernels.engines.components import (
    Sum,
    add,
    as_sum,
    client_gradient,
    copy,
    dot,
    draw_memory,
    finite,
    past_gradients,
)
from cflag_theory.kernels.engines.framework.local_objectives import (
    Local,
    Rules,
    as_rules,
    begin_round,
    candidates,
    complete_step,
    local_work,
    weighted_gradient,
    weighted_sample,
)
from cflag_theory.kernels.engines.framework.pasts import information_loss, open_objective, remember
from cflag_theory.kernels.memory import memory as memories
from cflag_theory.kernels.numbers import Array, Ints, floats, integers
from cflag_theory.kernels.plan import LIMIT, Outputs, Plan
from cflag_theory.kernels.trace import costs

callable_from_compiled(costs.framework_calls)


class Work(NamedTuple):
    """What one replica writes on: vectors (d,), per client (N, d), factors one number a row."""

    x: Array
    local: Array
    grad_f: Array
    grad_memory: Array
    b: Array
    grad_g: Array
    grad_client: Array
    estimate: Array
    u: Array
    a: Array
    S: Array
    displacement: Array
    rho: Array
    rho_sum: Array
    error_sum: Array
    control: Array
    control_mean: Array
    control_change: Array
    memory_offset: Array
    memory_factors: Array


def replica_runner(plan: Plan, framework: Framework, out: Outputs, stop: Ints) -> Callable[[int], None]:
    """A function that runs one replica into `out`, until `stop` (1,) is not 0."""
    problem = plan.problem
    labels = integers(problem.labels)
    read = (numbers_of(plan), as_rules(plan, framework), floats(problem.p), floats(problem.start))
    sums = (as_sum(problem.past), as_sum(problem.current), labels)
    window_calls = costs.window_calls(plan.row, framework.slots)

    def one(replica: int) -> None:
        state, per_round, Lambda = out.state[replica], out.per_round[replica], out.Lambda[replica]
        written = (state, per_round, Lambda, out.iterates[replica], out.ifo_calls[replica])
        done = run_replica(plan.first_replica + replica, window_calls, *read, *sums, *written, stop)
        out.status[replica], out.rounds_done[replica] = done

    return one


@allocating
def _work(start: Array, N: int, past_rows: int) -> Work:
    d = len(start)
    return Work(
        start.copy(),
        np.empty(d),
        np.empty(d),
        np.empty(d),
        np.empty(d),
        np.empty(d),
        np.empty(d),
        np.empty(d),
        np.empty(d),
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
    )


@inner
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


@inner
def _local_steps(
    replica: int, t: int, i: int, n: Numbers, r: Rules, share: float, exact: bool, current: Sum, w: Work, h: Local
) -> tuple[float, float]:
    """Client i's local steps from w.x to w.local, their sum in w.a; returns drift2_max and error2_max."""
    for c in range(len(w.x)):
        w.u[c] = w.control_mean[c] - w.control[i, c] if n.correction == CONTROL else 0.0
    open_objective(r, n, current, i, w.x, w.u, h)
    copy(w.local, w.x)
    w.a[:] = 0.0
    drift2_max, error2_max = 0.0, 0.0
    four = (0, 0, 0, 0)
    for k in range(n.local_steps):
        if n.estimator == FULL:
            weighted_gradient(r, n, current, i, h, w.local, w.estimate)
        else:
            if k % 4 == 0:
                four = draws.words(n.seed, STOCHASTIC_DRAW, replica, i, t, k >> 2)
            weighted_sample(r, n, current, i, draws.lane(four, k), h, w.local, w.estimate)

        if exact:
            weighted_gradient(r, n, current, i, h, w.local, w.rho)
            error2 = 0.0
            for c in range(len(w.x)):
                error = w.estimate[c] - w.rho[c]
                error2 += error * error
                w.rho_sum[c] += share * w.rho[c]
                w.error_sum[c] += share * error
            error2_max = max(error2_max, error2)
        complete_step(r, n, replica, i, t, k, w.x, h, w.local, w.estimate)

        drift2 = 0.0
        for c in range(len(w.x)):
            moved = w.local[c] - w.x[c]
            drift2 += moved * moved
            step = w.estimate[c] + n.proximal * moved
            w.a[c] += step
            w.local[c] -= n.beta * (step + w.u[c])
        drift2_max = max(drift2_max, drift2)
    return drift2_max, error2_max


@inner
def _collect(i: int, n: Numbers, p: Array, share: float, w: Work) -> None:
    """Client i's share of S and of the displacement, and its new control variate."""
    for c in range(len(w.x)):
        w.a[c] *= n.server_rate
        w.S[c] += share * w.a[c]
        w.displacement[c] += share * (w.local[c] - w.x[c])
        if n.correction == CONTROL:
            change = (w.x[c] - w.local[c]) / (n.beta * n.local_steps) - w.control_mean[c]
            w.control[i, c] += change
            w.control_change[c] += p[i] * change


@inner
def _measure_state(n: Numbers, f: float, f_memory: float, g: float, w: Work, out: Array) -> bool:
    """The columns of `STATE` into out (8,); whether all are finite."""
    share, rest, grad_h2 = n.memory_share, 1.0 - n.memory_share, 0.0
    for c in range(len(w.x)):
        component = share * w.grad_memory[c] + rest * w.grad_g[c]
        grad_h2 += component * component
    out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7] = formulas.state_columns(
        share, rest, f, g, f_memory, dot(w.grad_f, w.grad_f), dot(w.grad_g, w.grad_g), grad_h2,
        dot(w.grad_memory, w.grad_memory), dot(w.b, w.b),
    )  # fmt: skip
    return finite(out)


@inner
def _measure_round(n: Numbers, drift2_max: float, error2_max: float, w: Work, out: Array) -> None:
    """The columns of `ROUND` that every loop has, into out[:7]."""
    out[0], out[1], out[2], out[3], out[4], out[5], out[6] = formulas.round_columns(
        n.L, n.alpha, n.beta, dot(w.S, w.S), dot(w.grad_memory, w.S), dot(w.grad_f, w.b), dot(w.b, w.S), drift2_max,
        error2_max, dot(w.rho_sum, w.rho_sum), dot(w.error_sum, w.error_sum),
    )  # fmt: skip


@compiled
def run_replica(
    replica: int,
    window_calls: int,
    n: Numbers,
    r: Rules,
    p: Array,
    start: Array,
    past: Sum,
    current: Sum,
    labels: Ints,
    state: Array,
    per_round: Array,
    Lambda: Array,
    iterates: Array,
    ifo_calls: Ints,
    stop: Ints,
) -> tuple[int, int]:
    """All rounds of one replica; state (T + 1 or 1, 8), per_round (T, 8), Lambda (T, N), ifo_calls (T,)."""
    N = len(p)
    w = _work(start, N, len(past.shifts))
    h = local_work(r, n, N, len(start), len(current.row_start) - 1)
    now, measured, products = np.empty(STATES), np.zeros(ROUNDS), np.empty(N)
    sign = 1 if n.memory == ROTATED else 0

    for t in range(n.rounds + 1):
        if stop[0] != 0:
            return OK, t
        exact = n.diagnostics > 1 and t % n.every == 0
        if n.diagnostics > 0 or t == n.rounds:
            if t == 0 or n.redraw or n.diagnostics == 0:
                if n.memory == SUBSET:
                    draw_memory(n, replica, t if n.redraw else 0, p, past, labels, w.memory_factors, w.memory_offset)
                elif n.signed:
                    sign = memories.draw_sign(n.seed, replica, t if n.redraw else 0)
            f, f_memory = past_gradients(n, p, past, w.memory_factors, w.memory_offset, w.x, w.grad_f, w.grad_memory)
            f_memory = _bias(n, sign, f, f_memory, w)
            g = 0.0
            w.grad_g[:] = 0.0
            for i in range(N):
                g += p[i] * client_gradient(n, current, i, w.x, w.grad_client)
                add(w.grad_g, p[i], w.grad_client)
            if not _measure_state(n, f, f_memory, g, w, now):
                return DIVERGED, t - 1
            copy(state[t if n.diagnostics > 0 else 0], now)
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
        begin_round(r, n, replica, t, p, current, w.x, h)
        if exact:
            measured[7] = information_loss(r, n, current, w.x, h)
        for i in range(N):
            share = h.shares[i]
            if share == 0.0:
                products[i] = 0.0
                continue
            drift2, error2 = _local_steps(replica, t, i, n, r, share, exact, current, w, h)
            drift2_max, error2_max = max(drift2_max, drift2), max(error2_max, error2)
            _collect(i, n, p, share, w)
            products[i] = dot(w.grad_memory, w.a)
            if n.diagnostics > 0:
                held = 0
                begin, end = candidates(r, current, i)
                for j in range(begin, end):
                    held += 1 if h.coefficients[j] != 0.0 else 0
                full, E = n.estimator == FULL, n.local_steps
                ifo_calls[t] += costs.framework_calls(full, E, held, h.lengths[i], window_calls)
            remember(r, n, current, replica, i, t, w.x, w.local, h)
        copy(h.momentum, h.momentum_next)
        add(w.control_mean, 1.0, w.control_change)
        add(w.x, n.server_rate, w.displacement)

        # A NaN met in a local step reaches x by way of the displacement, though a maximum may hide it.
        norm2 = dot(w.x, w.x)
        if not (math.isfinite(norm2) and norm2 <= LIMIT):
            return DIVERGED, t
        if n.diagnostics > 0:
            _measure_round(n, drift2_max, error2_max, w, measured)
            if not (finite(measured) and finite(products)):
                return DIVERGED, t
            copy(per_round[t], measured)
            copy(Lambda[t], products)
    return OK, n.rounds
