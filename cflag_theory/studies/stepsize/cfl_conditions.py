"""The step sizes of the CFL paper: which conditions hold, what each unlocks, and what is predicted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl import symbols as cfl
from cflag_theory.claims.cfl.step_sizes import CONDITIONS, OUR_CONDITIONS, ROOTS
from cflag_theory.claims.engine.notation import L as L_symbol
from cflag_theory.errors import InvalidInput
from cflag_theory.shown import Sheet, Shown
from cflag_theory.studies.stepsize.cfl_predicted import (
    BESIDE,
    RELATIONS,
    CFLBest,
    besides,
    cfl_best,
    cfl_theorems,
    known_values,
    predictions,
    round_weights,
    sums,
)
from cflag_theory.studies.stepsize.conditions import (
    StepSize,
    asked_of,
    check_conditions,
    conditions_sheet,
    not_as_printed,
)
from cflag_theory.studies.stepsize.evaluate import as_json, counts, not_negative, number, positive
from cflag_theory.studies.stepsize.predicted import Bound, Theorem
from cflag_theory.studies.stepsize.safe import Answer, cfl_answer, chosen


@dataclass(frozen=True, repr=False)
class CFLStepSizes(Shown):
    """Everything that the CFL paper and our theorems say at one choice of step sizes; what is not named here is as in
    `conditions.StepSizes`.

    `c_O` is 1 + A^2 + B^2, which bounds c_{p_B,i} for round weights in [0, 1]; `p_t` the weight of the current round: 1
    for FedAvg, Lemma B.4's where D and R are given; `s` is (sqrt(3 eta_g^2 + 4 c_O eta_g^4) - sqrt(4 c_O eta_g^4)) /
    sqrt(c_O), which the paper divides by 6L and 12L. `best` has the best step sizes for the target by each theorem that
    applies.
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
    epsilon: float | None
    answer: Answer
    numbers: Mapping[str, float]
    conditions: tuple[StepSize, ...]
    bounds: tuple[Bound, ...]
    best: tuple[CFLBest, ...]
    as_printed: Mapping[str, tuple[str, ...]]
    measured: tuple[str, ...] = ()

    @property
    def eta(self) -> float:
        """eta = K eta_l eta_g of App. B.4.1."""
        return self.K * self.eta_l * self.eta_g

    def values(self) -> dict[sp.Symbol, Any]:
        """Every symbol of the conditions but the two step sizes."""
        return _plane_values(self.L, self.mu, self.K, self.T, self.c_O, self.p_t)

    def sheet(self) -> Sheet:
        """Every condition with its answer; below, the bounds that follow."""
        numbers = {"eta_l": self.eta_l, "eta_g": self.eta_g, "L": self.L, "mu": self.mu, "K": self.K, "T": self.T}
        return conditions_sheet(self.conditions, self.bounds, numbers)

    def to_json(self) -> dict[str, Any]:
        """Plain values only; an infinite number becomes the string "inf", which JSON lacks."""
        found: dict[str, Any] = as_json({**asdict(self), "eta": self.eta})
        return found


def cfl_step_sizes(
    *,
    L: float,
    K: Any,
    eta_l: float | None = None,
    T: Any,
    eta_g: float = 1.0,
    mu: float = 0.0,
    A: float = 0.0,
    B: float = 0.0,
    D: float | None = None,
    R: float | None = None,
    N: int | None = None,
    G: float = 0.0,
    sigma: float = 0.0,
    distance: float | None = None,
    gap: float | None = None,
    epsilon: float | None = None,
    measured: Sequence[str] = (),
) -> CFLStepSizes:
    """Check every step-size condition of the CFL paper and of ours, and say what follows from them.

    Parameters
    ----------
    L, mu : float
        Smoothness, positive, and convexity, in [0, L].
    K, T : int
        Local steps and rounds, at least 1.
    eta_l, eta_g : float
        Local and global step size, positive. Without eta_l it is the largest one that is proved safe.
    A, B : float
        Relative time and client drift of Assumption 3, not negative.
    D, R : float, optional
        Time drift and information loss, not negative and not both 0, given together: the weights are then those of
        Lemma B.4 in round T. Without them the current round has all the weight, which is FedAvg, and there is no time
        drift in the bounds.
    N : int, optional
        Clients, of which all take part; the bounds need it.
    G, sigma : float
        Client drift and gradient noise of the bounds, not negative.
    distance, gap : float, optional
        ||w_0 - w*|| for the convex bounds and f(w_0) - inf f for the non-convex ones, not negative.
    epsilon : float, optional
        Target for the bounded quantities, positive: asks for the rounds to it and for the best step sizes.
    measured : sequence of str
        With "L" in it L was measured along a run: a lower bound, which can refute a condition and not show it.

    Raises
    ------
    InvalidInput
        A value outside its range; the message names it.
    """
    positive(L=L, eta_g=eta_g)
    if eta_l is not None:
        positive(eta_l=eta_l)
    not_negative(mu=mu, A=A, B=B, G=G, sigma=sigma)
    counts(K=K, T=T)
    if mu > L:
        raise InvalidInput(f"mu = {mu} is above L = {L}: an L-smooth function is at most L-convex")
    if (D is None) != (R is None):
        raise InvalidInput("only one of D and R is given: the weights of Lemma B.4 need both, FedAvg neither")
    if D is not None and R is not None:
        not_negative(D=D, R=R)
        if D == R == 0:
            raise InvalidInput("D = 0 and R = 0: Lemma B.4 gives no weights, make one of them positive")
    weights = round_weights(D or 0.0, R or 0.0)
    if N is not None:
        counts(N=N)
    for name, one in (("distance", distance), ("gap", gap)):
        if one is not None:
            not_negative(**{name: one})
    if epsilon is not None:
        positive(epsilon=epsilon)
    p_t = float(weights.current(int(T)))
    c_O = 1 + A * A + B * B
    if not math.isfinite(c_O):
        raise InvalidInput(f"A = {A} and B = {B} are not allowed: give numbers whose squares are finite")
    values = {**_plane_values(L, mu, int(K), int(T), c_O, p_t), cfl.eta_g: eta_g}
    numbers = {"N": N, "G": G, "D": D or 0.0, "R": R or 0.0, "sigma": sigma, "distance": distance, "gap": gap}
    given = {name: float(value) for name, value in numbers.items() if value is not None}
    plain = A == B == 0
    beside = besides(values, weights, plain)
    usable = [one for one in cfl_theorems() if all(beside.get(name, True) for name in one.conditions)]
    known = known_values(values, given) | sums(weights, int(T))
    answer = cfl_answer(values, RELATIONS, usable, eta_l, known)
    eta_l = chosen(answer, {"eta_l": eta_l})["eta_l"]
    values[cfl.eta_l] = eta_l
    rows = check_conditions(CONDITIONS + OUR_CONDITIONS, values, [L_symbol] if "L" in measured else [])
    holds = {row.condition: row.holds for row in rows}
    bounds = predictions(holds, values, given, weights, plain=plain, epsilon=epsilon)
    return CFLStepSizes(
        L=float(L),
        mu=float(mu),
        A=float(A),
        B=float(B),
        K=int(K),
        eta_l=float(eta_l),
        eta_g=float(eta_g),
        T=int(T),
        c_O=c_O,
        p_t=p_t,
        s=number(ROOTS, values),
        epsilon=epsilon,
        answer=answer,
        numbers=given,
        conditions=rows,
        bounds=bounds,
        best=()
        if epsilon is None
        else tuple(
            row for one in applicable(bounds) for row in cfl_best(one, known_values(values, given), weights, epsilon)
        ),
        measured=tuple(name for name in measured if name == "L"),
        as_printed=not_as_printed(asked_of(rows, bounds)),
    )


def _plane_values(L: float, mu: float, K: int, T: int, c_O: float, p_t: float) -> dict[sp.Symbol, Any]:
    return {L_symbol: L, cfl.mu: mu, cfl.K: K, cfl.T: T, cfl.c_O: c_O, cfl.p_t: p_t}


def applicable(bounds: tuple[Bound, ...]) -> tuple[Theorem, ...]:
    """The theorems that say something at some step sizes, by their bounds at the given ones."""
    return tuple(
        theorem
        for theorem, bound in zip(cfl_theorems(), bounds, strict=True)
        if not bound.needs and not set(bound.fails) & set(BESIDE)
    )
