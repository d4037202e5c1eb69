"""The CUDA kernels on a case: whether they agree with the compiled loop, and how long they take beside others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.cases import SEED, Array, Case, World
from benchmarks.kernels.roofline import work
from benchmarks.measure import Timing, interleaved
from benchmarks.peers.jax_peer import Jitted
from benchmarks.peers.ours import Ours
from cflag_theory.kernels import algorithm
from cflag_theory.kernels.engines.codegen.cache import default_threads
from cflag_theory.kernels.engines.cuda import run as cuda
from cflag_theory.kernels.plan import CUDA, Outputs, Plan, empty_outputs

#: Largest relative distance of x_T from the compiled loop's, by number type.
TOLERANCES = {"float64": 1e-10, "float32": 1e-3}
#: Rounds after which x_T is compared, fewer where the CPU needs long for one.
ROUNDS, FLOPS = 100, 1e11
COMPILED, JAX = "CPU, all cores", "JAX on the GPU"


class OnGpu:
    """Our kernels: which layout, which library's matrix products, which numbers."""

    def __init__(
        self, world: World, *, layout: str | None = None, products: Any = None, dtype: str = "float64"
    ) -> None:
        self.case, self.world, self.replicas = world.case, world, world.case.R
        self.layout, self.products, self.dtype = layout, products, dtype
        named = f"products of {products.__name__}" if products else None
        self.name = "GPU " + ", ".join(word for word in (layout, named, dtype) if word)

    def plan(self, rounds: int, *, iterates: bool = False) -> Plan:
        """The case as `simulate` hands it to its engine."""
        world = self.world
        return Plan(
            problem=world.problem,
            row=algorithm("c_flag"),
            memory=world.memory,
            alpha=world.alpha,
            beta=world.beta,
            proximal=0.0,
            server_rate=1.0,
            scale=0.0,
            L=world.L,
            memory_share=self.case.kept / (self.case.kept + self.case.n),
            local_steps=self.case.E,
            rounds=rounds,
            replicas=self.case.R,
            seed=SEED,
            diagnostics=0,
            dtype=self.dtype,
            iterates=iterates,
            engine=CUDA,
        )

    def outputs(self, rounds: int, *, iterates: bool = False) -> Outputs:
        """A run from the upload of the problem to the download of the results."""
        plan = self.plan(rounds, iterates=iterates)
        out = empty_outputs(plan)
        cuda.run(plan, out, layout=self.layout, library=self.products)
        return out

    def run(self, rounds: int) -> None:
        """A run whose iterates nobody keeps."""
        self.outputs(rounds)

    def end(self, rounds: int) -> Array:
        """x_T of all replicas, (R, d)."""
        last: Array = self.outputs(rounds, iterates=True).iterates[:, -1]
        return last


class JaxOnGpu(Jitted):
    """The peer of `jax_peer` in its faster form, on the first GPU that JAX sees."""

    def __init__(self, world: World) -> None:
        import jax

        super().__init__(world, masked=True, gathered=True)
        self.name = JAX
        # A program of JAX runs where its arrays are.
        self.put = partial(jax.device_put, device=jax.devices("gpu")[0])
        self.data, self.memory = tuple(map(self.put, self.data)), tuple(map(self.put, self.memory))

    def end(self, rounds: int) -> Array:
        """x_T of all replicas, (R, d)."""
        return self.run(rounds)


def jax_sees_a_gpu() -> bool:
    """Whether JAX is installed with its plugin for CUDA."""
    if find_spec("jax") is None:
        return False
    import jax

    try:
        return len(jax.devices("gpu")) > 0
    except RuntimeError:
        return False


def our_ways(world: World) -> Iterator[OnGpu]:
    """The kernels in every way in which they can run the case."""
    from cflag_theory.kernels.engines.cuda.products import cupy

    if cuda.layout_of(OnGpu(world).plan(1)) == cuda.SMALL:
        yield OnGpu(world, layout=cuda.SMALL)
    yield OnGpu(world, layout=cuda.LARGE, products=False)
    if cupy() is not None:
        yield OnGpu(world, layout=cuda.LARGE, products=cupy())
    yield OnGpu(world, dtype="float32")


@dataclass(frozen=True)
class Row:
    """A contestant on a case: its distance from the compiled loop, its time, and what it makes of the machine.

    Attributes
    ----------
    error, allowed : float
        Largest difference of x_T over the largest entry, and what is allowed; after `rounds` rounds.
    flop_rate, byte_rate : float
        Of all replicas, by the formulas of `roofline.work`, a second.
    """

    case: str
    who: str
    rounds: int
    error: float
    allowed: float
    timing: Timing | None = None
    flop_rate: float = 0.0
    byte_rate: float = 0.0

    @property
    def agrees(self) -> bool:
        """Whether x_T is as near as it must be; NaN is not."""
        return self.error <= self.allowed


def rounds_to_compare(case: Case) -> int:
    """So many rounds that the CPU does them in a few seconds, and at most 100."""
    return max(2, min(ROUNDS, int(FLOPS / work(case).flops)))


def contest(
    case: Case, *, repeats: int, seconds: float, tell: Callable[[str], None], timed: bool = True
) -> tuple[Row, ...]:
    """Compare and time all contestants of a case; those that disagree are timed too, and their rows say so."""
    world = World(case)
    rounds = rounds_to_compare(case)
    tell(f"case {case.name}: x after {rounds} rounds on the CPU")
    compiled = Ours(world, threads=default_threads(), mode="fast")
    compiled.name = COMPILED
    expected = Ours(world, threads=default_threads()).end(rounds)
    contestants: list[Any] = [*our_ways(world), compiled]
    if jax_sees_a_gpu():
        contestants.append(JaxOnGpu(world))
    rows = []
    for contestant in contestants:
        tell(f"case {case.name}: x after {rounds} rounds, {contestant.name}")
        error = float(np.abs(contestant.end(rounds) - expected).max() / np.abs(expected).max())
        allowed = TOLERANCES[getattr(contestant, "dtype", "float64")]
        rows.append(Row(case.name, contestant.name, rounds, error, allowed))
    if not timed:
        return tuple(rows)
    tell(f"case {case.name}: {len(contestants)} contestants timed")
    timings = interleaved(contestants, repeats=repeats, seconds=seconds)
    # A command that is stopped has said what it found.
    for row, timing in zip(rows, timings, strict=True):
        tell(f"case {case.name}: {row.who}: {timing.median * 1e6:.3g} us a round of one replica")
    return tuple(_with_time(case, row, timing) for row, timing in zip(rows, timings, strict=True))


def _with_time(case: Case, row: Row, timing: Timing) -> Row:
    needs = work(case, size=4 if row.allowed == TOLERANCES["float32"] else 8)
    a_round = timing.median * case.R
    return Row(
        row.case, row.who, row.rounds, row.error, row.allowed, timing, needs.flops / a_round, needs.bytes / a_round
    )


def _rate(amount: float, action: Callable[[], Any], wait: Callable[[], Any], repeats: int = 10) -> float:
    """Units a second of `amount` units an action; the first calls are left out."""
    action()
    wait()
    start = time.perf_counter()
    for _ in range(repeats):
        action()
    wait()
    return repeats * amount / (time.perf_counter() - start)


def ceilings(*, copied: int = 1 << 30, size: int = 4096) -> dict[str, float]:
    """Bytes a second of a copy on the device, read and written; flops a second of square matrix products.

    The products are those of CuPy, or of JAX where it has a GPU; without either there is no such ceiling.
    """
    import numba.cuda

    device: Any = numba.cuda
    a, b = (device.to_device(np.ones(copied // 8)) for _ in range(2))
    rates = {"copy": _rate(2 * copied, partial(b.copy_to_device, a), device.synchronize)}
    del a, b
    random = np.random.default_rng(0)
    for name, dtype in (("dgemm", np.float64), ("sgemm", np.float32)):
        matrix = random.standard_normal((size, size)).astype(dtype)
        if find_spec("cupy") is not None:
            library = import_module("cupy")
            left = library.asarray(matrix)
            product = partial(library.matmul, left, left, out=library.empty_like(left))
            rates[name] = _rate(2 * size**3, product, library.cuda.Stream.null.synchronize)
        elif jax_sees_a_gpu():
            rates[name] = _rate(2 * size**3, *_jax_product(matrix))
    return rates


def _jax_product(matrix: Array) -> tuple[Callable[[], Any], Callable[[], Any]]:
    import jax

    settings: Any = jax.config
    settings.update("jax_enable_x64", True)
    left = jax.device_put(matrix, jax.devices("gpu")[0])
    # Single numbers would otherwise be rounded to ten bits.
    product = jax.jit(partial(jax.numpy.matmul, precision="highest"))
    last: list[Any] = []

    def multiply() -> None:
        last[:] = [product(left, left)]

    return multiply, lambda: last[0].block_until_ready()
