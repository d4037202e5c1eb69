"""Compiled rest of a round, for a batch of replicas: local steps of all clients, their sums, the server."""

from __future__ import annotations

from cflag_theory.kernels.engines.codegen.cache import inner
from cflag_theory.kernels.engines.codegen.vector_loops import (
    Number,
    Read,
    Summed,
    Write,
    Written,
    add_multiple,
    copy,
    subtract,
    sweep,
)
from cflag_theory.kernels.engines.codes import CONSTANT, CONTROL, DELAYED, FULL, PRINTED, TRACKING, Numbers
from cflag_theory.kernels.engines.cpu.adaptive_rates import adapted_step
from cflag_theory.kernels.engines.cpu.coordinate_steps import elementwise_steps
from cflag_theory.kernels.engines.cpu.layout import Padded
from cflag_theory.kernels.engines.cpu.local_steps import (
    Lanes,
    full_steps,
    general_steps,
    joint_steps,
    single_steps,
)
from cflag_theory.kernels.engines.cpu.measure import measure_errors
from cflag_theory.kernels.engines.cpu.ridge_gradients import place
from cflag_theory.kernels.engines.cpu.workspace import Workspace
from cflag_theory.kernels.numbers import Array


@sweep
def _start_tracking(grad_g: Read, client: Read, u: Write, V: Write, D: Write, beta: Number) -> Written:
    """u = grad_g - client, V = u + client, and D after a step along it."""
    difference = grad_g - client
    v = difference + client
    return difference, v, 0 - beta * v


@sweep
def _start(u: Read, client: Read, V: Write, D: Write, beta: Number) -> Written:
    """V = u + client, and D after a step along it."""
    v = u + client
    return v, 0 - beta * v


@sweep
def _start_along(grad_g: Read, x: Read, V: Write, D: Write, beta: Number) -> Written:
    """V = beta grad_g, and where a step along it leads from x."""
    step = beta * grad_g
    return step, x - step


@sweep
def _add_way(end: Read, x: Read, to: Write, share: Number) -> Written:
    """to += share (end - x)."""
    return to + share * (end - x)


@inner
def _open_lanes(
    n: Numbers, s: Padded, first: int, count: int, fused: bool, X: Array, clients: Array, grad_g: Array, control: Array,
    control_mean: Array, kept_u: Array, lanes: Lanes,
) -> None:  # fmt: skip
    """D = 0, u, and the estimate of k = 0; where steps are `fused`, V is the sum of both and D is that after step 0."""
    R, width = grad_g.shape
    D, V, u, estimate = lanes.D, lanes.V, lanes.u, lanes.estimate
    height, start, steps = len(s.current.rows), s.current.client_start, (n.local_steps + 3) >> 2 << 2
    for g in range(count):
        i, r = (first + g) // R, (first + g) % R
        lanes.client[g], lanes.replica[g], lanes.base[g] = i, r, place(r, 0, height, n.bits)
        lanes.drawn[g] = i * steps * R + r
        lanes.components[g] = start[i + 1] - start[i]
        if n.summed:
            # Differences are in shares, p_i times those of a mean; where p_i is zero, so are they.
            lanes.components[g] = s.p[i] if s.p[i] > 0 else 1.0
            _start_along(grad_g, r, X, r, V, g, D, g, n.beta)
            continue
        if fused and n.correction == TRACKING and not n.exact_errors:
            _start_tracking(grad_g, r, clients[i], r, u, g, V, g, D, g, n.beta)
        else:
            if n.correction == TRACKING:
                subtract(grad_g, r, clients[i], r, u, g)
            elif n.correction == CONTROL:
                subtract(control_mean, r, control[r], i, u, g)
            if fused:
                _start(u, g, clients[i], r, V, g, D, g, n.beta)
            else:
                copy(u, g, V, g)
        if not fused or n.exact_errors:
            copy(clients[i], r, estimate, g)
            for c in range(width):
                D[g, c] = 0
        if n.adaptive != CONSTANT:
            copy(u, g, kept_u[r], i)


@sweep
def _sum_up(
    D: Read, u: Read, grad_memory: Read, S: Write, displacement: Write, rate: Number, per_beta: Number, steps: Number,
    share: Number,
) -> Summed:  # fmt: skip
    """S += share a and displacement += share D for a = rate (-D / beta - E u), and <grad_memory, a>."""
    a = rate * (per_beta * D - steps * u)
    return S + share * a, displacement + share * D, grad_memory * a


@sweep
def _sum_up_and_keep(
    D: Read, u: Read, grad_memory: Read, kept: Write, S: Write, displacement: Write, rate: Number, per_beta: Number,
    steps: Number, share: Number,
) -> Summed:  # fmt: skip
    """The same, and a."""
    a = rate * (per_beta * D - steps * u)
    return a, S + share * a, displacement + share * D, grad_memory * a


@inner
def _close_lanes(n: Numbers, p: Array, count: int, w: Workspace, lanes: Lanes) -> None:
    """The sums a_i of the clients' estimates and proximal terms, D = -beta (a_i + E u), and what follows from them."""
    width, E = w.X.shape[1], n.local_steps
    per_beta = w.X.dtype.type(-1.0 / n.beta)
    D, u, a, S, displacement, grad_memory = lanes.D, lanes.u, w.a, w.S, w.displacement, w.grad_memory
    for g in range(count):
        i, r = lanes.client[g], lanes.replica[g]
        share = w.X.dtype.type(p[i])
        if n.summed:
            _add_way(D, g, w.X, r, displacement, r, share)
            continue
        if n.adaptive == CONSTANT:
            w.products[r, i] = _sum_up(
                D, g, u, g, grad_memory, r, S, r, displacement, r, n.server_rate, per_beta, E, share
            )  # fmt: skip
        else:
            w.products[r, i] = _sum_up_and_keep(
                D, g, u, g, grad_memory, r, a[r], i, S, r, displacement, r, n.server_rate, per_beta, E, share
            )  # fmt: skip
        if n.correction == CONTROL:
            for c in range(width):
                change = per_beta * D[g, c] / E - w.control_mean[r, c]
                w.control[r, i, c] += change
                w.control_change[r, c] += share * change


@inner
def server_steps(n: Numbers, p: Array, w: Workspace, alphas: Array) -> None:
    """Move X; leave in S the S of the steps taken, and in alphas the alpha of the steps taken."""
    R, width = w.X.shape
    for r in range(R):
        alpha = n.alpha
        if n.correction == CONTROL:
            for c in range(width):
                w.control_mean[r, c] += w.control_change[r, c]
        if n.server == PRINTED:
            # sum_i p_i x_E^i is x_t and the averaged displacement.
            for c in range(width):
                w.step[r, c] = w.X[r, c] + w.displacement[r, c]
        elif n.adaptive != CONSTANT:
            alpha = adapted_step(n, p, w.grad_memory[r], w.a[r], w.u[r], w.S[r], w.step[r])
        if n.server == PRINTED or n.adaptive != CONSTANT:
            for c in range(width):
                w.X[r, c] -= w.step[r, c]
                w.S[r, c] = w.step[r, c] / n.beta
        else:
            add_multiple(w.displacement, r, w.X, r, n.server_rate)
        add_multiple(w.grad_memory, r, w.X, r, -alpha)
        alphas[r] = alpha


@inner
def local_work(n: Numbers, s: Padded, R: int, group: int, stamp: int, w: Workspace, lanes: Lanes) -> int:
    """All clients' local steps in all replicas, and their sums; returns the next stamp."""
    N, elementwise = len(s.p), len(s.basis) > 0
    keep, beta = w.X.dtype.type(1.0 - n.beta * n.proximal), w.X.dtype.type(n.beta)
    fused = n.estimator == DELAYED and s.single and not elementwise
    first = 0
    while first < N * R:
        count = R if n.estimator == FULL else min(group, N * R - first)
        _open_lanes(n, s, first, count, fused, w.X, w.clients, w.grad_g, w.control, w.control_mean, w.u, lanes)
        if n.estimator == FULL:
            full_steps(
                n, s, first // R, R, keep, beta, w.X, w.scratch, w.panels, w.Z, w.slopes, w.potentials, w.values,
                lanes,
            )  # fmt: skip
        elif elementwise:
            elementwise_steps(
                n, s, count, R, keep, beta, stamp, w.orders, w.X, w.coordinate_slopes, lanes
            )  # fmt: skip
            stamp += count * n.local_steps
        elif not s.single:
            general_steps(n, s, count, R, keep, beta, w.orders, w.X, w.Z, w.slopes, lanes)
        elif fused and n.bits > 0:
            joint_steps(n, s, count, R, keep, beta, w.orders, w.Z, w.slopes, lanes)
        else:
            single_steps(n, s, count, R, keep, beta, w.orders, w.X, w.Z, w.slopes, lanes)
        if n.exact_errors and n.estimator != FULL:
            measure_errors(n, s, first // R, first % R, w.X, w.panels, lanes)
        _close_lanes(n, s.p, count, w, lanes)
        first += count
    return stamp
