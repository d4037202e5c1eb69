"""The published tables and what the text says of them, recomputed: every comparison in exact decimals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import combinations, product
from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.published import METHOD, TABLE8, TABLES, Entry
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.verify.check import Check
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence

METRICS = ("accuracy", "forgetting")
#: What contradicts, and how many were compared.
_Found = tuple[list[str], int]


def _evidence(part: str, found: _Found, what: str) -> Evidence:
    contradictions, compared = found
    data: dict[str, Any] = {"compared": compared}
    if not contradictions:
        return Evidence("recomputation", part, "printed", SUPPORTS, f"All {compared} {what} agree.", data)
    summary = f"{len(contradictions)} of {compared} {what} contradict: {'; '.join(contradictions)}."
    return Evidence("recomputation", part, "printed", REFUTES, summary, {"instance": contradictions} | data)


def _check(*parts: tuple[str, Callable[[], _Found], str]) -> Check:
    return Check(further=lambda *_: (_evidence(part, compare(), what) for part, compare, what in parts))


def _by_metric(parts: Iterable[str], compare: Callable[[str], _Found]) -> Check:
    pairs = list(zip(parts, METRICS, strict=False))
    return _check(*((part, partial(compare, metric), f"comparisons in {metric}") for part, metric in pairs))


def _ahead(metric: str, other: Any, own: Any) -> bool:
    """Whether the first number is the better one."""
    gain = sp.Rational(other) - sp.Rational(own)
    return bool(gain > 0 if metric == "accuracy" else gain < 0)


def _better(entries: Iterable[Entry], metric: str, baseline: str | None = None) -> _Found:
    """Baselines (or the one named) that beat C-FLAG in a metric within a table, setting and data set."""
    found, compared = [], 0
    for own, other in product(entries := list(entries), entries):
        same = (other.table, other.setting, other.data) == (own.table, own.setting, own.data)
        if own.method != METHOD or not same or other.method == METHOD or baseline not in (None, other.method):
            continue
        compared += 1
        ours, theirs = getattr(own, metric), getattr(other, metric)
        if _ahead(metric, theirs, ours):
            where = f"Table {own.table}, {own.setting} {own.data}"
            found.append(f"{where}: {other.method} {theirs} against {ours} in {metric}")
    return found, compared


def _of(*tables: str) -> list[Entry]:
    return [entry for entry in TABLES if entry.table in tables]


def _in_table3() -> _Found:
    found = [_better(_of("3"), metric) for metric in METRICS]
    return found[0][0] + found[1][0], found[0][1] + found[1][1]


def _differences(second: str) -> _Found:
    """Runs of Tables 2 and 3 that have other numbers in a second table."""
    found, compared = [], 0
    for a, b in product(_of("2", "3"), _of(second)):
        if (a.setting, a.data, a.method) != (b.setting, b.data, b.method):
            continue
        compared += 1
        if any(sp.Rational(getattr(a, m)) != sp.Rational(getattr(b, m)) for m in METRICS):
            numbers = [f"({e.accuracy}, {e.forgetting}) in Table {e.table}" for e in (a, b)]
            found.append(f"{a.setting} {a.data}, {a.method}: {', '.join(numbers)}")
    return found, compared


def _twins() -> _Found:
    """Other pairs of runs with the same four numbers than the stated one."""

    def numbers(entry: Entry) -> tuple[str, ...]:
        return entry.accuracy, entry.forgetting, entry.accuracy_deviation, entry.forgetting_deviation

    detailed = [entry for entry in TABLES if entry.accuracy_deviation]
    pairs = list(combinations(detailed, 2))
    twins = [(a.method, a.setting, a.data, b.method, b.setting, b.data) for a, b in pairs if numbers(a) == numbers(b)]
    stated = ("Erg-FL", "non-IID", "CIFAR100", "Erg-FL", "IID", "TinyImageNet")
    missing = [] if stated in twins else ["the stated pair differs"]
    return [" ".join(pair) for pair in twins if pair != stated] + missing, len(pairs)


def groups() -> dict[tuple[str, str], list[Entry]]:
    """The runs of Table 7, by setting and data set."""
    table: dict[tuple[str, str], list[Entry]] = {}
    for entry in _of("7"):
        table.setdefault((entry.setting, entry.data), []).append(entry)
    return table


def _far() -> _Found:
    """Baselines of Table 7 ahead in accuracy by more than the sum of the two deviations."""
    lines, compared = [], 0
    for group in groups().values():
        (own,) = (entry for entry in group if entry.method == METHOD)
        compared += len(group) - 1
        for other in group:
            apart = sp.Rational(other.accuracy) - sp.Rational(own.accuracy)
            if apart > sp.Rational(own.accuracy_deviation) + sp.Rational(other.accuracy_deviation):
                ours, theirs = (f"{e.accuracy} +- {e.accuracy_deviation}" for e in (own, other))
                lines.append(f"{own.setting} {own.data}: {other.method} {theirs} against {ours}")
    return lines, compared


def _overall() -> _Found:
    """Metrics in which more than half of the baselines are ahead in the mean over Table 7."""
    behind = []
    for metric in METRICS:
        values: dict[str, list[sp.Rational]] = {}
        for entry in _of("7"):
            values.setdefault(entry.method, []).append(sp.Rational(getattr(entry, metric)))
        means = {method: sp.Add(*numbers) / len(numbers) for method, numbers in values.items()}
        own = means.pop(METHOD)
        ahead = [method for method, mean in means.items() if _ahead(metric, mean, own)]
        if 2 * len(ahead) > len(means):
            behind.append(f"{', '.join(ahead)} are ahead in {metric}")
    return behind, len(METRICS)


def _class_text(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    cases = [_better(group, metric)[0] for group in groups().values() for metric in METRICS]
    best = cases.count([])
    summary = f"C-FLAG is the best of all in {best} of {len(cases)} settings, data sets and metrics."
    data = {"compared": len(cases)}
    yield Evidence("recomputation", "select", "printed", SUPPORTS if best else REFUTES, summary, data)
    yield _evidence("overall", _overall(), "means over Table 7")
    yield _evidence("everywhere", _far(), "comparisons in accuracy")


def _worse(metric: str) -> _Found:
    """Numbers of clients in Table 8 at which C-FLAG is worse than with 5."""
    pairs = [(clients, entry, row[5]) for row in TABLE8 for clients, entry in row.items() if clients != 5]
    worse = []
    for clients, entry, few in pairs:
        here, there = getattr(entry, metric), getattr(few, metric)
        if _ahead(metric, there, here):
            worse.append(f"{few.setting} {few.data}: {there} with 5 clients, {here} with {clients}")
    return worse, len(pairs)


CHECKS = {
    "cflag.tables_text": _by_metric("12", lambda metric: _better(_of("2", "3"), metric)),
    "cflag.supplement_tables_text": _by_metric(
        "12", lambda metric: _better(_of("6"), metric, "Fine-FL" if metric == "forgetting" else None)
    ),
    "cflag.tables_consistent": _check(
        ("1", lambda: _differences("6"), "entries of Tables 2 and 3"),
        ("2", lambda: _differences("8"), "entries of Table 8 with 5 clients"),
    ),
    "ours.tables_iid": _check(("1", _in_table3, "comparisons in Table 3")),
    "ours.tables_twins": _check(("1", _twins, "pairs of runs")),
    "cflag.figure2_text": _by_metric(
        METRICS, lambda metric: _better([e for e in _of("3") if e.data in ("CIFAR10", "CIFAR100")], metric)
    ),
    "cflag.class_text": Check(further=_class_text),
    "cflag.figure6_text": _by_metric(
        METRICS[:1], lambda metric: _better(groups()["non-IID, class incremental", "CIFAR10"], metric)
    ),
    "cflag.table8_text": _by_metric(METRICS, _worse),
}
