"""Pictures: results in, `matplotlib.figure.Figure` out. Nothing here computes a result."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "rate_figure": "rate",
    "cfl_rate_figure": "cfl_rate",
    "drift_figure": "drift",
    "floors_figure": "floors",
    "nqm_figure": "nqm",
    "expectation_figure": "floors",
    "save": "style",
}
__all__ = [
    "cfl_rate_figure",
    "drift_figure",
    "expectation_figure",
    "floors_figure",
    "nqm_figure",
    "rate_figure",
    "save",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
