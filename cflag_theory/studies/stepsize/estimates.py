r"""Lower bounds for L, m and r from a recorded run.

A run shows a function at its iterates and nowhere else. So it can show that L, m or r must be at least something, with
the two points or the round that say so; no number of samples bounds a supremum from above.

Gradients are stored as norms only. For an L-smooth function q, two points x, y at a distance of at most d, and a
number below all values of q, each of these is at most L:

slope      (||grad q(x)|| - ||grad q(y)||) / d. The triangle inequality puts the numerator below
           ||grad q(x) - grad q(y)|| <= L ||x - y|| <= L d.
curvature  2 (|q(y) - q(x)| - n d) / d^2 with n the smaller of the two norms. Smoothness at the end with that norm and
           Cauchy-Schwarz give |q(y) - q(x)| <= n ||x - y|| + (L/2) ||x - y||^2, which d only makes larger.
descent    ||grad q(x)||^2 / (2 (q(x) - lowest)). A step of length ||grad q(x)||/L against the gradient lowers q by
           ||grad q(x)||^2/(2L) at least, and q stays above lowest.

Where the iterates are not stored, neighbours along the run are as far apart as the recorded ||x_{t+1} - x_t||, or,
where that was not recorded either, at most alpha ||grad_f_memory|| + beta ||S|| apart, by (24). Where a run recorded
||grad q(x_{t+1}) - grad q(x_t)|| itself, that over the distance is one more such number:

change     ||grad q(x_{t+1}) - grad q(x_t)|| / ||x_{t+1} - x_t||, at most L by its definition.

All differences are lessened by what rounding may have added.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import Trace
from cflag_theory.kernels.algorithms import CONSTANT
from cflag_theory.kernels.numbers import Array, fraction
from cflag_theory.shown import Sheet, Shown, number
from cflag_theory.studies.stepsize.evaluate import as_json

#: Rounds of a replica among which all pairs are taken; neighbours are taken everywhere.
POINTS = 256
# What rounding may have changed in a recorded number, relative to the largest of its kind along the run.
_ROUNDING = {"float64": 1e-12, "float32": 1e-4}
_FUNCTIONS = {"f": "grad_f2", "g": "grad_g2", "h": "grad_h2"}
CAVEAT = (
    "From samples: L, m and r are at least this. No number of samples bounds them from above. A condition that fails "
    "with these numbers fails; one that holds may still fail, and what is predicted from them is not guaranteed."
)


@dataclass(frozen=True)
class Estimate:
    """What a run says about one number."""

    #: L, m, r, or one of `predicted.INPUTS`.
    name: str
    #: None where the run lacks what is needed.
    value: float | None
    #: Pairs of iterates behind L, rounds behind the others.
    samples: int
    #: "lower bound", or "measured" for what is the value along this run and says nothing about others.
    kind: str
    #: The inequality or column that gives it; without a value what is missing, and which option records it.
    how: str


@dataclass(frozen=True, repr=False)
class Estimates(Shown):
    """What a run says about the numbers that `step_sizes` takes."""

    estimates: tuple[Estimate, ...]
    #: alpha, beta, E and T of the run.
    settings: dict[str, float]
    #: Why lower bounds are all that samples can give.
    caveat: str = CAVEAT

    def value(self, name: str) -> float | None:
        """The estimate of this name, None where there is none."""
        return next((one.value for one in self.estimates if one.name == name), None)

    def sheet(self) -> Sheet:
        """Every number with how it was found."""
        rows = [(one.name, one.value, one.kind, one.samples, one.how) for one in self.estimates]
        found = ", ".join(f"{one.name} {number(one.value)}" for one in self.estimates[:3] if one.value is not None)
        return Sheet(f"of a run: {found}", ("number", "value", "kind", "samples", "how"), rows, [self.caveat])

    def to_json(self) -> dict[str, Any]:
        """Plain values only; an infinite number becomes the string "inf"."""
        found: dict[str, Any] = as_json(asdict(self))
        return found


def estimate_constants(trace: Trace, *, lowest: float | None = None) -> Estimates:
    """Lower bounds for L, m and r, and the numbers of the predicted bounds along the run.

    Parameters
    ----------
    trace : Trace
        Of any run, with diagnostics "cheap" or "all". With iterates=True all pairs of rounds count, else neighbours.
    lowest : float, optional
        A lower bound of f, g and h~, such as 0 for a loss that cannot be negative.

    Returns
    -------
    Estimates

    Raises
    ------
    InvalidInput
        `lowest` is not finite, or above a value that the run reached.
    """
    if lowest is not None and not math.isfinite(lowest):
        raise InvalidInput(f"lowest = {lowest} is not allowed: give a finite number, or leave it out")
    rounding = _ROUNDING[str(trace.config.get("dtype", "float64"))]
    config = trace.config
    settings = {
        name: float(Fraction(config[key]) if isinstance(config[key], int) else fraction(config[key]))
        for name, key in (("alpha", "alpha"), ("beta", "beta"), ("E", "local_steps"), ("T", "rounds"))
        if key in config
    }
    smooth = _smoothness(trace, rounding, lowest)
    ratios = (
        _largest_ratio(trace, "m", "b2", "grad_f2", rounding, root=False),
        _largest_ratio(trace, "r", "grad_memory2", "grad_g2", rounding, root=True),
    )
    return Estimates((smooth, *ratios, *_along_the_run(trace)), settings)


def _floats(trace: Trace, name: str) -> Array | None:
    """A column with the value at the end behind it, (replicas, rounds + 1); None if it was not measured."""
    if name not in trace.columns:
        return None
    column = np.asarray(trace.columns[name], dtype=np.float64)
    if name not in trace.end or not trace.ok:
        return column
    return np.concatenate([column, np.asarray(trace.end[name], dtype=np.float64)[:, None]], axis=1)


def _smoothness(trace: Trace, rounding: float, lowest: float | None) -> Estimate:
    best, how, pairs, lacking = -math.inf, "", 0, ""
    redrawn = _redrawn(trace)
    for name, squares in _FUNCTIONS.items():
        values, gradients2 = _floats(trace, name), _floats(trace, squares)
        if gradients2 is None or (name == "h" and redrawn):
            lacking = lacking or trace.absent.get(squares, "")
            continue
        norms = np.sqrt(gradients2)
        if values is None:
            values = np.full_like(norms, math.nan)
        for q, n, (s, t, d) in _pairs(trace, values, norms, rounding):
            pairs += len(d)
            spread = rounding * float(np.nanmax(n, initial=0.0))
            slope = (np.abs(n[s] - n[t]) - 2 * spread) / d
            height = np.abs(q[s] - q[t]) - 2 * rounding * float(np.nanmax(np.abs(q), initial=0.0))
            curvature = 2 * (height - (np.minimum(n[s], n[t]) + spread) * d) / d**2
            for found, kind in ((slope, "slope"), (curvature, "curvature")):
                largest = float(np.nanmax(found, initial=-math.inf))
                if largest > best:
                    best, how = largest, f"{kind} of {_name(name)}"
        found = _changes(trace, name, norms, rounding)
        pairs += found.size
        if found.size and float(found.max()) > best:
            best, how = float(found.max()), f"change of {_name(name)}"
        if lowest is not None:
            found = _descent(name, values, norms, rounding, lowest)
            if found > best:
                best, how = found, f"descent of {_name(name)} with lowest = {lowest:g}"
    if best <= 0:
        steps = "no pair of iterates says anything: record more rounds, or store iterates (simulate, iterates=True)"
        return Estimate("L", None, pairs, "lower bound", lacking or steps)
    return Estimate("L", best, pairs, "lower bound", how)


def _redrawn(trace: Trace) -> bool:
    return bool((trace.config.get("memory") or {}).get("redraw"))


def _name(function: str) -> str:
    return "h~" if function == "h" else function


def _descent(name: str, values: Array, norms: Array, rounding: float, lowest: float) -> float:
    known = np.isfinite(values) & np.isfinite(norms)
    if not known.any():
        return -math.inf
    spread = rounding * float(np.abs(values[known]).max())
    height = values[known] - lowest
    if float(height.min()) < -spread:
        raise InvalidInput(f"lowest = {lowest} is above {name} = {float(values[known].min()):.6g} of the run: lower it")
    gradient = np.maximum(norms[known] - rounding * float(norms[known].max()), 0)
    return float((gradient**2 / (2 * (height + 2 * spread) + 1e-300)).max())


def _pairs(
    trace: Trace, values: Array, norms: Array, rounding: float
) -> Iterator[tuple[Array, Array, tuple[Array, Array, Array]]]:
    """Values and norms of each replica, with indices s, t of pairs and distances that are not too small.

    Norms are finite there; values may be missing.
    """
    steps = None if trace.iterates is not None else _step_bounds(trace)
    for replica in range(trace.replicas):
        q, n = values[replica], norms[replica]
        known = np.flatnonzero(np.isfinite(n))
        if trace.iterates is not None:
            chosen = known[np.unique(np.linspace(0, len(known) - 1, min(len(known), POINTS)).astype(int))]
            s, t = np.triu_indices(len(chosen), 1)
            s = np.concatenate([chosen[s], known[:-1]])
            t = np.concatenate([chosen[t], known[1:]])
            x = np.asarray(trace.iterates[replica], dtype=np.float64)
            size = float(np.abs(x).max(initial=0.0)) * math.sqrt(x.shape[1])
            d = np.linalg.norm(x[s] - x[t], axis=1)
        elif steps is not None:
            s, t = known[:-1], known[1:]
            s, t = s[t - s == 1], t[t - s == 1]
            s, t = s[s < steps.shape[1]], t[s < steps.shape[1]]
            d = steps[replica][s]
            size = float(np.nanmax(steps[replica], initial=0.0))
        else:
            return
        far = _far(d, size, rounding)
        yield q, n, (s[far], t[far], d[far] + rounding * size)


def _far(distances: Array, size: float, rounding: float) -> Array:
    """Where distances between points of this size are more than rounding."""
    far: Array = np.isfinite(distances) & (distances > 1e3 * rounding * size) & (distances > 0)
    return far


def _changes(trace: Trace, name: str, norms: Array, rounding: float) -> Array:
    """||grad q(x_{t+1}) - grad q(x_t)|| / ||x_{t+1} - x_t|| of all rounds that recorded both; h~ has none."""
    column = f"grad_{name}_change2"
    if column not in trace.columns or "step2" not in trace.columns:
        return np.empty(0)
    change, steps = trace.root(column), trace.root("step2")
    size = float(np.nanmax(steps, initial=0.0))
    counted = np.isfinite(change) & _far(steps, size, rounding)
    spread = rounding * float(np.nanmax(norms, initial=0.0))
    return (change[counted] - 2 * spread) / (steps[counted] + rounding * size)


def _step_bounds(trace: Trace) -> Array | None:
    """The length of each step, (replicas, rounds), or by (24) a bound: alpha ||grad_f_memory|| + beta ||S||."""
    if "step2" in trace.columns:
        return trace.root("step2")
    config = trace.config
    adapted = (config.get("algorithm") or {}).get("adaptive", CONSTANT) != CONSTANT
    if adapted or "beta" not in config or "delayed_sum2" not in trace.columns:
        return None
    alpha = float(Fraction(config.get("alpha", 0)))
    bound: Array = float(Fraction(config["beta"])) * trace.root("delayed_sum2")
    if alpha == 0:
        return bound
    return bound + alpha * trace.root("grad_memory2") if "grad_memory2" in trace.columns else None


def _largest_ratio(trace: Trace, name: str, above: str, below: str, rounding: float, *, root: bool) -> Estimate:
    top, bottom = _floats(trace, above), _floats(trace, below)
    if top is None or bottom is None:
        lacking = trace.absent.get(above) or trace.absent.get(below) or "the run did not record it"
        return Estimate(name, None, 0, "lower bound", lacking)
    # Near a stationary point both are rounding; their ratio says nothing there.
    floor = rounding * float(np.nanmax(bottom, initial=0.0))
    with np.errstate(all="ignore"):
        ratio = np.where((top == 0) & (bottom == 0), 0.0, top / bottom)
    counted = (
        np.isfinite(top) & np.isfinite(bottom) & ((bottom > floor) | (top > rounding * np.nanmax(top, initial=0.0)))
    )
    if not counted.any():
        return Estimate(name, None, 0, "lower bound", "the gradient is 0 in every round: start the run elsewhere")
    value = float(ratio[counted].max())
    words = f"largest {'||grad_f_memory|| / ||grad g||' if root else '||b||^2 / ||grad f||^2'} of a round"
    if name == "m" and _redrawn(trace):
        # One draw may exceed what the mean over draws obeys.
        words += "; (27) in every round. ours.redrawn needs it only in the mean over draws, so a smaller m may do"
    return Estimate(name, math.sqrt(value) if root else value, int(counted.sum()), "lower bound", words)


def _along_the_run(trace: Trace) -> tuple[Estimate, ...]:
    found = []
    values = _floats(trace, "f")
    if values is not None and np.isfinite(values[:, 0]).all():
        gap = float((values[:, 0] - np.nanmin(values, axis=1)).max())
        found.append(
            Estimate("gap", gap, int(np.isfinite(values).sum()), "lower bound", "f(x_0) - the smallest f observed")
        )
    squares = _floats(trace, "grad_g2")
    if squares is not None:
        along = squares[:, : trace.rounds]
        mean = math.sqrt(float(np.nanmean(along))) if np.isfinite(along).any() else None
        count = int(np.isfinite(along).sum())
        found.append(Estimate("grad_g", mean, count, "measured", "root mean square over rounds and replicas"))
        if np.isfinite(squares[:, 0]).all():
            start = math.sqrt(float(squares[:, 0].mean()))
            found.append(Estimate("grad_g0", start, trace.replicas, "measured", "at the start"))
    return tuple(found)
