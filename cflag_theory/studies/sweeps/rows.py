"""Rows of a sweep's results as columns of numbers and words, lines made of them, and all of them in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cflag_theory.errors import InvalidInput
from cflag_theory.studies.sweeps.store import read_header, read_results

#: More lines than this cannot be told apart.
MOST_GROUPS = 24
_SECTIONS = ("problem", "memory", "algorithm")
_RUN_KEYS = ("alpha", "beta", "c", "E", "T", "participants")

Array = NDArray[Any]


class Rows:
    """Rows of results as columns of numbers or words, with names that may be short: m for memory.m.

    Only rows are read whose coordinates have the values `where`, written as in the file; `columns` is what is needed
    besides coordinates; `partial` as in `read_results`.
    """

    def __init__(
        self, folder: Path, where: Mapping[str, str], columns: Sequence[str], *, partial: bool, curve: str | None = None
    ) -> None:
        header = read_header(folder)
        self.every = int(header["every"])
        self.names: list[str] = header["columns"]
        if curve is not None:
            recorded = [name.removeprefix("curve.") for name in self.names if name.startswith("curve.")]
            if curve not in recorded:
                known = f"choose one of {', '.join(recorded)}" if recorded else "add it to record in the sweep's file"
                raise InvalidInput(f"the column {curve!r} was not recorded along rounds: {known}")
            columns = (*columns, f"curve.{curve}")
        laws = ("alpha_law", "beta_law")
        fixed = [n for n in self.names if n in (*_RUN_KEYS, *laws) or n.partition(".")[0] in _SECTIONS]
        wanted = [self.resolve(name) for name in (*columns, *where)]
        needed = dict.fromkeys([*fixed, "status", "replica", *wanted])
        self._table = read_results(folder, columns=list(needed), partial=partial)
        self._texts: dict[str, Array] = {}
        self.coordinates = [name for name in fixed if not name.endswith("_law")]
        keep = np.ones(len(self._table), dtype=bool)
        for name, value in where.items():
            keep &= self.texts(self.resolve(name)) == _text(value)
        if not keep.any():
            chosen = ", ".join(f"{name} = {value}" for name, value in where.items())
            raise InvalidInput(f"no row of {folder} has {chosen}: see its coordinates with cflag sweep --dry-run")
        self._table = self._table.filter(keep)
        self._texts = {}

    def resolve(self, name: str) -> str:
        """The column that a name or its last part means."""
        if name in self.names:
            return name
        ends = [one for one in self.names if one.endswith(f".{name}")]
        if len(ends) != 1:
            what = "is several: " + ", ".join(ends) if ends else f"is unknown: use one of {', '.join(self.names)}"
            raise InvalidInput(f"the column {name!r} {what}")
        return ends[0]

    def numbers(self, name: str) -> Array:
        """A column of numbers; NaN where nothing was measured."""
        values: Array = self._table.column(name).to_numpy()
        if values.dtype.kind not in "fiu":
            raise InvalidInput(f"the column {name!r} holds no numbers: choose another")
        return values.astype(np.float64)

    def lists(self, name: str) -> list[list[float]]:
        """A recorded column, one list a row."""
        found: list[list[float]] = self._table.column(name).to_pylist()
        return found

    def texts(self, name: str) -> Array:
        """A coordinate as words; step sizes as the formula, where there is one."""
        if name not in self._texts:
            values = self._table.column(name).to_pylist()
            if f"{name}_law" in self.names:
                laws = self._table.column(f"{name}_law").to_pylist()
                values = [value if law is None else law for value, law in zip(values, laws, strict=True)]
            self._texts[name] = np.array([_text(value) for value in values], dtype=object)
        return self._texts[name]

    def groups(self, by: Sequence[str] | None, without: Sequence[str]) -> dict[str, Array]:
        """Label -> indices of rows, in the order of their first row; by all coordinates that vary if none are named."""
        names = self.telling(without) if by is None else [self.resolve(name) for name in by]
        keys = list(zip(*(self.texts(name) for name in names), strict=True)) or [()] * len(self._table)
        found: dict[str, list[int]] = {}
        for row, key in enumerate(keys):
            label = ", ".join(
                value if name in _SECTIONS else f"{name.rpartition('.')[2]} = {value}"
                for name, value in zip(names, key, strict=True)
            )
            found.setdefault(label, []).append(row)
        if len(found) > MOST_GROUPS:
            raise InvalidInput(
                f"{', '.join(names)} make {len(found)} lines, and {MOST_GROUPS} can be told apart: name fewer with "
                "--by, or choose rows with --where"
            )
        return {label: np.array(rows) for label, rows in found.items()}

    def telling(self, without: Sequence[str]) -> list[str]:
        """Coordinates that vary, short of those that follow from the others."""
        names = [name for name in self.coordinates if name not in without and len(set(self.texts(name))) > 1]
        whole = self._different(names)
        for name in reversed(names):
            fewer = [one for one in names if one != name]
            if self._different(fewer) == whole:
                names = fewer
        return names

    def _different(self, names: Sequence[str]) -> int:
        return len(set(zip(*(self.texts(name) for name in names), strict=True)))

    @property
    def ok(self) -> Array:
        """Which rows did not diverge."""
        ok: Array = np.array(self._table.column("status").to_pylist()) == "ok"
        return ok


def _text(value: Any) -> str:
    """A coordinate in words, the same for equal numbers, and as short as different ones can be told apart."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        for number in (int, float):
            with suppress(ValueError):
                return _text(number(value))
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53:
        value = int(value)
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return "none" if value is None else str(value)


#: The column that says how far a run came.
MEASURED = "min_grad_f2"


@dataclass(frozen=True)
class Line:
    """One combination of coordinates."""

    #: In the order of the names.
    values: tuple[str, ...]
    #: Of min_t ||grad f(x_t)||^2 over seeds and replicas that did not diverge; None without any.
    mean: float | None
    least: float | None
    most: float | None
    #: Rows, and those of them that left the finite numbers.
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
