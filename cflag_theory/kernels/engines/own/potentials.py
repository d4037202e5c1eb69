"""A user's potential as machine code: a table of addresses, which compiled loops call through."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload

from cflag_theory.kernels import formulas

#: Compiled functions and tables live as long as the process: problems hold their addresses.
_kept: list[Any] = []


def compile_potential(parts: Sequence[Callable[[Any], Any] | None]) -> int | None:
    """The address of a table of phi, phi' and phi'' as machine code, or None where Numba cannot compile one.

    A part that is None becomes a function that is NaN.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = [_compiled(part) for part in parts]
    except Exception:
        # Numba has many ways to refuse: what it cannot compile, Python runs.
        return None
    table = np.array([one.address for one in made], dtype=np.int64)
    _kept.append((made, table))
    return int(table.ctypes.data)


def _compiled(part: Callable[[Any], Any] | None) -> Any:
    # A dispatcher is called as it is; everything else is compiled with Python's rules for division by zero.
    inner: Any = numba.njit(_nothing if part is None else getattr(part, "py_func", part))

    def call(z: float) -> float:
        return float(inner(z))

    return numba.cfunc("float64(float64)")(call)


def _nothing(z: float) -> float:
    return np.nan


def _call_at(context: Any, table: Any, derivative: Any, z: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        function = ir.FunctionType(ir.DoubleType(), [ir.DoubleType()])
        entries = builder.inttoptr(values[0], function.as_pointer().as_pointer())
        called = builder.call(builder.load(builder.gep(entries, [values[1]])), [values[2]])
        # Like a sine: it reads and writes no array, so that loops around it keep theirs in registers.
        called.attributes.add("readnone")
        called.attributes.add("nounwind")
        return called

    return types.float64(types.int64, types.int64, types.float64), generate


_call: Any = intrinsic(_call_at)


def register() -> None:
    """Let compiled code call a user's potential wherever a formula calls `formulas.own`."""
    # Without annotations, which Numba takes for a part of a parameter's name.
    overload(formulas.own)(
        lambda kind, derivative, z: (
            lambda kind, derivative, z: _call(np.int64(kind), np.int64(derivative), np.float64(z))
        )
    )
