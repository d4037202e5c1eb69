"""Compiled start of a round, for a batch of replicas: draws, memory, and all full gradients at x_t."""

from __future__ import annotations

import numpy as np

from cflag_theory.kernels import draws
from cflag_theory.kernels.engines.codegen.cache import apart, inner
from cflag_theory.kernels.engines.codegen.vector_loops import Read, Summed, Write, add_multiple, copy, subtract, sweep
from cflag_theory.kernels.engines.codes import (
    COMPONENT_DRAW,
    NO_MEMORY,
    ROTATED,
    SCALED,
    STOCHASTIC,
    STOCHASTIC_DRAW,
    SUBSET,
    Numbers,
)
from cflag_theory.kernels.engines.cpu.coordinate_gradients import (
    coordinate_gradients,
    fill_coordinate_slopes,
    weighted_value,
)
from cflag_theory.kernels.engines.cpu.layout import Padded
from cflag_theory.kernels.engines.cpu.ridge_gradients import EVERY, client_gradients, kept_gradients
from cflag_theory.kernels.engines.cpu.workspace import Workspace
from cflag_theory.kernels.memory import memory as memories
from cflag_theory.kernels.numbers import Array, Ints

#: Numbers of the past rows of clients whose lists are one.
NEAR_LISTS = 1 << 17


@apart
def draw_kept(n: Numbers, s: Padded, first_replica: int, round_: int, w: Workspace) -> None:
    """What the clients of all replicas keep of the past.

    Lists of clients whose rows are near together are one where replicas go together, and sums may be in any order.
    """
    past, width, N = s.past, len(s.point), len(s.p)
    joined = max(1, NEAR_LISTS * N // past.rows.size) if n.bits > 0 else 1
    w.kept_means[:] = 0
    w.memory_offset[:] = 0
    begin = length = 0
    for lane in range(len(w.X) * N):
        r, i = lane // N, lane % N
        if i == 0:
            begin = length = 0
        replica = first_replica + r
        first, count = past.client_start[i], past.client_start[i + 1] - past.client_start[i]
        kept = memories.draw_subset(n.seed, replica, i, round_, s.labels, first, count, n.size, n.balanced, w.order)
        share = s.p[i] / kept
        w.kept_share[r, i] = share if n.bits == 0 else 1.0
        for k in range(kept):
            j = w.order[k]
            if len(s.basis) > 0:
                for c in range(width):
                    w.kept_means[r, c] += share * past.coefficients[j, c]
                continue
            for q in range(past.begin[j], past.end[j]):
                w.kept_rows[r, length] = q
                w.kept_weights[r, length] = past.weights[q] if n.bits == 0 else share * past.weights[q]
                length += 1
            if len(past.offsets) > 0:
                for c in range(width):
                    w.memory_offset[r, c] += share * past.offsets[j, c]
        ends = (i + 1) % joined == 0 or i + 1 == N
        while ends and length % 4 > 0:
            w.kept_rows[r, length], w.kept_weights[r, length] = len(past.rows) - 1, 0
            length += 1
        w.kept_begin[r, i], w.kept_end[r, i] = begin, length if ends else begin
        begin = w.kept_end[r, i]


@apart
def draw_orders(n: Numbers, s: Padded, first_replica: int, t: int, R: int, orders: Ints) -> None:
    """The components of all local steps of a round, their rows where each has one; four to a call of the generator.

    That of client i, step k and replica r goes to orders[(i K + k) R + r], where K is E in whole fours: replicas stand
    side by side, so that the generator runs on vectors.
    """
    purpose = STOCHASTIC_DRAW if n.estimator == STOCHASTIC else COMPONENT_DRAW
    start, at = s.current.client_start, 0
    for i in range(len(s.p)):
        count = start[i + 1] - start[i]
        first = s.current.client_rows[i] if s.single else start[i]
        for block in range((n.local_steps + 3) >> 2):
            for r in range(R):
                four = draws.words(n.seed, purpose, first_replica + r, i, t, block)
                # Numba tests signed indices for counting from the end, and unsigned ones it does not.
                orders[np.uint64(at + r)] = first + draws.below(four[0], count)
                orders[np.uint64(at + R + r)] = first + draws.below(four[1], count)
                orders[np.uint64(at + 2 * R + r)] = first + draws.below(four[2], count)
                orders[np.uint64(at + 3 * R + r)] = first + draws.below(four[3], count)
            at += 4 * R


@sweep
def _add_linear(offset: Read, x: Read, grad: Write) -> Summed:
    """grad += offset, and <offset, x>."""
    return grad + offset, offset * x


@inner
def _add_share(p: float, G: Array, values: Array, grad: Array, value: Array) -> None:
    """grad += p G and value += p values, of every replica."""
    for r in range(len(G)):
        value[r] += p * values[r]
        add_multiple(G, r, grad, r, p)


@inner
def past_gradients(n: Numbers, s: Padded, R: int, whole: bool, valued: bool, w: Workspace) -> None:
    """f, grad f where `whole`, and the mean over the kept components of the past where there are such.

    With R = 1 all replicas stand where the first does.
    """
    N, width, past, subset = len(s.p), len(s.point), s.past, n.memory == SUBSET
    w.grad_f[:] = 0
    w.grad_memory[:] = 0
    w.f[:] = 0.0
    w.f_memory[:] = 0.0
    if len(s.basis) > 0:
        for r in range(R):
            fill_coordinate_slopes(n.potential, past.shift, w.X, r, w.coordinate_slopes, r)
            if whole:
                for i in range(N):
                    for c in range(width):
                        w.grad_f[r, c] += s.p[i] * past.means[i, c] * w.coordinate_slopes[r, c]
                    if valued:
                        w.f[r] += s.p[i] * weighted_value(n.potential, past, past.means, i, w.X, r)
            if subset:
                for c in range(width):
                    w.grad_memory[r, c] = w.kept_means[r, c] * w.coordinate_slopes[r, c]
                if valued:
                    w.f_memory[r] = weighted_value(n.potential, past, w.kept_means, r, w.X, r)
        return
    for i in range(N):
        base, height = past.client_rows[i], past.client_rows[i + 1] - past.client_rows[i]
        if whole:
            client_gradients(
                n.potential, past, i, w.X, w.panels, n.bits, valued, base, height, w.past_Z, w.past_slopes,
                w.potentials, w.scratch[:R], w.values,
            )  # fmt: skip
            _add_share(s.p[i], w.scratch[:R], w.values, w.grad_f, w.f)
        if subset:
            kept_gradients(
                n.potential, past, i, w.kept_rows, w.kept_begin, w.kept_end, w.kept_weights, w.kept_share, n.bits > 0,
                valued,
                w.past_Z, w.past_slopes, w.X, w.grad_memory, w.f_memory,
            )  # fmt: skip
    for r in range(R, len(w.X)):
        w.f[r] = w.f[0]
        copy(w.grad_f, 0, w.grad_f, r)
    if subset and len(past.offsets) > 0:
        for r in range(len(w.X)):
            w.f_memory[r] += _add_linear(w.memory_offset, r, w.X, r, w.grad_memory, r)


@inner
def complete_memory(n: Numbers, basis: Array, w: Workspace) -> None:
    """Complete b and grad_f_memory = grad f + b of (6), and f_memory; zero where there is none."""
    (R, width), d = w.b.shape, n.dimension
    if n.memory == NO_MEMORY:
        return
    for r in range(R):
        if n.memory == SUBSET:
            subtract(w.grad_memory, r, w.grad_f, r, w.b, r)
            continue
        if n.memory == ROTATED and len(basis) > 0:
            to_start(basis, w.grad_f, r, w.step[r])
            memories.rotate(w.step[r, :d], n.angle, w.scratch[r, :d])
            for c in range(d):
                total = 0.0
                for k in range(d):
                    total += basis[c, k] * w.scratch[r, k]
                w.b[r, c] = total
        elif n.memory == ROTATED:
            memories.rotate(w.grad_f[r, :d], n.angle, w.b[r, :d])
        else:
            for c in range(width):
                w.b[r, c] = w.grad_f[r, c]
        for c in range(width):
            w.b[r, c] *= w.signs[r] * n.scale
            w.grad_memory[r, c] = w.grad_f[r, c] + w.b[r, c]
        if n.memory == SCALED:
            w.f_memory[r] = (1.0 + w.signs[r] * n.scale) * w.f[r]


@inner
def to_start(basis: Array, vectors: Array, r: int, out: Array) -> None:
    """out = basis^T vectors[r]: from the coordinates of an elementwise problem to those of its x."""
    d = len(basis)
    for c in range(d):
        total = 0.0
        for k in range(d):
            total += basis[k, c] * vectors[r, k]
        out[c] = total


@inner
def current_gradients(n: Numbers, s: Padded, R: int, valued: bool, w: Workspace) -> None:
    """g, grad g and all grad g_i, and on the way z and slopes of the current rows; R as for `past_gradients`."""
    current, rows = s.current, len(s.current.rows)
    w.grad_g[:] = 0
    w.g[:] = 0.0
    if len(s.basis) > 0:
        for r in range(R):
            fill_coordinate_slopes(n.potential, current.shift, w.X, r, w.coordinate_slopes, r)
    if n.summed:
        client_gradients(
            n.potential, current, EVERY, w.X, w.panels, n.bits, valued, 0, rows, w.Z, w.slopes, w.potentials, w.grad_g,
            w.values,
        )  # fmt: skip
        for r in range(R):
            w.g[r] = w.values[r]
        return
    for i in range(len(s.p)):
        if len(s.basis) > 0:
            coordinate_gradients(current, i, w.coordinate_slopes, w.clients[i])
            if valued:
                for r in range(R):
                    w.values[r] = weighted_value(n.potential, current, current.means, i, w.X, r)
        else:
            client_gradients(
                n.potential, current, i, w.X, w.panels, n.bits, valued, 0, rows, w.Z, w.slopes, w.potentials,
                w.clients[i][:R], w.values,
            )  # fmt: skip
        _add_share(s.p[i], w.clients[i][:R], w.values, w.grad_g, w.g)
        for r in range(R, len(w.X)):
            copy(w.clients[i], 0, w.clients[i], r)
    for r in range(R, len(w.X)):
        w.g[r] = w.g[0]
        copy(w.grad_g, 0, w.grad_g, r)
        for q in range(rows):
            w.Z[r * rows + q], w.slopes[r * rows + q] = w.Z[q], w.slopes[q]
