"""A TOML file, and where in it a key stands."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cflag_theory.errors import DataError


def read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """The text of a file, and what it says.

    Raises
    ------
    DataError
        The file is missing, no text, or no TOML.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot read {path} ({reason}): pass a TOML file") from error
    try:
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{path.name} is no TOML: {error}") from error


def line_of(text: str, place: Sequence[str | int]) -> int:
    """The line, counted from 1, at which the statement begins that makes `place` appear in a TOML text.

    Longer and longer beginnings of the text are parsed. A beginning that ends within a statement is no TOML, so that
    the statement begins after the last beginning that is.

    Parameters
    ----------
    text : str
        Valid TOML.
    place : sequence of str and int
        Keys, and numbers of tables within [[...]]; of what is not there, the table that lacks it.
    """
    whole = tomllib.loads(text)
    while not _has(whole, place):
        place = place[:-1]
    lines = text.split("\n")
    begins = 0
    for end in range(1, len(lines) + 1):
        try:
            data = tomllib.loads("\n".join(lines[:end]))
        except tomllib.TOMLDecodeError:
            continue
        if _has(data, place):
            break
        begins = end
    while begins < len(lines) - 1 and lines[begins].strip()[:1] in ("", "#"):
        begins += 1
    return begins + 1


def _has(data: Any, place: Sequence[str | int]) -> bool:
    for key in place:
        try:
            data = data[key]
        except (KeyError, IndexError, TypeError):
            return False
    return True
