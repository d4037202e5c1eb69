"""How long a user waits: commands with nothing kept from earlier runs, and again."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.sheets import Sheet, number

RUN = "simulate --problem glm --beta 0.01 --alpha 0.1 --T 10"
#: Name, arguments, the goal in seconds; the second time, with what the first one kept.
AGAIN = (
    ("help", "--help", 0.3),
    ("an error", "show cflag.nosuch", 0.3),
    ("one claim", "show cflag.lemma13", 1.0),
    ("a run", RUN, 1.0),
    ("all claims", "verify", None),
)
VERDICTS, REPORT = 15.0, 60.0


def waits(
    *, cores: int = 2, repeats: int = 5, tell: Callable[[str], None] = lambda words: None
) -> list[dict[str, Any]]:
    """Seconds of each command on so many cores: medians with the least and the most, and the goals."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tell("verify --out, with empty caches")
        verdicts, report = _seconds(f"verify --out {folder / 'report'}", folder, cores)
        rows = [_row("verdicts, empty caches", [verdicts], VERDICTS), _row("report, empty caches", [report], REPORT)]
        for words, arguments, goal in AGAIN:
            tell(words)
            # The first one keeps what can be kept.
            _seconds(arguments, folder, cores)
            rows.append(_row(words, [_seconds(arguments, folder, cores)[1] for _ in range(repeats)], goal))
    return rows


def _seconds(arguments: str, folder: Path, cores: int) -> tuple[float, float]:
    """Until the first line of output, and until the end."""
    usable = sorted(os.sched_getaffinity(0))[:cores]
    # A folder for kept things of its own, so that nothing is there at first.
    environment = os.environ | {"XDG_CACHE_HOME": str(folder / "cache"), "NUMBA_CACHE_DIR": ""}
    (folder / "cache").mkdir(exist_ok=True)
    begun = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "cflag_theory", *arguments.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        preexec_fn=lambda: os.sched_setaffinity(0, usable),
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        first = time.perf_counter() - begun
        process.stdout.read()
    return first, time.perf_counter() - begun


def _row(words: str, seconds: Sequence[float], goal: float | None) -> dict[str, Any]:
    return {
        "name": words,
        "seconds": statistics.median(seconds),
        "least": min(seconds),
        "most": max(seconds),
        "runs": len(seconds),
        "goal": goal,
    }


def waits_sheet(rows: Sequence[dict[str, Any]], cores: int) -> Sheet:
    """The table of `waits`."""
    return Sheet(
        f"Waiting, on {cores} cores",
        ("what", "seconds", "least to most", "runs", "goal"),
        tuple(
            (
                row["name"],
                number(row["seconds"]),
                f"{number(row['least'])} to {number(row['most'])}",
                str(row["runs"]),
                "" if row["goal"] is None else number(row["goal"]),
            )
            for row in rows
        ),
        text=frozenset({"what"}),
    )
