"""The end of a sweep for people."""

from __future__ import annotations

from collections.abc import Sequence

from cflag_theory.cli.tables.page import Page
from cflag_theory.studies.sweeps.overview import Line

#: More lines than this are no overview.
MOST = 40


def results(names: Sequence[str], lines: Sequence[Line]) -> None:
    """How far every combination came."""
    console = Page()
    console.say("min_t ||grad f(x_t)||^2, over seeds and replicas", style="bold")
    head = [*(name.rpartition(".")[2] for name in names), "mean", "least", "largest", "runs", "diverged"]
    rows = [
        [
            *one.values,
            *("" if value is None else f"{value:.4g}" for value in (one.mean, one.least, one.most)),
            str(one.runs),
            str(one.diverged),
        ]
        for one in lines[:MOST]
    ]
    console.table(head, rows)
    if len(lines) > MOST:
        console.say(f"and {len(lines) - MOST} more: read_results reads all, cflag plot draws them")
