"""How long a user waits: every command with nothing kept from earlier runs, and again; calls that are compiled."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.sheets import Sheet, number

#: What `verify --out` prints when a part of it is done, and the goal in seconds.
PARTS = (
    ("verdicts of both papers", "verdict ", 15.0),
    ("theorems of our own, z3, all instances", "theorems of our own", None),
    ("random runs", "random runs (seed", None),
    ("the report", "report: ", 60.0),
)
#: CPU seconds of what computes nothing, and of what computes something small: the goals.
AT_ONCE, STARTED = 0.4, 1.0
#: Name, arguments, goal in CPU seconds for the second time.
COMMANDS = (
    ("help", "--help", AT_ONCE),
    ("an error", "show cflag.nosuch", AT_ONCE),
    ("all titles", "list", AT_ONCE),
    ("one claim", "show cflag.lemma13", STARTED),
    ("safe steps", "stepsize --L 3 --m 0.4 --E 8 --T 5000", STARTED),
    ("a run", "simulate --problem glm --beta 0.01 --alpha 0.1 --T 10", STARTED),
    ("a user's lemmas", f"decide {Path(__file__).parents[1] / 'docs' / 'examples' / 'fedprox_lemmas.py'}", None),
    ("what a theorem rests on", "map cflag.thm5", None),
    ("errata", "errata --paper cfl", None),
    ("all claims", "verify", None),
)
#: Case, rounds, goal in milliseconds: a call of `simulate`, the same as the call before.
CALLS = (("S", 1, 0.3), ("M x16", 1, 3.0))
SYMPY = "import sympy"


@dataclass(frozen=True)
class Run:
    """One process and its children: seconds by the clock, CPU seconds, and both of them when a line was printed."""

    seconds: float
    cpu: float
    lines: list[tuple[float, str]] = field(default_factory=list)


def waits(
    *, cores: int = 2, repeats: int = 5, tell: Callable[[str], None] = lambda words: None
) -> dict[str, list[dict[str, Any]]]:
    """Parts of the first report, commands with empty caches and again, warm calls: medians with least and most."""
    with tempfile.TemporaryDirectory() as name:
        tell("verify --out, with empty caches")
        first = _run(["-m", "cflag_theory", "verify", "--out", str(Path(name, "report"))], Path(name, "first"), cores)
        tell("verify --out, again")
        again = _run(["-m", "cflag_theory", "verify", "--out", str(Path(name, "report"))], Path(name, "first"), cores)
        parts = [
            {"name": words, "seconds": _when(first, line), "again": _when(again, line), "goal": goal}
            for words, line, goal in PARTS
        ]
        parts.append({"name": "CPU seconds in all", "seconds": first.cpu, "again": again.cpu, "goal": None})
        commands = []
        for place, (words, arguments, limit) in enumerate(COMMANDS):
            tell(words)
            cache = Path(name, str(place))
            call = ["-m", "cflag_theory", *arguments.split()]
            cold, kept, ours = _run(call, cache, cores), [], []
            # What a slow or busy machine makes of a known import, beside each run of ours.
            for _ in range(repeats):
                kept.append(_run(call, cache, cores))
                ours.append(kept[-1].cpu / _run(["-c", SYMPY], cache, cores).cpu)
            commands.append(
                {
                    "name": words,
                    "first": {"seconds": cold.seconds, "cpu": cold.cpu},
                    "seconds": _spread([run.seconds for run in kept]),
                    "cpu": _spread([run.cpu for run in kept]),
                    "imports of sympy": _spread(ours),
                    "goal": limit,
                }
            )
    tell("calls of simulate")
    return {"parts": parts, "commands": commands, "calls": [_call(*one, repeats) for one in CALLS]}


def _run(call: Sequence[str], cache: Path, cores: int) -> Run:
    usable = sorted(os.sched_getaffinity(0))[:cores]
    # A folder for kept things of its own, so that nothing is there at first.
    environment = os.environ | {"XDG_CACHE_HOME": str(cache), "NUMBA_CACHE_DIR": ""}
    # A module that is compiled at every start takes longer than most commands.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    cache.mkdir(exist_ok=True)
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *call],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
        preexec_fn=lambda: os.sched_setaffinity(0, usable),
    )
    assert process.stdout is not None
    with process.stdout:
        lines = [(time.perf_counter() - begun, line) for line in process.stdout]
    # Its children's time too, of those that it has waited for.
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Run(time.perf_counter() - begun, used.ru_utime + used.ru_stime, lines)


def _when(run: Run, words: str) -> float:
    return next(seconds for seconds, line in run.lines if words in line)


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def _call(name: str, rounds: int, goal: float, repeats: int) -> dict[str, Any]:
    """Milliseconds of a call whose loop is compiled and whose problem is the one of the call before."""
    from benchmarks.cases import CASES, SEED, World
    from benchmarks.measure import seconds_of
    from cflag_theory.kernels import simulate

    world = World(CASES[name])
    settings: dict[str, Any] = {
        "alpha": world.alpha,
        "beta": world.beta,
        "local_steps": world.case.E,
        "rounds": rounds,
        "memory": world.memory,
        "replicas": world.case.R,
        "seed": SEED,
    }

    def call() -> None:
        simulate(world.problem, "c_flag", **settings)

    call()
    inside = max(5, round(0.2 / seconds_of(call)))

    def calls() -> None:
        for _ in range(inside):
            call()

    timed = [seconds_of(calls) / inside * 1e3 for _ in range(repeats)]
    return {"name": f"{name}, T = {rounds}", "ms": _spread(timed), "goal": goal}


def waits_sheets(found: dict[str, list[dict[str, Any]]], cores: int) -> list[Sheet]:
    """The tables of `waits`."""

    def goal(row: dict[str, Any]) -> str:
        return "" if row["goal"] is None else number(row["goal"])

    def spread(values: dict[str, float]) -> str:
        return f"{number(values['median'])} ({number(values['least'])} to {number(values['most'])})"

    return [
        Sheet(
            f"The first report, on {cores} cores: seconds until it is there",
            ("what", "empty caches", "again", "goal, empty caches"),
            tuple((row["name"], number(row["seconds"]), number(row["again"]), goal(row)) for row in found["parts"]),
            text=frozenset({"what"}),
        ),
        Sheet(
            "Commands: the first time with empty caches, then again",
            ("what", "first, s", "first, CPU s", "again, s", "again, CPU s", "over import sympy", "goal, CPU s"),
            tuple(
                (
                    row["name"],
                    number(row["first"]["seconds"]),
                    number(row["first"]["cpu"]),
                    *(spread(row[key]) for key in ("seconds", "cpu", "imports of sympy")),
                    goal(row),
                )
                for row in found["commands"]
            ),
            text=frozenset({"what"}),
        ),
        Sheet(
            "A call of simulate in a process that has made it before",
            ("what", "ms", "goal"),
            tuple((row["name"], spread(row["ms"]), goal(row)) for row in found["calls"]),
            text=frozenset({"what"}),
        ),
    ]
