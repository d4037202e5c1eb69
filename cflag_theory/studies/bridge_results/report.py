"""Stored runs compared with the numbers in the C-FLAG paper: reproduced, not reproduced, undecided or not run.

A run counts for a number of the paper if everything in `STATED` is as the paper says. The mode, what is in `OPEN`, and
the options of the method may differ, and are then written beside the method. Only complete runs on whole data count. A
number that was not run stays empty.

With at least two seeds a number is reproduced if the printed mean lies within `spread.margin` of the measured one: if
the 95% interval of the difference of the two means, by Welch's approximation, contains 0. The printed deviation counts
as one over three seeds; where none is printed (Table 8), only the measured interval is left. That is weak where few
seeds differ much, so the margin is part of the result. One seed has no interval and decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cflag_theory.studies.bridge_results.published import (
    GROWING,
    METRICS,
    PUBLISHED,
    SEEDS,
    ZETA,
    Finding,
    Number,
    deviation,
    findings,
)
from cflag_theory.studies.bridge_results.summary import Spread, margin, spread

REPRODUCED, NOT_REPRODUCED, UNDECIDED, NOT_RUN = VERDICTS = ("reproduced", "not reproduced", "undecided", "not run")
#: Settings that the paper states, besides data set, clients and zeta, which name the number.
STATED = ("tasks", "model", "heads", "rounds", "epochs", "batch", "lr", "alpha", "L", "memory_size", "memory_sample")
#: Settings, besides the mode, that it leaves open or that the published code has otherwise.
OPEN = (
    *("partition", "class_order", "memory_kind", "old_logits", "optimizer"),
    *("weights", "crop", "flip", "jitter", "image_size"),
)
#: In the note of a run whose data set is not the whole one.
PART_OF_THE_DATA = "where the published data set has"


@dataclass(frozen=True)
class Cell:
    """One printed number and what was measured for it."""

    number: Number
    #: The mode, unless it is "paper", and what differs from its defaults in `OPEN` and in the method's options.
    variant: str
    #: None where it was not run.
    measured: Spread | None
    #: How far apart the means may lie; None for one seed.
    margin: float | None
    #: One of `VERDICTS`.
    verdict: str

    def to_json(self) -> dict[str, Any]:
        """Plain data; the printed number stays as it is printed."""
        table, data, setting, method, metric = self.number.key
        known = deviation(self.number)
        return {
            "table": table,
            "data": data,
            "setting": setting,
            "method": method,
            "metric": metric,
            "clients": self.number.clients,
            "published": self.number.printed,
            "published_deviation": None if known is None else float(known),
            "variant": self.variant,
            "measured": None if self.measured is None else asdict(self.measured),
            "margin": self.margin,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class Report:
    """Every number of Tables 2, 3, 7 and 8 (Table 6 repeats the first two), what was found about them, and notes."""

    cells: tuple[Cell, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]

    def counts(self) -> dict[str, int]:
        """How many cells have each verdict."""
        return {verdict: sum(cell.verdict == verdict for cell in self.cells) for verdict in VERDICTS}

    def to_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "counts": self.counts(),
            "cells": [cell.to_json() for cell in self.cells],
            "findings": [asdict(finding) for finding in self.findings],
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class _Run:
    """A stored run that counts: what it is a run of, its variant, and its two metrics."""

    run: tuple[str, str, str, int, str]
    variant: str
    seed: int
    values: Mapping[str, float]


def bridge_report(folders: Sequence[Path | str]) -> Report:
    """Compare stored results with the printed numbers.

    Parameters
    ----------
    folders : sequence of paths
        Folders of runs, each with a results.json; none gives a report in which nothing was run.

    Raises
    ------
    DataError
        A folder holds no results, or they cannot be read; the message names the file.
    """
    from cflag_theory.bridge.measures.results import read_results

    return compare([(str(folder), read_results(folder)) for folder in folders])


def compare(stored: Iterable[tuple[str, Mapping[str, Any]]]) -> Report:
    """The same for results that were read before (`bridge.BridgeResult.to_json`), each with a name for it."""
    notes: list[str] = []
    runs: dict[tuple[Any, ...], _Run] = {}
    for name, results in stored:
        for found in _runs(name, results, notes):
            key = (found.run, found.variant, found.seed)
            if key in runs:
                notes.append(f"{name}: {_title(found.run)} with seed {found.seed} is there twice; the first one counts")
            runs.setdefault(key, found)
    cells: list[Cell] = []
    for number in PUBLISHED.values():
        if number.table != "table6":
            cells.extend(_cells(number, [found for found in runs.values() if found.run == number.run]))
    return Report(tuple(cells), findings(), tuple(dict.fromkeys(notes)))


def _cells(number: Number, runs: Sequence[_Run]) -> Iterator[Cell]:
    known = deviation(number)
    spreads = {
        variant: spread([found.values[number.metric] for found in runs if found.variant == variant])
        for variant in dict.fromkeys(found.variant for found in runs)
    }
    if not spreads:
        yield Cell(number, "", None, None, NOT_RUN)
    for variant, measured in spreads.items():
        allowed = margin(measured, None if known is None else float(known), SEEDS)
        yield Cell(number, variant, measured, allowed, _verdict(measured, allowed, float(number.value)))


def _verdict(measured: Spread, allowed: float | None, published: float) -> str:
    if allowed is None:
        return UNDECIDED
    return REPRODUCED if abs(measured.mean - published) <= allowed else NOT_REPRODUCED


def _runs(name: str, results: Mapping[str, Any], notes: list[str]) -> Iterator[_Run]:
    """The runs of one stored result that count; of the others a note says why they do not."""
    from cflag_theory.bridge.measures.metrics import metrics
    from cflag_theory.bridge.measures.results import RESUMED
    from cflag_theory.bridge.settings.run_settings import run_settings

    settings = results["settings"]
    setting = next((words for words, zeta in ZETA.items() if zeta == settings["zeta"]), "")
    asked = {(number.data, number.setting, number.clients) for number in PUBLISHED.values()}
    if (settings["data"], setting, settings["clients"]) not in asked:
        zeta, clients = settings["zeta"], settings["clients"]
        notes.append(f"{name}: the paper prints nothing for {settings['data']}, zeta = {zeta:g}, {clients} clients")
        return
    usual = {key: settings[key] for key in ("data", "clients", "zeta", "mode")} | {"class_order": "shuffled"}
    if settings["heads"] == GROWING:
        usual["heads"] = GROWING
    # The paper's rate is one for Adam; plain steps have their own.
    paper = run_settings(usual, optimizer=settings["optimizer"]).to_json()
    other = [f"{key} = {settings[key]} for {paper[key]}" for key in STATED if settings[key] != paper[key]]
    if other:
        notes.append(f"{name}: other settings than the paper's, {', '.join(other)}; not compared")
        return
    partial = next((note for note in results["notes"] if PART_OF_THE_DATA in note), None)
    if partial:
        notes.append(f"{name}: {partial}; not compared")
        return
    notes += [f"{name}: {note}" for note in results["notes"] if note.startswith(RESUMED)]
    for run in results["runs"]:
        method, found = run["method"], metrics(run["accuracy"])
        of = (settings["data"], setting, method, settings["clients"], settings["heads"])
        if not any(number.run == of for number in PUBLISHED.values()):
            notes.append(f"{name}: the paper prints nothing for {_title(of)}")
        elif found.average_accuracy is None or found.forgetting is None:
            notes.append(f"{name}: {_title(of)} with seed {run['seed']} is not complete; not compared")
        else:
            values = dict(zip(METRICS, (found.average_accuracy, found.forgetting), strict=True))
            yield _Run(of, _variant(settings, run_settings(usual).to_json(), method), run["seed"], values)


def _variant(settings: Mapping[str, Any], usual: Mapping[str, Any], method: str) -> str:
    words = [] if settings["mode"] == "paper" else [f"mode={settings['mode']}"]
    words += [f"{key}={settings[key]}" for key in OPEN if settings.get(key, usual[key]) != usual[key]]
    own, other = settings.get(method) or {}, usual.get(method) or {}
    words += [f"{key}={value}" for key, value in own.items() if value != other.get(key)]
    return ", ".join(words)


def _title(run: tuple[Any, ...]) -> str:
    data, setting, method, clients, heads = run
    words = f"{method} on {setting} {data}, {clients} clients"
    return words if heads != GROWING else f"{words}, class-incremental"
