"""A process that has run a user's file and answers questions about it, one at a time."""

from __future__ import annotations

import builtins
import gc
import os
import pickle
import select
import signal
import socket
import struct
import sys
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from typing import Any

from cflag_theory.errors import CflagError, InvalidInput
from cflag_theory.outside.processes import POSSIBLE, REMEDY, fork, high, kill, words_of

#: Bytes of the longest answer, and seconds that it may come later than its limit, which is also kept within the child.
_LONGEST, _GRACE = 1 << 28, 1.0
_LENGTH = struct.Struct("!Q")
#: Modules whose classes and functions an answer may name.
KNOWN = ("cflag_theory.", "sympy.", "numpy.", "fractions.", "collections.", "copyreg.")
_PLAIN = {"set", "frozenset", "complex", "range", "slice", "bytearray", "getattr"} | {
    name for name, one in vars(builtins).items() if isinstance(one, type) and issubclass(one, Exception)
}

Answer = Callable[[Any], Any]

#: Our ends of pipes: with them children could speak to each other, and miss that they are let go.
_ENDS: weakref.WeakSet[socket.socket] = weakref.WeakSet()


class NoAnswer(Exception):
    """No answer came in time; the process was ended."""


class Child:
    """A process in which `begin` is called once; what that returns answers each question.

    It is started when it is first asked, and again where it has ended. It ends with this object.

    Parameters
    ----------
    begin : callable
        Runs in the child, with all that this process has loaded.
    what : str
        The user's file, for messages.
    seconds : float
        What `begin` may take.
    receive : callable, optional
        Here: from a handle to what stands for an object that cannot leave the child. What answers has then a method
        `send`, from an object to its handle, or None, see `pickle.Pickler.persistent_id`.
    """

    def __init__(
        self, begin: Callable[[], Answer], what: str, *, seconds: float, receive: Callable[[Any], Any] | None = None
    ) -> None:
        self.begin, self.what, self.seconds, self.receive = begin, what, seconds, receive
        self._here: Answer | None = None
        self._pipe: socket.socket | None = None
        self._kill: weakref.finalize[Any, Any] | None = None

    def ask(self, question: Any, seconds: float) -> Any:
        """The answer to a question.

        Raises
        ------
        CflagError
            What the child raised, or that it ended without an answer.
        NoAnswer
            None came in so many seconds.
        """
        if not POSSIBLE:
            # Where processes cannot divide, this one answers.
            self._here = self._here or self.begin()
            return self._here(question)
        until = time.monotonic() + seconds + _GRACE + (self.seconds if self._pipe is None else 0.0)
        try:
            pipe = self._pipe or self._start()
            _write(pipe, pickle.dumps(question))
            unpickler = _Unpickler(BytesIO(_read(pipe, until)), self)
            good, found = unpickler.load()
        except (OSError, EOFError):
            raise InvalidInput(f"{self.what} {self.end() or 'ended'} before it had answered: {REMEDY}") from None
        except BaseException:
            # What it was about to answer would be taken for the answer to the next question.
            self.end()
            raise
        if not good:
            raise found
        return found

    def end(self) -> str:
        """End the process; how it had ended, in words, if it had."""
        end, self._here, self._pipe, self._kill = self._kill, None, None, None
        return (end() if end is not None else "") or ""

    def _start(self) -> socket.socket:
        here, there = socket.socketpair()
        _ENDS.add(here)
        process = fork()
        if process == 0:
            try:
                for end in [*_ENDS]:
                    end.close()
                self._serve(_apart(there))
            finally:
                os._exit(70)
        there.close()
        self._pipe, self._kill = here, weakref.finalize(self, _end, process, here)
        return here

    def _serve(self, pipe: socket.socket) -> None:
        """In the child."""
        process = os.getpid()
        answer: Answer | None = None
        while True:
            question = pickle.loads(_read(pipe, None))
            try:
                answer = answer or self.begin()
                found = pickled((True, answer(question)), getattr(answer, "send", None))
            except CflagError as error:
                found = pickle.dumps((False, error))
            except BaseException as error:
                found = pickle.dumps((False, InvalidInput(f"{self.what} raised {words_of(error)}: fix it")))
            if os.getpid() != process:
                # The file has forked: one answers.
                os._exit(0)
            for stream in (sys.stdout, sys.stderr):
                with suppress(Exception):
                    stream.flush()
            _write(pipe, found)


class _Unpickler(pickle.Unpickler):
    """Answers hold what this process knows: a class that the file made stays with the file."""

    def __init__(self, file: BytesIO, child: Child) -> None:
        super().__init__(file)
        self.child = child

    def find_class(self, module: str, name: str) -> Any:
        if (module == "builtins" and name in _PLAIN) or f"{module}.{name}".startswith(KNOWN):
            return super().find_class(module, name)
        raise InvalidInput(
            f"{self.child.what} gives values of a type {name} of its own: use numbers and the types of this package"
        )

    def persistent_load(self, handle: Any) -> Any:
        assert self.child.receive is not None
        return self.child.receive(handle)


class _Pickler(pickle.Pickler):
    send: Callable[[Any], Any]

    def persistent_id(self, one: Any) -> Any:
        return self.send(one)


def pickled(found: Any, send: Callable[[Any], Any] | None) -> bytes:
    """An answer as bytes, handles in place of what cannot leave."""
    buffer = BytesIO()
    pickler = _Pickler(buffer)
    pickler.send = send or (lambda one: None)
    pickler.dump(found)
    return buffer.getvalue()


def _end(process: int, pipe: socket.socket) -> str:
    pipe.close()
    return kill(process)


def _apart(pipe: socket.socket) -> socket.socket:
    """Nothing to read, all output to standard error, interrupts to the parent alone, the pipe out of the way."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What was there before stays; to look through it would also copy it.
    gc.freeze()
    moved = socket.socket(fileno=high(pipe.fileno()))
    pipe.close()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr = os.fdopen(os.dup(2), "w", buffering=1, encoding="utf-8", errors="backslashreplace")
    return moved


def _write(pipe: socket.socket, content: bytes) -> None:
    pipe.sendall(_LENGTH.pack(len(content)) + content)


def _read(pipe: socket.socket, until: float | None) -> bytes:
    (length,) = _LENGTH.unpack(_exactly(pipe, _LENGTH.size, until))
    if length > _LONGEST:
        raise EOFError
    return _exactly(pipe, length, until)


def _exactly(pipe: socket.socket, count: int, until: float | None) -> bytes:
    parts = []
    while count:
        if until is not None and not select.select([pipe], [], [], max(0.0, until - time.monotonic()))[0]:
            raise NoAnswer
        part = pipe.recv(min(count, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
