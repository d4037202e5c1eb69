"""The published tables, recomputed: every comparison in exact decimals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

import sympy as sp

from cflag_theory.claims.c_flag.published import METHOD, TABLES, Entry
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.verify.check import Check
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence


def found(part: str, contradictions: list[str], compared: int, what: str) -> Evidence:
    """What a comparison of published numbers says of the printed statement."""
    if contradictions:
        summary = f"{len(contradictions)} of {compared} {what} contradict: {'; '.join(contradictions)}."
        return Evidence(
            "recomputation", part, "printed", REFUTES, summary, {"instance": contradictions, "compared": compared}
        )
    return Evidence("recomputation", part, "printed", SUPPORTS, f"All {compared} {what} agree.", {"compared": compared})


def better(entries: Iterable[Entry], metric: str, baseline: str | None = None) -> tuple[list[str], int]:
    """Baselines (or the one named) that beat C-FLAG in a metric within a table, setting and data set; comparisons."""
    found, compared = [], 0
    entries = list(entries)
    for own in (entry for entry in entries if entry.method == METHOD):
        for other in entries:
            same = (other.table, other.setting, other.data) == (own.table, own.setting, own.data)
            if not same or other.method == METHOD or baseline not in (None, other.method):
                continue
            compared += 1
            ours, theirs = getattr(own, metric), getattr(other, metric)
            ahead = sp.Rational(theirs) - sp.Rational(ours)
            if (ahead > 0) if metric == "accuracy" else (ahead < 0):
                found.append(
                    f"Table {own.table}, {own.setting} {own.data}: {other.method} {theirs} against {ours} in {metric}"
                )
    return found, compared


def _sentences(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    chosen = [entry for entry in TABLES if entry.table in ("2", "3")]
    for part, metric in (("1", "accuracy"), ("2", "forgetting")):
        yield found(part, *better(chosen, metric), f"comparisons in {metric}")


def _supplement(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    chosen = [entry for entry in TABLES if entry.table == "6"]
    yield found("1", *better(chosen, "accuracy"), "comparisons in accuracy")
    yield found("2", *better(chosen, "forgetting", "Fine-FL"), "comparisons in forgetting")


def _pairs(first: tuple[str, ...], second: str) -> Iterator[tuple[Entry, Entry]]:
    """Entries of the same run in two sets of tables."""
    for a in TABLES:
        for b in TABLES:
            same = (a.setting, a.data, a.method) == (b.setting, b.data, b.method)
            if same and a.table in first and b.table == second:
                yield a, b


def _differences(pairs: Iterable[tuple[Entry, Entry]]) -> tuple[list[str], int]:
    found, compared = [], 0
    for a, b in pairs:
        compared += 1
        if any(sp.Rational(getattr(a, m)) != sp.Rational(getattr(b, m)) for m in ("accuracy", "forgetting")):
            found.append(
                f"{a.setting} {a.data}, {a.method}: ({a.accuracy}, {a.forgetting}) in Table {a.table}, "
                f"({b.accuracy}, {b.forgetting}) in Table {b.table}"
            )
    return found, compared


def _consistency(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    yield found("1", *_differences(_pairs(("2", "3"), "6")), "entries of Tables 2 and 3")
    yield found("2", *_differences(_pairs(("2", "3"), "8")), "entries of Table 8 with 5 clients")


def _twins(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    detailed = [entry for entry in TABLES if entry.accuracy_deviation]
    twins = [
        (a.method, a.setting, a.data, b.method, b.setting, b.data)
        for a, b in combinations(detailed, 2)
        if _numbers(a) == _numbers(b)
    ]
    stated = ("Erg-FL", "non-IID", "CIFAR100", "Erg-FL", "IID", "TinyImageNet")
    others = [" ".join(pair) for pair in twins if pair != stated]
    missing = [] if stated in twins else ["the stated pair differs"]
    yield found("1", others + missing, len(detailed) * (len(detailed) - 1) // 2, "pairs of runs")


def _numbers(entry: Entry) -> tuple[str, ...]:
    return entry.accuracy, entry.forgetting, entry.accuracy_deviation, entry.forgetting_deviation


def _iid(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    chosen = [entry for entry in TABLES if entry.table == "3"]
    accuracy, forgetting = better(chosen, "accuracy"), better(chosen, "forgetting")
    yield found("1", accuracy[0] + forgetting[0], accuracy[1] + forgetting[1], "comparisons in Table 3")


CHECKS = {
    "cflag.tables_text": Check(further=_sentences),
    "cflag.supplement_tables_text": Check(further=_supplement),
    "cflag.tables_consistent": Check(further=_consistency),
    "ours.tables_iid": Check(further=_iid),
    "ours.tables_twins": Check(further=_twins),
}
