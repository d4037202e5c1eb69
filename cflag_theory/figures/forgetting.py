"""Gamma(t) along rounds for more and less heterogeneous clients, and who interferes (Figure 4 of the C-FLAG paper)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.image import AxesImage
from matplotlib.ticker import MaxNLocator

from cflag_theory.figures.style import BOUND, MEASURED, REFERENCE, SECOND, Picture, house_style

_NAMES = {"c_flag": "constant rates", "c_flag_adaptive": "adaptive rates"}
_COLORS = (MEASURED, "#CC79A7", BOUND, SECOND)
# Transference, undecided, interference.
_SIGNS = LinearSegmentedColormap.from_list("signs", [SECOND, "#FFFFFF", BOUND])


def forgetting_figure(runs: Sequence[Mapping[str, Any]]) -> Picture:
    """One column a level of heterogeneity: Gamma(t) of every row above, below the sign of Lambda_{t,i} by client.

    Parameters
    ----------
    runs : sequence of mappings
        Those of one study, each as `studies.forgetting.heterogeneity.Forgetting.to_json` gives it.
    """
    levels = list(dict.fromkeys(run["words"] for run in runs))
    rows = list(dict.fromkeys(run["algorithm"] for run in runs))
    with house_style():
        figure = Picture(figsize=(1.4 + 4.2 * len(levels), 3.4 + 1.5 * len(rows)), layout="constrained")
        axes = figure.subplots(
            1 + len(rows), len(levels), squeeze=False, sharex=True, height_ratios=[2.6] + [1.2] * len(rows)
        )
        image = None
        for column, words in enumerate(levels):
            mine = [run for run in runs if run["words"] == words]
            _terms(axes[0, column], mine)
            if column:
                axes[0, column].sharey(axes[0, 0])
                axes[0, column].tick_params(labelleft=False)
            found = [
                rf"{_NAMES.get(run['algorithm'], run['algorithm'])}: $\Gamma > 0$ in {_share(run):.0%} of rounds"
                for run in mine
            ]
            title = "\n".join([f"{mine[0]['study']}, {mine[0]['level']}: {words}", *found])
            axes[0, column].set_title(title, fontsize=9, loc="left")
            for place, name in enumerate(rows, start=1):
                image = _strip(axes[place, column], next(run for run in mine if run["algorithm"] == name))
            axes[-1, column].set_xlabel("round t")
        _scale(axes[0, 0], runs)
        axes[0, 0].set_ylabel(r"$\Gamma(t)$")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(rows))
        for place, name in enumerate(rows, start=1):
            axes[place, 0].set_ylabel(_NAMES.get(name, name))
        if image is not None:
            bar = figure.colorbar(image, ax=axes[1:, :], fraction=0.05, aspect=14)
            bar.set_label(r"replicas with $\Lambda_{t,i}\leq 0$")
            bar.set_ticks([0, 0.5, 1], labels=["0: transference", "1/2", "1: interference"])
    return figure


def _share(run: Mapping[str, Any]) -> float:
    """Of rounds in which Gamma(t), the mean over the replicas, is positive."""
    return float((np.array(run["Gamma"]["mean"]) > 0).mean())


def _terms(axes: Axes, runs: Sequence[Mapping[str, Any]]) -> None:
    axes.axhline(0.0, color=REFERENCE, linewidth=0.8)
    for run, color in zip(runs, _COLORS, strict=False):
        Gamma = run["Gamma"]
        t = np.arange(len(Gamma["mean"]))
        axes.fill_between(t, Gamma["low"], Gamma["high"], color=color, alpha=0.25, linewidth=0)
        name = _NAMES.get(run["algorithm"], run["algorithm"])
        axes.plot(t, Gamma["mean"], color=color, label=f"{name} (mean over replicas, 95% band)")


def _scale(axes: Axes, runs: Sequence[Mapping[str, Any]]) -> None:
    """Linear near zero and logarithmic beyond: adaptive rates have spikes of either sign."""
    largest = max(float(np.abs(run["Gamma"]["mean"]).max()) for run in runs)
    if largest > 0:
        axes.set_yscale("symlog", linthresh=10.0 ** np.floor(np.log10(largest) - 2))


def _strip(axes: Axes, run: Mapping[str, Any]) -> AxesImage:
    """Who interferes: a row a client, the server's weighted sum at the bottom."""
    shares = np.array([*run["interfering"], run["server_interfering"]])
    clients = len(shares) - 1
    image = axes.imshow(shares, aspect="auto", interpolation="nearest", cmap=_SIGNS, vmin=0, vmax=1)
    axes.axhline(clients - 0.5, color="black", linewidth=0.8)
    shown = [place for place in MaxNLocator(4, integer=True).tick_values(0, clients - 1) if 0 <= place < clients]
    axes.set_yticks([*shown, clients], labels=[*(f"client {int(place)}" for place in shown), "server"], fontsize=7)
    axes.grid(visible=False)
    return image
