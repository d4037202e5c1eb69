"""Acceptance of the bridge on a device, within minutes and without files: `python -m benchmarks bridge-gpu --accept`.

The checks run in the order of their importance. Each prints one line when it ends and is written to accept.json at
once, so that a run that is killed keeps what it has found. One that fails does not stop the others; what time does not
allow is recorded as left out.
"""

from __future__ import annotations

import json
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from benchmarks.sheets import as_json
from cflag_theory.files import write_text

FILE = "accept.json"


class Failed(Exception):
    """A check found what it must not find: the sentence says what."""


class LeftOut(Exception):
    """A check has no meaning here: the sentence says why."""


class TimeUp(Exception):
    """The time of the whole acceptance is over."""


@dataclass
class Ground:
    """What checks are given, and what earlier ones leave for later ones.

    Attributes
    ----------
    device : torch.device
    tiny : bool
        Small networks and data, for a CPU.
    folder : Path
        For what a check writes.
    until : float
        Of `time.monotonic`.
    rates : dict of str to float
        Image gradients a second by network, once they are measured.
    """

    device: torch.device
    tiny: bool
    folder: Path
    until: float
    rates: dict[str, float] = field(default_factory=dict)

    @property
    def cuda(self) -> bool:
        """Whether it is a GPU."""
        return bool(self.device.type == "cuda")

    def left(self) -> float:
        """Seconds."""
        return self.until - time.monotonic()


@dataclass(frozen=True)
class Check:
    """One thing that must hold, or is measured.

    Attributes
    ----------
    name : str
    seconds : float
        With fewer left it is not begun.
    run : callable
        What it found; raises `Failed` or `LeftOut`.
    """

    name: str
    seconds: float
    run: Callable[[Ground], Mapping[str, Any]]


@dataclass(frozen=True)
class Outcome:
    """How a check ended: `ok` is None where it was left out, and `words` say why, or what failed."""

    name: str
    ok: bool | None
    seconds: float
    words: str = ""
    found: Mapping[str, Any] = field(default_factory=dict)


def accept(
    checks: Sequence[Check],
    device: torch.device,
    out: Path,
    *,
    tiny: bool,
    seconds: float,
    tell: Callable[[str], None] = print,
) -> list[Outcome]:
    """Run the checks and keep every outcome in `out`/accept.json as soon as it is known."""
    ground = Ground(device, tiny, out / "work", time.monotonic() + seconds)
    ground.folder.mkdir(parents=True, exist_ok=True)
    outcomes: list[Outcome] = []
    for check in checks:
        outcomes.append(_outcome(check, ground))
        tell(line(outcomes[-1]))
        found = {"device": str(device), "tiny": tiny, "seconds": seconds, "checks": outcomes}
        write_text(out / FILE, json.dumps(as_json(found), indent=1, allow_nan=False, default=str) + "\n")
    return outcomes


def line(outcome: Outcome) -> str:
    """One line for people."""
    word = {True: "ok", False: "FAILED", None: "left out"}[outcome.ok]
    numbers = (f"{name} {_short(value)}" for name, value in outcome.found.items() if not isinstance(value, Mapping))
    words = outcome.words or "; ".join(numbers)
    return f"{word:8}  {outcome.name} ({outcome.seconds:.0f} s): {words}"


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _outcome(check: Check, ground: Ground) -> Outcome:
    begun, left = time.monotonic(), ground.left()
    if left < check.seconds:
        return Outcome(check.name, None, 0.0, f"{max(0.0, left):.0f} s are left, and it takes {check.seconds:g}")
    ok: bool | None
    ok, words, found = True, "", {}
    try:
        with _alarm(ground):
            found = dict(check.run(ground))
            if ground.cuda:
                torch.cuda.synchronize()
    except LeftOut as reason:
        ok, words = None, str(reason)
    except TimeUp:
        ok, words = None, "the time was up in the middle"
    except Failed as fault:
        ok, words = False, str(fault)
    # Whatever else a device or a library does is a fault of the check, and the others still run.
    except Exception as error:
        ok, words = False, f"{type(error).__name__}: {str(error).strip()[:300]}"
        found = {"where": traceback.format_exc()[-1500:]}
    return Outcome(check.name, ok, time.monotonic() - begun, words, found)


@contextmanager
def _alarm(ground: Ground) -> Iterator[None]:
    """Interrupt a check when the time is up; where there are no alarms it runs to its end."""

    def ring(*_: object) -> None:
        raise TimeUp

    if sys.platform == "win32":
        yield
        return
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(0.01, ground.left()))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
