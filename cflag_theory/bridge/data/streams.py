"""Tasks x clients: which samples each client trains on in each task, and what it remembers of the tasks before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from cflag_theory.bridge.data.datasets import Images
from cflag_theory.bridge.data.keyed import keyed
from cflag_theory.bridge.data.partition import CLASS_OVER_CLIENTS, Floats, Ints, partition_task
from cflag_theory.errors import DataError, InvalidInput
from cflag_theory.kernels.memory.buffers import content, reservoir, ring
from cflag_theory.public import Count, Dirichlet, Whole, at_least, one_of, taking

#: Tasks of each data set in the paper, and of the digits: 2, 20, 20 and 2 classes a task.
TASKS = {"cifar10": 5, "cifar100": 5, "tinyimagenet": 10, "digits": 5}
GIVEN, SHUFFLED = CLASS_ORDERS = ("given", "shuffled")
RING, RESERVOIR, BY_TASK = MEMORIES = ("ring", "reservoir", "by-task")
#: With so few samples minibatches are too small; the notes name clients that have no more.
FEW = 2
#: Most clients that a note names.
NAMED = 10


@dataclass(frozen=True)
class Stream:
    """A data set as S tasks for N clients."""

    #: The classes of each task; a class's number within its task is its place here.
    classes: tuple[tuple[int, ...], ...]
    #: By task and client increasing indices into the train images; some may be empty.
    train: tuple[tuple[Ints, ...], ...]
    #: By task increasing indices into the test images: all those of the task's classes.
    test: tuple[Ints, ...]
    #: (S, N): p_i = |C^i| / |C| of each task; 0 for a client without samples in that task.
    shares: Floats
    #: What a reader of results should know: clients without samples or with few, and the notes of the images.
    notes: tuple[str, ...] = ()

    @property
    def tasks(self) -> int:
        """S."""
        return len(self.classes)

    @property
    def clients(self) -> int:
        """N."""
        return len(self.train[0])


@taking
def split_tasks(
    images: Images,
    *,
    tasks: Count | None = None,
    clients: Count,
    zeta: Dirichlet,
    partition: str = CLASS_OVER_CLIENTS,
    sizes: Sequence[int] | None = None,
    class_order: Annotated[str, one_of(*CLASS_ORDERS, called="class order")] = GIVEN,
    seed: Whole,
) -> Stream:
    """Cut the classes into tasks of equal numbers of classes, and deal each task out to the clients.

    Parameters
    ----------
    images : Images
    tasks : int, optional
        By default 5 (digits, cifar10, cifar100) or 10 (tinyimagenet).
    clients, zeta, partition, sizes
        As in `partition_task`.
    class_order : str
        "given" (by label) or "shuffled" (by the seed).
    seed : int
        In [0, 2^63).

    Raises
    ------
    DataError
        A task without train or without test images.
    InvalidInput
        A number of tasks that does not divide the number of classes; see also `partition_task`.
    UnknownName
        An unknown partition or class order.
    """
    total = len(images.classes)
    count = TASKS.get(images.name) if tasks is None else tasks
    if count is None or total % count:
        divisors = ", ".join(str(number) for number in range(1, total + 1) if total % number == 0)
        raise InvalidInput(f"tasks is {count!r}, but {images.name} has {total} classes: use one of {divisors}")
    order = keyed(seed, "class order").permutation(total) if class_order == SHUFFLED else np.arange(total)
    classes = tuple(tuple(row) for row in order.reshape(count, -1).tolist())
    train, test = [], []
    for task, chosen in enumerate(classes):
        train.append(
            partition_task(
                images.train_labels,
                chosen,
                clients=clients,
                zeta=zeta,
                partition=partition,
                sizes=sizes,
                task=task,
                seed=seed,
            )
        )
        test.append(np.flatnonzero(np.isin(images.test_labels, chosen)))
        for split, found in (("train", sum(map(len, train[-1]))), ("test", len(test[-1]))):
            if not found:
                raise DataError(
                    f"task {task + 1} of {images.name} (classes {', '.join(map(str, chosen))}) has no {split} images: "
                    "use fewer tasks or whole data"
                )
    lengths = np.array([[len(indices) for indices in row] for row in train], dtype=np.float64)
    return Stream(
        classes=classes,
        train=tuple(train),
        test=tuple(test),
        shares=lengths / lengths.sum(axis=1, keepdims=True),
        notes=(*images.notes, *_notes(lengths.astype(np.int64))),
    )


def _notes(lengths: Ints) -> list[str]:
    notes = []
    for task, row in enumerate(lengths):
        for wanted, words in ((row == 0, "no samples"), ((row > 0) & (row <= FEW), f"at most {FEW} samples")):
            who = np.flatnonzero(wanted).tolist()
            if who:
                noun = "client" if len(who) == 1 else "clients"
                named = ", ".join(map(str, who[:NAMED])) + (f" and {len(who) - NAMED} more" if len(who) > NAMED else "")
                notes.append(
                    f"task {task + 1}: {noun} {named} of 0 to {row.size - 1} "
                    f"{'has' if len(who) == 1 else 'have'} {words}"
                )
    return notes


def equal_shares(stream: Stream) -> Stream:
    """The same tasks where all clients that have samples of a task weigh the same in it."""
    some = stream.shares > 0
    return replace(stream, shares=some / some.sum(axis=1, keepdims=True))


@taking
def remembered(
    stream: Stream,
    labels: Ints,
    task: Whole,
    *,
    kind: Annotated[str, one_of(*MEMORIES, called="memory")] = RING,
    size: Annotated[int, at_least(1)._replace(called="memory size")],
    seed: Whole,
) -> tuple[tuple[Ints, ...], ...]:
    """What each client remembers when `task` begins.

    - "ring": of each past task the newest `size` samples, in equal numbers a class (a ring buffer for each task, as in
      the paper: 400 a task and client). A class with too few samples leaves its places empty.
    - "reservoir": a uniform sample of `size` among all that the client has seen in all past tasks; `size` is its whole
      capacity, which the tasks share.
    - "by-task": of each past task `size` samples, uniform and without regard to their classes.

    A client sees its samples in the order of their indices.

    Parameters
    ----------
    stream : Stream
    labels : (n,) int array
        Of the train images.
    task : int
        The task that begins, 0 to S; before task 0 nothing is remembered.
    kind : str
    size : int
        Samples that a client keeps at most, of each past task ("ring", "by-task") or in all ("reservoir").
    seed : int
        Of the draws of "reservoir" and "by-task".

    Returns
    -------
    [client][past task] increasing int arrays
        Indices into the train images; empty where a client had no samples.

    Raises
    ------
    InvalidInput
        A task or size out of range.
    UnknownName
        An unknown kind.
    """
    if task > stream.tasks:
        raise InvalidInput(f"task is {task!r}: use an integer from 0 to {stream.tasks}")
    kept = []
    for client in range(stream.clients):
        seen = [stream.train[past][client] for past in range(task)]
        if kind == RING:
            kept.append(tuple(indices[content(ring(size), [labels[indices]])] for indices in seen))
        elif kind == BY_TASK:
            kept.append(
                tuple(
                    np.sort(
                        keyed(seed, "exemplars", past, client).choice(indices, min(size, indices.size), replace=False)
                    )
                    for past, indices in enumerate(seen)
                )
            )
        else:
            places = content(reservoir(size), [labels[indices] for indices in seen], seed=seed, client=client)
            starts = np.cumsum([0, *map(len, seen)])
            kept.append(
                tuple(
                    indices[places[(places >= start) & (places < start + indices.size)] - start]
                    for indices, start in zip(seen, starts, strict=False)
                )
            )
    return tuple(kept)
