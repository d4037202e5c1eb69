"""Reading what stands in files: text, JSON and TOML of limited size, and records whose keys have rules.

Every fault is one sentence that says where it is and what is wanted.
"""

from __future__ import annotations

import errno
import json
import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cflag_theory.errors import DataError

#: Bytes that a file of text may have; what we write ourselves has far fewer.
MOST_BYTES = 1 << 28


def read_text(path: Path | str, *, most: int = MOST_BYTES) -> str:
    """The text of a file."""
    with open(path, "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it has more than {most} bytes", str(path))
    return content.decode("utf-8")


def read_json(path: Path | str, *, most: int = MOST_BYTES) -> Any:
    """What a JSON file says."""
    try:
        return json.loads(read_text(path, most=most))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except ValueError as error:
        raise ValueError(reason_of(error)) from error


def reason_of(error: ValueError) -> str:
    """What is wrong, without the remedy that Python names for integers of very many digits, which is for programs."""
    return str(error).partition("; use sys.set_int_max_str_digits")[0]


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


class Rule(NamedTuple):
    """Which values a key may have, by a test and in words."""

    fits: Callable[[Any], bool]
    wanted: str


def of_kind(kind: type, wanted: str) -> Rule:
    """Values of this type, and none of its subclasses: true is not 1."""
    return Rule(lambda value: type(value) is kind, wanted)


def one_of(*names: str) -> Rule:
    """These words."""
    return Rule(lambda value: type(value) is str and value in names, f"one of {', '.join(names)}")


def integer(least: int, most: int = (1 << 63) - 1) -> Rule:
    """Integers in a range; a range without an end is one of 64 bits."""
    to = f"from {least} to {most}" if most < (1 << 63) - 1 else f"of at least {least}"
    return Rule(lambda value: type(value) is int and least <= value <= most, f"an integer {to}")


def is_number(value: Any) -> bool:
    """Whether a value is a finite number, and no truth value."""
    return type(value) in (int, float) and math.isfinite(value)


TRUTH, WORD = of_kind(bool, "true or false"), of_kind(str, "a word in quotes")
LIST, TABLE = of_kind(list, "a list"), of_kind(dict, "a table")


def unfit(values: Mapping[str, Any], rules: Mapping[str, Rule]) -> list[str]:
    """The keys of `rules` that are missing or whose values do not fit."""
    return [key for key, rule in rules.items() if key not in values or not rule.fits(values[key])]


def read_record(path: Path, form: str, rules: Mapping[str, Rule], *, what: str, by: str, again: str) -> dict[str, Any]:
    """A JSON file that says of what format it is, with the keys that its reader needs.

    Parameters
    ----------
    path : Path
    form : str
        The value of its key "format".
    rules : mapping of str to Rule
        Keys that must be there.
    what, by : str
        What it holds and which command wrote it, for the message where it cannot be read.
    again : str
        How the messages on another format and on damage end.

    Raises
    ------
    DataError
        It cannot be read, is of another format, or is damaged.
    """
    try:
        found: dict[str, Any] = read_json(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{path} holds no {what} ({reason}): pass a folder that {by} wrote") from error
    if not isinstance(found, dict) or found.get("format") != form:
        raise DataError(f"{path} is not of the format {form!r}, which this version reads: {again}")
    if wrong := unfit(found, rules):
        raise DataError(f"{path} is damaged, see {', '.join(wrong)}: {again}")
    return found
