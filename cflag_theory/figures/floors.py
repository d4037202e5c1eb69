"""Floors that a printed bound predicts to vanish, and an expectation that is not zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from cflag_theory.figures.style import BOUND, MEASURED, REFERENCE, SECOND, house_style


def floors_figure(series: Sequence[Mapping[str, Any]]) -> Figure:
    """Measured value and printed bound against T, one panel a statement.

    Parameters
    ----------
    series : sequence of mappings
        As `verify.floors.floors` gives them: "title", "quantity", "T", "measured", "predicted".
    """
    with house_style():
        figure = Figure(figsize=(4.8 * len(series), 3.4), layout="constrained")
        for axes, one in zip(figure.subplots(1, len(series), squeeze=False)[0], series, strict=True):
            axes.plot(one["T"], one["measured"], "o-", color=MEASURED, markersize=4, label=one["quantity"])
            axes.plot(one["T"], one["predicted"], "s-", color=BOUND, markersize=3.5, label="printed bound")
            axes.set(xscale="log", yscale="log", title=one["title"], xlabel="rounds T")
            axes.legend(loc="best")
    return figure


def expectation_figure(data: Mapping[str, Any]) -> Figure:
    """E[B(t)] against t, by enumeration over all draws.

    Parameters
    ----------
    data : mapping
        As `verify.checks.c_flag.overfitting.expected_overfitting` gives it: "t", "drawn_once", "drawn_every_round".
    """
    with house_style():
        figure = Figure(figsize=(4.8, 3.4), layout="constrained")
        axes = figure.subplots()
        axes.plot(data["t"], [float(v) for v in data["drawn_once"]], "o-", color=MEASURED, label="memory drawn once")
        every = [float(v) for v in data["drawn_every_round"]]
        axes.plot(data["t"], every, "^-", color=SECOND, markersize=4, label="memory drawn every round")
        axes.axhline(0.0, color=REFERENCE, linewidth=1, label="what step (a) of (64) uses")
        axes.set(title="Overfitting term, exact expectation", xlabel="round t", ylabel=r"$\mathbf{E}\,B(t)$")
        axes.legend(loc="best")
    return figure
