"""The sanity check before somebody trains: which step-size conditions hold, and what each unlocks."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from cflag_theory.claims.step_sizes import CONDITIONS
from cflag_theory.claims.symbols import E as E_symbol
from cflag_theory.claims.symbols import L as L_symbol
from cflag_theory.claims.symbols import alpha as alpha_symbol
from cflag_theory.claims.symbols import beta as beta_symbol
from cflag_theory.claims.symbols import m as m_symbol
from cflag_theory.errors import InvalidInput

# An equality in floats is met up to rounding of the few operations behind it.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class StepSize:
    """One condition at the given step sizes.

    Attributes
    ----------
    holds : bool
        Whether it is met.
    factor : float or None
        Left over right side: at most 1 where an inequality holds; None for the equation in both step sizes.
    """

    condition: str
    holds: bool
    factor: float | None
    where: str
    unlocks: str


@dataclass(frozen=True)
class StepSizes:
    """All conditions of the paper at one choice of step sizes."""

    L: float
    m: float
    E: int
    alpha: float
    beta: float
    T: int
    conditions: tuple[StepSize, ...]

    @property
    def c(self) -> float:
        """The c with beta = c / sqrt(T) that Lemma 4 and Theorem 5 speak of."""
        return self.beta * math.sqrt(self.T)

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        return {**asdict(self), "c": self.c}


def step_sizes(*, L: float, m: float, E: int, alpha: float, beta: float, T: int) -> StepSizes:
    """Check every step-size condition of the C-FLAG paper.

    Parameters
    ----------
    L : float
        Smoothness constant, positive.
    m : float
        Bias constant of (27), not negative.
    E, T : int
        Local steps and rounds, at least 1.
    alpha, beta : float
        Step sizes, positive.

    Raises
    ------
    InvalidInput
        A value outside its range; the message names it.
    """
    for name, value in (("L", L), ("alpha", alpha), ("beta", beta)):
        if not (math.isfinite(value) and value > 0):
            raise InvalidInput(f"{name} = {value} is not allowed: give a positive finite number")
    if not (math.isfinite(m) and m >= 0):
        raise InvalidInput(f"m = {m} is not allowed: give a finite number that is at least 0")
    for name, count in (("E", E), ("T", T)):
        if not (math.isfinite(count) and count >= 1 and int(count) == count):
            raise InvalidInput(f"{name} = {count} is not allowed: give an integer that is at least 1")
    values = {L_symbol: L, m_symbol: m, E_symbol: E, alpha_symbol: alpha, beta_symbol: beta}
    found = []
    for condition in CONDITIONS:
        left = float(condition.relation.left.subs(values))
        right = float(condition.relation.right.subs(values))
        if condition.relation.op == "==":
            holds = abs(left - right) <= _ROUNDING * max(1.0 if right == 0 else 0.0, abs(left), abs(right))
        else:
            holds = left < right if condition.relation.op == "<" else left <= right * (1 + _ROUNDING)
        factor = left / right if right else None
        found.append(StepSize(condition.name, holds, factor, condition.where, condition.unlocks))
    return StepSizes(L, m, int(E), alpha, beta, int(T), tuple(found))
