"""A rate study for every value of one dial."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np

from cflag_theory.figures.rate import band, followed, horizons_of, last, named, numbers, positive
from cflag_theory.figures.style import REFERENCE, Picture, house_style, name_ends, name_line, plain

# The bound of each study: the first of these that is proved for it.
_PROVED = ("ours.redrawn", "ours.drawn_once", "cflag.lemma1")


def rate_family_figure(family: Any) -> Picture:
    """min_t mean ||grad f||^2 against T for every value, below the bound over the mean.

    The bound is the first of ours.redrawn, ours.drawn_once and Lemma 1 (repaired, summed) that is proved for the study;
    all three bound the mean over t.

    Parameters
    ----------
    family : RateFamily or mapping
        A mapping as `studies.rates.families.RateFamily.to_json` gives it.
    """
    family = plain(family)
    studies, values = family["studies"], family["values"]
    colours = mpl.colormaps["viridis"](np.linspace(0, 0.8, len(studies)))
    over: list[tuple[float, str, Any]] = []
    under: list[tuple[float, str, Any]] = []
    with house_style():
        figure = Picture(figsize=(9.0, 8.8), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1.3])
        above.set_xscale("log", base=2)
        for axes in (above, below):
            axes.set_yscale("log")
        for study, value, colour in zip(studies, values, colours, strict=True):
            T, curve = horizons_of(study), followed(study)
            measured, name = positive(curve["min_mean"]), f"{family['varied']} = {value:g}"
            band(above, T, curve["band"], colour, 0.15)
            above.plot(T, measured, "o-", color=colour, markersize=4, label=name)
            over.append((last(measured), f"{name}: {_fall(curve['fit'])}", colour))
            bound = _proved_bound(study)
            if bound is not None:
                above.plot(T, positive(bound["values"]), "--", color=colour, linewidth=1)
                with np.errstate(divide="ignore", invalid="ignore"):
                    quotient = numbers(bound["values"]) / numbers(curve["mean"])
                quotient[~np.isfinite(quotient)] = np.nan
                below.plot(T, quotient, "s-", color=colour, markersize=3.5, label=bound["claim"])
                under.append((last(quotient), f"{name}: {named(bound)}", colour))
        first, T = followed(studies[0])["min_mean"][0] / 1.6, horizons_of(studies[0])
        for power, words in ((-0.5, "-1/2"), (-1.0, "-1")):
            above.plot(T, first * (T / T[0]) ** power, ":", color=REFERENCE, linewidth=1, label=f"slope {words}")
        above.set_title(f"{_finding(family)}", loc="left", fontsize=11.5, fontweight="bold", pad=22)
        beside: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "bottom"}
        above.annotate(f"{studies[0]['title']}, {family['varied']} varied", (0, 1), (0, 6), fontsize=8.5, **beside)
        own = studies[0].get("objective", "f")
        above.set_ylabel(
            rf"$\min_t$ mean $\|\nabla {own}(x_t)\|^2$, 95% band; dashed: proved bound on the mean over $t$"
        )
        below.axhline(1.0, color=REFERENCE, linewidth=1)
        below.set(xlabel="rounds T", ylabel="proved bound / measured mean")
        figure.alt = f"{studies[0]['title']}: {_finding(family)}. {'; '.join(words for _, words, _ in over)}."
        figure.draw_without_rendering()
        name_ends(above, over)
        name_ends(below, under)
        for line in above.lines[-2:]:
            name_line(above, line, str(line.get_label()))
    return figure


def _finding(family: Mapping[str, Any]) -> str:
    """Which values stay above zero, and which fall."""
    stays: list[str] = []
    falls: list[str] = []
    slopes = []
    for study, value in zip(family["studies"], family["values"], strict=True):
        fit = followed(study)["fit"]
        if fit is None:
            continue
        (falls if fit["floor"] is None else stays).append(f"{value:g}")
        slopes += [fit["slope"]] if fit["floor"] is None else []
    varied = family["varied"]
    range_ = f"slopes {min(slopes):.2f} to {max(slopes):.2f}" if slopes else ""
    if not stays:
        return f"{varied} = {', '.join(falls)}: {range_}" if falls else f"{varied} varied: no slopes"
    words = f"{varied} = {', '.join(stays)} {'stays' if len(stays) == 1 else 'stay'} above zero"
    return f"{words}; {varied} = {', '.join(falls)}: {range_}" if falls else words


def _fall(fit: Mapping[str, Any] | None) -> str:
    if fit is None:
        return "no slope"
    if fit["floor"] is not None:
        return f"stays at {fit['floor']:.2g}"
    return f"slope {fit['slope']:.2f} from T = {fit['first']}"


def _proved_bound(study: Mapping[str, Any]) -> Mapping[str, Any] | None:
    found = {one["claim"]: one for one in study["bounds"] if one["proved"]}
    return next((found[claim] for claim in _PROVED if claim in found), None)
