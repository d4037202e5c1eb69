"""Constants of Lemmas 12 to 16: printed, exact worst case, and the instances that were run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

from matplotlib.axes import Axes

from cflag_theory.figures.style import BOUND, MEASURED, REFERENCE, SECOND, Picture, house_style

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
        figure = Picture(figsize=(max(4.0 * len(lemmas), 5.0), 8.6), layout="constrained")
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
        # The legend shows line and marker together.
        words = f"n = {curve['n']}, E = {curve['E']}{at_most}"
        axes.plot([], [], f"{marker}-", color=colour, markersize=4, label=words)
    for name, style, words in (("range", ":", "printed range ends"), ("largest", "-.", "true for every n, E up to")):
        if one[name] is not None and one[name] <= one["u"][-1]:
            axes.axvline(one[name], color="black", linestyle=style, linewidth=1, label=f"{words} {one[name]:.4g}")
    # A growing printed constant is followed; else what lies far above it says no more than that it does.
    axes.set_ylim(0, 1.4 * max(one["printed"]))
    axes.set(title=one["where"], xlabel=r"$\beta L E$", ylabel="constant")
    _legend(axes)


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
