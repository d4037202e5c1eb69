"""The printed drift and error constants beside what is proved and what an instance reaches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from cflag_theory.figures.style import BOUND, MEASURED, REFERENCE, SECOND, house_style


def drift_figure(data: Mapping[str, Any]) -> Figure:
    """Constants of Lemma 13 and Corollary 14 along beta L E.

    Parameters
    ----------
    data : mapping
        As `verify.checks.c_flag.drift.constants_along_range` gives it: for "drift" and "error" the printed constant,
        the printed end of the range, the grid `u`, the `proved` constant on it, and instances by E.
    """
    with house_style():
        figure = Figure(figsize=(9.6, 3.6), layout="constrained")
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
