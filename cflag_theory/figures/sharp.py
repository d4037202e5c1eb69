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
    """A row a lemma: constants along beta L E, and along E.

    Parameters
    ----------
    lemmas : sequence of mappings
        As `studies.worst_cases.curves.sharp_curves` gives them.
    """
    with house_style():
        figure = Picture(figsize=(8.0, 1.0 + 3.3 * len(lemmas)), layout="constrained")
        axes = figure.subplots(len(lemmas), 2, squeeze=False)
        named: dict[str, Any] = {}
        for (left, right), one in zip(axes, lemmas, strict=True):
            _along_u(left, one)
            _along_E(right, one)
            named |= {str(line.get_label()): line for line in left.lines if not str(line.get_label()).startswith("_")}
        figure.suptitle("Constants of the lemmas: lines are worst cases, markers are runs", fontsize=11)
        figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=4)
    return figure


def _along_u(axes: Axes, one: Mapping[str, Any]) -> None:
    axes.plot(one["u"], one["printed"], color=BOUND, label="Printed")
    if one["supremum"] is not None:
        axes.plot(one["u"], one["supremum"], "--", color=REFERENCE, label="Every $n$ and $E$")
    colours = _each([curve["n"] for curve in one["along_u"]], _COLOURS)
    markers = _each([curve["E"] for curve in one["along_u"]], _MARKERS)
    for curve in one["along_u"]:
        colour, marker = colours[curve["n"]], markers[curve["E"]]
        axes.plot(one["u"], curve["worst"], color=colour)
        axes.plot(curve["met_u"], curve["met"], marker, color=colour, markersize=4)
    # Colours are components and markers are steps: each is named once.
    for n, colour in colours.items():
        axes.plot([], [], color=colour, label=f"$n$ = {n}")
    for E, marker in markers.items():
        axes.plot([], [], marker, color="#555555", markersize=4, label=f"$E$ = {E}")
    for name, words in (("range", "Range"), ("largest", "True up to")):
        if one[name] is not None and one[name] <= one["u"][-1]:
            axes.axvline(one[name], color="black", linestyle=":", linewidth=1)
            # Above the axes no curve is in the way.
            side = "left" if one[name] < one["u"][-1] / 2 else "right"
            at: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "fontsize": 9.5, "va": "bottom", "ha": side}
            axes.text(one[name], 1.0, f"{words} {one[name]:.3g}", **at)
    # A growing printed constant is followed; else what lies far above it says no more than that it does.
    axes.set_ylim(0, 1.4 * max(one["printed"]))
    axes.set(xlabel=r"$\beta L E$", ylabel="Constant" if one["exact"] else "Constant, at most")
    message(axes, f"{one['where']}: {_finding(one)}", 34, pad=18)


def _finding(one: Mapping[str, Any]) -> str:
    """How far the lemma is true, else how near an instance comes to its constant."""
    if one["largest"] is not None and one["range"]:
        return f"true up to {one['largest'] / one['range']:.2g} times the printed range"
    worst = max(max(curve["worst"]) for curve in one["along_u"])
    return f"printed {max(one['printed']):.3g}, worst {'' if one['exact'] else 'at most '}{worst:.2g}"


def _along_E(axes: Axes, one: Mapping[str, Any]) -> None:
    axes.axhline(one["printed_at"], color=BOUND, label="Printed")
    # The colours of the components as above.
    colours = _each([curve["n"] for curve in one["along_E"]], _COLOURS)
    for curve in one["along_E"]:
        colour = colours[curve["n"]]
        axes.plot(curve["E"], curve["worst"], color=colour, label=f"$n$ = {curve['n']}")
        axes.plot(curve["E"], curve["met"], ".", color=colour)
    worst, most = max(max(curve["worst"]) for curve in one["along_E"]), max(one["along_E"][0]["E"])
    message(axes, rf"$\beta L E$ = {one['at']:.2g}: {worst:.2g} up to E = {most}, printed {one['printed_at']:.3g}", 31)
    axes.set(xscale="log", xlabel="$E$")
    axes.set_ylim(bottom=0)
    axes.set_xticks(one["along_E"][0]["E"], [str(E) for E in one["along_E"][0]["E"]])
    axes.minorticks_off()


def _each(values: Sequence[int], looks: Sequence[str]) -> dict[int, str]:
    """A look for every value, in order of appearance."""
    return dict(zip(dict.fromkeys(values), cycle(looks)))
