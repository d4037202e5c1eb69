"""What a rate study is run with, as its bounds need to know it, and how low f can get."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cflag_theory.kernels import Memory, Problem
from cflag_theory.kernels.formulas import QUADRATIC
from cflag_theory.kernels.memory.memory import ALL, BALANCED, GIVEN, ROTATION, SIGN_BIAS, SUBSET
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.own.potentials import OWN
from cflag_theory.kernels.problems.problem import Components

#: Step sizes that a claim fixes are met up to rounding of the few operations behind them.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Setting:
    """What the bounds need to know about a study besides its horizons."""

    #: Of f, g and h, and of every component.
    L: float
    L_component: float
    #: The constant of (27), and why it may be too small; empty where it is known.
    m: float
    m_doubt: str
    alpha: float
    E: int
    c: float
    #: a of beta = c / T^a.
    power: float
    memory: Memory
    #: |M| / (|M| + |C|).
    share: float
    #: f(x_0) - inf f, or more; None where no lower bound of f is known.
    f_drop: float | None

    @property
    def smoothness(self) -> float:
        """The L with which bounds are evaluated."""
        return max(self.L, self.L_component)

    @property
    def smoothness_with_memory(self) -> float:
        """The L of claims that take f_memory to be smooth as well."""
        # f_memory is (1 +- scale) f there, not a mean of components.
        of_memory = (1 + self.memory.scale) * self.L if self.memory.kind == SIGN_BIAS else 0.0
        return max(self.smoothness, of_memory)

    @property
    def short(self) -> bool:
        """alpha <= 1/L."""
        return self.alpha * self.L <= 1 + ROUNDING

    @property
    def fresh(self) -> bool:
        """Whether every round's memory is independent of the past and unbiased, so that 𝔼 B(t) = 0."""
        return self.memory.kind == ALL or (self.memory.redraw and self.memory.kind in (SUBSET, SIGN_BIAS))


def lowest(problem: Problem) -> float | None:
    """A number that f is never below: 0 where all weights are non-negative, the minimum of a convex quadratic.

    Of a user's own functions it is what the user stated, if anything.
    """
    past = problem.past
    if problem.own:
        return float(problem.constants["lower"].value) if "lower" in problem.constants else None
    if problem.potential in OWN:
        lower, share = OWN[problem.potential].lower, problem.p / past.counts
        if lower is None or len(past.offsets) or (past.weights < 0).any():
            return None
        ends = past.row_start[past.client_start].tolist()
        return float(lower) * float(share @ np.array([past.weights[a:b].sum() for a, b in pairwise(ends)]))
    if not len(past.offsets) and not (past.weights < 0).any():
        return 0.0
    return _least_of_quadratic(problem) if problem.potential == QUADRATIC else None


def _least_of_quadratic(problem: Problem) -> float | None:
    matrix, vector, constant = _quadratic_form(problem.past, problem.p.astype(np.float64), problem.dimension)
    values, directions = np.linalg.eigh(matrix)
    along = directions.T @ vector
    scale = max(abs(values).max(), 1e-300)
    flat = values <= 1e-12 * scale
    if (values < -1e-12 * scale).any() or (abs(along[flat]) > 1e-12 * max(abs(vector).max(), 1e-300)).any():
        return None
    return float(constant - 0.5 * (along[~flat] ** 2 / values[~flat]).sum())


def _quadratic_form(part: Components, p: Array, d: int) -> tuple[Array, Array, float]:
    """f(x) = x^T A x / 2 + b.x + c."""
    A, b, c = np.zeros((d, d)), np.zeros(d), 0.0
    for i, count in enumerate(part.counts.tolist()):
        first, stop = part.client_start[i : i + 2]
        span = slice(part.row_start[first], part.row_start[stop])
        rows, shifts, weights = part.rows[span], part.shifts[span], part.weights[span] * (p[i] / count)
        A += (rows.T * weights) @ rows
        b -= rows.T @ (weights * shifts)
        c += float((weights * shifts**2).sum()) / 2
        if len(part.offsets):
            b += p[i] / count * part.offsets[first:stop].sum(axis=0)
    return A, b, c


def memory_share(problem: Problem, memory: Memory) -> float:
    """|M| / (|M| + |C|), the weight of f_memory in h~."""
    past, current = problem.past.counts, problem.current.counts
    kept = np.minimum(past, memory.size) if memory.kind in (SUBSET, BALANCED) else past
    if memory.kind == GIVEN:
        kept = np.array([len(indices) for indices in memory.kept])
    return float(kept.sum() / (kept.sum() + current.sum()))


def described(memory: Memory) -> str:
    """A memory in a few words."""
    when = "drawn anew every round" if memory.redraw else "drawn once"
    return {
        ALL: "all past components",
        SUBSET: f"{memory.size} components a client, {when}",
        BALANCED: f"{memory.size} components a client, class-balanced, {when}",
        SIGN_BIAS: f"b = +-sqrt(m) grad f, sign {when}",
        ROTATION: "b = sqrt(m) R grad f, one rotation R",
        GIVEN: "given components",
    }[memory.kind]
