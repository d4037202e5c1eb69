"""Reading what stands in files: regular ones only, of limited size; text, JSON, TOML, and records with rules.

Every fault is one sentence that says where it is and what is wanted.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from io import BufferedReader
from itertools import islice
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

from cflag_theory.errors import DataError
from cflag_theory.public import Rule
from cflag_theory.sizes import require_room

#: Bytes that a file of text may have; what we write ourselves has far fewer.
MOST_TEXT = 1 << 28
# Not waiting for the other end of a pipe.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_KINDS = {stat.S_IFIFO: "a pipe: write what it brings to a file first", stat.S_IFSOCK: "a socket"}


def opened(path: str | os.PathLike[str], *, most: int | None = None) -> BufferedReader:
    """A regular file, open for reading, of at most so many bytes and no more than fit into memory.

    Raises
    ------
    OSError
        It is missing, a folder, a pipe or a device, or larger.
    InvalidInput
        It is larger than the memory that is free.
    """
    try:
        handle = os.open(path, _READ)
    except ValueError as error:
        raise OSError(errno.EINVAL, f"no file has such a name: {error}", str(path)) from error
    try:
        found = os.fstat(handle)
        if stat.S_ISDIR(found.st_mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(found.st_mode):
            kind = _KINDS.get(stat.S_IFMT(found.st_mode), "a device")
            raise OSError(errno.EINVAL, f"it is no regular file but {kind}", str(path))
        if most is not None and found.st_size > most:
            raise OSError(errno.EFBIG, f"it has more than {most} bytes", str(path))
        require_room(found.st_size, f"the file {str(path)!r}", "use a smaller one, or a machine with more")
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_bytes(path: str | os.PathLike[str], *, most: int | None = None) -> bytes:
    """The bytes of a regular file, as `opened` takes it."""
    with opened(path, most=most) as file:
        # Some files of the system say that they are empty, and go on without end.
        room = max(os.fstat(file.fileno()).st_size, MOST_TEXT) if most is None else most
        content = file.read(room + 1) or b""
    if len(content) > room:
        raise OSError(errno.EFBIG, f"it has more than {room} bytes", str(path))
    return content


def read_text(path: str | os.PathLike[str], *, most: int = MOST_TEXT) -> str:
    """The text of a regular file."""
    return read_bytes(path, most=most).decode("utf-8")


def read_json(path: Path | str, *, most: int = MOST_TEXT) -> Any:
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


def of_kind(kind: type, wanted: str) -> Rule:
    """Values of this type, and none of its subclasses: true is not 1."""
    return Rule(lambda value: type(value) is kind, wanted)


def integer(least: int, most: int = (1 << 63) - 1) -> Rule:
    """Integers in a range; a range without an end is one of 64 bits."""
    to = f"from {least} to {most}" if most < (1 << 63) - 1 else f"of at least {least}"
    return Rule(lambda value: type(value) is int and least <= value <= most, f"an integer {to}")


def is_number(value: Any) -> bool:
    """Whether a value is a finite number, and no truth value."""
    # No float is larger than this integer.
    return type(value) in (int, float) and abs(value) < 1 << 1024 and math.isfinite(value)


ANY = Rule(lambda value: True, "there")
NUMBER = Rule(is_number, "a finite number")
TRUTH, WORD = of_kind(bool, "true or false"), of_kind(str, "a word in quotes")
LIST, TABLE = of_kind(list, "a list"), of_kind(dict, "a table")
WORDS = Rule(lambda value: type(value) is list and all(type(one) is str for one in value), "a list of words")


class Each(NamedTuple):
    """A table whose values are alike, under names that are not known before."""

    form: Any


class Maybe(NamedTuple):
    """A value or nothing (null)."""

    form: Any


def numbers(like: str = "") -> Rule:
    """Numbers, or nothing where one is not defined; `like` names what they are as many as, in one table."""
    return Rule(_are_numbers, "a list of numbers", like=like)


def filled(like: str = "") -> Rule:
    """Numbers, at least one and none of them missing."""
    rule = numbers(like)

    def fits(value: Any) -> bool:
        return rule.fits(value) and len(value) > 0 and all(one is not None for one in value)

    return rule._replace(fits=fits, wanted="a list of numbers, not empty")


def _are_numbers(value: Any) -> bool:
    # Also what is no file's: tuples and arrays of one axis.
    listed = type(value) in (list, tuple) or getattr(value, "ndim", 0) == 1
    return listed and all(one is None or _is_drawn(one) for one in value)


def _is_drawn(value: Any) -> bool:
    """Whether a value is a number that a file and an axis can hold."""
    try:
        return not isinstance(value, bool) and isinstance(value, Real) and not abs(float(value)) > _LARGEST
    except OverflowError:
        return False


#: Beyond it, the ticks of an axis overflow.
_LARGEST = 1e150
#: What a value should be: by a rule, a table with these keys, or a list whose entries are alike.
Form = Rule | Each | Maybe | Mapping[str, Any] | list[Any]
#: Faults that one sentence names.
_MOST_FAULTS = 3


def faults(value: Any, form: Form, place: str = "", counts: dict[str, int] | None = None) -> Iterator[str]:
    """What does not fit a form: its place, and what is wanted there; `counts` are lengths of lists that were met."""
    counts = {} if counts is None else counts
    if isinstance(form, Maybe):
        if value is not None:
            yield from faults(value, form.form, place, counts)
    elif isinstance(form, Rule):
        if not form.fits(value):
            yield f"{place}, which should be {form.wanted}"
        elif form.like and counts.setdefault(form.like, len(value)) != len(value):
            yield f"{place}, which should have {counts[form.like]} entries"
    elif isinstance(form, list):
        if type(value) not in (list, tuple):
            yield f"{place or 'all of it'}, which should be {LIST.wanted}"
        else:
            for number, one in enumerate(value):
                yield from faults(one, form[0], f"{place}[{number}]", {**counts})
    elif not isinstance(value, Mapping):
        yield f"{place or 'all of it'}, which should be {TABLE.wanted}"
    elif isinstance(form, Each):
        for key, one in value.items():
            yield from faults(one, form.form, f"{place}.{key}" if place else str(key), counts)
    else:
        counts = {**counts}
        for key, inner in form.items():
            at = f"{place}.{key}" if place else key
            if key in value:
                yield from faults(value[key], inner, at, counts)
            elif not isinstance(inner, Maybe):
                wanted = inner.wanted if isinstance(inner, Rule) else LIST.wanted if type(inner) is list else "a table"
                yield f"{at}, which is missing and should be {wanted}"


def unfit(value: Any, form: Form) -> str:
    """What does not fit, in words; nothing where all fits."""
    return "; ".join(islice(faults(value, form), _MOST_FAULTS))


def read_as(path: Path | str, form: Form, *, what: str, remedy: str) -> Any:
    """What a JSON file of this form says; `what` it holds and the `remedy` are for the `DataError` on any other."""
    try:
        found = read_json(path)
        if wrong := unfit(found, form):
            raise ValueError(f"see {wrong}")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{path} is no {what} ({reason}): {remedy}") from error
    return found


def read_record(path: Path, form: str, rules: Mapping[str, Form], *, what: str, by: str, again: str) -> dict[str, Any]:
    """A JSON file that says of what format it is, with the keys that its reader needs.

    Parameters
    ----------
    path : Path
    form : str
        The value of its key "format".
    rules : mapping of str to Form
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
        raise DataError(f"{path} is damaged, see {wrong}: {again}")
    return found
