"""What a block of CUDA threads does for the server: sums over the clients in their order, the step, the columns."""

from __future__ import annotations

import math
from typing import Any

from cflag_theory.kernels.engines.codes import (
    AVERAGE,
    COMMON,
    CONSTANT,
    CONTROL,
    INTERACTING,
    LITERAL,
    NO_MEMORY,
    PRINTED,
    ROTATED,
    SCALED,
    SUBSET,
    Numbers,
)
from cflag_theory.kernels.engines.cuda.team import (
    block_sync,
    common_rate,
    device,
    forgetting,
    interaction_rate,
    overfitting,
    real,
    rotate,
    state_columns,
    table1_rates,
    team_dot,
    team_sum,
)
from cflag_theory.kernels.engines.cuda.workspace import Work
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.plan import LIMIT


@device
def sum_clients(n: Numbers, p: Array, sign: int, whole: bool, w: Work, rank: int, size: int) -> None:
    """grad f, grad g, b and grad_f_memory = grad f + b of (6) from the clients' parts."""
    d = len(w.x)
    for c in range(rank, d, size):
        grad_f, grad_memory, grad_g = real(w.x, 0.0), real(w.x, 0.0), real(w.x, 0.0)
        for i in range(len(p)):
            grad_g += p[i] * w.estimate[i * d + c]
            if whole:
                grad_f += w.local[i * d + c]
            if n.memory == SUBSET:
                grad_memory += w.a[i * d + c]
        w.grad_f[c], w.grad_memory[c], w.grad_g[c] = grad_f, grad_memory, grad_g
        w.b[c] = 0.0
        if n.memory == SUBSET:
            w.b[c] = grad_memory - grad_f
        elif n.memory == SCALED:
            w.b[c] = sign * n.scale * grad_f
            w.grad_memory[c] = grad_f + w.b[c]
    if n.memory == ROTATED:
        block_sync()
        for pair in range(rank, (d + 1) // 2, size):
            begin, end = 2 * pair, min(2 * pair + 2, d)
            rotate(w.grad_f[begin:end], n.angle, w.b[begin:end])
            for c in range(begin, end):
                w.b[c] *= sign * n.scale
                w.grad_memory[c] = w.grad_f[c] + w.b[c]
    block_sync()


@device
def measure_state(n: Numbers, sign: int, p: Array, w: Work, out: Any, rank: int, size: int) -> bool:
    """The columns of STATE into out (8,); False if one is not finite, and then `out` is left alone."""
    share = n.memory_share
    rest = real(w.x, 1.0) - share
    f, f_memory, g = real(w.x, 0.0), real(w.x, 0.0), real(w.x, 0.0)
    for i in range(len(p)):
        f += w.f[i]
        f_memory += w.f_memory[i]
        g += p[i] * w.g[i]
    if n.memory == SCALED:
        f_memory = real(w.x, (1.0 + sign * n.scale) * f)
    elif n.memory != SUBSET:
        f_memory = real(w.x, 0.0)
    grad_h2 = real(w.x, 0.0)
    for c in range(rank, len(w.x), size):
        component = share * w.grad_memory[c] + rest * w.grad_g[c]
        grad_h2 += component * component
    grad_h2 = team_sum(grad_h2, rank, size, w.scratch)
    f, g, h, grad_f2, grad_g2, grad_h2, grad_memory2, b2 = state_columns(
        share,
        rest,
        f,
        g,
        f_memory,
        team_dot(w.grad_f, w.grad_f, rank, size, w.scratch),
        team_dot(w.grad_g, w.grad_g, rank, size, w.scratch),
        grad_h2,
        team_dot(w.grad_memory, w.grad_memory, rank, size, w.scratch),
        team_dot(w.b, w.b, rank, size, w.scratch),
    )
    finite = math.isfinite(f) and math.isfinite(g) and math.isfinite(h)
    finite = finite and math.isfinite(grad_f2) and math.isfinite(grad_g2) and math.isfinite(grad_h2)
    finite = finite and math.isfinite(grad_memory2) and math.isfinite(b2)
    if finite and rank == 0:
        out[0], out[1], out[2] = f, g, h
        out[3], out[4], out[5] = grad_f2, grad_g2, grad_h2
        out[6], out[7] = grad_memory2, b2
    return finite


@device
def adapted_step(n: Numbers, p: Array, w: Work, rank: int, size: int) -> Any:
    """The part of the step that is not along grad_f_memory, into w.step; returns sum_i p_i alpha_i."""
    N, d = len(p), len(w.x)
    if n.adaptive == COMMON:
        product = team_dot(w.grad_memory, w.S, rank, size, w.scratch)
        norm2 = team_dot(w.S, w.S, rank, size, w.scratch)
        rate = real(w.x, common_rate(n.L, n.alpha, product, norm2))
        for c in range(rank, d, size):
            w.step[c] = rate * w.S[c]
        return n.alpha
    G2 = team_dot(w.grad_memory, w.grad_memory, rank, size, w.scratch)
    for c in range(rank, d, size):
        w.step[c] = 0.0
    alpha_mean = real(w.x, 0.0)
    for i in range(N):
        alpha_i, beta_i, correction = real(w.x, n.alpha), real(w.x, n.beta), real(w.x, 0.0)
        product, norm2 = w.products[i], w.norms[i]
        if n.adaptive == INTERACTING:
            interaction = team_dot(w.a[i * d : (i + 1) * d], w.S, rank, size, w.scratch)
            beta_i = real(w.x, interaction_rate(n.L, n.alpha, n.beta, product, interaction, norm2))
        else:
            weight = real(w.x, p[i] if n.adaptive == AVERAGE else N * p[i])
            if n.adaptive == LITERAL:
                weight *= n.beta * n.beta
                product *= n.beta
            rates = table1_rates(n.L, n.alpha, n.beta, product, G2, weight * norm2)
            alpha_i, beta_i = real(w.x, rates[0]), real(w.x, rates[1])
            if n.adaptive == LITERAL:
                correction = real(w.x, p[i] * n.local_steps * beta_i)
        for c in range(rank, d, size):
            w.step[c] += correction * w.u[i * d + c] + p[i] * beta_i * w.a[i * d + c]
        alpha_mean += p[i] * alpha_i
    return alpha_mean


@device
def server_step(n: Numbers, p: Array, w: Work, rank: int, size: int) -> Any:
    """Move w.x; leave in w.S the S of the step taken, and return the alpha of the step taken."""
    d = len(w.x)
    for c in range(rank, d, size):
        S, displacement, control_change = real(w.x, 0.0), real(w.x, 0.0), real(w.x, 0.0)
        for i in range(len(p)):
            moved = w.local[i * d + c] - w.x[c]
            S += p[i] * w.a[i * d + c]
            displacement += p[i] * moved
            if n.correction == CONTROL:
                change = real(w.x, -moved / (n.beta * n.local_steps) - w.control_mean[c])
                w.control[i * d + c] += change
                control_change += p[i] * change
        w.S[c] = S
        w.step[c] = displacement
        if n.correction == CONTROL:
            w.control_mean[c] += control_change
    alpha = real(w.x, n.alpha)
    if n.adaptive != CONSTANT:
        alpha = adapted_step(n, p, w, rank, size)
    for c in range(rank, d, size):
        if n.server == PRINTED:
            # sum_i p_i x_E^i is x_t and the averaged displacement.
            w.step[c] += w.x[c]
        if n.server == PRINTED or n.adaptive != CONSTANT:
            w.x[c] -= w.step[c]
            w.S[c] = w.step[c] / n.beta
        else:
            w.x[c] += n.server_rate * w.step[c]
        if n.memory != NO_MEMORY:
            w.x[c] -= alpha * w.grad_memory[c]
    return alpha


@device
def in_bounds(w: Work, rank: int, size: int) -> bool:
    """Whether x is finite and ||x||^2 at most the limit of a run."""
    norm2 = team_dot(w.x, w.x, rank, size, w.scratch)
    return math.isfinite(norm2) and float(norm2) <= LIMIT


@device
def measure_round(n: Numbers, N: int, alpha: Any, w: Work, out: Any, Lambda: Any, rank: int, size: int) -> bool:
    """The columns of ROUND into out (8,) and Lambda (N,); False if one is not finite."""
    S2 = team_dot(w.S, w.S, rank, size, w.scratch)
    memory_dot_sum = team_dot(w.grad_memory, w.S, rank, size, w.scratch)
    grad_dot_bias = team_dot(w.grad_f, w.b, rank, size, w.scratch)
    bias_dot_sum = team_dot(w.b, w.S, rank, size, w.scratch)
    Gamma = forgetting(n.L, alpha, n.beta, S2, memory_dot_sum)
    B = overfitting(n.L, alpha, n.beta, grad_dot_bias, bias_dot_sum)
    drift2_max = real(w.x, 0.0)
    finite = math.isfinite(Gamma) and math.isfinite(B) and math.isfinite(S2)
    for i in range(N):
        drift2_max = max(drift2_max, w.drift[i])
        finite = finite and math.isfinite(w.products[i])
    finite = finite and math.isfinite(drift2_max)
    if finite:
        if rank == 0:
            out[0], out[1], out[2], out[3] = Gamma, B, S2, drift2_max
        for i in range(rank, N, size):
            Lambda[i] = w.products[i]
    return finite
