"""Step sizes from exact worst cases: the one with the least, and the largest for which nothing grows."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from scipy.optimize import minimize_scalar

from cflag_theory.kernels.algorithms import Algorithm
from cflag_theory.shown import Sheet, Shown
from cflag_theory.worstcase.methods import CONVEX, SMOOTH, VALUE, Setting, pose
from cflag_theory.worstcase.playing import method as named
from cflag_theory.worstcase.solving import NotConverged, Unbounded, Unsolved, solve
from cflag_theory.worstcase.worst import UNITS, WorstCase, rounded_up, solve_setting

#: Of the gap, in a search for the best step.
_ROUGH = 1e-6
#: Growth up to this, in units of L ||x_0 - x*||^2, counts as none; relative distance of the two ends of the answer.
_NONE, _APART = 1e-6, 1e-3
#: eta L E at which the search for the largest step ends.
_LEAST, _MOST = 2.0**-10, 2.0**6


@dataclass(frozen=True, eq=False, repr=False)
class LargestStep(Shown):
    """Up to `lower` nothing grows, from `upper` on something does.

    Attributes
    ----------
    setting : Setting
        With `lower` as its step.
    lower : Fraction
        A step at which, proved in fractions, the measure grows by at most 10^-6 L ||x_0 - x*||^2 (without L for
        "distance", with L^2 for "grad") in T rounds; for class "smooth" its worst case is bounded. 0: none was found.
    upper : Fraction or None
        A step at which a run on explicit functions makes it grow; for "smooth" one for which the solver finds no
        bound. None: none was found.
    still, grows : WorstCase or None
        The worst cases at the two, with certificate and run.
    """

    setting: Setting
    lower: Fraction
    upper: Fraction | None
    still: WorstCase | None
    grows: WorstCase | None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        ends = {
            name: None if one is None else one.to_json() for name, one in (("still", self.still), ("grows", self.grows))
        }
        setting = self.setting
        return {
            "algorithm": setting.row.name,
            "E": setting.E,
            "T": setting.T,
            "N": setting.clients,
            "L": str(setting.L),
            "mu": str(setting.mu),
            "class": setting.kind,
            "measure": setting.measure,
            "lower": str(self.lower),
            "upper": None if self.upper is None else str(self.upper),
            **ends,
        }

    def sheet(self) -> Sheet:
        """The interval, and what is known at its ends."""
        setting, smooth = self.setting, self.setting.kind == SMOOTH
        does, does_not = ("has no bound", "is bounded") if smooth else ("grows", "does not grow")
        end = f"at {float(self.upper):.6g} it {does}" if self.upper is not None else "no larger step was tried"
        line = f"{UNITS[setting.measure]} of {setting.row.name}, E = {setting.E}, T = {setting.T}, {does_not} up to eta"
        rows, notes = [], [*setting.hypotheses]
        if self.still is not None:
            rows.append((f"eta = {self.lower}", f"at most {rounded_up(self.still.upper):.3g}, proved"))
            if not smooth and self.still.lower > _NONE / 5:
                notes.append(f"at smaller steps it grows too, but by at most {_NONE:.0e} L ||x_0 - x*||^2")
        if self.grows is not None:
            rows.append((f"eta = {self.upper}", f"{self.grows.lower:.3g}, by a run"))
        column = "worst case" if smooth else "growth"
        return Sheet(f"{line} = {float(self.lower):.6g}; {end}", ("step", column), rows, notes)


def largest_step(
    method: str | Algorithm = "fedavg",
    *,
    E: int,
    T: int = 1,
    L: Fraction | int = 1,
    mu: Fraction | int = 0,
    kind: str = CONVEX,
    heterogeneity: Fraction | int = 0,
    measure: str = VALUE,
    N: int = 2,
    progress: Callable[[float], None] | None = None,
) -> LargestStep:
    """The largest step size with which T rounds never increase the measure; for class "smooth": keep it bounded.

    Bisection, which supposes that there is one such step; both ends of the answer are then proved. Arguments are those
    of `worst.worst_case`. With heterogeneity nearly all methods but tracking move away from x* at any step: it is 0
    here by default. E T up to 10 takes seconds.

    Raises
    ------
    InvalidInput
        As `worst_case`.
    Unsolved
        An end of the interval has no proof.
    """
    row = named(method) if isinstance(method, str) else method
    L, mu, heterogeneity = (Fraction(value) for value in (L, mu, heterogeneity))
    setting = Setting(row, E, T, Fraction(1), L, mu, kind, Fraction(1), heterogeneity, measure, N)
    return largest_step_of(setting, progress=progress)


def largest_step_of(setting: Setting, *, progress: Callable[[float], None] | None = None) -> LargestStep:
    """As `largest_step`; the setting's own step is not read."""
    smooth, E = setting.kind == SMOOTH, setting.E
    start = replace(setting, growth=not smooth)

    def at(h: float) -> Setting:
        return replace(start, eta=Fraction(f"{h:.6g}") / (start.L * E))

    def holds(h: float) -> bool:
        setting = at(h)
        try:
            found = solve(pose(setting), _NONE / 10, period=E).value
        except Unbounded:
            return False
        except NotConverged:
            # Beyond the largest step values of smooth functions grow without bound, and solvers fail first.
            if smooth:
                return False
            raise
        if progress is not None:
            progress(found)
        return smooth or found <= _NONE / 2

    low = high = 1.0
    if holds(low):
        while holds(high) and high < _MOST:
            low, high = high, 2 * high
        if high >= _MOST:
            high = math.inf
    else:
        while not holds(low) and low > _LEAST:
            low, high = low / 2, low
        if low <= _LEAST:
            low = 0.0
    while high < math.inf and low > 0 and high - low > _APART * high:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    still = solve_setting(at(low)) if low > 0 else None
    grows = solve_setting(at(high)) if high < math.inf and not smooth else None
    lower = at(low).eta if still is not None else Fraction(0)
    upper = at(high).eta if high < math.inf else None
    return LargestStep(replace(start, eta=lower or start.eta), lower, upper, still, grows)


def best_step(setting: Setting, *, progress: Callable[[float], None] | None = None) -> Setting:
    """The setting with the step size of the least worst case that a search finds, to about 1%; its own eta is not read.

    The search, between 1/(100 L E) and 2/L, supposes that there is one minimum; each worst case is solved in floats.
    """
    L = float(setting.L)

    def at(power: float) -> Setting:
        return replace(setting, eta=Fraction(f"{math.exp(power):.3g}"))

    def value(power: float) -> float:
        with suppress(Unsolved):
            found = solve(pose(at(power)), _ROUGH, period=setting.E).value
            if progress is not None:
                progress(found * float(setting.factor))
            return found
        return math.inf

    ends = math.log(1 / (100 * L * setting.E)), math.log(2 / L)
    return at(float(minimize_scalar(value, bounds=ends, method="bounded", options={"xatol": 0.005}).x))
