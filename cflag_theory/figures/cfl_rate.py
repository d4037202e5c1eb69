"""𝔼 f(w_T) - f* of FedAvg and CFL against T, with the printed rate and the floor; and the noisy quadratic model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cflag_theory.figures.style import (
    BOUND,
    MEASURED,
    REFERENCE,
    SECOND,
    Picture,
    house_style,
    message,
    name_ends,
    plain_all,
)

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


# Curves often coincide: FedAvg and CFL are wide, so that their variants show on top of them.
_LINES = {
    "FedAvg": (REFERENCE, "-", 3.2),
    "FedProx": (BOUND, "--", 1.4),
    "CFL": (MEASURED, "-", 3.2),
    "CFL-0.001": (SECOND, "-.", 1.4),
    "CFL-0.01": ("#CC79A7", ":", 1.8),
}


def nqm_figure(panels: Sequence[Mapping[str, Any]]) -> Picture:
    """𝔼||A w_t + B|| by round, two rows of panels.

    Parameters
    ----------
    panels : sequence of mappings
        As `studies.nqm.table3.panels` gives them: "title" and "curves", each with "method", "rate", "mean" (T + 1,),
        and where runs were simulated "low" and "high" (T + 1,), the range of the middle 90 % of them.
    """
    columns = (len(panels) + 1) // 2
    with house_style():
        figure = Picture(figsize=(3.9 * columns, 7.2), layout="constrained")
        axes = figure.subplots(2, columns, squeeze=False)
        for place, panel in zip(axes.flat, panels, strict=False):
            _panel(place, panel)
        for spare in axes.flat[len(panels) :]:
            spare.set_visible(False)
        for place in axes[-1]:
            place.set_xlabel("round t")
        for place in axes[:, 0]:
            place.set_ylabel(r"$\mathbb{E}\,\|A w_t + B\|$")
    return figure


def _panel(axes: Axes, panel: Mapping[str, Any]) -> None:
    for one in panel["curves"]:
        colour, line, width = _LINES[one["method"]]
        mean = np.asarray(one["mean"], dtype=float)
        t = np.arange(len(mean))
        if "low" in one:
            axes.fill_between(t, one["low"], one["high"], color=colour, alpha=0.13, linewidth=0)
        axes.plot(t, mean, line, color=colour, linewidth=width, label=f"{one['method']}  ({one['rate']:.4g})")
    axes.set_yscale("log")
    axes.set_title(f"{panel['title']}\n{_table_finding(panel['curves'])}", fontsize=9.5, loc="left")
    axes.legend(loc="upper right", title="best learning rate", title_fontsize=8, fontsize=7.5)


def _table_finding(curves: Sequence[Mapping[str, Any]]) -> str:
    """Who ends lowest, compared with FedAvg where it is there."""
    ends = {one["method"]: float(one["mean"][-1]) for one in curves}
    # Of methods that end together the first one is named.
    best = next(name for name, end in ends.items() if end <= 1.01 * min(ends.values()))
    other = ends.get("FedAvg", max(ends.values()))
    if other <= 1.02 * ends[best]:
        return "nobody ends below FedAvg"
    factor = other / ends[best] if ends[best] > 0 else float("inf")
    return f"{best} ends lowest, {factor:.2g} times below FedAvg"
