"""The cases of the benchmark: a problem, its draws as arrays, and how every contestant is asked to run it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cflag_theory.kernels import Problem, random_glm, uniform
from cflag_theory.kernels.draws import COMPONENT, below, words
from cflag_theory.kernels.memory.memory import Memory, draw_subset

Array = NDArray[Any]

SEED = 20
#: Each client remembers one past component in ten.
REMEMBERED = 10


@dataclass(frozen=True)
class Case:
    """N clients x n components x d dimensions x E local steps, in R replicas that share the data."""

    name: str
    N: int
    n: int
    d: int
    E: int
    R: int = 1

    @property
    def kept(self) -> int:
        """Past components that each client remembers."""
        return max(1, self.n // REMEMBERED)


def _batches(name: str, sizes: tuple[int, int, int, int], *replicas: int) -> tuple[Case, ...]:
    return tuple(Case(name if R == 1 else f"{name} x{R}", *sizes, R) for R in (1, *replicas))


CASES = {
    case.name: case
    for case in (
        *_batches("S", (5, 100, 50, 10), 64, 256),
        *_batches("M", (50, 200, 100, 20), 16, 64),
        *_batches("L", (10, 1000, 1000, 50), 16, 64),
    )
}
QUICK = ("S", "S x64", "M x16")
FULL = tuple(CASES)


@lru_cache(maxsize=1)
def _problem(N: int, n: int, d: int) -> Problem:
    return random_glm(clients=N, components=n, dimension=d, potential="cauchy")


@dataclass(eq=False)
class World:
    """A case as arrays: rows (N, n, d), targets (N, n), start (d,), equal client weights, one row a component.

    ``orders(rounds)`` are the components of the local steps, (rounds, R, N, E), counted within each client; ``kept``
    (R, N, K) the remembered past components. Both are the package's own draws.
    """

    case: Case
    _orders: Array | None = None

    @cached_property
    def problem(self) -> Problem:
        """The problem, shared by the batches of a size."""
        return _problem(self.case.N, self.case.n, self.case.d)

    @property
    def memory(self) -> Memory:
        """A uniform subset, drawn once."""
        return uniform(self.case.kept)

    @cached_property
    def L(self) -> float:
        """Smoothness of f and g."""
        return float(self.problem.constants["L"].value)

    @property
    def alpha(self) -> float:
        """1 / (2 L): the rate of m = 1."""
        return 1 / (2 * self.L)

    @property
    def beta(self) -> float:
        """1 / (12 L E): the edge of the range of Corollary 14."""
        return 1 / (12 * self.L * self.case.E)

    def _cube(self, flat: Array) -> Array:
        return flat.reshape(self.case.N, self.case.n, *flat.shape[1:])

    @property
    def rows(self) -> Array:
        """Current rows (N, n, d)."""
        return self._cube(self.problem.current.rows)

    @property
    def targets(self) -> Array:
        """Current targets (N, n)."""
        return self._cube(self.problem.current.shifts)

    @property
    def past_rows(self) -> Array:
        """Past rows (N, n, d)."""
        return self._cube(self.problem.past.rows)

    @property
    def past_targets(self) -> Array:
        """Past targets (N, n)."""
        return self._cube(self.problem.past.shifts)

    @property
    def start(self) -> Array:
        """x_0."""
        return self.problem.start

    @cached_property
    def kept(self) -> Array:
        """Remembered components of every replica and client (R, N, K), in increasing order."""
        case, labels = self.case, np.zeros(1, dtype=np.int64)
        chosen = np.empty((case.R, case.N, case.kept), dtype=np.int64)
        order = np.empty(case.n, dtype=np.int64)
        for r in range(case.R):
            for i in range(case.N):
                count = draw_subset(SEED, r, i, 0, labels, 0, case.n, case.kept, False, order)
                chosen[r, i] = np.sort(order[:count])
        return chosen

    def remembered(self, *, masked: bool) -> tuple[Array, Array, Array]:
        """The memory for all replicas: rows, targets and the factor of every row in f_memory.

        Returns
        -------
        rows, targets, factors
            `masked`: all past rows (N n, d) and targets (N n,), and factors (R, N n) that are zero for what a replica
            has forgotten. Otherwise a copy for every replica, (R, N K, d), and (R, N K) for the others.
        """
        case = self.case
        rows, targets = self.past_rows.reshape(-1, case.d), self.past_targets.reshape(-1)
        places = (self.kept + case.n * np.arange(case.N)[:, None]).reshape(case.R, -1)
        share = 1 / (case.N * case.kept)
        if not masked:
            return rows[places], targets[places], np.full(places.shape, share)
        factors = np.zeros((case.R, case.N * case.n))
        np.put_along_axis(factors, places, share, axis=1)
        return rows, targets, factors

    def orders(self, rounds: int) -> Array:
        """Components of the local steps (rounds, R, N, E); the entry at k = 0 is read by nobody.

        The longest array asked for is kept, and shorter ones are its beginning.
        """
        if self._orders is None or len(self._orders) < rounds:
            self._orders = self._draw(rounds)
        return self._orders[:rounds]

    def _draw(self, rounds: int) -> Array:
        case = self.case
        drawn = np.empty((rounds, case.R, case.N, case.E), dtype=np.int32)
        r, i, block = (axis.astype(np.uint64) for axis in np.ogrid[: case.R, : case.N, : -(-case.E // 4)])
        shape = (case.R, case.N, block.size)
        for t in range(rounds):
            # Scalars would wrap with a warning: every word of the counter and of the key is an array.
            four = words(SEED, COMPONENT, r, i, np.full(shape, t, np.uint64), block)  # type: ignore[arg-type]
            picked = [np.broadcast_to(below(word, case.n), shape) for word in four]
            drawn[t] = np.stack(picked, axis=-1).reshape(case.R, case.N, -1)[..., : case.E]
        return drawn
