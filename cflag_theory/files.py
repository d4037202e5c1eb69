"""Where results are written: folders asked beforehand, files whole or not at all."""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path

from cflag_theory.errors import OutputError


def check_writable(folder: Path | str) -> Path:
    """Return the folder as an absolute path, made if it does not exist.

    Raises
    ------
    OutputError
        If it cannot be made or written, or is a file; asked before long work, so that nothing is lost after it.
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


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, path)
    except OSError as error:
        raise OutputError(f"cannot write {str(path)!r} ({error.strerror}): choose another place with --out") from error
    finally:
        with suppress(OSError):
            draft.unlink()


def as_file_name(words: str) -> str:
    """A title as part of a file's name."""
    return re.sub(r"[^0-9A-Za-z]+", "_", words).strip("_")
