"""Rate studies as tables for people."""

from __future__ import annotations

from cflag_theory.cli.tables.page import Page
from cflag_theory.studies.rates.bounds import Bound
from cflag_theory.studies.rates.families import RateFamily
from cflag_theory.studies.rates.past_task import Curve, Rate
from cflag_theory.studies.rates.statistics import FIT_RULE, Fit

#: A growth of the mean over t that is said.
_GROWN = 10.0
_GRADIENTS = {"f": "|grad f|^2", "g": "|grad g|^2", "h": "|grad h~|^2"}


def rate(study: Rate, *, details: bool = False) -> None:
    """One rate study: what was measured, and the bounds that are proved; with details all slopes and all bounds."""
    console = Page()
    console.say(f"{study.title}: {answer(study)}", style="bold")
    if study.exact is not None:
        console.say(f"  {study.exact.claim}: {study.exact.words}")
    for note in study.notes:
        console.say("  " + note)
    console.say(_setting(study))
    own, of_own = _GRADIENTS[study.objective], study.curves[study.objective]
    bounds = study.theorem2
    rows = [
        (
            str(T),
            f"{of_own.min_mean[k]:.4e}",
            f"[{of_own.band[k][0]:.3e}, {of_own.band[k][1]:.3e}]",
            *(() if study.exact is None else (f"{study.exact.least[k]:.4e}",)),
            _number(of_own.mean[k]),
            f"{of_own.mean_min[k]:.4e}",
            *((_number(bounds[k]), _quotient(bounds[k], of_own.min_mean[k])) if any(bounds) else ()),
        )
        for k, T in enumerate(study.horizons)
    ]
    exact = () if study.exact is None else ("closed form",)
    theorem = ("Theorem 2", "/measured") if any(bounds) else ()
    header = ("T", f"min mean {own}", "95% band", *exact, "mean over t", "mean of minima", *theorem)
    console.table(header, rows)
    for T, count in zip(study.horizons, study.diverged, strict=True):
        if count:
            console.say(f"  T = {T}: {count} of {study.replicas} replicas diverged")
    if not details:
        proved = [
            f"{one.claim} ({last}, {one.of} of {_GRADIENTS[one.quantity]})"
            for one in study.bounds
            if one.proved and (last := _quotient(one.values[-1], _side(study, one)[-1]))
        ]
        T = study.horizons[-1]
        console.say(f"  proved bounds / measured at T = {T}: {', '.join(proved)}" if proved else "  no bound is proved")
    for key, curve in study.curves.items() if details else ():
        for name, found in (("min", curve.fit), ("mean", curve.mean_fit)):
            console.say(f"  fitted slope, {name} of {_GRADIENTS[key]}: {_fit(found)}")
    if details:
        console.say(f"  fitted on {FIT_RULE}")
        console.say("  bound / measured value, at the smallest and at the largest T:")
        for one in study.bounds:
            console.say(f"    {_bound(study, one)}")
    console.print()


def answer(study: Rate) -> str:
    """What was measured of the objective, in a sentence."""
    own, of_own = _GRADIENTS[study.objective], study.curves[study.objective]
    words = f"min over t of {own} is {of_own.min_mean[-1]:.3g} at T = {study.horizons[-1]}"
    fit = of_own.fit
    if fit is not None and fit.shows == "floor":
        words += ", a floor"
    elif fit is not None and fit.shows != "few":
        moves = "grows" if fit.slope > 0 else "falls"
        words += f" and {moves} like T^{fit.slope:.2f}" if fit.shows == "slope" else ", its slope is open"
        words += f" (95%: {fit.interval[0]:.2f} to {fit.interval[1]:.2f})"
    first, last = of_own.mean[0], of_own.mean[-1]
    if first is not None and last is not None and not last < _GROWN * first:
        words += f"; its mean over t grows to {last:.3g}, so take smaller step sizes (cflag stepsize)"
    return words + "."


def family(found: RateFamily, *, details: bool = True) -> None:
    """What every value of the dial gives."""
    console = Page()
    console.say(f"{found.studies[0].title}: {found.varied} varied", style="bold")
    rows = []
    for value, study in zip(found.values, found.studies, strict=True):
        proved = [one for one in study.bounds if one.proved and one.quantity == "f" and one.values[-1] is not None]
        rows.append(
            (
                f"{value:g}",
                f"{study.min_mean[-1]:.3e}",
                _fit(study.curves[study.objective].fit),
                f"{study.alpha:.3g}",
                f"{study.m:.3g}",
                f"{study.r_met:.3g}",
                ", ".join(f"{one.claim} ({_quotient(one.values[-1], _side(study, one)[-1])})" for one in proved),
            )
        )
    T = found.studies[0].horizons[-1]
    header = (found.varied, f"min at T = {T}", "fitted slope", "alpha", "m", "largest r", "proved bounds (/measured)")
    console.table(header, rows)
    console.say(f"  fitted on {FIT_RULE}")


def _setting(study: Rate) -> str:
    power = {0.0: "c", 0.5: "c/sqrt(T)"}.get(study.power, f"c/T^{study.power:g}")
    # Rows without a memory step have no alpha.
    alpha = f"alpha = {study.alpha_factor:g}/(L(1+m)) = {study.alpha:.4g}" if study.alpha else "no memory step"
    return (
        f"  N = {study.clients}, d = {study.dimension}, E = {study.E}, {study.replicas} replicas, seed {study.seed}; "
        f"memory: {study.memory}\n"
        f"  L = {study.L:.4g}, of components {study.L_component:.4g}; m = {study.m:.4g} ({study.m_kind})\n"
        f"  {alpha}, beta = {power}, c = {study.c:.4g}; "
        f"largest m observed: {study.m_met:.4g}, largest r: {study.r_met:.4g}"
    )


def _fit(found: Fit | None) -> str:
    if found is None:
        return "none, fewer than two horizons above rounding"
    low, high = found.interval
    words = f"{found.slope:.3f} [{low:.3f}, {high:.3f}], T from {found.first} to {found.last}"
    return words if found.floor is None else f"{words}; does not fall below {found.floor:.3g}"


def _side(study: Rate, bound: Bound) -> tuple[float | None, ...]:
    curve: Curve | None = study.curves.get(bound.quantity)
    if curve is None:
        return (None,) * len(study.horizons)
    return curve.mean if bound.of == "mean" else curve.min_mean


def _bound(study: Rate, bound: Bound) -> str:
    measured = _side(study, bound)
    pairs = zip(bound.values, measured, strict=True)
    quotients = [value / of for value, of in pairs if value is not None and of]
    if not quotients:
        return f"{bound.claim}: none, {bound.why}"
    spread = " to ".join(f"{value:.3g}" for value in dict.fromkeys((quotients[0], quotients[-1])))
    side = f"the {bound.of} of" if bound.of != "below" else "from below"
    proved = "proved" if bound.proved else "not proved here"
    return f"{bound.claim}, {side} {_GRADIENTS[bound.quantity]}: {spread}; {proved}; {bound.why}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4e}"


def _quotient(value: float | None, of: float | None) -> str:
    return "" if value is None or not of else f"{value / of:.3g}"
