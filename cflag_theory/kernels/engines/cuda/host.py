"""A plan as arrays on the GPU: what the kernels read, what they write on, what they fill."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from cflag_theory.kernels.algorithms import CONTROL
from cflag_theory.kernels.engines.codes import Numbers, numbers_of
from cflag_theory.kernels.engines.components import Sum, as_sum
from cflag_theory.kernels.engines.cuda.small_problems import SCRATCH
from cflag_theory.kernels.engines.cuda.team import SIMULATED, cuda
from cflag_theory.kernels.memory.memory import BALANCED, GIVEN, SUBSET
from cflag_theory.kernels.plan import Plan


class Data(NamedTuple):
    """What the kernels only read, on the device; past and current are `components.Sum`."""

    p: Any
    start: Any
    past: Any
    current: Any
    labels: Any


class Store(NamedTuple):
    """What replicas write on, an entry each, on the device, and how many numbers two of the `vectors` have.

    `vectors` is empty where they lie in shared memory. See `workspace.Work`.
    """

    vectors: Any
    table: Any
    slopes: Any
    kept_slopes: Any
    factors: Any
    order: Any
    arrived: Any
    control: int
    offset: int


class Results(NamedTuple):
    """`plan.Outputs` on the device."""

    state: Any
    per_round: Any
    Lambda: Any
    iterates: Any
    status: Any
    rounds_done: Any


def number_of(plan: Plan) -> Any:
    """`numpy.float64`, or `numpy.float32` if the plan asks for it."""
    return np.dtype(plan.dtype).type


def type_of(plan: Plan) -> Any:
    """The same as a type of Numba."""
    return numba.from_dtype(np.dtype(number_of(plan)))


def sizes_of(plan: Plan) -> dict[str, int]:
    """Numbers of each array of `Store` for one replica."""
    problem = plan.problem
    N, d = problem.clients, problem.dimension
    subset = plan.memory is not None and plan.memory.kind in (SUBSET, BALANCED, GIVEN)
    control = N * d if plan.row.correction == CONTROL else 0
    offset = N * d if subset and len(problem.past.offsets) else 0
    past, current = len(problem.past.shifts), len(problem.current.shifts)
    return {
        "vectors": 8 * d + 4 * N * d + control + offset + 6 * N,
        "table": current,
        "slopes": past,
        "kept_slopes": past if subset else 0,
        "factors": past if subset else 0,
        "order": int(problem.past.client_start[-1]) + N if subset else 0,
        "control": control,
        "offset": offset,
    }


def shared_bytes(plan: Plan) -> int:
    """Shared memory of a block that holds all vectors of a replica."""
    return (SCRATCH + sizes_of(plan)["vectors"]) * int(np.dtype(number_of(plan)).itemsize)


def put(array: Any, dtype: Any = None) -> Any:
    """A copy on the device."""
    return cuda.to_device(np.ascontiguousarray(array, dtype=dtype))


def upload(plan: Plan) -> Data:
    """The arrays of the problem, their floats in the number type of the run."""

    def sent(array: Any) -> Any:
        return put(array, number_of(plan) if array.dtype.kind == "f" else np.int64)

    problem = plan.problem
    return Data(
        p=sent(problem.p),
        start=sent(problem.start),
        past=Sum(*(sent(array) for array in as_sum(problem.past))),
        current=Sum(*(sent(array) for array in as_sum(problem.current))),
        labels=sent(problem.labels),
    )


def make_store(plan: Plan, replicas: int, *, in_shared_memory: bool) -> Store:
    """Arrays to write on; vectors in global memory start with x = x_0 and zeros."""
    sizes, number = sizes_of(plan), number_of(plan)
    vectors = np.zeros((replicas, 0 if in_shared_memory else sizes["vectors"]), dtype=number)
    if not in_shared_memory:
        vectors[:, : plan.problem.dimension] = plan.problem.start
    return Store(
        vectors=put(vectors),
        table=cuda.device_array((replicas, sizes["table"]), dtype=number),
        slopes=cuda.device_array((replicas, sizes["slopes"]), dtype=number),
        kept_slopes=cuda.device_array((replicas, sizes["kept_slopes"]), dtype=number),
        factors=cuda.device_array((replicas, sizes["factors"]), dtype=number),
        order=cuda.device_array((replicas, sizes["order"]), dtype=np.int64),
        arrived=put(np.zeros(replicas, dtype=np.int64)),
        control=sizes["control"],
        offset=sizes["offset"],
    )


def free_bytes() -> int:
    """Free memory of the device."""
    # The simulator computes in the host's memory, and does not say how much there is.
    return 1 << 30 if SIMULATED else int(cuda.current_context().get_memory_info().free)


def device_numbers(plan: Plan) -> Numbers:
    """The plan's numbers, floats in the number type of the run; the angle keeps its exact quarter turn."""
    numbers, number = numbers_of(plan), number_of(plan)
    floats = {name: value for name, value in numbers._asdict().items() if isinstance(value, float) and name != "angle"}
    return numbers._replace(**{name: number(value) for name, value in floats.items()})
