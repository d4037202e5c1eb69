"""The sanity check before somebody trains: which step-size conditions hold, and what each unlocks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl import symbols as cfl
from cflag_theory.claims.cfl.step_sizes import CONDITIONS as CFL_CONDITIONS
from cflag_theory.claims.cfl.step_sizes import ROOTS
from cflag_theory.claims.step_sizes import CONDITIONS, Condition
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
        Left over right side: at most 1 where an inequality holds; None where the right side is 0.
    """

    condition: str
    holds: bool
    factor: float | None
    where: str
    unlocks: str


@dataclass(frozen=True)
class StepSizes:
    """All conditions of the C-FLAG paper at one choice of step sizes."""

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
    _positive(L=L, alpha=alpha, beta=beta)
    _not_negative(m=m)
    _counts(E=E, T=T)
    values = {L_symbol: L, m_symbol: m, E_symbol: E, alpha_symbol: alpha, beta_symbol: beta}
    return StepSizes(L, m, int(E), alpha, beta, int(T), _evaluate(CONDITIONS, values))


@dataclass(frozen=True)
class CFLStepSizes:
    """All conditions of the CFL paper at one choice of step sizes.

    Attributes
    ----------
    c_O : float
        1 + A^2 + B^2, which bounds c_{p_B,i} for round weights in [0, 1].
    p_t : float
        Weight of the current round: 1 for FedAvg, Lemma B.4's where D and R are given.
    s : float
        (sqrt(3 eta_g^2 + 4 c_O eta_g^4) - sqrt(4 c_O eta_g^4)) / sqrt(c_O), which the paper divides by 6L and 12L.
    """

    L: float
    mu: float
    A: float
    B: float
    K: int
    eta_l: float
    eta_g: float
    T: int
    c_O: float
    p_t: float
    s: float
    conditions: tuple[StepSize, ...]

    @property
    def eta(self) -> float:
        """eta = K eta_l eta_g of App. B.4.1."""
        return self.K * self.eta_l * self.eta_g

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        return {**asdict(self), "eta": self.eta}


def cfl_step_sizes(
    *,
    L: float,
    K: int,
    eta_l: float,
    T: int,
    eta_g: float = 1.0,
    mu: float = 0.0,
    A: float = 0.0,
    B: float = 0.0,
    D: float | None = None,
    R: float | None = None,
) -> CFLStepSizes:
    """Check every step-size condition of the CFL paper.

    Parameters
    ----------
    L, mu : float
        Smoothness, positive, and convexity, in [0, L].
    K, T : int
        Local steps and rounds, at least 1.
    eta_l, eta_g : float
        Local and global step size, positive.
    A, B : float
        Relative time and client drift of Assumption 3, not negative.
    D, R : float, optional
        Time drift and information loss, not negative and not both 0, given together: the weights are then those of
        Lemma B.4 in round T. Without them the current round has all the weight, which is FedAvg.

    Raises
    ------
    InvalidInput
        A value outside its range; the message names it.
    """
    _positive(L=L, eta_l=eta_l, eta_g=eta_g)
    _not_negative(mu=mu, A=A, B=B)
    _counts(K=K, T=T)
    if mu > L:
        raise InvalidInput(f"mu = {mu} is above L = {L}: an L-smooth function is at most L-convex")
    if (D is None) != (R is None):
        raise InvalidInput("only one of D and R is given: the weights of Lemma B.4 need both, FedAvg neither")
    p_t = 1.0
    if D is not None and R is not None:
        _not_negative(D=D, R=R)
        if D == R == 0:
            raise InvalidInput("D = 0 and R = 0: Lemma B.4 gives no weights, make one of them positive")
        p_t = ((T - 1) * R * R + D * D) / (T * D * D + (T - 1) * R * R) if T > 1 else 1.0
    c_O = 1 + A * A + B * B
    values = {
        L_symbol: L,
        cfl.mu: mu,
        cfl.K: K,
        cfl.T: T,
        cfl.eta_l: eta_l,
        cfl.eta_g: eta_g,
        cfl.c_O: c_O,
        cfl.p_t: p_t,
    }
    conditions = _evaluate(CFL_CONDITIONS, values)
    s = float(ROOTS.subs(values))
    return CFLStepSizes(L, mu, A, B, int(K), eta_l, eta_g, int(T), c_O, p_t, s, conditions)


def _positive(**values: float) -> None:
    for name, value in values.items():
        if not (math.isfinite(value) and value > 0):
            raise InvalidInput(f"{name} = {value} is not allowed: give a positive finite number")


def _not_negative(**values: float) -> None:
    for name, value in values.items():
        if not (math.isfinite(value) and value >= 0):
            raise InvalidInput(f"{name} = {value} is not allowed: give a finite number that is at least 0")


def _counts(**values: float) -> None:
    for name, value in values.items():
        if not (math.isfinite(value) and value >= 1 and int(value) == value):
            raise InvalidInput(f"{name} = {value} is not allowed: give an integer that is at least 1")


def _evaluate(conditions: Sequence[Condition], values: Mapping[sp.Symbol, float]) -> tuple[StepSize, ...]:
    found = []
    for condition in conditions:
        left = float(condition.relation.left.subs(values))
        right = float(condition.relation.right.subs(values))
        if condition.relation.op == "==":
            holds = abs(left - right) <= _ROUNDING * max(1.0 if right == 0 else 0.0, abs(left), abs(right))
        else:
            holds = left < right if condition.relation.op == "<" else left <= right * (1 + _ROUNDING)
        factor = left / right if right else None
        found.append(StepSize(condition.name, holds, factor, condition.where, condition.unlocks))
    return tuple(found)
