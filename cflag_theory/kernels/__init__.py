"""Problems, memories, algorithms, the simulation loop and its traces.

Names load when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cflag_theory.public import names

if TYPE_CHECKING:
    from cflag_theory.kernels.algorithms import ALGORITHMS, Algorithm, over_sqrt
    from cflag_theory.kernels.cfl.drift_models import evolving, noisy_quadratic, random_evolving
    from cflag_theory.kernels.cfl.drifts import Drift
    from cflag_theory.kernels.cfl.round_weights import RoundWeights
    from cflag_theory.kernels.cfl.windows import Windows, fresh, pointer, subsets
    from cflag_theory.kernels.memory.bias import bias_bound, ratio_bound
    from cflag_theory.kernels.memory.buffers import Buffer, reservoir, ring, unlimited
    from cflag_theory.kernels.memory.memory import (
        Memory,
        class_balanced,
        everything,
        given,
        rotation_bias,
        sign_bias,
        uniform,
    )
    from cflag_theory.kernels.own.algorithms import algorithm, own_algorithm
    from cflag_theory.kernels.own.potentials import own_potential
    from cflag_theory.kernels.own.problems import finite_sum
    from cflag_theory.kernels.problems.by_name import (
        PROBLEMS,
        default_memory,
        default_problem,
        glm,
        make_problem,
        random_glm,
        random_quadratic,
        random_separable,
        to_exact,
    )
    from cflag_theory.kernels.problems.data import load_data
    from cflag_theory.kernels.problems.problem import Components, Constant, Problem
    from cflag_theory.kernels.problems.table import Reading
    from cflag_theory.kernels.problems.tasks import TaskSequence, load_tasks, random_tasks, task_sequence
    from cflag_theory.kernels.simulation import simulate
    from cflag_theory.kernels.trace.store import read_trace, write_trace
    from cflag_theory.kernels.trace.trace import COLUMNS, Status, Trace

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
    "Reading",
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
    "finite_sum",
    "fresh",
    "given",
    "glm",
    "load_data",
    "load_tasks",
    "make_problem",
    "noisy_quadratic",
    "over_sqrt",
    "own_algorithm",
    "own_potential",
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

__getattr__, _ = names(
    __name__,
    {
        "algorithms": "ALGORITHMS Algorithm over_sqrt",
        "cfl.drift_models": "evolving noisy_quadratic random_evolving",
        "cfl.drifts": "Drift",
        "cfl.round_weights": "RoundWeights",
        "cfl.windows": "Windows fresh pointer subsets",
        "memory.bias": "bias_bound ratio_bound",
        "memory.buffers": "Buffer reservoir ring unlimited",
        "memory.memory": "Memory class_balanced everything given rotation_bias sign_bias uniform",
        "own.algorithms": "algorithm own_algorithm",
        "own.potentials": "own_potential",
        "own.problems": "finite_sum",
        "problems.by_name": "PROBLEMS default_memory default_problem glm make_problem random_glm random_quadratic "
        "random_separable to_exact",
        "problems.data": "load_data",
        "problems.problem": "Components Constant Problem",
        "problems.table": "Reading",
        "problems.tasks": "TaskSequence load_tasks random_tasks task_sequence",
        "simulation": "simulate",
        "trace.store": "read_trace write_trace",
        "trace.trace": "COLUMNS Status Trace",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
