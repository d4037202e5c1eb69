"""Traces on disk: one npz file with a JSON header, written whole or not at all, never a pickle."""

from __future__ import annotations

import json
import math
import os
import zipfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from cflag_theory.errors import DataError
from cflag_theory.files import whole
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.trace.trace import COLUMNS, PER_CLIENT, STATE, Status, Trace

FORMAT = "cflag-theory trace 3"


def write_trace(path: str | os.PathLike[str], trace: Trace) -> Path:
    """Write a Trace to `path`; fractions are kept exactly, as text. A file that was there before is replaced.

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
    with whole(target, remedy="choose another folder or mend its permissions") as file:
        np.savez_compressed(file, header=np.array(json.dumps(header)), **encoded)
    return target


def read_trace(path: str | os.PathLike[str]) -> Trace:
    """Read what `write_trace` wrote.

    Raises
    ------
    DataError
        The file is missing, is no trace, or its arrays do not fit together.
    """
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(str(arrays.pop("header")))
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
    except DataError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"{path} is not a trace ({error}): pass a file written by write_trace") from error
    _check_shapes(path, trace)
    return trace


def _check_shapes(path: str | os.PathLike[str], trace: Trace) -> None:
    replicas, rounds = trace.replicas, trace.rounds
    wrong = [name for name in trace.columns if name not in COLUMNS] + [name for name in trace.end if name not in STATE]
    for name, column in trace.columns.items():
        shape = column.shape[:-1] if name in PER_CLIENT else column.shape
        if name in COLUMNS and shape != (replicas, len(trace.rounds_of(name))):
            wrong.append(name)
    wrong += [name for name, values in trace.end.items() if values.shape != (replicas,)]
    if trace.iterates is not None and trace.iterates.shape[:2] != (replicas, rounds + 1):
        wrong.append("iterates")
    if trace.rounds_done.shape != (replicas,) or not set(trace.status.tolist()) <= set(Status):
        wrong.append("status")
    wrong += [name for name in COLUMNS if (name in trace.columns) == (name in trace.absent)]
    if wrong:
        raise DataError(f"{path} is damaged, see {', '.join(sorted(set(wrong)))}: write the trace again")


def _named(prefix: str, arrays: dict[str, Array]) -> dict[str, Array]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _encode(array: Array) -> Array:
    if array.dtype != object:
        return array
    return np.array([str(value) for value in array.ravel().tolist()], dtype=np.str_).reshape(array.shape)


def _decode(array: Array) -> Array:
    if array.dtype.kind != "U":
        return array
    out = np.empty(array.size, dtype=object)
    out[:] = [_number(text) for text in array.ravel().tolist()]
    return out.reshape(array.shape)


def _number(text: str) -> Any:
    return math.inf if text == "inf" else Fraction(text)
