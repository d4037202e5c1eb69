"""Rate studies that differ in one dial, as one family of curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from cflag_theory.figures.rate import band, horizons_of, numbers
from cflag_theory.figures.style import REFERENCE, house_style

# The bound of each study: the first of these that is proved for it.
_PROVED = ("ours.redrawn", "ours.drawn_once", "cflag.lemma1")


def rate_family_figure(family: Mapping[str, Any]) -> Figure:
    """min_t mean ||grad f||^2 against T for every value, then the bound over the mean, then the fitted slopes.

    The bound is the first of ours.redrawn, ours.drawn_once and Lemma 1 (repaired, summed) that is proved for the study;
    all three bound the mean over t.

    Parameters
    ----------
    family : mapping
        As `verify.rate_families.RateFamily.to_json` gives it.
    """
    studies, values = family["studies"], family["values"]
    colours = mpl.colormaps["viridis"](np.linspace(0, 0.88, len(studies)))
    with house_style():
        figure = Figure(figsize=(8.4, 8.8), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1.3])
        for study, value, colour in zip(studies, values, colours, strict=True):
            T, curve = horizons_of(study), study["curves"]["f"]
            fit = curve["fit"]
            slope = "no slope" if fit is None else f"slope {fit['slope']:.2f} from T = {fit['first']}"
            if fit is not None and fit["floor"] is not None:
                slope = f"stays at {fit['floor']:.2g}"
            band(above, T, curve["band"], colour, 0.15)
            label = f"{family['varied']} = {value:g}: {slope}"
            above.plot(T, numbers(curve["min_mean"]), "o-", color=colour, markersize=4, label=label)
            bound = _bound(study)
            if bound is not None:
                above.plot(T, numbers(bound["values"]), "--", color=colour, linewidth=1)
                with np.errstate(divide="ignore", invalid="ignore"):
                    quotient = numbers(bound["values"]) / numbers(curve["mean"])
                quotient[~np.isfinite(quotient)] = np.nan
                below.plot(T, quotient, "s-", color=colour, markersize=3.5, label=bound["claim"])
        first = studies[0]["curves"]["f"]["min_mean"][0]
        T = horizons_of(studies[0])
        for power, style in ((-0.5, ":"), (-1.0, "-.")):
            above.plot(T, first * (T / T[0]) ** power, style, color=REFERENCE, linewidth=1, label=f"slope {power:g}")
        above.set_xscale("log", base=2)
        above.set(yscale="log", title=f"{studies[0]['title']}: {family['varied']} varied")
        above.set_ylabel(r"$\min_t$ mean $\|\nabla f(x_t)\|^2$, 95% band; dashed: proved bound on the mean over $t$")
        above.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        below.axhline(1.0, color=REFERENCE, linewidth=1)
        below.set(yscale="log", xlabel="rounds T", ylabel="proved bound / measured mean")
        if below.get_legend_handles_labels()[0]:
            below.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _bound(study: Mapping[str, Any]) -> Mapping[str, Any] | None:
    found = {one["claim"]: one for one in study["bounds"] if one["proved"]}
    return next((found[claim] for claim in _PROVED if claim in found), None)
