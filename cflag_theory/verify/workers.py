"""Worker processes."""

from __future__ import annotations

import atexit
import gc
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import cache
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

Result = TypeVar("Result")

#: Seconds between two looks at whether the parent lives.
WATCH = 0.5
#: Seconds after which a process without work ends.
IDLE = 60


@cache
def end_with(parent: int) -> None:
    """From now on this process ends when its parent does, however that ends: nobody would take its results."""
    if hasattr(os, "getppid") and os.getpid() != parent:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(WATCH)
    os._exit(1)


def across(
    function: Callable[..., Result],
    calls: Iterable[tuple[Any, ...]],
    jobs: int | None = None,
    *,
    keys: Sequence[Any] = (),
    done: Callable[[int], None] = lambda place: None,
) -> Iterator[Result]:
    """What a function returns for each call, in order; processes share the calls, from now on. The function is of a
    module, as are its arguments and results: they go through pickle.

    `keys` say what each call is about. A process keeps what it has computed: so later calls about the same go to the
    same process, if that is not the last one at work, and neighbours to one process. `done` is told the place of each
    call that has ended, while results are waited for, in no order.
    """
    wanted = list(calls)
    # joblib takes 0.1 s to import, and what is kept needs no process.
    size = how_many(jobs) if len(wanted) > 1 else 1
    if size < 2:
        return _here(function, wanted, done)
    if size not in _crews:
        _crews[size] = _Crew(size)
    return _Work(_crews[size], function, wanted, [*keys] or [object() for _ in wanted]).results(done)


def _here(function: Callable[..., Result], wanted: Sequence[tuple[Any, ...]], done: Any) -> Iterator[Result]:
    for place, arguments in enumerate(wanted):
        result = function(*arguments)
        done(place)
        yield result


def how_many(jobs: int | None) -> int:
    """As many processes as are asked for, or as there are usable cores; at most four for each core that there is."""
    if jobs is not None:
        return min(jobs, 4 * (os.cpu_count() or 1))
    from joblib import cpu_count

    return int(cpu_count())


class _Crew:
    """So many processes, each of which takes one call after the other, and which of them has worked on a key."""

    def __init__(self, size: int) -> None:
        self.processes = [processes(1, NUMBA_NUM_THREADS="1") for _ in range(size)]
        self.home: dict[Any, int] = {}
        # Before loky would wait for what nobody takes any more.
        atexit.register(self.end)

    def end(self) -> None:
        """End the processes, whatever they are doing; the next calls begin with others."""
        for size in [size for size, crew in _crews.items() if crew is self]:
            del _crews[size]
        for one in self.processes:
            one.shutdown(kill_workers=True)


_crews: dict[int, _Crew] = {}


class _Work:
    """Calls that a crew shares; a process that ends one takes the next that is best for it."""

    def __init__(self, crew: _Crew, function: Any, calls: Sequence[tuple[Any, ...]], keys: Sequence[Any]) -> None:
        self.crew, self.function, self.calls, self.keys = crew, function, calls, keys
        self.left = list(range(len(calls)))
        self.lock = threading.Lock()
        self.ended: SimpleQueue[tuple[int, Any]] = SimpleQueue()
        # A second call each waits in the process, which so need not wait for this one.
        for worker in [*range(len(crew.processes))] * 2:
            self._feed(worker)

    def _feed(self, worker: int) -> None:
        with self.lock:
            if not self.left:
                return
            place = self.left.pop(self._best(worker))
            self.crew.home.setdefault(self.keys[place], worker)
        try:
            future = self.crew.processes[worker].submit(_frozen, self.function, *self.calls[place])
        except RuntimeError as error:
            # The process has died, which the calls that it had say better.
            future = Future()
            future.set_exception(error)
        future.add_done_callback(lambda ended: self._take(worker, place, ended))

    def _take(self, worker: int, place: int, future: Any) -> None:
        self.ended.put((place, future))
        if future.cancelled() or future.exception() is not None:
            self._drop()
        self._feed(worker)

    def _drop(self) -> None:
        with self.lock:
            self.left.clear()

    def _best(self, worker: int) -> int:
        """Where it is left: what the process has worked on; else the next of its share that is new; else the last."""
        homes = [self.crew.home.get(self.keys[place]) for place in self.left]
        if worker in homes:
            return homes.index(worker)
        new = [at for at, home in enumerate(homes) if home is None] or [*range(len(homes))]
        first = worker * len(self.calls) // len(self.crew.processes)
        return next((at for at in new if homes[at] is None and self.left[at] >= first), new[-1])

    def results(self, done: Callable[[int], None]) -> Iterator[Any]:
        ready: dict[int, Any] = {}
        waiting = len(self.calls)
        try:
            with replaced_quietly():
                for place in range(len(self.calls)):
                    while place not in ready:
                        ended, future = self.ended.get()
                        ready[ended] = future.result()
                        waiting -= 1
                        done(ended)
                    yield ready.pop(place)
        except BaseException as error:
            self._drop()
            # A process has died, or nobody waits for what is at work; a caller who took all leaves after the last.
            if waiting and (isinstance(error, RuntimeError) or not isinstance(error, Exception)):
                self.crew.end()
            raise


def _begin(parent: int, threshold: tuple[int, int, int]) -> None:
    gc.set_threshold(*threshold)
    end_with(parent)


def _frozen(function: Callable[..., Result], *arguments: Any) -> Result:
    """A call; without psutil loky collects garbage once a second, through all that is kept: leave that out."""
    result = function(*arguments)
    gc.freeze()
    return result


def processes(count: int, **environment: str) -> Any:
    """An executor with so many processes, of one thread each; its `shutdown` can end them in the midst of work."""
    from joblib.externals.loky import ProcessPoolExecutor

    class Processes(ProcessPoolExecutor):  # type: ignore[misc]
        def shutdown(self, wait: bool = True, kill_workers: bool = False) -> None:
            """End the processes; `kill_workers` leaves work undone.

            loky drops all work and then submits the queued ids once more, which fails: so the queue is emptied first.
            """
            if kill_workers:
                with suppress(Empty):
                    while True:
                        self._work_ids.get_nowait()
            super().shutdown(wait=wait, kill_workers=kill_workers)

    one_each = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    # Not loky's shared executor, which joblib would treat as one of its own. Idle processes end by themselves: if this
    # one is killed, nothing else ends them.
    return Processes(
        max_workers=count,
        env=one_each | environment,
        timeout=IDLE,
        initializer=_begin,
        initargs=(os.getpid(), gc.get_threshold()),
    )


@contextmanager
def replaced_quietly() -> Iterator[None]:
    """Within this context loky replaces processes whose memory has grown without a warning.

    The warning comes in the thread that hands out the work. Where warnings are errors it ends that thread, and the
    caller never gets its results.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given", category=UserWarning)
        yield
