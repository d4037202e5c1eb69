"""Sweeps: a grid of runs from one file, on all cores or a cluster, resumed where it stopped."""

from __future__ import annotations

import logging
import signal
import threading
import time
from asyncio import CancelledError
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from joblib.externals.loky.process_executor import TerminatedWorkerError

from cflag_theory.errors import CflagError, InvalidInput, MissingExtra
from cflag_theory.kernels.engines.codegen.cache import versions
from cflag_theory.public import Count, one_of, taking
from cflag_theory.studies.sweeps.check import Chunk, Plan, plan_sweep
from cflag_theory.studies.sweeps.file import read_sweep_file
from cflag_theory.studies.sweeps.grid import Grid
from cflag_theory.studies.sweeps.run import run_chunk
from cflag_theory.studies.sweeps.store import Store, require_pyarrow
from cflag_theory.verify.workers import how_many, processes, replaced_quietly

BACKENDS = ("loky", "dask")
_LOG = logging.getLogger("cflag_theory")

#: A chunk and its columns.
_Result = tuple[Chunk, dict[str, Any]]


@dataclass(frozen=True)
class Summary:
    """What a call of `sweep` did."""

    #: Where the results are, for `read_results`.
    folder: str
    #: Of the whole sweep.
    runs: int
    rows: int
    #: Runs that were there already.
    before: int
    #: For the others.
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        return asdict(self)


@taking
def sweep(
    file: Path | str,
    *,
    out: Path | str | None = None,
    jobs: Count | None = None,
    backend: Annotated[str, one_of(*BACKENDS)] = "loky",
    scheduler: str | None = None,
    progress: Callable[[float, str], None] | None = None,
    planned: Callable[[Plan], None] | None = None,
) -> Summary:
    """Run a grid of runs and keep one row a run and replica; `sweeps.file` shows what a file may say.

    Every run is checked before the first one starts. Results go to a folder of Parquet files, each written whole or
    not at all; the same call continues a sweep that was stopped, and the rows are then those of an unbroken one. In
    mode "bitwise" they do not depend on jobs or backend.

    Parameters
    ----------
    file : path
        A TOML file.
    out : path, optional
        Folder of the results; beside the file and named after it without this.
    jobs : int, optional
        Processes, at most four for each core; all usable cores without it. A cluster uses all its workers.
    backend : {"loky", "dask"}
        Processes of this machine, or a Dask cluster, whose workers have the same version of this package.
    scheduler : str, optional
        Address of the Dask scheduler, such as tcp://10.0.0.1:8786.
    progress : callable, optional
        Called with a share of the work, from 0 to 1 in all, and words about what was done.
    planned : callable, optional
        Called with the checked plan before the first run.

    Returns
    -------
    Summary

    Raises
    ------
    DataError
        A file that is wrong, with the line; or a folder that holds another sweep or a damaged chunk.
    InvalidInput
        jobs below 1, an unknown backend, a scheduler that is missing or does not answer, or workers of other versions.
    MissingExtra
        pyarrow, or distributed for a cluster, is not installed.
    OutputError
        The folder cannot be written, or another sweep is writing to it.
    """
    if (backend == "dask") != (scheduler is not None):
        raise InvalidInput("a scheduler and backend='dask' belong together: give both or neither")
    require_pyarrow()
    read = read_sweep_file(file)
    plan = plan_sweep(read, progress=None if progress is None else _Checking(progress))
    if planned:
        planned(plan)
    folder = Path(out) if out is not None else default_folder(file)
    store = Store(folder.absolute(), plan, read.text)
    begun = time.monotonic()
    with store.lock():
        todo = store.missing()
        runs = sum(chunk.stop - chunk.start for chunk in todo)
        before, done = len(plan.grid) - runs, 0
        whole = sum(chunk.work for chunk in todo)
        with _workers(jobs, backend, scheduler) as (executor, count):
            # Few long chunks share the cores of this machine.
            threads = max(1, count // max(1, len(todo))) if backend == "loky" else 1
            work = partial(_one, plan.grid, plan.identity, threads)
            with closing(_results(executor, 2 * count, work, todo)) as results:
                for chunk, columns in results:
                    store.write(chunk, columns)
                    done += chunk.stop - chunk.start
                    if progress:
                        rate = done / (time.monotonic() - begun)
                        progress(chunk.work / whole, f"{before + done} of {len(plan.grid)} runs, {rate:.3g} a second")
    return Summary(str(folder), len(plan.grid), plan.rows, before, time.monotonic() - begun)


def default_folder(file: Path | str) -> Path:
    """Beside the file: study.toml has its results in study-results."""
    return Path(file).parent / f"{Path(file).stem}-results"


class _Checking:
    """Says how much of the grid has been checked, which is not a share of the work."""

    def __init__(self, progress: Callable[[float, str], None]) -> None:
        self._progress, self._seen = progress, 0.0
        self(0.0)

    def __call__(self, share: float) -> None:
        self._seen += share
        self._progress(0.0, f"{self._seen:.0%} of the runs checked")


@contextmanager
def _workers(jobs: int | None, backend: str, scheduler: str | None) -> Iterator[tuple[Executor | None, int]]:
    """What takes the chunks, this process itself if there is nothing, and the number of its workers."""
    if backend == "loky":
        count = how_many(jobs)
        if count == 1:
            yield None, count
            return
        executor = processes(count)
        try:
            with replaced_quietly():
                yield executor, count
        except BaseException:
            # This ends queued work too: where a future is cancelled elsewhere, loky fails and leaves the processes
            # running.
            executor.shutdown(kill_workers=True)
            raise
        executor.shutdown()
        return
    try:
        import distributed
    except ImportError as error:
        raise MissingExtra(
            "a cluster needs dask and distributed, which are not installed: pip install 'cflag-theory[cluster]'"
        ) from error
    if not str(scheduler).startswith("tls://"):
        _LOG.warning(
            "cflag: the connection to %s is not encrypted, and whoever reaches it can run code: use tls:// unless the "
            "network is your own",
            scheduler,
        )
    connect: Any = distributed.Client
    try:
        client = connect(scheduler, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"no Dask scheduler answers at {scheduler}: check the address and that it runs") from error
    with client:
        threads = sum(client.nthreads().values())
        if not threads:
            raise InvalidInput(f"the Dask scheduler at {scheduler} has no workers: start some")
        _require_same_versions(client)
        cluster = client.get_executor(pure=False)
        try:
            yield cluster, threads
        finally:
            cluster.shutdown(wait=False)


def _require_same_versions(client: Any) -> None:
    """Refuse workers with other kernels or libraries, whose rows could differ in their last bits."""
    mine = versions()
    try:
        found = client.run(versions)
    except Exception as error:
        raise InvalidInput(
            f"a Dask worker cannot run this package ({error}): install cflag-theory {mine['cflag_theory']} there"
        ) from error
    for worker, theirs in found.items():
        for name, value in mine.items():
            if theirs[name] != value:
                raise InvalidInput(
                    f"the Dask worker {worker} has {name} {theirs[name]} and this is {value}: install the same there"
                )


def _results(
    executor: Executor | None, at_once: int, work: Callable[[Chunk], _Result], todo: Sequence[Chunk]
) -> Generator[_Result, None, None]:
    """The chunks as they are done; no more than `at_once` are on their way, however slow the taker."""
    if executor is None:
        yield from map(work, todo)
        return
    waiting = iter(todo)
    on_their_way: set[Future[_Result]] = set()
    try:
        with _ignoring_interrupts():
            on_their_way |= {executor.submit(work, chunk) for chunk in islice(waiting, at_once)}
        while on_their_way:
            # With a timeout, because an interrupt does not end the wait on every system.
            done, on_their_way = wait(on_their_way, timeout=0.2, return_when=FIRST_COMPLETED)
            on_their_way |= {executor.submit(work, chunk) for chunk in islice(waiting, len(done))}
            # If one failed, results that arrived with it are kept first.
            for future in sorted(done, key=lambda one: one.cancelled() or one.exception() is not None):
                yield future.result()
    except TerminatedWorkerError as error:
        raise CflagError(
            "a worker process was killed, perhaps for lack of memory: give the same command again with fewer --jobs"
        ) from error
    except (Exception, CancelledError) as error:
        if type(error).__module__.partition(".")[0] in ("distributed", "concurrent", "asyncio"):
            raise CflagError(
                f"the Dask cluster failed ({type(error).__name__}): give the same command again when it runs; complete "
                "chunks are kept"
            ) from error
        raise


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """Processes that start inside ignore Ctrl-C, which only this process handles."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _one(grid: Grid, identity: str, threads: int, chunk: Chunk) -> _Result:
    return chunk, run_chunk(grid, identity, chunk.start, chunk.stop, threads)
