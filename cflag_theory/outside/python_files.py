"""A user's Python file, run as an import would run it."""

from __future__ import annotations

import builtins
import linecache
import os
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from types import ModuleType

from cflag_theory.errors import InvalidInput
from cflag_theory.reading import read_bytes

#: Bytes of the longest Python file.
_MOST_BYTES = 1 << 24


def content_of(path: Path, remedy: str) -> bytes:
    """What the file holds; `remedy` says what to give where it cannot be read."""
    try:
        return read_bytes(path, most=_MOST_BYTES)
    except FileNotFoundError:
        raise InvalidInput(f"there is no file {str(path)!r}: {remedy}") from None
    except OSError as error:
        raise InvalidInput(f"the file {str(path)!r} cannot be read ({error.strerror}): {remedy}") from error


def run(path: Path, content: bytes, name: str) -> ModuleType:
    """The file as a module of that name, with its own folder first on the path while it runs.

    Raises
    ------
    InvalidInput
        It is no Python. What its statements raise is left to the caller.
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InvalidInput(f"{path} cannot be read (it is not text in UTF-8): give a Python file that is")
    try:
        # Python's guesses at what may be wrong are lines of their own beside what is said here.
        with warnings.catch_warnings(action="ignore", category=SyntaxWarning):
            code = compile(content, str(path), "exec")
    except SyntaxError as error:
        raise InvalidInput(f"{path}, line {error.lineno or 1}: {error.msg}: fix the file") from None
    except ValueError as error:
        raise InvalidInput(f"{path} is not a Python file ({error}): give one") from None
    module = ModuleType(name)
    module.__file__ = str(path)
    folder = str(path.absolute().parent)
    linecache.checkcache(str(path))
    # Dataclasses look for the module of their class there.
    sys.modules[name] = module
    sys.path.insert(0, folder)
    here = ""
    with suppress(OSError):
        here = os.getcwd()
    known, process = dict(vars(builtins)), os.getpid()
    try:
        exec(code, module.__dict__)
    finally:
        if os.getpid() != process:
            # The file has forked: one goes on.
            os._exit(0)
        # What it puts in place of Python's own functions is for its own statements.
        vars(builtins).update(known)
        # Names of files are meant from where the command was called.
        with suppress(OSError):
            os.chdir(here)
        if folder in sys.path:
            sys.path.remove(folder)
    return module
