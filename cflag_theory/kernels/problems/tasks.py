"""Tasks one after the other: a Problem whose past is split into the tasks that made it.

At transition s the past of every client is its data of tasks 1, ..., s - 1 and the current task is task s, so that each
transition is a Problem of its own; the last one is the Problem from which the sequence is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cflag_theory.errors import DataError, InvalidInput
from cflag_theory.kernels import draws
from cflag_theory.kernels.formulas import FIRST_OWN, QUADRATIC
from cflag_theory.kernels.memory.buffers import Buffer, content
from cflag_theory.kernels.memory.memory import Memory, given
from cflag_theory.kernels.numbers import Array, Ints
from cflag_theory.kernels.problems.data import load_data
from cflag_theory.kernels.problems.glm import glm
from cflag_theory.kernels.problems.problem import UPPER_BOUND, Components, Constant, Problem
from cflag_theory.kernels.problems.smoothness import curvature_matrices, largest_norm
from cflag_theory.kernels.problems.validation import grid
from cflag_theory.public import Count, NotNegative, Whole, taking
from cflag_theory.shown import Sheet, Shown

#: Ten classes in pairs, an even and an odd one in each.
PAIRS = ((0, 1), (2, 3), (4, 5), (6, 7), (8, 9))


@dataclass(frozen=True, eq=False, repr=False)
class TaskSequence(Shown):
    """A sequence of S tasks, counted from 1; made by `task_sequence`.

    Attributes
    ----------
    problem : Problem
        The last transition: tasks 1, ..., S - 1 as the past, each client's components in the order of the tasks, and
        task S as the current one. Its p weighs the clients in all objectives, its start is x_0.
    task_of : (past components,)
        The task of every past component.
    """

    problem: Problem
    task_of: Ints

    @property
    def tasks(self) -> int:
        """S."""
        return int(self.task_of.max()) + 1

    def sheet(self) -> Sheet:
        """The components of every task."""
        sizes = [*np.bincount(self.task_of)[1:].tolist(), int(self.problem.current.counts.sum())]
        line = f"{self.problem.name}: {self.tasks} tasks, N = {self.problem.clients}, d = {self.problem.dimension}"
        return Sheet(line, ("task", "components"), list(enumerate(sizes, start=1)))

    def task(self, s: int) -> Components:
        """The components of task s: f_s is sum_i p_i times the mean over client i's."""
        self._check(s, 1)
        return self.problem.current if s == self.tasks else _pick(self.problem.past, self._chosen(s, s))

    def first(self) -> Problem:
        """Task 1, for an algorithm without memory: f and g are both f_1."""
        chosen = self._chosen(1, 1)
        part = _pick(self.problem.past, chosen)
        return self._problem(part, part, self.problem.labels[np.concatenate(chosen)])

    def transition(self, s: int) -> Problem:
        """The Problem with tasks 1, ..., s - 1 as the past and task s as the current one, from s = 2 on."""
        self._check(s, 2)
        if s == self.tasks:
            return self.problem
        chosen = self._chosen(1, s - 1)
        return self._problem(
            _pick(self.problem.past, chosen), self.task(s), self.problem.labels[np.concatenate(chosen)]
        )

    def remembered(self, s: int, buffer: Buffer, *, seed: int = 0, replica: int = 0) -> Memory:
        """What the clients' buffers hold at transition s, as the Memory of `transition(s)`."""
        self._check(s, 2)
        kept, first = [], 0
        for client in range(self.problem.clients):
            streams = [self.problem.labels[self._chosen(task, task)[client]] for task in range(1, s)]
            kept.append(first + content(buffer, streams, seed=seed, replica=replica, client=client))
            first += sum(map(len, streams))
        return given(kept)

    def transition_seed(self, s: int, seed: int) -> int:
        """The seed of task s: rounds are counted from 0 in each, and equal counters must not give equal draws.

        Task 2, the first transition, has the seed itself.
        """
        if s == 2:
            return seed
        low, high, _, _ = draws.words(seed, draws.TRANSITION, 0, 0, s, 0)
        return (low | high << 32) >> 1

    def _check(self, s: int, first: int) -> None:
        if not first <= s <= self.tasks:
            raise InvalidInput(f"task {s} is not there: use {first} to {self.tasks}")

    def _chosen(self, first: int, last: int) -> list[Ints]:
        """Each client's past components of tasks first, ..., last, as indices into all past components."""
        start = self.problem.past.client_start
        wanted = np.flatnonzero((self.task_of >= first) & (self.task_of <= last))
        return [wanted[(wanted >= a) & (wanted < b)] for a, b in pairwise(start.tolist())]

    def _problem(self, past: Components, current: Components, labels: Ints) -> Problem:
        signed = self.problem.potential == QUADRATIC
        matrices = [*curvature_matrices(past, signed=signed), *curvature_matrices(current, signed=signed)]
        why = "largest norm of (1/n_i) A_i^T |W_i| A_i over clients and tasks, as |phi''| <= 1"
        # The components are among those of the whole sequence, the clients' means are not.
        constants = {
            "L": Constant(largest_norm("L", matrices)[0], UPPER_BOUND, why),
            "L_component": replace(self.problem.constants["L_component"], kind=UPPER_BOUND),
        }
        return replace(self.problem, past=past, current=current, labels=labels, constants=constants)


def task_sequence(problem: Problem, tasks: Sequence[Sequence[int]]) -> TaskSequence:
    """Split the past of a problem into tasks by the classes of its components.

    Parameters
    ----------
    problem : Problem
        Its current task becomes the last of the sequence. Clients without data of some task are dropped.
    tasks : sequence of S - 1 sequences of int
        The classes (`problem.labels`) of tasks 1, ..., S - 1; every class of the past in one of them.

    Raises
    ------
    InvalidInput
        A class in none or in two of the tasks, a task without components, no client with data of all tasks, or a
        problem that evolves or holds fractions.
    """
    if problem.own or problem.potential >= FIRST_OWN:
        raise InvalidInput(f"problem {problem.name!r} holds functions of your own: use one without them")
    if problem.exact or problem.evolving:
        raise InvalidInput(f"problem {problem.name!r} holds fractions or evolves: use one of floats and fixed data")
    named, present = list(chain.from_iterable(tasks)), np.unique(problem.labels)
    if len(named) != len(set(named)) or set(named) != set(present.tolist()) or not all(map(len, tasks)):
        raise InvalidInput(
            f"tasks {[list(task) for task in tasks]} of a past with the classes {present.tolist()}: put each class "
            "into exactly one task, and at least one class into each task"
        )
    number = {label: s for s, task in enumerate(tasks, start=1) for label in task}
    task_of = np.array([number[label] for label in problem.labels.tolist()], dtype=np.int64)
    past, current = problem.past, problem.current
    start = past.client_start
    mine = [a + np.argsort(task_of[a:b], kind="stable") for a, b in pairwise(start.tolist())]
    whole = [i for i, chosen in enumerate(mine) if len(np.unique(task_of[chosen])) == len(tasks)]
    if not whole:
        raise InvalidInput(
            f"no client of {problem.name!r} has data of all {len(tasks) + 1} tasks: use fewer clients or tasks, or "
            "data that are spread more evenly"
        )
    order = np.concatenate([mine[i] for i in whole])
    if len(whole) < problem.clients:
        own = [np.arange(current.client_start[i], current.client_start[i + 1]) for i in whole]
        lost = problem.clients - len(whole)
        note = f"{lost} of {problem.clients} clients have no data of some task and were dropped"
        p = problem.p[whole] / problem.p[whole].sum()
        # Of fewer clients these are bounds, and nothing else is known.
        constants = {name: replace(problem.constants[name], kind=UPPER_BOUND) for name in ("L", "L_component")}
        problem = replace(problem, p=p, current=_pick(current, own), constants=constants, notes=(*problem.notes, note))
    elif (order == np.arange(len(order))).all():
        return TaskSequence(problem, task_of)
    problem = replace(problem, past=_pick(past, [mine[i] for i in whole]), labels=problem.labels[order])
    return TaskSequence(problem, task_of[order])


@taking
def random_tasks(
    *,
    tasks: Count = 5,
    clients: Count = 5,
    components: Count = 20,
    dimension: Count = 10,
    heterogeneity: NotNegative = 0.5,
    conflict: NotNegative = 1.0,
    noise: NotNegative = 0.1,
    potential: str = "cauchy",
    seed: Whole = 0,
) -> TaskSequence:
    """A sequence of synthetic regressions, with one optimum per task and client; a class is a task and a target's sign.

    Parameters
    ----------
    tasks : int
        S, at least 2.
    components : int
        Per client and task.
    heterogeneity : float
        Distance between the clients' optima of one task.
    conflict : float
        Distance of each task's optimum from the origin, in a direction of its own.
    noise : float
        Spread of the targets about a.x.
    seed : int
        Of the construction; runs have their own.

    Raises
    ------
    InvalidInput
        A dial outside its range.
    """
    S, N, n, d, random = tasks, clients, components, dimension, np.random.default_rng(seed)
    if S < 2:
        raise InvalidInput(f"tasks is {S}: use at least 2, so that there is a transition")
    owners = np.repeat(np.arange(N), n)
    rows, targets = [], []
    for _ in range(S):
        direction = random.standard_normal(d)
        common = conflict * direction / np.linalg.norm(direction)
        optima = common + heterogeneity * random.standard_normal((N, d)) / np.sqrt(2 * d)
        rows.append(grid(random.standard_normal((N * n, d)) / np.sqrt(d)))
        targets.append(grid((rows[-1] * optima[owners]).sum(axis=1) + noise * random.standard_normal(N * n)))
    labels = np.concatenate([2 * s + (target > 0) for s, target in enumerate(targets[:-1])])
    problem = glm(
        np.concatenate(rows[:-1]),
        np.concatenate(targets[:-1]),
        np.tile(owners, S - 1),
        rows[-1],
        targets[-1],
        owners,
        potential=potential,
        labels=labels,
        name=f"random tasks ({potential})",
    )
    present = set(np.unique(labels).tolist())
    return task_sequence(problem, [sorted({2 * s, 2 * s + 1} & present) for s in range(S - 1)])


def load_tasks(source: str | Path, *, tasks: Sequence[Sequence[int | str]] = PAIRS, **split: Any) -> TaskSequence:
    """Real data as a sequence of tasks: classes in groups, clients by a Dirichlet law.

    Parameters
    ----------
    source : str or Path
        As for `load_data`: "digits", a table or an .npz file.
    tasks : sequence of at least two sequences of int or str
        The classes of each task, disjoint.
    **split
        clients, zeta, seed and the other options of `load_data`.

    Raises
    ------
    DataError, InvalidInput, MissingExtra
        As `load_data`; or fewer than two tasks; or a class that was lost with a dropped client; or no client with
        data of all tasks.
    """
    if len(tasks) < 2:
        raise InvalidInput(f"tasks {list(tasks)}: give the classes of at least two")
    past = list(chain.from_iterable(tasks[:-1]))
    problem = load_data(source, past_classes=past, current_classes=tasks[-1], **split)
    if len(np.unique(problem.labels)) < len(set(past)):
        raise DataError(
            f"a class of {problem.name} was lost with the dropped clients: use fewer clients or a larger zeta"
        )
    rank = {label: place for place, label in enumerate(sorted(past))}
    return task_sequence(problem, [[rank[label] for label in task] for task in tasks[:-1]])


def objectives(sequence: TaskSequence, points: ArrayLike) -> Array:
    """f_1, ..., f_S at each of the points (K, d), shape (S, K)."""
    problem, at = sequence.problem, np.ascontiguousarray(points, dtype=np.float64)
    if at.ndim != 2 or at.shape[1] != problem.dimension:
        raise InvalidInput(f"points have shape {at.shape}: pass (K, {problem.dimension})")
    # Numba takes a second to import, and a sequence alone does not need it.
    from cflag_theory.kernels.engines.mean_values import mean_values

    parts = [sequence.task(s) for s in range(1, sequence.tasks + 1)]
    return np.stack([mean_values(problem.potential, problem.p, part, at) for part in parts])


def _pick(part: Components, chosen: Sequence[Ints]) -> Components:
    """The components with these indices, client by client."""
    order = np.concatenate(chosen)
    start = part.row_start
    rows = np.concatenate([np.arange(start[j], start[j + 1]) for j in order])
    return Components(
        rows=part.rows[rows],
        shifts=part.shifts[rows],
        weights=part.weights[rows],
        offsets=part.offsets[order] if len(part.offsets) else part.offsets,
        row_start=np.concatenate([[0], np.cumsum(np.diff(start)[order])]).astype(np.int64),
        client_start=np.concatenate([[0], np.cumsum([len(mine) for mine in chosen])]).astype(np.int64),
    )
