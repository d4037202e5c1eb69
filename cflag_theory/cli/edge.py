"""Every error as one sentence on standard error and an exit code."""

from __future__ import annotations

import _thread
import errno
import os
import platform
import shlex
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

import typer

from cflag_theory import __version__
from cflag_theory.cli.shell import leave_folders, spell
from cflag_theory.errors import CflagError
from cflag_theory.files import first_remedy
from cflag_theory.outside.divided import finish, users_line
from cflag_theory.outside.processes import words_of

#: Exit codes: bad input, an interrupt, an error of our own (EX_SOFTWARE of sysexits.h).
MENDABLE, INTERRUPTED, OURS = 2, 130, 70

#: A sentence may quote what it is about; beginning and end are shown of a longer one.
MOST_LETTERS = 1000
# What the command-line library raises on a call that it does not understand.
_ClickException: Any = typer.BadParameter.__mro__[2]
_THREADS = "NUMBA_NUM_THREADS"


def run(app: Callable[..., Any]) -> NoReturn:
    """Run a command line to its end, which is always `SystemExit`."""
    _open_streams()
    spell(sys.stdout, sys.stderr)
    before, sys.unraisablehook = sys.unraisablehook, _raised_in_passing
    try:
        _require_threads()
        code = app(standalone_mode=False) or 0
        sys.stdout.flush()
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):
            # The command-line library ends with 1, which is "refuted", if the reader of a pipe has seen enough.
            code = 0
        elif (line := users_line(ended)) is not None:
            code = say(f"{line}: SystemExit: leave out what ends Python")
        else:
            raise
    except KeyboardInterrupt:
        code = say("interrupted; nothing was written", INTERRUPTED)
    except typer.Abort:
        code = say("aborted", INTERRUPTED)
    except _ClickException as error:
        code = _misused(error)
    except CflagError as error:
        # Words that, added to the command, are likely to correct it.
        add = getattr(error, "add", ())
        code = say(said(error) + (f"; try: {shlex.join(['cflag', *sys.argv[1:], *add])}" if add else ""))
    except BrokenPipeError:
        code = 0
    except OSError as error:
        code = say(_of_the_system(error))
    except MemoryError as error:
        # What was allocated is held by the frames of the error.
        error.__traceback__ = error.__context__ = None
        why = f" ({words})" if (words := said(error)) else ""
        code = say(f"not enough memory{why}: ask for less at a time, or use a machine with more")
    except RecursionError:
        code = say("the input is nested too deeply: make it flatter")
    except OverflowError as error:
        code = say(f"a number of the input is too large ({said(error)}): use a smaller one")
    except Exception as error:
        line = users_line(error)
        code = say(_unforeseen(error), OURS) if line is None else say(f"{line}: {words_of(error)}: fix the file")
    finally:
        sys.unraisablehook = before
        leave_folders()
    _close(sys.stdout, sys.stderr)
    finish(code)
    raise SystemExit(code)


def _raised_in_passing(found: Any) -> None:
    """An interrupt that comes while an object is finalized, where Python reports and drops it, comes again."""
    if issubclass(found.exc_type, KeyboardInterrupt):
        # Now it would come within this function, and be dropped again; to wait until a thread runs takes too long.
        _thread.start_new_thread(_interrupt, ())
    # What an interrupt leaves half made, z3's finalizers do not know.
    elif not str(getattr(found.object, "__module__", "")).startswith("z3"):
        sys.__unraisablehook__(found)


def _interrupt() -> None:
    time.sleep(0.1)
    _thread.interrupt_main()


def said(error: BaseException) -> str:
    """The words of an error that a user's code may have made."""
    try:
        return str(error)
    except Exception as other:
        return f"its words cannot be had: {type(other).__name__}"


def one_line(text: str) -> str:
    """Text without line breaks and without characters that a terminal would obey."""
    text = " ".join(text.split())
    if len(text) > MOST_LETTERS:
        text = f"{text[: MOST_LETTERS // 2]} ... {text[-MOST_LETTERS // 2 :]}"
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def say(sentence: str, code: int = MENDABLE) -> int:
    """One sentence on standard error."""
    with suppress(OSError):
        typer.echo(f"cflag: {one_line(sentence)}", err=True)
    return code


def _misused(error: Any) -> int:
    """One sentence for a call that is not understood; help for one without anything."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return MENDABLE
    sentence = error.format_message().removeprefix("Invalid value: ").rstrip(".")
    context = getattr(error, "ctx", None)
    end = "" if sentence.endswith("?") else "."
    return say(sentence + (f"{end} See {context.command_path} --help" if context is not None else ""))


def _of_the_system(error: OSError) -> str:
    reason = error.strerror or said(error) or type(error).__name__
    if error.errno == errno.ENOENT and error.filename is None:
        return "the working folder no longer exists: change to one that does"
    what = "write the results" if error.filename is None else f"use {str(error.filename)!r}"
    check = "check where they are written" if error.filename is None else "check the path, its permissions and the disk"
    first = first_remedy(error)
    return f"cannot {what} ({reason}): {f'{first}write elsewhere' if first else check}"


def _unforeseen(error: Exception) -> str:
    details = "\n".join(
        [
            f"cflag-theory {__version__}, Python {platform.python_version()}, {platform.platform()}",
            f"arguments: {sys.argv[1:]!r}",
            "".join(traceback.format_exception(error)),
        ]
    )
    what = words_of(error)[:200]
    try:
        handle, path = tempfile.mkstemp(prefix="cflag-error-", suffix=".txt")
        with open(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(details)
    except OSError:
        return f"an error of cflag itself ({what}): please report it with this line and the command"
    return f"an error of cflag itself ({what}): please report it with the details in {path}"


def _open_streams() -> None:
    """Give streams that were closed to the null device, or the next file that is opened would take their place."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        stream = ("stdin", "stdout", "stderr")[handle]
        setattr(sys, stream, os.fdopen(handle, "r" if handle == 0 else "w", encoding="utf-8"))
    os.close(handle)


def _require_threads() -> None:
    """Numba fails on other values, with a traceback, while it loads."""
    words = os.environ.get(_THREADS, "1").strip()
    if not (words.isdecimal() and words.isascii() and 1 <= int(words[:9]) <= 10_000):
        raise CflagError(f"{_THREADS} is {words[:20]!r}: use a number of threads such as 4, or unset it")


def _close(*streams: Any) -> None:
    """Drop what cannot be written, which Python would try once more at its end, with a traceback."""
    for stream in streams:
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
