"""Local data that change from round to round: Algorithms 4 to 6 of the CFL paper, overlaps, and stateless clients.

Algorithm 6 fills one data set after another: its mixture of classes is one draw from Dir(zeta p), p being the classes'
shares of all samples, and samples are taken without replacement. (A symmetric Dir(a) over C equal classes is
zeta = a C.) Algorithm 4 does so twice: the data set is split among the clients, and what a client has into its subsets.

- "repaired": a class that has run out is left out of the mixture, which is renormalised; where all that is left of it
  has probability zero the mixture becomes the shares of what is left.
- "printed": line by line. Algorithm 5 divides by a sum that its own loop changes and leaves the class in the mixture,
  whose places no longer fit the list of classes: once a class has run out, another one than the drawn one is taken, or
  one that does not exist, and then there is no split.

Which data a client has in a round: one of its subsets, drawn anew in each round ("random"), or the one at a pointer
that moves on, and back to the start when less than a whole subset is left ("pointer"). With an overlap the subsets are
windows on the client's samples, (1 - overlap) of their size apart, rounded down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from cflag_theory.bridge.data.keyed import keyed
from cflag_theory.bridge.data.partition import Floats, Ints
from cflag_theory.errors import DataError
from cflag_theory.public import Part, Whole, one_of, taking

REPAIRED, PRINTED = SPLITS = ("repaired", "printed")
AT_RANDOM, POINTER = VISITS = ("random", "pointer")


@dataclass(frozen=True)
class Window:
    """What a client has in a round: indices into the train images, and which of its data sets that is."""

    part: int
    indices: Ints


@dataclass(frozen=True, eq=False)
class Evolving:
    """Local data by round: of S `clients` with `size` samples a round each, whose classes (`labels`) follow Dirichlet's
    law with `zeta`. `sequences` has all samples of every client, subset by subset; it is empty for stateless clients,
    which draw anew each round.
    """

    labels: Ints
    clients: int
    size: int
    zeta: float
    sequences: tuple[Ints, ...]
    overlap: float
    visits: str
    split: str
    seed: int

    @property
    def stateless(self) -> bool:
        """Whether every client appears once only."""
        return not self.sequences

    @property
    def step(self) -> int:
        """Samples from one window to the next."""
        return max(1, int((1 - self.overlap) * self.size))

    @property
    def parts(self) -> int:
        """How many windows a client has; 0 for stateless clients."""
        return 0 if self.stateless else (len(self.sequences[0]) - self.size) // self.step + 1

    def at(self, round: int) -> tuple[Window, ...]:
        """What every client has in a round, counted from 0."""
        if self.stateless:
            random = keyed(self.seed, "stateless", round)
            fresh = lda_split(self.labels, self.clients, self.size, zeta=self.zeta, random=random, split=self.split)
            return tuple(Window(round, indices) for indices in fresh)
        found = []
        for client, sequence in enumerate(self.sequences):
            part = round % self.parts
            if self.visits == AT_RANDOM:
                part = int(keyed(self.seed, "visit", round, client).integers(self.parts))
            found.append(Window(part, sequence[part * self.step : part * self.step + self.size]))
        return tuple(found)

    def before(self, round: int) -> tuple[Ints, ...]:
        """All samples that each client has had before a round, increasing."""
        rows = [self.at(earlier) for earlier in range(round)]
        none = np.zeros(0, dtype=np.int64)
        return tuple(
            np.unique(np.concatenate([none, *(row[client].indices for row in rows)])) for client in range(self.clients)
        )


@taking
def evolving(
    labels: Ints,
    *,
    clients: int,
    subsets: int,
    size: int | None = None,
    zeta: float,
    inner: float | None = None,
    overlap: Part = 0.0,
    visits: Annotated[str, one_of(*VISITS)] = AT_RANDOM,
    split: Annotated[str, one_of(*SPLITS)] = REPAIRED,
    stateless: bool = False,
    seed: Whole,
) -> Evolving:
    """Deal the train images with these labels (n,) out: S `clients` have M `subsets` each, of `size` samples or of as
    many as there are for all, n // (S M).

    zeta is alpha of the split among clients, and `inner` beta of the split of a client's samples, alpha where it is
    left out; `overlap` lies in [0, 1). If `stateless`, every client draws its samples from the whole data set, anew in
    each round.
    """
    most = len(labels) // (clients if stateless else clients * subsets)
    usual = len(labels) // (clients * subsets)
    count = usual if size is None else size
    if not 1 <= count <= most:
        each = f"{clients} clients" if stateless else f"{clients} clients with {subsets} subsets each"
        raise DataError(
            f"{each} of {max(count, 1)} samples need {clients * (1 if stateless else subsets) * max(count, 1)}, and "
            f"there are {len(labels)}: use at most {most} (subset_size), or fewer clients or subsets"
        )
    sequences: list[Ints] = []
    if not stateless:
        whole = lda_split(
            labels, clients, subsets * count, zeta=zeta, random=keyed(seed, "split among clients"), split=split
        )
        for client, indices in enumerate(whole):
            within = lda_split(
                *(labels[indices], subsets, count),
                zeta=zeta if inner is None else inner,
                random=keyed(seed, "split into subsets", client),
                split=split,
            )
            sequences.append(np.concatenate([indices[chosen] for chosen in within]))
    return Evolving(labels, clients, count, zeta, tuple(sequences), overlap, visits, split, seed)


def lda_split(
    labels: Ints, parts: int, size: int, *, zeta: float, random: np.random.Generator, split: str = REPAIRED
) -> list[Ints]:
    """Algorithm 6: `parts` disjoint sets of `size` places in `labels`, which has at least as many."""
    classes, counts = np.unique(labels, return_counts=True)
    left = [random.permutation(np.flatnonzero(labels == each)).tolist() for each in classes]
    mix: _Repaired | _Printed = _Repaired() if split == REPAIRED else _Printed(len(classes))
    found = []
    for _ in range(parts):
        mix.begin(random.dirichlet(zeta * counts / counts.sum()), left)
        chosen: list[int] = []
        while len(chosen) < size:
            place = mix.draw(random)
            chosen.append(left[place].pop())
            if not left[place]:
                mix.drop(place, left)
        found.append(np.array(chosen, dtype=np.int64))
    return found


class _Repaired:
    """A mixture over the classes that have samples left."""

    def begin(self, theta: Floats, left: Sequence[Sequence[int]]) -> None:
        self.theta = theta.copy()
        for place, samples in enumerate(left):
            if not samples:
                self.theta[place] = 0.0
        self._renormalise(left)

    def draw(self, random: np.random.Generator) -> int:
        # The last class with any probability, where rounding leaves the sum below the draw.
        return min(int(np.searchsorted(self.sums, random.random(), side="right")), self.last)

    def drop(self, place: int, left: Sequence[Sequence[int]]) -> None:
        self.theta[place] = 0.0
        self._renormalise(left)

    def _renormalise(self, left: Sequence[Sequence[int]]) -> None:
        if not self.theta.sum() > 0:
            self.theta = np.array([float(len(samples)) for samples in left])
        if self.theta.sum() > 0:
            self.theta /= self.theta.sum()
            self.sums = np.cumsum(self.theta)
            self.last = int(np.flatnonzero(self.theta)[-1])


class _Printed:
    """theta and G of the listing."""

    def __init__(self, classes: int) -> None:
        # Line 2 counts to len(S), and so one too far.
        self.classes, self.G = classes, list(range(classes + 1))

    def begin(self, theta: Floats, left: Sequence[Sequence[int]]) -> None:
        self.theta = theta.copy()

    def draw(self, random: np.random.Generator) -> int:
        self.i = int(random.choice(len(self.theta), p=self.theta / self.theta.sum()))
        y = self.G[self.i] if self.i < len(self.G) else self.classes
        if y >= self.classes:
            raise DataError(
                f"Algorithm 6 as printed draws place {self.i + 1} of a list of classes from which exhausted ones were "
                f"deleted, and finds none of the {self.classes}: use split = 'repaired', or smaller subsets"
            )
        return y

    def drop(self, place: int, left: Sequence[Sequence[int]]) -> None:
        self.G.remove(place)
        for j in range(len(self.theta)):
            if j != self.i:
                rest = self.theta.sum() - self.theta[self.i]
                if rest > 0:
                    self.theta[j] /= rest
