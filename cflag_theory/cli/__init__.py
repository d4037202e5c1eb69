"""The command line: commands, tables and the report."""

from __future__ import annotations

from cflag_theory.public import names

__getattr__, __all__ = names(
    __name__,
    {
        "report": "write_report",
    },
)
