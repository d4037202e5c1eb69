"""A rate study: in one panel what is measured, the bounds and the slopes -1/2 and -1; and every quantity apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from cflag_theory.figures.style import (
    BOUND,
    MEASURED,
    REFERENCE,
    SECOND,
    Picture,
    house_style,
    name_ends,
    name_line,
    plain_all,
)

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
    curve = followed(study)
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
    for T, value, one in zip(study["horizons"], bound["values"], followed(study)["band"], strict=True):
        if value is not None and one is not None and one[0] > value * (1 + 1e-9):
            return int(T)
    return None


def _panel(axes: Axes, study: Mapping[str, Any]) -> list[tuple[float, str, str]]:
    """Draw a study; what is to be written at the right ends."""
    T, curve = horizons_of(study), followed(study)
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
    own = study.get("objective", "f")
    whose = {"f": "past task", "g": "current task, all that it sees"}[own]
    axes.set(xlabel="rounds T", ylabel=rf"$\min_t$ mean $\|\nabla {own}(x_t)\|^2$, {whose}")
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
        f"measured ||grad {study.get('objective', 'f')}||^2 from {ends(followed(study)['min_mean'])}",
    ]
    for whose, claims in (("the paper's bound", PAPER), ("ours", OURS)):
        bound = chosen(study, claims)
        if bound is not None:
            said.append(f"{whose}, {named(bound)}, from {ends(bound['values'])}")
    return "; ".join(said) + "."


def followed(study: Mapping[str, Any]) -> Mapping[str, Any]:
    """The curve of the algorithm's own objective: g without a memory step."""
    curve: Mapping[str, Any] = study["curves"][study.get("objective", "f")]
    return curve


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


_THIRD = "#CC79A7"
_GRADIENTS = {
    "f": (r"$\|\nabla f\|^2$", MEASURED),
    "g": (r"$\|\nabla g\|^2$", SECOND),
    "h": (r"$\|\nabla\tilde h\|^2$", _THIRD),
}
_Names = list[tuple[float, str, str]]


def rate_details_figure(studies: Any) -> Picture:
    """One column a study: the gradients of the current task and of both tasks above, below bounds over measurements.

    A bound that is proved for the setting is a solid line, any other is dashed; its colour is that of the gradient that
    it bounds.

    Parameters
    ----------
    studies : Rate, mapping, or sequence of either
        Mappings as `studies.rates.results.Rate.to_json` gives them.
    """
    found = plain_all(studies)
    with house_style():
        figure = Picture(figsize=(7.4 * len(found), 8.6), layout="constrained")
        axes = figure.subplots(2, len(found), squeeze=False, sharex="col")
        names = []
        for column, study in enumerate(found):
            names.append((axes[0, column], _gradients(axes[0, column], study)))
            names.append((axes[1, column], _quotients(axes[1, column], study)))
        figure.draw_without_rendering()
        for place, written in names:
            name_ends(place, written, size=8)
    return figure


def _gradients(axes: Axes, study: Mapping[str, Any]) -> _Names:
    T, names, said = horizons_of(study), [], []
    for key in ("g", "h"):
        symbol, colour = _GRADIENTS[key]
        curve = study["curves"].get(key)
        if curve is None:
            said.append(r"a rotated gradient has no $\tilde h$")
            continue
        band(axes, T, curve["band"], colour)
        least, mean = positive(curve["min_mean"]), positive(curve["mean"])
        axes.plot(T, least, "o-", color=colour, markersize=4, label=rf"$\min_t$ mean {symbol}")
        axes.plot(T, mean, ":", color=colour, linewidth=1.3, label=f"{symbol}, mean over $t$")
        names += [(last(least), rf"$\min_t$ {symbol}", colour), (last(mean), f"{symbol}, mean over $t$", colour)]
        said.append(f"{symbol} {_fall_to(curve, study['horizons'])}")
    axes.set_xscale("log", base=2)
    if any(np.isfinite(line.get_ydata()).any() for line in axes.lines):
        axes.set_yscale("log")
    words = ";\n".join(said) if sum(map(len, said)) > 80 else "; ".join(said)
    axes.set_title(f"{study['title']}\n{words}", loc="left", fontsize=10, fontweight="bold")
    axes.set_ylabel("current task and both tasks")
    return names


def _fall_to(curve: Mapping[str, Any], horizons: Any) -> str:
    """What one gradient does: its floor or its slope, with the interval and the range of the fit."""
    fit = curve["fit"]
    if fit is None:
        return "is zero up to rounding"
    if fit["floor"] is not None:
        return f"stays at {fit['floor']:.2g}"
    low, high = fit["interval"]
    return f"has slope {fit['slope']:.2f} [{low:.2f}, {high:.2f}] from T = {fit['first']}"


def _quotients(axes: Axes, study: Mapping[str, Any]) -> _Names:
    T, names, drawn = horizons_of(study), [], []
    for key, (symbol, colour) in _GRADIENTS.items():
        for bound in study["bounds"]:
            if bound["quantity"] != key or all(value is None for value in bound["values"]):
                continue
            curve = study["curves"][key]
            with np.errstate(divide="ignore", invalid="ignore"):
                quotient = numbers(bound["values"]) / numbers(curve["mean" if bound["of"] == "mean" else "min_mean"])
            drawn.append(quotient[np.isfinite(quotient)])
            # Bounds that are not positive have no logarithm; the title counts them.
            quotient[~(np.isfinite(quotient) & (quotient > 0))] = np.nan
            side = "" if bound["of"] == "below" else f" {bound['of']}"
            words = f"{named(bound)},{side} {symbol}"
            style = "-" if bound["proved"] else "--"
            axes.plot(T, quotient, style, marker=".", color=colour, markersize=5, linewidth=1.3, label=bound["claim"])
            names.append((last(quotient), words, colour))
    axes.axhline(1.0, color=REFERENCE, linewidth=1)
    axes.set_xscale("log", base=2)
    axes.set(xlabel="rounds T", ylabel="bound / measured; dashed: not proved here")
    axes.set_title(_below_one(drawn), loc="left", fontsize=10, fontweight="bold")
    if any((one > 0).any() for one in drawn):
        axes.set_yscale("log")
        # Equalities stay on the line at 1: their rounding is not blown up to the height of the panel.
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, 0.5), max(high, 2.0))
    return names


def _below_one(drawn: list[Any]) -> str:
    ends = [one[-1] for one in drawn if one.size]
    positive_ends = [end for end in ends if end > 0]
    if not positive_ends:
        return "no bound applies here"
    words = f"bounds end {min(positive_ends):.2g} to {max(positive_ends):.2g} times what is measured"
    if low := sum(end < 1 - 1e-9 for end in ends):
        words = f"{low} of {len(ends)} bounds end below what they should bound; {words}"
    if negative := len(ends) - len(positive_ends):
        words += f"; {negative} ends negative"
    return words.replace("; ", ";\n") if len(words) > 70 else words
