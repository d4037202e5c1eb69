"""The runs of one chunk, and what is kept of each: one row a run and replica."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cflag_theory.errors import CflagError, InvalidInput
from cflag_theory.kernels import Problem, Status, Trace, simulate
from cflag_theory.kernels.trace.trace import OF_FULL_GRADIENTS
from cflag_theory.studies.sweeps.grid import Builder, Grid, Point, Setting, step_sizes

_NORMS = ("grad_f2", "grad_g2", "grad_h2")
_VALUES = ("f", "g", "h")
#: Columns of the results besides the coordinates, with what they hold; null where a run did not measure them.
MEASURED = {
    "status": "ok or diverged",
    "rounds_done": "rounds that the replica finished; everything below is over these",
    **{f"min_{name}": f"min over t < T of {name}" for name in _NORMS},
    **{f"mean_{name}": f"mean over t < T of {name}" for name in _NORMS},
    **{f"last_{name}": f"{name} at the last iterate, x_T for a run that is ok" for name in _NORMS},
    **{
        f"min_of_mean_{name}": f"min over t < T of the mean over the run's replicas of {name}, the same in all of "
        "them; null if one diverged"
        for name in _NORMS
    },
    **{f"first_{name}": f"{name} at x_0" for name in _VALUES},
    **{f"last_{name}": f"{name} at the last iterate" for name in _VALUES},
    "sum_Gamma": "sum over t < T of Gamma(t)",
    "sum_B": "sum over t < T of B(t)",
    "ifo_calls": "gradients of components that were evaluated, diagnostics left out",
    "communicated": "numbers that clients and server sent",
    "m_met": "largest ||b||^2 / ||grad f||^2",
    "r2_met": "largest ||grad_f_memory||^2 / ||grad g||^2",
}
#: Of every run: its number in the grid, its problem, and its step sizes as numbers.
FIXED = {
    "run": "number of the run in the grid, from 0",
    "replica": "number of the replica, from 0",
    "problem_digest": "hash of the problem's arrays",
    "L": "smoothness constant of the problem",
    "N": "clients",
    "d": "dimension",
}
#: Keys that name a section's entry and stand in the column of the section.
NAMES = {("problem", "name"), ("problem", "data"), ("memory", "kind"), ("algorithm", "name")}
_SUMS = {"sum_Gamma": "Gamma", "sum_B": "B", "ifo_calls": "ifo_calls", "communicated": "communicated"}
_LARGEST = ("m_met", "r2_met")
_COLUMNS = (*_VALUES, *_NORMS, *_SUMS.values(), *_LARGEST)
#: Rounds times replicas that one call of `simulate` holds at most, as far as one replica allows.
_PIECE = 1 << 20

Array = NDArray[Any]


def run_chunk(grid: Grid, identity: str, start: int, stop: int, threads: int) -> dict[str, Any]:
    """Rows of runs start, ..., stop - 1, column by column: lists or arrays of one entry a row; of a recorded column its
    values, one row after the other, and their number in each row.
    """
    builder = Builder(grid, identity)
    rows: dict[str, list[Any]] = {}
    count = 0
    for index in range(start, stop):
        point = grid.point(index)
        try:
            found = _run(grid, point, builder.problem(point), builder.setting(point), threads)
        except CflagError as error:
            raise InvalidInput(f"run {index} ({point}): {error}") from error
        for name, values in found.items():
            column = rows.setdefault(name, [])
            # The runs before had no such coordinate.
            column += [None] * (count - len(column)) + values
        count += point.run["replicas"]
    for column in rows.values():
        column += [None] * (count - len(column))
    curves = {f"curve.{name}" for name in grid.record}
    return {
        name: (np.concatenate(values), np.array([len(one) for one in values])) if name in curves else values
        for name, values in rows.items()
    }


def _run(grid: Grid, point: Point, problem: Problem, setting: Setting, threads: int) -> dict[str, list[Any]]:
    replicas, T = point.run["replicas"], point.run["T"]
    alpha, beta = step_sizes(point.run, setting.known)
    rows: dict[str, list[Any]] = {}
    totals: dict[str, Any] = dict.fromkeys(_NORMS, 0.0)
    digest, most = "", max(1, _PIECE // T)
    for trace in _traces(grid, point, problem, setting, (alpha, beta), threads, range(replicas), most):
        digest = trace.config["problem_digest"]
        for name, values in _measured(grid, trace).items():
            rows.setdefault(name, []).extend(values)
        for name in totals:
            # A replica that diverged is left out of the means.
            totals[name] += trace.columns[name].sum(axis=0) if trace.ok and name in trace.columns else math.nan
    shared = {f"min_of_mean_{name}": float(np.min(total)) / replicas for name, total in totals.items()}
    shared |= {"alpha": alpha, "beta": beta, "run": point.index, "problem_digest": digest}
    shared |= {"L": setting.known["L"], "N": problem.clients, "d": problem.dimension}
    shared |= coordinates(point, setting.memory is not None)
    rows |= {name: [value] * replicas for name, value in shared.items()}
    rows["replica"] = list(range(replicas))
    return rows


def coordinates(point: Point, remembers: bool) -> dict[str, Any]:
    """The point as columns: problem, memory, algorithm by name, their dials as problem.heterogeneity and so on."""
    found: dict[str, Any] = {
        "problem": point.problem.get("data", point.problem.get("name", "default")),
        "memory": point.memory.get("kind", "default" if remembers else "none"),
        "algorithm": point.algorithm["name"],
    }
    for section in ("problem", "memory", "algorithm"):
        for key, value in getattr(point, section).items():
            if (section, key) not in NAMES:
                found[f"{section}.{key}"] = json.dumps(value, sort_keys=True) if isinstance(value, dict) else value
    for key, value in point.run.items():
        if key in ("alpha", "beta"):
            found[f"{key}_law"] = value if isinstance(value, str) else None
        else:
            found[key] = value
    return found


def _traces(
    grid: Grid,
    point: Point,
    problem: Problem,
    setting: Setting,
    sizes: tuple[float, float],
    threads: int,
    replicas: range,
    most: int,
) -> Iterator[Trace]:
    """Traces of the replicas, at most so many in one; a replica that diverged is alone in its."""
    run = point.run
    expensive = bool(set(grid.record) & set(OF_FULL_GRADIENTS))
    for first in replicas[::most]:
        trace = simulate(
            problem,
            setting.row,
            alpha=sizes[0],
            beta=sizes[1],
            local_steps=run["E"],
            rounds=run["T"],
            memory=setting.memory,
            participants=run.get("participants"),
            replicas=min(most, replicas.stop - first),
            first_replica=first,
            seed=run["seed"],
            mode=grid.mode,
            dtype=grid.dtype,
            diagnostics="all" if expensive else "cheap",
            every=grid.every if expensive else 1,
            columns=tuple(dict.fromkeys((*_COLUMNS, *grid.record))),
            threads=threads,
            throw=False,
        )
        if trace.ok or trace.replicas == 1:
            yield trace
        else:
            # Columns end where the first replica stopped: the others are run again without it.
            alone = range(first, first + trace.replicas)
            yield from _traces(grid, point, problem, setting, sizes, threads, alone, 1)


def _measured(grid: Grid, trace: Trace) -> dict[str, list[Any]]:
    """What one trace says of each of its replicas."""
    nothing = [math.nan] * trace.replicas
    rows: dict[str, list[Any]] = {
        "status": ["ok" if status == Status.OK else "diverged" for status in trace.status.tolist()],
        "rounds_done": trace.rounds_done.tolist(),
    }
    columns: Mapping[str, Array] = trace.columns if trace.rounds else {}
    for name in _NORMS:
        squares = columns.get(name)
        rows[f"min_{name}"] = nothing if squares is None else np.minimum.reduce(squares, axis=1).tolist()
        rows[f"mean_{name}"] = nothing if squares is None else (np.add.reduce(squares, axis=1) / trace.rounds).tolist()
    for name in _VALUES:
        rows[f"first_{name}"] = columns[name][:, 0].tolist() if name in columns else nothing
    for name in (*_NORMS, *_VALUES):
        rows[f"last_{name}"] = trace.end[name].tolist() if name in trace.end else nothing
    for name, column in _SUMS.items():
        rows[name] = np.add.reduce(columns[column], axis=1).tolist() if column in columns else nothing
    for name in _LARGEST:
        rows[name] = np.maximum.reduce(columns[name], axis=1).tolist() if name in columns else nothing
    for name in grid.record:
        curve = columns.get(name, np.empty((trace.replicas, 0)))
        # Expensive columns are measured in these rounds only; a copy frees the memory of the others.
        rows[f"curve.{name}"] = list(curve if name in OF_FULL_GRADIENTS else curve[:, :: grid.every].copy())
    return rows
