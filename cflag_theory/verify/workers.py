"""Worker processes."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

Result = TypeVar("Result")

#: Seconds between two looks at whether the parent lives.
WATCH = 0.5


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
    function: Callable[..., Result], calls: Iterable[tuple[Any, ...]], jobs: int | None = None
) -> Iterator[Result]:
    """What a function returns for each call, in order; processes share the calls, from now on.

    Parameters
    ----------
    function : callable
        Of a module, as are its arguments and results: they go through pickle.
    calls : iterable of tuple
        Arguments.
    jobs : int, optional
        Processes; by default all usable cores.
    """
    wanted = list(calls)
    # joblib takes 0.1 s to import, and what is kept needs no process.
    workers = min(len(wanted), jobs or _cores()) if len(wanted) > 1 else 1
    if workers < 2:
        return (function(*arguments) for arguments in wanted)
    found = _started(function, wanted, workers)
    next(found)
    return found


def _cores() -> int:
    from joblib import cpu_count

    cores: int = cpu_count()
    return cores


def _started(function: Callable[..., Any], wanted: Sequence[tuple[Any, ...]], workers: int) -> Iterator[Any]:
    """None when the processes have begun, then the results."""
    with replaced_quietly():
        from joblib import Parallel, delayed

        # One call at a time, since some take a hundred times as long as others.
        parallel = Parallel(n_jobs=workers, return_as="generator", batch_size=1)
        found = parallel(delayed(_watched)(os.getpid(), function, *arguments) for arguments in wanted)
        yield None
        yield from found


def _watched(parent: int, function: Callable[..., Result], *arguments: Any) -> Result:
    end_with(parent)
    return function(*arguments)


@contextmanager
def replaced_quietly() -> Iterator[None]:
    """Within this context loky replaces processes whose memory has grown without a warning.

    The warning comes in the thread that hands out the work. Where warnings are errors it ends that thread, and the
    caller never gets its results.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given", category=UserWarning)
        yield
