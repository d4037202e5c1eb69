"""Results of sweeps: a quantity against a coordinate, curves along rounds, and a map over two coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize

from cflag_theory.figures import style

_COLORS = (style.MEASURED, style.BOUND, style.SECOND, "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B8A800")
# Three kinds with eight colours: 24 looks, and neighbours that coincide still show.
_LINES = ("-", "--", ":")
_MARKERS = "os^Dv<>p"


def series_figure(data: Mapping[str, Any]) -> style.Picture:
    """Mean and band of a quantity against a numeric coordinate, one line a group; slopes -1/2 and -1 against T.

    Parameters
    ----------
    data : mapping
        As `studies.sweeps.series.series` gives it: "x", "y" (names), and "groups", each with "label", "x", "mean",
        "low", "high", "diverged" and "slope".
    """
    with style.house_style():
        figure, axes = _one_panel(data["groups"])
        names: list[tuple[float, str, str]] = []
        for number, group in enumerate(data["groups"]):
            color, line = _look(number)
            marker = _MARKERS[number % len(_MARKERS)]
            label = _label(group)
            if group["slope"] is not None and len(group["x"]) > 3:
                # Adding zero turns -0 into 0.
                label += f", slope {round(group['slope'], 2) + 0.0:.2f}"
            axes.fill_between(group["x"], group["low"], group["high"], color=color, alpha=0.18, linewidth=0)
            axes.plot(group["x"], group["mean"], line, marker=marker, color=color, markersize=4, label=label)
            names.append((_end(group), label, color))
        _logarithms(axes, data["groups"])
        if data["x"] == "T":
            _reference_slopes(axes, data["groups"])
        axes.set(xlabel=_name(data["x"]), ylabel=f"{_name(data['y'])}, mean and 95% band")
        _titled(axes, data["title"], _lowest(data["groups"]))
        figure.arrange()
        style.name_ends(axes, names)
        for guide in axes.lines:
            if str(guide.get_label()).startswith("Slope -"):
                style.name_line(axes, guide, str(guide.get_label()))
    return figure


def curves_figure(data: Mapping[str, Any]) -> style.Picture:
    """Mean and band of a recorded column along rounds, one line a group.

    Parameters
    ----------
    data : mapping
        As `studies.sweeps.series.curves` gives it: "y", and "groups", each with "label", "x" (rounds), "mean", "low",
        "high" and "diverged".
    """
    with style.house_style():
        figure, axes = _one_panel(data["groups"])
        names: list[tuple[float, str, str]] = []
        for number, group in enumerate(data["groups"]):
            color, line = _look(number)
            axes.fill_between(group["x"], group["low"], group["high"], color=color, alpha=0.18, linewidth=0)
            axes.plot(group["x"], group["mean"], line, color=color, label=_label(group))
            names.append((_end(group), _label(group), color))
        values = np.concatenate([np.asarray(group["mean"], dtype=float) for group in data["groups"]])
        if (values > 0).all():
            axes.set_yscale("log")
        axes.set(xlabel="Round $t$", ylabel=f"{_name(data['y'])}, mean and 95% band")
        _titled(axes, data["title"], _lowest(data["groups"]))
        figure.arrange()
        style.name_ends(axes, names)
    return figure


def map_figure(data: Mapping[str, Any]) -> style.Picture:
    """Mean of a quantity over two coordinates, a colour a cell; cells in which a run diverged are crossed out.

    Parameters
    ----------
    data : mapping
        As `studies.sweeps.series.grid_map` gives it: "x", "by", "y" (names), "columns", "rows" (labels), "mean" (rows,
        columns; NaN where nothing is) and "diverged" (rows, columns; counts).
    """
    mean, diverged = np.asarray(data["mean"], dtype=float), np.asarray(data["diverged"])
    with style.house_style():
        size = (2.4 + 0.75 * len(data["columns"]), 1.8 + 0.5 * len(data["rows"]))
        figure = style.Picture(figsize=(max(size[0], 4.4), max(size[1], 3.0)), layout="constrained")
        axes = figure.subplots()
        axes.grid(False)
        positive = mean[np.isfinite(mean)]
        scale = LogNorm if positive.size and (positive > 0).all() else Normalize
        drawn = axes.pcolormesh(mean, norm=scale(), cmap="viridis", edgecolors="white", linewidth=0.5)
        rows, columns = np.nonzero(diverged)
        axes.plot(columns + 0.5, rows + 0.5, "x", color=style.BOUND, markersize=9, markeredgewidth=2)
        axes.set_xticks(np.arange(len(data["columns"])) + 0.5, data["columns"], rotation=35, ha="right")
        axes.set_yticks(np.arange(len(data["rows"])) + 0.5, data["rows"])
        axes.set(xlabel=_name(data["x"]), ylabel=_name(data["by"]), title=style.typeset(data["title"]))
        figure.colorbar(drawn, ax=axes, label=f"Mean of {_name(data['y'])}")
        if rows.size:
            figure.supxlabel("Crossed out: at least one run diverged; the mean is over the others", fontsize=8)
    return figure


def _one_panel(groups: Any) -> tuple[style.Picture, Axes]:
    """A panel of the same size whatever the names beside it need."""
    longest = max(len(group["label"]) for group in groups)
    figure = style.Picture(figsize=(6.6 + 0.07 * longest, max(4.2, 0.6 + 0.2 * len(groups))), layout="constrained")
    return figure, figure.subplots()


def _look(number: int) -> tuple[str, str]:
    return _COLORS[number % len(_COLORS)], _LINES[number % len(_LINES)]


def _label(group: Mapping[str, Any]) -> str:
    lost = group["diverged"]
    return str(group["label"]) + (f" ({lost} diverged)" if lost else "")


def _name(name: str) -> str:
    """A column's name as readers know it from the papers."""
    known = {"T": "Rounds $T$", "E": "Local steps $E$", "beta": r"$\beta$", "alpha": r"$\alpha$"}
    norms = {"grad_f2": r"\|\nabla f\|^2", "grad_g2": r"\|\nabla g\|^2", "grad_h2": r"\|\nabla \tilde h\|^2"}
    for column, symbol in norms.items():
        known |= {
            column: f"${symbol}$",
            f"min_{column}": rf"$\min_t {symbol}$",
            f"mean_{column}": f"Mean over rounds of ${symbol}$",
            f"last_{column}": f"${symbol}$ at the end",
            f"min_of_mean_{column}": rf"$\min_t$ mean ${symbol}$",
        }
    return known.get(name, name)


def _logarithms(axes: Axes, groups: Any) -> None:
    """Logarithmic axes where all numbers are positive and span more than a factor of three."""
    for key, scale in (("x", axes.set_xscale), ("mean", axes.set_yscale)):
        values = np.concatenate([np.asarray(group[key], dtype=float) for group in groups])
        if (values > 0).all() and values.max() > 3 * values.min():
            scale("log")
            places = sorted({float(place) for group in groups for place in group["x"]})
            if key == "x" and len(places) <= 16:
                axes.set_xticks(places, [f"{place:g}" for place in places])
                axes.minorticks_off()


def _reference_slopes(axes: Axes, groups: Any) -> None:
    """Slopes -1/2 and -1 from the first point of the first line, within the limits that the data set."""
    first = groups[0]
    if axes.get_yscale() != "log" or len(first["x"]) < 2:
        return
    limits = axes.get_ylim()
    T = np.array(first["x"], dtype=float)
    for power, words, line in ((-0.5, "-1/2", (0, (5, 2))), (-1.0, "-1", (0, (5, 2, 1, 2)))):
        values = first["mean"][0] * (T / T[0]) ** power
        axes.plot(T, values, linestyle=line, color=style.REFERENCE, linewidth=1, label=f"Slope {words}", zorder=0)
    axes.set_ylim(limits)


def _titled(axes: Axes, title: str, finding: str) -> None:
    """The finding, and below it what was run."""
    axes.set_title("\n".join(style.typeset(one) for one in (finding, title) if one), loc="left", fontsize=10.5)


def _lowest(groups: Any) -> str:
    """Which line ends lowest, where there are several."""
    ends = {str(group["label"]): _end(group) for group in groups if np.isfinite(_end(group))}
    return f"Lowest at the end: {min(ends, key=ends.__getitem__)}" if len(ends) > 1 else ""


def _end(group: Mapping[str, Any]) -> float:
    return float(group["mean"][-1]) if len(group["mean"]) else float("nan")
