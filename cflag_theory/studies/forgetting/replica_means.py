"""Means over replicas with their bootstrap intervals, all from the same resamples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cflag_theory.kernels.numbers import Array
from cflag_theory.studies.rates.statistics import LEVEL, interval


@dataclass(frozen=True)
class Mean:
    """A mean over replicas and its central bootstrap interval at `rates.statistics.LEVEL`."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Curve:
    """The same for every round: three sequences of equal length."""

    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


def mean_of(values: Array, weights: Array) -> Mean:
    """The mean of values (replicas,) under `rates.statistics.resampling` weights (resamples, replicas)."""
    return Mean(float(values.mean()), *interval(weights @ values))


def curve_of(values: Array, weights: Array) -> Curve:
    """The mean over the replicas of values (replicas, rounds), round by round."""
    tails = np.percentile(weights @ values, ((1 - LEVEL) / 2 * 100, (1 + LEVEL) / 2 * 100), axis=0)
    return Curve(*(tuple(row.tolist()) for row in (values.mean(axis=0), *tails)))
