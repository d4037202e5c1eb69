"""Figure 2 of the CFL paper: the noisy quadratic model in eight settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cflag_theory.figures.style import BOUND, MEASURED, REFERENCE, SECOND, Picture, house_style

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
    axes.set_title(f"{panel['title']}\n{_finding(panel['curves'])}", fontsize=9.5, loc="left")
    axes.legend(loc="upper right", title="best learning rate", title_fontsize=8, fontsize=7.5)


def _finding(curves: Sequence[Mapping[str, Any]]) -> str:
    """Who ends lowest, compared with FedAvg where it is there."""
    ends = {one["method"]: float(one["mean"][-1]) for one in curves}
    # Of methods that end together the first one is named.
    best = next(name for name, end in ends.items() if end <= 1.01 * min(ends.values()))
    other = ends.get("FedAvg", max(ends.values()))
    if other <= 1.02 * ends[best]:
        return "nobody ends below FedAvg"
    factor = other / ends[best] if ends[best] > 0 else float("inf")
    return f"{best} ends lowest, {factor:.2g} times below FedAvg"
