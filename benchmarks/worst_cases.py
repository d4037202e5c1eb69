"""The table of exact worst cases: both ends and CPU seconds, cell by cell, each kept as soon as it is there."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.sheets import Sheet, number

METHODS = ("fedavg", "fedprox", "fedtrack", "scaffold", "mimelite")
LOCAL_STEPS, ROUNDS, ETA = (1, 2, 3, 5, 10), (1, 2, 5, 10, 20), Fraction(1, 10)


def cells(file: Path, *, most: int = 200, tell: Callable[[str], None] = lambda words: None) -> list[dict[str, Any]]:
    """Cells with at most so many local steps in all, cheap ones first; those in the file are not solved again."""
    from cflag_theory.errors import CflagError
    from cflag_theory.worstcase import worst_case

    known = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    done = {(cell["method"], cell["E"], cell["T"]) for cell in known}
    for E, T in sorted(product(LOCAL_STEPS, ROUNDS), key=lambda sizes: sizes[0] * sizes[1]):
        for method in METHODS:
            if (method, E, T) in done or most < E * T:
                continue
            tell(f"{method}, E = {E}, T = {T}")
            cell: dict[str, Any] = {"method": method, "E": E, "T": T}
            try:
                found = worst_case(method, E=E, T=T, eta=ETA)
                cell |= {"lower": found.lower, "upper": float(found.upper), "seconds": found.seconds}
            except CflagError as error:
                cell["error"] = str(error)
            known.append(cell)
            with file.open("a") as lines:
                lines.write(json.dumps(cell) + "\n")
    return known


def sheet(known: list[dict[str, Any]]) -> Sheet:
    """The table of `cells`; a cell without an answer says so, and those that are missing stand below."""
    rows = []
    for cell in sorted(known, key=lambda one: (METHODS.index(one["method"]), one["E"], one["T"])):
        if "error" in cell:
            ends = ["no proof", "", "", ""]
        else:
            width = cell["upper"] - cell["lower"]
            ends = [f"{cell['lower']:.9f}", f"{cell['upper']:.9f}", f"{width:.0e}", number(cell["seconds"])]
        rows.append((cell["method"], str(cell["E"]), str(cell["T"]), *ends))
    wanted = [*product(METHODS, LOCAL_STEPS, ROUNDS)]
    title = f"F(x_T) - F* for eta = {ETA}, L = R = G = 1 and every N >= 2: {len(known)} of {len(wanted)} cells"
    there = {(cell["method"], cell["E"], cell["T"]) for cell in known}
    missing = "; ".join(f"{name}, E = {E}, T = {T}" for name, E, T in wanted if (name, E, T) not in there)
    return Sheet(
        title,
        ("method", "E", "T", "attained", "proved", "width", "CPU seconds"),
        tuple(rows),
        note=f"Not solved yet: {missing}." if missing else "",
    )
