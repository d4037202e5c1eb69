"""The compiled engine: plain runs in batches of replicas, runs of the CFL framework one replica after the other.

Every batch runs all its rounds on one thread. A replica touches nothing that another one writes; in the mode "bitwise"
it also sums in an order of its own, so that its numbers depend neither on the batch nor on threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np

from cflag_theory.kernels.engines.codegen.cache import default_threads
from cflag_theory.kernels.engines.codegen.stored import StoredLoop
from cflag_theory.kernels.engines.codegen.vector_loops import GROUP
from cflag_theory.kernels.engines.codes import FULL, numbers_of
from cflag_theory.kernels.engines.cpu.layout import LINE, Padded, padded_problem, rounded_up
from cflag_theory.kernels.engines.cpu.local_steps import Lanes
from cflag_theory.kernels.engines.cpu.rounds import Slots, run_replicas
from cflag_theory.kernels.engines.cpu.workspace import Workspace, new_lanes, new_workspace
from cflag_theory.kernels.engines.framework import rounds as framework_loop
from cflag_theory.kernels.numbers import Ints
from cflag_theory.kernels.plan import Outputs, Plan, slots
from cflag_theory.kernels.problems.problem import KEPT_BYTES
from cflag_theory.kernels.trace.trace import ROUND, STATE

Job = TypeVar("Job")

#: Bytes that the arrays of a batch may take: those of a core's own cache, or more where the rows come from far, so that
#: more replicas share what is read.
BATCH_BYTES, LARGE_BATCH_BYTES = 1 << 23, 1 << 26
#: Bytes of rows that a core's share of the cache of all cores may hold.
SHARED_BYTES = 1 << 23
#: Replicas of a batch at most.
BATCH = 64
#: Bytes of the nearest cache that a group of lanes may take.
LANE_BYTES = 1 << 14

#: Numbers of rows that the rounds of a run read in well under a second.
QUICK = 1 << 28
_latest: dict[tuple[str, str, bool], Padded] = {}


def run(plan: Plan, out: Outputs, *, rotate: bool = True, batch: int | None = None) -> None:
    """Run all replicas into `out`, on as many threads as Numba would use unless the plan says otherwise.

    `rotate` allows coordinates in which a separable problem is elementwise, and `batch` sets the replicas of a batch.
    """
    threads = min(plan.threads or default_threads(), plan.replicas)
    stop = np.zeros(1, dtype=np.int64)
    numbers = plan.problem.past.rows.size + plan.problem.current.rows.size
    quick = plan.replicas * plan.rounds * numbers < QUICK
    if plan.framework is not None:
        runner = framework_loop.replica_runner(plan, plan.framework, out, stop)
        spread(threads, runner, iter(range(plan.replicas)), stop, quick=quick)
        return
    padded = _padded(plan, rotate)
    vector = len(padded.point) * padded.point.itemsize
    # Errors are summed over clients and steps: in their order, whatever the batch, only if no lane waits for another.
    group = 1 if plan.diagnostics > 1 else min(GROUP, max(1, LANE_BYTES // (2 * vector)))
    lanes = LINE // padded.point.itemsize
    bits = lanes.bit_length() - 1 if plan.together and len(padded.basis) == 0 else 0
    size = batch or _batch_size(plan, vector, threads, 1 << bits)
    detailed = numbers_of(plan, bits=bits, single=padded.single)
    usual = detailed._replace(exact_errors=False)
    state, per_round = slots(plan)
    written = Slots(
        state=out.state,
        per_round=out.per_round,
        Lambda=out.Lambda,
        end=out.end,
        iterates=out.iterates,
        status=out.status,
        rounds_done=out.rounds_done,
        state_slots=np.array([tuple(STATE).index(name) for name in state], dtype=np.int64),
        round_slots=np.array([tuple(ROUND).index(name) for name in per_round], dtype=np.int64),
        stop=stop,
    )

    def room(first: int) -> tuple[int, Workspace, Lanes]:
        R = min(size, plan.replicas - first)
        lanes = new_lanes(detailed, padded, R, R if usual.estimator == FULL else group)
        return first, new_workspace(usual, padded, R), lanes

    def one(batch: tuple[int, Workspace, Lanes]) -> None:
        first, work, lanes = batch
        run_replicas(usual, detailed, padded, first, group, work, lanes, written)

    batches = range(0, plan.replicas, size)
    spread(min(threads, len(batches)), one, map(room, batches), stop, quick=quick)


def is_kept(*, plain: bool) -> bool:
    """Whether the loop of plain runs, or of those of the CFL framework, was compiled before and is on disk."""
    loop: Any = run_replicas if plain else framework_loop.run_replica
    return isinstance(loop._cache, StoredLoop) and loop._cache.is_kept()


def _padded(plan: Plan, rotate: bool) -> Padded:
    """The plan's problem, padded; kept for the next run of a sweep if it is small and its arrays hold the same."""
    key = (plan.digest, plan.dtype, rotate)
    padded = _latest.get(key)
    if padded is None:
        padded = padded_problem(plan.problem, plan.dtype, rotate=rotate)
        if padded.current.rows.nbytes + padded.past.rows.nbytes <= KEPT_BYTES:
            _latest.clear()
            _latest[key] = padded
    return padded


def spread(threads: int, one: Callable[[Job], None], jobs: Iterator[Job], stop: Ints, *, quick: bool) -> None:
    """All jobs; the calling thread takes part in a run that is `quick`, which cannot be interrupted.

    It makes each thread's first job: threads that wait for the interpreter take several times as long.
    """

    def work(first: Iterable[Job]) -> None:
        for job in chain(first, jobs):
            one(job)

    if quick and threads == 1:
        work(())
        return
    with ThreadPoolExecutor(threads) as pool:
        running = {pool.submit(work, [*islice(jobs, 1)]) for _ in range(threads - quick)}
        try:
            if quick:
                work(())
            while running:
                # With an end to it, because an interrupt does not end it where a library has set its signals so.
                done, running = wait(running, timeout=0.2, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
        except BaseException:
            stop[0] = 1
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _batch_size(plan: Plan, vector: int, threads: int, lanes: int) -> int:
    """Replicas of a batch: whole panels of lanes, within bounds, and about as many batches on every thread."""
    current = plan.problem.current
    # A vector of every client and two numbers of every row, besides a few vectors.
    each = vector * (plan.problem.clients + 16) + 16 * len(current.rows)
    rows = vector * len(current.rows)
    room = BATCH_BYTES if rows <= SHARED_BYTES else LARGE_BATCH_BYTES
    most = max(lanes, min(BATCH, room // each // lanes * lanes))
    rounds_of_threads = -(-plan.replicas // (threads * most))
    return rounded_up(-(-plan.replicas // (threads * rounds_of_threads)), lanes)
