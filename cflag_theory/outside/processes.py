"""Processes for what users write: they end with this one, have limits, and how they ended is said in words."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from contextlib import suppress
from pathlib import Path

from cflag_theory.sizes import free_memory

#: Tasks that a user may have for a file to start another: a file that forks without end stops there.
_TASKS = 4096
#: Seconds in which a process that was let go ends by itself.
_PATIENCE = 0.2
_HIGH = 200
#: What a user may change where one ended too soon.
REMEDY = "leave out what ends Python, and take less memory"
#: Whether such a process can be had.
POSSIBLE = hasattr(os, "fork") and hasattr(os, "setpgid")


def fork() -> int:
    """As `os.fork`; the child has its own group of processes, and is killed when this process ends."""
    for stream in (sys.stdout, sys.stderr):
        # What waits to be written would be written twice.
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    parent = os.getpid()
    with warnings.catch_warnings():
        # Python warns of threads, which the child does not have.
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process == 0:
        os.setpgid(0, 0)
        _end_with(parent)
        _limit()
    else:
        # Whoever comes first.
        with suppress(OSError):
            os.setpgid(process, process)
    return process


def kill(process: int) -> str:
    """End a process and all of its group, and how it had ended by itself, in words; "" if it had not."""
    code = None
    # Where another part of this process has waited for it, nobody knows how it ended.
    with suppress(ChildProcessError):
        code = waited(process, _PATIENCE)
        with suppress(OSError):
            os.killpg(process, signal.SIGKILL)
        if code is None:
            os.waitpid(process, 0)
    return "" if code is None else in_words(code)


def waited(process: int, seconds: float) -> int | None:
    """The exit code of a process that ends within so many seconds, minus the signal that ended it; else None."""
    until = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= until:
            return None
        time.sleep(0.001)


def in_words(code: int) -> str:
    """How a process ended: "ended with exit code 0"."""
    if code >= 0:
        return f"ended with exit code {code}"
    if code == -signal.SIGKILL:
        return "was killed"
    name = signal.Signals(-code).name if -code in {*signal.Signals} else f"signal {-code}"
    return f"was ended by {name}"


def high(descriptor: int) -> int:
    """Another descriptor for the same: a file that closes all small ones does not close it."""
    import fcntl

    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH)


def words_of(error: BaseException) -> str:
    """An error in words, also one that has none to give."""
    try:
        words = str(error)
    except BaseException:
        words = ""
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def _end_with(parent: int) -> None:
    """Linux kills this process when its parent ends; elsewhere a thread looks."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    except (OSError, AttributeError):
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    if os.getppid() != parent:
        os._exit(70)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(70)


def _limit() -> None:
    """Memory that is free, and a number of processes: what asks for more is refused it."""
    import resource

    free = free_memory()
    if free is not None and hasattr(resource, "RLIMIT_AS"):
        with suppress(OSError, ValueError, IndexError):
            taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
            _lower(resource.RLIMIT_AS, taken + free)
    if hasattr(resource, "RLIMIT_NPROC"):
        _lower(resource.RLIMIT_NPROC, _TASKS)
    _lower(resource.RLIMIT_CORE, 0)


def _lower(what: int, most: int) -> None:
    import resource

    soft, hard = resource.getrlimit(what)
    if soft == resource.RLIM_INFINITY or most < soft:
        resource.setrlimit(what, (most, hard))
