"""Compiled local steps of a problem that is elementwise in its coordinates: O(d) for a component of d rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from cflag_theory.kernels import formulas
from cflag_theory.kernels.engines.codegen.cache import apart, inner
from cflag_theory.kernels.engines.codes import DELAYED, Numbers
from cflag_theory.kernels.engines.cpu.coordinate_gradients import fill_coordinate_slopes
from cflag_theory.kernels.engines.cpu.layout import Padded
from cflag_theory.kernels.engines.cpu.local_steps import Lanes, note, square, step_down
from cflag_theory.kernels.numbers import Array, Ints


@apart
def elementwise_steps(
    n: Numbers, s: Padded, lanes: int, R: int, keep: float, beta: float, stamp: int, orders: Ints, X: Array,
    slopes: Array, w: Lanes,
) -> None:  # fmt: skip
    """Delayed or stochastic steps of an elementwise problem; slopes (R, width) are phi' at the X[r].

    `stamp` grows by E from one lane to the next, so that w.last never needs to be cleared.
    """
    shift, coefficients, start = s.current.shift, s.current.coefficients, s.current.client_start
    D, V, drift2, estimate, path, estimates = w.D, w.V, w.drift2, w.estimate, w.path, w.estimates
    point, history, last = w.point, w.history, w.last
    E, width, delayed, replica, client = n.local_steps, w.D.shape[1], n.estimator == DELAYED, w.replica, w.client
    drawn = w.drawn
    for k in range(E):
        for g in range(lanes):
            i, r = client[g], replica[g]
            if n.measures_drift and k > 0:
                drift2[r] = max(drift2[r], square(D, g))
            if k > 0 or not delayed:
                j, begin, now = np.int64(orders[drawn[g] + np.uint64(k * R)]), start[i], g * E + k
                for c in range(width):
                    point[0, c] = X[r, c] + D[g, c]
                fill_coordinate_slopes(n.potential, shift, point, 0, history, now)
                if delayed:
                    before, count = last[g, j - begin] - stamp, start[i + 1] - begin
                    last[g, j - begin] = stamp + now
                    if before < 0:
                        _refresh_coordinates(coefficients, j, history, now, slopes, r, count, estimate, g)
                    else:
                        _refresh_coordinates(coefficients, j, history, now, history, before, count, estimate, g)
                else:
                    for c in range(width):
                        estimate[g, c] = coefficients[j, c] * history[now, c]
            if n.exact_errors:
                note(k, g, D, estimate, path, estimates)
            step_down(estimate, g, V, g, D, g, keep, beta)


@inner
def _refresh_coordinates(
    coefficients: Array, j: Any, new: Array, now: int, old: Array, before: int, count: int, estimate: Array, g: int
) -> None:
    """estimate[g] after phi' of component j went from old[before] to new[now]."""
    share = estimate.dtype.type(count)
    for c in range(estimate.shape[1]):
        factor = coefficients[j, c]
        estimate[g, c] = formulas.refreshed_mean(estimate[g, c], factor * new[now, c], factor * old[before, c], share)
