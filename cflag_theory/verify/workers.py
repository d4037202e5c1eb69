"""Processes that work for this one."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def replaced_quietly() -> Iterator[None]:
    """Inside, loky replaces processes whose memory has grown, and says nothing of it.

    It does so by a warning in the thread that hands out the work. Where warnings are errors that thread ends, and
    whoever waits for the work waits for ever.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given", category=UserWarning)
        yield
