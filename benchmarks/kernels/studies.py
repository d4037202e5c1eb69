"""The two studies that people wait for: a rate study with long horizons, and a sweep of many small runs."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.kernels.costs import Cost
from benchmarks.measure import seconds_of

HORIZONS = tuple(2**power for power in range(4, 17))
REPLICAS = 64


def rate_study(*, largest: int = HORIZONS[-1], tell: Callable[[str], None] = lambda words: None) -> list[Cost]:
    """Wall time of a rate study on the default problem, on all cores.

    Parameters
    ----------
    largest : int
        The largest horizon; the goal is stated for the default.
    """
    from cflag_theory.kernels import default_memory, default_problem, simulate
    from cflag_theory.studies.rates.past_task import rate

    problem, memory = default_problem(), default_memory()
    for diagnostics in ("none", "cheap"):
        # What is compiled or loaded once is not the study's.
        simulate(
            problem, "c_flag", alpha=0.1, beta=1e-3, local_steps=2, rounds=2, memory=memory, diagnostics=diagnostics
        )
    horizons = tuple(filter(largest.__ge__, HORIZONS))
    start = time.perf_counter()
    rate(problem, memory, horizons=horizons, replicas=REPLICAS, progress=lambda T: tell(f"rate: T = {T}"))
    seconds = time.perf_counter() - start
    where = f"{len(horizons)} horizons to {horizons[-1]}, {REPLICAS} replicas, {os.cpu_count()} cores"
    limit = 60.0 if largest == HORIZONS[-1] else None
    return [Cost("rate study on the default problem", where, "s", (seconds,), limit)]


FILE = """
[problem]
name = "glm"
clients = 5
components = 20
dimension = 10

[memory]
kind = "uniform"
size = 5

[algorithm]
name = "c_flag"

[run]
alpha = 0.1
beta = [0.001, 0.002]
E = 10
T = [50, 100]
seed = {{first = 0, count = {seeds}}}
replicas = 8
"""


@contextmanager
def _timed_engine() -> Iterator[list[float]]:
    """Within it, the seconds that every call of the compiled engine takes are noted."""
    from cflag_theory.kernels.engines.cpu import run as cpu

    run, noted = cpu.run, []

    def timed(*arguments: object, **options: object) -> None:
        start = time.perf_counter()
        run(*arguments, **options)  # type: ignore[arg-type]
        noted.append(time.perf_counter() - start)

    cpu.run = timed
    try:
        yield noted
    finally:
        cpu.run = run


def sweep_study(*, seeds: int = 500, tell: Callable[[str], None] = lambda words: None) -> list[Cost]:
    """What a run costs in a sweep of small problems, all else included, over the time inside the compiled engine.

    In one process the same runs give both times; on all cores the engine's time is that of one process. Every sweep
    starts processes of its own: what a sweep of a few runs takes is a cost for itself, and not in that of a run.
    """
    from cflag_theory.verify import sweep

    with tempfile.TemporaryDirectory() as folder:

        def wall(name: str, seeds: int, jobs: int | None) -> float:
            file = Path(folder, f"{name}.toml")
            file.write_text(FILE.format(seeds=seeds), encoding="utf-8")
            return seconds_of(lambda: sweep(file, out=Path(folder, name), jobs=jobs))

        tell("sweep: one process")
        wall("warm", 2, 1)
        with _timed_engine() as inside:
            one = wall("one", seeds, 1)
        tell("sweep: all cores")
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        # The first start also brings libraries into memory.
        start = min(wall(f"start{k}", 2, None) for k in range(3))
        many = wall("many", seeds, None)
    engine, where = sum(inside), f"{4 * seeds} runs of 8 replicas"
    return [
        Cost("run in a sweep over its kernel, one process", where, "x", (one / engine,), 1.3),
        Cost(f"run in a sweep over its kernel, {cores} processes", where, "x", ((many - start) * cores / engine,), 1.3),
        Cost("a run in the kernel", where, "ms", (engine / (4 * seeds) * 1e3,)),
        Cost(f"a sweep of 8 runs that starts {cores} processes", "", "s", (start,)),
    ]
