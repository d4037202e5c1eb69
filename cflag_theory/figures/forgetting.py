"""Gamma(t) for more and less heterogeneous clients (Figure 4 of the C-FLAG paper), and forgetting over many tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.image import AxesImage
from matplotlib.ticker import MaxNLocator

from cflag_theory.figures.style import BOUND, MEASURED, REFERENCE, SECOND, Picture, house_style, name_ends, typeset

_NAMES = {"c_flag": "Constant rates", "c_flag_adaptive": "Adaptive rates"}
_COLORS = (MEASURED, "#CC79A7", BOUND, SECOND)
# Transference, undecided, interference.
_SIGNS = LinearSegmentedColormap.from_list("signs", [SECOND, "#FFFFFF", BOUND])


def forgetting_figure(runs: Sequence[Mapping[str, Any]]) -> Picture:
    """One column a level of heterogeneity: Gamma(t) of every row above, below the sign of Lambda_{t,i} by client.

    Parameters
    ----------
    runs : sequence of mappings
        Those of one study, each as `studies.forgetting.heterogeneity.Forgetting.to_json` gives it.
    """
    levels = list(dict.fromkeys(run["words"] for run in runs))
    rows = list(dict.fromkeys(run["algorithm"] for run in runs))
    with house_style():
        figure = Picture(figsize=(1.4 + 4.2 * len(levels), 3.4 + 1.5 * len(rows)), layout="constrained")
        axes = figure.subplots(
            1 + len(rows), len(levels), squeeze=False, sharex=True, height_ratios=[2.6] + [1.2] * len(rows)
        )
        image = None
        for column, words in enumerate(levels):
            mine = [run for run in runs if run["words"] == words]
            _terms(axes[0, column], mine)
            if column:
                axes[0, column].sharey(axes[0, 0])
                axes[0, column].tick_params(labelleft=False)
            found = [
                rf"{_NAMES.get(run['algorithm'], run['algorithm'])}: $\Gamma > 0$ in {_share(run):.0%} of rounds"
                for run in mine
            ]
            title = "\n".join([typeset(f"{mine[0]['study']}, {mine[0]['level']}: {words}"), *found])
            axes[0, column].set_title(title, fontsize=10, loc="left")
            for place, name in enumerate(rows, start=1):
                image = _strip(axes[place, column], next(run for run in mine if run["algorithm"] == name))
            axes[-1, column].set_xlabel("Round $t$")
        _scale(axes[0, 0], runs)
        axes[0, 0].set_ylabel(r"$\Gamma(t)$")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(rows))
        for place, name in enumerate(rows, start=1):
            axes[place, 0].set_ylabel(_NAMES.get(name, name))
        if image is not None:
            bar = figure.colorbar(image, ax=axes[1:, :], fraction=0.05, aspect=14)
            bar.set_label(r"Replicas with $\Lambda_{t,i}\leq 0$")
            bar.set_ticks([0, 0.5, 1], labels=["0: transference", "1/2", "1: interference"])
    return figure


def _share(run: Mapping[str, Any]) -> float:
    """Of rounds in which Gamma(t), the mean over the replicas, is positive."""
    return float((np.array(run["Gamma"]["mean"]) > 0).mean())


def _terms(axes: Axes, runs: Sequence[Mapping[str, Any]]) -> None:
    axes.axhline(0.0, color=REFERENCE, linewidth=0.8)
    for run, color in zip(runs, _COLORS, strict=False):
        Gamma = run["Gamma"]
        t = np.arange(len(Gamma["mean"]))
        axes.fill_between(t, Gamma["low"], Gamma["high"], color=color, alpha=0.25, linewidth=0)
        name = _NAMES.get(run["algorithm"], run["algorithm"])
        axes.plot(t, Gamma["mean"], color=color, label=f"{name} (mean over replicas, 95% band)")


def _scale(axes: Axes, runs: Sequence[Mapping[str, Any]]) -> None:
    """Linear near zero and logarithmic beyond: adaptive rates have spikes of either sign."""
    largest = max(float(np.abs(run["Gamma"]["mean"]).max()) for run in runs)
    if largest > 0:
        axes.set_yscale("symlog", linthresh=10.0 ** np.floor(np.log10(largest) - 2))


def _strip(axes: Axes, run: Mapping[str, Any]) -> AxesImage:
    """Who interferes: a row a client, the server's weighted sum at the bottom."""
    shares = np.array([*run["interfering"], run["server_interfering"]])
    clients = len(shares) - 1
    image = axes.imshow(shares, aspect="auto", interpolation="nearest", cmap=_SIGNS, vmin=0, vmax=1)
    axes.axhline(clients - 0.5, color="black", linewidth=0.8)
    shown = [place for place in MaxNLocator(4, integer=True).tick_values(0, clients - 1) if 0 <= place < clients]
    axes.set_yticks([*shown, clients], labels=[*(f"Client {int(place)}" for place in shown), "Server"], fontsize=7)
    axes.grid(visible=False)
    return image


_TASKS = (MEASURED, BOUND, SECOND, "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999933")
_LEARNERS = (REFERENCE, MEASURED, SECOND, BOUND, "#CC79A7", "#E69F00", "#000000", "#56B4E9")
_LINES = ("-", "--", "-.", ":")


def tasks_figure(study: Mapping[str, Any]) -> Picture:
    """Above one panel a learner with f_1, ..., f_S; below average forgetting, Gamma(t), gradient evaluations, seconds.

    Parameters
    ----------
    study : mapping
        As `studies.forgetting.tasks.TaskStudy.to_json` gives it.
    """
    runs = study["runs"]
    with house_style():
        figure = Picture(figsize=(max(14.0, 3.2 * len(runs)), 7.4), layout="constrained")
        parts: Any = figure.subfigures(2, 1, height_ratios=[1, 1.05])
        above, below = parts
        tops = above.subplots(1, len(runs), squeeze=False, sharey=True)[0]
        for axes, run in zip(tops, runs, strict=True):
            _objectives(axes, run)
        tops[0].set_ylabel(r"$f_\tau(x_t)$")
        head = f"{study['title']}: {study['tasks']} tasks, {study['clients']} clients, E = {study['E']}"
        above.suptitle(typeset(f"{head}; {_finding(study)}"), fontweight="bold", fontsize=11)
        lost, terms, calls, clock = below.subplots(1, 4, width_ratios=[1.5, 1.5, 1, 1])
        _forgetting(lost, study)
        _task_terms(terms, study)
        _costs(calls, study, [run["costs"]["ifo_calls"] for run in runs], "Component gradients a task")
        _costs(clock, study, [run["seconds"] for run in runs], "Seconds a task, one thread")
        figure.draw_without_rendering()
        ends = [curve["mean"][-1] for curve in runs[-1]["objectives"]]
        name_ends(
            tops[-1],
            [(end, rf"$\tau = {tau}$", _TASKS[(tau - 1) % len(_TASKS)]) for tau, end in enumerate(ends, start=1)],
        )
        below.legend(*lost.get_legend_handles_labels(), loc="outside lower center", ncols=len(runs))
    return figure


def _finding(study: Mapping[str, Any]) -> str:
    """Who forgets least in the end."""
    ends = {run["learner"]: run["average"][-1]["mean"] for run in study["runs"] if run["average"]}
    least = min(ends, key=ends.__getitem__, default="")
    return f"{least} forgets least, {ends[least]:.2g} on average" if least else "nothing is forgotten yet"


def _objectives(axes: Axes, run: Mapping[str, Any]) -> None:
    for end in run["ends"][1:-1]:
        axes.axvline(end, color=REFERENCE, linewidth=0.8)
    for tau, curve in enumerate(run["objectives"]):
        t, color = np.arange(len(curve["mean"])), _TASKS[tau % len(_TASKS)]
        axes.fill_between(t, curve["low"], curve["high"], color=color, alpha=0.2, linewidth=0)
        axes.plot(t, curve["mean"], color=color, linewidth=1.2, label=rf"$\tau = {tau + 1}$")
        mine = slice(run["ends"][tau], run["ends"][tau + 1] + 1)
        axes.plot(t[mine], curve["mean"][mine], color=color, linewidth=2.8)
    axes.set_title(run["learner"], fontsize=9.5)
    axes.set_xlabel("Round $t$; thick: being learned")


def _forgetting(axes: Axes, study: Mapping[str, Any]) -> None:
    ends = study["runs"][0]["ends"]
    for end in ends[1:-1]:
        axes.axvline(end, color=REFERENCE, linewidth=0.8)
    axes.axhline(0.0, color=REFERENCE, linewidth=0.8)
    for place, run in enumerate(study["runs"]):
        color = _LEARNERS[place % len(_LEARNERS)]
        line = _LINES[place % len(_LINES)]
        along, after = run["along"], run["average"]
        axes.plot(np.arange(len(along["mean"])), along["mean"], line, color=color, label=run["learner"])
        means = [value["mean"] for value in after]
        spread = [
            [value["mean"] - value["low"] for value in after],
            [value["high"] - value["mean"] for value in after],
        ]
        axes.errorbar(ends[2:], means, spread, fmt="none", ecolor=color, capsize=2.5)
    axes.set(xlabel="Round $t$", title="Average forgetting of past tasks")
    axes.set_ylabel(r"Mean of $f_\tau(x_t)-f_\tau(x_{\mathrm{end\ of\ task}\ \tau})$")


def _task_terms(axes: Axes, study: Mapping[str, Any]) -> None:
    """Gamma(t), linear near zero and logarithmic beyond."""
    largest = 0.0
    for place, run in enumerate(study["runs"]):
        Gamma, first = np.array(run["Gamma"]["mean"]), run["ends"][1]
        line, color = _LINES[place % len(_LINES)], _LEARNERS[place % len(_LEARNERS)]
        axes.plot(np.arange(first, first + len(Gamma)), Gamma, line, color=color, linewidth=1.0)
        largest = max(largest, float(np.abs(Gamma).max()))
    for end in study["runs"][0]["ends"][1:-1]:
        axes.axvline(end, color=REFERENCE, linewidth=0.8)
    if largest > 0:
        axes.set_yscale("symlog", linthresh=10.0 ** np.floor(np.log10(largest) - 3))
    axes.set(xlabel="Round $t$", title=r"Forgetting term $\Gamma(t)$")


def _costs(axes: Axes, study: Mapping[str, Any], costs: list[list[float]], title: str) -> None:
    s = np.arange(1, study["tasks"] + 1)
    for place, cost in enumerate(costs):
        axes.plot(
            s,
            cost,
            "o" + _LINES[place % len(_LINES)],
            color=_LEARNERS[place % len(_LEARNERS)],
            markersize=4,
        )
    axes.set(xlabel="Task", title=title)
    axes.set_xticks(s)
    axes.set_ylim(bottom=0)
