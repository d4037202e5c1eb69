"""Rounds of (67)-(68) on the line as a family of instances: memory and current data of up to two clients.

The local steps track grad h~, h~ being the p-weighted mean of the clients' means over memory and current components,
and the server adds one more step along grad h~. L = 1 and x_0 = 0 by the choice of units and origin. A kept component
steeper than L is made up for by a past one that is not kept, so that Assumption 1 holds all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.iterates import L_memory
from cflag_theory.claims.c_flag.union import surrogate
from cflag_theory.claims.engine.notation import E, L, beta, k
from cflag_theory.falsify.ledger.numbers import Span
from cflag_theory.falsify.ledger.rounds import walk

_UNIT, _SLOPE = Span(Fraction(-1), Fraction(1)), Span(Fraction(-2), Fraction(2))
#: `u` is beta L E, `loss` is h~(x_0); a client's memory holds one component, its current data copies of another.
UNION: dict[str, Span] = {
    "p_1": Span(Fraction(0), Fraction(1)),
    "E": Span(Fraction(1), Fraction(128), "integer"),
    "T": Span(Fraction(1), Fraction(3), "integer"),
    "u": Span(Fraction(1, 1024), Fraction(1024), "log"),
    "loss": _SLOPE,
    **{
        f"{name}_{i}": span
        for i in (1, 2)
        for name, span in (
            ("memory_curvature", Span(Fraction(-128), Fraction(128))),
            ("memory_slope", _SLOPE),
            ("curvature", _UNIT),
            ("slope", _SLOPE),
            ("copies", Span(Fraction(1), Fraction(128), "integer")),
            ("stride", Span(Fraction(0), Fraction(3), "integer")),
        )
    },
}


def values(draw: Mapping[str, Any]) -> dict[sp.Expr, Any] | None:
    """Every quantity of the run; None without a step."""
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
