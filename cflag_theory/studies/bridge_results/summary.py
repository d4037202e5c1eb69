"""What a stored run says of every method, over its seeds: numbers for tables and curves for figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from cflag_theory.kernels.numbers import Array
from cflag_theory.studies.bridge_results.spread import Spread, holm, paired, spread

#: Metrics that are summarised, with their words for people.
WORDS = {
    "average_accuracy": "accuracy",
    "forgetting": "forgetting",
    "learning_accuracy": "learning accuracy",
    "incremental_accuracy": "accuracy along tasks",
    "forgetting_from_best": "forgetting from best",
    "forgetting_positive": "losses only",
    "backward_transfer": "backward transfer",
    "forward_transfer": "forward transfer",
}
#: Data sets as the paper names their splits.
TITLES = {
    "digits": "Split-Digits",
    "fashion-mnist": "Split-Fashion-MNIST",
    "cifar10": "Split-CIFAR10",
    "cifar100": "Split-CIFAR100",
    "tinyimagenet": "Split-TinyImageNet",
}
#: Kinds of heads, as titles name them.
HEADS = {
    "list": "a head a task",
    "masked": "one masked head",
    "shared": "one head for all",
    "growing": "a head that grows",
}

_LARGEST = 1e150


@dataclass(frozen=True)
class Band:
    """A curve over seeds: means, and one standard deviation below and above; missing points are None."""

    #: Where the points lie: tasks from 1, or rounds from 0.
    at: tuple[int, ...]
    #: The three are equal for one seed.
    mean: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]


@dataclass(frozen=True)
class MethodSummary:
    """One method of a run."""

    method: str
    #: Of C-FLAG and FedTrack; empty for the others.
    mode: str
    #: Of which there are results.
    seeds: int
    #: Seeds whose run left the finite numbers, or was stopped before its end.
    diverged: int
    unfinished: int
    #: Mean accuracy matrix.
    accuracy: tuple[tuple[float | None, ...], ...]
    #: By the names of `WORDS`; None where a seed has none.
    metrics: Mapping[str, Spread | None]
    accuracy_by_task: Band
    #: None where the run has no forgetting term.
    Gamma: Band | None
    #: Client by client the share of seeds in which Lambda_{t,i} <= 0, at the rounds of `Gamma`.
    interfering: tuple[tuple[float, ...], ...] | None
    #: The accuracy by seed, of the seeds that came to the end.
    ended: Mapping[int, float]
    #: Means over seeds: samples whose gradient was evaluated, numbers that all clients sent and received, and time.
    gradients: float
    communicated: float
    seconds: float


@dataclass(frozen=True)
class Pair:
    """Two methods compared seed by seed: seeds share their splits, starts and minibatches."""

    first: str
    second: str
    #: Accuracy of the first minus that of the second, over the seeds in which both came to the end.
    gain: Spread
    #: Of Student's paired test, two-sided, that the gain is zero; None for one seed.
    p_value: float | None
    #: The same by Holm's correction over all pairs of the run.
    adjusted: float | None


@dataclass(frozen=True)
class Summary:
    """Every method of one run, and every pair, with the title and the ends of tasks that its figures need."""

    title: str
    tasks: int
    rounds: int
    methods: tuple[MethodSummary, ...]
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The same as plain data: what figures are drawn from."""
        return asdict(self)


def summarise(results: Mapping[str, Any]) -> Summary:
    """A run, as `bridge.BridgeResult.to_json` gives it, over its seeds."""
    settings = results["settings"]
    runs = results["runs"]
    methods = tuple(
        _method(settings, [run for run in runs if run["method"] == name])
        for name in dict.fromkeys(run["method"] for run in runs)
    )
    title = (
        f"{TITLES.get(settings['data'], settings['data'])}: {settings['tasks']} tasks, {settings['clients']} clients, "
        f"zeta = {settings['zeta']:g}, {settings['model']}, {HEADS[settings['heads']]}"
    )
    notes = tuple(results.get("notes", ()))
    return Summary(title, settings["tasks"], settings["rounds"], methods, _pairs(methods), notes)


def gain(first: MethodSummary, second: MethodSummary) -> tuple[Spread, float | None] | None:
    """`Pair.gain` and its p-value; None without a seed in which both came to the end."""
    both = [first.ended[seed] - second.ended[seed] for seed in first.ended if seed in second.ended]
    return paired(both) if both else None


def _pairs(methods: Sequence[MethodSummary]) -> tuple[Pair, ...]:
    found = [(*two, compared) for two in combinations(methods, 2) if (compared := gain(*two)) is not None]
    adjusted = holm([p for _, _, (_, p) in found])
    return tuple(
        Pair(first.method, second.method, by, p, one)
        for (first, second, (by, p)), one in zip(found, adjusted, strict=True)
    )


def _method(settings: Mapping[str, Any], runs: Sequence[Mapping[str, Any]]) -> MethodSummary:
    from cflag_theory.bridge.measures.metrics import as_accuracy, metrics

    found = [metrics(run["accuracy"], before=run.get("before") or None) for run in runs]
    matrices = np.array([as_accuracy(run["accuracy"]) for run in runs])
    values = {name: [getattr(one, name) for one in found] for name in WORDS}
    curves = _floats([one.accuracy_by_task for one in found])
    Gamma, interfering = _along(runs)
    method = runs[0]["method"]
    return MethodSummary(
        method=method,
        mode=(settings.get(method) or {}).get("mode", ""),
        seeds=len(runs),
        diverged=sum(run.get("status") == "DIVERGED" for run in runs),
        unfinished=sum(run.get("status") == "RUNNING" for run in runs),
        accuracy=tuple(_plain(row) for row in matrices.mean(axis=0)),
        metrics={name: None if None in listed else spread(listed) for name, listed in values.items()},
        accuracy_by_task=band(curves, range(1, curves.shape[1] + 1)),
        Gamma=Gamma,
        interfering=interfering,
        ended={
            run["seed"]: value
            for run, value in zip(runs, values["average_accuracy"], strict=True)
            if value is not None and run["status"] == "OK"
        },
        gradients=_mean(runs, "gradients"),
        communicated=_mean(runs, "communicated"),
        seconds=_mean(runs, "seconds"),
    )


def _mean(runs: Sequence[Mapping[str, Any]], name: str) -> float:
    return float(np.mean([run[name] for run in runs]))


def _along(runs: Sequence[Mapping[str, Any]]) -> tuple[Band | None, tuple[tuple[float, ...], ...] | None]:
    """Gamma(t) and who interferes, at the rounds in which every seed has a forgetting term."""
    columns = [run.get("columns", {}) for run in runs]
    if not all(column.get("Gamma") for column in columns):
        return None, None
    rounds = min(len(column["Gamma"]) for column in columns)
    terms = _floats([column["Gamma"][:rounds] for column in columns])
    # Nor where a run was about to diverge, and its square is not a number.
    at = np.flatnonzero((np.abs(terms) < _LARGEST).all(axis=0))
    if not len(at):
        return None, None
    term = band(terms[:, at], at.tolist())
    if not all(column.get("Lambda") for column in columns):
        return term, None
    products = np.array([_floats(column["Lambda"][:rounds]) for column in columns])[:, at]
    shares = (products <= 0).mean(axis=0).T
    return term, tuple(tuple(row.tolist()) for row in shares)


def band(curves: Array, at: Sequence[int]) -> Band:
    """Curves of seeds, (seeds, points), over the points `at`."""
    mean = curves.mean(axis=0)
    deviation = curves.std(axis=0, ddof=1) if len(curves) > 1 else np.zeros_like(mean)
    return Band(tuple(at), _plain(mean), _plain(mean - deviation), _plain(mean + deviation))


def _floats(rows: Any) -> Array:
    """Float64 with NaN for None."""
    return np.array(rows, dtype=np.float64)


def _plain(values: Array) -> tuple[float | None, ...]:
    return tuple(None if math.isnan(value) else float(value) for value in values)
