"""Interleaved timings: every contestant once, in turn, and again; medians and spreads of what a round costs."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

#: A run is long enough to be timed, and no longer; its rounds take so many times what a call costs beside them, whose
#: ups and downs would be theirs otherwise.
LEAST_ROUNDS, MOST_ROUNDS, CALLS = 4, 2000, 8


class Contestant(Protocol):
    """Who runs the case; `run(rounds)` returns when all `replicas` have done their rounds."""

    name: str
    replicas: int

    def run(self, rounds: int) -> Any:
        """All rounds of all replicas."""


@dataclass(frozen=True)
class Timing:
    """Seconds a round of one replica in every repetition, and seconds that a call costs beside its rounds.

    `busy` is the share of the wall time in which this process had a core: below one, somebody else used it.
    """

    seconds: tuple[float, ...]
    call: float
    rounds: int
    busy: float = 1.0

    @property
    def median(self) -> float:
        """Median seconds a round and replica."""
        return statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """Half of the range from the least to the largest, relative to the median."""
        return (max(self.seconds) - min(self.seconds)) / 2 / self.median


def seconds_of(action: Callable[[], Any]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def rounds_for(contestant: Contestant, seconds: float) -> int:
    """So many rounds that a run takes about `seconds`, or longer if a call costs much beside its rounds."""
    contestant.run(1)
    short = min(seconds_of(partial(contestant.run, 1)) for _ in range(2))
    if short > 16 * seconds:
        return LEAST_ROUNDS
    few = max(8, min(64, int(seconds / 4 / short)))
    contestant.run(few)
    longer = min(seconds_of(partial(contestant.run, few)) for _ in range(2))
    # A clock that stumbles must not ask for endless runs.
    a_round = max((longer - short) / (few - 1), longer / few / 50)
    wanted = max(seconds, CALLS * (short - a_round))
    return max(LEAST_ROUNDS, min(MOST_ROUNDS, int(wanted / a_round)))


def interleaved(contestants: Sequence[Contestant], *, repeats: int, seconds: float) -> list[Timing]:
    """Time all contestants `repeats` times in turn, the order turned by one each time.

    The time of a round is (run of T rounds - run of 1 round) / (T - 1): what a call costs besides, such as checks of
    arguments or the dispatch of a compiled program, cancels for everybody, and is reported apart.
    """
    lengths = [rounds_for(contestant, seconds) for contestant in contestants]
    for contestant, rounds in zip(contestants, lengths, strict=True):
        contestant.run(rounds)
    found: list[list[float]] = [[] for _ in contestants]
    calls: list[list[float]] = [[] for _ in contestants]
    worked, passed = [0.0] * len(contestants), [0.0] * len(contestants)
    for turn in range(repeats):
        for place in range(len(contestants)):
            at = (place + turn) % len(contestants)
            contestant, rounds = contestants[at], lengths[at]
            gc.collect()
            short = seconds_of(partial(contestant.run, 1))
            before = time.process_time()
            long = seconds_of(partial(contestant.run, rounds))
            worked[at] += time.process_time() - before
            passed[at] += long
            a_round = max(long - short, long / 1e3) / (rounds - 1)
            found[at].append(a_round / contestant.replicas)
            calls[at].append(max(0.0, short - a_round))
    return [
        Timing(tuple(times), statistics.median(beside), rounds, min(1.0, work / wall))
        for times, beside, rounds, work, wall in zip(found, calls, lengths, worked, passed, strict=True)
    ]


def ratio(peer: Timing, ours: Timing) -> tuple[float, float, float]:
    """Median, least and largest of peer's time over ours, repetition by repetition."""
    pairs = [theirs / own for theirs, own in zip(peer.seconds, ours.seconds, strict=True)]
    return statistics.median(pairs), min(pairs), max(pairs)
