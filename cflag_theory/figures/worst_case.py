"""Exact worst cases: functions and the run on them, published bounds beside them, constants of lemmas,
planes of two step sizes, floors and exact expectations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.axes import Axes

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


_COLOURS = (MEASURED, SECOND, "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_MARKERS = "o^sDvP"


def sharp_figure(lemmas: Sequence[Mapping[str, Any]]) -> Picture:
    """A row a lemma: constants along beta L E, and along E.

    Parameters
    ----------
    lemmas : sequence of mappings
        As `studies.worst_cases.curves.sharp_curves` gives them.
    """
    with house_style():
        figure = Picture(figsize=(8.0, 1.0 + 3.3 * len(lemmas)), layout="constrained")
        axes = figure.subplots(len(lemmas), 2, squeeze=False)
        named: dict[str, Any] = {}
        for (left, right), one in zip(axes, lemmas, strict=True):
            _along_u(left, one)
            _along_E(right, one)
            named |= {str(line.get_label()): line for line in left.lines if not str(line.get_label()).startswith("_")}
        figure.suptitle("Constants of the lemmas: lines are worst cases, markers are runs", fontsize=11)
        figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=4)
    return figure


def _along_u(axes: Axes, one: Mapping[str, Any]) -> None:
    axes.plot(one["u"], one["printed"], color=BOUND, label="Printed")
    if one["supremum"] is not None:
        axes.plot(one["u"], one["supremum"], "--", color=REFERENCE, label="Every $n$ and $E$")
    colours = _each([curve["n"] for curve in one["along_u"]], _COLOURS)
    markers = _each([curve["E"] for curve in one["along_u"]], _MARKERS)
    for curve in one["along_u"]:
        colour, marker = colours[curve["n"]], markers[curve["E"]]
        axes.plot(one["u"], curve["worst"], color=colour)
        axes.plot(curve["met_u"], curve["met"], marker, color=colour, markersize=4)
    # Colours are components and markers are steps: each is named once.
    for n, colour in colours.items():
        axes.plot([], [], color=colour, label=f"$n$ = {n}")
    for E, marker in markers.items():
        axes.plot([], [], marker, color="#555555", markersize=4, label=f"$E$ = {E}")
    for name, words in (("range", "Range"), ("largest", "True up to")):
        if one[name] is not None and one[name] <= one["u"][-1]:
            axes.axvline(one[name], color="black", linestyle=":", linewidth=1)
            # Above the axes no curve is in the way.
            side = "left" if one[name] < one["u"][-1] / 2 else "right"
            at: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "fontsize": 9.5, "va": "bottom", "ha": side}
            axes.text(one[name], 1.0, f"{words} {one[name]:.3g}", **at)
    # A growing printed constant is followed; else what lies far above it says no more than that it does.
    axes.set_ylim(0, 1.4 * max(one["printed"]))
    axes.set(xlabel=r"$\beta L E$", ylabel="Constant" if one["exact"] else "Constant, at most")
    message(axes, f"{one['where']}: {_finding(one)}", 34, pad=18)


def _finding(one: Mapping[str, Any]) -> str:
    """How far the lemma is true, else how near an instance comes to its constant."""
    if one["largest"] is not None and one["range"]:
        return f"true up to {one['largest'] / one['range']:.2g} times the printed range"
    worst = max(max(curve["worst"]) for curve in one["along_u"])
    return f"printed {max(one['printed']):.3g}, worst {'' if one['exact'] else 'at most '}{worst:.2g}"


def _along_E(axes: Axes, one: Mapping[str, Any]) -> None:
    axes.axhline(one["printed_at"], color=BOUND, label="Printed")
    # The colours of the components as above.
    colours = _each([curve["n"] for curve in one["along_E"]], _COLOURS)
    for curve in one["along_E"]:
        colour = colours[curve["n"]]
        axes.plot(curve["E"], curve["worst"], color=colour, label=f"$n$ = {curve['n']}")
        axes.plot(curve["E"], curve["met"], ".", color=colour)
    worst, most = max(max(curve["worst"]) for curve in one["along_E"]), max(one["along_E"][0]["E"])
    message(axes, rf"$\beta L E$ = {one['at']:.2g}: {worst:.2g} up to E = {most}, printed {one['printed_at']:.3g}", 31)
    axes.set(xscale="log", xlabel="$E$")
    axes.set_ylim(bottom=0)
    axes.set_xticks(one["along_E"][0]["E"], [str(E) for E in one["along_E"][0]["E"]])
    axes.minorticks_off()


def _each(values: Sequence[int], looks: Sequence[str]) -> dict[int, str]:
    """A look for every value, in order of appearance."""
    return dict(zip(dict.fromkeys(values), cycle(looks)))


_SIGNS = {"alpha": r"$\alpha$", "beta": r"$\beta$", "eta_l": r"$\eta_l$", "eta_g": r"$\eta_g$"}


def step_sizes_figure(region: Any) -> Picture:
    """The region that is proved safe, the point, and the sentence that `cflag stepsize` begins with.

    Parameters
    ----------
    region : Region or mapping
        A mapping as `studies.stepsize.region.Region.to_json` gives it.
    """
    region = plain(region)
    least, most = (np.array(side, dtype=float) for side in region["safe"])
    inside = np.flatnonzero(np.isfinite(most))
    x, y = region["point"]
    with house_style():
        figure = Picture(figsize=(7.2, 5.6), layout="constrained")
        axes = figure.subplots()
        axes.grid(False)
        axes.fill_between(region["x"], least, most, color=SECOND, alpha=0.3, linewidth=0)
        axes.plot(region["x"], most, color=SECOND)
        if inside.size:
            middle = inside[2 * inside.size // 3]
            at = region["x"][middle], least[middle] * (most[middle] / least[middle]) ** 0.25
            axes.text(*at, "Safe", color="#00543D", fontsize=16, ha="center", va="center")
        axes.plot([x], [y], "o", color="black", markersize=9, zorder=5)
        words = ", ".join(f"{_SIGNS[name]} = {one:.3g}" for (name, _), one in zip(region["axes"], (x, y), strict=True))
        axes.annotate(words, (x, y), (-8, -8), textcoords="offset points", ha="right", va="top")
        axes.set(xscale="log", yscale="log", xlim=region["x_range"], ylim=region["y_range"])
        along, up = (f"{_SIGNS[name]}, {meaning}" for name, meaning in region["axes"])
        axes.set(xlabel=along, ylabel=up)
        numbers = ", ".join(f"{name} = {value:.4g}" for name, value in region["numbers"].items())
        about = wrapped(f"Step sizes for {numbers}", 76)
        message(axes, region["answer"], 62, pad=14 * (2 + about.count("\n")))
        subtitle(axes, about)
        figure.alt = f"{region['answer']}. {about}."
    return figure


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
        figure.arrange()
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
        figure.arrange()
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
