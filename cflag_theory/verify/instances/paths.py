"""One round of Algorithm 1: every local point of every client, and what the lemmas say about it.

The traces of the kernels keep the largest drift and error of a round. The recursions of the supplement speak of each
local step, so their checks observe the local steps of the reference loop, on floats or fractions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cflag_theory.kernels.algorithms import DELAYED
from cflag_theory.kernels.numbers import Array, Ints
from cflag_theory.kernels.problems.objective import client_gradient, gradients
from cflag_theory.kernels.problems.problem import Problem
from cflag_theory.kernels.reference import estimator, local_steps


@dataclass(frozen=True)
class Path:
    """What one client does in a round of E local steps: x_{t,0}, ..., x_{t,E}, and what it computes at each step.

    That is the delayed gradient and grad g_i there; `filled` has for every component the step tau of the table's entry.
    """

    points: Array
    delayed: Array
    full: Array
    filled: Ints

    @property
    def drift(self) -> list[Any]:
        """||x_{t,k} - x_t|| for k = 0, ..., E."""
        return [norm(point - self.points[0]) for point in self.points]

    @property
    def error(self) -> list[Any]:
        """||e_{t,k}|| for k = 0, ..., E - 1."""
        return [norm(v) for v in self.delayed - self.full]

    @property
    def table_mean(self) -> list[Any]:
        """The mean over components of ||x_{t,tau} - x_t||, for k = 0, ..., E - 1."""
        drift = self.drift
        return [sum(drift[tau] for tau in row) / len(row) for row in self.filled.tolist()]

    @property
    def gap_mean(self) -> list[Any]:
        """The mean over components of ||x_{t,tau} - x_{t,k}||, for k = 0, ..., E - 1."""
        return [
            sum(norm(self.points[tau] - self.points[k]) for tau in row) / len(row)
            for k, row in enumerate(self.filled.tolist())
        ]


@dataclass(frozen=True)
class Round:
    """One round at `problem.start`: its clients' paths and the vectors that the forgetting term is made of.

    `rho_sum` is sum_k rho-bar of Lemma 15, `error_sum` sum_k e-bar of Lemma 16; together they are S.
    """

    paths: tuple[Path, ...]
    grad_g: Array
    grad_f_memory: Array
    rho_sum: Array
    error_sum: Array


def norm(vector: Array) -> Any:
    """The Euclidean norm; of fractions only on the line, where it is rational."""
    if vector.dtype == object:
        (value,) = vector
        return abs(value)
    return float(np.linalg.norm(vector))


def walk(problem: Problem, *, beta: Any, orders: Ints) -> Round:
    """A round from `problem.start`, with all past data as memory."""
    x = problem.start
    clients = gradients(problem.potential, problem.current, x)
    grad_g = problem.p @ clients
    paths = tuple(_path(problem, i, grad_g - clients[i], beta, orders[i].tolist()) for i in range(problem.clients))
    weighted = list(zip(problem.p, paths, strict=True))
    return Round(
        paths,
        grad_g,
        problem.p @ gradients(problem.potential, problem.past, x),
        x * 0 + sum(p * path.full.sum(axis=0) for p, path in weighted),
        x * 0 + sum(p * (path.delayed - path.full).sum(axis=0) for p, path in weighted),
    )


def _path(problem: Problem, client: int, correction: Array, beta: Any, order: list[int]) -> Path:
    kind, part, x = problem.potential, problem.current, problem.start
    estimate = estimator(problem, DELAYED, client, x, client_gradient(kind, part, client, x), order.__getitem__)
    steps = list(local_steps(x, correction, estimate, None, beta, len(order)))
    filled = np.zeros((len(order), int(part.counts[client])), dtype=np.int64)
    for k, chosen in enumerate(order[1:], start=1):
        filled[k] = filled[k - 1]
        filled[k, chosen] = k
    return Path(
        np.array([x, *(step.following for step in steps)]),
        np.array([step.estimate for step in steps]),
        np.array([client_gradient(kind, part, client, step.x) for step in steps]),
        filled,
    )
