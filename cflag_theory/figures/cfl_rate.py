"""𝔼 f(w_T) - f* of FedAvg and CFL against T, with the printed rate, what is proved, and the floor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cflag_theory.figures.labels import message, name_ends
from cflag_theory.figures.style import MEASURED, REFERENCE, SECOND, Picture, house_style, plain_all

_COLORS = {"FedAvg": MEASURED, "CFL": SECOND}


def cfl_rate_figure(studies: Any) -> Picture:
    """One column a study: the curves above, printed bound over the mean that it bounds below.

    Parameters
    ----------
    studies : CFLRate, mapping, or sequence of either
        Mappings as `studies.rates.cfl.CFLRate.to_json` gives them.
    """
    studies = plain_all(studies)
    with house_style():
        figure = Picture(figsize=(7.0 * len(studies), 6.8), layout="constrained")
        axes = figure.subplots(2, len(studies), squeeze=False, sharex="col", sharey="row", height_ratios=[3, 1])
        names = []
        for column, study in enumerate(studies):
            names.append(_curves(axes[0, column], study))
            _quotient(axes[1, column], study)
        figure.alt = " ".join(f"{study['title']}: {_finding(study)}; {_ends(study)}." for study in studies)
        figure.draw_without_rendering()
        for place, written in zip(axes[0], names, strict=True):
            name_ends(place, written)
    return figure


def _curves(axes: Axes, study: Mapping[str, Any]) -> list[tuple[float, str, str]]:
    T, names = np.array(study["horizons"], dtype=float), []
    for rate in study["methods"]:
        name, color = rate["method"], _COLORS[rate["method"]]
        if rate["band"]:
            low, high = np.array(rate["band"]).T
            axes.fill_between(T[: len(low)], low, high, color=color, alpha=0.2, linewidth=0)
        axes.plot(T, rate["last"], "o-", color=color, markersize=4, label=f"{name}, exact")
        axes.plot(T, rate["printed"], "s--", color=color, markersize=3, linewidth=1, label=f"{name}, printed rate")
        names += [(rate["last"][-1], f"{name}, exact", color), (rate["printed"][-1], f"{name}, printed rate", color)]
        ours = np.array([np.nan if value is None else value for value in rate["ours"]], dtype=float)
        if np.isfinite(ours).any():
            axes.plot(T, ours, "^:", color=color, markersize=3, linewidth=1, label=f"{name}, proved")
            names.append((ours[-1], f"{name}, proved", color))
    axes.plot(T, study["floor"], "-", color=REFERENCE, linewidth=1, label="floor")
    names.append((study["floor"][-1], "floor of all step sizes", "#555555"))
    axes.set(xscale="log", yscale="log")
    axes.set_ylabel(r"$\mathbb{E}\,f(\omega_T)-f^*$; band: simulated")
    message(axes, f"{study['title']}: {_finding(study)}", 60)
    return names


def _finding(study: Mapping[str, Any]) -> str:
    """Which method ends lower, and how far above the floor it is."""
    last = {rate["method"]: rate["last"][-1] for rate in study["methods"]}
    low, high = sorted(last, key=last.__getitem__)[:: len(last) - 1 or 1] if len(last) > 1 else (*last, *last)
    gap, above = last[high] / last[low], last[low] / study["floor"][-1]
    words = f"{low} ends {gap:.2g} times below {high}" if gap > 1.1 else f"{' and '.join(last)} end together"
    words += f", {'at the floor' if above < 1.1 else f'{above:.2g} times above the floor'}"
    crossed = [
        T
        for rate in study["methods"]
        for T, printed, mean in zip(study["horizons"], rate["printed"], rate["mean"], strict=True)
        if printed < mean * (1 - 1e-9)
    ]
    return f"{words}; a printed rate is crossed at T = {min(crossed)}" if crossed else words


def _ends(study: Mapping[str, Any]) -> str:
    return "; ".join(
        f"{rate['method']} from {rate['last'][0]:.2g} to {rate['last'][-1]:.2g}, printed rate {rate['printed'][-1]:.2g}"
        for rate in study["methods"]
    )


def _quotient(axes: Axes, study: Mapping[str, Any]) -> None:
    T = np.array(study["horizons"], dtype=float)
    for rate in study["methods"]:
        quotient = np.array(rate["printed"]) / np.array(rate["mean"])
        axes.plot(T, quotient, "s--", color=_COLORS[rate["method"]], markersize=3.5, linewidth=1)
    axes.axhline(1.0, color=REFERENCE, linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="rounds T", ylabel="printed / exact")
