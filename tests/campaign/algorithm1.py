"""Algorithm 1 of the C-FLAG paper, written from its text alone, beside `simulate`: one random small configuration each.

Sec. 3, (4), (5), (6) and the analysis' round update; "printed" is line 12 with line 2 of Algorithm 3, the paper's
AdapLR. Data come from a counter: SHA-256 of (number, what, place).
"""

from __future__ import annotations

import functools
import hashlib
import math
import operator
from typing import Any

import numpy as np

#: phi'(z); |phi''| <= 1 of all four.
SLOPES = {
    "cauchy": lambda z: z / (1 + z * z / 2),
    "quadratic": lambda z: z,
    "cosine": np.sin,
    "logistic": lambda z: -4 / (1 + np.exp(np.minimum(z, 700.0))),
}
#: What one rounding moves a number of size 1 by, at most.
EPS = float(np.finfo(float).eps) / 2


class Rounded:
    """Values, and how far rounding may have moved them, to first order.

    Sums are taken in any order (Higham, Accuracy and Stability, Sec. 3.1).
    """

    __array_ufunc__ = None

    def __init__(self, value: Any, error: Any = 0.0, roundings: int = 1) -> None:
        self.value = np.asarray(value, dtype=float)
        self.error = error + roundings * EPS * np.abs(self.value)

    def __add__(self, other: Any) -> Rounded:
        other = _rounded(other)
        return Rounded(self.value + other.value, self.error + other.error)

    def __neg__(self) -> Rounded:
        return Rounded(-self.value, self.error)

    def __sub__(self, other: Any) -> Rounded:
        return self + -_rounded(other)

    def __rsub__(self, other: Any) -> Rounded:
        return -self + other

    def __mul__(self, other: Any) -> Rounded:
        other = _rounded(other)
        return Rounded(self.value * other.value, np.abs(self.value) * other.error + self.error * np.abs(other.value))

    def __truediv__(self, other: Any) -> Rounded:
        other = _rounded(other)
        ratio = self.value / other.value
        return Rounded(ratio, (self.error + np.abs(ratio) * other.error) / np.abs(other.value))

    def __matmul__(self, other: Any) -> Rounded:
        other = _rounded(other)
        sizes, others = np.abs(self.value), np.abs(other.value)
        moved = sizes @ other.error + self.error @ others + len(others) * EPS * (sizes @ others)
        return Rounded(self.value @ other.value, moved)

    __radd__, __rmul__ = __add__, __mul__

    def __getitem__(self, place: Any) -> Rounded:
        return Rounded(self.value[place], self.error[place], 0)


def _rounded(one: Any) -> Rounded:
    return one if isinstance(one, Rounded) else Rounded(one)


def fault(number: int) -> str | None:
    """How far `simulate` is from Algorithm 1 in a configuration, if that is further than rounding explains."""
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
        z = Rounded(a) @ x - b
        return Rounded(slope(z.value), z.error, 4) @ a / len(a)

    iterates = np.reshape(trace.iterates, (-1, T + 1, d))[0]
    worst = 0.0 if np.array_equal(iterates[0], start) else math.inf
    for t in range(T):
        # Each round from where `simulate` stands, exactly: what earlier rounds have rounded hides nothing.
        x = Rounded(iterates[t], 0, 0)
        g = [gradient("current", i, x) for i in range(clients)]
        memory = _sum(gradient("past", i, x, kept[i] if some else slice(None)) * p[i] for i in range(clients))
        whole, delta = _sum(g[i] * p[i] for i in range(clients)), Rounded(np.zeros(d))
        for i in range(clients):
            y, table = x, [gradient("current", i, x, [j]) for j in range(counts["current"][i])]
            for k in range(E):
                j = orders[t, i, k]
                if row == "local_gd":
                    estimate = gradient("current", i, y)
                elif row == "fedavg":
                    estimate = gradient("current", i, y, [j])
                else:
                    if k:
                        table[j] = gradient("current", i, y, [j])
                    estimate = _sum(table) / len(table)
                y = y - (estimate if row in ("local_gd", "fedavg") else whole - g[i] + estimate) * beta
            if row == "c_flag_adaptive_printed":
                # Line 8 divides by what subtraction has left of a.
                a = x - (whole - g[i]) * (E * beta) - y
                inner, square = memory @ a, memory @ memory
                L = float(problem.L)
                if abs(inner.value) <= inner.error or square.value <= 2 * square.error:
                    # Rounding decides on which side of line 7 the round is.
                    break
                if inner.value > 0:
                    rates = Rounded(alpha), inner * (1 - L * alpha) / (a @ a * (L * clients * p[i]))
                else:
                    rates = (1 - inner / square) * alpha, Rounded(beta)
                delta += (rates[0] * memory + rates[1] * (whole - g[i]) * E + rates[1] / beta * a) * p[i]
            elif row == "c_flag_printed":
                delta += (memory * alpha + y) * p[i]
            else:
                delta += (x - y + memory * (alpha if steps else 0)) * p[i]
        else:
            after = x - delta
            if not np.max(np.abs(after.value)) < 1e6:
                break
            # Both sides round.
            worst = float(np.max([worst, *np.abs(iterates[t + 1] - after.value) / (2 * after.error)]))
    told = f"{row}, {name}, N = {clients}, d = {d}, E = {E}, T = {T}"
    return f"{told}: the difference is {worst:.2g} times what rounding explains" if not worst <= 1 else None


def _sum(parts: Any) -> Any:
    return functools.reduce(operator.add, parts)


def _flat(rows: Any, shifts: Any, counts: Any) -> tuple[Any, Any, Any]:
    return np.concatenate(rows), np.concatenate(shifts), np.repeat(np.arange(len(counts)), counts)
