"""The results of a sweep in one table: a line for every combination of what varies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cflag_theory.studies.sweeps.rows import Rows

#: The column that says how far a run came.
MEASURED = "min_grad_f2"


@dataclass(frozen=True)
class Line:
    """One combination of coordinates.

    Attributes
    ----------
    values : tuple of str
        In the order of the names.
    mean, least, most : float or None
        Of min_t ||grad f(x_t)||^2 over seeds and replicas that did not diverge; None without any.
    runs, diverged : int
        Rows, and those of them that left the finite numbers.
    """

    values: tuple[str, ...]
    mean: float | None
    least: float | None
    most: float | None
    runs: int
    diverged: int


def overview(folder: Path | str) -> tuple[list[str], list[Line]]:
    """Names of the coordinates that vary, and the lines in the order of the sweep; raises as `read_results`."""
    rows = Rows(Path(folder), {}, [MEASURED], partial=False)
    names = rows.telling(())
    measured, ok = rows.numbers(MEASURED), rows.ok
    found: dict[tuple[str, ...], list[int]] = {}
    for row in range(len(measured)):
        found.setdefault(tuple(rows.texts(name)[row] for name in names), []).append(row)
    lines = []
    for values, places in found.items():
        good = measured[[row for row in places if ok[row] and np.isfinite(measured[row])]]
        mean, least, most = (float(good.mean()), float(good.min()), float(good.max())) if len(good) else (None,) * 3
        lines.append(Line(values, mean, least, most, len(places), sum(not ok[row] for row in places)))
    return names, lines
