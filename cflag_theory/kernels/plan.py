"""What engines read and fill: a checked `Plan`, its `Outputs`, and what both take in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.algorithms import Algorithm
from cflag_theory.kernels.cfl.framework import Framework
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.memory.memory import Memory
from cflag_theory.kernels.numbers import CORES, Array, Ints
from cflag_theory.kernels.problems.problem import Problem, Seen, digest
from cflag_theory.kernels.trace.trace import PER_CLIENT, ROUND, STATE
from cflag_theory.sizes import require_room

#: Machine code for floats, plain NumPy for floats and fractions, or an NVIDIA GPU.
COMPILED, REFERENCE, CUDA = ENGINES = ("compiled", "reference", "cuda")
#: How much is measured: nothing but the end, what costs next to nothing, or also full gradients at local steps.
DIAGNOSTICS = ("none", "cheap", "all")
#: Whether a replica's numbers may depend, by rounding, on which others run beside it.
BITWISE, FAST = MODES = ("bitwise", "fast")
#: Replicas from which on a product of matrices pays.
TOGETHER = 3
DTYPES = ("float64", "float32")
#: A run whose ||x||^2 exceeds this has diverged; far enough below the largest float for squares of gradients.
LIMIT = 1e200


@dataclass(frozen=True, eq=False)
class Plan:
    """A run whose arguments have been checked; all numbers are floats, or all are `Fraction`.

    alpha is 0 for rows without a memory step. `memory_share` is |M| / (|M| + |C|), the weight of f_memory in h~.
    `framework` is None for plain runs: fixed local data, all clients, nothing remembered.

    Draws are those of the replicas first_replica, first_replica + 1, ...; `recorded` names the columns of `STATE`,
    `ROUND` and `PER_CLIENT` that are wanted of every round, and those of full local gradients are measured in every
    `every`-th round, from the first on. `absent` says why the other columns are not there, and `chosen` whether the
    caller named those that are. `iterates` says whether x_0, ..., x_T are kept. `orders` (rounds, N, E) replaces the
    drawn component indices, counted within each client. `mode` and `threads` are those of the compiled engine.
    """

    problem: Problem
    row: Algorithm
    memory: Memory | None
    alpha: Any
    beta: Any
    proximal: Any
    server_rate: Any
    scale: Any
    L: Any
    memory_share: Any
    local_steps: int
    rounds: int
    replicas: int
    seed: int
    diagnostics: int
    framework: Framework | None = None
    first_replica: int = 0
    mode: str = BITWISE
    dtype: str = DTYPES[0]
    every: int = 1
    recorded: tuple[str, ...] = (*STATE, *ROUND, *PER_CLIENT)
    absent: Mapping[str, str] = field(default_factory=dict)
    chosen: bool = False
    iterates: bool = False
    engine: str = COMPILED
    threads: int | None = None
    orders: Ints | None = None
    known: Seen | None = None

    @property
    def loop(self) -> str:
        """Which loop runs, for records: that of the framework has one mode, and so have errors of estimates."""
        if self.engine != COMPILED:
            return self.engine
        if self.problem.own:
            return "own"
        if self.framework is not None:
            return "framework"
        return "blocks, together" if self.together else "blocks"

    @property
    def selective(self) -> bool:
        """Whether outputs have slots for the recorded columns alone, and Lambda only if it is one of them."""
        plain = self.engine == COMPILED and self.framework is None and not self.problem.own
        return plain and (self.chosen or self.diagnostics == 0)

    @property
    def together(self) -> bool:
        """Whether replicas share products; errors of estimates are compared with gradients of one replica."""
        return self.mode == FAST and self.diagnostics < 2 and self.replicas >= TOGETHER

    @cached_property
    def digest(self) -> str:
        """A hash of the problem's arrays."""
        return digest(self.problem, self.known)


@dataclass(frozen=True, eq=False)
class Outputs:
    """Arrays that an engine fills; slots are in the order of `STATE` and `ROUND`."""

    #: (replicas, rounds + 1, 8), or (replicas, 1, 8) where only the end is measured.
    state: Array
    #: (replicas, rounds, 8).
    per_round: Array
    #: (replicas, rounds, N).
    Lambda: Array
    #: (replicas, rounds + 1, d) or (replicas, 0, d).
    iterates: Array
    #: (replicas,): -1 rounds done: the objective is not finite at x_0.
    status: Ints
    rounds_done: Ints
    #: (replicas, 8): `STATE` at the last iterate of a selective run.
    end: Array
    #: (replicas, rounds) or (replicas, 0): Gradient evaluations of `costs`, where they are not the same in every round.
    ifo_calls: Ints


def slots(plan: Plan) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns in the slots of `Outputs.state` and of `Outputs.per_round`."""
    names = tuple(STATE), tuple(ROUND)
    if not plan.selective:
        return names
    state, per_round = (tuple(name for name in group if name in plan.recorded) for group in names)
    return state, per_round


def shapes(plan: Plan) -> dict[str, tuple[int, ...]]:
    """The shapes of `Outputs`."""
    replicas, rounds, problem = plan.replicas, plan.rounds, plan.problem
    state, per_round = slots(plan)
    kept = rounds if plan.diagnostics > 0 else 0
    states = (rounds + 1 if state else 0) if plan.selective else kept + 1
    listed = kept if "Lambda" in plan.recorded or not plan.selective else 0
    return {
        "state": (replicas, states, len(state)),
        "per_round": (replicas, kept if per_round else 0, len(per_round)),
        "Lambda": (replicas, listed, problem.clients),
        "iterates": (replicas, rounds + 1 if plan.iterates else 0, problem.dimension),
        "status": (replicas,),
        "rounds_done": (replicas,),
        "end": (replicas, len(STATE)),
        "ifo_calls": (replicas, 0 if plan.framework is None else kept),
    }


def empty_outputs(plan: Plan) -> Outputs:
    """Zeros of the plan's number type in the shapes of `Outputs`."""

    def zeros(name: str, shape: tuple[int, ...]) -> Array:
        if name in ("status", "rounds_done", "ifo_calls"):
            return np.zeros(shape, dtype=np.int64)
        return np.full(shape, Fraction(0), dtype=object) if plan.problem.exact else np.zeros(shape)

    return Outputs(**{name: zeros(name, shape) for name, shape in shapes(plan).items()})


#: Rounds and local steps fill a 32-bit word of a draw's counter each.
MOST_STEPS = 1 << 32
#: A `Fraction` with two short integers.
_FRACTION = 200
#: Replicas that are computed side by side on a core, at most.
_AT_ONCE = 64


def require_fit(plan: Plan) -> None:
    """Raise `InvalidInput` where a run would not fit into memory, before anything of it is allocated."""
    for name, value in (("rounds", plan.rounds), ("local_steps", plan.local_steps)):
        if value >= MOST_STEPS:
            raise InvalidInput(f"{name} is {value}: use fewer than 2^32")
    number = _FRACTION if plan.problem.exact else 8
    # The columns of a Trace are copies of what the engine fills.
    filled = 2 * number * sum(map(prod, shapes(plan).values()))
    loops = 8 * _numbers_of_loops(plan)
    if plan.orders is not None:
        filled += plan.orders.nbytes
    remedy = (
        "use fewer local steps"
        if loops > filled
        else "use fewer rounds or replicas, or record less (diagnostics 'none', or fewer columns)"
    )
    what = f"a run of {plan.rounds} rounds, {plan.local_steps} local steps and {plan.replicas} replicas"
    require_room(filled + loops, what, remedy)


def _numbers_of_loops(plan: Plan) -> int:
    """What the compiled loops hold of each client and local step, for replicas that run at the same time."""
    if plan.engine != COMPILED or plan.framework is not None:
        return 0
    cores = min(plan.threads or CORES, plan.replicas)
    batch = min(_AT_ONCE, -(-plan.replicas // cores))
    clients, d, E = plan.problem.clients, plan.problem.dimension, plan.local_steps
    steps = 2 * d if plan.diagnostics > 1 or plan.problem.family == "separable" else 0
    return cores * (batch * clients * (E + d) + E * steps)
