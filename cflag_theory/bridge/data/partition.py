"""How a task's samples are divided among the clients: three forms of the Dirichlet partition.

- "class-over-clients": of each class the clients' shares are one draw from Dir(zeta, ..., zeta) over the clients. Every
  sample has one client; the clients' sizes are random, and at small zeta some are empty.
- "client-over-classes": each client has a given size, and its mixture of classes is one draw from Dir(zeta, ..., zeta)
  over the task's classes. It draws without replacement from what the clients before it have left; a class that has run
  out is left out of the mixture, as if each draw of it were drawn again.
- "balanced": the shares of the first form, scaled by Sinkhorn's iteration until all clients have the same size (give or
  take one sample) and every class is used up.

Small zeta: each client sees few classes. Large zeta: all see the same mixture. Each draw has its own generator (see
`keyed`), so that the clients of a task do not depend on other tasks, nor a class's samples on other classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from cflag_theory.bridge.data.keyed import keyed
from cflag_theory.errors import InvalidInput
from cflag_theory.public import Count, Dirichlet, Whole, one_of, taking

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

CLASS_OVER_CLIENTS, CLIENT_OVER_CLASSES, BALANCED = PARTITIONS = (
    "class-over-clients",
    "client-over-classes",
    "balanced",
)
#: Sinkhorn's iteration stops here at the latest: with nearly empty cells it converges slowly, and what it has not
#: balanced by then, `transport` does.
ITERATIONS = 1000


@taking
def partition_task(
    labels: Ints,
    classes: Sequence[int],
    *,
    clients: Count,
    zeta: Dirichlet,
    partition: Annotated[str, one_of(*PARTITIONS)] = CLASS_OVER_CLIENTS,
    sizes: Sequence[int] | None = None,
    task: Whole = 0,
    seed: Whole,
) -> tuple[Ints, ...]:
    """The samples of each client in one task: disjoint increasing indices into `labels` (n,), some of them perhaps
    empty.

    Samples of other `classes` are left out. zeta lies in (0, 1e12]. `sizes`, only for "client-over-classes", are
    samples of each client, together at most those of the task; without them they are equal and use up the task, the
    first clients having one more where that leaves a remainder. Seed and task choose the draws.
    """
    if not len(classes) or len(set(classes)) < len(classes):
        raise InvalidInput(f"classes are {list(classes)}: name at least one, and none twice")
    if sizes is not None and partition != CLIENT_OVER_CLASSES:
        raise InvalidInput(f"sizes were given with partition {partition!r}: they go with {CLIENT_OVER_CLASSES!r}")
    members = [
        keyed(seed, "order of a class", task, label).permutation(np.flatnonzero(labels == label)) for label in classes
    ]
    available = np.array([len(each) for each in members], dtype=np.int64)
    if partition == CLIENT_OVER_CLASSES:
        wanted = _equal(int(available.sum()), clients) if sizes is None else _given(sizes, clients, available)
        counts = client_over_classes(available, wanted, zeta, task=task, seed=seed)
    else:
        shares = np.array([keyed(seed, "clients", task, label).dirichlet(np.full(clients, zeta)) for label in classes])
        counts = (
            class_over_clients(shares, available) if partition == CLASS_OVER_CLIENTS else balanced(shares, available)
        )
    ends = np.cumsum(counts, axis=1)
    return tuple(
        np.sort(
            np.concatenate(
                [each[end[i] - count[i] : end[i]] for each, end, count in zip(members, ends, counts, strict=True)]
            )
        )
        for i in range(clients)
    )


def class_over_clients(shares: Floats, available: Ints) -> Ints:
    """How many samples of each class (row) each client (column) gets: a class is cut at its rounded cumulative shares.

    `shares` has one row that sums to 1 for each class; the rows of the result sum to `available`.
    """
    ends = np.rint(np.cumsum(shares, axis=1) * available[:, None]).astype(np.int64)
    return np.diff(ends, axis=1, prepend=0)


def client_over_classes(available: Ints, sizes: Ints, zeta: float, *, task: int, seed: int) -> Ints:
    """How many samples of each class (row) each client (column) gets; the columns sum to `sizes`.

    Drawing sample by sample from the mixture, and again where a class has run out, is the same in law as drawing all
    at once, keeping what is there, and drawing the rest from the mixture of the classes that are left.
    """
    left = available.copy()
    counts = np.zeros((available.size, sizes.size), dtype=np.int64)
    for client, size in enumerate(sizes):
        random = keyed(seed, "classes", task, client)
        mixture = random.dirichlet(np.full(available.size, zeta))
        missing = int(size)
        while missing:
            law = np.where(left > 0, mixture, 0.0)
            # At very small zeta the classes that are left may have shares that round to zero.
            law = law / law.sum() if law.sum() > 0 else left / left.sum()
            taken = np.minimum(random.multinomial(missing, law), left)
            counts[:, client] += taken
            left -= taken
            missing -= int(taken.sum())
    return counts


def balanced(shares: Floats, available: Ints) -> Ints:
    """How many samples of each class (row) each client (column) gets; rows and columns sum to what they should.

    Sinkhorn's iteration scales rows and columns in turn, `transport` moves its last iterate onto the exact sums, and
    `rounded` makes integers of it that keep them.
    """
    sizes = _equal(int(available.sum()), shares.shape[1])
    # At very small zeta there are shares so small that the reciprocal of a sum of them is infinite.
    values: Floats = np.where(shares > 1e-200, shares, 0.0) * available[:, None]
    for _ in range(ITERATIONS):
        columns = values.sum(axis=0)
        values = values * np.divide(sizes, columns, out=np.ones(sizes.size), where=columns > 0)
        rows = values.sum(axis=1)
        values = values * np.divide(available, rows, out=np.ones(rows.size), where=rows > 0)[:, None]
        if abs(values.sum(axis=0) - sizes).max() < 1e-9:
            break
    values = transport(values, available, sizes)
    return rounded(values, available, sizes)


def rounded(values: Floats, rows: Ints, columns: Ints) -> Ints:
    """Integers less than 1 from these values (give or take 1e-6) with exactly these row and column sums.

    All are rounded down; then those with the largest fractions get one more while row and column miss one; where that
    ends in a corner, a chain of cells that gain and lose one in turn makes room. There always is such a chain, because
    the fractions themselves are a flow with these sums, and then there is one of zeros and ones.
    """
    # A value such as 2.9999999999 is a 3.
    counts = np.floor(values + 1e-6).astype(np.int64)
    missing_rows, missing_columns = rows - counts.sum(axis=1), columns - counts.sum(axis=0)
    more = np.zeros(counts.shape, dtype=bool)
    for cell in np.argsort(counts - values, axis=None, kind="stable"):
        row, column = divmod(int(cell), len(columns))
        if missing_rows[row] > 0 and missing_columns[column] > 0:
            more[row, column] = True
            missing_rows[row] -= 1
            missing_columns[column] -= 1
    for row in np.repeat(np.arange(len(rows)), missing_rows).tolist():
        missing_columns[_chain(more, row, missing_columns)] -= 1
    return counts + more


def _chain(more: NDArray[np.bool_], start: int, missing: Ints) -> int:
    """Give row `start` one more, moving others' along the way, up to a column that misses one: that column."""
    giver: dict[int, int] = {}
    taken_from: dict[int, int] = {}
    queue = [start]
    for row in queue:
        for column in np.flatnonzero(~more[row]).tolist():
            if column in giver:
                continue
            giver[column] = row
            if missing[column] > 0:
                end = column
                while True:
                    row = giver[column]
                    more[row, column] = True
                    if row == start:
                        return end
                    column = taken_from[row]
                    more[row, column] = False
            for other in np.flatnonzero(more[:, column]).tolist():
                if other != start and other not in taken_from:
                    taken_from[other] = column
                    queue.append(other)
    raise AssertionError("the sums of rows and columns differ")


def transport(values: Floats, rows: Ints, columns: Ints) -> Floats:
    """The nearby matrix of non-negative numbers with exactly these row and column sums (two lists of one total).

    Rows, then columns, that are too large are scaled down, and the outer product of what is missing is added.
    Source: J. Altschuler, J. Weed, P. Rigollet, NeurIPS 2017, Algorithm 2.
    """
    sums = values.sum(axis=1)
    values = values * np.minimum(1.0, np.divide(rows, sums, out=np.ones(sums.size), where=sums > 0))[:, None]
    sums = values.sum(axis=0)
    values = values * np.minimum(1.0, np.divide(columns, sums, out=np.ones(sums.size), where=sums > 0))
    missing_rows, missing_columns = rows - values.sum(axis=1), columns - values.sum(axis=0)
    total = missing_rows.sum()
    return values + np.outer(missing_rows, missing_columns) / total if total > 0 else values


def _equal(total: int, clients: int) -> Ints:
    return np.array([total // clients + (client < total % clients) for client in range(clients)], dtype=np.int64)


def _given(sizes: Sequence[int], clients: int, available: Ints) -> Ints:
    wanted = np.asarray(sizes)
    if wanted.shape != (clients,) or wanted.dtype.kind not in "iu" or wanted.min() < 0:
        raise InvalidInput(f"sizes are {list(sizes)}: give an integer of at least 0 for each of the {clients} clients")
    if wanted.sum() > available.sum():
        raise InvalidInput(
            f"sizes sum to {wanted.sum()}, but a task has {available.sum()} samples: ask for no more than it has"
        )
    return wanted.astype(np.int64)
