"""A user's components as machine code: addresses of value and gradient, which the loop calls through.

The loop is compiled once and kept on disk; only the user's functions are compiled in each process.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from cflag_theory.kernels.engines.codegen.cache import inner
from cflag_theory.kernels.numbers import Array, Ints, integers
from cflag_theory.kernels.own.problems import OwnSum
from cflag_theory.kernels.problems.problem import Components, Problem

# Numba has types for a part of it only.
carray: Any = getattr(numba, "carray")  # noqa: B009
#: Compiled functions live as long as the process.
_kept: dict[tuple[Any, ...], tuple[Any, Any] | None] = {}

_NUMBERS: Any = types.CPointer(types.float64)  # type: ignore[no-untyped-call]
_VALUE, _GRADIENT = types.float64(_NUMBERS, _NUMBERS), types.void(_NUMBERS, _NUMBERS, _NUMBERS)


class Part(NamedTuple):
    """One task: the addresses of its functions, the data (n, q) of its components, where clients begin (N + 1,)."""

    value: int
    gradient: int
    data: Array
    client_start: Ints


# Neighbouring runs share a problem.
@lru_cache(maxsize=4)
def as_parts(problem: Problem) -> tuple[Part, Part] | None:
    """Both tasks as the loop reads them; None where only Python can run one, or runs it otherwise."""
    past, current = (_part(part, problem.start) for part in (problem.past, problem.current))
    return None if past is None or current is None else (past, current)


def _part(components: Components, start: Array) -> Part | None:
    own = components.functions
    if not isinstance(own, OwnSum) or not isinstance(own.data, np.ndarray) or own.data.dtype != np.float64:
        return None
    n, d, shape = len(own.data), len(start), own.data.shape[1:]
    key = own.value.function, own.gradient.function, d, shape
    if key not in _kept:
        _kept[key] = _compiled(own.value.function, own.gradient.function, d, shape)
    made = _kept[key]
    if made is None:
        return None
    value, gradient = made
    flat = np.ascontiguousarray(own.data.reshape(n, -1))
    part = Part(value.address, gradient.address, flat, integers(components.client_start))
    return part if _agree(own, value, gradient, flat, start) else None


def _compiled(
    value: Callable[..., Any], gradient: Callable[..., Any], d: int, shape: tuple[int, ...]
) -> tuple[Any, Any] | None:
    inner_value, inner_gradient = (
        numba.njit(error_model="numpy")(getattr(one, "py_func", one)) for one in (value, gradient)
    )
    scalar = shape == ()

    # What a function raises becomes NaN, which ends the run; Python then says what it was.
    def call_value(x: Any, data: Any) -> Any:
        point = carray(x, (d,))
        try:
            if scalar:
                return float(inner_value(point, data[0]))
            return float(inner_value(point, carray(data, shape)))
        except Exception:
            return np.nan

    def call_gradient(x: Any, data: Any, out: Any) -> None:
        point, found = carray(x, (d,)), carray(out, (d,))
        try:
            if scalar:
                found[:] = inner_gradient(point, data[0])
            else:
                found[:] = inner_gradient(point, carray(data, shape))
        except Exception:
            found[:] = np.nan

    try:
        with warnings.catch_warnings():
            # Of the user's code, as slow for arrays that are not contiguous.
            warnings.simplefilter("ignore")
            return numba.cfunc(_VALUE)(call_value), numba.cfunc(_GRADIENT)(call_gradient)
    except Exception:
        # Numba has many ways to refuse: what it cannot compile, Python runs.
        return None


def _agree(own: OwnSum, value: Any, gradient: Any, flat: Array, start: Array) -> bool:
    """Whether machine code gives what Python gives, up to rounding, at x_0 and beside it."""
    for j in {0, len(flat) // 2, len(flat) - 1}:
        for x in (start.copy(), start + 0.5):
            chosen, out, row = np.array([j]), np.empty(len(start)), np.ascontiguousarray(flat[j])
            pointers = [one.ctypes.data_as(gradient.ctypes.argtypes[0]) for one in (x, row, out)]
            gradient.ctypes(*pointers)
            found = [value.ctypes(*pointers[:2]), *out]
            expected = [own.mean_value(chosen, x), *own.mean_gradient(chosen, x)]
            if not np.allclose(found, expected, rtol=1e-9, atol=1e-12, equal_nan=True):
                return False
    return True


def _call_value_at(context: Any, address: Any, x: Any, data: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointer = ir.DoubleType().as_pointer()
        function = ir.FunctionType(ir.DoubleType(), [pointer, pointer])
        called = builder.inttoptr(values[0], function.as_pointer())
        return builder.call(called, [builder.inttoptr(one, pointer) for one in values[1:]])

    return types.float64(types.int64, types.uintp, types.uintp), generate


def _call_gradient_at(context: Any, address: Any, x: Any, data: Any, out: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointer = ir.DoubleType().as_pointer()
        function = ir.FunctionType(ir.VoidType(), [pointer] * 3)
        called = builder.inttoptr(values[0], function.as_pointer())
        builder.call(called, [builder.inttoptr(one, pointer) for one in values[1:]])
        return context.get_dummy_value()

    return types.void(types.int64, types.uintp, types.uintp, types.uintp), generate


_call_value: Any = intrinsic(_call_value_at)
_call_gradient: Any = intrinsic(_call_gradient_at)


@inner
def component_value(part: Part, j: int, x: Array) -> float:
    """The value of component j at x."""
    value: float = _call_value(part.value, x.ctypes.data, part.data[j].ctypes.data)
    return value


@inner
def component_gradient(part: Part, j: int, x: Array, out: Array) -> None:
    """Its gradient into out (d,)."""
    _call_gradient(part.gradient, x.ctypes.data, part.data[j].ctypes.data, out.ctypes.data)


@inner
def client_value(part: Part, i: int, x: Array) -> float:
    """The mean of client i's components at x."""
    first, end = part.client_start[i], part.client_start[i + 1]
    total: float = 0.0
    for j in range(first, end):
        total += component_value(part, j, x)
    mean: float = total / (end - first)
    return mean


@inner
def client_gradient(part: Part, i: int, x: Array, scratch: Array, out: Array) -> None:
    """The gradient of that mean into out (d,)."""
    first, end = part.client_start[i], part.client_start[i + 1]
    out[:] = 0.0
    for j in range(first, end):
        component_gradient(part, j, x, scratch)
        for c in range(len(out)):
            out[c] += scratch[c]
    for c in range(len(out)):
        out[c] /= end - first
