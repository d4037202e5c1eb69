"""FedAvg and CFL against T, with printed rates and floors; the noisy quadratic model; families of rate studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes

from cflag_theory.figures import style
from cflag_theory.figures.rate import band, fall, followed, horizons_of, last, named, numbers, positive

# Where both coincide, the wide line shows on both sides of the other.
_LOOKS = {"FedAvg": (style.MEASURED, 4.0), "CFL": (style.SECOND, 1.4)}


def cfl_rate_figure(studies: Any) -> style.Picture:
    """For each study the curves, and below them printed bound over the mean that it bounds.

    Parameters
    ----------
    studies : CFLRate, mapping, or sequence of either
        Mappings as `studies.rates.cfl.CFLRate.to_json` gives them.
    """
    studies = style.plain_all(studies)
    with style.house_style():
        figure = style.Picture(figsize=(6.4, 7.0 * len(studies)), layout="constrained")
        axes = figure.subplots(2 * len(studies), 1, height_ratios=[3, 1] * len(studies))
        names = [_curves(place, study) for place, study in zip(axes[::2], studies, strict=True)]
        for place, study in zip(axes[1::2], studies, strict=True):
            _quotient(place, study)
        figure.alt = " ".join(f"{study['title']}: {_finding(study)}; {_ends(study)}." for study in studies)
        figure.arrange()
        for place, written in zip(axes[::2], names, strict=True):
            style.name_ends(place, written)
    return figure


def _curves(axes: Axes, study: Mapping[str, Any]) -> list[tuple[float, str, str]]:
    T, names = np.array(study["horizons"], dtype=float), []
    for rate in study["methods"]:
        name, (color, width) = rate["method"], _LOOKS[rate["method"]]
        if rate["band"]:
            low, high = np.array(rate["band"]).T
            axes.fill_between(T[: len(low)], low, high, color=color, alpha=0.2, linewidth=0)
        for key, line, words in (("last", "-", "exact"), ("printed", "--", "printed rate"), ("ours", ":", "proved")):
            values = np.array([np.nan if value is None else value for value in rate[key]], dtype=float)
            if np.isfinite(values).any():
                faint = 0.45 if width > 2 and key != "last" else 1.0
                label = f"{name}, {words}"
                axes.plot(T, values, line, color=color, linewidth=width, alpha=faint, label=label)
                names.append((values[-1], label, color))
    axes.plot(T, study["floor"], "-", color="black", linewidth=0.8, label="Floor")
    names.append((study["floor"][-1], "Floor of all step sizes", "#555555"))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylabel(r"$\mathbb{E}\,f(\omega_T)-f^*$; band: simulated")
    style.message(axes, f"{study['title']}: {_finding(study)}", 60)
    return names


def _finding(study: Mapping[str, Any]) -> str:
    words = str(study["finding"])
    for rate in study["methods"]:
        said = style.crossing(f"the printed rate of {rate['method']}", study["horizons"], rate["mean"], rate["printed"])
        words = "; ".join([words, *said])
    return words


def _ends(study: Mapping[str, Any]) -> str:
    return "; ".join(
        f"{rate['method']} from {rate['last'][0]:.2g} to {rate['last'][-1]:.2g}, printed rate {rate['printed'][-1]:.2g}"
        for rate in study["methods"]
    )


def _quotient(axes: Axes, study: Mapping[str, Any]) -> None:
    T = np.array(study["horizons"], dtype=float)
    for rate in study["methods"]:
        quotient = np.array(rate["printed"]) / np.array(rate["mean"])
        color, width = _LOOKS[rate["method"]]
        axes.plot(T, quotient, "--", color=color, linewidth=width)
    axes.axhline(1.0, color=style.REFERENCE, linewidth=1)
    axes.set_xscale("log", base=2)
    axes.set(yscale="log", xlabel="Rounds $T$", ylabel="Printed / exact")
    style.log_numbers(axes)


# Curves often coincide: FedAvg and CFL are wide, so that their variants show on top of them.
_LINES = {
    "FedAvg": (style.REFERENCE, "-", 3.2),
    "FedProx": (style.BOUND, "--", 1.4),
    "CFL": (style.MEASURED, "-", 3.2),
    "CFL-0.001": (style.SECOND, "-.", 1.4),
    "CFL-0.01": ("#CC79A7", ":", 1.8),
}
_LETTERS = (
    r"$A w + B$: gradient; $L$, $\mu$: largest and least curvature; $\xi$: round drift" + "\n"
    "SRD, BRD: small and big round drift; SL, LL: small and large $L$;\n"
    "SC, GC: strongly and generally convex; each method with its best step size"
)


def nqm_figure(panels: Sequence[Mapping[str, Any]]) -> style.Picture:
    """𝔼||A w_t + B|| by round, two panels in a row.

    Parameters
    ----------
    panels : sequence of mappings
        As `studies.nqm.table3.panels` gives them: "title" and "curves", each with "method", "rate", "mean" (T + 1,),
        and where runs were simulated "low" and "high" (T + 1,), the range of the middle 90 % of them.
    """
    rows = (len(panels) + 1) // 2
    with style.house_style():
        figure = style.Picture(figsize=(7.4, 1.2 + 2.7 * rows), layout="constrained")
        axes = figure.subplots(rows, 2, squeeze=False, sharex=True)
        for place, panel in zip(axes.flat, panels, strict=False):
            _panel(place, panel)
        for spare in axes.flat[len(panels) :]:
            spare.set_visible(False)
        for place in axes[-1]:
            place.set_xlabel("Round $t$")
        for place in axes[:, 0]:
            place.set_ylabel(r"$\mathbb{E}\,\|A w_t + B\|$")
        shown = {name: line for line in axes[0, 0].lines if (name := str(line.get_label()).partition("  ")[0])}
        figure.legend(shown.values(), shown.keys(), loc="outside upper center", ncols=5, columnspacing=1.2)
        figure.supxlabel(_LETTERS, fontsize=10)
    return figure


def _panel(axes: Axes, panel: Mapping[str, Any]) -> None:
    for one in panel["curves"]:
        colour, line, width = _LINES[one["method"]]
        mean = np.asarray(one["mean"], dtype=float)
        t = np.arange(len(mean))
        low, high = one.get("low"), one.get("high")
        if low is not None and high is not None:
            axes.fill_between(t, low, high, color=colour, alpha=0.13, linewidth=0)
        axes.plot(t, mean, line, color=colour, linewidth=width, label=f"{one['method']}  ({one['rate']:.4g})")
    axes.set_yscale("log")
    name, _, numbers = panel["title"].partition("\n")
    axes.set_title(
        "\n".join(style.typeset(words) for words in (name, numbers, _table_finding(panel["curves"])) if words),
        fontsize=10,
        loc="left",
    )


def _table_finding(curves: Sequence[Mapping[str, Any]]) -> str:
    """Who ends lowest, compared with FedAvg where it is there."""
    ends = {one["method"]: float(one["mean"][-1]) for one in curves}
    # Of methods that end together the first one is named.
    best = next(name for name, end in ends.items() if end <= 1.01 * min(ends.values()))
    other = ends.get("FedAvg", max(ends.values()))
    if other <= 1.02 * ends[best]:
        return "nobody ends below FedAvg"
    factor = other / ends[best] if ends[best] > 0 else float("inf")
    return f"{best} ends lowest, {factor:.2g} times below FedAvg"


# The bound of each study: the first of these that is proved for it.
_PROVED = ("ours.redrawn", "ours.drawn_once", "cflag.lemma1")


def rate_family_figure(family: Any) -> style.Picture:
    """min_t mean ||grad f||^2 against T for every value, below the bound over the mean.

    The bound is the first of ours.redrawn, ours.drawn_once and Lemma 1 (repaired, summed) that is proved for the study;
    all three bound the mean over t.

    Parameters
    ----------
    family : RateFamily or mapping
        A mapping as `studies.rates.families.RateFamily.to_json` gives it.
    """
    family = style.plain(family)
    studies, values = family["studies"], family["values"]
    colours = mpl.colormaps["viridis"](np.linspace(0, 0.8, len(studies)))
    over: list[tuple[float, str, Any]] = []
    under: list[tuple[float, str, Any]] = []
    said, proved = [], []
    with style.house_style():
        figure = style.Picture(figsize=(6.4, 7.6), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1.4])
        above.set_xscale("log", base=2)
        above.set_yscale("log")
        below.set_yscale("log")
        for study, value, colour in zip(studies, values, colours, strict=True):
            T, curve = horizons_of(study), followed(study)
            measured, name = positive(curve["min_mean"]), style.typeset(f"{family['varied']} = {value:g}")
            said.append(f"{family['varied']} = {value:g}: {fall(curve, study['horizons'])}")
            band(above, T, curve["band"], colour, 0.15)
            above.plot(T, measured, "o-", color=colour, markersize=4, label=name)
            over.append((last(measured), name, colour))
            bound = _proved_bound(study)
            if bound is not None:
                above.plot(T, positive(bound["values"]), "--", color=colour, linewidth=1)
                with np.errstate(divide="ignore", invalid="ignore"):
                    quotient = numbers(bound["values"]) / numbers(curve["mean"])
                quotient[~np.isfinite(quotient)] = np.nan
                below.plot(T, quotient, "s-", color=colour, markersize=3.5, label=bound["claim"])
                under.append((last(quotient), name, colour))
                proved.append(named(bound))
        first, T = followed(studies[0])["min_mean"][0] / 1.6, horizons_of(studies[0])
        for power, words in ((-0.5, "-1/2"), (-1.0, "-1")):
            above.plot(T, first * (T / T[0]) ** power, ":", color=style.REFERENCE, linewidth=1, label=f"Slope {words}")
        style.message(above, _family_finding(family), 56, pad=26)
        about = f"{studies[0]['title']}; dashed: proved bounds on the mean over $t$"
        style.subtitle(above, style.typeset(about))
        own = studies[0].get("objective", "f")
        above.set_ylabel(rf"$\min_t$ mean $\|\nabla {own}(x_t)\|^2$, 95% band")
        below.axhline(1.0, color=style.REFERENCE, linewidth=1)
        below.set(xlabel="Rounds $T$", ylabel="Proved bound / mean")
        if proved:
            style.message(below, f"bounds: {', '.join(dict.fromkeys(proved))}", 56)
        style.log_numbers(below)
        figure.alt = f"{studies[0]['title']}: {_family_finding(family)}. {'; '.join(said)}."
        figure.arrange()
        style.name_ends(above, over)
        style.name_ends(below, under)
        for line in above.lines[-2:]:
            style.name_line(above, line, str(line.get_label()))
    return figure


def _family_finding(family: Mapping[str, Any]) -> str:
    """Which values do what: those of which the same is said together."""
    groups: dict[str, list[str]] = {}
    for study, value in zip(family["studies"], family["values"], strict=True):
        words = fall(followed(study), study["horizons"]).partition(";")[0]
        for start, group in (
            ("a floor", "stays above zero"),
            ("from ", "no clear slope"),
            ("no slope", "rounding"),
        ):
            words = group if words.startswith(start) else words
        groups.setdefault(words, []).append(f"{value:g}")
    return "; ".join(f"{family['varied']} = {', '.join(values)}: {words}" for words, values in groups.items())


def _proved_bound(study: Mapping[str, Any]) -> Mapping[str, Any] | None:
    found = {one["claim"]: one for one in study["bounds"] if one["proved"]}
    return next((found[claim] for claim in _PROVED if claim in found), None)
