"""What the algorithms do: problems, memories, one simulation loop, traces.

Names load when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .algorithms import ALGORITHMS, Algorithm, algorithm, over_sqrt
    from .bias import bias_bound, ratio_bound
    from .data import load_data
    from .memory import Memory, class_balanced, everything, rotation_bias, sign_bias, uniform
    from .problem import Components, Constant, Problem
    from .problems import (
        PROBLEMS,
        default_memory,
        default_problem,
        make_problem,
        random_glm,
        random_quadratic,
        random_separable,
        to_exact,
    )
    from .simulation import simulate
    from .store import read_trace, write_trace
    from .trace import COLUMNS, Status, Trace

__all__ = [
    "ALGORITHMS",
    "COLUMNS",
    "PROBLEMS",
    "Algorithm",
    "Components",
    "Constant",
    "Memory",
    "Problem",
    "Status",
    "Trace",
    "algorithm",
    "bias_bound",
    "class_balanced",
    "default_memory",
    "default_problem",
    "everything",
    "load_data",
    "make_problem",
    "over_sqrt",
    "random_glm",
    "random_quadratic",
    "random_separable",
    "ratio_bound",
    "read_trace",
    "rotation_bias",
    "sign_bias",
    "simulate",
    "to_exact",
    "uniform",
    "write_trace",
]

_HOMES = {
    "algorithms": ("ALGORITHMS", "Algorithm", "algorithm", "over_sqrt"),
    "bias": ("bias_bound", "ratio_bound"),
    "data": ("load_data",),
    "memory": ("Memory", "class_balanced", "everything", "rotation_bias", "sign_bias", "uniform"),
    "problem": ("Components", "Constant", "Problem"),
    "problems": (
        "PROBLEMS",
        "default_memory",
        "default_problem",
        "make_problem",
        "random_glm",
        "random_quadratic",
        "random_separable",
        "to_exact",
    ),
    "simulation": ("simulate",),
    "store": ("read_trace", "write_trace"),
    "trace": ("COLUMNS", "Status", "Trace"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f".{home}", __name__), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
