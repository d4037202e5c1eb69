"""Means over seeds, their intervals, and whether two means can be told apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from cflag_theory.errors import InvalidInput

#: Coverage of every interval here.
LEVEL = 0.95


@dataclass(frozen=True)
class Spread:
    """Values over seeds."""

    mean: float
    #: Standard deviation with n - 1; None for one seed.
    deviation: float | None
    #: Half the width of Student's interval of the mean at `LEVEL`; None for one seed.
    half: float | None
    seeds: int

    def __str__(self) -> str:
        return f"{self.mean:.2f}" + ("" if self.deviation is None else f" +- {self.deviation:.2f}")


def spread(values: Sequence[float]) -> Spread:
    """Mean, deviation and interval of values over seeds."""
    if not len(values):
        raise InvalidInput("there are no values to average: give those of one seed at least")
    chosen = np.asarray(values, dtype=np.float64)
    seeds = len(chosen)
    if seeds == 1:
        return Spread(float(chosen[0]), None, None, 1)
    deviation = float(chosen.std(ddof=1))
    return Spread(float(chosen.mean()), deviation, quantile(seeds - 1) * deviation / math.sqrt(seeds), seeds)


def paired(gains: Sequence[float]) -> tuple[Spread, float | None]:
    """Differences over seeds, and the p-value of Student's paired test, two-sided, that the true one is zero.

    None for one seed, and where all differences are the same.
    """
    found = spread(gains)
    if found.deviation is None or found.deviation == 0:
        return found, None
    t = found.mean / (found.deviation / math.sqrt(found.seeds))
    return found, float(2 * stdtr(found.seeds - 1, -abs(t)))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """The same p-values by Holm's correction (1979): below a level, all are right together with its probability.

    What is None stays so and is not counted.
    """
    adjusted: list[float | None] = [None] * len(p_values)
    order = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    largest = 0.0
    for rank, (p, place) in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p))
        adjusted[place] = largest
    return adjusted


def margin(measured: Spread, deviation: float | None, seeds: int) -> float | None:
    """How far a published mean over so many seeds may lie from the measured one before the two can be told apart.

    With a published standard `deviation` half the width of Welch's interval at `LEVEL` for the difference of two means;
    without one the published number is taken as exact, and this is `measured.half`. None for one measured seed.
    """
    if measured.deviation is None or deviation is None:
        return measured.half
    own, other = measured.deviation**2 / measured.seeds, deviation**2 / seeds
    if own + other == 0:
        return 0.0
    freedom = (own + other) ** 2 / (own**2 / (measured.seeds - 1) + other**2 / (seeds - 1))
    return quantile(freedom) * math.sqrt(own + other)


def quantile(freedom: float) -> float:
    """Student's quantile for a two-sided interval at `LEVEL`."""
    return float(stdtrit(freedom, (1 + LEVEL) / 2))
