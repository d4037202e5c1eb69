"""What the text says of Figures 2 and 6 and of Tables 7 and 8, recomputed in exact decimals."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from cflag_theory.claims.c_flag.published import METHOD, TABLE8, TABLES, Entry
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.experiments_reported import better, found
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence

METRICS = ("accuracy", "forgetting")


def groups() -> dict[tuple[str, str], list[Entry]]:
    """The runs of Table 7, by setting and data set."""
    table: dict[tuple[str, str], list[Entry]] = {}
    for entry in TABLES:
        if entry.table == "7":
            table.setdefault((entry.setting, entry.data), []).append(entry)
    return table


def _far(group: list[Entry]) -> list[str]:
    """Baselines ahead in accuracy by more than the sum of the two deviations."""
    (own,) = (entry for entry in group if entry.method == METHOD)
    lines = []
    for other in group:
        apart = sp.Rational(other.accuracy) - sp.Rational(own.accuracy)
        if apart > sp.Rational(own.accuracy_deviation) + sp.Rational(other.accuracy_deviation):
            ours, theirs = (f"{e.accuracy} +- {e.accuracy_deviation}" for e in (own, other))
            lines.append(f"{own.setting} {own.data}: {other.method} {theirs} against {ours}")
    return lines


def _ahead_in_the_mean(metric: str) -> tuple[list[str], int]:
    """Baselines ahead in the mean over the settings and data sets of Table 7, and how many there are."""
    values: dict[str, list[sp.Rational]] = {}
    for group in groups().values():
        for entry in group:
            values.setdefault(entry.method, []).append(sp.Rational(getattr(entry, metric)))
    means = {method: sp.Add(*numbers) / len(numbers) for method, numbers in values.items()}
    own = means.pop(METHOD)
    return [one for one, mean in means.items() if (mean > own if metric == "accuracy" else mean < own)], len(means)


def _figure2_text(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    chosen = [entry for entry in TABLES if entry.table == "3" and entry.data in ("CIFAR10", "CIFAR100")]
    for metric in METRICS:
        yield found(metric, *better(chosen, metric), f"comparisons in {metric}")


def _class_text(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    cases = [better(group, metric)[0] for group in groups().values() for metric in METRICS]
    best = cases.count([])
    summary = f"C-FLAG is the best of all in {best} of {len(cases)} settings, data sets and metrics."
    yield Evidence(
        "recomputation", "select", "printed", SUPPORTS if best else REFUTES, summary, {"compared": len(cases)}
    )
    behind = []
    for metric in METRICS:
        ahead, others = _ahead_in_the_mean(metric)
        if 2 * len(ahead) > others:
            behind.append(f"{', '.join(ahead)} are ahead in {metric}")
    yield found("overall", behind, len(METRICS), "means over Table 7")
    far = [line for group in groups().values() for line in _far(group)]
    yield found("everywhere", far, sum(len(group) - 1 for group in groups().values()), "comparisons in accuracy")


def _figure6_text(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    chosen = groups()["non-IID, class incremental", "CIFAR10"]
    yield found("accuracy", *better(chosen, "accuracy"), "comparisons in accuracy")


def _table8_text(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    pairs = [(clients, entry, row[5]) for row in TABLE8 for clients, entry in row.items() if clients != 5]
    for metric in METRICS:
        worse = []
        for clients, entry, few in pairs:
            here, there = (getattr(e, metric) for e in (entry, few))
            lost = sp.Rational(there) - sp.Rational(here)
            if (lost > 0) if metric == "accuracy" else (lost < 0):
                worse.append(f"{few.setting} {few.data}: {there} with 5 clients, {here} with {clients}")
        yield found(metric, worse, len(pairs), f"comparisons in {metric}")


CHECKS = {
    "cflag.figure2_text": Check(further=_figure2_text),
    "cflag.class_text": Check(further=_class_text),
    "cflag.figure6_text": Check(further=_figure6_text),
    "cflag.table8_text": Check(further=_table8_text),
}
