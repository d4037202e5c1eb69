"""One case: who runs it, whether all agree, which form of each peer is fastest, and the interleaved timings."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np

from benchmarks.cases import Case, World
from benchmarks.kernels.roofline import shortest, work
from benchmarks.measure import Timing, interleaved, ratio, seconds_of
from benchmarks.peers import c_peer, numpy_peers
from benchmarks.peers.ours import OPTIONS, Ours

#: Largest relative distance of a peer's iterate from ours in float64.
TOLERANCE = 1e-10
#: Copies for every replica beyond this many bytes are not tried: the shared form is faster long before.
LARGEST_COPY = 1 << 28

JAX, TORCH, LOOP, BATCHED, C = "JAX", "PyTorch", "NumPy loop", "NumPy batched", "C"
PEERS = (JAX, TORCH, LOOP, BATCHED, C)
Make = Callable[[], Any]


@dataclass(frozen=True)
class Row:
    """A contestant's result; without a timing, `note` says why.

    Attributes
    ----------
    who, form : str
        A peer of `PEERS` or one of our rows, and the form that was fastest.
    error : float or None
        Largest distance of its iterate after a few rounds from ours, relative to the largest entry.
    ratio : (median, least, largest) or None
        Of its time over our time, repetition by repetition.
    """

    who: str
    form: str
    note: str = ""
    error: float | None = None
    timing: Timing | None = None
    ratio: tuple[float, float, float] | None = None


@dataclass(frozen=True)
class Contest:
    """A case's rows; ratios are to the row `ours`, our fastest in float64.

    Attributes
    ----------
    seconds : float
        Our median seconds a round of one replica.
    bound, binds : float, str
        Seconds a round of one replica that the measured ceilings allow, and which of them binds.
    flop_rate : float
        Of ours, by formula.
    """

    case: Case
    rows: tuple[Row, ...]
    ours: str
    seconds: float
    bound: float
    binds: str
    flop_rate: float

    def row(self, who: str) -> Row | None:
        """The row of this name."""
        return next((row for row in self.rows if row.who == who), None)


def our_rows(world: World) -> dict[str, Ours]:
    """Our rows by name, as far as the installed `simulate` has the options."""
    rows = {"ours bitwise": Ours(world)}
    if "mode" in OPTIONS:
        rows["ours bitwise"] = Ours(world, mode="bitwise")
        rows["ours fast"] = Ours(world, mode="fast")
        if "dtype" in OPTIONS:
            rows["ours fast, float32"] = Ours(world, mode="fast", dtype="float32")
    return rows


def forms(who: str, world: World) -> Iterator[Make]:
    """Makers of all forms of a peer."""
    case = world.case
    rows_of_memory = case.R * case.N * case.kept * case.d * 8
    masks = (True,) if rows_of_memory > LARGEST_COPY else (True, False)
    if who == LOOP:
        yield partial(numpy_peers.Loop, world, 1)
    elif who == BATCHED:
        yield from (partial(numpy_peers.Batched, world, masked=masked) for masked in masks)
    elif who == C:
        products = case.N * case.n**2 * 8
        for table, lanes in product((True, False), (False, True)):
            if (case.R > 1 or not lanes) and (products <= LARGEST_COPY or not table):
                yield partial(c_peer.Fused, world, lanes=lanes, table=table)
    elif who == TORCH:
        from benchmarks.peers.torch_peer import Eager

        yield from (partial(Eager, world, masked=masked) for masked in masks)
    elif who == JAX:
        from benchmarks.peers.jax_peer import Jitted

        rows_of_steps = case.R * case.N * case.E * case.d * 8
        for masked in masks:
            yield partial(Jitted, world, masked=masked, gathered=False)
            if rows_of_steps <= LARGEST_COPY // 4:
                yield partial(Jitted, world, masked=masked, gathered=True)


def missing(who: str) -> str:
    """Why a peer cannot run here; empty if it can."""
    library = {JAX: "jax", TORCH: "torch"}.get(who)
    if library is not None and find_spec(library) is None:
        return f"{library} is not installed: pip install -e '.[bench]'"
    if who == C:
        try:
            c_peer.built()
        except c_peer.NoCompiler as error:
            return str(error)
    return ""


def distance(found: Any, expected: Any) -> float:
    """Largest distance relative to the largest entry; `found` may hold the first replicas only."""
    return float(np.abs(found - expected[: len(found)]).max() / np.abs(expected).max())


def _fastest(makers: Iterator[Make], reference: Any, rounds: int) -> tuple[Any, float]:
    """The quickest form over a few rounds, and the largest error of all forms."""
    best, least, worst = None, np.inf, 0.0
    for make in makers:
        contestant = make()
        worst = max(worst, distance(contestant.run(rounds), reference))
        seconds = min(seconds_of(partial(contestant.run, rounds)) for _ in range(3))
        if seconds < least:
            best, least = contestant, seconds
        del contestant
        gc.collect()
    return best, worst


def contest(
    case: Case,
    *,
    ceilings: dict[str, float],
    repeats: int,
    seconds: float,
    peers: tuple[str, ...] = PEERS,
    tell: Callable[[str], None] = lambda words: None,
) -> Contest:
    """Check and time a case.

    Parameters
    ----------
    ceilings : mapping
        From `machine.ceilings`.
    repeats : int
        Interleaved repetitions.
    seconds : float
        About how long a single timed run is.
    peers : tuple of str
        Of `PEERS`.
    tell : callable
        Called with what is done next.
    """
    world = World(case)
    check = 10 if case.N * case.n * case.d * case.R < 1 << 24 else 3
    ours = our_rows(world)
    tell(f"{case.name}: agreement")
    reference = ours["ours bitwise"].end(check)
    contestants: dict[str, Any] = dict(ours)
    errors = {name: distance(row.end(check), reference) for name, row in ours.items()}
    notes: dict[str, str] = {}
    for who in peers:
        notes[who] = missing(who)
        if not notes[who]:
            tell(f"{case.name}: {who}, agreement and fastest form")
            contestants[who], errors[who] = _fastest(forms(who, world), reference, check)
    tell(f"{case.name}: timing")
    timings = dict(
        zip(contestants, interleaved(list(contestants.values()), repeats=repeats, seconds=seconds), strict=True)
    )
    doubles = [name for name in ours if "float32" not in name]
    fastest = min(doubles, key=lambda name: timings[name].median)
    rows = []
    for who in (*ours, *peers):
        if who not in timings:
            rows.append(Row(who, "", note=notes[who]))
            continue
        against = ratio(timings[who], timings[fastest])
        rows.append(Row(who, contestants[who].name, "", errors[who], timings[who], against))
    least, binds = shortest(case, ceilings)
    return Contest(
        case=case,
        rows=tuple(rows),
        ours=fastest,
        seconds=timings[fastest].median,
        bound=least / case.R,
        binds=binds,
        flop_rate=work(case).flops / case.R / timings[fastest].median,
    )


def disagreements(found: Contest) -> list[str]:
    """Float64 rows whose iterates are not ours, in words."""
    return [
        f"{found.case.name}: {row.who} differs by {row.error:.1e}"
        for row in found.rows
        if row.error is not None and "float32" not in row.who and not row.error <= TOLERANCE
    ]
