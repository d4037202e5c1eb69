"""Rules for adaptive rates: forgetting and final gradients under each rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from cflag_theory.figures.style import BOUND, MEASURED, REFERENCE, SECOND, Picture, house_style, typeset, wrapped

_TITLES = {
    "raised": r"Share of rounds with $\Gamma$ raised",
    "total_Gamma": r"Sum of $\Gamma(t)$",
    "change_f": r"$f(x_T)-f(x_0)$",
    "floor_f": r"$\|\nabla f\|^2$, last tenth",
    "floor_g": r"$\|\nabla g\|^2$, last tenth",
}
_LOGARITHMIC, _SIGNED = ("floor_f", "floor_g"), ("total_Gamma",)
# Smaller squares are rounding.
_SMALLEST = 1e-12


def adaptive_rates_figure(studies: Sequence[Mapping[str, Any]]) -> Picture:
    """One panel a quantity, one line a rule: mean over replicas and its 95% interval; three rows of panels a study.

    Parameters
    ----------
    studies : sequence of mappings
        Each as `studies.forgetting.adaptive_rates.AdaptiveRates.to_json` gives it.
    """
    with house_style():
        figure = Picture(figsize=(7.2, 9.6 * len(studies)), layout="constrained")
        parts = figure.subfigures(len(studies), 1, squeeze=False)[:, 0]
        for part, study in zip(parts, studies, strict=True):
            axes = part.subplots(3, 2, sharey=True)
            part.delaxes(axes[2, 1])
            for place, key in zip(axes.flat, _TITLES, strict=False):
                _panel(place, study, key)
            part.suptitle(wrapped(_finding(study), 66), fontsize=11, fontweight="bold")
            names = [typeset(rule["words"]) for rule in study["rules"]]
            axes[0, 0].set_yticks(range(len(names)), labels=[_broken(name) for name in names])
            axes[0, 0].set_ylim(len(names) - 0.5, -0.5)
        figure.alt = "; ".join(_finding(study) for study in studies)
    return figure


def _finding(study: Mapping[str, Any]) -> str:
    """The rule with the least gradient of f at the end, and what it costs in that of g."""
    ends = {rule["words"]: rule["values"] for rule in study["rules"] if "floor_f" in rule["values"]}
    if not ends:
        return f"{study['title']}: no rule stays finite"
    best, other = (min(ends, key=lambda words: ends[words][key]["mean"]) for key in _LOGARITHMIC)
    words = rf"{study['title']}: least $\|\nabla f\|^2$ with {best}"
    g, g2 = (ends[name]["floor_g"]["mean"] for name in (best, other))
    if g <= 1.1 * g2:
        return rf"{words}, and no rule has less $\|\nabla g\|^2$"
    cost = rf"{g / g2:.2g} times" if g2 > 0 else "more than"
    if len(ends) > 2 and g >= max(one["floor_g"]["mean"] for one in ends.values()):
        return rf"{words}, but the most $\|\nabla g\|^2$: {cost} that with {other}"
    return rf"{words}, but {cost} the $\|\nabla g\|^2$ with {other}"


def _panel(axes: Axes, study: Mapping[str, Any], key: str) -> None:
    values = [rule["values"][key] for rule in study["rules"] if key in rule["values"]]
    _scale(axes, key, [value["mean"] for value in values])
    constant = study["rules"][0]["values"].get(key)
    if key not in _LOGARITHMIC:
        axes.axvline(0.0, color=REFERENCE, linewidth=0.8)
    if constant is not None:
        axes.axvline(constant["mean"], color=MEASURED, linewidth=0.8, linestyle=":")
    for place, rule in enumerate(study["rules"]):
        value = rule["values"].get(key)
        if value is None:
            word = f"{rule['diverged']} diverged"
            axes.text(0.5, place, word, transform=axes.get_yaxis_transform(), ha="center", va="center")
            continue
        mean, low, high = (
            max(value[name], _SMALLEST) if key in _LOGARITHMIC else value[name] for name in ("mean", "low", "high")
        )
        color = MEASURED if place == 0 else SECOND if "(ours)" in rule["words"] else BOUND
        axes.plot([low, high], [place, place], color=color, linewidth=2.4, solid_capstyle="butt")
        axes.plot(mean, place, "o", color=color, markersize=5)
        if key in _LOGARITHMIC and value["mean"] < _SMALLEST:
            axes.annotate(f" {value['mean']:.0e}", (mean, place), va="center")
    axes.set_title(_TITLES[key])
    if key == "raised":
        axes.set_xlim(-0.05, 1.05)


def _scale(axes: Axes, key: str, means: Sequence[float]) -> None:
    """Logarithmic where values spread far; for values of either sign linear near zero."""
    sizes = np.abs([mean for mean in means if mean != 0])
    if not sizes.size:
        return
    if key in _LOGARITHMIC and sizes.max() > 30 * sizes.min():
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(numticks=5))
        axes.xaxis.set_minor_formatter(NullFormatter())
    elif key in _SIGNED and sizes.max() > 10 * np.median(sizes):
        threshold = 10.0 ** np.ceil(np.log10(np.median(sizes)))
        axes.set_xscale("symlog", linthresh=threshold, linscale=0.6)
        powers = np.unique(np.linspace(np.log10(threshold), np.ceil(np.log10(sizes.max())), 3).round())
        signs = [sign for sign in (-1, 1) if any(sign * mean >= threshold for mean in means)]
        axes.set_xticks([0.0, *(sign * 10.0**power for sign in signs for power in powers)])


def _broken(name: str) -> str:
    """Long names on two lines."""
    head, sep, tail = name.partition(" = ") if " = " in name else name.partition(" (")
    return f"{head}\n{sep.strip()} {tail}" if sep == " = " else f"{head}\n({tail}" if sep else name
