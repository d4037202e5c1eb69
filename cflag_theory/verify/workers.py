"""Worker processes."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

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


@contextmanager
def replaced_quietly() -> Iterator[None]:
    """Within this context loky replaces processes whose memory has grown without a warning.

    The warning comes in the thread that hands out the work. Where warnings are errors it ends that thread, and the
    caller never gets its results.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given", category=UserWarning)
        yield
