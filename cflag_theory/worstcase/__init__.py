"""Exact worst cases of federated methods for every number of clients: `worst_case`, `largest_step`, `best_step`.

`methods` poses a row of the algorithm table as a `model.Problem` in `vectors`; `solving` solves it in floats, which
proves nothing; `certificate` proves the upper end in fractions, and `attaining` reaches the lower end by a run of the
simulator.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "Setting": "methods",
    "WorstCase": "worst",
    "worst_case": "worst",
    "LargestStep": "steps",
    "largest_step": "steps",
    "best_step": "steps",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
