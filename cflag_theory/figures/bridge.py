"""Pictures of the PyTorch runs: accuracy by task, the forgetting term by round, and one setting varied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from cflag_theory.figures.style import (
    BOUND,
    MEASURED,
    REFERENCE,
    SECOND,
    Picture,
    house_style,
    name_ends,
    typeset,
    wrapped,
)

#: A method has the same colour and marker in every figure.
_LOOKS = {
    "c_flag": (BOUND, "o"),
    "fedtrack": (SECOND, "s"),
    "finetune": (REFERENCE, "v"),
    "ewc": (MEASURED, "^"),
    "nccl": ("#CC79A7", "D"),
    "er_ring": ("#E69F00", "P"),
    "lwf": ("#000000", "<"),
    "icarl": ("#56B4E9", ">"),
    "target": ("#999933", "X"),
}
_LINES = ("-", "--", ":", "-.")
_MORE = ("#000000", "#56B4E9", "#999933", "#882255")
_NAMES = {
    "c_flag": "C-FLAG",
    "fedtrack": "FedTrack",
    "finetune": "Fine-FL",
    "ewc": "EWC-FL",
    "nccl": "NCCL-FL",
    "er_ring": "Er-ring-FL",
    "lwf": "LwF-FL",
    "icarl": "iCaRL-FL",
    "target": "TARGET",
}
_AXES = {
    "zeta": r"Dirichlet parameter $\zeta$",
    "clients": "Clients",
    "memory_size": r"Memory size $m_0$ a task and client",
    "memory_sample": "Memory samples a step",
}
#: A mean and its standard deviation may lie outside, no run does.
_POSSIBLE = {"accuracy": (0.0, 100.0), "forgetting": (-100.0, 100.0)}


def bridge_accuracy_figure(summary: Mapping[str, Any]) -> Picture:
    """Above the average accuracy after each task (Figure 2); below every task when it was learned and at the end.

    Parameters
    ----------
    summary : mapping
        As `studies.bridge_results.summary.Summary.to_json` gives it.
    """
    methods, tasks = summary["methods"], np.arange(1, summary["tasks"] + 1)
    with house_style():
        figure = Picture(figsize=(7.0, 8.0), layout="constrained")
        left, right = figure.subplots(2, 1, sharey=True)
        for place, found in enumerate(methods):
            color, marker = _look(found["method"], place)
            curve = {key: _floats(found["accuracy_by_task"][key]) for key in ("mean", "low", "high")}
            low, high = (np.clip(curve[key], *_POSSIBLE["accuracy"]) for key in ("low", "high"))
            left.fill_between(tasks, low, high, color=color, alpha=0.18, linewidth=0)
            left.plot(tasks, curve["mean"], color=color, marker=marker, markersize=4.5, label=_name(found))
            matrix = _floats(found["accuracy"])
            x = tasks + (place - (len(methods) - 1) / 2) * 0.8 / max(len(methods), 1)
            learned, kept = np.diagonal(matrix), matrix[-1]
            right.vlines(x, kept, learned, color=color, linewidth=1.2)
            right.plot(x, learned, marker, color=color, markerfacecolor="white", markersize=5)
            right.plot(x, kept, marker, color=color, markersize=5)
        left.set(xlabel="Tasks learned", ylabel="Accuracy (%)", title="Average accuracy of the tasks so far")
        right.set(xlabel="Task", ylabel="Accuracy (%)", title="Each task: learned (hollow), at the end (filled)")
        for axes in (left, right):
            axes.set_xticks(tasks)
        # Markers of one task stand beside each other.
        right.set_xlim(0.5, summary["tasks"] + 0.5)
        right.grid(visible=False, axis="x")
        figure.suptitle(typeset(summary["title"]))
        figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=min(4, len(methods)))
    return figure


def bridge_gamma_figure(summaries: Sequence[Mapping[str, Any]]) -> Picture:
    """A panel a run, below each other: Gamma(t) by overall round (Figure 4), and how often clients interfere.

    Parameters
    ----------
    summaries : sequence of mappings
        As in `bridge_accuracy_figure`, each with a method that has a forgetting term.
    """
    with_terms = [[found for found in one["methods"] if found["Gamma"]] for one in summaries]
    with house_style():
        figure = Picture(figsize=(6.4, 1.2 + 2.8 * len(summaries)), layout="constrained")
        panels = figure.subplots(len(summaries), 1, squeeze=False, sharey=True)[:, 0]
        for axes, summary, methods in zip(panels, summaries, with_terms, strict=True):
            _terms(axes, summary, methods)
            axes.set_xlim(-0.5, summary["tasks"] * summary["rounds"] - 0.5)
            axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
            axes.set_ylabel(r"$\Gamma(t)$")
        panels[-1].set_xlabel("Round; dotted: a new task begins")
        _symmetric(panels[0], [found["Gamma"]["mean"] for one in with_terms for found in one])
        figure.arrange()
        for axes, methods in zip(panels, with_terms, strict=True):
            colors = [_look(found["method"], place)[0] for place, found in enumerate(methods)]
            ends = [(found["Gamma"]["mean"][-1], _name(found)) for found in methods]
            name_ends(axes, [(*end, color) for end, color in zip(ends, colors, strict=True)])
    return figure


def bridge_levels_figure(levels: Mapping[str, Any]) -> Picture:
    """Accuracy and forgetting against one setting: Figure 3 (zeta), Figure 5 (clients, samples), Figure 7 (memory).

    Parameters
    ----------
    levels : mapping
        One of those that `studies.bridge_results.levels.levels` gives.
    """
    looks = _looks([(group["method"], group["label"]) for group in levels["groups"]])
    with house_style():
        figure = Picture(figsize=(7.0, 7.4), layout="constrained")
        for axes, metric in zip(figure.subplots(2, 1), ("accuracy", "forgetting"), strict=True):
            for group, look in zip(levels["groups"], looks, strict=True):
                mean = np.array(group[metric]["mean"])
                low, high = (np.clip(group[metric][key], *_POSSIBLE[metric]) for key in ("low", "high"))
                spread = [mean - low, high - mean]
                axes.errorbar(group["x"], mean, spread, capsize=2.5, label=group["label"], **look)
            axes.set(xlabel=_AXES[levels["axis"]], ylabel=f"{metric.capitalize()} (%)")
            if levels["axis"] == "zeta":
                axes.set_xscale("log")
        figure.suptitle(typeset(levels["title"]))
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _terms(axes: Axes, summary: Mapping[str, Any], methods: Sequence[Mapping[str, Any]]) -> None:
    """Every method's curve, and a line where a task begins."""
    axes.axhline(0.0, color=REFERENCE, linewidth=0.8)
    for task in range(1, summary["tasks"]):
        axes.axvline(task * summary["rounds"] - 0.5, color=REFERENCE, linewidth=0.8, linestyle=":")
    for place, found in enumerate(methods):
        color, _ = _look(found["method"], place)
        Gamma = found["Gamma"]
        axes.fill_between(Gamma["at"], Gamma["low"], Gamma["high"], color=color, alpha=0.2, linewidth=0)
        axes.plot(Gamma["at"], Gamma["mean"], color=color, label=_name(found))
    shares = [
        f"{_name(found)} {np.mean(found['interfering']):.0%}" for found in methods if found["interfering"] is not None
    ]
    said = f"Share of rounds in which clients interfere: {', '.join(shares)}" if shares else ""
    axes.set_title("\n".join([wrapped(summary["title"], 68), *filter(None, [said])]), fontsize=10, loc="left")


def _symmetric(axes: Axes, curves: Sequence[Sequence[float]]) -> None:
    """Linear near zero and logarithmic beyond: the first rounds of a task are orders of magnitude above the others."""
    largest = max((float(np.abs(curve).max()) for curve in curves), default=0.0)
    if largest > 0:
        axes.set_yscale("symlog", linthresh=10.0 ** np.floor(np.log10(largest) - 2))


def _looks(curves: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """Of curves, each a method with its label: the method's colour, and a line style for what else the label says."""
    kinds = list(dict.fromkeys(label.removeprefix(method) for method, label in curves))
    found = []
    for place, (method, label) in enumerate(curves):
        color, marker = _look(method if len(kinds) <= len(_LINES) else label, place)
        line = _LINES[kinds.index(label.removeprefix(method)) % len(_LINES)]
        found.append({"color": color, "marker": marker, "linestyle": line})
    return found


def _look(label: str, place: int) -> tuple[str, str]:
    """Labels of several curves of one method begin with its name; they differ by their place."""
    return _LOOKS.get(label, (_MORE[place % len(_MORE)], "oXdh<>"[place % 6]))


def _name(found: Mapping[str, Any]) -> str:
    name = _NAMES.get(found["method"], found["method"])
    return f"{name} ({found['mode']})" if found["mode"] else name


def _floats(values: Any) -> Any:
    """Float64 with NaN for None."""
    return np.array(values, dtype=np.float64)


_ROUND_LOOKS = {
    "fedavg": (REFERENCE, "FedAvg"),
    "fedprox": ("#CC79A7", "FedProx"),
    "mimelite": ("#E69F00", "MimeLite"),
    "cfl_core": (BOUND, "CFL-Core-Set"),
    "cfl_reg": (SECOND, "CFL-Regularization"),
    "cfl_reg_prox": (MEASURED, "CFL-Regularization + FedProx"),
    "cfl_gen": ("#999933", "CFL-Generative"),
}


def bridge_rounds_figure(summary: Mapping[str, Any]) -> Picture:
    """Above accuracy (CFL Figure 5), below loss (Figures 6 and 7), after every round: means, one deviation as a band.

    Parameters
    ----------
    summary : mapping
        As `studies.bridge_results.evolving.RoundsSummary.to_json` gives it.
    """
    with house_style():
        figure = Picture(figsize=(7.0, 8.6), layout="constrained")
        left, right = figure.subplots(2, 1, sharex=True)
        for place, found in enumerate(summary["methods"]):
            color, name = _ROUND_LOOKS[found["method"]]
            for axes, key in ((left, "accuracy"), (right, "loss")):
                at, mean, low, high = (
                    np.array(found[key][part], dtype=np.float64) for part in ("at", "mean", "low", "high")
                )
                most = 100.0 if key == "accuracy" else np.inf
                axes.fill_between(at + 1, low.clip(0, most), high.clip(0, most), color=color, alpha=0.13, linewidth=0)
                # Curves that coincide are told apart by markers at rounds of their own.
                some = (2 * place, 2 * len(_ROUND_LOOKS))
                axes.plot(at + 1, mean, color=color, linewidth=1.2, marker="osD^vPX"[place], markevery=some, label=name)
            past = found["past_loss"]
            if past:
                right.plot(
                    past["at"], past["mean"], color=color, linewidth=1.2, linestyle=":", label=f"{name}, past data"
                )
        left.set(ylabel="Test accuracy (%)")
        right.set(xlabel="Rounds", ylabel="Mean loss on test images")
        figure.suptitle(typeset(summary["title"]))
        handles, labels = right.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=min(2, max(1, len(labels))))
    return figure
