"""One learner on one path through a sequence of tasks: a run of `simulate` for each task, from where the last ended."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import Buffer, Problem, TaskSequence, algorithm, everything, simulate
from cflag_theory.kernels.algorithms import CONSTANT, ROUND_UPDATE
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.trace.trace import COSTS
from cflag_theory.studies.forgetting.heterogeneity import Setting


@dataclass(frozen=True)
class Learner:
    """A row of the table of algorithms and the buffer that fills its memory; none for rows without a memory step."""

    algorithm: str
    buffer: Buffer | None = None

    def __post_init__(self) -> None:
        row = algorithm(self.algorithm)
        if row.memory != (self.buffer is not None):
            remedy = "give it a buffer" if row.memory else "leave the buffer out"
            raise InvalidInput(f"algorithm {self.algorithm!r} and buffer {self.buffer}: {remedy}")
        if not row.classic:
            raise InvalidInput(f"algorithm {self.algorithm!r} remembers rounds, not tasks: use a row of C-FLAG's kind")

    def __str__(self) -> str:
        return self.algorithm if self.buffer is None else f"{self.algorithm}, {self.buffer}"


def read_learner(words: str) -> Learner:
    """A learner from ALGORITHM, ALGORITHM/all, ALGORITHM/ring/SIZE or ALGORITHM/reservoir/SIZE."""
    name, *rest = words.split("/")
    if not rest:
        return Learner(name)
    kind, *size = rest
    if len(size) > 1 or not all(part.isdecimal() for part in size):
        raise InvalidInput(f"learner {words!r} is not understood: write ALGORITHM/BUFFER/SIZE, such as c_flag/ring/20")
    return Learner(name, Buffer(kind, *map(int, size)))


@dataclass(frozen=True)
class Path:
    """One replica of one learner on S tasks."""

    #: (R + 1, d): Over the rounds of all tasks.
    iterates: Array
    #: (rounds of the transitions,): The forgetting term (15).
    Gamma: Array
    #: (S,), mapping of str to (S,): Of each task: the time of its `simulate`, cheap measurements included, and the sums
    #: of `trace.COSTS`.
    seconds: list[float]
    costs: dict[str, list[float]]
    #: (S - 1,): Components in all clients' buffers at each transition; empty without a buffer.
    kept: list[int]


def walk(
    sequence: TaskSequence,
    phases: Sequence[Problem],
    learner: Learner,
    setting: Setting,
    *,
    L: float,
    first_rounds: int,
    replica: int,
) -> Path:
    """Learn the tasks of `phases` (the first task and the transitions, or as many of them as are wanted) one after the
    other. L sets alpha and beta, `first_rounds` are those on task 1, and `replica` is whose draws are used.
    """
    row, (alpha, beta) = algorithm(learner.algorithm), setting.step_sizes(L)
    x = sequence.problem.start
    iterates, Gamma, kept = [x[None]], [], []
    seconds, costs = [0.0] * len(phases), {name: [0.0] * len(phases) for name in COSTS}
    for place, problem in enumerate(phases):
        memory = everything()
        if place == 0:
            # Before any past there is nothing to remember: C-FLAG without a memory is FedTrack.
            now, rounds = replace(row, memory=False, adaptive=CONSTANT, server=ROUND_UPDATE), first_rounds
        else:
            now, rounds = row, setting.rounds
            if learner.buffer is not None:
                memory = sequence.remembered(place + 1, learner.buffer, seed=setting.seed, replica=replica)
                kept.append(sum(map(len, memory.kept)))
        if not rounds:
            continue
        began = time.perf_counter()
        trace = simulate(
            replace(problem, start=x),
            now,
            alpha=alpha if now.memory else 0,
            beta=beta,
            local_steps=setting.local_steps,
            rounds=rounds,
            memory=memory,
            seed=sequence.transition_seed(place + 1, setting.seed),
            first_replica=replica,
            threads=1,
            iterates=True,
        )
        seconds[place] = time.perf_counter() - began
        for name in COSTS:
            costs[name][place] = float(trace.column(name).sum())
        assert trace.iterates is not None
        iterates.append(trace.iterates[0, 1:])
        x = trace.iterates[0, -1].copy()
        if place:
            Gamma.append(trace.column("Gamma")[0])
    return Path(np.concatenate(iterates), np.concatenate(Gamma), seconds, costs, kept)
