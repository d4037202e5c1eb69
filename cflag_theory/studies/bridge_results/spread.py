"""Means over seeds, their intervals, and whether two means can be told apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from cflag_theory.errors import InvalidInput

#: Coverage of every interval here.
LEVEL = 0.95


@dataclass(frozen=True)
class Spread:
    """Values over seeds.

    Attributes
    ----------
    mean : float
    deviation : float or None
        Standard deviation with n - 1; None for one seed.
    half : float or None
        Half the width of Student's interval of the mean at `LEVEL`; None for one seed.
    seeds : int
    """

    mean: float
    deviation: float | None
    half: float | None
    seeds: int

    def __str__(self) -> str:
        return f"{self.mean:.2f}" + ("" if self.deviation is None else f" +- {self.deviation:.2f}")


def spread(values: Sequence[float]) -> Spread:
    """Mean, deviation and interval of values over seeds.

    Raises
    ------
    InvalidInput
        No values.
    """
    if not len(values):
        raise InvalidInput("there are no values to average: give those of one seed at least")
    chosen = np.asarray(values, dtype=np.float64)
    seeds = len(chosen)
    if seeds == 1:
        return Spread(float(chosen[0]), None, None, 1)
    deviation = float(chosen.std(ddof=1))
    return Spread(float(chosen.mean()), deviation, quantile(seeds - 1) * deviation / math.sqrt(seeds), seeds)


def margin(measured: Spread, deviation: float | None, seeds: int) -> float | None:
    """How far a published mean may lie from the measured one before the two can be told apart.

    With a published deviation half the width of Welch's interval at `LEVEL` for the difference of two means; without
    one the published number is taken as exact, and this is `measured.half`. None for one measured seed.

    Parameters
    ----------
    measured : Spread
    deviation : float or None
        Published standard deviation over seeds.
    seeds : int
        Seeds of the published mean.
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
