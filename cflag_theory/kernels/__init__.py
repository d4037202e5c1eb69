"""What the algorithms do: problems, memories, one simulation loop, traces.

Names load when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .algorithms import ALGORITHMS, Algorithm, algorithm, over_sqrt
    from .bias import bias_bound, ratio_bound
    from .buffers import Buffer, reservoir, ring, unlimited
    from .data import load_data
    from .drift_models import evolving, noisy_quadratic, random_evolving
    from .drifts import Drift
    from .memory import Memory, class_balanced, everything, given, rotation_bias, sign_bias, uniform
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
    from .round_weights import RoundWeights
    from .simulation import simulate
    from .store import read_trace, write_trace
    from .tasks import TaskSequence, load_tasks, random_tasks, task_sequence
    from .trace import COLUMNS, Status, Trace
    from .windows import Windows, fresh, pointer, subsets

__all__ = [
    "ALGORITHMS",
    "COLUMNS",
    "PROBLEMS",
    "Algorithm",
    "Buffer",
    "Components",
    "Constant",
    "Drift",
    "Memory",
    "Problem",
    "RoundWeights",
    "Status",
    "TaskSequence",
    "Trace",
    "Windows",
    "algorithm",
    "bias_bound",
    "class_balanced",
    "default_memory",
    "default_problem",
    "everything",
    "evolving",
    "fresh",
    "given",
    "load_data",
    "load_tasks",
    "make_problem",
    "noisy_quadratic",
    "over_sqrt",
    "pointer",
    "random_evolving",
    "random_glm",
    "random_quadratic",
    "random_separable",
    "random_tasks",
    "ratio_bound",
    "read_trace",
    "reservoir",
    "ring",
    "rotation_bias",
    "sign_bias",
    "simulate",
    "subsets",
    "task_sequence",
    "to_exact",
    "uniform",
    "unlimited",
    "write_trace",
]

_HOMES = {
    "algorithms": ("ALGORITHMS", "Algorithm", "algorithm", "over_sqrt"),
    "bias": ("bias_bound", "ratio_bound"),
    "buffers": ("Buffer", "reservoir", "ring", "unlimited"),
    "data": ("load_data",),
    "drift_models": ("evolving", "noisy_quadratic", "random_evolving"),
    "drifts": ("Drift",),
    "memory": ("Memory", "class_balanced", "everything", "given", "rotation_bias", "sign_bias", "uniform"),
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
    "round_weights": ("RoundWeights",),
    "simulation": ("simulate",),
    "store": ("read_trace", "write_trace"),
    "tasks": ("TaskSequence", "load_tasks", "random_tasks", "task_sequence"),
    "trace": ("COLUMNS", "Status", "Trace"),
    "windows": ("Windows", "fresh", "pointer", "subsets"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f".{home}", __name__), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
