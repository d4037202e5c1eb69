"""Rate studies: squared gradients of f, g and h~ against the number of rounds T.

For every T it is a run of its own, as the theorems have it, whose beta = c / T^a may depend on T. `rates.statistics`
says what is kept of the runs and how a slope is fitted, `rates.bounds` which bounds are put beside them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import numpy as np

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import Algorithm, Memory, Problem, Trace, algorithm, bias_bound, over_sqrt, simulate
from cflag_theory.kernels.algorithms import row_as_dict
from cflag_theory.kernels.memory.memory import ROTATION
from cflag_theory.kernels.plan import MOST_STEPS
from cflag_theory.kernels.problems.problem import MEASURED
from cflag_theory.kernels.simulation import digest
from cflag_theory.public import Count, NotNegative, Positive, Several, Whole, taking, within
from cflag_theory.sizes import require_room
from cflag_theory.studies.rates.bounds import ROUNDING, Bound, Setting, bounds, described, memory_share
from cflag_theory.studies.rates.results import ClosedForm, Curve, Rate
from cflag_theory.studies.rates.statistics import (
    COLUMNS,
    LEVEL,
    QUANTITIES,
    RESAMPLES,
    Fit,
    Horizon,
    fit,
    fitted_slopes,
    interval,
    read,
    resampling,
)
from cflag_theory.studies.rates.statistics import ROUNDING as SMALLEST
from cflag_theory.studies.rates.store import Store

__all__ = [
    "HORIZONS",
    "LEVEL",
    "RESAMPLES",
    "ClosedForm",
    "Curve",
    "Rate",
    "fit_start",
    "fitted_slopes",
    "increasing",
    "rate",
]

HORIZONS = tuple(2**power for power in range(4, 13))
# Rounds times replicas of runs that are held at once.
_TOGETHER = 1 << 19
# Rounds of the run that measures m where the family does not know it.
_PILOT = 64


@taking
def rate(
    problem: Problem,
    memory: Memory,
    *,
    horizons: Sequence[int] = HORIZONS,
    replicas: Several = 32,
    local_steps: Count = 10,
    c: float | None = None,
    power: Annotated[float, within(0, 100)] = 0.5,
    alpha_factor: Positive = 1.0,
    m: NotNegative | None = None,
    row: Algorithm | None = None,
    seed: Whole = 0,
    mode: str = "bitwise",
    store: Path | None = None,
    progress: Callable[[int], None] | None = None,
) -> Rate:
    """Run C-FLAG, or `row`, with beta = c / T^power and alpha = alpha_factor / (L (1 + m)) for every horizon.

    Parameters
    ----------
    problem, memory
        What is learned and remembered. m is the exact constant of the family where there is one; otherwise it is the
        largest ratio along a pilot run, and the study says so.
    horizons : sequence of int
        Values of T, increasing, at least two. With power = 0 they are prefixes of one run.
    replicas : int
        Independent runs, at least two.
    local_steps : int
        E.
    c : float, optional
        Default 16^power / (12 L E), so that beta is in the range of Corollary 14, at most 1/(12 L E), for every
        T >= 16; for power = 0 that of Lemma 18, 1/(60 L E).
    power : float
        a of beta = c / T^a, from 0 (constant) on; 1/2 in Lemma 4 and Theorem 5.
    alpha_factor : float
        1 in Theorems 2 and 5; Lemma 1 allows alpha below factor 2.
    m : float, optional
        The constant of (27), where it is known from elsewhere; if the runs have a larger one, no bound that needs it
        counts as proved.
    row : Algorithm, optional
        Another algorithm than C-FLAG. The bounds are those of C-FLAG, and are left out. Without a memory step alpha is
        0, and g is followed, as the past task is not seen.
    mode : {"bitwise", "fast"}
        As `simulate` takes it: "fast" agrees with the other up to rounding.
    store : path, optional
        A file of JSON lines that receives every finished horizon, whole or not at all, in a folder of its own. Horizons
        of a study with the same settings, from the same code and libraries, that it already holds are not run again.
    progress : callable, optional
        Called with the number of rounds after each horizon.

    Raises
    ------
    InvalidInput
        Fewer than two replicas or horizons, horizons that do not increase, or a value that `simulate` refuses.
    Diverged
        If a run leaves the finite numbers in its first round. Later, the horizon is reported with what was measured
        before, and is left out of bounds.
    OutputError
        If `store` cannot be written or is damaged, or another study is writing to its folder.
    """
    horizons = increasing(horizons)
    _require_fit(horizons[-1], replicas)
    L = float(problem.constants["L"].value)
    given = m is not None
    if m is not None:
        m_kind, doubt = "given", ""
    else:
        m, m_kind, doubt = _bias_constant(problem, memory, L=L, local_steps=local_steps, seed=seed)
    others = row is not None and row != algorithm("c_flag")
    row = row or algorithm("c_flag")
    alpha = float(alpha_factor / (L * (1 + m))) if row.memory else 0.0
    c, power = None if c is None else float(c), float(power)
    if c is None:
        c = 16**power / (12 * L * local_steps) if power else 1 / (60 * L * local_steps)
    start = problem.lower.value
    share = memory_share(problem, memory)
    settings = {
        "problem": digest(problem),
        "memory": repr(memory),
        "alpha": alpha,
        "c": c,
        "power": power,
        "E": local_steps,
        "replicas": replicas,
        "seed": seed,
        "mode": mode,
        "potential": problem.potential_name,
        **({"row": row_as_dict(row)} if others else {}),
    }

    def run(rounds: int, wanted: Sequence[int]) -> list[Horizon]:
        beta = over_sqrt(c, rounds) if power == 1 / 2 else c / rounds**power
        traces = _traces(problem, memory, row, alpha, beta, local_steps, rounds, replicas, seed, mode)
        return read(traces, wanted, beta=beta, weights=resampling(replicas, seed), share=share)

    with Store(store, settings) as kept:
        missing = [T for T in horizons if T not in kept.found]
        # With a constant beta a shorter run is the beginning of a longer one, draw for draw.
        jobs = [(missing[-1], missing)] if power == 0 and missing else [(T, [T]) for T in missing]
        for T in horizons:
            for rounds, wanted in jobs:
                if wanted[0] == T:
                    kept.add(run(rounds, wanted))
            if progress:
                progress(T)
        found = [kept.found[T] for T in horizons]
    if given:
        doubt = _refuted(m, found)

    setting = Setting(
        L=L,
        L_component=float(problem.constants["L_component"].value),
        m=m,
        m_doubt=doubt,
        alpha=alpha,
        E=local_steps,
        c=c,
        power=power,
        memory=memory,
        share=share,
        f_drop=None if start is None else found[0].f_0 - float(start),
    )
    curves = {key: _curve(key, found) for key in QUANTITIES if key in found[0].squares}
    # Without a memory step an algorithm never sees the past task.
    objective = "f" if row.memory else "g"
    of_own = curves[objective]
    lead = 1 / (alpha * (1 - alpha_factor / 2)) if alpha_factor < 2 and not others else None
    return Rate(
        title=f"{problem.name}, {row.name}" if others else problem.name,
        notes=problem.notes,
        horizons=horizons,
        min_mean=of_own.min_mean,
        band=of_own.band,
        mean_min=of_own.mean_min,
        theorem2=tuple(
            None if lead is None or one.diverged else lead / one.T * (one.drops["f"] + one.Gamma) for one in found
        ),
        mean_gamma=tuple(one.Gamma / one.T for one in found),
        slope=of_own.fit.slope if of_own.fit else None,
        slope_interval=of_own.fit.interval if of_own.fit else None,
        fit_from=of_own.fit.first if of_own.fit else None,
        fit_to=of_own.fit.last if of_own.fit else None,
        L=L,
        L_component=setting.L_component,
        m=m,
        m_kind=m_kind,
        m_met=max(one.m_met for one in found),
        r_met=max(one.r_met for one in found),
        alpha=alpha,
        alpha_factor=alpha_factor,
        c=c,
        power=power,
        E=local_steps,
        clients=problem.clients,
        dimension=problem.dimension,
        memory=described(memory),
        replicas=replicas,
        seed=seed,
        diverged=tuple(one.diverged for one in found),
        curves=curves,
        bounds=() if others else _with_doubts(problem, bounds(setting, found)),
        objective=objective,
    )


def _traces(
    problem: Problem,
    memory: Memory,
    row: Algorithm,
    alpha: float,
    beta: float,
    local_steps: int,
    rounds: int,
    replicas: int,
    seed: int,
    mode: str,
) -> Iterator[Trace]:
    """All replicas, as many at a time as fit into little memory."""
    at_once = _at_once(rounds)
    # A rotated gradient is that of no f_memory, so there is no h~.
    columns = [name for name in COLUMNS if memory.kind != ROTATION or name not in ("h", QUANTITIES["h"])]
    for first in range(0, replicas, at_once):
        yield simulate(
            problem,
            row,
            alpha=alpha,
            beta=beta,
            local_steps=local_steps,
            rounds=rounds,
            memory=memory,
            replicas=min(at_once, replicas - first),
            first_replica=first,
            seed=seed,
            mode=mode,
            columns=columns,
            throw=False,
        )


def _with_doubts(problem: Problem, found: Sequence[Bound]) -> tuple[Bound, ...]:
    """The bounds; none counts as proved with an L that was only measured."""
    doubted = [name for name in ("L", "L_component") if problem.constants[name].kind == MEASURED]
    if not doubted:
        return tuple(found)
    doubt = f"{' and '.join(doubted)} measured, a lower bound"
    return tuple(
        one if all(v is None for v in one.values) else replace(one, proved=False, why=f"{one.why}; {doubt}")
        for one in found
    )


def _curve(key: str, found: Sequence[Horizon]) -> Curve:
    squares = [one.squares[key] for one in found]
    fits = [one for one in found if not one.diverged]
    of_fits = [one.squares[key] for one in fits]
    lengths = [one.T for one in fits]

    def fitted(values: Sequence[float], resampled: Sequence[Sequence[float]]) -> Fit | None:
        return fit(lengths, values, np.array(resampled), first=squares[0].first) if len(lengths) > 1 else None

    return Curve(
        min_mean=tuple(one.min_mean for one in squares),
        band=tuple(interval(one.min_resampled) for one in squares),
        mean=tuple(one.mean for one in squares),
        mean_band=tuple(interval(one.mean_resampled) if one.mean_resampled else None for one in squares),
        mean_min=tuple(one.mean_min for one in squares),
        fit=fitted([one.min_mean for one in of_fits], [one.min_resampled for one in of_fits]),
        mean_fit=fitted([one.mean for one in of_fits if one.mean is not None], [one.mean_resampled for one in of_fits]),
    )


def _require_fit(T: int, replicas: int) -> None:
    """Refuse before the first horizon what the last one could not hold."""
    if T >= MOST_STEPS:
        raise InvalidInput(f"the largest horizon is {T}: use T below 2^32")
    held = min(_at_once(T), replicas) * T * 16 * len(COLUMNS)
    require_room(held, f"a study up to T = {T}", "use a smaller T (--up-to, --horizons) or fewer replicas")


def _at_once(rounds: int) -> int:
    """Replicas that are held at once: no fewer than there are cores to run them."""
    return max(_TOGETHER // rounds, 8, os.cpu_count() or 1)


def increasing(horizons: Sequence[int]) -> tuple[int, ...]:
    """The horizons of a study as integers."""
    if not all(float(T).is_integer() for T in horizons):
        raise InvalidInput(f"horizons {list(horizons)} are not whole: give integers")
    whole = tuple(map(int, horizons))
    if len(whole) < 2 or any(b <= a for a, b in pairwise(whole)) or whole[0] < 1:
        raise InvalidInput(
            f"horizons {list(horizons)} do not increase from 1 on: give at least two increasing integers"
        )
    return whole


def fit_start(horizons: Sequence[int]) -> int:
    """Where a fit over the larger half of the horizons, and no fewer than two, begins."""
    return min(len(horizons) // 2, len(horizons) - 2)


def _refuted(m: float, found: Sequence[Horizon]) -> str:
    """Why a given m is too small, or nothing."""
    # Quotients of squares that vanish or overflow show rounding, not a bias.
    sound = [one for one in found if not one.diverged and one.squares["f"].mean_min > SMALLEST * one.squares["f"].first]
    met = max((one.m_met for one in sound), default=0.0)
    return f"m = {m:g} was given and the runs have {met:.6g}" if met > m + ROUNDING * (1 + m) else ""


def _bias_constant(
    problem: Problem, memory: Memory, *, L: float, local_steps: int, seed: int
) -> tuple[float, str, str]:
    """m of (27): exact or bounded where the family knows it, else measured along a pilot run at m = 0."""
    known = bias_bound(problem, memory)
    if known.value is not None and math.isfinite(known.value):
        return float(known.value), f"{known.kind}: {known.why}", ""
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
    kind = f"measured: the largest ratio of {8 * _PILOT} rounds of a pilot run"
    return float(pilot.m_met), kind, "m was only measured in a pilot run"
