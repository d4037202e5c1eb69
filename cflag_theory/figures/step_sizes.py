"""The plane of two step sizes: what the conditions allow, the point chosen and the best ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from math import log
from textwrap import wrap
from typing import Any

from matplotlib.axes import Axes

from cflag_theory.figures.style import BOUND, MEASURED, REFERENCE, SECOND, Picture, apart, house_style, plain

_COLOUR = {"C-FLAG": BOUND, "CFL": BOUND, "ours": SECOND, "target": MEASURED}
_SIGNS = {"alpha": r"$\alpha$", "beta": r"$\beta$", "eta_l": r"$\eta_l$", "eta_g": r"$\eta_g$"}
_DASHES = {"equal": ":", "target": "--", "at most": "-", "at least": "-."}
#: Dashes of closed target edges, which the legend names.
_LOOPS = ("--", (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 3)))
# Least distance of two labels along an edge, as a share of it.
_APART = 0.042


def step_sizes_figure(region: Any) -> Picture:
    """Every boundary with its name, the region where all inequalities hold, the point and the best points.

    Parameters
    ----------
    region : Region or mapping
        A mapping as `studies.stepsize.region.Region.to_json` gives it.
    """
    region = plain(region)
    with house_style():
        figure = Picture(figsize=(10.5, 7.2))
        axes = figure.add_axes((0.08, 0.09, 0.60, 0.72))
        axes.set(xscale="log", yscale="log", xlim=region["x_range"], ylim=region["y_range"])
        along, up = (f"{_SIGNS[name]}, {words}" for name, words in region["axes"])
        axes.set(xlabel=along, ylabel=up)
        axes.grid(False)
        for name, colour, words in (
            ("printed", "#FBE3D3", "all inequalities of the paper hold"),
            ("both", "#BFE5D8", "and ours too"),
        ):
            least, most = (_numbers(side) for side in region[name])
            axes.fill_between(region["x"], least, most, color=colour, linewidth=0, label=words)
        labels: dict[str, list[tuple[float, str, str]]] = {"right": [], "top": []}
        for one in region["boundaries"]:
            _line(axes, one, region, labels)
        x, y = region["point"]
        axes.plot([x], [y], "o", color="black", markersize=8, zorder=5, label="the point")
        for (name, a, b), mark in zip(region["best"], cycle("*PX^v<>")):
            axes.plot([a], [b], mark, color=MEASURED, markersize=11, zorder=5, label=name)
        _spread(axes, labels["right"], vertical=False)
        _spread(axes, labels["top"], vertical=True)
        axes.legend(loc="upper left", bbox_to_anchor=(1.02, -0.005), fontsize=7.5, borderaxespad=0, ncols=1)
        target = "" if region["epsilon"] is None else f", target {region['epsilon']:.3g}"
        lost = "".join(f"; {name} does not hold" for name in region["fails"])
        words = ", ".join(f"{name} = {value:.4g}" for name, value in region["numbers"].items())
        title = wrap(f"Step sizes for {words}{target}{lost}", 110)
        head = "\n".join([_finding(region), *title])
        figure.suptitle(head, x=0.08, y=1.03, ha="left", va="bottom", fontsize=11)
    return figure


def _finding(region: Mapping[str, Any]) -> str:
    """How far the inequalities of the paper let either step size go."""
    least, most = region["printed"]
    inside = [(x, high) for x, low, high in zip(region["x"], least, most, strict=True) if None not in (low, high)]
    names = [name for name, _ in region["axes"]]
    if not inside:
        return f"no {' and '.join(names)} meet all inequalities of the paper"
    ends = zip(names, (max(x for x, _ in inside), max(high for _, high in inside)), strict=True)
    return "the paper's inequalities allow " + ", ".join(f"{name} up to {value:.2g}" for name, value in ends)


def _numbers(side: Sequence[float | None]) -> list[float]:
    return [float("nan") if one is None else one for one in side]


def _line(axes: Axes, one: Mapping[str, Any], region: Mapping[str, Any], labels: dict[str, Any]) -> None:
    colour, name, xs, ys = _COLOUR[one["paper"]], one["name"], one["x"], one["y"]
    behind = {"facecolor": "white", "alpha": 0.7, "pad": 0.8, "linewidth": 0}
    beside: dict[str, Any] = {
        "textcoords": "offset points",
        "fontsize": 8,
        "color": colour,
        "ha": "right",
        "bbox": behind,
    }
    if len(xs) == 1:
        axes.plot(xs, ys, "D", color=colour, markersize=6, zorder=4)
        axes.annotate(name, (xs[0], ys[0]), (7, 5), **{**beside, "ha": "left"})
        return
    if one["kind"] == "target" and (xs[0], ys[0]) == (xs[-1], ys[-1]):
        # A closed edge has no end for its name to stand at.
        named = sum(str(line.get_label()).startswith("target") for line in axes.lines)
        style = _LOOPS[named % len(_LOOPS)]
        axes.plot(xs, ys, linestyle=style, color=colour, linewidth=1.3, label=f"target by {name}")
        return
    axes.plot(xs, ys, _DASHES[one["kind"]], color=colour, linewidth=1.3)
    if xs[0] == xs[1]:
        labels["top"].append((_share(xs[0], region["x_range"]), name, colour))
    elif xs[-1] >= region["x_range"][1] * 0.999:
        labels["right"].append((_share(ys[-1], region["y_range"]), name, colour))
    elif one["kind"] != "target" and ys[0] > ys[-1] and _share(ys[0], region["y_range"]) > 0.9:
        labels["top"].append((_share(xs[0], region["x_range"]), name, colour))
    elif one["kind"] != "target" and ys[-1] > ys[0]:
        labels["top"].append((_share(xs[-1], region["x_range"]), name, colour))
    elif one["kind"] == "target":
        axes.annotate(f"target by {name}", (xs[0], ys[0]), (-4, 4 + 11 * len(axes.texts)), **beside)
    else:
        axes.annotate(name, (xs[-1], ys[-1]), (-4, 4 + 11 * len(axes.texts)), **beside)


def _share(value: float, limits: Sequence[float]) -> float:
    return log(value / limits[0]) / log(limits[1] / limits[0])


def _spread(axes: Axes, labels: list[tuple[float, str, str]], *, vertical: bool) -> None:
    """Names beside the ends of their lines, pushed apart where they would cover each other."""
    ordered = sorted(labels)
    places = apart([share for share, _, _ in ordered], [_APART] * len(ordered))
    for (share, name, colour), place in zip(ordered, places, strict=True):
        at, to = ((share, 1.0), (place, 1.03)) if vertical else ((1.0, share), (1.03, place))
        axes.annotate(
            name,
            at,
            to,
            xycoords="axes fraction",
            textcoords="axes fraction",
            fontsize=8,
            color=colour,
            rotation=40 if vertical else 0,
            rotation_mode="anchor",
            ha="left",
            va="center",
            arrowprops={
                "arrowstyle": "-",
                "color": REFERENCE,
                "linewidth": 0.6,
                "shrinkA": 1,
                "shrinkB": 0,
                "relpos": (0, 0) if vertical else (0, 0.5),
            },
        )
