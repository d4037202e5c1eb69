"""A TOML file, and where in it a key stands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cflag_theory.errors import DataError
from cflag_theory.reading import read_text, reason_of

#: A file of settings has at most so many bytes, parts of a key, and lines among which a place is looked for exactly.
MOST_BYTES, MOST_PARTS, MOST_LINES = 1 << 20, 64, 2000
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MOST_PARTS}}}")


def read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """The text of a file, and what it says."""
    try:
        text = read_text(path, most=MOST_BYTES)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot read {path} ({reason}): pass a TOML file") from error
    try:
        _require_flat(text)
        return text, tomllib.loads(text)
    # Also integers that are too long, and dates that are none.
    except ValueError as error:
        raise DataError(f"{path.name} is not TOML: {reason_of(error)}") from error
    except RecursionError as error:
        raise DataError(f"{path.name} is nested too deeply: make it flatter") from error


def _require_flat(text: str) -> None:
    """Refuse keys of very many parts, each of which becomes a table, at a cost that is quadratic."""
    found = _LONG_KEY.search(text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        raise ValueError(f"line {line} has a key of more than {MOST_PARTS} parts")


def line_of(text: str, place: Sequence[str | int]) -> int:
    """The line, counted from 1, at which the statement begins that makes `place` appear in a TOML text.

    Longer and longer beginnings of the text are parsed. A beginning that ends within a statement is not TOML, so that
    the statement begins after the last beginning that is.

    Parameters
    ----------
    text : str
        Valid TOML.
    place : sequence of str and int
        Keys, and numbers of tables within [[...]]; of what is not there, the table that lacks it.
    """
    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        # Each beginning is parsed again.
        words = [str(key) for key in place if isinstance(key, str)]
        return 1 + next((number for number, line in enumerate(lines) if words and words[-1] in line), 0)
    whole = tomllib.loads(text)
    while not _has(whole, place):
        place = place[:-1]
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
