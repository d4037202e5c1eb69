"""Traces on disk: one npz file with a JSON header, written whole or not at all, never a pickle."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cflag_theory.errors import CflagError, DataError
from cflag_theory.files import whole
from cflag_theory.kernels.archives import read_arrays
from cflag_theory.kernels.numbers import Array, fraction, written
from cflag_theory.kernels.plan import DTYPES
from cflag_theory.kernels.trace.trace import COLUMNS, OF_FULL_GRADIENTS, PER_CLIENT, STATE, Status, Trace
from cflag_theory.reading import ANY, TABLE, WORD, unfit

FORMAT = "cflag-theory trace 3"
_HEADER = {"format": WORD, "absent": TABLE, "config": TABLE}


def write_trace(path: str | os.PathLike[str], trace: Trace) -> Path:
    """Write a Trace to `path`; fractions are kept exactly, as text. An existing file is replaced.

    Raises
    ------
    OutputError
        The folder does not exist or cannot be written.
    """
    target = Path(path)
    arrays = {f"column {name}": column for name, column in trace.columns.items()}
    arrays |= {f"end {name}": values for name, values in trace.end.items()}
    arrays |= {"status": trace.status, "rounds_done": trace.rounds_done}
    if trace.iterates is not None:
        arrays["iterates"] = trace.iterates
    header = {"format": FORMAT, "config": dict(trace.config), "absent": dict(trace.absent)}
    encoded: dict[str, Any] = {name: _encode(array) for name, array in arrays.items()}
    with whole(target, remedy="choose another folder") as file:
        np.savez_compressed(file, header=np.array(json.dumps(header)), **encoded)
    return target


def read_trace(path: str | os.PathLike[str]) -> Trace:
    """Read what `write_trace` wrote.

    Raises
    ------
    DataError
        The file is missing, is not a trace, or its arrays do not fit together.
    """
    try:
        arrays = read_arrays(path)
        wrong = unfit(arrays, dict.fromkeys(("header", "status", "rounds_done"), ANY))
        header = {} if wrong else json.loads(str(arrays.pop("header")))
        if wrong := wrong or unfit(header, _HEADER):
            raise DataError(f"{path} is not a trace, see {wrong}: pass a file written by write_trace")
        if header["format"] != FORMAT:
            raise DataError(f"{path} has format {header['format']!r}, this version reads {FORMAT!r}: run again")
        decoded = {name: _decode(array) for name, array in arrays.items()}
        trace = Trace(
            columns=_named("column ", decoded),
            end=_named("end ", decoded),
            status=decoded["status"],
            rounds_done=decoded["rounds_done"],
            absent=header["absent"],
            config=header["config"],
            iterates=decoded.get("iterates"),
        )
        damaged = _wrong_settings(trace.config) or _wrong_shapes(trace)
    except CflagError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error or type(error).__name__
        raise DataError(f"{path} is not a trace ({reason}): pass a file written by write_trace") from error
    if damaged:
        raise DataError(f"{path} is damaged, see {', '.join(sorted(set(damaged)))}: write the trace again")
    return trace


def _wrong_settings(config: Mapping[str, Any]) -> list[str]:
    """What the header says that no run was started with."""
    counts = ("local_steps", "rounds", "replicas", "every")
    wrong = [name for name in counts if type(config.get(name, 1)) is not int or not 0 < config.get(name, 1) < 1 << 63]
    wrong += [name for name in ("alpha", "beta") if name in config and not 0 <= fraction(config[name]) < math.inf]
    if config.get("dtype", DTYPES[0]) not in DTYPES:
        wrong.append("dtype")
    return wrong + [name for name in ("memory", "algorithm") if not isinstance(config.get(name) or {}, dict)]


def _wrong_shapes(trace: Trace) -> list[str]:
    replicas = trace.status.size
    if any(array.shape != (replicas,) or array.dtype.kind != "i" for array in (trace.status, trace.rounds_done)):
        return ["status"]
    if replicas == 0 or trace.rounds_done.min() < 0 or not set(trace.status.tolist()) <= set(Status):
        return ["status"]
    wrong = [name for name in trace.columns if name not in COLUMNS] + [name for name in trace.end if name not in STATE]
    every = trace.config.get("every", 1)
    for name, column in trace.columns.items():
        shape = column.shape[:-1] if name in PER_CLIENT else column.shape
        held = -(-trace.rounds // every) if name in OF_FULL_GRADIENTS else trace.rounds
        if name in COLUMNS and shape != (replicas, held):
            wrong.append(name)
    wrong += [name for name, values in trace.end.items() if values.shape != (replicas,)]
    wrong += [name for name in STATE if trace.end and name in trace.columns and name not in trace.end]
    kept = trace.iterates
    if kept is not None and (kept.ndim != 3 or kept.shape[:2] != (replicas, trace.rounds + 1)):
        wrong.append("iterates")
    arrays = {**trace.columns, **trace.end} | ({} if kept is None else {"iterates": kept})
    wrong += [name for name, array in arrays.items() if array.dtype.kind not in "fiO"]
    return wrong + [name for name in COLUMNS if (name in trace.columns) == (name in trace.absent)]


def _named(prefix: str, arrays: dict[str, Array]) -> dict[str, Array]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _encode(array: Array) -> Array:
    if array.dtype != object:
        return array
    return np.array([written(value) for value in array.ravel().tolist()], dtype=np.str_).reshape(array.shape)


def _decode(array: Array) -> Array:
    if array.dtype.kind != "U":
        return array
    out = np.empty(array.size, dtype=object)
    out[:] = [_number(text) for text in array.ravel().tolist()]
    return out.reshape(array.shape)


def _number(text: str) -> Any:
    return math.inf if text == "inf" else fraction(text)
