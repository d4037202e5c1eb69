"""Claims of the user: exact algebra tries to decide them, and a search looks for small rational counterexamples."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "Conjecture": "conjecture",
    "Decision": "decisions.decision",
    "Finding": "finding",
    "Range": "ranges",
    "audit": "decisions.auditing",
    "decide": "decisions.deciding",
    "falsify": "falsifying",
    "prove": "decisions.deciding",
    "quadratics": "search.families",
    "repair": "decisions.repairs",
    "replay": "saving",
    "ridges": "search.families",
}
# The words of claims with vectors.
_HOME |= dict.fromkeys(
    (
        "dot",
        "draws",
        "function",
        "index",
        "least",
        "mean",
        "norm",
        "norm2",
        "sequence",
        "sum_over",
        "vector",
        "vectors",
    ),
    "vector_terms.words",
)
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
