"""Where results are written: folders that are checked first and have one writer, files whole or not at all."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from cflag_theory.errors import OutputError


def check_writable(folder: Path | str) -> Path:
    """Return the folder as an absolute path, made if it does not exist.

    Raises
    ------
    OutputError
        If it cannot be made or written, or is a file; checked before long work, so that no result is lost after it.
    """
    path = Path(folder).absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise OutputError(
            f"cannot write to the folder {str(folder)!r} ({error.strerror}): choose another with --out"
        ) from error
    return path


@contextmanager
def whole(path: Path, *, alone: bool = False) -> Iterator[BinaryIO]:
    """A file that takes its place when all of it is on the disk, even if the machine stops; a draft until then.

    Parameters
    ----------
    path : Path
    alone : bool
        Whether the caller has locked the folder, see `alone_in`. The draft is then `.NAME.draft`, so that a second
        attempt replaces the draft of a process that was killed. Otherwise its name is random, for several writers.

    Raises
    ------
    OSError
        It cannot be written; what was there before stays.
    """
    draft = path.with_name(f".{path.name}.draft" if alone else f".{path.name}.{secrets.token_hex(8)}.draft")
    try:
        with open(draft, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    try:
        with whole(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise OutputError(f"cannot write {str(path)!r} ({error.strerror}): choose another place with --out") from error


@contextmanager
def whole_set(folder: Path, *, last: str) -> Iterator[Path]:
    """A draft folder whose files move into `folder` when all are made; `last` moves last, as it refers to the others.

    Raises
    ------
    OSError
        They cannot be written; before all are made, `folder` stays as it was.
    """
    draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=folder))
    try:
        yield draft
        for file in sorted(draft.iterdir(), key=lambda path: path.name == last):
            os.replace(file, folder / file.name)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def alone_in(folder: Path, what: str) -> Iterator[None]:
    """Make the folder and lock it: no other process that locks it may write to it meanwhile.

    The lock of a process that was killed is released.

    Parameters
    ----------
    folder : Path
    what : str
        What is written there, such as "sweep", for messages.

    Raises
    ------
    OutputError
        The folder cannot be written, or another process holds it.
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


def as_file_name(words: str) -> str:
    """A title as part of a file's name."""
    return re.sub(r"[^0-9A-Za-z]+", "_", words).strip("_")
