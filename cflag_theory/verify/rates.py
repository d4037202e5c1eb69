"""The experiment that a convergence theorem deserves: min over t of the mean of ||grad f(x_t)||^2 against T.

Theorem 2 bounds the minimum over rounds of an expectation, so the mean over replicas is taken first and the minimum
after it; the mean of each replica's own minimum is reported beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from cflag_theory.claims.c_flag.descent import factor
from cflag_theory.claims.symbols import L as L_symbol
from cflag_theory.claims.symbols import alpha as alpha_symbol
from cflag_theory.claims.symbols import m as m_symbol
from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import Memory, Problem, Trace, algorithm, bias_bound, over_sqrt, simulate

HORIZONS = tuple(2**power for power in range(4, 13))
#: Bootstrap resamples of the replicas, and the level of bands and intervals.
RESAMPLES, LEVEL = 1000, 0.95
# Rounds of the run that measures m where the family does not know it.
_PILOT = 64


@dataclass(frozen=True)
class Rate:
    """A rate study: one entry of each sequence a horizon.

    Attributes
    ----------
    min_mean, band : (horizons,), (horizons, 2)
        min_t mean_replicas ||grad f(x_t)||^2 and its bootstrap band.
    mean_min : (horizons,)
        Mean over replicas of min_t ||grad f(x_t)||^2.
    theorem2 : (horizons,)
        2 L (1 + m) / T (F + sum_t Gamma(t)), means over replicas in place of expectations.
    slope, slope_interval : float, (float, float)
        Least-squares slope of log min_mean on log T from `fit_from` on, and its bootstrap interval.
    m, m_kind, m_met, r_met : float, str, float, float
        The m that sets alpha, how it is known, and the largest ratios along the runs.
    """

    title: str
    notes: tuple[str, ...]
    horizons: tuple[int, ...]
    min_mean: tuple[float, ...]
    band: tuple[tuple[float, float], ...]
    mean_min: tuple[float, ...]
    theorem2: tuple[float, ...]
    mean_gamma: tuple[float, ...]
    slope: float
    slope_interval: tuple[float, float]
    fit_from: int
    L: float
    m: float
    m_kind: str
    m_met: float
    r_met: float
    alpha: float
    c: float
    E: int
    clients: int
    dimension: int
    replicas: int
    seed: int

    def to_json(self) -> dict[str, Any]:
        """Plain values only; an infinite number becomes the string "inf", which JSON lacks."""
        return {key: "inf" if value == math.inf else value for key, value in asdict(self).items()}


def rate(
    problem: Problem,
    memory: Memory,
    *,
    horizons: Sequence[int] = HORIZONS,
    replicas: int = 32,
    local_steps: int = 10,
    c: float | None = None,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Rate:
    """Run C-FLAG with beta = c / sqrt(T) and alpha = 1 / (L (1 + m)) for every horizon.

    Parameters
    ----------
    problem, memory
        What is learned and remembered. m is the exact constant of the family where there is one; otherwise it is the
        largest ratio along a pilot run, and the study says so.
    horizons : sequence of int
        Values of T, increasing, at least two.
    replicas : int
        Independent runs, at least two.
    local_steps : int
        E.
    c : float, optional
        Default 1 / (3 L E), so that beta <= 1/(12 L E), the range of Corollary 14, for every T >= 16.
    progress : callable, optional
        Called with the number of rounds after each horizon.

    Raises
    ------
    InvalidInput
        Fewer than two replicas or horizons, horizons that do not increase, or a value that `simulate` refuses.
    Diverged
        If a run leaves the finite numbers.
    """
    horizons = increasing(horizons)
    if replicas < 2:
        raise InvalidInput(f"replicas = {replicas} leave nothing to resample: use at least 2")
    if local_steps < 1:
        raise InvalidInput(f"local_steps is {local_steps}: use an integer of at least 1")
    if seed < 0:
        raise InvalidInput(f"seed is {seed}: use an integer of at least 0")
    L = float(problem.constants["L"].value)
    m, m_kind = _bias_constant(problem, memory, L=L, local_steps=local_steps, seed=seed)
    alpha = 1 / (L * (1 + m))
    c = 1 / (3 * L * local_steps) if c is None else c
    lemma1_factor = float(factor().subs({L_symbol: L, m_symbol: m, alpha_symbol: alpha}))

    # The same resamples for every horizon: the slope's interval then keeps the pairing of replicas.
    resamples = np.random.default_rng(seed).multinomial(replicas, [1 / replicas] * replicas, size=RESAMPLES) / replicas
    min_mean, mean_min, theorem2, mean_gamma, boot = [], [], [], [], []
    m_met = r_met = 0.0
    for T in horizons:
        trace: Trace = simulate(
            problem,
            algorithm("c_flag"),
            alpha=alpha,
            beta=over_sqrt(c, T),
            local_steps=local_steps,
            rounds=T,
            memory=memory,
            replicas=replicas,
            seed=seed,
        )
        squares = trace.column("grad_f2")
        min_mean.append(float(squares.mean(axis=0).min()))
        mean_min.append(float(squares.min(axis=1).mean()))
        boot.append((resamples @ squares).min(axis=1))
        F = float((trace.column("f")[:, 0] - trace.at_end("f")).mean())
        Gamma = float(trace.column("Gamma").sum(axis=1).mean())
        theorem2.append(lemma1_factor / T * (F + Gamma))
        mean_gamma.append(Gamma / T)
        m_met, r_met = max(m_met, float(trace.m_met)), max(r_met, trace.r_met)
        if progress:
            progress(T)

    first = fit_start(horizons)
    tail = ((1 - LEVEL) / 2 * 100, (1 + LEVEL) / 2 * 100)
    slopes = fitted_slopes(horizons[first:], np.array(boot)[first:])
    return Rate(
        title=problem.name,
        notes=problem.notes,
        horizons=horizons,
        min_mean=tuple(min_mean),
        band=tuple(tuple(float(v) for v in np.percentile(values, tail)) for values in boot),  # type: ignore[misc]
        mean_min=tuple(mean_min),
        theorem2=tuple(theorem2),
        mean_gamma=tuple(mean_gamma),
        slope=float(fitted_slopes(horizons[first:], np.array(min_mean)[first:, None])[0]),
        slope_interval=(float(np.percentile(slopes, tail[0])), float(np.percentile(slopes, tail[1]))),
        fit_from=horizons[first],
        L=L,
        m=m,
        m_kind=m_kind,
        m_met=m_met,
        r_met=r_met,
        alpha=alpha,
        c=c,
        E=local_steps,
        clients=problem.clients,
        dimension=problem.dimension,
        replicas=replicas,
        seed=seed,
    )


def increasing(horizons: Sequence[int]) -> tuple[int, ...]:
    """The horizons of a study as integers.

    Raises
    ------
    InvalidInput
        Fewer than two, not whole, not increasing or below 1.
    """
    if any(int(T) != T for T in horizons):
        raise InvalidInput(f"horizons {list(horizons)} are not whole: give integers")
    whole = tuple(int(T) for T in horizons)
    if len(whole) < 2 or any(b <= a for a, b in pairwise(whole)) or whole[0] < 1:
        raise InvalidInput(
            f"horizons {list(horizons)} do not increase from 1 on: give at least two increasing integers"
        )
    return whole


def fit_start(horizons: Sequence[int]) -> int:
    """Where the fit begins: it takes the larger half of the horizons, and no fewer than two."""
    return min(len(horizons) // 2, len(horizons) - 2)


def fitted_slopes(horizons: Sequence[int], values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Least-squares slopes of log values on log T, one a column; values (horizons, columns)."""
    t = np.log(horizons)
    t = t - t.mean()
    slopes: np.ndarray[Any, Any] = t @ np.log(values) / (t @ t)
    return slopes


def _bias_constant(problem: Problem, memory: Memory, *, L: float, local_steps: int, seed: int) -> tuple[float, str]:
    """m of (27): exact or bounded where the family knows it, else measured along a pilot run at m = 0."""
    known = bias_bound(problem, memory)
    if known.value is not None and math.isfinite(known.value):
        return float(known.value), f"{known.kind}: {known.why}"
    pilot = simulate(
        problem,
        algorithm("c_flag"),
        alpha=1 / (2 * L),
        beta=over_sqrt(1 / (3 * L * local_steps), _PILOT),
        local_steps=local_steps,
        rounds=_PILOT,
        memory=memory,
        replicas=8,
        seed=seed,
    )
    return float(pilot.m_met), f"measured: the largest ratio of {8 * _PILOT} rounds of a pilot run"
