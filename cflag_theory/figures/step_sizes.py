"""The plane of two step sizes: which are proved safe, and the point chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from cflag_theory.figures.style import SECOND, Picture, house_style, message, plain, subtitle, wrapped

_SIGNS = {"alpha": r"$\alpha$", "beta": r"$\beta$", "eta_l": r"$\eta_l$", "eta_g": r"$\eta_g$"}


def step_sizes_figure(region: Any) -> Picture:
    """The region that is proved safe, the point, and the sentence that `cflag stepsize` begins with.

    Parameters
    ----------
    region : Region or mapping
        A mapping as `studies.stepsize.region.Region.to_json` gives it.
    """
    region = plain(region)
    least, most = (np.array(side, dtype=float) for side in region["safe"])
    inside = np.flatnonzero(np.isfinite(most))
    x, y = region["point"]
    with house_style():
        figure = Picture(figsize=(7.2, 5.6), layout="constrained")
        axes = figure.subplots()
        axes.grid(False)
        axes.fill_between(region["x"], least, most, color=SECOND, alpha=0.3, linewidth=0)
        axes.plot(region["x"], most, color=SECOND)
        if inside.size:
            middle = inside[2 * inside.size // 3]
            at = region["x"][middle], least[middle] * (most[middle] / least[middle]) ** 0.25
            axes.text(*at, "Safe", color="#00543D", fontsize=16, ha="center", va="center")
        axes.plot([x], [y], "o", color="black", markersize=9, zorder=5)
        words = ", ".join(f"{_SIGNS[name]} = {one:.3g}" for (name, _), one in zip(region["axes"], (x, y), strict=True))
        axes.annotate(words, (x, y), (-8, -8), textcoords="offset points", ha="right", va="top")
        axes.set(xscale="log", yscale="log", xlim=region["x_range"], ylim=region["y_range"])
        along, up = (f"{_SIGNS[name]}, {meaning}" for name, meaning in region["axes"])
        axes.set(xlabel=along, ylabel=up)
        numbers = ", ".join(f"{name} = {value:.4g}" for name, value in region["numbers"].items())
        about = wrapped(f"Step sizes for {numbers}", 76)
        message(axes, region["answer"], 62, pad=14 * (2 + about.count("\n")))
        subtitle(axes, about)
        figure.alt = f"{region['answer']}. {about}."
    return figure
