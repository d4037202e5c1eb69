"""Figures of the report: floors that contradict printed bounds, an expectation, drift constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cflag_theory.figures.style import (
    BOUND,
    MEASURED,
    REFERENCE,
    SECOND,
    Picture,
    crossing,
    house_style,
    message,
    name_ends,
)


def floors_figure(series: Sequence[Mapping[str, Any]]) -> Picture:
    """Measured value and printed bound against T, one panel a statement.

    Parameters
    ----------
    series : sequence of mappings
        As `studies.rates.floors.floors` gives them: "title", "quantity", "T", "measured", "predicted".
    """
    with house_style():
        figure = Picture(figsize=(6.4, 3.6 * len(series)), layout="constrained")
        panels = figure.subplots(len(series), 1, squeeze=False)[:, 0]
        for axes, one in zip(panels, series, strict=True):
            axes.plot(one["T"], one["measured"], "o-", color=MEASURED, markersize=4, label=one["quantity"])
            axes.plot(one["T"], one["predicted"], "s-", color=BOUND, markersize=3.5, label="Printed bound")
            axes.set(xscale="log", yscale="log", xlabel="Rounds $T$")
            message(axes, f"{one['title']}: {_floor(one)}", 54)
        figure.draw_without_rendering()
        for axes, one in zip(panels, series, strict=True):
            ends = [(one["measured"][-1], one["quantity"], MEASURED), (one["predicted"][-1], "Printed bound", BOUND)]
            name_ends(axes, ends)
        figure.alt = " ".join(_seen(one) for one in series)
    return figure


def _seen(one: Mapping[str, Any]) -> str:
    """A panel in words."""
    measured, printed = (f"{one[key][0]:.2g} to {one[key][-1]:.2g}" for key in ("measured", "predicted"))
    return f"{one['title']}: {_floor(one)}; {one['words']}; from {measured}, the printed bound from {printed}."


def _floor(one: Mapping[str, Any]) -> str:
    """Whether the last three doublings of T change anything, and where the bound lies below."""
    measured, T = one["measured"], one["T"]
    flat = len(T) >= 4 and min(measured[-4:]) > 0.95 * max(measured[-4:])
    said = f"a floor stays at {measured[-1]:.2g}" if flat else f"{measured[-1]:.2g} at T = {T[-1]}"
    return "; ".join([said, *crossing("the printed bound", T, measured, one["predicted"])])


def expectation_figure(data: Mapping[str, Any]) -> Picture:
    """𝔼[B(t)] against t, by enumeration over all draws.

    Parameters
    ----------
    data : mapping
        As `verify.checks.c_flag.problem.expected_overfitting` gives it: "t", "drawn_once" and
        "drawn_every_round".
    """
    once, every = ([float(value) for value in data[key]] for key in ("drawn_once", "drawn_every_round"))
    with house_style():
        figure = Picture(figsize=(6.4, 3.9), layout="constrained")
        axes = figure.subplots()
        axes.plot(data["t"], once, "o-", color=MEASURED, label="Memory drawn once")
        axes.plot(data["t"], every, "^-", color=SECOND, markersize=4, label="Memory drawn every round")
        axes.axhline(0.0, color=REFERENCE, linewidth=1, label="What step (a) of (64) uses")
        axes.set(xlabel="Round $t$", ylabel=r"$\mathbb{E}\,B(t)$")
        largest = max(range(len(once)), key=lambda place: abs(once[place]))
        words = "is zero" if once[largest] == 0 else f"is {once[largest]:.2g} in round {data['t'][largest]}"
        message(axes, rf"$\mathbb{{E}}\,B(t)$ {words} if the memory is drawn once; the proof uses zero", 58)
        figure.alt = f"Exact expectation of the overfitting term: {figure.alt}."
        figure.draw_without_rendering()
        name_ends(axes, [(once[-1], "Memory drawn once", MEASURED), (every[-1], "Drawn every round", SECOND)])
    return figure


def drift_figure(data: Mapping[str, Any]) -> Picture:
    """Constants of Lemma 13 and Corollary 14 along beta L E.

    Parameters
    ----------
    data : mapping
        As `verify.checks.c_flag.local_steps.constants_along_range` gives it: for "drift" and "error" the printed
        constant, the printed end of the range, the grid `u`, the `proved` constant on it, and instances by E.
    """
    with house_style():
        figure = Picture(figsize=(6.4, 7.6), layout="constrained")
        for axes, key in zip(figure.subplots(2, 1), ("drift", "error"), strict=True):
            panel = data[key]
            axes.axhline(panel["printed"], color=BOUND, label=f"Printed: {panel['printed']:g}")
            axes.plot(panel["u"], panel["proved"], color=MEASURED, label="Proved here")
            for marker, (E, ratios) in zip("ox^", panel["instances"].items(), strict=False):
                axes.plot(panel["u"], ratios, marker, color=SECOND, markersize=3.5, label=rf"Exact instance, $E$ = {E}")
            axes.axvline(
                panel["range"], color=REFERENCE, linestyle=":", label=f"Printed range ends, {panel['range_words']}"
            )
            axes.set(xlabel=r"$u = \beta L E$", ylabel=panel["ylabel"])
            words = f"printed {panel['printed']:g}, {max(panel['proved']):.2f} is enough up to u = {panel['u'][-1]:g}"
            message(axes, f"{panel['title']}: {words}", 54)
            axes.set_ylim(0, panel["printed"] * 1.5)
            axes.legend(loc="upper center", ncols=2, fontsize=9.5)
    return figure
