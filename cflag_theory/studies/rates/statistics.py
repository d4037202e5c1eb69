"""What a rate study keeps of its runs: means over replicas, bootstrap resamples, and the fit of a slope.

Theorem 2 bounds the minimum over rounds of an expectation, so the mean over replicas is taken first and the minimum
after it; the mean of each replica's own minimum is reported beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cflag_theory.kernels import Trace
from cflag_theory.kernels.numbers import Array
from cflag_theory.sizes import require_room

#: Bootstrap resamples of the replicas, and the level of bands and intervals.
RESAMPLES, LEVEL = 1000, 0.95
#: The three objectives whose gradients are followed, and their columns of a Trace.
QUANTITIES = {"f": "grad_f2", "g": "grad_g2", "h": "grad_h2"}
#: What a study reads of a run.
COLUMNS = ("f", "g", "h", *QUANTITIES.values(), "grad_memory2", "b2", "Gamma", "B", "m_met", "r2_met")
#: Two local slopes agree if they differ by no more than their intervals and this.
AGREEMENT = 0.05
#: Fewer horizons show no slope.
ENOUGH = 4
#: A slope is called -1 or -1/2 if it is that near, or nearly so and its interval holds it.
NEAR, NEARLY = 0.05, 0.1
#: Squares below this share of the square at x_0 are rounding, not a rate.
ROUNDING = 1e-26
FIT_RULE = (
    "the longest range of horizons that ends at the largest and on which the local slopes agree within their 95% "
    f"bootstrap intervals and {AGREEMENT:g}"
)
# Rounds that are resampled at once.
_BLOCK = 4096
_TAIL = ((1 - LEVEL) / 2 * 100, (1 + LEVEL) / 2 * 100)


@dataclass(frozen=True)
class Squares:
    """One squared gradient at one horizon."""

    #: Mean over replicas at x_0.
    first: float
    #: min_t of the mean over replicas, the mean over rounds and replicas, the mean of the replicas' minima. Where a
    #: replica diverged, the minima are over the rounds before, and there is no mean.
    min_mean: float
    mean: float | None
    mean_min: float
    #: min_mean and mean in every bootstrap resample.
    min_resampled: tuple[float, ...]
    mean_resampled: tuple[float, ...]


@dataclass(frozen=True)
class Horizon:
    """Everything that a study keeps of its runs over T rounds: plain numbers, so that it can be stored."""

    T: int
    beta: float
    #: `Squares` of "f", "g" and, where h~ exists, "h".
    squares: Mapping[str, Squares]
    #: Mean of f(x_0) - f(x_T), likewise g and h~.
    drops: Mapping[str, float]
    #: f(x_0).
    f_0: float
    #: Means over replicas of the sums over the rounds.
    Gamma: float
    B: float
    #: Mean over rounds and replicas of ||grad f_memory - grad g||^2, and the largest ||grad g - grad h~||^2.
    delta2: float | None
    omega2: float | None
    #: Largest ratios along the runs; infinite where a gradient vanishes and the other does not.
    m_met: float
    r_met: float
    #: Replicas that left the finite numbers; everything but `squares` is then of the rounds before.
    diverged: int = 0


def resampling(replicas: int, seed: int) -> Array:
    """Bootstrap weights of the replicas, shape (resamples, replicas), rows of sum one.

    The same for every horizon: the interval of a slope then keeps the pairing of replicas.
    """
    require_room(16 * RESAMPLES * replicas, f"a study of {replicas} replicas", "use fewer replicas")
    counts = np.random.default_rng(seed).multinomial(replicas, [1 / replicas] * replicas, size=RESAMPLES)
    return np.asarray(counts / replicas)


def read(
    traces: Iterable[Trace], horizons: Sequence[int], *, beta: float, weights: Array, share: float
) -> list[Horizon]:
    """The statistics at every one of `horizons` of runs with one beta, over max(horizons) rounds, each a part of the
    replicas in their order. `weights` (resamples, replicas) are of `resampling`, and `share` is |M| / (|M| + |C|), the
    weight of f_memory in h~.

    Of every trace only the squared gradients stay in memory, and sums over its rounds.
    """
    parts = [_part(trace, horizons, share) for trace in traces]
    done = min(part.rounds for part in parts)
    squares = {
        key: np.concatenate([part.squares.pop(key)[:, :done] for part in parts]) for key in tuple(parts[0].squares)
    }
    resampled = {
        key: _resampled(weights, columns, [min(T, done) for T in horizons]) for key, columns in squares.items()
    }
    found = []
    for place, T in enumerate(horizons):
        stop = min(T, done)
        here = [part.at[place] for part in parts]
        failed = sum(int((part.done < T).sum()) for part in parts)
        apart = [one["delta2"] for one in here if "delta2" in one]
        found.append(
            Horizon(
                T=T,
                beta=beta,
                squares={
                    key: Squares(
                        first=float(columns[:, 0].mean()),
                        min_mean=float(columns[:, :stop].mean(axis=0).min()),
                        mean=None if failed else float(columns[:, :stop].mean()),
                        mean_min=float(columns[:, :stop].min(axis=1).mean()),
                        min_resampled=tuple(resampled[key][0][place].tolist()),
                        mean_resampled=() if failed else tuple(resampled[key][1][place].tolist()),
                    )
                    for key, columns in squares.items()
                },
                drops={key: _mean(here, f"drop of {key}") for key in QUANTITIES if f"drop of {key}" in here[0]},
                f_0=parts[0].f_0,
                Gamma=_mean(here, "Gamma"),
                B=_mean(here, "B"),
                delta2=_mean(here, "delta2") / stop if apart else None,
                omega2=share**2 * max(float(one["largest delta2"].max()) for one in here) if apart else None,
                m_met=max(float(one["m_met"].max()) for one in here),
                r_met=math.sqrt(max(float(one["r2_met"].max()) for one in here)),
                diverged=failed,
            )
        )
    return found


@dataclass(frozen=True)
class _Part:
    """What stays of a trace: squared gradients, (replicas, rounds) each, and values a replica at every horizon."""

    rounds: int
    done: Array
    f_0: float
    squares: dict[str, Array]
    at: list[dict[str, Array]]


def _part(trace: Trace, horizons: Sequence[int], share: float) -> _Part:
    if trace.rounds == 0:
        trace.raise_if_diverged()
    # Copies: a view would keep all columns of the trace in memory.
    squares = {key: trace.column(column).copy() for key, column in QUANTITIES.items() if column in trace.columns}
    return _Part(
        rounds=trace.rounds,
        done=trace.rounds_done,
        f_0=float(trace.column("f")[0, 0]),
        squares=squares,
        at=[_at(trace, min(T, trace.rounds), share) for T in horizons],
    )


def _at(trace: Trace, stop: int, share: float) -> dict[str, Array]:
    """Sums and largest values over the first `stop` rounds, one a replica."""
    values: dict[str, Array] = {name: trace.column(name)[:, :stop].sum(axis=1) for name in ("Gamma", "B")}
    values |= {name: trace.column(name)[:, :stop].max(axis=1) for name in ("m_met", "r2_met")}
    for name in QUANTITIES:
        if name in trace.columns:
            column = trace.column(name)
            # Where a replica diverged, of the last round before.
            last = column[:, stop] if stop < trace.rounds else trace.at_end(name) if trace.ok else column[:, -1]
            values[f"drop of {name}"] = column[:, 0] - last
    if "grad_h2" in trace.columns and 0 < share < 1:
        # grad h~ = s v + (1 - s) grad g gives <v, grad g>, and that ||v - grad g||^2, for v = grad f_memory.
        v, g, h = (trace.column(name)[:, :stop] for name in ("grad_memory2", "grad_g2", "grad_h2"))
        both = (h - share**2 * v - (1 - share) ** 2 * g) / (2 * share * (1 - share))
        apart = np.maximum(v + g - 2 * both, 0.0)
        values |= {"delta2": apart.sum(axis=1), "largest delta2": apart.max(axis=1)}
    return values


def _mean(here: Sequence[Mapping[str, Array]], name: str) -> float:
    return float(np.mean(np.concatenate([one[name] for one in here])))


def _resampled(weights: Array, squares: Array, stops: Sequence[int]) -> tuple[list[Array], list[Array]]:
    """min over rounds and mean over rounds of the resampled means, (resamples,) each, for rounds up to each stop."""
    least = np.full(len(weights), np.inf)
    total = np.zeros(squares.shape[0])
    minima, means, begin = [], [], 0
    for stop in stops:
        for first in range(begin, stop, _BLOCK):
            block = squares[:, first : min(first + _BLOCK, stop)]
            total = total + block.sum(axis=1)
            # A resampled mean is at least the least replica: rounds above what is reached already cannot matter.
            block = block[:, block.min(axis=0) < least.max()]
            if block.shape[1]:
                least = np.minimum(least, (weights @ block).min(axis=1))
        begin = max(begin, stop)
        minima.append(least)
        means.append(weights @ total / begin)
    return minima, means


def interval(values: Array | Sequence[float]) -> tuple[float, float]:
    """The central interval of bootstrap values at `LEVEL`."""
    low, high = np.percentile(values, _TAIL)
    return float(low), float(high)


def fitted_slopes(horizons: Sequence[int], values: Array) -> Array:
    """Least-squares slopes of log values on log T, one a column; values (horizons, columns)."""
    t = np.log(horizons)
    t = t - t.mean()
    slopes: Array = t @ np.log(values) / (t @ t)
    return slopes


@dataclass(frozen=True)
class Fit:
    """A power law fitted to a tail of the horizons."""

    #: Least-squares slope of log value on log T over the range, and its bootstrap interval.
    slope: float
    interval: tuple[float, float]
    #: The range of T, chosen by `FIT_RULE`.
    first: int
    last: int
    #: The value at the largest T where at least three horizons agree on a slope above -0.05: it does not fall.
    floor: float | None
    #: What may be said: "few" horizons, an "open" slope whose interval holds another power, a "floor", or a "slope".
    shows: str
    #: -1 or -1/2 where the slope is called so.
    near: float | None


def what_shows(slope: float, band: tuple[float, float], floor: float | None, horizons: int) -> tuple[str, float | None]:
    """`shows` and `near` of a `Fit`: from four horizons on, and where the interval excludes the other powers."""
    off = [(abs(slope - power), power) for power in (-1.0, -0.5)]
    low, high = band
    near = next((power for by, power in off if by <= NEAR or (by <= NEARLY and low <= power <= high)), None)
    if horizons < ENOUGH:
        return "few", near
    others = {-0.5, -1.0, *((0.0,) if floor is None else ())} - {near}
    if any(low <= power <= high for power in others):
        return "open", near
    return ("slope" if floor is None else "floor"), near


def fit(horizons: Sequence[int], values: Sequence[float], resampled: Array, *, first: float) -> Fit | None:
    """The slope at large T of values (n,) and of each of their bootstrap resamples (n, resamples); None if fewer than
    two horizons are left.

    The range is the longest that ends at the largest horizon and on which the local slopes, between neighbouring
    horizons, agree: their bootstrap intervals at 95%, each widened by 0.05 on both sides, have a number in common. So a
    transient at small T is left out, and where a decay gives way to a floor the fit is of the floor. The widening keeps
    noiseless curves, whose intervals are points, from being cut at every bend. Horizons from the first on at which the
    value is 1e-26 of `first`, that at x_0, or less are left out: there rounding is measured.
    """
    floor = ROUNDING * first
    count = next((k for k, value in enumerate(values) if not value > floor), len(values))
    # A resample may vanish where the mean does not.
    count = next((k for k in range(count) if not (resampled[k] > 0).all()), count)
    if count < 2:
        return None
    T, found, drawn = list(horizons[:count]), np.array(values[:count]), resampled[:count]
    low, high, begin = -math.inf, math.inf, count - 1
    local = [fitted_slopes(pair, drawn[k : k + 2]) for k, pair in enumerate(pairwise(T))]
    for k in range(count - 2, -1, -1):
        below, above = interval(local[k])
        low, high = max(low, below - AGREEMENT), min(high, above + AGREEMENT)
        if low > high:
            break
        begin = k
    slope = float(fitted_slopes(T[begin:], found[begin:, None])[0])
    band = interval(fitted_slopes(T[begin:], drawn[begin:]))
    stays = count - begin >= 3 and slope > -AGREEMENT
    kept = float(found[-1]) if stays else None
    shows, near = what_shows(slope, band, kept, count - begin)
    return Fit(slope, band, first=T[begin], last=T[-1], floor=kept, shows=shows, near=near)
