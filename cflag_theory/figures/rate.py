"""A rate study in one panel: what is measured, the paper's bound, ours, and the slopes -1/2 and -1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from cflag_theory.figures.labels import name_ends, name_line
from cflag_theory.figures.style import BOUND, MEASURED, REFERENCE, SECOND, Picture, house_style, plain_all

_Floats = NDArray[np.float64]
#: Of a study's bounds on min ||grad f||^2, the paper's and ours: the first of these that has values.
PAPER = ("cflag.thm2", "cflag.thm5 (163)")
OURS = ("ours.redrawn", "ours.drawn_once", "cflag.lemma1", "cflag.thm5", "ours.first_rounds")
#: How people read a bound's id.
WORDS = {
    "cflag.thm2": "Theorem 2",
    "cflag.lemma1": "Lemma 1 repaired",
    "cflag.thm5 (163)": "Theorem 5 by its proof",
    "cflag.thm5": "Theorem 5 repaired",
    "cflag.lemma3": "Lemma 3",
}
# A slope is called -1 or -1/2 if it is that near, or nearly so and its interval holds it.
_NEAR, _NEARLY = 0.05, 0.1


def rate_figure(studies: Any) -> Picture:
    """One panel a study: min_t mean ||grad f||^2 with its band, the paper's bound, ours, and two slopes.

    The title is the finding, computed from the numbers. A bound that is proved for the setting is a solid line, any
    other is dashed. What else a study has is in `rate_details_figure`.

    Parameters
    ----------
    studies : Rate, mapping, or sequence of either
        Mappings as `studies.rates.results.Rate.to_json` gives them.
    """
    found = plain_all(studies)
    with house_style():
        figure = Picture(figsize=(7.4 * len(found), 5.4), layout="constrained")
        panels = [
            _panel(axes, study)
            for axes, study in zip(figure.subplots(1, len(found), squeeze=False)[0], found, strict=True)
        ]
        figure.alt = " ".join(_seen(study) for study in found)
        # Names stand where the layout has put the axes.
        figure.draw_without_rendering()
        for axes, names in zip(figure.axes, panels, strict=True):
            name_ends(axes, names)
            for line in axes.lines:
                if str(line.get_label()).startswith("slope"):
                    name_line(axes, line, str(line.get_label()))
    return figure


def finding(study: Mapping[str, Any]) -> str:
    """What a study shows in a few words, computed from its numbers."""
    curve = study["curves"]["f"]
    said = [_fall(curve["fit"], promised=bool(study["bounds"]) and study["power"] == 0.5)]
    lost = max(study.get("diverged", [0]))
    if lost:
        said[0] = f"{lost} of {study['replicas']} runs diverge"
    bound = chosen(study, PAPER)
    if bound is not None and (T := _crossed(study, bound)) is not None:
        said.append(f"the printed bound is crossed at T = {T}")
    return "; ".join(said)


def chosen(study: Mapping[str, Any], claims: Sequence[str]) -> Mapping[str, Any] | None:
    """The first of these bounds on f that has values here, those that are proved before the others."""
    named = {one["claim"]: one for one in study["bounds"] if any(value is not None for value in one["values"])}
    present = [named[claim] for claim in claims if claim in named]
    return next((one for one in present if one["proved"]), present[0] if present else None)


def _fall(fit: Mapping[str, Any] | None, *, promised: bool) -> str:
    if fit is None:
        return "no slope: the gradient is rounding"
    if fit["floor"] is not None:
        return f"a floor stays at {fit['floor']:.2g}"
    low, high = fit["interval"]
    slope = fit["slope"]

    def is_near(power: float) -> bool:
        off = abs(slope - power)
        return bool(off <= _NEAR or (off <= _NEARLY and low <= power <= high))

    if is_near(-1):
        words = "falls like 1/T"
    elif is_near(-0.5):
        return "falls like 1/√T" + (", as promised" if promised else "")
    elif abs(slope) < 0.1:
        words = f"hardly falls, slope {slope:.2f},"
    elif slope > 0.1:
        words = f"grows like $T^{{{slope:.2f}}}$"
    else:
        words = f"falls like $T^{{{slope:.2f}}}$"
    return f"{words} where 1/√T is promised" if promised else words.rstrip(",")


def _crossed(study: Mapping[str, Any], bound: Mapping[str, Any]) -> int | None:
    """The first T at which the whole band lies above a bound."""
    for T, value, one in zip(study["horizons"], bound["values"], study["curves"]["f"]["band"], strict=True):
        if value is not None and one is not None and one[0] > value * (1 + 1e-9):
            return int(T)
    return None


def _panel(axes: Axes, study: Mapping[str, Any]) -> list[tuple[float, str, str]]:
    """Draw a study; what is to be written at the right ends."""
    T, curve = horizons_of(study), study["curves"]["f"]
    measured = numbers(curve["min_mean"])
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    band(axes, T, curve["band"], MEASURED)
    axes.plot(T, measured, "o-", color=MEASURED, markersize=4.5, linewidth=2, label="measured", zorder=3)
    names = [(measured[-1], "measured, 95% band", MEASURED)]
    # Where both coincide, both are seen.
    for whose, claims, colour, width in (("paper", PAPER, BOUND, 2.6), ("ours", OURS, SECOND, 1.4)):
        bound = chosen(study, claims)
        if bound is None:
            continue
        values = positive(bound["values"])
        axes.plot(T, values, _line(bound), color=colour, linewidth=width, label=bound["claim"])
        proved = "" if bound["proved"] else ",\nnot proved here"
        names.append((last(values), f"{whose}: {named(bound)}{proved}", colour))
    if study.get("exact"):
        least = numbers(study["exact"]["least"])
        axes.plot(T, least, "+", color="black", markersize=9, label="closed form", zorder=4)
        names[0] = (measured[-1], "measured; + closed form", MEASURED)
    _slopes(axes, T, measured, study)
    # No line break before a number.
    title = "\n".join(wrap(finding(study).replace(" = ", "\u00a0=\u00a0"), 62))
    axes.set_title(title, loc="left", fontsize=11.5, fontweight="bold", pad=36)
    below = f"{_short(study['title'])}\n{law(study)}"
    axes.annotate(
        below, (0, 1), (0, 6), xycoords="axes fraction", textcoords="offset points", fontsize=8.5, va="bottom"
    )
    axes.set(xlabel="rounds T", ylabel=r"$\min_t$ mean $\|\nabla f(x_t)\|^2$, past task")
    return names


def _short(words: str, most: int = 90) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"


def _slopes(axes: Axes, T: _Floats, measured: _Floats, study: Mapping[str, Any]) -> None:
    """Both slopes begin below the measurement where the fit begins."""
    if study["fit_from"] is None:
        return
    first = list(study["horizons"]).index(study["fit_from"])
    limits = axes.get_ylim()
    start = measured[first] / 1.6
    for power, words in ((-0.5, "-1/2"), (-1.0, "-1")):
        line = start * (T[first:] / T[first]) ** power
        axes.plot(T[first:], line, ":", color=REFERENCE, linewidth=1.1, label=f"slope {words}", zorder=1)
    low = min(limits[0], start * (T[-1] / T[first]) ** -0.75)
    axes.set_ylim(low, limits[1])


def _seen(study: Mapping[str, Any]) -> str:
    """A panel in words."""

    def ends(values: Sequence[float | None]) -> str:
        known = [(T, value) for T, value in zip(study["horizons"], values, strict=True) if value is not None]
        (a, first), (b, final) = known[0], known[-1]
        return f"{first:.2g} at T = {a} to {final:.2g} at T = {b}"

    said = [
        f"{study['title']}: {finding(study)}",
        f"measured ||grad f||^2 from {ends(study['curves']['f']['min_mean'])}",
    ]
    for whose, claims in (("the paper's bound", PAPER), ("ours", OURS)):
        bound = chosen(study, claims)
        if bound is not None:
            said.append(f"{whose}, {named(bound)}, from {ends(bound['values'])}")
    return "; ".join(said) + "."


def horizons_of(study: Mapping[str, Any]) -> _Floats:
    """The values of T."""
    return np.array(study["horizons"], dtype=float)


def numbers(values: Sequence[float | None]) -> _Floats:
    """Values with NaN, which is not drawn, where there is none."""
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def positive(values: Sequence[float | None]) -> _Floats:
    """Those of `numbers` that a logarithmic axis can show."""
    found = numbers(values)
    found[found <= 0] = np.nan
    return found


def last(values: _Floats) -> float:
    """The last that is a number, else NaN."""
    known = values[np.isfinite(values)]
    return float(known[-1]) if known.size else float("nan")


def band(axes: Axes, T: _Floats, bands: Sequence[Sequence[float] | None], colour: str, opacity: float = 0.2) -> None:
    """A bootstrap band."""
    low, high = np.array([(np.nan, np.nan) if one is None else one for one in bands], dtype=float).T
    axes.fill_between(T, low, high, color=colour, alpha=opacity, linewidth=0)


def named(bound: Mapping[str, Any]) -> str:
    """A bound's name for people."""
    claim: str = bound["claim"]
    return WORDS.get(claim, claim.removeprefix("ours."))


def _line(bound: Mapping[str, Any]) -> str:
    return "-" if bound["proved"] else "--"


def law(study: Mapping[str, Any]) -> str:
    """The step sizes of a study in a line."""
    power = study["power"]
    beta = "c" if power == 0 else r"c/\sqrt{T}" if power == 0.5 else rf"c/T^{{{power:g}}}"
    factor = "" if study["alpha_factor"] == 1 else f"{study['alpha_factor']:g}"
    alpha = rf"$\alpha = {factor or 1}/(L(1+m)) = {study['alpha']:.3g}$, " if study["alpha"] else ""
    return rf"{alpha}$\beta = {beta}$, $c = {study['c']:.3g}$, $m = {study['m']:.3g}$, $E = {study['E']}$"
