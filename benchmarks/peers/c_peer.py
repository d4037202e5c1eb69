"""C compiled on the fly: replicas or coordinates in vector lanes, local steps plain or on inner products; no BLAS."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import Array, World

SOURCE = Path(__file__).with_name("c_flag.c")
#: ISO C would forbid fused products. Every sum's order is written out for the vectors: -ffast-math made whole rounds
#: a tenth slower, and would have old gcc link code that flushes small numbers to zero in the whole process.
FLAGS = ("-std=gnu11", "-O3", "-march=native", "-fopenmp", "-shared", "-fPIC")
#: Doubles to whose multiple rows are padded, and rows of zeros behind the last: see the text of the loop.
UNIT, PADDING = 8, 8


class NoCompiler(Exception):
    """No C compiler is found, or it does not accept the flags: the peer is a line in the table."""


@cache
def built() -> Any:
    """The compiled loop, built once a process in the temporary folder.

    Raises
    ------
    NoCompiler
    """
    compiler = os.environ.get("CC") or next(filter(shutil.which, ("gcc", "clang", "cc")), None)
    if compiler is None or shutil.which(compiler) is None:
        raise NoCompiler("no C compiler: install gcc")
    folder = Path(tempfile.mkdtemp(prefix="cflag-benchmark-"))
    target = folder / "c_flag.so"
    done = subprocess.run(
        [compiler, *FLAGS, str(SOURCE), "-o", str(target)], capture_output=True, text=True, check=False
    )
    try:
        if done.returncode:
            raise NoCompiler(f"{Path(compiler).name} refuses: {done.stderr.strip().splitlines()[-1]}")
        return ctypes.CDLL(str(target)).c_flag
    finally:
        # A loaded library outlives its file.
        shutil.rmtree(folder, ignore_errors=True)


def compiler_version() -> str:
    """The first line of the compiler's own version text; empty without one."""
    compiler = os.environ.get("CC") or next(filter(shutil.which, ("gcc", "clang", "cc")), None)
    if compiler is None:
        return ""
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[0] if done.stdout else compiler


def padded(array: Array, width: int, more: int = 0) -> Array:
    """The array as (rows, width) with `more` rows of zeros behind, from a multiple of 64 bytes on."""
    rows = np.asarray(array, dtype=np.float64).reshape(-1, array.shape[-1])
    space = np.zeros((len(rows) + more) * width + UNIT)
    begin = -space.ctypes.data % 64 // 8
    whole = space[begin : begin + (len(rows) + more) * width].reshape(-1, width)
    whole[: len(rows), : rows.shape[1]] = rows
    return whole


class Fused:
    """The C loop in one form.

    Parameters
    ----------
    lanes : bool
        Whether replicas go together, one a vector lane; otherwise one after another, with coordinates in the lanes.
    table : bool
        Whether local steps read the inner products of the client's rows; otherwise they sweep over d.
    """

    def __init__(self, world: World, *, lanes: bool, table: bool, threads: int = 1) -> None:
        case, rows = world.case, world.rows
        self.case, self.world, self.lanes, self.threads, self.replicas = case, world, lanes, threads, case.R
        self.name = f"{'replicas' if lanes else 'coordinates'} in lanes, {'inner products' if table else 'plain'}"
        self.function = built()
        self.wide = -(-case.d // UNIT) * UNIT
        self.arrays = [
            padded(rows, self.wide, PADDING),
            padded(world.targets.reshape(-1, 1), 1, PADDING),
            padded(world.past_rows, self.wide),
            padded(world.past_targets.reshape(-1, 1), 1),
            padded(world.start, self.wide),
            np.ascontiguousarray(rows @ rows.swapaxes(1, 2)) if table else None,
            np.ascontiguousarray(world.kept, dtype=np.int64),
        ]

    def run(self, rounds: int) -> Array:
        """x_T of all replicas, (R, d)."""
        case, orders = self.case, self.world.orders(rounds)
        out = np.empty((case.R, case.d))
        sizes = (case.R, case.N, case.n, case.d, self.wide, case.E, case.kept, rounds)
        arrays = (array if array is None else ctypes.c_void_p(array.ctypes.data) for array in (*self.arrays, orders))
        failed = self.function(
            *map(ctypes.c_int64, sizes),
            ctypes.c_double(self.world.alpha),
            ctypes.c_double(self.world.beta),
            *arrays,
            ctypes.c_int(self.lanes),
            ctypes.c_int(self.threads),
            ctypes.c_void_p(out.ctypes.data),
        )
        if failed:
            raise MemoryError("the C loop found no memory for its tables")
        return out
