"""What a rate study is run with, as its bounds need to know it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cflag_theory.kernels import Memory, Problem
from cflag_theory.kernels.memory.memory import ALL, BALANCED, GIVEN, ROTATION, SIGN_BIAS, SUBSET

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
