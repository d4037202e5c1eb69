"""Compiled rest of a round, for a block of replicas: local steps of all clients, their sums, the server."""

from __future__ import annotations

from .adaptive import adapted_step
from .block_work import Block
from .cache import inner
from .local_steps import (
    Lanes,
    delayed_steps,
    elementwise_steps,
    full_steps,
    general_steps,
    measure_errors,
    stochastic_steps,
)
from .packed import Packed
from .passes import CONSTANT, CONTROL, DELAYED, FULL, PRINTED, TRACKING
from .problem import Array
from .settings import Settings


@inner
def _open_lanes(
    n: Settings, first: int, count: int, fused: bool, clients: Array, grad_g: Array, control: Array,
    control_mean: Array, kept_u: Array, lanes: Lanes,
) -> None:  # fmt: skip
    """D = 0, u, and the estimate of k = 0; where steps are `fused` V holds the sum of both.

    No loop reads an array that a run lacks: whether it seems to overlap with others would choose between two codes.
    """
    R, width = grad_g.shape
    D, V, u, estimate = lanes.D, lanes.V, lanes.u, lanes.estimate
    for g in range(count):
        i, r = (first + g) // R, (first + g) % R
        if n.correction == TRACKING:
            for c in range(width):
                u[g, c] = grad_g[r, c] - clients[i, r, c]
        elif n.correction == CONTROL:
            for c in range(width):
                u[g, c] = control_mean[r, c] - control[r, i, c]
        for c in range(width):
            D[g, c] = 0
            estimate[g, c] = clients[i, r, c]
        if fused:
            for c in range(width):
                V[g, c] = u[g, c] + clients[i, r, c]
        else:
            for c in range(width):
                V[g, c] = u[g, c]
        if n.adaptive != CONSTANT:
            for c in range(width):
                kept_u[r, i, c] = u[g, c]


@inner
def _close_lanes(n: Settings, p: Array, first: int, count: int, w: Block, D: Array, u: Array) -> None:
    """The sums a_i of the clients' estimates and proximal terms, D = -beta (a_i + E u), and what follows from them."""
    (R, width), E = w.X.shape, n.local_steps
    per_beta, rate = w.X.dtype.type(-1.0 / n.beta), w.X.dtype.type(n.server_rate)
    a, S, displacement, grad_memory = w.a, w.S, w.displacement, w.grad_memory
    for g in range(count):
        i, r = (first + g) // R, (first + g) % R
        one, replica = (0, 0) if n.adaptive == CONSTANT else (i, r)
        share, product = w.X.dtype.type(p[i]), w.X.dtype.type(0)
        for c in range(width):
            moved = rate * (per_beta * D[g, c] - E * u[g, c])
            a[replica, one, c] = moved
            S[r, c] += share * moved
            displacement[r, c] += share * D[g, c]
            product += grad_memory[r, c] * moved
        w.products[r, i] = product
        if n.correction == CONTROL:
            for c in range(width):
                change = per_beta * D[g, c] / E - w.control_mean[r, c]
                w.control[r, i, c] += change
                w.control_change[r, c] += share * change


@inner
def server_steps(n: Settings, p: Array, w: Block, alphas: Array) -> None:
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
            for c in range(width):
                w.X[r, c] += n.server_rate * w.displacement[r, c]
        for c in range(width):
            w.X[r, c] -= alpha * w.grad_memory[r, c]
        alphas[r] = alpha


@inner
def local_work(n: Settings, s: Packed, R: int, group: int, stamp: int, w: Block, lanes: Lanes) -> int:
    """All clients' local steps in all replicas, and their sums; returns the next stamp."""
    N, elementwise = len(s.p), len(s.basis) > 0
    keep, beta = w.X.dtype.type(1.0 - n.beta * n.proximal), w.X.dtype.type(n.beta)
    fused = n.estimator == DELAYED and s.single and not elementwise
    first = 0
    while first < N * R:
        count = R if n.estimator == FULL else min(group, N * R - first)
        _open_lanes(n, first, count, fused, w.clients, w.grad_g, w.control, w.control_mean, w.u, lanes)
        if n.estimator == FULL:
            full_steps(
                n, s, first // R, R, n.together, keep, beta, w.X, w.scratch, w.Z, w.slopes, w.values, lanes
            )  # fmt: skip
        elif elementwise:
            elementwise_steps(n, s, first, count, R, keep, beta, stamp, w.orders, w.X, w.slopes, lanes)
            stamp += count * n.local_steps
        elif not s.single:
            general_steps(n, s, first, count, R, keep, beta, w.orders, w.X, w.Z, w.slopes, lanes)
        elif fused:
            delayed_steps(n, s, first, count, R, keep, beta, w.orders, w.X, w.Z, w.slopes, lanes)
        else:
            stochastic_steps(n, s, first, count, R, keep, beta, w.orders, w.X, lanes)
        if n.exact_errors and n.estimator != FULL:
            measure_errors(n, s, first // R, first % R, w.X, lanes)
        _close_lanes(n, s.p, first, count, w, lanes.D, lanes.u)
        first += count
    return stamp
