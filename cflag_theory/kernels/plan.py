"""What the engines read and what they fill: one checked `Plan` in, one set of `Outputs` back."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .algorithms import Algorithm
from .framework import Framework
from .memory import Memory
from .problem import Array, Ints, Problem
from .trace import ROUND, STATE

#: How much is measured: nothing but the end, what costs next to nothing, or also full gradients at local steps.
DIAGNOSTICS = ("none", "cheap", "all")
#: A run whose ||x||^2 exceeds this has diverged; far enough below the largest float for squares of gradients.
LIMIT = 1e200


@dataclass(frozen=True, eq=False)
class Plan:
    """A run whose arguments have been checked; all numbers are floats, or all are `Fraction`.

    alpha is 0 for rows without a memory step. `memory_share` is |M| / (|M| + |C|), the weight of f_memory in h~.
    `framework` is None for plain runs: fixed local data, all clients, nothing remembered.
    """

    problem: Problem
    row: Algorithm
    memory: Memory | None
    alpha: Any
    beta: Any
    proximal: Any
    server_rate: Any
    scale: Any
    L: Any
    memory_share: Any
    local_steps: int
    rounds: int
    replicas: int
    seed: int
    diagnostics: int
    framework: Framework | None = None


@dataclass(frozen=True, eq=False)
class Outputs:
    """Arrays that an engine fills; slots are in the order of `STATE` and `ROUND`.

    Attributes
    ----------
    state : (replicas, rounds + 1, 8), or (replicas, 1, 8) where only the end is measured
    per_round : (replicas, rounds, 8)
    Lambda : (replicas, rounds, N)
    iterates : (replicas, rounds + 1, d) or (replicas, 0, d)
    status, rounds_done : (replicas,)
        -1 rounds done: the objective is not finite at x_0.
    """

    state: Array
    per_round: Array
    Lambda: Array
    iterates: Array
    status: Ints
    rounds_done: Ints


def empty_outputs(plan: Plan, *, iterates: bool) -> Outputs:
    """Zeros of the plan's number type in the shapes of `Outputs`."""
    replicas, rounds, problem = plan.replicas, plan.rounds, plan.problem
    kept = rounds if plan.diagnostics > 0 else 0

    def zeros(*shape: int) -> Array:
        return np.full(shape, Fraction(0), dtype=object) if problem.exact else np.zeros(shape)

    return Outputs(
        state=zeros(replicas, kept + 1, len(STATE)),
        per_round=zeros(replicas, kept, len(ROUND)),
        Lambda=zeros(replicas, kept, problem.clients),
        iterates=zeros(replicas, rounds + 1 if iterates else 0, problem.dimension),
        status=np.zeros(replicas, dtype=np.int64),
        rounds_done=np.zeros(replicas, dtype=np.int64),
    )
