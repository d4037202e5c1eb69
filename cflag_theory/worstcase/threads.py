"""One thread for the linear algebra of NumPy and SciPy: matrices of a hundred rows are too small to share.

Where other processes use the cores, threads that wait for each other take ten times as long.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy
import scipy

#: What OpenBLAS calls its functions in the wheels of NumPy and SciPy.
_NAMES = ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads", "openblas_{}_num_threads")


@cache
def _libraries() -> list[tuple[Any, Any]]:
    """The functions that read and set the number of threads, of every library that has them."""
    found = []
    for package in (numpy, scipy):
        folder = Path(str(package.__file__)).parents[1] / f"{package.__name__}.libs"
        for path in sorted(folder.glob("*openblas*")):
            try:
                library = ctypes.CDLL(str(path))
            except OSError:
                continue
            for name in _NAMES:
                if hasattr(library, name.format("set")):
                    found.append((getattr(library, name.format("get")), getattr(library, name.format("set"))))
                    break
    return found


@contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra in one thread, where the library can be told so; as before afterwards."""
    known = [(set_threads, get()) for get, set_threads in _libraries()]
    try:
        for set_threads, _ in known:
            set_threads(1)
        yield
    finally:
        for set_threads, before in known:
            set_threads(before)
