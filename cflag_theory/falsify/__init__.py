"""The falsifier: a user's claim is put to exact algebra, then searched for a small rational counterexample."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "Conjecture": "conjecture",
    "Finding": "finding",
    "Range": "ranges",
    "falsify": "decide",
    "quadratics": "families",
    "replay": "saving",
    "ridges": "families",
}
__all__ = ["Conjecture", "Finding", "Range", "falsify", "quadratics", "replay", "ridges"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
