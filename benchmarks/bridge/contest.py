"""The bridge's rounds against a plain loop, with more and more clients, and over processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch

from benchmarks.bridge.cases import DIGITS, METHODS, NAMES, RESNET, BridgeCase, Ours, World
from benchmarks.bridge.plain_loop import PlainLoop
from benchmarks.measure import Contestant, Timing, interleaved
from cflag_theory.bridge.settings.options import YES
from cflag_theory.bridge.training import environment
from cflag_theory.errors import MissingExtra

#: Rounds after which iterates are compared, and the largest difference over the largest entry.
ROUNDS, ALLOWED = 3, 1e-10
CLIENTS = (5, 50, 500)
#: The digits' network and numbers of samples, with as many clients as one likes.
MANY = replace(DIGITS, name="mlp, 58 samples a client", digits=False)
Tell = Callable[[str], None]


@dataclass(frozen=True)
class BridgeRow:
    """A contestant in a case.

    Attributes
    ----------
    case, who : str
    clients : int
    timing : Timing or None
        Seconds a round; None where it could not run, with the reason in `note`.
    error : float or None
        Largest difference of its state from ours, one client after another, in float64 after `ROUNDS` rounds, over the
        largest entry.
    ratio : float or None
        Its time over that of ours, one client after another.
    """

    case: str
    who: str
    clients: int
    timing: Timing | None = None
    error: float | None = None
    ratio: float | None = None
    note: str = ""


def agreement(case: BridgeCase, method: str) -> dict[str, float]:
    """Differences of the other contestants' states from ours, one client after another, in float64."""
    world = World(case, torch.float64)
    state = Ours(world, method).run(ROUNDS)
    others: list[Ours | PlainLoop] = [PlainLoop(world, method)]
    if can_be_together(world, method):
        others.append(Ours(world, method, together=YES))
    return {other.name: float((other.run(ROUNDS) - state).abs().max() / state.abs().max()) for other in others}


def can_be_together(world: World, method: str) -> bool:
    """Whether the clients can be computed together."""
    from cflag_theory.bridge.training.rounds import why_not

    return why_not(world.model, world.method(method)) is None


def contest(case: BridgeCase, *, threads: int, repeats: int, seconds: float, tell: Tell) -> list[BridgeRow]:
    """C-FLAG and Fine-FL on a case: ours, together where that can be, and the plain loop; in float32, in turns."""
    try:
        world = World(case)
    except MissingExtra as missing:
        return [BridgeRow(case.name, "", case.clients, note=str(missing))]
    rows = []
    with environment.threads(threads), environment.kept_memory():
        for method in METHODS:
            tell(f"bridge: {case.name}, {case.clients} clients, {NAMES[method]}")
            errors = agreement(case, method)
            contestants: list[Contestant] = [Ours(world, method)]
            if can_be_together(world, method):
                contestants.append(Ours(world, method, together=YES))
            contestants.append(PlainLoop(world, method))
            timings = interleaved(contestants, repeats=repeats, seconds=seconds)
            for contestant, timing in zip(contestants, timings, strict=True):
                ratio = timing.median / timings[0].median
                error = errors.get(contestant.name)
                rows.append(BridgeRow(case.name, contestant.name, case.clients, timing, error, ratio))
    return rows


def bridge_contests(*, quick: bool, repeats: int, seconds: float, tell: Tell) -> list[BridgeRow]:
    """The digits and many clients; a ResNet and 500 clients, which take most of the time, unless `quick`."""
    rows = contest(DIGITS, threads=1, repeats=repeats, seconds=seconds, tell=tell)
    if not quick:
        rows += contest(RESNET, threads=cores(), repeats=min(repeats, 3), seconds=seconds, tell=tell)
    for clients in CLIENTS[:2] if quick else CLIENTS:
        often = repeats if clients < CLIENTS[-1] else min(repeats, 3)
        rows += contest(replace(MANY, clients=clients), threads=1, repeats=often, seconds=seconds, tell=tell)
    return rows


def disagreements(rows: Sequence[BridgeRow]) -> list[str]:
    """A sentence for everybody whose iterates are not ours."""
    return [
        f"{row.case}, {row.who}: after {ROUNDS} rounds {row.error:.1e} away from ours, more than {ALLOWED:g}"
        for row in rows
        if row.error is not None and not row.error <= ALLOWED
    ]


def over_processes(*, clients: int, rounds: int, repeats: int, tell: Tell) -> list[BridgeRow]:
    """One process against two that exchange over gloo, a core each; clients one after another."""
    name = f"{MANY.name}, one core a process"
    if cores() < 2:
        return [BridgeRow(name, "two processes", clients, note="this machine gives one core")]
    ways = ((1, "ordered"), (2, "ordered"), (2, "reduce"))
    found: list[list[float]] = [[] for _ in ways]
    for repeat in range(repeats):
        for place, (processes, how) in enumerate(ways):
            tell(f"bridge: {processes} processes, {how}, {repeat + 1} of {repeats}")
            found[place].append(_seconds(processes, how, clients, rounds))
    timings = [Timing(tuple(times), 0.0, rounds) for times in found]
    return [
        BridgeRow(
            name,
            f"C-FLAG, {'one process' if processes == 1 else f'two processes, {how}'}",
            clients,
            timing,
            ratio=timing.median / timings[0].median,
        )
        for (processes, how), timing in zip(ways, timings, strict=True)
    ]


def _seconds(processes: int, how: str, clients: int, rounds: int) -> float:
    """Seconds a round that the first of several processes measures."""
    torchrun = ["torch.distributed.run", "--standalone", "--nproc-per-node", str(processes), "-m"]
    worker = ["benchmarks.bridge.process", how, str(clients), str(rounds)]
    done = subprocess.run(
        [sys.executable, "-m", *torchrun, *worker],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    return float(json.loads(done.stdout.strip().splitlines()[-1])["seconds"])


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
