"""Results as tables: one list of sheets, shown with rich or written as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Sheet:
    """A table of words; the first column is a name, the others are numbers unless `text` says so."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text: frozenset[str] = frozenset()
    note: str = ""


def number(value: float) -> str:
    """Three digits, without an exponent where that is readable."""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.{max(0, 2 - _magnitude(value))}f}"
    return f"{value:.2e}"


def _magnitude(value: float) -> int:
    return int(f"{value:e}".partition("e")[2])


def show(sheets: list[Sheet]) -> None:
    """Print the sheets as rich tables."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        # A file has no width, and 80 columns would break every cell.
        console = Console(width=150)
    for sheet in sheets:
        table = Table(title=sheet.title, title_justify="left", caption=sheet.note or None, caption_justify="left")
        for column in sheet.columns:
            table.add_column(column, justify="left" if column in sheet.text else "right")
        for row in sheet.rows:
            table.add_row(*row)
        console.print(table)


def markdown(sheets: list[Sheet]) -> Iterator[str]:
    """Lines of Markdown."""
    for sheet in sheets:
        yield f"### {sheet.title}"
        yield ""
        yield "| " + " | ".join(sheet.columns) + " |"
        yield "|" + "|".join("---" if column in sheet.text else "---:" for column in sheet.columns) + "|"
        for row in sheet.rows:
            yield "| " + " | ".join(cell.replace("|", "/") for cell in row) + " |"
        yield ""
        if sheet.note:
            yield sheet.note
            yield ""


def as_json(value: Any) -> Any:
    """Dataclasses, tuples and numpy numbers as plain values; numbers that are not finite become None."""
    from dataclasses import fields, is_dataclass
    from math import isfinite

    if is_dataclass(value) and not isinstance(value, type):
        found = {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
        derived = ("median", "spread", "met", "powers")
        return found | {name: as_json(getattr(value, name)) for name in derived if hasattr(type(value), name)}
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    if isinstance(value, float):
        return float(value) if isfinite(value) else None
    return value
