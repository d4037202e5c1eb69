"""Squared gradient against the number of rounds, with bound, band and reference slopes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cflag_theory.figures.style import BOUND, MEASURED, REFERENCE, SECOND, house_style


def rate_figure(studies: Sequence[Mapping[str, Any]]) -> Figure:
    """One column a study: the rates above, bound over measurement below.

    Parameters
    ----------
    studies : sequence of mappings
        Each as `verify.rates.Rate.to_json` gives it.
    """
    with house_style():
        figure = Figure(figsize=(5.6 * len(studies), 6.4), layout="constrained")
        axes = figure.subplots(2, len(studies), squeeze=False, sharex="col", height_ratios=[3, 1])
        for column, study in enumerate(studies):
            _rates(axes[0, column], study)
            _quotient(axes[1, column], study)
    return figure


def _rates(axes: Axes, study: Mapping[str, Any]) -> None:
    T = np.array(study["horizons"], dtype=float)
    measured = np.array(study["min_mean"])
    low, high = np.array(study["band"]).T
    bound = np.array(study["theorem2"])
    axes.fill_between(T, low, high, color=MEASURED, alpha=0.2, linewidth=0)
    axes.plot(T, measured, "o-", color=MEASURED, markersize=4, label=r"$\min_t$ mean $\|\nabla f(x_t)\|^2$, 95% band")
    axes.plot(T, study["mean_min"], ":", color=SECOND, label=r"mean of the minima of $\|\nabla f(x_t)\|^2$")
    positive = bound > 0
    axes.plot(
        T[positive], bound[positive], "s-", color=BOUND, markersize=3.5, label="bound of Theorem 2, measured terms"
    )
    # Both slopes pass through the measurement where the fit begins.
    anchor = list(study["horizons"]).index(study["fit_from"])
    for power, style in ((-0.5, "--"), (-1.0, "-.")):
        line = measured[anchor] * (T / T[anchor]) ** power
        axes.plot(T, line, style, color=REFERENCE, linewidth=1, label=f"slope {power:g}")
    slope, (lower, upper) = study["slope"], study["slope_interval"]
    axes.set(xscale="log", yscale="log", title=study["title"])
    axes.set_ylabel(r"$\|\nabla f\|^2$")
    axes.text(
        0.03,
        0.04,
        f"fitted slope {slope:.3f}  [{lower:.3f}, {upper:.3f}]\nfor T ≥ {study['fit_from']}",
        transform=axes.transAxes,
        fontsize=8.5,
    )
    axes.legend(loc="upper right")


def _quotient(axes: Axes, study: Mapping[str, Any]) -> None:
    T = np.array(study["horizons"], dtype=float)
    quotient = np.array(study["theorem2"]) / np.array(study["min_mean"])
    axes.plot(T, quotient, "s-", color=BOUND, markersize=3.5)
    axes.axhline(1.0, color=REFERENCE, linewidth=1)
    axes.set(xscale="log", xlabel="rounds T", ylabel="bound / measured")
    if (quotient > 0).all():
        axes.set_yscale("log")
