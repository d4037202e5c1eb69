"""Exact worst cases of federated methods for every number of clients: `worst_case`, `largest_step`, `best_step`.

`methods` poses a row of the algorithm table as a `model.Problem` in `vectors`; `solving` solves it in floats, which
proves nothing; `certificate` proves the upper end in fractions, and `attaining` reaches the lower end by a run of the
simulator.
"""

from __future__ import annotations

from cflag_theory.public import names

__getattr__, __all__ = names(
    __name__,
    {"methods": "Setting", "worst": "WorstCase worst_case", "steps": "LargestStep best_step largest_step"},
)
