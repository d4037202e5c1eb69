"""The loop of `reference` as machine code, for problems of a user's own components: plain runs."""

from __future__ import annotations

import math

import numpy as np

from cflag_theory.kernels import draws, formulas, reference
from cflag_theory.kernels.algorithms import Algorithm
from cflag_theory.kernels.engines.codegen.cache import allocating, compiled, default_threads, inner
from cflag_theory.kernels.engines.codes import (
    COMPONENT_DRAW,
    CONSTANT,
    CONTROL,
    DELAYED,
    DIVERGED,
    FULL,
    NO_MEMORY,
    OK,
    PRINTED,
    ROTATED,
    STOCHASTIC,
    STOCHASTIC_DRAW,
    SUBSET,
    TRACKING,
    Numbers,
    numbers_of,
)
from cflag_theory.kernels.engines.components import add, copy, dot, finite
from cflag_theory.kernels.engines.cpu.adaptive_rates import adapted_step
from cflag_theory.kernels.engines.cpu.run import QUICK, spread
from cflag_theory.kernels.engines.own.functions import (
    Part,
    as_parts,
    client_gradient,
    client_value,
    component_gradient,
    component_value,
)
from cflag_theory.kernels.memory import memory as memories
from cflag_theory.kernels.numbers import Array, Ints, floats, integers
from cflag_theory.kernels.plan import LIMIT, Outputs, Plan
from cflag_theory.kernels.problems.problem import Problem

#: Of a replica that met NaN or an infinity in a function of the user.
FAILED = 2


def runs(problem: Problem, row: Algorithm) -> bool:
    """Whether this loop runs such a row, on all clients: what is not here, the reference runs."""
    return row.classic and not problem.exact and not problem.evolving and as_parts(problem) is not None


def run(plan: Plan, out: Outputs) -> None:
    """Run all replicas into `out`."""
    problem = plan.problem
    parts = as_parts(problem)
    assert parts is not None
    past, current = parts
    numbers, p, start = numbers_of(plan), floats(problem.p), floats(problem.start)
    labels = integers(problem.labels)
    stop = np.zeros(1, dtype=np.int64)
    valued = plan.diagnostics > 0

    def one(slot: int) -> None:
        written = out.state[slot], out.per_round[slot], out.Lambda[slot], out.iterates[slot]
        replica = plan.first_replica + slot
        out.status[slot], out.rounds_done[slot] = run_replica(
            numbers, replica, past, current, p, start, labels, valued, *written, stop
        )

    threads = min(plan.threads or default_threads(), plan.replicas)
    calls = plan.replicas * plan.rounds * (past.data.size + current.data.size) * 16
    spread(threads, one, iter(range(plan.replicas)), stop, quick=calls < QUICK)
    # Python says what went wrong, or that the run diverges.
    reference.run(plan, out, np.flatnonzero(out.status == FAILED).tolist())


@inner
def _all_values(part: Part, p: Array, x: Array) -> float:
    total = 0.0
    for i in range(len(p)):
        total += p[i] * client_value(part, i, x)
    return total


@allocating
def _remember(
    n: Numbers, replica: int, t: int, past: Part, p: Array, labels: Ints, x: Array, scratch: Array, grad: Array
) -> float:
    """f_memory of a subset, and its gradient into grad (d,)."""
    f = 0.0
    grad[:] = 0.0
    for i in range(len(p)):
        first = past.client_start[i]
        count = past.client_start[i + 1] - first
        order = np.empty(count, np.int64)
        round_ = t if n.redraw else 0
        kept = memories.draw_subset(n.seed, replica, i, round_, labels, first, count, n.size, n.balanced, order)
        for j in order[:kept]:
            f += p[i] / kept * component_value(past, j, x)
            component_gradient(past, j, x, scratch)
            add(grad, p[i] / kept, scratch)
    return f


@inner
def _steps(
    n: Numbers, replica: int, t: int, i: int, current: Part, x: Array, u: Array, grad: Array, table: Array,
    refreshed: Array, local: Array, mean: Array, estimate: Array, old: Array, a: Array, share: float, exact: bool,
    rho: Array, rho_sum: Array, error_sum: Array,
) -> tuple[float, float]:  # fmt: skip
    """Client i's local steps from x to `local`, what they go along besides u summed in a.

    The largest drift^2 and, with `exact`, the largest error^2 of an estimate; then sums of both go to their vectors.
    """
    first = current.client_start[i]
    count = current.client_start[i + 1] - first
    drift, error = 0.0, 0.0
    copy(local, x)
    copy(mean, grad)
    a[:] = 0.0
    refreshed[:] = False
    for k in range(n.local_steps):
        moved = 0.0
        for c in range(len(x)):
            moved += (local[c] - x[c]) * (local[c] - x[c])
        drift = max(drift, moved)
        if n.estimator == FULL:
            client_gradient(current, i, local, old, estimate)
        elif n.estimator == DELAYED and k == 0:
            copy(estimate, grad)
        else:
            purpose = STOCHASTIC_DRAW if n.estimator == STOCHASTIC else COMPONENT_DRAW
            drawn = draws.below(draws.lane(draws.words(n.seed, purpose, replica, i, t, k >> 2), k), count)
            component_gradient(current, first + drawn, local, estimate)
            if n.estimator == DELAYED:
                if refreshed[drawn]:
                    copy(old, table[drawn])
                else:
                    # A component that was not refreshed yet still has its gradient at x_t, as of k = 0.
                    component_gradient(current, first + drawn, x, old)
                copy(table[drawn], estimate)
                refreshed[drawn] = True
                for c in range(len(x)):
                    mean[c] = formulas.refreshed_mean(mean[c], estimate[c], old[c], count)
                copy(estimate, mean)
        if exact:
            client_gradient(current, i, local, old, rho)
            missed = 0.0
            for c in range(len(x)):
                missed += (estimate[c] - rho[c]) * (estimate[c] - rho[c])
                rho_sum[c] += share * rho[c]
                error_sum[c] += share * (estimate[c] - rho[c])
            error = max(error, missed)
        for c in range(len(x)):
            direction = estimate[c] + n.proximal * (local[c] - x[c])
            a[c] += direction
            local[c] -= n.beta * (direction + u[c])
    return drift, error


@inner
def _failed(x: Array, like: float) -> int:
    """NaN at a moderate x is the function's; anything else is divergence."""
    return FAILED if math.isfinite(dot(x, x)) and dot(x, x) <= 1e12 and math.isnan(like) else DIVERGED


@compiled
def run_replica(
    n: Numbers, replica: int, past: Part, current: Part, p: Array, start: Array, labels: Ints, valued: bool,
    state: Array, per_round: Array, Lambdas: Array, iterates: Array, stop: Ints,
) -> tuple[int, int]:  # fmt: skip
    """All rounds of one replica into its outputs, as `reference` has them; the status and the rounds done."""
    N, d = len(p), len(start)
    x, scratch, u, a, S, moved = start.copy(), np.empty(d), np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    grad_f, grad_g, grad_memory, b = np.empty(d), np.empty(d), np.zeros(d), np.zeros(d)
    local, mean, estimate, old, rotated = np.empty(d), np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    step, rho, rho_sum, error_sum = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    sums, corrections = np.empty((N, d)), np.empty((N, d))
    grads, control, control_mean = np.empty((N, d)), np.zeros((N, d)), np.zeros(d)
    largest = 0
    for i in range(N):
        largest = max(largest, current.client_start[i + 1] - current.client_start[i])
    table, refreshed = np.empty((largest, d)), np.zeros(largest, np.bool_)
    share = n.memory_share
    for t in range(n.rounds + 1):
        if stop[0] != 0:
            return OK, t
        last = t == n.rounds
        grad_f[:] = 0.0
        grad_g[:] = 0.0
        for i in range(N):
            client_gradient(past, i, x, scratch, estimate)
            add(grad_f, p[i], estimate)
            client_gradient(current, i, x, scratch, grads[i])
            add(grad_g, p[i], grads[i])
        f, g, f_memory = 0.0, 0.0, 0.0
        if valued or last:
            f, g = _all_values(past, p, x), _all_values(current, p, x)
        if n.memory == SUBSET:
            f_memory = _remember(n, replica, t, past, p, labels, x, scratch, grad_memory)
        elif n.memory != NO_MEMORY:
            bias = n.scale * memories.draw_sign(n.seed, replica, t if n.redraw else 0) if n.signed else 0.0
            if n.memory == ROTATED:
                memories.rotate(grad_f, n.angle, rotated)
                for c in range(d):
                    grad_memory[c] = grad_f[c] + n.scale * rotated[c]
            else:
                f_memory = (1.0 + bias) * f
                for c in range(d):
                    grad_memory[c] = grad_f[c] + bias * grad_f[c]
        if n.memory != NO_MEMORY:
            for c in range(d):
                b[c] = grad_memory[c] - grad_f[c]
        if valued or last:
            h2 = 0.0
            for c in range(d):
                h2 += (share * grad_memory[c] + (1 - share) * grad_g[c]) ** 2
            row = state[t if valued else 0]
            row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7] = formulas.state_columns(
                share, 1 - share, f, g, f_memory, dot(grad_f, grad_f), dot(grad_g, grad_g), h2,
                dot(grad_memory, grad_memory), dot(b, b),
            )  # fmt: skip
            if not finite(row):
                return _failed(x, row.sum()), t - 1
        if len(iterates) > 0:
            copy(iterates[t], x)
        if last:
            break

        moved[:] = 0.0
        S[:] = 0.0
        control_mean[:] = 0.0
        for i in range(N):
            add(control_mean, p[i], control[i])
        drift2_max, error2_max = 0.0, 0.0
        rho_sum[:] = 0.0
        error_sum[:] = 0.0
        exact = n.exact_errors and t % n.every == 0
        for i in range(N):
            for c in range(d):
                u[c] = 0.0
                if n.correction == TRACKING:
                    u[c] = grad_g[c] - grads[i, c]
                elif n.correction == CONTROL:
                    u[c] = control_mean[c] - control[i, c]
            drift, error = _steps(
                n, replica, t, i, current, x, u, grads[i], table, refreshed, local, mean, estimate, old, a, p[i], exact,
                rho, rho_sum, error_sum,
            )  # fmt: skip
            drift2_max, error2_max = max(drift2_max, drift), max(error2_max, error)
            copy(corrections[i], u)
            if not math.isfinite(dot(local, local)):
                return _failed(x, dot(local, local)), t
            product = 0.0
            for c in range(d):
                moved[c] += p[i] * (local[c] - x[c])
                sums[i, c] = n.server_rate * a[c]
                S[c] += p[i] * sums[i, c]
                product += grad_memory[c] * sums[i, c]
                if n.correction == CONTROL:
                    control[i, c] += (x[c] - local[c]) / (n.beta * n.local_steps) - control_mean[c]
            if len(Lambdas) > 0:
                Lambdas[t, i] = product
        alpha = n.alpha
        for c in range(d):
            step[c] = x[c] + moved[c]
        if n.adaptive != CONSTANT:
            alpha = adapted_step(n, p, grad_memory, sums, corrections, S, step)
        for c in range(d):
            if n.adaptive != CONSTANT or n.server == PRINTED:
                S[c] = step[c] / n.beta
                x[c] = x[c] - step[c] - alpha * grad_memory[c]
            else:
                x[c] = x[c] + n.server_rate * moved[c] - alpha * grad_memory[c]
        if not (math.isfinite(dot(x, x)) and dot(x, x) <= LIMIT):
            return DIVERGED, t
        if valued:
            out = per_round[t]
            out[0], out[1], out[2], out[3], out[4], out[5], out[6] = formulas.round_columns(
                n.L, alpha, n.beta, dot(S, S), dot(grad_memory, S), dot(grad_f, b), dot(b, S), drift2_max, error2_max,
                dot(rho_sum, rho_sum), dot(error_sum, error_sum),
            )  # fmt: skip
            if not finite(out):
                return DIVERGED, t
    return OK, n.rounds
