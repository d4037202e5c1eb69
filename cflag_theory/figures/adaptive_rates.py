"""Rules for adaptive rates: final gradients under each rule."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from cflag_theory.figures.style import BOUND, MEASURED, SECOND, Picture, house_style, typeset, wrapped

_TITLES = {"floor_f": r"$\|\nabla f\|^2$, last tenth", "floor_g": r"$\|\nabla g\|^2$, last tenth"}
_GRADIENT = re.compile(r"\|grad ([fg])\|\^2")
# Smaller squares are rounding.
_SMALLEST = 1e-12


def adaptive_rates_figure(studies: Sequence[Mapping[str, Any]]) -> Picture:
    """The gradients of f and of g in the end, one line a rule: mean over replicas and its 95% interval.

    Parameters
    ----------
    studies : sequence of mappings
        Each as `studies.forgetting.adaptive_rates.AdaptiveRates.to_json` gives it.
    """
    with house_style():
        figure = Picture(figsize=(6.4, 3.6 * len(studies)), layout="constrained")
        parts = figure.subfigures(len(studies), 1, squeeze=False)[:, 0]
        for part, study in zip(parts, studies, strict=True):
            axes = part.subplots(1, 2, sharey=True)
            for place, key in zip(axes, _TITLES, strict=True):
                _panel(place, study, key)
            part.suptitle(wrapped(_finding(study), 64), x=0.01, ha="left", fontsize=11, fontweight="bold")
            names = [typeset(rule["words"]) for rule in study["rules"]]
            axes[0].set_yticks(range(len(names)), labels=[_broken(name) for name in names])
            axes[0].set_ylim(len(names) - 0.5, -0.5)
        figure.alt = "; ".join(_finding(study) for study in studies)
    return figure


def _finding(study: Mapping[str, Any]) -> str:
    words = _GRADIENT.sub(lambda found: rf"$\|\nabla {found[1]}\|^2$", str(study["finding"]))
    return f"{study['title']}: {words}"


def _panel(axes: Axes, study: Mapping[str, Any], key: str) -> None:
    sizes = [mean for rule in study["rules"] if key in rule["values"] and (mean := rule["values"][key]["mean"])]
    if sizes and max(sizes) > 30 * min(sizes):
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(numticks=5))
        axes.xaxis.set_minor_formatter(NullFormatter())
    constant = study["rules"][0]["values"].get(key)
    if constant is not None:
        axes.axvline(constant["mean"], color=MEASURED, linewidth=0.8, linestyle=":")
    for place, rule in enumerate(study["rules"]):
        value = rule["values"].get(key)
        if value is None:
            word = f"{rule['diverged']} diverged"
            axes.text(0.5, place, word, transform=axes.get_yaxis_transform(), ha="center", va="center")
            continue
        mean, low, high = (max(value[name], _SMALLEST) for name in ("mean", "low", "high"))
        color = MEASURED if place == 0 else SECOND if "(ours)" in rule["words"] else BOUND
        axes.plot([low, high], [place, place], color=color, linewidth=2.4, solid_capstyle="butt")
        axes.plot(mean, place, "o", color=color, markersize=5)
        if value["mean"] < _SMALLEST:
            axes.annotate(f" {value['mean']:.0e}", (mean, place), va="center")
    axes.set_title(_TITLES[key])


def _broken(name: str) -> str:
    """Long names on two lines."""
    head, sep, tail = name.partition(" = ") if " = " in name else name.partition(" (")
    return f"{head}\n{sep.strip()} {tail}" if sep == " = " else f"{head}\n({tail}" if sep else name
