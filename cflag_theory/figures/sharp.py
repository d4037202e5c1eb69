"""Constants of Lemmas 12 to 16: printed, exact worst case, and the instances that were run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

from matplotlib.axes import Axes

from cflag_theory.figures.style import BOUND, MEASURED, REFERENCE, SECOND, Picture, house_style, message

_COLOURS = (MEASURED, SECOND, "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_MARKERS = "o^sDvP"


def sharp_figure(lemmas: Sequence[Mapping[str, Any]]) -> Picture:
    """A column a lemma: constants along beta L E above, along E below.

    Parameters
    ----------
    lemmas : sequence of mappings
        As `studies.worst_cases.curves.sharp_curves` gives them.
    """
    with house_style():
        figure = Picture(figsize=(max(4.2 * len(lemmas), 5.0), 8.6), layout="constrained")
        axes = figure.subplots(2, len(lemmas), squeeze=False)
        for column, one in enumerate(lemmas):
            _along_u(axes[0, column], one)
            _along_E(axes[1, column], one)
        figure.suptitle("Constants of the lemmas on local steps: lines are worst cases, markers are runs")
    return figure


def _along_u(axes: Axes, one: Mapping[str, Any]) -> None:
    axes.plot(one["u"], one["printed"], color=BOUND, label="printed")
    if one["supremum"] is not None:
        axes.plot(one["u"], one["supremum"], "--", color=REFERENCE, label="every n and E")
    at_most = "" if one["exact"] else ", at most"
    colours = _each([curve["n"] for curve in one["along_u"]], _COLOURS)
    markers = _each([curve["E"] for curve in one["along_u"]], _MARKERS)
    for curve in one["along_u"]:
        colour, marker = colours[curve["n"]], markers[curve["E"]]
        axes.plot(one["u"], curve["worst"], color=colour)
        axes.plot(curve["met_u"], curve["met"], marker, color=colour, markersize=4)
    # Colours are components and markers are steps: each is named once.
    for n, colour in colours.items():
        axes.plot([], [], color=colour, label=f"n = {n}{at_most}")
    for E, marker in markers.items():
        axes.plot([], [], marker, color="#555555", markersize=4, label=f"E = {E}")
    for name, words in (("range", "printed range"), ("largest", "true up to")):
        if one[name] is not None and one[name] <= one["u"][-1]:
            axes.axvline(one[name], color="black", linestyle=":", linewidth=1)
            beside: dict[str, Any] = {"rotation": 90, "fontsize": 7.5, "va": "top", "ha": "left"}
            axes.text(one[name], 0.97, f" {words} {one[name]:.3g}", transform=axes.get_xaxis_transform(), **beside)
    # A growing printed constant is followed; else what lies far above it says no more than that it does.
    axes.set_ylim(0, 1.4 * max(one["printed"]))
    axes.set(xlabel=r"$\beta L E$", ylabel="constant")
    message(axes, f"{one['where']}: {_finding(one)}", 34)
    _legend(axes)


def _finding(one: Mapping[str, Any]) -> str:
    """How far the lemma is true, else how near an instance comes to its constant."""
    if one["largest"] is not None and one["range"]:
        return f"true up to {one['largest'] / one['range']:.2g} times the printed range"
    worst = max(max(curve["worst"]) for curve in one["along_u"])
    return f"printed {max(one['printed']):.3g}, worst {worst:.2g}"


def _along_E(axes: Axes, one: Mapping[str, Any]) -> None:
    axes.axhline(one["printed_at"], color=BOUND, label="printed")
    # The colours of the components as above.
    colours = _each([curve["n"] for curve in one["along_E"]], _COLOURS)
    for curve in one["along_E"]:
        colour = colours[curve["n"]]
        axes.plot(curve["E"], curve["worst"], color=colour, label=f"n = {curve['n']}")
        axes.plot(curve["E"], curve["met"], ".", color=colour)
    axes.set(xscale="log", xlabel="E", ylabel="constant", title=rf"$\beta L E = {one['at']:.4g}$")
    axes.set_ylim(bottom=0)
    axes.set_xticks(one["along_E"][0]["E"], [str(E) for E in one["along_E"][0]["E"]])
    axes.minorticks_off()
    _legend(axes)


def _each(values: Sequence[int], looks: Sequence[str]) -> dict[int, str]:
    """A look for every value, in order of appearance."""
    return dict(zip(dict.fromkeys(values), cycle(looks)))


def _legend(axes: Axes) -> None:
    """Below the axes: inside, some line is always in the way."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), fontsize=7.5, ncols=2)
