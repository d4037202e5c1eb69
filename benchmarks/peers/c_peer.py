"""C compiled on the fly with -O3 -march=native -fopenmp: fused passes without BLAS, in several loop orders."""

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
FLAGS = ("-O3", "-march=native", "-fopenmp", "-std=c11", "-shared", "-fPIC")
#: (replicas that walk together, rows a tile, whether four replicas meet a tile in registers): the loop orders tried.
ORDERS = ((1, 1, False), (1, 4, False), (16, 4, False), (64, 4, False), (4, 4, True), (16, 4, True))


class NoCompiler(Exception):
    """No C compiler is found, or it does not accept the flags: the peer is a line in the table."""


@cache
def built(replicas: int, tile: int, square: bool) -> Any:
    """The compiled loop for one loop order, built once per text, flags and compiler in the temporary folder.

    Raises
    ------
    NoCompiler
    """
    compiler = os.environ.get("CC") or next(filter(shutil.which, ("gcc", "clang", "cc")), None)
    if compiler is None or shutil.which(compiler) is None:
        raise NoCompiler("no C compiler: install gcc")
    folder = Path(tempfile.mkdtemp(prefix="cflag-benchmark-"))
    target = folder / "c_flag.so"
    macros = (f"-DREPLICAS={replicas}", f"-DTILE={tile}", f"-DSQUARE={int(square)}")
    done = subprocess.run(
        [compiler, *FLAGS, *macros, str(SOURCE), "-o", str(target)], capture_output=True, text=True, check=False
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


class Fused:
    """The C loop in one loop order."""

    def __init__(self, world: World, *, together: int, tile: int, square: bool = False, threads: int = 1) -> None:
        case = world.case
        self.case, self.world, self.threads, self.replicas = case, world, threads, case.R
        self.name = f"{together} replicas x {tile} rows{', 4 x 4 in registers' if square else ''}"
        self.function = built(together, tile, square)
        self.arrays = [
            np.ascontiguousarray(array, dtype=np.float64)
            for array in (world.rows, world.targets, world.past_rows, world.past_targets, world.start)
        ]
        self.kept = np.ascontiguousarray(world.kept, dtype=np.int64)

    def run(self, rounds: int) -> Array:
        """x_T of all replicas, (R, d)."""
        case, orders = self.case, self.world.orders(rounds)
        out = np.empty((case.R, case.d))
        sizes = (ctypes.c_int64(value) for value in (case.R, case.N, case.n, case.d, case.E, case.kept, rounds))
        rates = (ctypes.c_double(self.world.alpha), ctypes.c_double(self.world.beta))
        arrays = (ctypes.c_void_p(array.ctypes.data) for array in (*self.arrays, self.kept, orders))
        failed = self.function(*sizes, *rates, *arrays, ctypes.c_int(self.threads), ctypes.c_void_p(out.ctypes.data))
        if failed:
            raise MemoryError("the C loop found no memory for its tables")
        return out
