"""What a stored run says of every method, over its seeds: numbers for tables, curves for figures.

Means have intervals, and it is said whether two can be told apart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.numbers import Array

#: Coverage of every interval here.
LEVEL = 0.95


@dataclass(frozen=True)
class Spread:
    """Values over seeds."""

    mean: float
    #: Standard deviation with n - 1; None for one seed.
    deviation: float | None
    #: Half the width of Student's interval of the mean at `LEVEL`; None for one seed.
    half: float | None
    seeds: int

    def __str__(self) -> str:
        return f"{self.mean:.2f}" + ("" if self.deviation is None else f" +- {self.deviation:.2f}")


def spread(values: Sequence[float]) -> Spread:
    """Mean, deviation and interval of values over seeds."""
    if not len(values):
        raise InvalidInput("there are no values to average: give those of one seed at least")
    chosen = np.asarray(values, dtype=np.float64)
    seeds = len(chosen)
    if seeds == 1:
        return Spread(float(chosen[0]), None, None, 1)
    deviation = float(chosen.std(ddof=1))
    return Spread(float(chosen.mean()), deviation, quantile(seeds - 1) * deviation / math.sqrt(seeds), seeds)


def paired(gains: Sequence[float]) -> tuple[Spread, float | None]:
    """Differences over seeds, and the p-value of Student's paired test, two-sided, that the true one is zero.

    None for one seed, and where all differences are the same.
    """
    found = spread(gains)
    if found.deviation is None or found.deviation == 0:
        return found, None
    t = found.mean / (found.deviation / math.sqrt(found.seeds))
    return found, float(2 * stdtr(found.seeds - 1, -abs(t)))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """The same p-values by Holm's correction (1979): below a level, all are right together with its probability.

    What is None stays so and is not counted.
    """
    adjusted: list[float | None] = [None] * len(p_values)
    order = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    largest = 0.0
    for rank, (p, place) in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p))
        adjusted[place] = largest
    return adjusted


def margin(measured: Spread, deviation: float | None, seeds: int) -> float | None:
    """How far a published mean over so many seeds may lie from the measured one before the two can be told apart.

    With a published standard `deviation` half the width of Welch's interval at `LEVEL` for the difference of two means;
    without one the published number is taken as exact, and this is `measured.half`. None for one measured seed.
    """
    if measured.deviation is None or deviation is None:
        return measured.half
    own, other = measured.deviation**2 / measured.seeds, deviation**2 / seeds
    if own + other == 0:
        return 0.0
    freedom = (own + other) ** 2 / (own**2 / (measured.seeds - 1) + other**2 / (seeds - 1))
    return quantile(freedom) * math.sqrt(own + other)


def quantile(freedom: float) -> float:
    """Student's quantile for a two-sided interval at `LEVEL`."""
    return float(stdtrit(freedom, (1 + LEVEL) / 2))


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


#: The settings that can be an axis. With the memory's size the share that is drawn stays fixed, as in Figure 7.
AXES = ("zeta", "clients", "memory_size", "memory_sample")
#: Settings in which runs may differ and still be points of one curve: they say where and how fast, not what.
ANYWHERE = (
    *("root", "download", "methods", "seeds", "dtype", "device", "threads", "past_every", "autocast", "channels_last"),
    *("compile", "graphs", "tf32", "together", "exchange", "checkpoint_every", "export_models", "tensorboard"),
)
_METRICS = {"accuracy": "average_accuracy", "forgetting": "forgetting"}


class Curve(NamedTuple):
    """What the points of a curve have in common: the method, the run's other settings, and the method's options."""

    method: str
    settings: tuple[str, ...]
    options: tuple[str, ...]


def levels(stored: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Every curve with at least two levels of `stored` results (`bridge.BridgeResult.to_json`), by data set and axis.

    Mappings with "data", "title", "axis" and "groups": each with "method", "label", "x", and for accuracy and
    forgetting "mean", "low" and "high", one standard deviation apart; seeds that are not complete make no point.
    """
    runs = [
        (results["settings"], {found.method: found.metrics for found in summarise(results).methods})
        for results in stored
    ]
    found = []
    for data in dict.fromkeys(settings["data"] for settings, _ in runs):
        for axis in AXES:
            curves: dict[Curve, dict[float, Mapping[str, Spread]]] = {}
            for settings, methods in runs:
                if settings["data"] != data:
                    continue
                for method, metrics in methods.items():
                    chosen = {name: metrics[key] for name, key in _METRICS.items()}
                    whole = {name: value for name, value in chosen.items() if value is not None}
                    if len(whole) == len(_METRICS):
                        curves.setdefault(_curve_of(settings, axis, method), {})[settings[axis]] = whole
            several = {curve: points for curve, points in curves.items() if len(points) > 1}
            if several:
                groups = [_group(curve, _label(curve, list(several)), points) for curve, points in several.items()]
                found.append({"data": data, "title": TITLES.get(data, data), "axis": axis, "groups": groups})
    return found


def same_but_for_zeta(stored: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Runs that differ in zeta alone, by zeta, where there are several: what Figure 4 shows beside each other."""
    groups: dict[str, dict[float, Mapping[str, Any]]] = {}
    for results in stored:
        same = {key: value for key, value in results["settings"].items() if key not in (*ANYWHERE, "zeta")}
        groups.setdefault(str(same), {}).setdefault(results["settings"]["zeta"], results)
    return [[group[zeta] for zeta in sorted(group)] for group in groups.values() if len(group) > 1]


def _curve_of(settings: Mapping[str, Any], axis: str, method: str) -> Curve:
    plain = {key: value for key, value in settings.items() if not isinstance(value, Mapping) and key not in ANYWHERE}
    if axis == "memory_size":
        plain["memory_sample"] = f"{plain['memory_sample'] / plain['memory_size']:g} memory_size"
    own = settings.get(method) or {}
    words = tuple(f"{key} = {value}" for key, value in plain.items() if key != axis)
    return Curve(method, words, tuple(f"{key} = {value}" for key, value in own.items()))


def _label(curve: Curve, curves: Sequence[Curve]) -> str:
    """The method, and what tells its curve from the others: of the options only from those of the same method."""
    same = [other for other in curves if other.method == curve.method]
    words = [each for each in curve.settings if not all(each in other.settings for other in curves)]
    words += [each for each in curve.options if not all(each in other.options for other in same)]
    return ", ".join((curve.method, *dict.fromkeys(words)))


def _group(curve: Curve, label: str, points: Mapping[float, Mapping[str, Spread]]) -> dict[str, Any]:
    x = sorted(points)
    values: dict[str, Any] = {}
    for name in _METRICS:
        spreads = [points[level][name] for level in x]
        values[name] = {
            "mean": [one.mean for one in spreads],
            "low": [one.mean - (one.deviation or 0.0) for one in spreads],
            "high": [one.mean + (one.deviation or 0.0) for one in spreads],
        }
    return {"method": curve.method, "label": label, "x": x, **values}
