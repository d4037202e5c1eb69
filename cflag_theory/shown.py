"""How results show themselves: one line as text, a table in a notebook."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

#: Characters of the line of text, and rows of the table.
_LINE, _ROWS = 160, 200


@dataclass(frozen=True)
class Sheet:
    """What a result shows of itself."""

    #: The result in one line.
    line: str
    #: Names of the table's columns.
    head: Sequence[str] = ()
    #: Cells: words, numbers, None for nothing.
    rows: Sequence[Sequence[Any]] = ()
    #: What is said below the table.
    notes: Sequence[str] = ()


class Shown(ABC):
    """A result that says what it is; the class gives its `sheet`.

    A dataclass that inherits from it takes `repr=False`, or it writes a text of its own.
    """

    @abstractmethod
    def sheet(self) -> Sheet:
        """The line, the table and the notes."""

    def __repr__(self) -> str:
        line = " ".join(self.sheet().line.split())
        return f"<{type(self).__name__} {line if len(line) <= _LINE else line[: _LINE - 1] + '…'}>"

    def _repr_html_(self) -> str:
        """For Jupyter."""
        sheet = self.sheet()
        parts = [f"<p><b>{type(self).__name__}</b> {_words(sheet.line)}</p>"]
        if sheet.rows:
            head = "".join(f'<th style="text-align:left">{_words(name)}</th>' for name in sheet.head)
            rows = "".join(_row(row) for row in sheet.rows[:_ROWS])
            parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>")
        if len(sheet.rows) > _ROWS:
            parts.append(f"<p>and {len(sheet.rows) - _ROWS} more rows</p>")
        parts += [f"<p>{_words(note)}</p>" for note in sheet.notes]
        return f"<div>{''.join(parts)}</div>"


def number(value: Any) -> str:
    """A number with four digits; words as they are; nothing for None."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool | int):
        return str(value)
    try:
        return f"{float(value):.4g}"
    except (TypeError, ValueError, OverflowError):
        return str(value)


def several(values: Iterable[Any], most: int = 12) -> str:
    """Values with commas between them, the first ones if they are many."""
    found = [number(value) for value in values]
    return ", ".join(found[:most]) + (f" and {len(found) - most} more" if len(found) > most else "")


def _row(cells: Sequence[Any]) -> str:
    return "<tr>" + "".join(f'<td style="text-align:left">{_words(cell)}</td>' for cell in cells) + "</tr>"


def _words(value: Any) -> str:
    # A dollar would begin a formula in a notebook.
    return escaped(number(value)).replace("$", "&#36;")


# What terminals obey, what XML forbids, and what turns the direction in which a line is read.
_OBEYED = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]")


def cleaned(text: str) -> str:
    """A text with a sign in place of every character that its readers would obey instead of show."""
    return _OBEYED.sub("\N{REPLACEMENT CHARACTER}", text)


def escaped(text: str) -> str:
    """A text as HTML and SVG have it, within tags and between them."""
    return escape(cleaned(text))
