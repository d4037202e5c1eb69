"""Problems, memories, algorithms, the simulation loop and its traces.

Names load when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cflag_theory.public import names

if TYPE_CHECKING:
    # As another name, which is the same, they are public for type checkers.
    from cflag_theory.kernels.algorithms import ALGORITHMS as ALGORITHMS
    from cflag_theory.kernels.algorithms import Algorithm as Algorithm
    from cflag_theory.kernels.algorithms import over_sqrt as over_sqrt
    from cflag_theory.kernels.cfl.drift_models import evolving as evolving
    from cflag_theory.kernels.cfl.drift_models import noisy_quadratic as noisy_quadratic
    from cflag_theory.kernels.cfl.drift_models import random_evolving as random_evolving
    from cflag_theory.kernels.cfl.drifts import Drift as Drift
    from cflag_theory.kernels.cfl.round_weights import RoundWeights as RoundWeights
    from cflag_theory.kernels.cfl.windows import Windows as Windows
    from cflag_theory.kernels.cfl.windows import fresh as fresh
    from cflag_theory.kernels.cfl.windows import pointer as pointer
    from cflag_theory.kernels.cfl.windows import subsets as subsets
    from cflag_theory.kernels.memory.bias import bias_bound as bias_bound
    from cflag_theory.kernels.memory.bias import ratio_bound as ratio_bound
    from cflag_theory.kernels.memory.buffers import Buffer as Buffer
    from cflag_theory.kernels.memory.buffers import reservoir as reservoir
    from cflag_theory.kernels.memory.buffers import ring as ring
    from cflag_theory.kernels.memory.buffers import unlimited as unlimited
    from cflag_theory.kernels.memory.memory import Memory as Memory
    from cflag_theory.kernels.memory.memory import class_balanced as class_balanced
    from cflag_theory.kernels.memory.memory import everything as everything
    from cflag_theory.kernels.memory.memory import given as given
    from cflag_theory.kernels.memory.memory import rotation_bias as rotation_bias
    from cflag_theory.kernels.memory.memory import sign_bias as sign_bias
    from cflag_theory.kernels.memory.memory import uniform as uniform
    from cflag_theory.kernels.own.algorithms import algorithm as algorithm
    from cflag_theory.kernels.own.algorithms import own_algorithm as own_algorithm
    from cflag_theory.kernels.own.potentials import own_potential as own_potential
    from cflag_theory.kernels.own.problems import finite_sum as finite_sum
    from cflag_theory.kernels.problems.by_name import PROBLEMS as PROBLEMS
    from cflag_theory.kernels.problems.by_name import default_memory as default_memory
    from cflag_theory.kernels.problems.by_name import default_problem as default_problem
    from cflag_theory.kernels.problems.by_name import glm as glm
    from cflag_theory.kernels.problems.by_name import make_problem as make_problem
    from cflag_theory.kernels.problems.by_name import random_glm as random_glm
    from cflag_theory.kernels.problems.by_name import random_quadratic as random_quadratic
    from cflag_theory.kernels.problems.by_name import random_separable as random_separable
    from cflag_theory.kernels.problems.by_name import to_exact as to_exact
    from cflag_theory.kernels.problems.data import load_data as load_data
    from cflag_theory.kernels.problems.problem import Components as Components
    from cflag_theory.kernels.problems.problem import Constant as Constant
    from cflag_theory.kernels.problems.problem import Problem as Problem
    from cflag_theory.kernels.problems.table import Reading as Reading
    from cflag_theory.kernels.problems.tasks import TaskSequence as TaskSequence
    from cflag_theory.kernels.problems.tasks import load_tasks as load_tasks
    from cflag_theory.kernels.problems.tasks import random_tasks as random_tasks
    from cflag_theory.kernels.problems.tasks import task_sequence as task_sequence
    from cflag_theory.kernels.simulation import simulate as simulate
    from cflag_theory.kernels.trace.store import read_trace as read_trace
    from cflag_theory.kernels.trace.store import write_trace as write_trace
    from cflag_theory.kernels.trace.trace import COLUMNS as COLUMNS
    from cflag_theory.kernels.trace.trace import Status as Status
    from cflag_theory.kernels.trace.trace import Trace as Trace

__getattr__, __all__ = names(
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
