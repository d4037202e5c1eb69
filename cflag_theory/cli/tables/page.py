"""Standard output for people: plain lines, and tables whose cells are printed as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text


class Page(Console):
    """A console that highlights nothing.

    Parameters
    ----------
    most : int, optional
        Columns: no line is wider, and where standard output is no terminal lines are as wide.
    more
        As `rich.console.Console` takes them.
    """

    def __init__(self, most: int | None = None, **more: Any) -> None:
        super().__init__(highlight=False, **more)
        if most is not None and (not self.is_terminal or self.width > most):
            self.width = most

    def say(self, words: str | Text, style: str = "") -> None:
        """One line, or several; nothing in them is taken for markup."""
        self.print(Text(words, style=style) if isinstance(words, str) else words)

    def table(
        self,
        columns: Sequence[str] | Mapping[str, int | None],
        rows: Sequence[Sequence[str | Text]],
        *,
        whole: bool = True,
        **more: Any,
    ) -> None:
        """A table without lines.

        Parameters
        ----------
        columns : sequence of str, or mapping of str to int or None
            Their names, or their names with widths; None takes what is left.
        rows : sequence of sequences of str or Text
        whole : bool
            Whether the first column, which holds what the row is about, is never broken.
        more
            As `rich.table.Table` takes them.
        """
        table = Table(box=None, pad_edge=False, header_style="bold", **more)
        # Two columns may have the same name, such as the dial that is varied and a constant.
        widths = columns.items() if isinstance(columns, Mapping) else [(name, None) for name in columns]
        for place, (name, width) in enumerate(widths):
            table.add_column(name, overflow="fold", no_wrap=whole and place == 0, width=width)
        for row in rows:
            table.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in row))
        self.print(table)
