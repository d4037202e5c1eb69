"""A rate study: in one panel what is measured, the bounds and the slopes -1/2 and -1; and every quantity apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from cflag_theory.figures import style

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


def rate_figure(studies: Any) -> style.Picture:
    """One panel a study: min_t mean ||grad f||^2 with its band, the paper's bound, ours, and two slopes.

    The title is the finding, computed from the numbers. A bound that is proved for the setting is a solid line, any
    other is dashed. What else a study has is in `rate_details_figure`.

    Parameters
    ----------
    studies : Rate, mapping, or sequence of either
        Mappings as `studies.rates.results.Rate.to_json` gives them.
    """
    found = style.plain_all(studies)
    with style.house_style():
        figure = style.Picture(figsize=(6.4, 5.2 * len(found)), layout="constrained")
        panels = [
            _panel(axes, study)
            for axes, study in zip(figure.subplots(len(found), 1, squeeze=False)[:, 0], found, strict=True)
        ]
        figure.alt = " ".join(_seen(study) for study in found)
        # Names stand where the layout has put the axes.
        figure.arrange()
        for axes, names in zip(figure.axes, panels, strict=True):
            style.name_ends(axes, names)
            for line in axes.lines:
                if str(line.get_label()).startswith("Slope"):
                    style.name_line(axes, line, str(line.get_label()))
    return figure


def finding(study: Mapping[str, Any]) -> str:
    """What a study shows in a few words, computed from its numbers."""
    curve = followed(study)
    said = [fall(curve, study["horizons"], promised=bool(study["bounds"]) and study["power"] == 0.5)]
    lost = max(study.get("diverged", [0]))
    if lost:
        said[0] = f"{lost} of {study['replicas']} runs diverge"
    bound = chosen(study, PAPER)
    if bound is not None:
        # Only where the whole band lies above.
        lows = [one and one[0] for one in curve["band"]]
        said += style.crossing("the printed bound", study["horizons"], lows, bound["values"])
    return "; ".join(said)


def chosen(study: Mapping[str, Any], claims: Sequence[str]) -> Mapping[str, Any] | None:
    """The first of these bounds on f that has values here, those that are proved before the others."""
    named = {one["claim"]: one for one in study["bounds"] if any(value is not None for value in one["values"])}
    present = [named[claim] for claim in claims if claim in named]
    return next((one for one in present if one["proved"]), present[0] if present else None)


def fall(curve: Mapping[str, Any], horizons: Sequence[int], *, promised: bool = False) -> str:
    """How a curve falls: what `studies.rates.statistics.Fit` shows, or else what was measured."""
    fit = curve["fit"]
    if fit is None:
        return "no slope: the gradient is rounding"
    (low, high), slope = fit["interval"], fit["slope"]
    ends = [curve["min_mean"][list(horizons).index(fit[end])] for end in ("first", "last")]
    measured = f"from {ends[0]:.2g} at T = {fit['first']} to {ends[1]:.2g} at T = {fit['last']}"
    if fit["shows"] == "few":
        return f"{measured}; {sum(fit['first'] <= T <= fit['last'] for T in horizons)} horizons show no slope"
    if fit["shows"] == "open":
        return f"{measured}; slope open, {low:.2f} to {high:.2f}"
    if fit["shows"] == "floor":
        return f"a floor stays at {fit['floor']:.2g}"
    near = fit["near"]
    if near == -0.5:
        return r"falls like $1/\sqrt{T}$" + (", as promised" if promised else "")
    words = "falls like $1/T$" if near else f"{'grows' if slope > 0 else 'falls'} like $T^{{{slope:.2f}}}$"
    if -0.1 < slope < 0:
        words = f"hardly falls, slope {slope:.2f}{',' if promised else ''}"
    return rf"{words} where $1/\sqrt{{T}}$ is promised" if promised else words


def _panel(axes: Axes, study: Mapping[str, Any]) -> list[tuple[float, str, str]]:
    """Draw a study; what is to be written at the right ends."""
    T, curve = horizons_of(study), followed(study)
    measured = numbers(curve["min_mean"])
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    band(axes, T, curve["band"], style.MEASURED)
    axes.plot(T, measured, "o-", color=style.MEASURED, markersize=4.5, linewidth=2, label="Measured", zorder=3)
    names = [(measured[-1], "Measured, 95% band", style.MEASURED)]
    # Where both coincide, both are seen.
    for whose, claims, colour, width in (("Paper", PAPER, style.BOUND, 2.6), ("Ours", OURS, style.SECOND, 1.4)):
        bound = chosen(study, claims)
        if bound is None:
            continue
        values = positive(bound["values"])
        axes.plot(T, values, _line(bound), color=colour, linewidth=width, label=bound["claim"])
        proved = "" if bound["proved"] else ",\nnot proved here"
        names.append((last(values), f"{whose}: {named(bound)}{proved}", colour))
    if study.get("exact"):
        least = numbers(study["exact"]["least"])
        axes.plot(T, least, "+", color="black", markersize=9, label="Closed form", zorder=4)
        names[0] = (measured[-1], "Measured; + closed form", style.MEASURED)
    _slopes(axes, T, measured, study)
    style.message(axes, finding(study), 56, pad=40)
    style.subtitle(axes, f"{style.typeset(_short(study['title'], 70))}\n{law(study)}")
    own = study.get("objective", "f")
    whose = {"f": "past task", "g": "current task, all that it sees"}[own]
    axes.set(xlabel="Rounds $T$", ylabel=rf"$\min_t$ mean $\|\nabla {own}(x_t)\|^2$, {whose}")
    return names


def _short(words: str, most: int) -> str:
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
        axes.plot(T[first:], line, ":", color=style.REFERENCE, linewidth=1.1, label=f"Slope {words}", zorder=1)
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
    return WORDS.get(claim, claim.removeprefix("ours.").replace("_", " "))


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
    "f": (r"$\|\nabla f\|^2$", style.MEASURED),
    "g": (r"$\|\nabla g\|^2$", style.SECOND),
    "h": (r"$\|\nabla\tilde h\|^2$", _THIRD),
}
_Names = list[tuple[float, str, str]]


def rate_details_figure(studies: Any) -> style.Picture:
    """For each study the gradients of the current task and of both tasks, and below them bounds over measurements.

    A bound that is proved for the setting is a solid line, any other is dashed; its colour is that of the gradient that
    it bounds. Those without a name are grey: the paper's and ours on f have one, and the first on g and on h~.

    Parameters
    ----------
    studies : Rate, mapping, or sequence of either
        Mappings as `studies.rates.results.Rate.to_json` gives them.
    """
    found = style.plain_all(studies)
    with style.house_style():
        figure = style.Picture(figsize=(6.4, 7.6 * len(found)), layout="constrained")
        axes = figure.subplots(2 * len(found), 1)
        names = []
        for above, below, study in zip(axes[::2], axes[1::2], found, strict=True):
            names += [(above, _gradients(above, study)), (below, _quotients(below, study))]
        figure.arrange()
        for place, written in names:
            style.name_ends(place, written)
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
        names.append((last(least), symbol, colour))
        said.append(f"{symbol} {_fall_to(curve, study['horizons'])}")
    axes.set_xscale("log", base=2)
    if any(np.isfinite(line.get_ydata()).any() for line in axes.lines):
        axes.set_yscale("log")
        style.log_numbers(axes)
    style.message(axes, f"{study['title']}: {'; '.join(said)}", 56)
    axes.set_ylabel("$\\min_t$ mean; dotted: mean over $t$")
    return names


def _fall_to(curve: Mapping[str, Any], horizons: Any) -> str:
    """What one gradient does."""
    if curve["fit"] is None:
        return "is zero up to rounding"
    return fall(curve, horizons).partition(";")[0].removeprefix("a floor ")


def _quotients(axes: Axes, study: Mapping[str, Any]) -> _Names:
    T, names, drawn = horizons_of(study), [], []
    told = [chosen(study, claims) for claims in (PAPER, OURS)]
    for key, (symbol, own) in _GRADIENTS.items():
        if key != "f":
            told.append(chosen(study, [one["claim"] for one in study["bounds"] if one["quantity"] == key]))
        for bound in study["bounds"]:
            if bound["quantity"] != key or all(value is None for value in bound["values"]):
                continue
            curve = study["curves"][key]
            with np.errstate(divide="ignore", invalid="ignore"):
                quotient = numbers(bound["values"]) / numbers(curve["mean" if bound["of"] == "mean" else "min_mean"])
            drawn.append(quotient[np.isfinite(quotient)])
            # Bounds that are not positive have no logarithm; the title counts them.
            quotient[~(np.isfinite(quotient) & (quotient > 0))] = np.nan
            seen = any(bound is one for one in told)
            colour, width = (own, 1.6) if seen else (style.REFERENCE, 0.9)
            axes.plot(T, quotient, _line(bound), marker=".", color=colour, linewidth=width, label=bound["claim"])
            if seen:
                names.append((last(quotient), f"{named(bound)}, {symbol}", colour))
    axes.axhline(1.0, color=style.REFERENCE, linewidth=1)
    axes.set_xscale("log", base=2)
    axes.set(xlabel="Rounds $T$", ylabel="Bound / measured\nDashed: not proved here; grey: others")
    style.message(axes, _below_one(drawn), 56)
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
    least, most = (f"{float(f'{end:.2g}'):,g}" for end in (min(positive_ends), max(positive_ends)))
    words = f"bounds end {least} to {most} times what is measured"
    if low := sum(end < 1 - 1e-9 for end in ends):
        words = f"{low} of {len(ends)} bounds end below what they should bound; {words}"
    if negative := len(ends) - len(positive_ends):
        words += f"; {negative} ends negative"
    return words
