"""How many images a run of the CFL paper's protocol takes: gradients of methods, gradients of meters, test images.

A client with n samples takes n image gradients a pass over them. What it keeps of other data sets depends on which ones
it has had; where it draws them at random these numbers are means over the draws, otherwise they are exact (with
overlaps means over the choices of core sets).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from math import comb

import numpy as np

from cflag_theory.bridge.data.evolving import POINTER
from cflag_theory.bridge.data.partition import Ints
from cflag_theory.bridge.settings.evolving import FISHER, HUTCHINSON
from cflag_theory.bridge.settings.run_settings import RunSettings


@dataclass(frozen=True)
class Windows:
    """The data sets of a client: windows on its samples, as in `data.evolving`.

    Attributes
    ----------
    size, step, parts : int
        Samples of a window, from one window to the next, and how many there are.
    pointer : bool
        One after another, and back to the first; otherwise drawn at random.
    """

    size: int
    step: int
    parts: int
    pointer: bool

    def cover(self, parts: Iterable[int]) -> Ints:
        """In how many of these windows each sample of the client is."""
        found = np.zeros((self.parts - 1) * self.step + self.size, dtype=np.int64)
        for part in parts:
            found[self._of(part)] += 1
        return found

    def known(self, round: int, chance: float, *, beside: bool) -> float:
        """How many samples a client knows before a round, if it remembers each sample of a window with this chance.

        With `beside` those in the window of the round are left out.
        """
        if self.pointer:
            cover = self.cover(range(min(round, self.parts)))
            if beside:
                cover[self._of(round % self.parts)] = 0
            return float((1 - (1 - chance) ** cover).sum())
        samples = self._beside if beside else np.bincount(self.cover(range(self.parts)))
        # A sample in k windows is unknown if of the i windows that would remember it none was drawn.
        unknown = [
            sum(comb(k, i) * chance**i * (1 - chance) ** (k - i) * (1 - i / self.parts) ** round for i in range(k + 1))
            for k in range(len(samples))
        ]
        return float((samples * (1 - np.array(unknown))).sum())

    def others(self, round: int) -> float:
        """How many windows beside that of the round a client has had before it."""
        if self.pointer:
            return min(round, self.parts - 1)
        return (self.parts - 1) * (1 - (1 - 1 / self.parts) ** round)

    def any_other(self, round: int) -> float:
        """The chance that it has had one of them."""
        if self.pointer:
            return float(self.others(round) > 0)
        return 1 - (1 / self.parts) ** round

    @cached_property
    def _beside(self) -> Ints:
        """How many samples outside of a window, a mean over the windows, are in k windows; by k."""
        whole = self.cover(range(self.parts))
        rows = []
        for part in range(self.parts):
            outside = np.ones(len(whole), dtype=bool)
            outside[self._of(part)] = False
            rows.append(np.bincount(whole[outside], minlength=whole.max() + 1))
        found: Ints = np.mean(rows, axis=0)
        return found

    def _of(self, part: int) -> slice:
        return slice(part * self.step, part * self.step + self.size)


def samples_a_round(settings: RunSettings, train_images: int) -> int:
    """Of a client."""
    return settings.subset_size or train_images // (settings.clients * settings.subsets)


@cache
def _windows(size: int, subsets: int, overlap: float, pointer: bool) -> Windows:
    step = max(1, int((1 - overlap) * size))
    return Windows(size, step, (subsets * size - size) // step + 1, pointer)


def windows(settings: RunSettings, train_images: int) -> Windows:
    """Those of every client; stateless clients have none."""
    size = samples_a_round(settings, train_images)
    return _windows(size, settings.subsets, settings.overlap, settings.visits == POINTER)


def evaluated(settings: RunSettings, method: str, train_images: int) -> float:
    """Images whose gradient a method evaluates in a run with one seed; a product with a Hessian counts as two.

    A pass over the local data takes n, E of them a round. MimeLite takes n more for its momentum, CFL-Regularization
    for its expansion n, 2 n with Fisher's diagonal and 3 n with Hutchinson's from one probe. CFL-Core-Set and
    CFL-Generative take what is kept in every pass, the latter n more for running statistics where there are any.
    """
    n, options = samples_a_round(settings, train_images), settings.options
    passes = settings.epochs
    if method == "mimelite":
        passes += 1
    elif method in ("cfl_reg", "cfl_reg_prox"):
        own = options[method]
        passes += 1 + {HUTCHINSON: 2 * own.probes, FISHER: 1}.get(own.hessian, 0)
    a_client = float(settings.rounds * passes * n)
    if method == "cfl_core":
        had, chance = windows(settings, train_images), min(options[method].size, n) / n
        kept = (had.known(each, chance, beside=True) for each in range(settings.rounds))
        a_client += settings.epochs * sum(kept)
    elif method == "cfl_gen":
        had = windows(settings, train_images)
        for each in range(settings.rounds):
            a_client += settings.epochs * options[method].size * had.others(each)
            if settings.model != "mlp":
                a_client += n * had.any_other(each)
    return settings.clients * a_client


def metered(settings: RunSettings, method: str, train_images: int) -> float:
    """Images whose gradient is evaluated for meters alone, in every `past_every`-th round.

    Those of the round and of all rounds before, at two states; and where a method keeps samples those of its data sets
    so far, and what it keeps of them.
    """
    if not settings.past_every:
        return 0.0
    n, had = samples_a_round(settings, train_images), windows(settings, train_images)
    kept = {"cfl_core": min(settings.options["cfl_core"].size, n), "cfl_gen": settings.options["cfl_gen"].size}
    total = 0.0
    for each in range(0, settings.rounds, settings.past_every):
        total += 2 * (n + had.known(each, 1.0, beside=False))
        if method in kept:
            # With that of the round, which its clients have kept something of by then.
            total += (had.others(each) + 1) * (n + kept[method])
    return settings.clients * total


def shown(settings: RunSettings, test_images: int) -> int:
    """Test images that pass forward through the network: at the start, after every round, and at the end."""
    return (settings.rounds + 2) * test_images
