"""From a TOML file to a grid of runs, or to one sentence with the line that is wrong.

A complete file:

    record = ["grad_f2"]            # columns of a Trace that are kept along rounds, none without it
    every = 4                       # ... in every fourth round
    mode = "bitwise"                # as in `simulate`, and likewise dtype

    [problem]                       # name (or FILE.py:name) and its dials, or data = "digits" and its split
    name = "default"
    seed = 0

    [memory]                        # kind, size, m, redraw; the default memory without this table
    kind = "sign"
    m = [0, 0.25]                   # a list is an axis of the grid

    [[algorithm]]                   # [[...]]: one table after the other instead of all combinations
    name = "c_flag"
    alpha = "1/(L*(1 + m))"         # what a row of its own needs stands with it and precedes [run]

    [[algorithm]]
    name = ["fedavg", "scaffold"]

    [run]
    beta = ["c/sqrt(T)", 0.01]      # numbers, or formulas in T, E, N, L, m, c
    c = 0.05
    E = 10
    T = [16, 64, 256]
    seed = {first = 0, count = 4}   # short for [0, 1, 2, 3]
    replicas = 8
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cflag_theory.errors import CflagError, DataError
from cflag_theory.kernels import COLUMNS
from cflag_theory.kernels.trace.trace import DIFFERENCES
from cflag_theory.reading import line_of, read_toml
from cflag_theory.studies.sweeps.keys import KINDS, SETTINGS, Fail, Law, fits_column, known_keys, same

SECTIONS = ("problem", "memory", "algorithm", "run")
# A number for each client, and what `simulate` has no need of.
_NOT_KEPT = ("Lambda", *DIFFERENCES)
# More integers than any sweep can run, and few enough to hold in memory.
_MOST_INTEGERS = 1_000_000


@dataclass(frozen=True)
class Table:
    """One table of the file: its place, and the values of every key, of which a list is an axis."""

    place: tuple[str | int, ...]
    axes: Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True)
class SweepFile:
    """A file whose keys and types are right; whether `simulate` takes the values is for `sweeps.check`."""

    path: Path
    text: str
    #: For each of `SECTIONS`.
    tables: Mapping[str, tuple[Table, ...]]
    #: As in `simulate`.
    mode: str = "bitwise"
    dtype: str = "float64"
    #: Columns kept along rounds.
    record: tuple[str, ...] = ()
    #: In every so many rounds.
    every: int = 1

    def table(self, place: Sequence[str | int]) -> Table:
        """The table at a place."""
        return next(table for table in self.tables[str(place[0])] if table.place == tuple(place))

    def error(self, place: Sequence[str | int], sentence: object) -> DataError:
        """The sentence with the line at which `place` begins."""
        return _error(self.path, self.text, place, sentence)


def read_sweep_file(path: str | Path) -> SweepFile:
    """Read a TOML file of a sweep; the docstring of this module shows one."""
    path = Path(path)
    text, data = read_toml(path)

    def fail(place: Sequence[str | int], sentence: object) -> DataError:
        return _error(path, text, place, sentence)

    for key in data:
        if key not in (*SETTINGS, *SECTIONS):
            known = f"{', '.join(SETTINGS)}, or a table {', '.join(f'[{name}]' for name in SECTIONS)}"
            raise fail((key,), f"the key {key!r} is unknown: use {known}")
    for key in ("algorithm", "run"):
        if key not in data:
            raise DataError(f"{path.name} has no table [{key}]: add one")
    folder = path.absolute().parent
    tables = {section: tuple(_tables(section, data, fail, folder)) for section in SECTIONS}
    _no_mixtures(tables, fail)
    for algorithm in tables["algorithm"]:
        for run in tables["run"]:
            for key in ("beta", "E", "T"):
                if key not in algorithm.axes and key not in run.axes:
                    raise fail(run.place, f"{key} is missing: add it to [run]")
    return SweepFile(path.absolute(), text, tables, **_settings(data, fail))


def _settings(data: Mapping[str, Any], fail: Fail) -> dict[str, Any]:
    found = {key: data[key] for key in SETTINGS if key in data}
    for key, value in found.items():
        if not SETTINGS[key].fits(value):
            raise fail((key,), f"{key} is {value!r}: use {SETTINGS[key].wanted}")
    record = found.get("record", [])
    if len(set(record)) != len(record):
        raise fail(("record",), f'record is {record!r}: use a list of different columns, such as ["grad_f2"]')
    for column in record:
        if column not in COLUMNS or column in _NOT_KEPT:
            known = ", ".join(name for name in COLUMNS if name not in _NOT_KEPT)
            raise fail(("record",), f"record has {column!r}: use {known}")
    return found | {"record": tuple(record)}


def _tables(section: str, data: Mapping[str, Any], fail: Fail, folder: Path) -> Iterator[Table]:
    """The tables of a section: [section], or each [[section]]; an empty one where there is none."""
    found = data.get(section, {})
    several = isinstance(found, list)
    listed = found if isinstance(found, list) else [found]
    if not listed or not all(isinstance(one, dict) for one in listed):
        raise fail((section,), f"{section} is {found!r}: write a table [{section}], or several [[{section}]]")
    for number, one in enumerate(listed):
        place = (section, number) if several else (section,)
        axes = {key: _axis(key, value, (*place, key), fail) for key, value in one.items()}
        known = known_keys(section, axes, place, fail, folder)
        for key, values in axes.items():
            if key not in known:
                raise fail((*place, key), f"the key {key!r} is unknown in [{section}]: use {', '.join(known)}")
            for value in values:
                if not known[key].fits(value):
                    raise fail((*place, key), f"{key} has the value {value!r}: use {known[key].wanted}")
                if not fits_column(key, value):
                    raise fail((*place, key), f"{key} has the value {value}, which is too large: use a smaller one")
        for key in ("alpha", "beta"):
            if section in ("algorithm", "run"):
                _check_laws(axes.get(key, ()), (*place, key), fail)
        yield Table(place, axes)


def _axis(key: str, value: Any, place: tuple[str | int, ...], fail: Fail) -> tuple[Any, ...]:
    """The values of a key: a list has several, and {first, count} stands for a list of integers."""
    if isinstance(value, dict) and set(value) == {"first", "count"}:
        first, count = value["first"], value["count"]
        if type(first) is not int or type(count) is not int or not 1 <= count <= _MOST_INTEGERS:
            raise fail(place, f"{key} is {value!r}: use integers, and a count from 1 to {_MOST_INTEGERS}")
        return tuple(range(first, first + count))
    if not isinstance(value, list):
        value = [value]
    if not value:
        raise fail(place, f"{key} is an empty list, so that the grid has no runs: give it a value or leave it out")
    seen = set()
    for one in value:
        if isinstance(one, list):
            raise fail(place, f"{key} holds the list {one!r}: a list is an axis of single values")
        if type(one) not in KINDS:
            raise fail(place, f"{key} holds {one}, a date or time: use a number, a word, true or false")
        if same(one) in seen:
            raise fail(place, f"{key} holds {one!r} twice: name each value once")
        seen.add(same(one))
    return tuple(value)


def _check_laws(values: Sequence[Any], place: tuple[str | int, ...], fail: Fail) -> None:
    for value in values:
        try:
            if isinstance(value, str):
                Law(value)
        except CflagError as error:
            raise fail(place, error) from None


def _no_mixtures(tables: Mapping[str, tuple[Table, ...]], fail: Fail) -> None:
    """A key has values of one kind in all tables of its section, because it becomes one column."""
    for section in SECTIONS:
        kinds: dict[str, str] = {}
        for table in tables[section]:
            for key, values in table.axes.items():
                for value in values:
                    kind = KINDS[type(value)]
                    if kinds.setdefault(key, kind) != kind and key not in ("alpha", "beta"):
                        raise fail((*table.place, key), f"{key} mixes {kinds[key]} and {kind}: use one kind")


def _error(path: Path, text: str, place: Sequence[str | int], sentence: object) -> DataError:
    return DataError(f"{path.name}, line {line_of(text, place)}: {sentence}")
