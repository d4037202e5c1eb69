"""𝔼 f(w_T) - f* of FedAvg and CFL against T, with the printed rate, what is proved, and the floor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cflag_theory.figures.style import MEASURED, REFERENCE, SECOND, Picture, house_style

_COLORS = {"FedAvg": MEASURED, "CFL": SECOND}


def cfl_rate_figure(studies: Sequence[Mapping[str, Any]]) -> Picture:
    """One column a study: the curves above, printed bound over the mean that it bounds below.

    Parameters
    ----------
    studies : sequence of mappings
        Each as `studies.rates.cfl.CFLRate.to_json` gives it.
    """
    with house_style():
        figure = Picture(figsize=(5.6 * len(studies), 6.4), layout="constrained")
        axes = figure.subplots(2, len(studies), squeeze=False, sharex="col", sharey="row", height_ratios=[3, 1])
        for column, study in enumerate(studies):
            _curves(axes[0, column], study)
            _quotient(axes[1, column], study)
    return figure


def _curves(axes: Axes, study: Mapping[str, Any]) -> None:
    T = np.array(study["horizons"], dtype=float)
    for rate in study["methods"]:
        name, color = rate["method"], _COLORS[rate["method"]]
        if rate["band"]:
            low, high = np.array(rate["band"]).T
            axes.fill_between(T[: len(low)], low, high, color=color, alpha=0.2, linewidth=0)
        axes.plot(T, rate["last"], "o-", color=color, markersize=4, label=f"{name}, exact; band: simulated")
        axes.plot(T, rate["printed"], "s--", color=color, markersize=3, linewidth=1, label=f"{name}, printed rate")
        ours = np.array([np.nan if value is None else value for value in rate["ours"]])
        if np.isfinite(ours).any():
            axes.plot(T, ours, "^:", color=color, markersize=3, linewidth=1, label=f"{name}, proved")
    axes.plot(T, study["floor"], "-", color=REFERENCE, linewidth=1, label="no step sizes, no weights get below")
    axes.set(xscale="log", yscale="log", title=study["title"])
    axes.set_ylabel(r"$\mathbb{E}\,f(\omega_T)-f^*$")
    axes.legend(loc="lower left")


def _quotient(axes: Axes, study: Mapping[str, Any]) -> None:
    T = np.array(study["horizons"], dtype=float)
    for rate in study["methods"]:
        quotient = np.array(rate["printed"]) / np.array(rate["mean"])
        axes.plot(T, quotient, "s--", color=_COLORS[rate["method"]], markersize=3.5, linewidth=1)
    axes.axhline(1.0, color=REFERENCE, linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="rounds T", ylabel="printed / exact")
