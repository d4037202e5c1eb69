"""Exact worst cases: functions and the run on them, published bounds beside them, and the plane of two step sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cflag_theory.figures.style import (
    BOUND,
    MEASURED,
    REFERENCE,
    SECOND,
    Picture,
    house_style,
    message,
    plain,
    subtitle,
    typeset,
    wrapped,
)


def worst_case_figure(study: Mapping[str, Any]) -> Picture:
    """Functions of the clients and their mean along two directions, and the measure after each round.

    Parameters
    ----------
    study : mapping
        As `worstcase.saving.record` gives it, with its "curves".
    """
    curves = study["curves"]
    with house_style():
        figure = Picture(figsize=(9.6, 3.6), layout="constrained")
        axes = figure.subplots(1, 3)
        for panel, name, words in (
            (axes[0], "apart", "Where clients pull apart"),
            (axes[1], "start", r"From $x^*$ to $x_0$"),
        ):
            one = curves[name]
            for values, colour, label in zip(one["clients"], (MEASURED, SECOND), ("$f_1$", "$f_2$"), strict=False):
                panel.plot(one["at"], values, color=colour, label=label)
            if len(one["clients"]) > 1:
                panel.plot(one["at"], one["mean"], "--", color=REFERENCE, label="$F$")
            panel.set(xlabel="Way from $x^*$")
            message(panel, words, 30)
        axes[0].set_ylabel("Value")
        axes[0].legend()
        rounds = range(len(curves["rounds"]))
        axes[2].plot(rounds, curves["rounds"], "o-", color=MEASURED, markersize=4)
        axes[2].axhline(study["upper"], color=BOUND)
        axes[2].text(0, study["upper"], "Proved bound", color=BOUND, va="bottom", fontsize=9.5)
        axes[2].set(xlabel="Round", ylabel=study["unit"].replace("x_T", "x_t"), ylim=(0, None))
        message(axes[2], f"The run reaches {study['lower']:.6g}, no run exceeds {study['upper']:.6g}", 30)
    return figure


def published_figure(table: Any) -> Picture:
    """How many times each published bound is above the exact worst case of what it bounds, setting by setting.

    Parameters
    ----------
    table : published.Table or mapping
        A mapping as `studies.worst_cases.published.Table.to_json` gives it.
    """
    rows = plain(table)["compared"]
    names = list(dict.fromkeys(row["name"] for row in rows))
    with house_style():
        figure = Picture(figsize=(8.4, 0.55 * len(names) + 1.8), layout="constrained")
        axes = figure.subplots()
        for place, name in enumerate(reversed(names)):
            own = [row for row in rows if row["name"] == name]
            colour = BOUND if own[0]["constant"] else REFERENCE
            factors = [row["factor"] for row in own]
            axes.plot([min(factors), max(factors)], [place, place], color=colour, linewidth=2)
            axes.plot(factors, [place] * len(own), "o", color=colour, markersize=5)
            axes.text(max(factors) * 1.12, place, f"{min(factors):.3g} to {max(factors):.3g}", va="center", fontsize=9)
        axes.axvline(1, color=MEASURED)
        axes.set(xscale="log", yticks=range(len(names)), yticklabels=reversed(names), xlabel="Bound / exact worst case")
        axes.set_xlim(0.8, max(row["factor"] for row in rows) * 2.5)
        settings = ", ".join(dict.fromkeys(f"({row['E']}, {row['T']})" for row in rows))
        message(axes, "Published bounds are loose by these factors", 62, pad=28)
        subtitle(axes, wrapped(f"(E, T) = {settings}; grey: with 1 for a constant that the paper leaves open", 90))
    return figure


def sharp_plane_figure(plane: Any) -> Picture:
    """Three regions of two step sizes: the paper's conditions and true, true beyond them, false.

    Parameters
    ----------
    plane : SharpPlane or mapping
        A mapping as `studies.stepsize.sharp_steps.SharpPlane.to_json` gives it.
    """
    plane = plain(plane)
    low, high = plane["y_range"]

    def curve(name: str) -> tuple[Any, Any]:
        x, y = (np.array(side, dtype=float) for side in plane[name])
        return x, np.where(np.isnan(y), low, y)

    (x, top), (at, asked) = curve("true"), curve("paper")
    with house_style():
        figure = Picture(figsize=(7.2, 5.6), layout="constrained")
        axes = figure.subplots()
        axes.grid(False)
        axes.fill_between(x, top, high, color=BOUND, alpha=0.18, linewidth=0, label="False: some functions move away")
        axes.fill_between(x, low, top, color=SECOND, alpha=0.22, linewidth=0, label="True, by exact worst cases")
        both = np.minimum(asked, np.interp(at, x, top))
        words = "True, and the paper's conditions hold"
        axes.fill_between(at, low, both, color=SECOND, alpha=0.5, linewidth=0, label=words)
        axes.plot(at, np.where(asked > low, asked, np.nan), "--", color=REFERENCE, label="The paper's conditions")
        axes.plot(*plane["point"], "o", color="black", markersize=8, zorder=5)
        along, up = (f"{typeset(name)}, {meaning}" for name, meaning in plane["axes"])
        axes.set(xscale="log", yscale="log", xlim=(x[0], x[-1]), ylim=(low, high), xlabel=along, ylabel=up)
        axes.legend(loc="lower left", fontsize=9, frameon=True, framealpha=1)
        numbers = ", ".join(f"{name} = {value:.4g}" for name, value in plane["numbers"].items())
        message(axes, plane["statement"], 62, pad=28)
        subtitle(axes, wrapped(f"{numbers}; conditions: {plane['asked']}", 90))
    return figure
