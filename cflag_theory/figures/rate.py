"""Squared gradients against the number of rounds, with bounds, bands, reference slopes and fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from cflag_theory.figures.style import BOUND, MEASURED, REFERENCE, SECOND, house_style

_Floats = NDArray[np.float64]
_GRADIENT = {"f": r"\nabla f", "g": r"\nabla g", "h": r"\nabla\tilde h"}
_THIRD = "#CC79A7"
_COLOURS = {"f": MEASURED, "g": SECOND, "h": _THIRD}
# Claim -> what the legend calls it, colour, marker.
_BOUNDS = {
    "cflag.thm2": ("Theorem 2, $\\Gamma$ measured", BOUND, "s"),
    "cflag.lemma1": ("Lemma 1 summed, $\\Gamma$ and $B$ measured", "#000000", "x"),
    "cflag.thm5 (163)": ("Theorem 5 by its proof, (163)", "#E69F00", "v"),
    "cflag.thm5": ("Theorem 5 repaired, explicit $C$", "#B22222", "^"),
    "cflag.lemma3": ("Lemma 3", BOUND, "s"),
    "ours.drawn_once": ("ours.drawn_once", SECOND, "D"),
    "ours.redrawn": ("ours.redrawn", "#8A8A00", "P"),
    "ours.first_rounds": ("ours.first_rounds", "#7B4FA3", "<"),
    "ours.bounded_gradients": ("ours.bounded_gradients", "#006D4C", "D"),
    "ours.algorithm1_descent": ("ours.algorithm1_descent", "#8B3E6B", "D"),
    "ours.drawn_once_rate": ("ours.drawn_once_rate, from below", "#56B4E9", "2"),
}
_SIDES = {"min": " (min)", "mean": " (mean)", "below": ""}


def rate_figure(studies: Sequence[Mapping[str, Any]]) -> Figure:
    """One column a study: the past task above, then the current and the joint one, then bounds over measurements.

    A bound that is proved for the setting is a solid line, any other is dashed. Colours are the same in all panels.

    Parameters
    ----------
    studies : sequence of mappings
        Each as `studies.rates.results.Rate.to_json` gives it.
    """
    with house_style():
        figure = Figure(figsize=(7.2 * len(studies), 11.6), layout="constrained")
        axes = figure.subplots(3, len(studies), squeeze=False, sharex="col", height_ratios=[3.2, 2.2, 1.6])
        for column, study in enumerate(studies):
            _past(axes[0, column], study)
            _others(axes[1, column], study)
            _quotients(axes[2, column], study)
    return figure


def horizons_of(study: Mapping[str, Any]) -> _Floats:
    """The values of T."""
    return np.array(study["horizons"], dtype=float)


def numbers(values: Sequence[float | None]) -> _Floats:
    """Values with NaN, which is not drawn, where there is none."""
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def band(axes: Axes, T: _Floats, bands: Sequence[Sequence[float] | None], colour: str, opacity: float = 0.2) -> None:
    """A bootstrap band."""
    low, high = np.array([(np.nan, np.nan) if one is None else one for one in bands], dtype=float).T
    axes.fill_between(T, low, high, color=colour, alpha=opacity, linewidth=0)


def law(study: Mapping[str, Any]) -> str:
    """The step sizes of a study in a line."""
    power = study["power"]
    beta = "c" if power == 0 else r"c/\sqrt{T}" if power == 0.5 else rf"c/T^{{{power:g}}}"
    factor = "" if study["alpha_factor"] == 1 else f"{study['alpha_factor']:g}"
    alpha = rf"$\alpha = {factor or 1}/(L(1+m)) = {study['alpha']:.3g}$, " if study["alpha"] else ""
    return rf"{alpha}$\beta = {beta}$, $c = {study['c']:.3g}$, $m = {study['m']:.3g}$, $E = {study['E']}$"


def _past(axes: Axes, study: Mapping[str, Any]) -> None:
    T = horizons_of(study)
    curve = study["curves"]["f"]
    measured = numbers(curve["min_mean"])
    band(axes, T, curve["band"], MEASURED)
    band(axes, T, curve["mean_band"], MEASURED, 0.1)
    axes.plot(T, measured, "o-", color=MEASURED, markersize=4, label=r"$\min_t$ mean $\|\nabla f(x_t)\|^2$, 95% band")
    axes.plot(T, numbers(curve["mean"]), "o--", color=MEASURED, markersize=2.5, label="mean over $t$, 95% band")
    axes.plot(T, numbers(curve["mean_min"]), ":", color=MEASURED, label="mean of the replicas' minima")
    exact = study.get("exact")
    if exact:
        axes.plot(T, numbers(exact["least"]), "+", color="black", markersize=10, label=r"$\min_t$, closed form")
        axes.plot(T, numbers(exact["mean"]), "1", color="black", markersize=9, label="mean over $t$, closed form")
    for bound in _drawn(study, "f"):
        _bound(axes, T, bound)
    _slopes(axes, T, measured, study)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_title(f"{study['title']}\n{law(study)}", fontsize=10)
    axes.set_ylabel(r"$\|\nabla f\|^2$, past task")
    _room_below(axes, 0.24)
    words = [fit_words("min", curve["fit"]), fit_words("mean", curve["mean_fit"])]
    words.append("fit: longest tail of T on which local slopes agree")
    axes.text(0.02, 0.03, "\n".join(words), transform=axes.transAxes, fontsize=8.5, va="bottom")
    _legend(axes)


def _slopes(axes: Axes, T: _Floats, measured: _Floats, study: Mapping[str, Any]) -> None:
    """Both slopes pass through the measurement where the fit begins."""
    if study["fit_from"] is None:
        return
    anchor = list(study["horizons"]).index(study["fit_from"])
    for power, style in ((-0.5, "--"), (-1.0, "-.")):
        line = measured[anchor] * (T / T[anchor]) ** power
        axes.plot(T, line, style, color=REFERENCE, linewidth=1, label=f"slope {power:g}")


def _others(axes: Axes, study: Mapping[str, Any]) -> None:
    T = horizons_of(study)
    words = []
    for key in ("g", "h"):
        curve = study["curves"].get(key)
        if curve is None:
            words.append(r"$\nabla\tilde h$: a rotated gradient has no $f_{memory}$")
            continue
        norm = rf"$\|{_GRADIENT[key]}\|^2$"
        band(axes, T, curve["band"], _COLOURS[key])
        axes.plot(
            T, numbers(curve["min_mean"]), "o-", color=_COLOURS[key], markersize=4, label=rf"$\min_t$ mean {norm}"
        )
        axes.plot(T, numbers(curve["mean"]), "o--", color=_COLOURS[key], markersize=2.5, label=f"{norm}, mean over $t$")
        for bound in _drawn(study, key):
            _bound(axes, T, bound)
        words.append(fit_words(norm, curve["fit"]))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylabel("current task and both")
    _room_below(axes, 0.28)
    axes.text(0.02, 0.03, "\n".join(words), transform=axes.transAxes, fontsize=8.5, va="bottom")
    _legend(axes)


def _quotients(axes: Axes, study: Mapping[str, Any]) -> None:
    T = horizons_of(study)
    drawn = []
    for key in _GRADIENT:
        for bound in _drawn(study, key):
            curve = study["curves"][key]
            of = numbers(curve["mean" if bound["of"] == "mean" else "min_mean"])
            with np.errstate(divide="ignore", invalid="ignore"):
                quotient = numbers(bound["values"]) / of
            drawn.append(quotient[np.isfinite(quotient)])
            _, colour, marker = _BOUNDS[bound["claim"]]
            style = "-" if bound["proved"] else "--"
            axes.plot(T, quotient, style, marker=marker, color=colour, markersize=3.5, linewidth=1.2)
    axes.axhline(1.0, color=REFERENCE, linewidth=1)
    axes.set_xscale("log", base=2)
    axes.set(xlabel="rounds T", ylabel="bound / measured,\ncolours as above")
    if all((one > 0).all() for one in drawn):
        axes.set_yscale("log")
        # Equalities stay on the line at 1: their rounding is not blown up to the height of the panel.
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, 0.5), max(high, 2.0))


def _drawn(study: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    return [one for one in study["bounds"] if one["quantity"] == key and any(v is not None for v in one["values"])]


def _bound(axes: Axes, T: _Floats, bound: Mapping[str, Any]) -> None:
    values = numbers(bound["values"])
    values[values <= 0] = np.nan
    words, colour, marker = _BOUNDS[bound["claim"]]
    label = words + _SIDES[bound["of"]] + ("" if bound["proved"] else ", unproved")
    style = "-" if bound["proved"] else "--"
    axes.plot(T, values, style, marker=marker, color=colour, markersize=3.5, linewidth=1.2, label=label)


def fit_words(what: str, fit: Mapping[str, Any] | None) -> str:
    """A fitted slope, its interval, its range, and the floor where there is one."""
    if fit is None:
        return f"{what}: no slope, fewer than two horizons above rounding"
    low, high = fit["interval"]
    words = f"{what}: slope {fit['slope']:.3f} [{low:.3f}, {high:.3f}], T from {fit['first']} to {fit['last']}"
    return words if fit["floor"] is None else f"{words}: does not fall below {fit['floor']:.3g}"


def _room_below(axes: Axes, share: float) -> None:
    """Keep the lowest part of the panel free for words."""
    low, high = axes.get_ylim()
    if axes.get_yscale() == "log" and low > 0:
        axes.set_ylim(low / (high / low) ** (share / (1 - share)), high)


def _legend(axes: Axes) -> None:
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=2, fontsize=7.5)


# The bound of each study: the first of these that is proved for it.
_PROVED = ("ours.redrawn", "ours.drawn_once", "cflag.lemma1")


def rate_family_figure(family: Mapping[str, Any]) -> Figure:
    """min_t mean ||grad f||^2 against T for every value, then the bound over the mean, then the fitted slopes.

    The bound is the first of ours.redrawn, ours.drawn_once and Lemma 1 (repaired, summed) that is proved for the study;
    all three bound the mean over t.

    Parameters
    ----------
    family : mapping
        As `studies.rates.families.RateFamily.to_json` gives it.
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
            bound = _proved_bound(study)
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


def _proved_bound(study: Mapping[str, Any]) -> Mapping[str, Any] | None:
    found = {one["claim"]: one for one in study["bounds"] if one["proved"]}
    return next((found[claim] for claim in _PROVED if claim in found), None)
