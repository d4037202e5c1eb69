"""Compiled local objectives of the CFL framework: drifts, windows, participants, estimates from weighted components.

The same steps as in `cfl.evolution`; what clients remember is in `pasts`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cflag_theory.kernels import draws
from cflag_theory.kernels.algorithms import DIAGONAL, EXPANSIONS, FISHER, PASTS, TAYLOR
from cflag_theory.kernels.cfl import drifts, windows
from cflag_theory.kernels.cfl.framework import Framework
from cflag_theory.kernels.engines.codegen.cache import allocating, callable_from_compiled, inner
from cflag_theory.kernels.engines.codes import DRIFT_DRAW, FRESH, NOISE_DRAW, PARTICIPANTS_DRAW, Numbers
from cflag_theory.kernels.engines.components import Sum, add, dot, sample
from cflag_theory.kernels.formulas import slope
from cflag_theory.kernels.numbers import Array, Ints, floats
from cflag_theory.kernels.plan import Plan

callable_from_compiled(
    drifts.fill_vector,
    drifts.time_drift,
    drifts.client_sign,
    drifts.time_sign,
    windows.choose,
    windows.draw_window,
)


class Rules(NamedTuple):
    """A `Framework` as the loop reads it; plain runs have None instead.

    `curvature` is the number of rows of a W: 0, 1 or d; `runs` the number of subsets.
    """

    law: int
    correlation: int
    stateless: bool
    G: float
    B: float
    D: float
    A: float
    sigma: float
    F: float
    shared: float
    shared_sign: float
    alpha: float
    window: int
    size: int
    shift: int
    runs: int
    past: int
    server_expansion: bool
    curvature: int
    core_set: int
    slots: int
    kept: int
    longest: int
    loss: float
    constant_loss: bool
    momentum: float
    participants: int
    weights: Array


class Local(NamedTuple):
    """What one replica writes on: the round's data of all clients, one client's objective, the remembered rounds.

    Attributes
    ----------
    shares, factor, xi_sign : (N,)
    xi, offset : (N, d)
        grad f_{t,i} = factor * mean of the window's grad q_j + offset.
    members, lengths : (N, longest), (N,)
        The windows.
    coefficients, cumulative : (components,)
        c_j, and the running sums of |c_j|.
    u, W : (d,), (0 or 1 or d, d)
    even : (1,)
        1 if only the current data have a share in c; then `own` (1,) is that share.
    momentum, momentum_next, noise, scratch : (d,)
    order : (components or N,)
    counts : (N,)
        Rounds in which a client took part.
    past_factor, past_linear, past_curvature : (slots, N), (slots, N, d), (slots, N, 0 or 1 or d, d)
        Of the models; past_kept, past_kept_lengths their components.
    true_offset, true_members, true_lengths : (slots or 0, N, ...)
        Of the data that the models stand for.
    """

    shares: Array
    factor: Array
    xi_sign: Ints
    xi: Array
    offset: Array
    members: Ints
    lengths: Ints
    coefficients: Array
    cumulative: Array
    u: Array
    W: Array
    even: Ints
    own: Array
    momentum: Array
    momentum_next: Array
    noise: Array
    scratch: Array
    order: Ints
    counts: Ints
    past_factor: Array
    past_linear: Array
    past_curvature: Array
    past_kept: Ints
    past_kept_lengths: Ints
    true_offset: Array
    true_members: Ints
    true_lengths: Ints


def as_rules(plan: Plan, framework: Framework) -> Rules:
    """The framework's part of a plan as numbers of fixed types."""
    drift, rule = framework.drift, framework.windows
    return Rules(
        law=drifts.LAWS.index(drift.law),
        correlation=drifts.CORRELATIONS.index(drift.correlation),
        stateless=drift.stateless,
        G=drift.G,
        B=drift.B,
        D=drift.D,
        A=drift.A,
        sigma=drift.sigma,
        F=drift.F,
        shared=drift.F / drift.D if drift.D else 0.0,
        shared_sign=drift.C / drift.A if drift.A else 0.0,
        alpha=drift.alpha,
        window=windows.KINDS.index(rule.kind),
        size=rule.size,
        shift=rule.shift,
        runs=rule.count,
        past=PASTS.index(plan.row.past),
        server_expansion=plan.row.expansion == EXPANSIONS[1],
        curvature={TAYLOR: plan.problem.dimension, DIAGONAL: 1, FISHER: 1}.get(plan.row.past, 0),
        core_set=plan.row.core_set,
        slots=framework.slots,
        kept=framework.kept,
        longest=framework.longest,
        loss=framework.information_loss,
        constant_loss=framework.constant_loss,
        momentum=framework.momentum,
        participants=framework.participants,
        weights=floats(framework.weights),
    )


@allocating
def local_work(r: Rules, n: Numbers, N: int, d: int, components: int) -> Local:
    """Empty arrays for one replica; of length 0 where nothing will be written."""
    metered = r.slots if n.diagnostics > 1 else 0
    return Local(
        np.empty(N),
        np.empty(N),
        np.ones(N, np.int64),
        np.zeros((N, d)),
        np.empty((N, d)),
        np.empty((N, r.longest), np.int64),
        np.empty(N, np.int64),
        np.empty(components),
        np.empty(components),
        np.empty(d),
        np.empty((r.curvature, d)),
        np.empty(1, np.int64),
        np.empty(1),
        np.zeros(d),
        np.zeros(d),
        np.empty(d),
        np.empty(d),
        np.empty(max(components, N), np.int64),
        np.zeros(N, np.int64),
        np.empty((r.slots, N)),
        np.empty((r.slots, N, d)),
        np.empty((r.slots, N, r.curvature, d)),
        np.empty((r.slots, N, r.kept), np.int64),
        np.empty((r.slots, N), np.int64),
        np.empty((metered, N, d)),
        np.empty((metered, N, r.longest), np.int64),
        np.empty((metered, N), np.int64),
    )


@inner
def add_component(n: Numbers, current: Sum, j: int, factor: float, x: Array, out: Array) -> None:
    """out += factor * grad q_j(x)."""
    for q in range(current.row_start[j], current.row_start[j + 1]):
        row = current.rows[q]
        add(out, factor * (current.weights[q] * slope(n.potential, dot(row, x) - current.shifts[q])), row)
    if len(current.offsets) > 0:
        add(out, factor, current.offsets[j])


@inner
def add_mean(n: Numbers, current: Sum, chosen: Ints, length: int, factor: float, x: Array, out: Array) -> None:
    """out += factor * the mean of grad q_j(x) over chosen[:length]."""
    for k in range(length):
        add_component(n, current, chosen[k], factor / length, x, out)


@inner
def begin_round(r: Rules, n: Numbers, replica: int, t: int, p: Array, current: Sum, x: Array, h: Local) -> None:
    """Draw the participants, drifts and windows of round t, and prepare the momentum of the next round."""
    N, total = len(p), len(h.coefficients)
    for i in range(N):
        h.shares[i] = p[i]
    if r.participants < N:
        for i in range(N):
            h.order[i] = i
        windows.choose(n.seed, PARTICIPANTS_DRAW, replica, 0, t, h.order, N, r.participants)
        weight = 0.0
        for k in range(N):
            if k < r.participants:
                weight += p[h.order[k]]
            else:
                h.shares[h.order[k]] = 0.0
        for i in range(N):
            h.shares[i] /= weight
    for c in range(len(x)):
        h.momentum_next[c] = r.momentum * h.momentum[c]
    for i in range(N):
        client_round = t if r.stateless else 0
        drifts.fill_vector(r.law, n.seed, DRIFT_DRAW, replica, i, client_round, 0, r.G, h.offset[i])
        drifts.time_drift(r.law, r.correlation, n.seed, replica, i, t, r.D, r.F, r.shared, r.alpha, h.xi[i], h.scratch)
        h.xi_sign[i] = drifts.time_sign(r.correlation, n.seed, replica, i, t, r.shared_sign, r.alpha, h.xi_sign[i])
        h.factor[i] = 1 - r.B * drifts.client_sign(n.seed, replica, i, client_round) - r.A * h.xi_sign[i]
        for c in range(len(x)):
            h.offset[i, c] = -(h.offset[i, c] + h.xi[i, c])
        first = current.client_start[i]
        count = current.client_start[i + 1] - first
        h.lengths[i] = windows.draw_window(
            r.window, r.size, r.shift, r.runs, n.seed, replica, i, t, first, count, h.order[:total], h.members[i]
        )
        if r.momentum > 0:
            share = (1 - r.momentum) * h.shares[i]
            add_mean(n, current, h.members[i], h.lengths[i], share * h.factor[i], x, h.momentum_next)
            add(h.momentum_next, share, h.offset[i])


@inner
def candidates(r: Rules, current: Sum, i: int) -> tuple[int, int]:
    """The components that client i's objective may hold: first, end."""
    if r.window == FRESH:
        return 0, len(current.row_start) - 1
    return current.client_start[i], current.client_start[i + 1]


@inner
def weighted_gradient(r: Rules, n: Numbers, current: Sum, i: int, h: Local, x: Array, out: Array) -> None:
    """out = sum_j c_j grad q_j(x)."""
    first, end = candidates(r, current, i)
    out[:] = 0.0
    for j in range(first, end):
        if h.coefficients[j] != 0.0:
            add_component(n, current, j, h.coefficients[j], x, out)


@inner
def weighted_sample(r: Rules, n: Numbers, current: Sum, i: int, word: int, h: Local, x: Array, out: Array) -> None:
    """out = sign(c_j) sum |c| grad q_j(x) for a component j drawn in proportion to |c_j|."""
    if h.even[0] == 1:
        sample(n, current, h.members[i, draws.below(word, h.lengths[i])], x, out)
        for c in range(len(x)):
            out[c] *= h.own[0]
        return
    out[:] = 0.0
    low, end = candidates(r, current, i)
    high = end - 1
    total = h.cumulative[high]
    target = total * ((2 * word + 1) / 8589934592.0)
    while low < high:
        middle = (low + high) >> 1
        if h.cumulative[middle] > target:
            high = middle
        else:
            low = middle + 1
    add_component(n, current, low, math.copysign(total, h.coefficients[low]), x, out)


@inner
def complete_step(
    r: Rules, n: Numbers, replica: int, i: int, t: int, k: int, x: Array, h: Local, local: Array, step: Array
) -> None:
    """Add u, W (x_k - x_t) and noise to the estimate in `step`, then mix with the momentum."""
    d = len(x)
    if r.sigma > 0:
        drifts.fill_vector(r.law, n.seed, NOISE_DRAW, replica, i, t, k, r.sigma, h.noise)
        add(step, 1.0, h.noise)
    add(step, 1.0, h.u)
    if r.curvature == 1:
        for c in range(d):
            step[c] += h.W[0, c] * (local[c] - x[c])
    elif r.curvature > 1:
        for c in range(d):
            h.scratch[c] = local[c] - x[c]
        for c in range(d):
            step[c] += dot(h.W[c], h.scratch)
    if r.momentum > 0:
        for c in range(d):
            step[c] = (1 - r.momentum) * step[c] + r.momentum * h.momentum[c]
