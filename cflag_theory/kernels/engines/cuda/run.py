"""The CUDA engine: whether there is a GPU, what it cannot run, and the way of a plan to the kernels and back.

Small problems run in one launch (`small_problems`), large ones in two launches a round (`large_problems`), recorded as
a graph (`graph`). Where CuPy is installed and many replicas share the data, full gradients of large problems are matrix
products of cuBLAS.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np

from cflag_theory.errors import InvalidInput, MissingExtra
from cflag_theory.kernels.plan import Outputs, Plan

SMALL, LARGE = LAYOUTS = ("small", "large")
#: Bytes of shared memory that a block gets on every GPU without asking.
SHARED = 48 << 10
#: Part of the GPU's free memory that a run takes.
MEMORY_SHARE = 0.8
#: Beyond this many coordinates a block serves a client better than a warp.
WIDEST = 256
#: Blocks of a launch at most.
BLOCKS = (1 << 31) - 1
#: From so many entries of rows on, those of all replicas, matrix products win by more than their calls cost: on an
#: H100 in the benchmark's case L x16 (1.6e8), not in M x64 (6e7).
TOGETHER = 1e8


def require_gpu() -> None:
    """Return if kernels can run on a GPU here."""
    if find_spec("numba_cuda") is None:
        raise MissingExtra("numba-cuda is not installed: pip install 'cflag-theory[cuda]', or run on the CPU")
    from cflag_theory.kernels.engines.cuda.team import SIMULATED, cuda

    if SIMULATED:
        raise InvalidInput("NUMBA_ENABLE_CUDASIM is set and its simulator is for tests: unset it, or run on the CPU")
    try:
        available = cuda.is_available()
    except RuntimeError:
        # NVIDIA's bindings say so of a library that they do not find.
        available = False
    if not available and cuda.cuda_error() is None:
        raise MissingExtra(
            "numba-cuda is installed without NVIDIA's compiler: pip install 'cflag-theory[cuda]', or run on the CPU"
        )
    if not available:
        raise InvalidInput(
            "no NVIDIA GPU with a working driver was found: run where nvidia-smi lists one, or run on the CPU"
        )


def require_plain(plan: Plan) -> None:
    """Return if the kernels cover this plan."""
    if plan.framework is not None:
        raise InvalidInput(
            f"the run of {plan.row.name!r} on {plan.problem.name!r} has past rounds, momentum, drifts, windows or "
            "absent clients, which the CUDA kernels lack: run it on the CPU"
        )
    if plan.problem.exact:
        raise InvalidInput(f"problem {plan.problem.name!r} holds fractions: use engine='reference'")
    if plan.diagnostics > 1:
        raise InvalidInput(
            "diagnostics 'all' needs full gradients at local steps, which the CUDA kernels do not measure: "
            "use 'cheap', or run on the CPU"
        )


def layout_of(plan: Plan) -> str:
    """Which kernels `run` chooses: "small" where a replica fits into a block's shared memory, else "large"."""
    from cflag_theory.kernels.engines.cuda.host import shared_bytes

    return SMALL if shared_bytes(plan) <= SHARED and plan.problem.dimension <= WIDEST else LARGE


def run(plan: Plan, out: Outputs, *, layout: str | None = None, library: Any = None) -> None:
    """Run all replicas into `out` on the GPU, as many at a time as its memory holds.

    Parameters
    ----------
    plan : Plan
        Of a run that `require_plain` lets pass.
    out : Outputs
        Of the same plan; the columns of "cheap" diagnostics, or the end alone.
    layout : {"small", "large"}, optional
        Which kernels; by default those of `layout_of`.
    library : module or False, optional
        What computes matrix products in large problems: CuPy, or a module with NumPy's functions; False: the kernels.
        By default CuPy where it is installed and the problem is large enough.
    """
    require_plain(plan)
    from cflag_theory.kernels.engines.cuda import host
    from cflag_theory.kernels.engines.cuda.products import cupy

    sizes = host.sizes_of(plan)
    layout = layout or layout_of(plan)
    if library is None and layout == LARGE and plan.replicas * plan.problem.current.rows.size >= TOGETHER:
        library = cupy()
    data = host.upload(plan)
    written = {name: getattr(out, name) for name in host.Results._fields}
    per_replica = 8 * sum(sizes.values()) + sum(array[:1].nbytes for array in written.values())
    fitting = max(1, int(MEMORY_SHARE * host.free_bytes() // per_replica))
    together = min(plan.replicas, fitting, BLOCKS // plan.problem.clients)
    for first in range(0, plan.replicas, together):
        part = slice(first, min(first + together, plan.replicas))
        _run_part(plan, part, data, {name: array[part] for name, array in written.items()}, layout, library)


def _run_part(plan: Plan, part: slice, data: Any, written: dict[str, Any], layout: str, library: Any) -> None:
    """Run these replicas into their arrays; on return nothing of theirs is left on the GPU."""
    from cflag_theory.kernels.engines.cuda import host

    store = host.make_store(plan, part.stop - part.start, in_shared_memory=layout == SMALL)
    results = host.Results(**{name: host.put(array) for name, array in written.items()})
    with few_blocks():
        if layout == SMALL:
            _run_small(plan, plan.first_replica + part.start, data, store, results)
        else:
            _run_large(plan, plan.first_replica + part.start, data, store, results, library)
    for name, array in written.items():
        array[:] = getattr(results, name).copy_to_host()


@contextmanager
def few_blocks() -> Iterator[None]:
    """Without Numba's warning of few blocks: a run has as many as it has replicas and clients."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Grid size")
        yield


def _run_small(plan: Plan, first: int, data: Any, store: Any, results: Any) -> None:
    from cflag_theory.kernels.engines.cuda import host
    from cflag_theory.kernels.engines.cuda import team as cuda_team
    from cflag_theory.kernels.engines.cuda.small_problems import TEAMS, small_kernel

    threads = min(plan.problem.clients, TEAMS) * cuda_team.LANES
    kernel = small_kernel(host.type_of(plan))
    launch = kernel[len(store.arrived), threads, 0, host.shared_bytes(plan)]
    launch(host.device_numbers(plan), first, data, store, results)


def _run_large(plan: Plan, first: int, data: Any, store: Any, results: Any, library: Any) -> None:
    from cflag_theory.kernels.engines.cuda import host
    from cflag_theory.kernels.engines.cuda import large_problems as cuda_large
    from cflag_theory.kernels.engines.cuda.begin_round import FINISH, SLOPES, WHOLE
    from cflag_theory.kernels.engines.cuda.graph import repeat
    from cflag_theory.kernels.engines.cuda.products import Products
    from cflag_theory.kernels.engines.cuda.team import LANES

    n, number = host.device_numbers(plan), host.type_of(plan)
    blocks = len(store.arrived) * plan.problem.clients
    # Threads without a coordinate would wait in the sums of every local step.
    warps = max(4, -(-plan.problem.dimension // LANES))
    threads = min(cuda_large.THREADS, warps * LANES)
    itemsize = np.dtype(host.number_of(plan)).itemsize
    scratch = itemsize * cuda_large.SCRATCH
    vectors = scratch + itemsize * cuda_large.VECTORS * plan.problem.dimension
    shared = vectors if vectors <= SHARED else scratch

    def gradients(stage: int, stream: Any = 0) -> None:
        launch = cuda_large.gradients_kernel(number)[blocks, threads, stream, scratch]
        launch(n, first, stage, data, store, results)

    def steps(stream: Any = 0) -> None:
        cuda_large.steps_kernel(number)[blocks, threads, stream, shared](n, first, data, store, results)

    if not library:

        def round_(stream: Any) -> None:
            gradients(WHOLE, stream)
            steps(stream)

        repeat(round_, plan.rounds)
        gradients(WHOLE)
        return
    products = Products(library, plan, data, store)
    for t in range(plan.rounds + 1):
        measured = n.diagnostics > 0 or t == plan.rounds
        products.rows_times_x(measured)
        gradients(SLOPES)
        products.slopes_times_rows(measured)
        gradients(FINISH)
        if t < plan.rounds:
            steps()
