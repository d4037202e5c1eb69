"""Several transitions in a row: what every earlier task loses, and where time and gradient evaluations go.

Task 1 is learned without a past. Then every transition is one Problem, started where the one before it ended, whose
memory is exactly what the clients' buffers hold. The objective of task tau is f_tau, the weighted mean of the clients'
means over that task's data; its forgetting is f_tau(x) - f_tau(x at the end of task tau).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

import numpy as np

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import Buffer, Problem, TaskSequence, algorithm, everything, simulate
from cflag_theory.kernels.algorithms import CONSTANT, ROUND_UPDATE
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.problems.tasks import objectives
from cflag_theory.kernels.trace.trace import COSTS
from cflag_theory.public import at_least, taking
from cflag_theory.sizes import require_room
from cflag_theory.studies.forgetting.heterogeneity import Curve, Mean, Setting, curve_of, mean_of
from cflag_theory.studies.rates.statistics import resampling


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


@dataclass(frozen=True)
class TaskRun:
    """One learner on one sequence of S tasks; sequences along rounds have R + 1 entries, R the rounds of all tasks."""

    learner: str
    #: (S + 1,): The round at which task 1, ..., S begins, and R.
    ends: tuple[int, ...]
    #: S curves: f_1, ..., f_S along rounds.
    objectives: tuple[Curve, ...]
    #: Average forgetting along rounds: the mean of f_tau(x_t) - f_tau(x at the end of task tau) over the tasks that are
    #: over; 0 during the first.
    along: Curve
    #: S - 1 tuples of 1, ..., S - 1 Means: After task s = 2, ..., S that of tasks 1, ..., s - 1.
    forgetting: tuple[tuple[Mean, ...], ...]
    #: S - 1 Means: Their means; the last is the paper's Forget (Sec. 7) with objectives in place of accuracies.
    average: tuple[Mean, ...]
    #: S Means: f_tau before task tau minus after it.
    learned: tuple[Mean, ...]
    #: The forgetting term (15) along the rounds of the transitions; for rows without a memory step that of alpha = 0
    #: and of a memory of everything.
    Gamma: Curve
    #: (S,), mapping of str to (S,): Of each task, means over replicas: time on one thread, cheap measurements included;
    #: component gradients evaluated ("ifo_calls") and numbers sent ("communicated").
    seconds: tuple[float, ...]
    costs: dict[str, tuple[float, ...]]
    #: (S - 1,): Components in all clients' buffers at each transition, mean over replicas.
    kept: tuple[float, ...]


@dataclass(frozen=True)
class TaskStudy:
    """Learners side by side on one sequence, with the same draws."""

    title: str
    notes: tuple[str, ...]
    tasks: int
    clients: int
    dimension: int
    L: float
    alpha: float
    beta: float
    E: int
    T: int
    first_rounds: int
    replicas: int
    seed: int
    runs: tuple[TaskRun, ...]

    @property
    def finding(self) -> str:
        """Who forgets least in the end, and who learns most."""
        ends = {run.learner: run.average[-1].mean for run in self.runs if run.average}
        if not ends:
            return "nothing is forgotten yet"
        learned = {run.learner: sum(value.mean for value in run.learned) / len(run.learned) for run in self.runs}
        least, most = min(ends, key=ends.__getitem__), max(learned, key=learned.__getitem__)
        said = f"{least} forgets least, {ends[least]:.2g} on average"
        if least == most:
            return f"{said}, and lowers the loss of a new task most"
        return (
            f"{said}, and lowers the loss of a new task by {learned[least]:.2g}; {most} lowers it most, by "
            f"{learned[most]:.2g}, and forgets {ends[most]:.2g}"
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        return asdict(self) | {"finding": self.finding}


@taking
def task_study(
    sequence: TaskSequence,
    learners: Sequence[Learner],
    setting: Setting | None = None,
    *,
    first_rounds: Annotated[int, at_least(0, 32)] | None = None,
    progress: Callable[[str], None] | None = None,
) -> TaskStudy:
    """Run every learner through the sequence.

    Parameters
    ----------
    sequence : TaskSequence
        As `random_tasks`, `load_tasks` or `task_sequence` make it.
    learners : sequence of Learner
        At least one.
    setting : Setting, optional
        Rounds are per task; alpha and beta are those of the largest L of the transitions.
    first_rounds : int, optional
        Rounds on task 1; as many as on the others by default, 0 to begin at x_0 as if it had been learned there.
    progress : callable, optional
        Called with a few words after each replica of each learner.

    Raises
    ------
    InvalidInput
        No learner, or a value that `simulate` refuses.
    Diverged
        If a run leaves the finite numbers.
    """
    setting = Setting() if setting is None else setting
    first_rounds = setting.rounds if first_rounds is None else first_rounds
    if not learners:
        raise InvalidInput("there is no learner: name at least one")
    rounds = first_rounds + setting.rounds * (sequence.tasks - 1)
    numbers = 2 * sequence.problem.dimension + 4 * sequence.tasks + 10
    require_room(
        8 * setting.replicas * rounds * numbers,
        f"a study of {sequence.tasks} tasks, {setting.rounds} rounds of each and {setting.replicas} replicas",
        "use fewer rounds (--T) or replicas",
    )
    phases = [sequence.first(), *(sequence.transition(s) for s in range(2, sequence.tasks + 1))]
    L = max(float(problem.constants["L"].value) for problem in phases)
    weights = resampling(setting.replicas, setting.seed)
    runs = []
    for learner in learners:
        paths = []
        # Compiling is not part of what a task costs.
        walk(
            sequence, phases[:2], learner, replace(setting, rounds=1), L=L, first_rounds=min(1, first_rounds), replica=0
        )
        for replica in range(setting.replicas):
            paths.append(walk(sequence, phases, learner, setting, L=L, first_rounds=first_rounds, replica=replica))
            if progress:
                progress(str(learner))
        runs.append(_run(sequence, learner, paths, setting.rounds, first_rounds, weights))
    return TaskStudy(
        title=sequence.problem.name,
        notes=sequence.problem.notes,
        tasks=sequence.tasks,
        clients=sequence.problem.clients,
        dimension=sequence.problem.dimension,
        T=setting.rounds,
        first_rounds=first_rounds,
        **setting.record(L),
        runs=tuple(runs),
    )


def _run(
    sequence: TaskSequence, learner: Learner, paths: Sequence[Path], T: int, first_rounds: int, weights: Array
) -> TaskRun:
    S = sequence.tasks
    ends = [0, first_rounds, *(first_rounds + T * s for s in range(1, S))]
    # (replicas, S, rounds + 1): f_1, ..., f_S along every path.
    values = np.stack([objectives(sequence, path.iterates) for path in paths])
    at_end = np.stack([values[:, tau, ends[tau + 1]] for tau in range(S)], axis=1)
    lost = values - at_end[:, :, None]
    along = np.zeros((len(paths), ends[-1] + 1))
    for s in range(1, S):
        span = slice(ends[s] + 1, ends[s + 1] + 1)
        along[:, span] = lost[:, :s, span].mean(axis=1)
    after = [lost[:, :s, ends[s + 1]] for s in range(1, S)]
    costs = {name: tuple(np.mean([path.costs[name] for path in paths], axis=0).tolist()) for name in COSTS}
    return TaskRun(
        learner=str(learner),
        ends=tuple(ends),
        objectives=tuple(curve_of(values[:, tau], weights) for tau in range(S)),
        along=curve_of(along, weights),
        forgetting=tuple(tuple(mean_of(column, weights) for column in lost_then.T) for lost_then in after),
        average=tuple(mean_of(lost_then.mean(axis=1), weights) for lost_then in after),
        learned=tuple(mean_of(values[:, tau, ends[tau]] - at_end[:, tau], weights) for tau in range(S)),
        Gamma=curve_of(np.stack([path.Gamma for path in paths]), weights),
        seconds=tuple(np.mean([path.seconds for path in paths], axis=0).tolist()),
        costs=costs,
        kept=tuple(np.mean([path.kept for path in paths], axis=0).tolist()) if learner.buffer else (),
    )
