"""A grid of runs: so many points, each made when it is asked for, and what a point's words stand for."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, product
from math import prod
from pathlib import Path
from typing import Any

from cflag_theory.errors import DataError, InvalidInput
from cflag_theory.kernels import (
    Algorithm,
    Memory,
    Problem,
    RoundWeights,
    algorithm,
    bias_bound,
    load_data,
    make_problem,
)
from cflag_theory.kernels.own.files import content, is_plug_in, path_of, within
from cflag_theory.reading import opened
from cflag_theory.studies.inputs import classes, read_memory
from cflag_theory.studies.sweeps.file import SECTIONS, SweepFile, Table
from cflag_theory.studies.sweeps.keys import RUN_KEYS, Law

_DEFAULTS = {"alpha": 0, "seed": 0, "replicas": 1}


@dataclass(frozen=True)
class Point:
    """One run of a grid in words and numbers; a section without keys is empty."""

    index: int
    problem: Mapping[str, Any]
    memory: Mapping[str, Any]
    algorithm: Mapping[str, Any]
    run: Mapping[str, Any]

    def __str__(self) -> str:
        named = ("name", "data", "kind")
        words = [
            f"{section} {value}" if key in named else f"{key} = {value}"
            for section in SECTIONS
            for key, value in getattr(self, section).items()
        ]
        return ", ".join(words)


@dataclass(frozen=True)
class Block:
    """All combinations of the values of one table of each section; a key of the algorithm's table precedes [run].

    The problem's keys vary slowest, so that neighbouring runs share it.
    """

    places: tuple[tuple[str | int, ...], ...]
    axes: tuple[tuple[str, str, tuple[Any, ...]], ...]

    @cached_property
    def size(self) -> int:
        """Number of runs."""
        return prod(len(values) for *_, values in self.axes)

    def at(self, place: int, index: int) -> Point:
        """Run number `place` of the block, which is number `index` of the grid."""
        chosen: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
        for section, key, values in reversed(self.axes):
            place, position = divmod(place, len(values))
            chosen[section][key] = values[position]
        return Point(index, **{section: dict(reversed(found.items())) for section, found in chosen.items()})


@dataclass(frozen=True)
class Grid:
    """The runs of a sweep in a fixed order, and the settings they share; plain data that travels to workers."""

    blocks: tuple[Block, ...]
    #: Where data files with a relative path are.
    folder: str
    #: As in `SweepFile`.
    mode: str
    dtype: str
    record: tuple[str, ...]
    every: int

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """The number of runs up to the end of each block."""
        return tuple(accumulate(block.size for block in self.blocks))

    def __len__(self) -> int:
        return self.ends[-1]

    def point(self, index: int) -> Point:
        """Run number `index`, counted from 0."""
        block = bisect_right(self.ends, index)
        return self.blocks[block].at(index - (self.ends[block] - self.blocks[block].size), index)

    def points(self) -> Iterator[Point]:
        """All runs, one at a time."""
        return map(self.point, range(len(self)))

    def axes(self) -> dict[tuple[str, str], tuple[Any, ...]]:
        """(section, key) -> all its values in any block."""
        found: dict[tuple[str, str], dict[str, Any]] = {}
        for block in self.blocks:
            for section, key, values in block.axes:
                found.setdefault((section, key), {}).update({repr(value): value for value in values})
        return {key: tuple(values.values()) for key, values in found.items()}

    def identity(self) -> str:
        """A hash of everything that the results depend on, short of versions: the runs, the settings, data files."""
        config = asdict(self)
        config.pop("folder")
        sources = self.axes().get(("problem", "data"), ())
        contents = {source: _content(data_path(self.folder, source)) for source in sources}
        for place in (("problem", "name"), ("problem", "potential"), ("algorithm", "name")):
            for name in filter(is_plug_in, self.axes().get(place, ())):
                contents[name] = content(path_of(within(self.folder, name)))
        return hashlib.sha256(json.dumps([config, contents], sort_keys=True).encode()).hexdigest()[:16]


def make_grid(file: SweepFile) -> Grid:
    """All combinations that a file asks for, table by table."""
    blocks = []
    for tables in product(*(file.tables[section] for section in SECTIONS)):
        blocks.append(_block(dict(zip(SECTIONS, tables, strict=True))))
    return Grid(tuple(blocks), str(file.path.parent), file.mode, file.dtype, file.record, file.every)


def _block(tables: Mapping[str, Table]) -> Block:
    own = {key: values for key, values in tables["algorithm"].axes.items() if key in RUN_KEYS}
    run = {key: (value,) for key, value in _DEFAULTS.items()} | dict(tables["run"].axes) | own
    axes = [("problem", key, values) for key, values in tables["problem"].axes.items()]
    axes += [("memory", key, values) for key, values in tables["memory"].axes.items()]
    axes += [("algorithm", key, values) for key, values in tables["algorithm"].axes.items() if key not in own]
    # In a fixed order, so that the order of lines in the file does not matter.
    axes += [("run", key, run[key]) for key in RUN_KEYS if key in run]
    return Block(tuple(tables[section].place for section in SECTIONS), tuple(axes))


@dataclass(frozen=True)
class Setting:
    """What a point stands for, besides its problem: `known` are the values of a formula that do not change by run."""

    memory: Memory | None
    row: Algorithm
    known: Mapping[str, float]


class Builder:
    """Makes problems, memories and rows of points; neighbouring points share them. `identity` is that of the grid:
    workers live longer than a sweep, and a data file may change between two.
    """

    def __init__(self, grid: Grid, identity: str) -> None:
        self._of = (identity, grid.folder)

    def problem(self, point: Point) -> Problem:
        """The problem that a point names."""
        return _problem(*self._of, json.dumps(dict(point.problem)))

    def row(self, point: Point) -> Algorithm:
        """The row that a point names."""
        return _row(*self._of, json.dumps(dict(point.algorithm)))

    def setting(self, point: Point) -> Setting:
        """The memory that a point names, with its row."""
        words = (json.dumps(dict(part)) for part in (point.problem, point.memory, point.algorithm))
        return _setting(*self._of, *words)


# Few problems, which may be large; neighbouring runs share one.
@lru_cache(maxsize=2)
def _problem(identity: str, folder: str, problem: str) -> Problem:
    words = json.loads(problem)
    if is_plug_in(str(words.get("potential", ""))):
        words["potential"] = within(folder, words["potential"])
    if "data" not in words:
        return make_problem(_placed(folder, words.pop("name", "default")), **words)
    for key in ("past_classes", "current_classes", "positive"):
        if key in words and words[key] != "odd":
            words[key] = classes(words[key], key, words["data"])
    return load_data(data_path(folder, words.pop("data")), **words)


@lru_cache(maxsize=64)
def _setting(identity: str, folder: str, problem: str, memory: str, row: str) -> Setting:
    built, built_row = _problem(identity, folder, problem), _row(identity, folder, row)
    kept = _memory(json.loads(memory), built, built_row, data="data" in json.loads(problem))
    known = {"N": float(built.clients), "L": float(built.constants["L"].value)}
    m = None if kept is None else bias_bound(built, kept).value
    return Setting(kept, built_row, known if m is None else known | {"m": float(m)})


@lru_cache(maxsize=64)
def _row(identity: str, folder: str, row: str) -> Algorithm:
    words = json.loads(row)
    if "weights" in words:
        try:
            words["weights"] = RoundWeights(**words["weights"])
        except TypeError as error:
            raise InvalidInput(
                f'weights are not understood ({error}): write {{scheme = "lemma B.4", D2 = 1}}'
            ) from None
    return algorithm(_placed(folder, words.pop("name")), **words)


def _placed(folder: str, name: str) -> str:
    return within(folder, name) if is_plug_in(name) else name


def _memory(words: Mapping[str, Any], problem: Problem, row: Algorithm, *, data: bool) -> Memory | None:
    # Where f is g, a memory of f is used only if it is asked for.
    if words.get("kind") == "none" or (not words and problem.evolving and not row.memory):
        return None
    return read_memory(
        words.get("kind"), size=words.get("size"), m=words.get("m"), redraw=words.get("redraw", False), data=data
    )


def step_sizes(run: Mapping[str, Any], known: Mapping[str, float]) -> tuple[float, float]:
    """alpha and beta of a run as numbers."""
    alpha, beta = run["alpha"], run["beta"]
    if isinstance(alpha, str) or isinstance(beta, str):
        values = {**known, **{name: run[name] for name in ("T", "E", "c") if name in run}}
        alpha, beta = (_law(size).at(values) if isinstance(size, str) else size for size in (alpha, beta))
    return float(alpha), float(beta)


_law = lru_cache(maxsize=64)(Law)


def data_path(folder: str, source: str) -> str | Path:
    """A data file's path, relative to the folder of the sweep's file; "digits" is not a file."""
    return source if source == "digits" else Path(folder) / source


def _content(path: str | Path) -> str:
    if isinstance(path, str):
        return path
    try:
        with opened(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"data file {path} cannot be read ({error.strerror}): check the path") from error
