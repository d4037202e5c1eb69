"""Algorithm 1 of the C-FLAG paper, written from its text alone, beside `simulate`: one random small configuration each.

Sec. 3, (4), (5), (6) and the analysis' round update; "printed" is line 12 with line 2 of Algorithm 3, the paper's
AdapLR. Data come from a counter: SHA-256 of (number, what, place).
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np

#: phi'(z).
SLOPES = {
    "cauchy": lambda z: z / (1 + z * z / 2),
    "quadratic": lambda z: z,
    "cosine": np.sin,
    "logistic": lambda z: -4 / (1 + np.exp(z)),
}
MOST = 1e-12


def fault(number: int) -> str | None:
    """How far `simulate` is from Algorithm 1 in a configuration, if that is too far."""
    from cflag_theory.kernels import everything, given, glm, simulate

    def uniform(what: str, *shape: int) -> Any:
        words = (hashlib.sha256(f"{number}/{what}/{i}".encode()).digest()[:7] for i in range(math.prod(shape)))
        return np.array([int.from_bytes(word, "big") / 2**56 for word in words]).reshape(shape)

    def below(most: int, what: str) -> int:
        return int(most * uniform(what, 1)[0])

    clients, d, E, T = (1 + below(most, what) for what, most in (("N", 4), ("d", 4), ("E", 5), ("T", 5)))
    name = list(SLOPES)[below(len(SLOPES), "phi")]
    row = ("c_flag", "c_flag_printed", "c_flag_adaptive_printed", "fedtrack", "fedavg", "local_gd")[below(6, "row")]
    p = uniform("p", clients) + 0.1
    p /= p.sum()
    counts = {task: [1 + below(4, f"{task}{i}") for i in range(clients)] for task in ("past", "current")}
    rows = {task: [4 * uniform(f"a{task}{i}", n, d) - 2 for i, n in enumerate(counts[task])] for task in counts}
    shifts = {task: [2 * uniform(f"b{task}{i}", n) - 1 for i, n in enumerate(counts[task])] for task in counts}
    start, alpha, beta = uniform("x", d) - 0.5, 0.1 * uniform("alpha", 1)[0] + 1e-3, 0.05 * uniform("beta", 1)[0] + 1e-3
    orders = np.array(
        [[[below(n, f"o{t},{i},{k}") for k in range(E)] for i, n in enumerate(counts["current"])] for t in range(T)]
    )
    firsts = np.cumsum([0, *counts["past"]])
    kept = [[j for j in range(n) if uniform(f"k{i}", n)[j] < 0.5] or [0] for i, n in enumerate(counts["past"])]
    some = below(2, "memory") == 1
    problem = glm(
        *(part for task in counts for part in _flat(rows[task], shifts[task], counts[task])),
        potential=name,
        p=p,
        start=start,
    )
    steps = row.startswith("c_flag")
    trace = simulate(
        problem,
        row,
        beta=beta,
        alpha=alpha if steps else 0,
        local_steps=E,
        rounds=T,
        memory=(given([firsts[i] + np.array(one) for i, one in enumerate(kept)]) if some else everything())
        if steps
        else None,
        engine="reference",
        orders=orders,
        iterates=True,
        throw=False,
    )
    slope = SLOPES[name]

    def gradient(task: str, i: int, x: Any, chosen: Any = slice(None)) -> Any:
        a, b = rows[task][i][chosen], shifts[task][i][chosen]
        return slope(a @ x - b) @ a / len(a)

    x, worst, lost = start, 0.0, False
    for t in range(T):
        g = [gradient("current", i, x) for i in range(clients)]
        memory = sum(p[i] * gradient("past", i, x, kept[i] if some else slice(None)) for i in range(clients))
        delta = np.zeros(d)
        for i in range(clients):
            y, table = x, [gradient("current", i, x, [j]) for j in range(counts["current"][i])]
            moved = np.zeros(d)
            for k in range(E):
                j = orders[t, i, k]
                if row == "local_gd":
                    estimate = gradient("current", i, y)
                elif row == "fedavg":
                    estimate = gradient("current", i, y, [j])
                else:
                    if k:
                        table[j] = gradient("current", i, y, [j])
                    estimate = np.mean(table, axis=0)
                moved = moved + estimate
                y = y - beta * (estimate if row in ("local_gd", "fedavg") else np.dot(p, g) - g[i] + estimate)
            if row == "c_flag_adaptive_printed":
                a = x - E * beta * (np.dot(p, g) - g[i]) - y
                inner = memory @ a
                # Line 8 divides by what subtraction has left of a.
                lost |= bool(a @ a < 1e-6 or memory @ memory < 1e-6)
                if inner > 0:
                    rates = (
                        alpha,
                        (1 - float(problem.L) * alpha) * inner / (float(problem.L) * clients * p[i] * (a @ a)),
                    )
                else:
                    rates = alpha * (1 - inner / (memory @ memory)), beta
                delta += p[i] * (rates[0] * memory + E * rates[1] * (np.dot(p, g) - g[i]) + rates[1] / beta * a)
            elif row == "c_flag_printed":
                delta += p[i] * (alpha * memory + y)
            else:
                delta += p[i] * (x - y) + (p[i] * alpha * memory if steps else 0)
        x = x - delta
        if lost or not np.max(np.abs(x)) < 1e6:
            break
        found = np.reshape(trace.iterates, (-1, T + 1, d))[0, t + 1]
        worst = max(worst, float(np.max(np.abs(found - x)) / max(1e-3, np.max(np.abs(x)))))
    told = f"{row}, {name}, N = {clients}, d = {d}, E = {E}, T = {T}"
    return f"{told}: the relative difference is {worst:.1e}" if not worst <= MOST else None


def _flat(rows: Any, shifts: Any, counts: Any) -> tuple[Any, Any, Any]:
    return np.concatenate(rows), np.concatenate(shifts), np.repeat(np.arange(len(counts)), counts)
