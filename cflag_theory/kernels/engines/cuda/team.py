"""Teams of CUDA threads: their sums and barriers, and the plain formulas as device functions.

A team is a warp, or a whole block of several warps. Its threads are numbered by `rank`, and thread `rank` owns the
coordinates rank, rank + size, ... of a vector, so that most steps need no barrier. Sums go by a butterfly within a
warp and over the warps in their order: the same order in every run, and no atomics on floats.

Numba's simulator has neither shuffles nor barriers of a warp; here both are emulated by its threads, so that the
kernels are the same text in it. There, and only there, `LANES` may be set to a smaller power of two.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

import numba.cuda
from numba.extending import overload

from cflag_theory.kernels import draws, formulas
from cflag_theory.kernels.memory import memory as memories

Function = TypeVar("Function", bound=Callable[..., Any])

# Numba has types for a part of these modules only.
cuda: Any = numba.cuda
config: Any = numba.config

SIMULATED = bool(config.ENABLE_CUDASIM)
#: Threads of a warp.
LANES = 32
EVERYONE = 0xFFFFFFFF


def device(function: Function) -> Function:
    """Let kernels call this plain function.

    Not with `callable_from_compiled`, whose reordering of sums CUDA takes for leave to approximate sines and quotients.
    """
    return cast(Function, cuda.jit(device=True)(function)) if not SIMULATED else function


def kernel(threads: int) -> Callable[[Function], Any]:
    """Compile a kernel whose blocks have at most this many threads."""
    options = {} if SIMULATED else {"launch_bounds": threads}
    return lambda function: cuda.jit(**options)(function)


if not SIMULATED:
    # The logarithm of the device.
    overload(formulas.log1p, target="cuda")(lambda y: lambda y: math.log1p(y))
    # Runs with a potential of the user are refused before they reach the device.
    overload(formulas.own, target="cuda")(lambda kind, derivative, z: lambda kind, derivative, z: z)

words, below, lane = device(draws.words), device(draws.below), device(draws.lane)
draw_subset, draw_sign, rotate = (
    device(memories.draw_subset),
    device(memories.draw_sign),
    device(memories.rotate),
)
potential, slope, refreshed_mean = (
    device(formulas.potential),
    device(formulas.slope),
    device(formulas.refreshed_mean),
)
forgetting, overfitting, state_columns = (
    device(formulas.forgetting),
    device(formulas.overfitting),
    device(formulas.state_columns),
)
table1_rates, common_rate, interaction_rate = (
    device(formulas.table1_rates),
    device(formulas.common_rate),
    device(formulas.interaction_rate),
)


class SimulatedWarp:
    """Where the simulator's threads of one warp meet."""

    def __init__(self, lanes: int) -> None:
        # A thread that fails would leave the others waiting for good.
        self.barrier = threading.Barrier(lanes, timeout=600)
        self.values: list[Any] = [None] * lanes


_lock = threading.Lock()
_warps_of_block: WeakKeyDictionary[Any, dict[int, SimulatedWarp]] = WeakKeyDictionary()


def simulated_warp() -> tuple[SimulatedWarp, int]:
    """The warp of the calling thread of the simulator, and its lane."""
    thread: Any = threading.current_thread()
    with _lock:
        warps = _warps_of_block.setdefault(thread._manager, {})
        number = thread.thread_id // LANES
        if number not in warps:
            warps[number] = SimulatedWarp(LANES)
    return warps[number], thread.thread_id % LANES


if SIMULATED:

    def exchange(value: Any, distance: int) -> Any:
        """The value of the lane whose number differs in the bit `distance`."""
        warp, mine = simulated_warp()
        warp.values[mine] = value
        warp.barrier.wait()
        other = warp.values[mine ^ distance]
        warp.barrier.wait()
        return other

    def warp_sync() -> None:
        """Wait for the other lanes, and see what they have written."""
        simulated_warp()[0].barrier.wait()

    def block_sync() -> None:
        """Wait for the other threads of the block, and see what they have written."""
        cuda.syncthreads()

    # The simulator gives a meaning to `cuda` in the modules of functions that it has wrapped.
    block_sync = cuda.jit(device=True)(block_sync)
else:

    @device
    def exchange(value: Any, distance: int) -> Any:
        """The value of the lane whose number differs in the bit `distance`."""
        return cuda.shfl_xor_sync(EVERYONE, value, distance)

    @device
    def warp_sync() -> None:
        """Wait for the other lanes, and see what they have written."""
        cuda.syncwarp()

    @device
    def block_sync() -> None:
        """Wait for the other threads of the block, and see what they have written."""
        cuda.syncthreads()


@device
def real(like: Any, value: Any) -> Any:
    """The value in the number type of the array `like`; Python's literals would make doubles of floats."""
    return like.dtype.type(value)


@device
def lanes() -> int:
    """Threads of a warp."""
    return LANES


@device
def team_sync(size: int) -> None:
    """A barrier of the team."""
    if size > LANES:
        block_sync()
    else:
        warp_sync()


@device
def warp_sum(value: Any, width: int) -> Any:
    """The sum over groups of `width` neighbouring lanes, a power of two; every lane gets the same bits."""
    distance = width >> 1
    while distance > 0:
        value += exchange(value, distance)
        distance >>= 1
    return value


@device
def team_sum(value: Any, rank: int, size: int, scratch: Any) -> Any:
    """The sum over the team; `scratch` holds a number for each warp of it."""
    value = warp_sum(value, LANES)
    if size > LANES:
        if rank % LANES == 0:
            scratch[rank // LANES] = value
        block_sync()
        value = scratch[0]
        for warp in range(1, size // LANES):
            value += scratch[warp]
        block_sync()
    return value


@device
def team_dot(a: Any, b: Any, rank: int, size: int, scratch: Any) -> Any:
    """<a, b> of vectors (d,) of which each thread reads the coordinates that it owns."""
    total = real(a, 0.0)
    for c in range(rank, len(a), size):
        total += a[c] * b[c]
    return team_sum(total, rank, size, scratch)
