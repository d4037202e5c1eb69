"""One round of Algorithm 1 on the line as a family of instances: up to two clients, any number of components.

A client's current components are one of its own kind and any number of copies of a second one, refreshed with a
stride; its past ones are two, of which the memory keeps the first, whose gradient is 1 + bias_i times their mean's
everywhere, so that Assumption 2 holds with m_i = bias_i^2 < 1. Norms on the line are
rational, so every quantity of the one-round statements is exact. L = 1 and x_t = 0 by the choice of units and origin.

The local steps are written apart from the kernels, in scalars and with many copies of a component in one number: a
search takes thousands of rounds on floats, and tests hold the round against that of the reference loop, which proves
nothing if both are the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.adaptive import server as adaptive
from cflag_theory.claims.c_flag.forgetting import terms
from cflag_theory.claims.c_flag.forgetting.ours import step as ours_forgetting
from cflag_theory.claims.c_flag.iterates import L_memory
from cflag_theory.claims.c_flag.local_steps import drift, iag, sums
from cflag_theory.claims.c_flag.local_steps.ours import worst_order as ours_worst_order
from cflag_theory.claims.c_flag.local_steps.ours import worst_sums as ours_worst_sums
from cflag_theory.claims.c_flag.past_task import descent
from cflag_theory.claims.c_flag.union import surrogate
from cflag_theory.claims.engine.notation import (
    E,
    L,
    alpha,
    beta,
    bias2,
    bias_dot_sum,
    f_after,
    f_before,
    grad_dot_bias,
    grad_dot_sum,
    grad_f2,
    grad_g,
    k,
    m,
    r,
    sum2,
)
from cflag_theory.falsify.ranges import INTEGER, LOG, Range

_UNIT, _SLOPE, _LENGTH, _PART = Range(-1, 1), Range(-2, 2), Range(0, 8), Range("-15/16", "15/16")


def _steps(most: int) -> dict[str, Range]:
    """A first client's share, the number of steps, and `u` = beta L E."""
    return {"p_1": Range(0, 1), "E": Range(1, most, kind=INTEGER), "u": Range("1/1024", 1024, scale=LOG)}


def _clients(**spans: Range) -> dict[str, Range]:
    """Of two clients."""
    return {f"{name}_{i}": span for i in (1, 2) for name, span in spans.items()}


_CURRENT = {"curvature": _UNIT, "slope": _SLOPE, "stride": Range(0, 3, kind=INTEGER)}
#: What every one-round statement may depend on.
CURRENT: dict[str, Range] = {
    **_steps(256),
    "from_end": Range(0, 2, kind=INTEGER),
    **_clients(**_CURRENT, copy_curvature=_UNIT, copy_slope=_SLOPE, copies=Range(0, 255, kind=INTEGER)),
}
#: What statements with past data depend on too, `a` being L alpha; what they do not depend on is 0.
MEMORY: dict[str, Range] = {"a": Range("1/1024", 2, scale=LOG), "grad_f_1": _SLOPE, "grad_f_2": _SLOPE}
#: No bound with a bias is approached by long rounds, whose fractions are long too.
BIAS: dict[str, Range] = {"E": Range(1, 16, kind=INTEGER), "m_excess": _LENGTH, "bias_1": _PART, "bias_2": _PART}
PAST: dict[str, Range] = {"past_curvature_1": _UNIT, "past_curvature_2": _UNIT}
#: Of rounds of (67)-(68), where `loss` is h~(x_0): a client's memory holds one component, its current data copies.
UNION: dict[str, Range] = {
    **_steps(128),
    "T": Range(1, 3, kind=INTEGER),
    "loss": _SLOPE,
    **_clients(**_CURRENT, memory_curvature=Range(-128, 128), memory_slope=_SLOPE, copies=Range(1, 128, kind=INTEGER)),
}


@dataclass(frozen=True)
class Walk:
    """One client's round: x_k - x_t for k = 0, ..., E, delayed and full gradients, and when entries were computed."""

    points: list[Any]
    delayed: list[Any]
    full: list[Any]
    filled: list[int]


def walk(
    first: tuple[Any, Any], copy: tuple[Any, Any], copies: int, stride: int, push: Any, beta: Any, steps: int
) -> Walk:
    """The local steps x <- x - beta (push + delayed gradient) from 0, on components a x^2/2 + b x as pairs (a, b).

    `push` is grad g - grad g_i at x_t; at step k >= 1 the component number stride k is refreshed, counted round the
    1 + copies components.
    """
    n = 1 + copies
    kinds = [first] + [copy] * copies
    table = [b for _, b in kinds]
    curvature, slope = (first[j] + copies * copy[j] for j in (0, 1))
    total = slope
    points, delayed, full, filled = [push * 0], [], [], [0] * n
    for step in range(steps):
        x = points[-1]
        if step:
            j = stride * step % n
            entry = kinds[j][0] * x + kinds[j][1]
            total += entry - table[j]
            table[j], filled[j] = entry, step
        delayed.append(total / n)
        full.append((curvature * x + slope) / n)
        points.append(x - beta * (push + total / n))
    return Walk(points, delayed, full, filled)


def values(draw: Mapping[str, Any]) -> dict[sp.Expr, Any] | None:
    """Every quantity of the round, for the first client where a statement speaks of one; None where it has none."""
    steps = int(draw["E"])
    one = draw["u"] * 0 + 1
    local = draw["u"] / steps
    if not local:
        return None
    shares = [draw["p_1"], 1 - draw["p_1"]] if draw["p_1"] not in (0, 1) else [one]
    clients = [_client(draw, i) for i in range(1, len(shares) + 1)]
    at_start = [(first[1] + copies * copy[1]) / (1 + copies) for first, copy, copies, _ in clients]
    g = sum(p * v for p, v in zip(shares, at_start, strict=True))
    walks = [walk(*client, g - own, local, steps) for client, own in zip(clients, at_start, strict=True)]
    rho = sum(p * sum(w.full) for p, w in zip(shares, walks, strict=True))
    error = sum(p * (sum(w.delayed) - sum(w.full)) for p, w in zip(shares, walks, strict=True))
    at = max(steps - 1 - int(draw["from_end"]), 0)
    # A round of at + 1 steps is the beginning of the round of E steps, and leaves the table as it was then.
    found = _local(walk(*clients[0], g - at_start[0], local, at + 1), at)
    late = rho + error - g
    found |= {
        L: one,
        E: steps,
        beta: local,
        grad_g: abs(g),
        sums.rho_sum: abs(rho),
        sums.error_sum: abs(error),
        sum2: (rho + error) ** 2,
        sums.norm_S: abs(rho + error),
        ours_forgetting.sigma: ((1 + local) ** steps - 1) / local,
        terms.rho_dot_error: rho * error,
        terms.N: len(shares),
    }
    if "a" not in draw:
        return found
    found |= _past(draw, shares, local, g, rho, error, late)
    # The step sizes of the paper's rounds with memory.
    return found if found[alpha] * (1 + found[m]) < 2 else None


def _client(draw: Mapping[str, Any], i: int) -> tuple[tuple[Any, Any], tuple[Any, Any], int, int]:
    first, copy = (tuple(draw[f"{part}{name}_{i}"] for name in ("curvature", "slope")) for part in ("", "copy_"))
    return first, copy, int(draw[f"copies_{i}"]), int(draw[f"stride_{i}"])


def _local(path: Walk, at: int) -> dict[sp.Expr, Any]:
    """The quantities at the last of `at` + 1 local steps."""
    sizes = [abs(x) for x in path.points]
    n = len(path.filled)
    return {
        k: at,
        drift.drift(k): sizes[at],
        drift.drift(k + 1): sizes[at + 1],
        drift.largest(k): max(sizes[: at + 1]),
        iag.before(k): max(sizes[:at], default=sizes[0]),
        drift.error(k): abs(path.delayed[at] - path.full[at]),
        drift.table_mean(k): sum(sizes[tau] for tau in path.filled) / n,
        drift.gap_mean(k): sum(abs(path.points[tau] - path.points[at]) for tau in path.filled) / n,
    }


def with_recursions(draw: Mapping[str, Any]) -> dict[sp.Expr, Any] | None:
    """The round, and d_k of the orders of its refreshes: the first client's, and sums of the clients' p-weighted."""
    found = values(draw)
    if found is None:
        return None
    steps, at, g, local = found[E], found[k], found[grad_g], found[beta]
    shares = [draw["p_1"], 1 - draw["p_1"]] if found[terms.N] == 2 else [g * 0 + 1]
    sizes = [1 + int(draw[f"copies_{i}"]) for i in (1, 2)]
    paths = [recursion(n, int(draw[f"stride_{i}"]), g, local, steps) for i, n in zip((1, 2), sizes, strict=True)]
    turns = recursion(sizes[0], 1, g, local, at + 1)[0]
    sums_of = [sum(p * sum(path[j]) for p, path in zip(shares, paths, strict=False)) for j in (0, 1)]
    return found | {
        drift.d(k): paths[0][0][at],
        drift.table(k): paths[0][1][at],
        ours_worst_order.d_turns(k): turns[at],
        ours_worst_order.n: sizes[0],
        ours_worst_order.latest(k): sum(paths[0][0][max(at - q, 0)] for q in range(sizes[0])) / sizes[0],
        ours_worst_sums.d_sum(E): sums_of[0],
        ours_worst_sums.table_sum(E): sums_of[1],
    }


def recursion(n: int, stride: int, g: Any, beta: Any, steps: int) -> tuple[list[Any], list[Any]]:
    """d_0 = 0, d_(k+1) = d_k + beta (g + mean_j d at the step of the j-th entry), and these means, for k < steps."""
    table, total = [g * 0] * n, g * 0
    path, means = [g * 0], []
    for step in range(steps):
        if step:
            j = stride * step % n
            total += path[-1] - table[j]
            table[j] = path[-1]
        means.append(total / n)
        path.append(path[-1] + beta * (g + means[-1]))
    return path[:steps], means


def _past(
    draw: Mapping[str, Any], shares: list[Any], local: Any, g: Any, rho: Any, error: Any, late: Any
) -> dict[sp.Expr, Any]:
    """What past data and memory add; m is the observed ratio, if any, plus an excess; r is the observed ratio."""
    S = rho + error
    step, curvature, f, b = draw["a"], S * 0, S * 0, S * 0
    for i, p in enumerate(shares, 1):
        curvature += p * draw.get(f"past_curvature_{i}", 0)
        f += p * draw[f"grad_f_{i}"]
        b += p * draw.get(f"bias_{i}", 0) * draw[f"grad_f_{i}"]
    moved = -step * (f + b) - local * S
    ratio = b**2 / f**2 if f else S * 0
    memory = f + b
    q = 1 - step
    found = {
        alpha: step,
        m: max(ratio + draw.get("m_excess", 0), S * 0),
        r: abs(memory) / abs(g) if g else S * 0,
        grad_f2: f**2,
        grad_dot_sum: f * S,
        adaptive.Lambda: memory * S,
        terms.memory: abs(memory),
        terms.memory_dot_sum: memory * S,
        terms.memory_dot_rho: memory * rho,
        terms.memory_dot_error: memory * error,
        terms.Gamma: local**2 * S**2 / 2 - local * q * memory * S,
        terms.gap: abs(q),
    }
    if "m_excess" in draw:
        found |= {
            bias2: b**2,
            grad_dot_bias: f * b,
            bias_dot_sum: b * S,
            descent.late_sum2: late**2,
            descent.late_grad_dot_sum: f * late,
            descent.late_bias_dot_sum: b * late,
        }
    if "past_curvature_1" in draw:
        found |= {f_before: S * 0, f_after: curvature * moved**2 / 2 + f * moved}
    return found


def values_on_union(draw: Mapping[str, Any]) -> dict[sp.Expr, Any] | None:
    """Every quantity of rounds of (67)-(68); None without a step.

    The local steps track grad h~, h~ being the p-weighted mean of the clients' means over memory and current
    components, and the server adds one more step along grad h~. A kept component steeper than L is made up for by a
    past one that is not kept, so that Assumption 1 holds all the same.
    """
    steps, rounds = int(draw["E"]), int(draw["T"])
    one = draw["u"] * 0 + 1
    local = draw["u"] / steps
    if not local:
        return None
    shares = [draw["p_1"], 1 - draw["p_1"]] if draw["p_1"] not in (0, 1) else [one]
    clients = range(1, len(shares) + 1)
    kinds = [
        ((draw[f"memory_curvature_{i}"], draw[f"memory_slope_{i}"]), (draw[f"curvature_{i}"], draw[f"slope_{i}"]))
        for i in clients
    ]
    copies = [int(draw[f"copies_{i}"]) for i in clients]
    means = [
        [(first[j] + n * copy[j]) / (1 + n) for j in (0, 1)] for (first, copy), n in zip(kinds, copies, strict=True)
    ]
    curvature, slope = (sum(p * mean[j] for p, mean in zip(shares, means, strict=True)) for j in (0, 1))
    x, losses, slopes = one * 0, [], []
    for _ in range(rounds):
        losses.append(draw["loss"] + curvature * x**2 / 2 + slope * x)
        slopes.append(curvature * x + slope)
        total = slopes[-1]
        for i, p in enumerate(shares):
            here = [(a, a * x + b) for a, b in kinds[i]]
            push = slopes[-1] - (means[i][0] * x + means[i][1])
            path = walk(here[0], here[1], copies[i], int(draw[f"stride_{i + 1}"]), push, local, steps)
            total += p * sum(path.delayed)
        x -= local * total
    losses.append(draw["loss"] + curvature * x**2 / 2 + slope * x)
    return {
        L: one,
        E: steps,
        k: steps - 1,
        beta: local,
        L_memory: max(abs(one[0]) for pair in kinds for one in pair),
        surrogate.T: rounds,
        surrogate.h(0): losses[0],
        surrogate.h(surrogate.T): losses[-1],
        surrogate.h(surrogate.t): losses[0],
        surrogate.h(surrogate.t + 1): losses[1],
        surrogate.grad_h(surrogate.t): abs(slopes[0]),
        surrogate.least: min(v**2 for v in slopes),
    }


_ROUND = "a round of Algorithm 1 on the line, L = 1"
#: Rounds of which the quantities are known: words, what is drawn, how a draw is run.
RUNS: tuple[tuple[str, Mapping[str, Range], Callable[[Mapping[str, Any]], dict[sp.Expr, Any] | None]], ...] = (
    (_ROUND, CURRENT, values),
    (_ROUND, CURRENT | MEMORY, values),
    (_ROUND, CURRENT | MEMORY | BIAS, values),
    (_ROUND, CURRENT | MEMORY | BIAS | PAST, values),
    (_ROUND, CURRENT, with_recursions),
    ("rounds of (67)-(68) on the line, L = 1", UNION, values_on_union),
)
