"""What our kernels cost besides a round: a second core, start-up, compilation, random numbers, diagnostics."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.cases import CASES, SEED, Case, World
from benchmarks.machine import all_cores
from benchmarks.measure import interleaved, rounds_for, seconds_of
from benchmarks.peers.ours import OPTIONS, Ours
from cflag_theory.kernels import everything
from cflag_theory.kernels.engines.codegen.cache import compiled
from cflag_theory.kernels.engines.codes import DELAYED, Numbers
from cflag_theory.kernels.engines.cpu.begin_round import draw_orders
from cflag_theory.kernels.engines.cpu.layout import padded_problem

#: A tiny run in a fresh process.
TINY = """
from cflag_theory.kernels import random_glm, simulate, uniform
simulate(random_glm(), "c_flag", alpha=0.1, beta=0.001, local_steps=10, rounds=10, memory=uniform(2))
"""


@dataclass(frozen=True)
class Cost:
    """A measured quantity, its repetitions, and the limit that its median should keep, if there is one."""

    name: str
    where: str
    unit: str
    values: tuple[float, ...]
    limit: float | None = None
    at_least: bool = False

    @property
    def median(self) -> float:
        """Median of the repetitions."""
        return statistics.median(self.values)


def fastest_options() -> dict[str, Any]:
    """The options of our fastest mode in float64, as far as the installed `simulate` has them."""
    return {"mode": "fast"} if "mode" in OPTIONS else {}


def two_cores(case: Case, *, repeats: int, seconds: float) -> Cost:
    """Time of a run on one thread over that on two; both may use two cores."""
    world = World(case)
    one, two = (Ours(world, threads=threads, **fastest_options()) for threads in (1, 2))
    with all_cores() as cores:
        rounds = rounds_for(one, seconds)
        pairs = []
        for contestant in (one, two):
            contestant.run(rounds)
        for _ in range(repeats):
            pairs.append(seconds_of(lambda: one.run(rounds)) / seconds_of(lambda: two.run(rounds)))
    where = case.name if cores >= 2 else f"{case.name}; this machine gives one core"
    return Cost("two cores against one", where, "x", tuple(pairs), 1.9 if cores >= 2 else None, at_least=True)


def start_up(*, repeats: int, compile_too: bool) -> list[Cost]:
    """Wall time of a fresh process that imports the package and does a tiny run: warm cache, and empty cache."""

    def fresh(**environment: str) -> float:
        run = [sys.executable, "-c", TINY]
        return seconds_of(lambda: subprocess.run(run, check=True, env=os.environ | environment))

    with tempfile.TemporaryDirectory() as folder:
        first = fresh(NUMBA_CACHE_DIR=folder) if compile_too else fresh()
        warm = [fresh(**({"NUMBA_CACHE_DIR": folder} if compile_too else {})) for _ in range(repeats)]
    found = [Cost("start-up, warm cache", "fresh process, tiny run", "s", tuple(warm), 1.0)]
    if compile_too:
        found.append(Cost("first compilation", "the same, empty cache", "s", (first - statistics.median(warm),)))
    return found


def diagnostics(case: Case, *, repeats: int, seconds: float) -> list[Cost]:
    """Time of a round with diagnostics over one without.

    The memory that keeps everything needs grad f in any case: there the goal for the cheap group applies. With a
    subset, "none" does without grad f, and the difference is the price of measuring it.
    """
    world, fast = World(case), fastest_options()

    def over_none(name: str, measured: dict[str, Any], limit: float | None = None, **memory: Any) -> Cost:
        contestants = [Ours(world, **fast, **memory), Ours(world, **fast, **memory, **measured)]
        without, with_it = interleaved(contestants, repeats=repeats, seconds=seconds)
        pairs = tuple(a / b for a, b in zip(with_it.seconds, without.seconds, strict=True))
        return Cost(f"diagnostics {name}", case.name, "x", pairs, limit)

    found = [
        over_none("cheap over none, grad f needed anyway", {"diagnostics": "cheap"}, 1.3, memory=everything()),
        over_none("cheap over none, memory a subset", {"diagnostics": "cheap"}),
        over_none("all over none, memory a subset", {"diagnostics": "all"}),
    ]
    if "every" in OPTIONS:
        found.append(over_none("all every 10 rounds over none", {"diagnostics": "all", "every": 10}))
    return found


def random_numbers(case: Case, *, repeats: int, seconds: float) -> Cost:
    """Share of a round that drawing its component orders takes, by the function that our kernels draw them with."""
    world = World(case)
    padded = padded_problem(world.problem, np.float64)
    orders = np.zeros(case.N * case.R * (-(-case.E // 4) * 4), np.uint64)
    numbers: dict[str, Any] = dict.fromkeys(Numbers._fields, 0) | {
        "seed": SEED,
        "estimator": DELAYED,
        "local_steps": case.E,
    }

    class Draws:
        name, replicas = "draws", case.R

        def run(self, rounds: int) -> None:
            _draw(Numbers(**numbers), padded, case.R, rounds, orders)

    ours = Ours(world, **fastest_options())
    drawing, whole = interleaved([Draws(), ours], repeats=repeats, seconds=seconds)
    shares = tuple(a / b * 100 for a, b in zip(drawing.seconds, whole.seconds, strict=True))
    return Cost("random numbers, share of a round", case.name, "%", shares, 5.0)


@compiled
def _draw(n: Any, s: Any, R: int, rounds: int, orders: Any) -> None:
    for t in range(rounds):
        draw_orders(n, s, 0, t, R, orders)


def costs(*, quick: bool, repeats: int, seconds: float, tell: Callable[[str], None] = lambda words: None) -> list[Cost]:
    """All of them."""
    batch = CASES["S x64"] if quick else CASES["M x64"]
    tell("two cores")
    found = [two_cores(case, repeats=repeats, seconds=2 * seconds) for case in ([batch] if quick else BATCHES)]
    tell("start-up")
    found += start_up(repeats=repeats, compile_too=not quick)
    tell("random numbers")
    found += [random_numbers(CASES[name], repeats=repeats, seconds=seconds) for name in ("S", batch.name)]
    tell("diagnostics")
    return found + diagnostics(CASES["S x64"], repeats=repeats, seconds=seconds)


BATCHES = tuple(CASES[name] for name in ("S x64", "M x16", "M x64", "L x16", "L x64"))
