"""What a rate study has beside ||grad f||^2: the gradients of g and h~, and every bound over what it bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cflag_theory.figures.labels import name_ends
from cflag_theory.figures.rate import band, horizons_of, last, named, numbers, positive
from cflag_theory.figures.style import MEASURED, REFERENCE, SECOND, Picture, house_style, plain_all

_THIRD = "#CC79A7"
_GRADIENTS = {
    "f": (r"$\|\nabla f\|^2$", MEASURED),
    "g": (r"$\|\nabla g\|^2$", SECOND),
    "h": (r"$\|\nabla\tilde h\|^2$", _THIRD),
}
_Names = list[tuple[float, str, str]]


def rate_details_figure(studies: Any) -> Picture:
    """One column a study: the gradients of the current task and of both tasks above, below bounds over measurements.

    A bound that is proved for the setting is a solid line, any other is dashed; its colour is that of the gradient that
    it bounds.

    Parameters
    ----------
    studies : Rate, mapping, or sequence of either
        Mappings as `studies.rates.results.Rate.to_json` gives them.
    """
    found = plain_all(studies)
    with house_style():
        figure = Picture(figsize=(7.4 * len(found), 8.6), layout="constrained")
        axes = figure.subplots(2, len(found), squeeze=False, sharex="col")
        names = []
        for column, study in enumerate(found):
            names.append((axes[0, column], _gradients(axes[0, column], study)))
            names.append((axes[1, column], _quotients(axes[1, column], study)))
        figure.draw_without_rendering()
        for place, written in names:
            name_ends(place, written, size=8)
    return figure


def _gradients(axes: Axes, study: Mapping[str, Any]) -> _Names:
    T, names, said = horizons_of(study), [], []
    for key in ("g", "h"):
        symbol, colour = _GRADIENTS[key]
        curve = study["curves"].get(key)
        if curve is None:
            said.append(r"a rotated gradient has no $\tilde h$")
            continue
        band(axes, T, curve["band"], colour)
        least, mean = positive(curve["min_mean"]), positive(curve["mean"])
        axes.plot(T, least, "o-", color=colour, markersize=4, label=rf"$\min_t$ mean {symbol}")
        axes.plot(T, mean, ":", color=colour, linewidth=1.3, label=f"{symbol}, mean over $t$")
        names += [(last(least), rf"$\min_t$ {symbol}", colour), (last(mean), f"{symbol}, mean over $t$", colour)]
        said.append(f"{symbol} {_fall(curve, study['horizons'])}")
    axes.set_xscale("log", base=2)
    if any(np.isfinite(line.get_ydata()).any() for line in axes.lines):
        axes.set_yscale("log")
    words = ";\n".join(said) if sum(map(len, said)) > 80 else "; ".join(said)
    axes.set_title(f"{study['title']}\n{words}", loc="left", fontsize=10, fontweight="bold")
    axes.set_ylabel("current task and both tasks")
    return names


def _fall(curve: Mapping[str, Any], horizons: Any) -> str:
    """What one gradient does: its floor or its slope, with the interval and the range of the fit."""
    fit = curve["fit"]
    if fit is None:
        return "is zero up to rounding"
    if fit["floor"] is not None:
        return f"stays at {fit['floor']:.2g}"
    low, high = fit["interval"]
    return f"has slope {fit['slope']:.2f} [{low:.2f}, {high:.2f}] from T = {fit['first']}"


def _quotients(axes: Axes, study: Mapping[str, Any]) -> _Names:
    T, names, drawn = horizons_of(study), [], []
    for key, (symbol, colour) in _GRADIENTS.items():
        for bound in study["bounds"]:
            if bound["quantity"] != key or all(value is None for value in bound["values"]):
                continue
            curve = study["curves"][key]
            with np.errstate(divide="ignore", invalid="ignore"):
                quotient = numbers(bound["values"]) / numbers(curve["mean" if bound["of"] == "mean" else "min_mean"])
            drawn.append(quotient[np.isfinite(quotient)])
            # Bounds that are not positive have no logarithm; the title counts them.
            quotient[~(np.isfinite(quotient) & (quotient > 0))] = np.nan
            side = "" if bound["of"] == "below" else f" {bound['of']}"
            words = f"{named(bound)},{side} {symbol}"
            style = "-" if bound["proved"] else "--"
            axes.plot(T, quotient, style, marker=".", color=colour, markersize=5, linewidth=1.3, label=bound["claim"])
            names.append((last(quotient), words, colour))
    axes.axhline(1.0, color=REFERENCE, linewidth=1)
    axes.set_xscale("log", base=2)
    axes.set(xlabel="rounds T", ylabel="bound / measured; dashed: not proved here")
    axes.set_title(_below_one(drawn), loc="left", fontsize=10, fontweight="bold")
    if any((one > 0).any() for one in drawn):
        axes.set_yscale("log")
        # Equalities stay on the line at 1: their rounding is not blown up to the height of the panel.
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, 0.5), max(high, 2.0))
    return names


def _below_one(drawn: list[Any]) -> str:
    ends = [one[-1] for one in drawn if one.size]
    positive_ends = [end for end in ends if end > 0]
    if not positive_ends:
        return "no bound applies here"
    words = f"bounds end {min(positive_ends):.2g} to {max(positive_ends):.2g} times what is measured"
    if low := sum(end < 1 - 1e-9 for end in ends):
        words = f"{low} of {len(ends)} bounds end below what they should bound; {words}"
    if negative := len(ends) - len(positive_ends):
        words += f"; {negative} ends negative"
    return words.replace("; ", ";\n") if len(words) > 70 else words
