"""Compiled past of the CFL framework: what clients remember of a round, and the objective that comes of it.

The same steps as in `cfl.evolution`.
"""

from __future__ import annotations

import math

from cflag_theory.kernels.cfl import drifts, windows
from cflag_theory.kernels.engines.codegen.cache import callable_from_compiled, inner
from cflag_theory.kernels.engines.codes import CORE, CORE_DRAW, FULL_HESSIAN, HERD, LOSS_DRAW, NOTHING, SQUARES, Numbers
from cflag_theory.kernels.engines.components import Sum, add, dot
from cflag_theory.kernels.engines.framework.local_objectives import Local, Rules, add_component, add_mean, candidates
from cflag_theory.kernels.formulas import curvature
from cflag_theory.kernels.numbers import Array, Ints

callable_from_compiled(curvature)


@inner
def open_objective(r: Rules, n: Numbers, current: Sum, i: int, x: Array, u: Array, h: Local) -> None:
    """Client i's c, u and W of the round that begins at x; its correction `u` moves into them."""
    kept = min(h.counts[i], r.slots)
    row = r.weights[h.counts[i]]
    first, end = candidates(r, current, i)
    for j in range(first, end):
        h.coefficients[j] = 0.0
    for a in range(r.curvature):
        for c in range(len(x)):
            h.W[a, c] = 0.0
    h.own[0] = row[kept] * h.factor[i]
    h.even[0] = 1
    for c in range(len(x)):
        h.u[c] = u[c] + row[kept] * h.offset[i, c]
        u[c] = 0.0
    for s in range(kept):
        slot = (h.counts[i] - kept + s) % r.slots
        if row[s] == 0.0:
            continue
        add(h.u, row[s], h.past_linear[slot, i])
        for a in range(r.curvature):
            add(h.W[a], row[s], h.past_curvature[slot, i, a])
        if r.curvature == 0:
            h.even[0] = 0
            each = row[s] * h.past_factor[slot, i] / h.past_kept_lengths[slot, i]
            for k in range(h.past_kept_lengths[slot, i]):
                h.coefficients[h.past_kept[slot, i, k]] += each
    for k in range(h.lengths[i]):
        h.coefficients[h.members[i, k]] += h.own[0] / h.lengths[i]
    if r.curvature > 0:
        add_product(h.W, x, h.u)
    total = 0.0
    for j in range(first, end):
        total += abs(h.coefficients[j])
        h.cumulative[j] = total


@inner
def add_product(matrix: Array, x: Array, out: Array) -> None:
    """out += matrix x, for a matrix (d, d), or a diagonal (1, d)."""
    if len(matrix) == 1:
        for c in range(len(x)):
            out[c] += matrix[0, c] * x[c]
    else:
        for c in range(len(x)):
            out[c] += dot(matrix[c], x)


@inner
def remember(
    r: Rules, n: Numbers, current: Sum, replica: int, i: int, t: int, x: Array, local: Array, h: Local
) -> None:
    """Keep client i's objective of round t, which began at x and ended at `local`."""
    if r.past == NOTHING or r.slots == 0:
        return
    slot = h.counts[i] % r.slots
    h.counts[i] += 1
    linear, length = h.past_linear[slot, i], h.lengths[i]
    h.past_factor[slot, i] = h.factor[i]
    for c in range(len(x)):
        linear[c] = h.offset[i, c]
    if r.curvature > 0:
        at = x if r.server_expansion else local
        add_mean(n, current, h.members[i], length, h.factor[i], at, linear)
        _curvature(r, n, current, i, at, h, h.past_curvature[slot, i])
        for c in range(len(x)):
            h.scratch[c] = -at[c]
        add_product(h.past_curvature[slot, i], h.scratch, linear)
    elif r.past == HERD:
        _herding(current, h.members[i], length, r.kept, h.scratch, h.noise, h.past_kept[slot, i])
        h.past_kept_lengths[slot, i] = r.kept
    else:
        kept = length
        for k in range(length):
            h.order[k] = h.members[i, k]
        if r.past == CORE:
            kept = min(r.core_set, length)
            windows.choose(n.seed, CORE_DRAW, replica, i, t, h.order, length, kept)
        for k in range(kept):
            h.past_kept[slot, i, k] = h.order[k]
        h.past_kept_lengths[slot, i] = kept
    if r.loss > 0:
        if not r.constant_loss:
            scale = math.sqrt(r.loss / 1000 * len(x))
            drifts.fill_vector(0, n.seed, LOSS_DRAW, replica, i, t, 0, scale, h.noise)
            add(linear, 1.0, h.noise)
        for c in range(len(x)):
            linear[c] += r.loss
    if len(h.true_lengths) > 0:
        h.true_lengths[slot, i] = length
        for c in range(len(x)):
            h.true_offset[slot, i, c] = h.offset[i, c]
        for k in range(length):
            h.true_members[slot, i, k] = h.members[i, k]


@inner
def _curvature(r: Rules, n: Numbers, current: Sum, i: int, at: Array, h: Local, out: Array) -> None:
    """The Hessian (d, d), its diagonal or the empirical Fisher diagonal (1, d) of client i's data at a point."""
    share = h.factor[i] / h.lengths[i]
    for a in range(r.curvature):
        for c in range(len(at)):
            out[a, c] = 0.0
    for k in range(h.lengths[i]):
        j = h.members[i, k]
        if r.past == SQUARES:
            for c in range(len(at)):
                h.noise[c] = h.offset[i, c]
            add_component(n, current, j, h.factor[i], at, h.noise)
            for c in range(len(at)):
                out[0, c] += h.noise[c] * h.noise[c] / h.lengths[i]
            continue
        for q in range(current.row_start[j], current.row_start[j + 1]):
            row = current.rows[q]
            weight = share * current.weights[q] * curvature(n.potential, dot(row, at) - current.shifts[q])
            if r.past == FULL_HESSIAN:
                for a in range(len(at)):
                    add(out[a], weight * row[a], row)
            else:
                for c in range(len(at)):
                    out[0, c] += weight * row[c] * row[c]


@inner
def _herding(current: Sum, members: Ints, length: int, size: int, mean: Array, total: Array, out: Ints) -> None:
    """Algorithm 3 into out[:size]; `mean` and `total` (d,) are overwritten."""
    mean[:] = 0.0
    total[:] = 0.0
    for k in range(length):
        for q in range(current.row_start[members[k]], current.row_start[members[k] + 1]):
            add(mean, current.weights[q] / length, current.rows[q])
    for k in range(1, size + 1):
        best, least = 0, math.inf
        for candidate in range(length):
            j = members[candidate]
            gap2 = 0.0
            for c in range(len(mean)):
                feature = 0.0
                for q in range(current.row_start[j], current.row_start[j + 1]):
                    feature += current.weights[q] * current.rows[q, c]
                gap = mean[c] - (feature + total[c]) / k
                gap2 += gap * gap
            if gap2 < least:
                best, least = candidate, gap2
        out[k - 1] = members[best]
        for q in range(current.row_start[members[best]], current.row_start[members[best] + 1]):
            add(total, current.weights[q], current.rows[q])


@inner
def information_loss(r: Rules, n: Numbers, current: Sum, x: Array, h: Local) -> float:
    """The mean over participants and the rounds they keep, with the current one, of ||Delta_{tau,i}(x)||."""
    mean = 0.0
    for i in range(len(h.counts)):
        kept = min(h.counts[i], r.slots)
        if h.shares[i] == 0.0:
            continue
        for slot in range(kept):
            for c in range(len(x)):
                h.scratch[c] = h.true_offset[slot, i, c] - h.past_linear[slot, i, c]
            factor = h.past_factor[slot, i]
            add_mean(n, current, h.true_members[slot, i], h.true_lengths[slot, i], factor, x, h.scratch)
            if r.curvature > 0:
                for c in range(len(x)):
                    h.noise[c] = -x[c]
                add_product(h.past_curvature[slot, i], h.noise, h.scratch)
            else:
                add_mean(n, current, h.past_kept[slot, i], h.past_kept_lengths[slot, i], -factor, x, h.scratch)
            mean += math.sqrt(dot(h.scratch, h.scratch)) / (kept + 1)
    return mean / r.participants
