"""A rate study for every value of one dial."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np

from cflag_theory.figures import style
from cflag_theory.figures.rate import band, fall, followed, horizons_of, last, named, numbers, positive

# The bound of each study: the first of these that is proved for it.
_PROVED = ("ours.redrawn", "ours.drawn_once", "cflag.lemma1")


def rate_family_figure(family: Any) -> style.Picture:
    """min_t mean ||grad f||^2 against T for every value, below the bound over the mean.

    The bound is the first of ours.redrawn, ours.drawn_once and Lemma 1 (repaired, summed) that is proved for the study;
    all three bound the mean over t.

    Parameters
    ----------
    family : RateFamily or mapping
        A mapping as `studies.rates.families.RateFamily.to_json` gives it.
    """
    family = style.plain(family)
    studies, values = family["studies"], family["values"]
    colours = mpl.colormaps["viridis"](np.linspace(0, 0.8, len(studies)))
    over: list[tuple[float, str, Any]] = []
    under: list[tuple[float, str, Any]] = []
    said, proved = [], []
    with style.house_style():
        figure = style.Picture(figsize=(6.4, 7.6), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1.4])
        above.set_xscale("log", base=2)
        above.set_yscale("log")
        below.set_yscale("log")
        for study, value, colour in zip(studies, values, colours, strict=True):
            T, curve = horizons_of(study), followed(study)
            measured, name = positive(curve["min_mean"]), style.typeset(f"{family['varied']} = {value:g}")
            said.append(f"{family['varied']} = {value:g}: {fall(curve, study['horizons'])}")
            band(above, T, curve["band"], colour, 0.15)
            above.plot(T, measured, "o-", color=colour, markersize=4, label=name)
            over.append((last(measured), name, colour))
            bound = _proved_bound(study)
            if bound is not None:
                above.plot(T, positive(bound["values"]), "--", color=colour, linewidth=1)
                with np.errstate(divide="ignore", invalid="ignore"):
                    quotient = numbers(bound["values"]) / numbers(curve["mean"])
                quotient[~np.isfinite(quotient)] = np.nan
                below.plot(T, quotient, "s-", color=colour, markersize=3.5, label=bound["claim"])
                under.append((last(quotient), name, colour))
                proved.append(named(bound))
        first, T = followed(studies[0])["min_mean"][0] / 1.6, horizons_of(studies[0])
        for power, words in ((-0.5, "-1/2"), (-1.0, "-1")):
            above.plot(T, first * (T / T[0]) ** power, ":", color=style.REFERENCE, linewidth=1, label=f"Slope {words}")
        style.message(above, _finding(family), 56, pad=26)
        about = f"{studies[0]['title']}; dashed: proved bounds on the mean over $t$"
        style.subtitle(above, style.typeset(about))
        own = studies[0].get("objective", "f")
        above.set_ylabel(rf"$\min_t$ mean $\|\nabla {own}(x_t)\|^2$, 95% band")
        below.axhline(1.0, color=style.REFERENCE, linewidth=1)
        below.set(xlabel="Rounds $T$", ylabel="Proved bound / mean")
        if proved:
            style.message(below, f"bounds: {', '.join(dict.fromkeys(proved))}", 56)
        style.log_numbers(below)
        figure.alt = f"{studies[0]['title']}: {_finding(family)}. {'; '.join(said)}."
        figure.draw_without_rendering()
        style.name_ends(above, over)
        style.name_ends(below, under)
        for line in above.lines[-2:]:
            style.name_line(above, line, str(line.get_label()))
    return figure


def _finding(family: Mapping[str, Any]) -> str:
    """Which values do what: those of which the same is said together."""
    groups: dict[str, list[str]] = {}
    for study, value in zip(family["studies"], family["values"], strict=True):
        words = fall(followed(study), study["horizons"]).partition(";")[0]
        for start, group in (
            ("a floor", "stays above zero"),
            ("from ", "no clear slope"),
            ("no slope", "rounding"),
        ):
            words = group if words.startswith(start) else words
        groups.setdefault(words, []).append(f"{value:g}")
    return "; ".join(f"{family['varied']} = {', '.join(values)}: {words}" for words, values in groups.items())


def _proved_bound(study: Mapping[str, Any]) -> Mapping[str, Any] | None:
    found = {one["claim"]: one for one in study["bounds"] if one["proved"]}
    return next((found[claim] for claim in _PROVED if claim in found), None)
