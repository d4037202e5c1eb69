"""Accuracy and forgetting against one setting, from runs that differ in nothing else: Figures 3, 5 and 7."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cflag_theory.studies.bridge_results.spread import Spread
from cflag_theory.studies.bridge_results.summary import TITLES, summarise

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
