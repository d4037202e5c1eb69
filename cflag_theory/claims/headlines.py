"""The rows of the ledger that a reader looks for first, each with one line why its verdict is what it is."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

#: Authors and title of each paper, by the name that its claims carry.
PAPERS = {
    "C-FLAG": "Keshri, Shah, Prasad: On the Convergence of Continual Federated Learning Using Incrementally Aggregated "
    "Gradients, AISTATS 2025",
    "CFL": "Guo, Lin, Tang: Towards Federated Learning on Time-Evolving Heterogeneous Data",
    "ours": "Theorems of this project, for what fails",
}


@cache
def headlines() -> tuple[tuple[str, str], ...]:
    """(id, why), in the order in which they are shown."""
    with (Path(__file__).parent / "headlines.tsv").open(encoding="utf-8", newline="") as file:
        return tuple((row["row"], row["why"]) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
