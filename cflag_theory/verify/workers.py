"""Processes that work for this one."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def replaced_quietly() -> Iterator[None]:
    """Within this context loky replaces processes whose memory has grown without a warning.

    The warning comes in the thread that hands out the work. Where warnings are errors it ends that thread, and the
    caller never gets its results.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given", category=UserWarning)
        yield
