"""Folders of long work: one writer at a time, and files that are whole or not there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from cflag_theory.errors import OutputError


@contextmanager
def alone_in(folder: Path, what: str) -> Iterator[None]:
    """Make the folder and hold it: nobody else who asks so may write to it meanwhile.

    What a process that was killed held is free again.

    Parameters
    ----------
    folder : Path
    what : str
        What is written there, such as "sweep", for messages.

    Raises
    ------
    OutputError
        The folder cannot be written, or somebody else holds it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = open(folder / ".lock", "w", encoding="utf-8")  # noqa: SIM115
    except OSError as error:
        raise OutputError(f"cannot write to {folder} ({error.strerror}): choose another with --out") from error
    with file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OutputError(
                f"another {what} is writing to {folder}: wait for it, or choose another with --out"
            ) from None
        except (ImportError, OSError):
            # A system without locks: two runs in one folder then do the work twice, with the same results.
            pass
        yield


@contextmanager
def whole(path: Path) -> Iterator[BinaryIO]:
    """A file that takes its place when all of it is on the disk, even if the machine stops; until then `.NAME.draft`.

    Raises
    ------
    OSError
        It cannot be written; what was there before stays.
    """
    draft = path.with_name(f".{path.name}.draft")
    try:
        with open(draft, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
