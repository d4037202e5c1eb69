"""The command line: commands, tables and the report."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "write_report": "report",
}
__all__ = ["write_report"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
