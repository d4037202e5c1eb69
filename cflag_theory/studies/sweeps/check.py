"""Checks everything that could stop a sweep before it starts, and cuts the grid into chunks."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from cflag_theory.errors import CflagError, DataError
from cflag_theory.kernels import Problem, simulate
from cflag_theory.kernels.cfl.framework import framework
from cflag_theory.kernels.own.algorithms import OwnAlgorithm
from cflag_theory.studies.sweeps.file import SweepFile
from cflag_theory.studies.sweeps.grid import Block, Builder, Grid, Point, Setting, make_grid, step_sizes
from cflag_theory.studies.sweeps.keys import Law, same

#: A chunk ends when it has so many runs, rows, recorded numbers or units of work (about a nanosecond each).
MOST_RUNS, MOST_ROWS, MOST_NUMBERS = 1000, 10_000, 4_000_000
LEAST_WORK, MOST_WORK = 1e8, 2e9
#: Rounds and replicas of a run, and numbers that it records, which are held at once (a gigabyte or so).
MOST_ROUNDS, MOST_REPLICAS, MOST_RECORDED = 1 << 22, 100_000, 1 << 27
# Work is spread over at least so many chunks, as far as LEAST_WORK lets it.
_CHUNKS = 64


@dataclass(frozen=True)
class Chunk:
    """Runs start, ..., stop - 1, their rows, and an estimate of their work."""

    start: int
    stop: int
    rows: int
    work: float


@dataclass(frozen=True)
class Plan:
    """A checked sweep: its grid, the grid's identity, and its chunks."""

    grid: Grid
    identity: str
    chunks: tuple[Chunk, ...]

    @property
    def rows(self) -> int:
        """Rows of the results: one a run and replica."""
        return sum(chunk.rows for chunk in self.chunks)


def plan_sweep(file: SweepFile, *, progress: Callable[[float], None] | None = None) -> Plan:
    """Ask of every run of the file whether `simulate` would take it; `progress` gets the share of the grid that was
    looked at since the last call.

    Every problem, memory and row is made, each combination of them runs for one round, and every step size is
    evaluated.
    """
    grid = make_grid(file)
    identity = grid.identity()
    builder = Builder(grid, identity)
    for block in grid.blocks:
        _check_c(file, block)
        _check_size(file, block)
    _check_overlaps(file, grid)
    work, replicas, recorded = array("d"), array("q"), array("q")
    tried: set[tuple[Any, ...]] = set()
    for number, block in enumerate(grid.blocks):
        latest = ""
        for index in range(grid.ends[number] - block.size, grid.ends[number]):
            point = grid.point(index)
            problem, setting = _make(file, block, builder, point)
            try:
                sizes = step_sizes(point.run, setting.known)
            except CflagError as error:
                raise _refused(file, block, point, ("run",), error) from error
            # Runs of one problem are neighbours, so that combinations tried with another problem can be dropped.
            if repr(point.problem) != latest:
                latest, tried = repr(point.problem), set()
            signs = tuple((size > 0, size < 0, math.isfinite(size)) for size in sizes)
            key = (repr(point.memory), repr(point.algorithm), point.run.get("participants"), signs)
            if key not in tried:
                _try(file, block, point, problem, setting, sizes)
                tried.add(key)
            run = point.run
            work.append(run["replicas"] * run["T"] * _work_of_a_round(problem, setting, run["E"]))
            replicas.append(run["replicas"])
            recorded.append(run["replicas"] * len(grid.record) * -(-run["T"] // grid.every))
            if progress and index % 1000 == 999:
                progress(1000 / len(grid))
    return Plan(grid, identity, tuple(_chunks(work, replicas, recorded)))


def _check_c(file: SweepFile, block: Block) -> None:
    axes = {key: values for section, key, values in block.axes if section == "run"}
    sizes = [size for key in ("alpha", "beta") for size in axes[key] if isinstance(size, str)]
    named = any("c" in Law(size).names for size in sizes)
    if named != ("c" in axes):
        what = "a formula names c, which is missing" if named else "c is given and no formula names it"
        raise file.error((*block.places[3], "c"), f"{what}: add it or leave it out")


def _make(file: SweepFile, block: Block, builder: Builder, point: Point) -> tuple[Problem, Setting]:
    made: list[Any] = []
    for section, make in (("problem", builder.problem), ("algorithm", builder.row), ("memory", builder.setting)):
        try:
            made.append(make(point))
        # The last two: numbers that are beyond what arrays or floats can hold.
        except (CflagError, MemoryError, ValueError) as error:
            raise _refused(file, block, point, (section,), error) from error
    problem, _, setting = made
    return problem, setting


def _try(
    file: SweepFile, block: Block, point: Point, problem: Problem, setting: Setting, sizes: tuple[float, float]
) -> None:
    """One round of one local step; and what the longest run of the block would remember."""
    run = {key: max(values) for section, key, values in block.axes if section == "run" and key in ("T", "replicas")}
    participants = point.run.get("participants")
    try:
        simulate(
            problem,
            setting.row,
            alpha=sizes[0],
            beta=sizes[1],
            local_steps=1,
            rounds=1,
            memory=setting.memory,
            participants=participants,
            seed=point.run["seed"],
            mode=file.mode,
            dtype=file.dtype,
            diagnostics="none",
            threads=1,
            throw=False,
        )
        chosen = problem.clients if participants is None else participants
        framework(problem, setting.row, rounds=run["T"], participants=chosen, replicas=run["replicas"], meter=False)
    except CflagError as error:
        raise _refused(file, block, point, ("run", "algorithm", "memory", "problem"), error) from error


def _refused(file: SweepFile, block: Block, point: Point, sections: Sequence[str], error: Exception) -> DataError:
    """The error, with the line of the key that it names first, or else of a table that it may be about."""
    tables = {str(place[0]): file.table(place) for place in block.places}
    found = []
    for section in sections:
        for key, value in getattr(point, section).items():
            words = rf"(?<![\w.]){re.escape(key)} (is|are|has|=)"
            if isinstance(value, str):
                words += f"|{re.escape(repr(value))}"
            named = re.search(words, str(error))
            home = tables["algorithm"] if section == "run" and key in tables["algorithm"].axes else tables[section]
            if named and key in home.axes:
                found.append((named.start(), (*home.place, key)))
    about = tables["algorithm" if "algorithm" in sections else sections[0]].place
    return file.error(min(found)[1] if found else about, f"{error} (run {point.index}: {point})")


def _work_of_a_round(problem: Problem, setting: Setting, E: int) -> float:
    """Nanoseconds, roughly: numbers that full gradients of f and g and local steps read, and waiting in each step."""
    if problem.own or isinstance(setting.row, OwnAlgorithm):
        # Interpreted: a call for every component and step.
        components = int(problem.past.counts.sum() + problem.current.counts.sum())
        return 1e4 * ((2 * components if problem.own else 4 * problem.clients) + 2 * E * problem.clients)
    rows = len(problem.past.rows) + len(problem.current.rows)
    steps = E * problem.clients * len(problem.current.rows) / int(problem.current.counts.sum())
    return 0.04 * problem.dimension * (2 * rows + 3 * steps) + 20 * steps


def _chunks(work: Sequence[float], replicas: Sequence[int], recorded: Sequence[int]) -> Iterator[Chunk]:
    """Neighbouring runs in one chunk, by a rule of the grid alone: a resumed sweep has the same chunks."""
    most = min(max(sum(work) / _CHUNKS, LEAST_WORK), MOST_WORK)
    start, rows, numbers, done = 0, 0, 0, 0.0
    for index in range(len(work)):
        rows, numbers, done = rows + replicas[index], numbers + recorded[index], done + work[index]
        full = index + 1 - start >= MOST_RUNS or rows >= MOST_ROWS or numbers >= MOST_NUMBERS or done >= most
        if full or index + 1 == len(work):
            yield Chunk(start, index + 1, rows, done)
            start, rows, numbers, done = index + 1, 0, 0, 0.0


def _check_size(file: SweepFile, block: Block) -> None:
    """Refuse runs that do not fit into memory: too many rounds, replicas or recorded numbers in one run."""
    run = {key: max(values) for section, key, values in block.axes if section == "run" and key in ("T", "replicas")}
    for key, most in (("T", MOST_ROUNDS), ("replicas", MOST_REPLICAS)):
        if run[key] > most:
            own = key in file.table(block.places[2]).axes
            more = ", and more seeds" if key == "replicas" else ""
            raise file.error(
                (*block.places[2 if own else 3], key), f"{key} is {run[key]}: use at most {most} in one run{more}"
            )
    recorded = run["replicas"] * len(file.record) * -(-run["T"] // file.every)
    if recorded > MOST_RECORDED:
        raise file.error(
            ("record",),
            f"one run records {recorded} numbers and can hold {MOST_RECORDED}: raise every, or use fewer replicas and "
            "more seeds",
        )


def _check_overlaps(file: SweepFile, grid: Grid) -> None:
    """Refuse tables that share runs: the same run twice would count as two samples."""
    values: dict[int, set[Any]] = {}

    def different(one: tuple[Any, ...]) -> set[Any]:
        return values.setdefault(id(one), set(map(same, one)))

    # The shortest axes first: they decide most pairs.
    blocks = [
        {axis[:2]: axis[2] for axis in sorted(block.axes, key=lambda axis: len(axis[2]))} for block in grid.blocks
    ]
    for number, later in enumerate(blocks):
        for earlier, block in zip(blocks[:number], grid.blocks, strict=False):
            if later.keys() == earlier.keys() and not any(
                different(later[key]).isdisjoint(different(earlier[key])) for key in later
            ):
                places = zip(block.places, grid.blocks[number].places, strict=True)
                table = next(mine for theirs, mine in places if mine != theirs)
                raise file.error(table, "the table asks for runs that one above asks for too: name each run once")
