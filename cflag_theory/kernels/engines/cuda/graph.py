"""Launches that repeat: recorded once as a CUDA graph, then replayed without the host's part of a launch.

The host takes some 0.4 ms for a launch of these kernels, whose arguments are forty arrays; a replayed one takes some
microseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from cflag_theory.kernels.engines.cuda.team import SIMULATED, cuda


def repeat(launches: Callable[[Any], None], times: int) -> None:
    """Do so many times what launches kernels on a stream, each time with the same arguments; wait for the last."""
    if SIMULATED:
        for _ in range(times):
            launches(0)
        return
    stream = cuda.stream()
    # The first time compiles and loads, which a graph cannot hold.
    if times:
        launches(stream)
    if times > 1:
        graph = _recorded(launches, stream)
        try:
            for _ in range(times - 1):
                _driver("cuGraphLaunch", graph, int(stream))
        finally:
            stream.synchronize()
            _driver("cuGraphExecDestroy", graph)
    stream.synchronize()


def _recorded(launches: Callable[[Any], None], stream: Any) -> Any:
    """The launches as a graph that can be launched."""
    _driver("cuStreamBeginCapture", int(stream), _bindings().CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
    try:
        launches(stream)
    finally:
        graph = _driver("cuStreamEndCapture", int(stream))
    try:
        return _driver("cuGraphInstantiate", graph, 0)
    finally:
        _driver("cuGraphDestroy", graph)


def _driver(name: str, *arguments: Any) -> Any:
    """What a function of CUDA's driver returns; RuntimeError where it fails."""
    code, *values = getattr(_bindings(), name)(*arguments)
    if code != _bindings().CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"{name}: {code.name}")
    return values[0] if values else None


@cache
def _bindings() -> Any:
    """NVIDIA's bindings as Numba has them."""
    return import_module("numba.cuda.cudadrv.driver").binding
