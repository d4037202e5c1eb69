"""Worst functions of a method, and its run on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cflag_theory.figures.style import BOUND, MEASURED, REFERENCE, SECOND, Picture, house_style, message


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
