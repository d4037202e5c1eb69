"""Standard output for people: plain lines and tables, on terminals of any width and in pipes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from cflag_theory.claims.pages.text import bare
from cflag_theory.cli.shell import styled
from cflag_theory.shown import cleaned

#: What is no longer than this stays on one line of a table: numbers, intervals, names.
_WHOLE = 18
_GAP = 2
#: A pipe has no width: its reader breaks lines, or searches them.
_PIPE = 100_000


class Page(Console):
    """A console that highlights nothing and breaks lines between words only; into a pipe it breaks none. On a terminal
    no line is wider than `most` columns.
    """

    def __init__(self, most: int | None = None, **more: Any) -> None:
        super().__init__(highlight=False, **{"file": styled(sys.stdout)} | more)
        if not self.is_terminal:
            self.width = _PIPE
        elif most is not None and self.width > most:
            self.width = most

    def print(self, *objects: Any, **how: Any) -> None:
        """As a console prints; of what text brings, nothing that a terminal would obey."""
        for one in objects:
            if isinstance(one, Text):
                one.plain = cleaned(one.plain)
        super().print(*(cleaned(one) if isinstance(one, str) else one for one in objects), **how)

    def say(self, words: str | Text, style: str = "") -> None:
        """One line, or several; nothing in them is taken for markup, and what is continued is indented."""
        text = Text(bare(words), style=style) if isinstance(words, str) else words
        for line in text.split(allow_blank=True) or [text]:
            self._hang(line, len(line.plain) - len(line.plain.lstrip()))

    def table(
        self, columns: Sequence[str], rows: Sequence[Sequence[str | Text]], *, title: str = "", numbers: bool = False
    ) -> None:
        """A table without lines; where the columns do not fit beside each other, a record for each row. With `numbers`
        all columns but the first end at the same place. Two columns may have the same name.
        """
        if title:
            self.say(title, style="bold")
        head = [Text(name, style="bold") for name in columns]
        body = [[cell if isinstance(cell, Text) else Text(bare(cell)) for cell in row] for row in rows]
        widths = self._widths([list(column) for column in zip(head, *body, strict=True)])
        if widths is None:
            self._records(columns, body)
            return
        for row in [head, *body]:
            self._row(row, widths, numbers)

    def _widths(self, columns: Sequence[Sequence[Text]]) -> list[int] | None:
        """Of every column: all that it wants, or at least what keeps its words whole; None where that does not fit."""
        wanted = [max((line.cell_len for cell in column for line in cell.split()), default=0) for column in columns]
        least = [max((_least(line.plain) for cell in column for line in cell.split()), default=0) for column in columns]
        room = self.width - _GAP * (len(columns) - 1)
        if sum(wanted) <= room:
            return wanted
        if sum(least) > room:
            return None
        missing = [want - have for want, have in zip(wanted, least, strict=True)]
        free = room - sum(least)
        return [have + free * more // sum(missing) for have, more in zip(least, missing, strict=True)]

    def _row(self, row: Sequence[Text], widths: Sequence[int], numbers: bool) -> None:
        broken = [
            [part for line in cell.split() for part in line.wrap(self, max(width, 1))]
            for cell, width in zip(row, widths, strict=True)
        ]
        for place in range(max(map(len, broken))):
            line = Text()
            for column, (parts, width) in enumerate(zip(broken, widths, strict=True)):
                part = parts[place] if place < len(parts) else Text()
                part.rstrip()
                before = width - part.cell_len if numbers and column else 0
                line.append(" " * before).append_text(part)
                line.append(" " * (width - before - part.cell_len + _GAP))
            line.rstrip()
            self.print(line, no_wrap=True, crop=False, overflow="ignore")

    def _records(self, columns: Sequence[str], rows: Iterable[Sequence[Text]]) -> None:
        for row in rows:
            for place, (name, cell) in enumerate(zip(columns, row, strict=True)):
                if not cell.plain.strip():
                    continue
                value = Text("; ").join(cell.split())
                label = Text(f"{'  ' if place else ''}{name}{': ' if name else ''}", style="" if place else "bold")
                self._hang(label + value, 2 if place else 0)

    def _hang(self, line: Text, indent: int) -> None:
        """One line, continued with a deeper indent."""
        deeper = min(indent + 2, self.width // 2)
        first, *others = line[indent:].wrap(self, max(self.width - deeper, 1)) or [Text()]
        for place, part in enumerate([first, *others]):
            part.rstrip()
            self.print(Text(" " * (deeper if place else indent)) + part, no_wrap=True, crop=False, overflow="ignore")


def _least(line: str) -> int:
    return len(line) if len(line) <= _WHOLE else max(_WHOLE, *map(len, line.split() or [""]))
