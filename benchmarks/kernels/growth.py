"""How the time of a round grows with N, n, d, E and the number of replicas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.cases import Case, World
from benchmarks.kernels import contest
from benchmarks.measure import Timing, interleaved

BASE = Case("base", N=10, n=200, d=50, E=10, R=16)
AXES: dict[str, tuple[int, ...]] = {
    "N": (5, 10, 20, 40),
    "n": (100, 200, 400, 800),
    "d": (25, 50, 100, 200),
    "E": (5, 10, 20, 40),
    "R": (4, 16, 64, 256),
}


@dataclass(frozen=True)
class Growth:
    """Along one axis: seconds of a round of all replicas at every value, and the fitted power of each contestant."""

    axis: str
    values: tuple[int, ...]
    seconds: dict[str, tuple[float, ...]]

    @property
    def powers(self) -> dict[str, float]:
        """Slope of log time on log value."""
        at = np.log(self.values)
        return {who: float(np.polyfit(at, np.log(times), 1)[0]) for who, times in self.seconds.items()}


def growth(
    *,
    peers: tuple[str, ...],
    ends_only: bool,
    repeats: int,
    seconds: float,
    tell: Callable[[str], None] = lambda words: None,
) -> list[Growth]:
    """Time our fastest mode and each peer in one form along every axis, the rest of `BASE` held.

    Parameters
    ----------
    peers : tuple of str
        Of `contest.PEERS`; those that are missing are left out.
    ends_only : bool
        The least and the largest value of an axis only.
    """
    found = []
    for axis, values in AXES.items():
        tell(f"growth with {axis}")
        chosen = (values[0], values[-1]) if ends_only else values
        sizes = asdict(BASE)
        at = [_times(Case(**(sizes | {axis: value})), peers, repeats, seconds) for value in chosen]
        times = {who: tuple(timing[who].median * replicas for timing, replicas in at) for who in at[0][0]}
        found.append(Growth(axis, chosen, times))
    return found


def _times(case: Case, peers: tuple[str, ...], repeats: int, seconds: float) -> tuple[dict[str, Timing], int]:
    world = World(case)
    rows = contest.our_rows(world)
    name = "ours fast" if "ours fast" in rows else "ours bitwise"
    contestants: dict[str, Any] = {name: rows[name]}
    for who in peers:
        if not contest.missing(who):
            # The last form is the one for many replicas, or the one with copies.
            contestants[who] = list(contest.forms(who, world))[-1]()
    return dict(
        zip(contestants, interleaved(list(contestants.values()), repeats=repeats, seconds=seconds), strict=True)
    ), case.R
