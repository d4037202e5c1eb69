"""Figures of the report: floors that contradict printed bounds, an expectation, drift constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cflag_theory.figures.style import BOUND, MEASURED, REFERENCE, SECOND, Picture, house_style


def floors_figure(series: Sequence[Mapping[str, Any]]) -> Picture:
    """Measured value and printed bound against T, one panel a statement.

    Parameters
    ----------
    series : sequence of mappings
        As `studies.rates.floors.floors` gives them: "title", "quantity", "T", "measured", "predicted".
    """
    with house_style():
        figure = Picture(figsize=(4.8 * len(series), 3.4), layout="constrained")
        for axes, one in zip(figure.subplots(1, len(series), squeeze=False)[0], series, strict=True):
            axes.plot(one["T"], one["measured"], "o-", color=MEASURED, markersize=4, label=one["quantity"])
            axes.plot(one["T"], one["predicted"], "s-", color=BOUND, markersize=3.5, label="printed bound")
            axes.set(xscale="log", yscale="log", title=one["title"], xlabel="rounds T")
            axes.legend(loc="best")
    return figure


def expectation_figure(data: Mapping[str, Any]) -> Picture:
    """𝔼[B(t)] against t, by enumeration over all draws.

    Parameters
    ----------
    data : mapping
        As `verify.checks.c_flag.problem.overfitting.expected_overfitting` gives it: "t", "drawn_once" and
        "drawn_every_round".
    """
    with house_style():
        figure = Picture(figsize=(4.8, 3.4), layout="constrained")
        axes = figure.subplots()
        axes.plot(data["t"], [float(v) for v in data["drawn_once"]], "o-", color=MEASURED, label="memory drawn once")
        every = [float(v) for v in data["drawn_every_round"]]
        axes.plot(data["t"], every, "^-", color=SECOND, markersize=4, label="memory drawn every round")
        axes.axhline(0.0, color=REFERENCE, linewidth=1, label="what step (a) of (64) uses")
        axes.set(title="Overfitting term, exact expectation", xlabel="round t", ylabel=r"$\mathbb{E}\,B(t)$")
        axes.legend(loc="best")
    return figure


def drift_figure(data: Mapping[str, Any]) -> Picture:
    """Constants of Lemma 13 and Corollary 14 along beta L E.

    Parameters
    ----------
    data : mapping
        As `verify.checks.c_flag.local_steps.drift.constants_along_range` gives it: for "drift" and "error" the printed
        constant, the printed end of the range, the grid `u`, the `proved` constant on it, and instances by E.
    """
    with house_style():
        figure = Picture(figsize=(9.6, 3.6), layout="constrained")
        for axes, key in zip(figure.subplots(1, 2), ("drift", "error"), strict=True):
            panel = data[key]
            axes.axhline(panel["printed"], color=BOUND, label=f"printed: {panel['printed']:g}")
            axes.plot(panel["u"], panel["proved"], color=MEASURED, label="proved here")
            for marker, (E, ratios) in zip("ox^", panel["instances"].items(), strict=False):
                axes.plot(panel["u"], ratios, marker, color=SECOND, markersize=3.5, label=f"exact instance, E = {E}")
            axes.axvline(
                panel["range"], color=REFERENCE, linestyle=":", label=f"printed range ends, {panel['range_words']}"
            )
            axes.set(title=panel["title"], xlabel=r"$u = \beta L E$", ylabel=panel["ylabel"])
            axes.set_ylim(0, panel["printed"] * 1.15)
            axes.legend(loc="upper right", bbox_to_anchor=(1, 0.86))
    return figure
