"""A command that comes to run a user's file divides: the child goes on, and the parent sees how it ends.

An exit, a crash or a kill in the middle is then a sentence and exit code 2, and never silence with code 0.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from cflag_theory.outside.processes import POSSIBLE, REMEDY, fork, high, in_words, kill, waited

#: Exit codes: bad input, an interrupt.
_MENDABLE, _INTERRUPTED = 2, 130
#: Seconds that a command may take to end after its last word: threads of a user's file may have no end.
_ENDING = 5.0

#: Says an error sentence; None where this process is not a command, and is not divided.
_say: Callable[[str], Any] | None = None
#: Where the child gives its last word.
_word: int | None = None
#: Others for standard output and error, and what Python writes on them by.
_streams: dict[int, int] = {}
_writers: tuple[Any, Any] | None = None
#: Users' files that have been run in this process.
_files: list[str] = []


def may_divide(say: Callable[[str], Any]) -> None:
    """This process is a command: `say` prints an error sentence."""
    global _say
    _say = say if POSSIBLE else None


def divide(file: str) -> None:
    """Called before a user's file is run: of a command, the child returns."""
    global _say, _word, _writers
    _files.append(file)
    say, _say = _say, None
    if say is None:
        return
    read, write = os.pipe()
    process = fork()
    if process:
        os.close(write)
        _see_to(process, read, file, say)
    os.close(read)
    _word = high(write)
    os.close(write)
    _streams.update({stream: high(stream) for stream in (1, 2)})
    _writers = sys.stdout, sys.stderr


def open_again() -> None:
    """Standard output and error are as they were, where a file has closed or replaced them."""
    if _writers is not None:
        sys.stdout, sys.stderr = _writers
    for stream, kept in _streams.items():
        try:
            os.fstat(stream)
        except OSError:
            os.dup2(kept, stream)


def finish(code: int) -> None:
    """The command's last word: all that it has to say is written."""
    if _word is not None:
        with suppress(OSError):
            os.write(_word, bytes([code]))


def users_line(error: BaseException) -> str | None:
    """The line of a user's file at which an error was raised, if that is where it was."""
    met = [(one.f_code.co_filename, line) for one, line in traceback.walk_tb(error.__traceback__)]
    return next((f"{file}, line {line}" for file, line in reversed(met) if file in _files), None)


def _see_to(process: int, read: int, file: str, say: Callable[[str], Any]) -> NoReturn:
    """In the parent: pass signals on, wait for the last word, leave with its code."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda got, _: os.kill(process, got))
    code, word = None, b""
    while not word and code is None:
        code = waited(process, 0.0)
        # The word lies there, if it was given, also where the process has ended.
        if select.select([read], [], [], 0.2 if code is None else 0.0)[0]:
            word = os.read(read, 1)
            if not word and code is None:
                code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if word:
        if code is None and waited(process, _ENDING) is None:
            kill(process)
        os._exit(word[0])
    assert code is not None
    if code == -signal.SIGINT:
        os._exit(_INTERRUPTED)
    say(f"{file} {in_words(code)} before there was a result: {REMEDY}")
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(_MENDABLE)
