"""What a rate study finds: curves, bounds, and where there is one the closed form."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from cflag_theory.shown import Sheet, Shown, number
from cflag_theory.studies.rates.bounds import Bound
from cflag_theory.studies.rates.statistics import Fit


@dataclass(frozen=True)
class Curve:
    """One squared gradient against T; each sequence has one entry a horizon."""

    #: (horizons,), (horizons, 2): min_t mean_replicas and its bootstrap band.
    min_mean: tuple[float, ...]
    band: tuple[tuple[float, float], ...]
    #: (horizons,), (horizons, 2): Mean over rounds and replicas and its band; None where a replica diverged.
    mean: tuple[float | None, ...]
    mean_band: tuple[tuple[float, float] | None, ...]
    #: (horizons,): Mean over replicas of min_t.
    mean_min: tuple[float, ...]
    #: Slopes of min_mean and of mean at large T; see `rates.statistics.fit`.
    fit: Fit | None
    mean_fit: Fit | None


@dataclass(frozen=True)
class ClosedForm:
    """What an instance of `rates.instances` does exactly."""

    #: The instance, the claim that it illustrates, and what happens on it.
    name: str
    claim: str
    words: str
    #: (horizons,): min_t and mean over t of 𝔼 ||grad f(x_t)||^2, the expectation over the draws of the memory; no mean
    #: where it leaves the floats.
    least: tuple[float, ...]
    mean: tuple[float | None, ...]


@dataclass(frozen=True, repr=False)
class Rate(Shown):
    """A rate study: one entry of each sequence a horizon."""

    title: str
    notes: tuple[str, ...]
    horizons: tuple[int, ...]
    min_mean: tuple[float, ...]
    band: tuple[tuple[float, float], ...]
    mean_min: tuple[float, ...]
    #: (horizons,): 1 / (alpha (1 - L alpha (1 + m) / 2) T) (F + sum_t Gamma(t)), means over replicas in place of
    #: expectations: for alpha = 1 / (L (1 + m)) Theorem 2; None where alpha is not below 2 / (L (1 + m)) or a replica
    #: diverged.
    theorem2: tuple[float | None, ...]
    mean_gamma: tuple[float, ...]
    #: The fit of min_mean; None where there are not two horizons to fit.
    slope: float | None
    slope_interval: tuple[float, float] | None
    fit_from: int | None
    fit_to: int | None
    L: float
    L_component: float
    #: The m that sets alpha, how it is known, and the largest ratios along the runs.
    m: float
    m_kind: str
    m_met: float
    r_met: float
    #: alpha = alpha_factor / (L (1 + m)) and beta = c / T^power.
    alpha: float
    alpha_factor: float
    c: float
    power: float
    E: int
    clients: int
    dimension: int
    memory: str
    replicas: int
    seed: int
    #: Replicas that left the finite numbers.
    diverged: tuple[int, ...]
    #: The `Curve` of ||grad f||^2 ("f"), ||grad g||^2 ("g") and, where h~ exists, ||grad h~||^2 ("h").
    curves: dict[str, Curve]
    #: The paper's bounds and ours, also those that say nothing here, with the reason.
    bounds: tuple[Bound, ...]
    #: Where an instance with a closed form was run.
    exact: ClosedForm | None = None
    #: "f", or "g" for an algorithm without a memory step, which never sees the past task.
    objective: str = "f"

    def sheet(self) -> Sheet:
        """The measured squares of the objective at every horizon, the slope, and which bounds are proved here."""
        slope = "no slope"
        if self.slope is not None and self.slope_interval is not None:
            low, high = self.slope_interval
            slope = f"slope {self.slope:.3f} [{low:.3f}, {high:.3f}], T from {self.fit_from} to {self.fit_to}"
        line = (
            f"{self.title}: min ||grad {self.objective}||^2 {number(self.min_mean[0])} at T = {self.horizons[0]} to "
            f"{number(self.min_mean[-1])} at T = {self.horizons[-1]}, {slope}"
        )
        bands = [f"{number(low)} to {number(high)}" for low, high in self.band]
        rows = list(
            zip(self.horizons, self.min_mean, bands, self.curves[self.objective].mean, self.theorem2, strict=True)
        )
        proved = [f"{one.claim} ({one.of} of {one.quantity})" for one in self.bounds if one.proved and any(one.values)]
        notes = [*self.notes, f"Bounds proved here: {', '.join(proved) or 'none'}"]
        return Sheet(
            line, ("T", f"min ||grad {self.objective}||^2", "95% band", "mean over t", "Theorem 2"), rows, notes
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values only; an infinite number becomes the string "inf", which JSON lacks."""
        return {key: "inf" if value == math.inf else value for key, value in asdict(self).items()}
