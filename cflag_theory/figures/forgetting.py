"""Gamma(t) for more and less heterogeneous clients (Figure 4 of the C-FLAG paper), rules for adaptive rates,
and forgetting over many tasks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from cflag_theory.figures.style import (
    BOUND,
    MEASURED,
    REFERENCE,
    SECOND,
    Picture,
    house_style,
    message,
    name_ends,
    typeset,
    wrapped,
)

_NAMES = {"c_flag": "Constant", "c_flag_adaptive": "Adaptive"}
_COLORS = (MEASURED, BOUND, SECOND, "#CC79A7", "#8A6500", "#56B4E9", "#000000", "#6B6B1F")


def forgetting_figure(runs: Sequence[Mapping[str, Any]]) -> Picture:
    """One panel a level of heterogeneity, below each other: Gamma(t) of every row, and how often the server interferes.

    Parameters
    ----------
    runs : sequence of mappings
        Those of one study, each as `studies.forgetting.heterogeneity.Forgetting.to_json` gives it.
    """
    levels = list(dict.fromkeys(run["words"] for run in runs))
    with house_style():
        figure = Picture(figsize=(6.4, 1.2 + 2.3 * len(levels)), layout="constrained")
        panels = figure.subplots(len(levels), 1, squeeze=False, sharex=True, sharey=True)[:, 0]
        figure.suptitle(
            wrapped(f"{runs[0]['study']}: {_lowered(runs, levels)}", 68), x=0.01, ha="left", fontsize=11, weight="bold"
        )
        named = [
            _terms(axes, [run for run in runs if run["words"] == words])
            for axes, words in zip(panels, levels, strict=True)
        ]
        _scale(panels[0], [run["Gamma"] for run in runs])
        panels[len(levels) // 2].set_ylabel(r"Forgetting term $\Gamma(t)$, 95% band")
        panels[-1].set_xlabel("Round $t$")
        figure.arrange()
        for axes, names in zip(panels, named, strict=True):
            name_ends(axes, names)
    return figure


def _lowered(runs: Sequence[Mapping[str, Any]], levels: Sequence[str]) -> str:
    """At how many levels the largest Gamma(t) of adaptive rates is less than that of constant ones."""
    most = {(run["words"], run["algorithm"]): run["largest"] for run in runs}
    pairs = [(most.get((words, "c_flag")), most.get((words, "c_flag_adaptive"))) for words in levels]
    known = [(constant, adaptive) for constant, adaptive in pairs if constant and adaptive]
    if not known:
        return r"the forgetting term $\Gamma(t)$"
    lower = sum(adaptive["high"] < constant["low"] for constant, adaptive in known)
    return rf"adaptive rates lower the largest $\Gamma(t)$ at {lower} of {len(known)} levels"


def _terms(axes: Axes, runs: Sequence[Mapping[str, Any]]) -> list[tuple[float, str, str]]:
    axes.axhline(0.0, color=REFERENCE, linewidth=0.8)
    names, shares = [], []
    for run, color in zip(runs, _COLORS, strict=False):
        Gamma, name = run["Gamma"], _NAMES.get(run["algorithm"], run["algorithm"])
        t = np.arange(len(Gamma["mean"]))
        axes.fill_between(t, Gamma["low"], Gamma["high"], color=color, alpha=0.25, linewidth=0)
        axes.plot(t, Gamma["mean"], color=color, label=name)
        names.append((Gamma["mean"][-1], name, color))
        shares.append(f"{np.mean(run['server_interfering']):.0%}")
    level = f"{runs[0]['level']}: {runs[0]['words']}; the server interferes in {' and '.join(shares)} of rounds"
    axes.set_title(typeset(level), fontsize=10, loc="left")
    return names


def _scale(axes: Axes, curves: Sequence[Mapping[str, Any]]) -> None:
    """Linear near zero and logarithmic beyond: adaptive rates have spikes of either sign."""
    largest, widest = (max(float(np.abs(curve[key]).max()) for curve in curves) for key in ("mean", "high"))
    if largest > 0:
        # Where the band is that much wider, the scale has no numbers for it.
        axes.set_yscale("symlog", linthresh=max(10.0 ** np.floor(np.log10(largest) - 2), 1e-12 * widest))


def tasks_figure(study: Mapping[str, Any]) -> Picture:
    """Average forgetting of the past tasks along rounds, and what each learner forgets and learns.

    Parameters
    ----------
    study : mapping
        As `studies.forgetting.tasks.TaskStudy.to_json` gives it.
    """
    runs = study["runs"]
    with house_style():
        figure = Picture(figsize=(6.4, 7.4), layout="constrained")
        along, traded = figure.subplots(2, 1, height_ratios=[1.5, 1])
        names = []
        for run, color in zip(runs, _COLORS * len(runs), strict=False):
            curve, at = run["along"], np.arange(len(run["along"]["mean"]))
            axes_line = along.plot(at, curve["mean"], color=color, label=run["learner"])
            along.fill_between(at, curve["low"], curve["high"], color=axes_line[0].get_color(), alpha=0.2, linewidth=0)
            names.append((curve["mean"][-1], run["learner"].replace(", ", ",\n"), color))
            learned = float(np.mean([value["mean"] for value in run["learned"]]))
            if run["average"]:
                lost = run["average"][-1]
                traded.plot([learned, learned], [lost["low"], lost["high"]], color=color, linewidth=2.4)
                traded.plot([learned], [lost["mean"]], "o", color=color, label=run["learner"])
        for end in runs[0]["ends"][1:-1]:
            along.axvline(end, color=REFERENCE, linewidth=0.8)
        for axes in (along, traded):
            axes.axhline(0.0, color=REFERENCE, linewidth=0.8)
        head = f"{study['title']}, {study['tasks']} tasks: {study['finding']}"
        message(along, head, 62)
        along.set(xlabel="Round $t$; lines: a new task begins")
        along.set_ylabel("Forgotten of past tasks, mean")
        message(traded, "Up is forgotten, right is learned", 56)
        traded.set(xlabel=r"Learned: $f_\tau$ before minus after task $\tau$, mean", ylabel="Forgotten in the end")
        figure.arrange()
        name_ends(along, names)
    return figure


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
