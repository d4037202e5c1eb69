"""What a client keeps of a stream of tasks: a ring buffer with a queue for each class, or a reservoir.

A buffer sees every component once, task after task, and never looks at what it has dropped. Its content is a function
of (seed, replica, client) and of the stream, so that a longer stream only continues a shorter one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.draws import RESERVOIR as PURPOSE
from cflag_theory.kernels.draws import below, lane, words
from cflag_theory.kernels.numbers import Ints
from cflag_theory.public import Whole, one_of, require_fields

ALL, RING, RESERVOIR = KINDS = ("all", "ring", "reservoir")


@dataclass(frozen=True)
class Buffer:
    """How a client fills its memory; made by the constructors below.

    Attributes
    ----------
    kind : str
        "all" (keeps everything), "ring" or "reservoir".
    size : int
        Components that a client keeps at most ("ring", "reservoir").
    """

    kind: Annotated[str, one_of(*KINDS, called="buffer")]
    size: Whole = 0

    def __post_init__(self) -> None:
        require_fields(self)
        if (self.kind == ALL) != (self.size == 0):
            raise InvalidInput(
                f"buffer {self.kind!r} has size {self.size}: use an integer of at least 1, none for 'all'"
            )

    def __str__(self) -> str:
        return self.kind if self.kind == ALL else f"{self.kind} of {self.size}"


def unlimited() -> Buffer:
    """Everything is kept: b = 0."""
    return Buffer(ALL)


def ring(size: int) -> Buffer:
    """A class-balanced ring buffer: the newest components of each class, in equal numbers, `size` in all.

    Of a classes seen so far each has size // a places, and the size % a classes seen first have one more. A class that
    has too few leaves its places empty; as classes arrive, the queues shorten and drop their oldest.

    Raises
    ------
    InvalidInput
        `size` is not an integer of at least 1.
    """
    return Buffer(RING, size)


def reservoir(size: int) -> Buffer:
    """A uniform sample of all that was seen: Vitter's algorithm R (ACM TOMS 11, 1985).

    Raises
    ------
    InvalidInput
        `size` is not an integer of at least 1.
    """
    return Buffer(RESERVOIR, size)


def content(buffer: Buffer, tasks: Sequence[Ints], *, seed: int = 0, replica: int = 0, client: int = 0) -> Ints:
    """What a client's buffer holds after these tasks, as increasing positions in the stream, counted from 0.

    Parameters
    ----------
    tasks : sequence of (n,) int arrays
        The classes of the components of each task, in the order in which the client sees them.
    seed, replica, client : int
        With the task and the position in it the counter of a reservoir's draws.

    Returns
    -------
    (kept,) int array
    """
    classes = np.concatenate([np.asarray(task, dtype=np.int64) for task in tasks]) if len(tasks) else np.empty(0, int)
    if buffer.kind == ALL:
        kept = list(range(len(classes)))
    elif buffer.kind == RING:
        kept = _ring(classes, buffer.size)
    else:
        kept = _reservoir([len(task) for task in tasks], buffer.size, seed, replica, client)
    return np.array(sorted(kept), dtype=np.int64)


def _ring(classes: Ints, size: int) -> list[int]:
    queues: dict[int, list[int]] = {}
    for position, label in enumerate(classes.tolist()):
        opened = label not in queues
        queues.setdefault(label, []).append(position)
        for place, (name, queue) in enumerate(queues.items()):
            if opened or name == label:
                room = size // len(queues) + (place < size % len(queues))
                del queue[: max(0, len(queue) - room)]
    return [position for queue in queues.values() for position in queue]


def _reservoir(counts: Sequence[int], size: int, seed: int, replica: int, client: int) -> list[int]:
    kept: list[int] = []
    seen = 0
    for task, count in enumerate(counts):
        four = (0, 0, 0, 0)
        for step in range(count):
            if step % 4 == 0:
                four = words(seed, PURPOSE, replica, client, task, step >> 2)
            if seen < size:
                kept.append(seen)
            else:
                place = below(lane(four, step), seen + 1)
                if place < size:
                    kept[place] = seen
            seen += 1
    return kept
