"""Running what a user wrote: errors become one sentence with file and line, and nothing runs forever."""

from __future__ import annotations

import gc
import linecache
import signal
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import cflag_theory
from cflag_theory.errors import CflagError, InvalidInput
from cflag_theory.falsify.search.exact_numbers import Undecided
from cflag_theory.falsify.vector_terms.continuing import NoMeaning
from cflag_theory.outside.processes import words_of

_WEAK = (weakref.WeakSet.__init__.__code__.co_filename, weakref.WeakKeyDictionary.__init__.__code__.co_filename)
#: Where a block is entered and left: what is raised there would leave the limit in force. It rings again later.
_ENTERING = {__file__, contextmanager.__code__.co_filename}
_PACKAGE = str(Path(cflag_theory.__file__).parent)


class TimeUp(BaseException):
    """A time limit ran out. Not an Exception, so that `except Exception` in a user's loop does not swallow it."""

    def __init__(self, place: str) -> None:
        super().__init__(place)
        self.place = place


class TookTooLong(InvalidInput):
    """An evaluation ran out of its time: fix the loop that the message names, or use smaller sizes."""


class OutOfTime(TookTooLong):
    """Time ran out, and not in a loop of the user's own: allow more with --seconds."""


def _line(file: str, line: int | None) -> str:
    # Between two lines of its code a frame has no number.
    text = linecache.getline(file, line or 0).strip()
    return f"{file}, line {line or '?'}" + (f" ({text})" if text else "")


def _where(frame: FrameType | None, files: tuple[str, ...]) -> str:
    """Where a user's file stands in a stack, else the innermost line outside of the package."""
    lines = [(one.f_code.co_filename, number) for one, number in traceback.walk_stack(frame)]
    mine = [at for at in lines if at[0] in files] or [at for at in lines if not at[0].startswith((_PACKAGE, "<"))]
    return _line(*(mine or lines)[0])


class Told(NamedTuple):
    """Where an error of another process was raised, and its words."""

    where: str
    words: str


def where_raised(error: BaseException, files: tuple[str, ...]) -> str:
    """The line of a user's file at which it was raised, else the innermost one outside of the package."""
    if (told := getattr(error, "told", None)) is not None:
        return str(told.where)
    lines = [(one.f_code.co_filename, number) for one, number in traceback.walk_tb(error.__traceback__)]
    mine = [at for at in lines if at[0] in files] or [at for at in lines if not at[0].startswith((_PACKAGE, "<"))]
    return _line(*(mine or lines)[-1])


@contextmanager
def time_limit(seconds: float, files: tuple[str, ...] = ()) -> Iterator[None]:
    """Raise `TimeUp` inside of the block after so many seconds.

    It rests on the system's alarm clock, which only the main thread of POSIX systems has; elsewhere nothing is limited.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    live, rings, trace_before = True, 0, sys.gettrace()
    start = time.monotonic()

    def ring(number: int, frame: FrameType | None) -> None:
        nonlocal rings
        if not live or _is_lost_in(frame) or (frame and frame.f_code.co_filename in _ENTERING):
            return
        rings += 1
        up = TimeUp(_where(frame, files))
        if rings > 1:
            _raise_at_next_line(frame, up)
        raise up

    before = signal.signal(signal.SIGALRM, ring)
    outer, interval = signal.getitimer(signal.ITIMER_REAL)
    try:
        # It rings again, though not while it is being answered, so that a loop around a bare except is left too, and
        # `finally` of a user cannot outlast it.
        signal.setitimer(signal.ITIMER_REAL, seconds, min(max(seconds, 0.05), 1.0))
        yield
    finally:
        try:
            live = False
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            if rings > 1:
                sys.settrace(trace_before)
            if outer:
                # The limit of a file that calls falsify itself runs on.
                signal.setitimer(signal.ITIMER_REAL, max(outer - (time.monotonic() - start), 0.001), interval)


def _is_lost_in(frame: FrameType | None) -> bool:
    """Whether Python reports and drops what is raised there: in callbacks of the collector, in finalizers, in what
    logging does at a fork, where collections of weak references forget what is gone, and where z3 makes what its
    finalizer needs. Or whether it makes an error of its own of it: where ctypes converts arguments."""
    dropping = {getattr(callback, "__code__", None) for callback in gc.callbacks} | {weakref.finalize.__call__.__code__}
    return any(
        code in dropping
        or code.co_name in ("__del__", "from_param", "_acquireLock", "_releaseLock")
        or (code.co_name == "__init__" and code.co_filename.endswith("z3.py"))
        or (code.co_name in ("_remove", "remove") and code.co_filename in _WEAK)
        for code in (one.f_code for one, _ in traceback.walk_stack(frame))
    )


def _raise_at_next_line(frame: FrameType | None, up: TimeUp) -> None:
    """Raise once more where a user's `except` has caught it: at the next line of these frames, which is in there."""

    def trace(one: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            raise up
        return None

    for one, _ in traceback.walk_stack(frame):
        if not one.f_code.co_filename.startswith((_PACKAGE, "<")):
            one.f_trace = trace
    sys.settrace(trace)


def _is_users(frame: FrameType | None, files: tuple[str, ...]) -> bool:
    """Whether a user's own code runs, or a library for it: not this package for it, and not an import."""
    for one, _ in traceback.walk_stack(frame):
        file = one.f_code.co_filename
        if file in files:
            return True
        if file.startswith((_PACKAGE, "<frozen importlib")):
            return False
    return True


#: What a call may take by the clock, times its limit in CPU time: it may wait for something that never comes.
WAIT = 30


@contextmanager
def cpu_limit(seconds: float, files: tuple[str, ...]) -> Iterator[None]:
    """Raise `TimeUp` inside of the block after so many seconds of CPU time of a user's own code.

    Imports and this package's own functions do not count. Where it waits instead, the clock ends it later.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    spent, last = 0.0, time.process_time()

    def tick(number: int, frame: FrameType | None) -> None:
        nonlocal spent, last
        passed, last = time.process_time() - last, time.process_time()
        spent += passed if _is_users(frame, files) else 0.0
        if spent >= seconds and not _is_lost_in(frame):
            up = TimeUp(_where(frame, files))
            if spent >= 2 * seconds:
                _raise_at_next_line(frame, up)
            raise up

    before, trace_before = signal.signal(signal.SIGPROF, tick), sys.gettrace()
    signal.setitimer(signal.ITIMER_PROF, seconds / 10, seconds / 10)
    try:
        with time_limit(WAIT * seconds, files):
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        if spent >= 2 * seconds:
            sys.settrace(trace_before)


@contextmanager
def no_limit(seconds: float, files: tuple[str, ...] = ()) -> Iterator[None]:
    """For what another process limits."""
    yield


#: Seconds that a user's function may need without a loop that does not end.
_LOOP = 0.1

#: How `guarded` limits a block: by the clock, or by the user's own CPU time.
Limit = Callable[[float, tuple[str, ...]], AbstractContextManager[None]]


@contextmanager
def guarded(
    seconds: float, files: tuple[str, ...], what: str, at: Callable[[], str] = str, *, limit: Limit = time_limit
) -> Iterator[None]:
    """Errors of a user's code inside of the block as `InvalidInput` with file and line; `at` tells the case."""

    def place() -> str:
        return f" at {case}" if (case := at()) else ""

    try:
        with limit(seconds, files):
            yield
    except (Undecided, NoMeaning):
        raise
    except TimeUp as up:
        took = f"{what} took more than {seconds:g} s{place()}"
        mine = tuple(f"{file}, line" for file in files if not file.startswith(_PACKAGE))
        if seconds < _LOOP or not up.place.startswith(mine):
            raise OutOfTime(f"{took}: allow more with --seconds") from None
        raise TookTooLong(
            f"{up.place}: {took}: fix the loop, use smaller sizes, or allow more with --seconds"
        ) from None
    except CflagError as error:
        where = where_raised(error, files)
        known = str(error) if where.startswith(_PACKAGE) or where.split(",")[0] in str(error) else f"{where}: {error}"
        raise InvalidInput(f"{known} ({what}{place()})" if place() else known) from None
    except KeyboardInterrupt:
        raise
    # Also what a user derives from BaseException.
    except BaseException as error:
        told = getattr(error, "told", None)
        words = words_of(error) if told is None else told.words
        remedy = "fix it, or exclude the case by a range or a hypothesis" if place() else "fix it"
        raise InvalidInput(f"{where_raised(error, files)}: {what} raised {words}{place()}: {remedy}") from None
