"""Text tables as statistics packages, spreadsheets and pandas write them: what is not said is found, and told.

Python's csv module splits the lines. Libraries that read tables guess neither encoding, header nor decimal comma, which
is most of what is here; what they hold can be written with `to_csv` or `numpy.savez`.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from cflag_theory.errors import DataError, InvalidInput, UnknownName
from cflag_theory.public import Count, require_fields
from cflag_theory.reading import opened
from cflag_theory.sizes import require_room

#: Bytes of a text, unpacked.
MOST_BYTES = 1 << 28
#: Cells without a value, whatever their letters' case.
MISSING = frozenset(("", "?", "na", "n/a", "#n/a", "<na>", "nan", "null", "none"))
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|[+-]?inf(?:inity)?", re.IGNORECASE)
_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:e[+-]?[0-9]+)?", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
_MARKS = {"tab": "\t", "\\t": "\t", "space": " "}
# The lines from which the delimiter is found, in characters.
_SAMPLE = 1 << 16


@dataclass(frozen=True)
class Reading:
    """How a file becomes numbers; what is None is found from the file.

    Attributes
    ----------
    encoding : str, optional
        Such as "utf-8", "utf-16" or "latin-1".
    delimiter : str, optional
        One character, "tab" or "space".
    decimal : "." or ",", optional
    header : "first" or "none", optional
        Whether the first line has the names. Without names the columns are column1, column2, ...
    missing : "drop" or "mean"
        Rows with a missing feature are left out, or it becomes the mean of its column. Rows without a label, task or
        client are left out.
    levels : int
        Words become features or classes if a column has no more different ones; whole numbers are classes up to then.
    target : "classes" or "number", optional
        What the labels are.
    features, drop : sequence of str, or names with commas between them
        The columns to use, all others being left out; columns to leave out.
    scale : bool
        Whether features get mean 0 and variance 1.
    """

    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    header: str | None = None
    missing: str = "drop"
    levels: Count = 20
    target: str | None = None
    features: str | Sequence[str] | None = None
    drop: str | Sequence[str] = ()
    scale: bool = False

    def __post_init__(self) -> None:
        require_fields(self)
        for name in ("features", "drop"):
            words = getattr(self, name)
            if isinstance(words, str):
                object.__setattr__(self, name, tuple(word.strip() for word in next(csv.reader([words]), [])))
        object.__setattr__(self, "delimiter", _MARKS.get(self.delimiter or "", self.delimiter))
        choices = {
            "decimal": (None, ".", ","),
            "header": (None, "first", "none"),
            "missing": ("drop", "mean"),
            "target": (None, "classes", "number"),
        }
        for name, known in choices.items():
            if getattr(self, name) not in known:
                words = " or ".join(str(one) for one in known if one is not None)
                raise InvalidInput(f"{name} is {getattr(self, name)!r}: use {words}")
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '\r\n"'):
            raise InvalidInput(f"delimiter is {self.delimiter!r}: use one character, tab or space")

    @classmethod
    def of(cls, words: dict[str, Any]) -> Reading:
        """The reading with these fields, or an error that lists all."""
        known = [field.name for field in fields(cls)]
        for name in words:
            if name not in known:
                raise UnknownName(f"reading has no option {name!r}: use one of {', '.join(known)}")
        return cls(**words)


@dataclass(frozen=True)
class Text:
    """Columns of stripped cells, the line of each row, and what was found. `classes` are named by a line of counts."""

    names: list[str]
    unnamed: list[bool]
    columns: list[list[str]]
    lines: list[int]
    decimal: str
    classes: tuple[str, ...]
    note: str


def read_columns(path: Path, reading: Reading) -> Text:
    """The columns of a text table.

    Raises
    ------
    DataError
        A file that is empty, too large or no text, or lines of different lengths.
    """
    text, encoding = _decoded(path, _content(path), reading.encoding)
    require_room(24 * len(text), f"the file {str(path)!r}", "use a smaller one, or a machine with more")
    delimiter = reading.delimiter or _delimiter(text[:_SAMPLE].rpartition("\n")[0] or text[:_SAMPLE])
    lines, rows = _split(text, delimiter)
    if not rows:
        raise DataError(f"{path} is empty: its columns are none")
    counted, classes = _counts(rows)
    if counted:
        lines, rows = lines[1:], rows[1:]
    decimal = reading.decimal or ("," if delimiter != "," and _has_commas(rows) else ".")
    found = any(number(cell, decimal) is not None for cell in rows[0]) or (counted and bool(classes))
    has_header = not found if reading.header is None else reading.header == "first"
    first, names = ("header", rows[0]) if has_header else ("first line", [""] * len(rows[0]))
    if has_header:
        lines, rows = lines[1:], rows[1:]
        # R writes no name above the names of rows.
        if rows and all(len(cells) == len(names) + 1 for cells in rows):
            names = ["", *names]
    if not rows:
        raise DataError(f"{path} has a header and no rows: add one for each sample; its columns are {', '.join(names)}")
    for line, cells in zip(lines, rows, strict=True):
        if len(cells) != len(names):
            raise DataError(
                f"line {line} of {path} has {len(cells)} values and the {first} {len(names)}: make them agree"
            )
    unnamed = [has_header and (not name or name.startswith("Unnamed: ")) for name in names]
    named = [name or f"column{place}" for place, name in enumerate(names, 1)]
    if counted and classes and not has_header:
        named[-1] = "label"
    mark = {"\t": "tab", " ": "space"}.get(delimiter, repr(delimiter))
    note = (
        f"text: {encoding}, delimiter {mark}, decimal {'comma' if decimal == ',' else 'point'}, "
        f"{'names in the first line' if has_header else 'no line of names'}, {len(rows)} rows (--read changes it)"
    )
    if counted:
        note += f"; its first line has counts{' and the classes ' + ', '.join(classes) if classes else ''}"
    return Text(named, unnamed, [list(column) for column in zip(*rows, strict=True)], lines, decimal, classes, note)


def number(cell: str, decimal: str) -> float | None:
    """The number that a cell is."""
    if decimal == ",":
        cell = cell.replace(".", "x").replace(",", ".")
    return float(cell) if NUMBER.fullmatch(cell) else None


def _content(path: Path) -> bytes:
    with opened(path) as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        try:
            content = (gzip.GzipFile(fileobj=file) if packed else file).read(MOST_BYTES + 1)
        except (EOFError, zlib.error) as error:
            raise DataError(f"data file {path} cannot be read ({error}): pack it again") from error
    if len(content) > MOST_BYTES:
        raise DataError(f"{path} has more than {MOST_BYTES >> 20} MiB of text: use a smaller file, or an .npz file")
    return content


def _decoded(path: Path, content: bytes, encoding: str | None) -> tuple[str, str]:
    marks = {b"\xff\xfe\0\0": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
    name = encoding or next((known for mark, known in marks.items() if content.startswith(mark)), "utf-8")
    try:
        text = content.decode("utf-8-sig" if name.lower() in ("utf-8", "utf8") else name)
    except LookupError:
        raise InvalidInput(f"encoding {name!r} is unknown: use utf-8, utf-16 or latin-1") from None
    except ValueError as error:
        if encoding is not None or name != "utf-8":
            raise DataError(f"{path} cannot be read as {name} ({error}): name another encoding") from error
        text, name = content.decode("latin-1"), "latin-1"
    text = text.rstrip("\x1a")
    if _CONTROL.search(text):
        raise DataError(f"{path} cannot be read as text, it has bytes of something else: save it as .csv or .npz")
    return text, name


def _split(text: str, delimiter: str) -> tuple[list[int], list[list[str]]]:
    """The stripped cells of the lines that are not blank, and where each line is."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    lines, rows = [], []
    for cells in reader:
        if delimiter == " " and cells and not cells[-1]:
            cells.pop()
        cells = [cell.strip() for cell in cells]
        if len(cells) > 1 or any(cells):
            lines.append(reader.line_num)
            rows.append(cells)
    return lines, rows


def _delimiter(sample: str) -> str:
    """What splits most lines into as many cells, of which few hold another delimiter."""
    best, found = 0.0, ","
    for mark in ",;\t| ":
        if mark == " " and best > 0.9:
            break
        rows = _split(sample, mark)[1]
        width, count = Counter(map(len, rows)).most_common(1)[0] if rows else (1, 0)
        cells = [cell for row in rows for cell in row]
        whole = sum(not any(other in cell for other in ";\t|") for cell in cells)
        if width > 1 and (score := count / len(rows) * whole / len(cells)) > best:
            best, found = score, mark
    return found


def _counts(rows: Sequence[Sequence[str]]) -> tuple[bool, tuple[str, ...]]:
    """Whether the first line counts rows and features, as in scikit-learn's files, and the classes that it names."""
    first, rest = rows[0], rows[1:]
    if len(rest) < 2 or len(first) < 3 or first[0] not in (str(len(rest)), str(len(rest) - 1)):
        return False, ()
    classes = tuple(cell for cell in first[2:] if cell)
    counted = first[1] == str(len(rest[-1]) - 1) and all(number(cell, ".") is None for cell in classes)
    return counted, classes if counted else ()


def _has_commas(rows: Sequence[Sequence[str]]) -> bool:
    cells = [cell for row in rows for cell in row]
    return any(_COMMA.fullmatch(cell) for cell in cells) and not any(
        "." in cell and NUMBER.fullmatch(cell) for cell in cells
    )
