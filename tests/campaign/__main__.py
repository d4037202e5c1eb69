"""Tries to break the commands: python -m tests.campaign --minutes 1 --seed 0 --jobs 2.

Each case is a function of the seed and its number, see `cases.KINDS`. A case breaks the product if it ends in a
traceback or an error of our own, says anything but one sentence, dies of a signal, is silent, gives a wrong
verdict or number, takes too much memory or time, is deaf to an interrupt, leaves a process, changes a file that is not
the product's, or loses or spoils results. What breaks is printed with the command that repeats it, and made smaller.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.campaign.cases import KINDS, Case, case_of
from tests.campaign.running import fault, load, prepare


def said(case: Case) -> str:
    parts = [f"cflag {shlex.join(word if len(word) < 200 else word[:100] + '...' for word in case.words)}"]
    parts += [f"damaged: {damage}" for damage in case.damages]
    parts += [f"{name}: {content[:1500]!r}" for name, content in case.files]
    parts += [f"with {case.how}"[:300]] if case.how else []
    parts += [f"stopped after {after:.3f} s by signal {number}" for after, number in case.stops]
    parts += [f"{case.writers} at once"] if case.writers > 1 else []
    return "\n  ".join(parts).encode("utf-8", "backslashreplace").decode()


def work(asked: argparse.Namespace, home: Path, place: int, write: int) -> None:
    """Every `jobs`-th case, until time is up or an interrupt; how many of each kind, and where to go on."""
    stopped: list[Any] = []
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, lambda *_: stopped.append(1))
    load()
    counts, broken, spent = Counter[str](), {}, Counter[str]()
    ends, number = time.monotonic() + 60 * asked.minutes, asked.start + place
    while not stopped and time.monotonic() < ends and number < asked.end:
        case, begun = case_of(asked.seed, number, asked.kind), time.monotonic()
        try:
            why = fault(home, case)
        except Exception:
            why = traceback.format_exc()
        counts[case.kind] += 1
        if why is not None:
            broken.setdefault(case.kind, []).append(number)
            kind = f" --kind {shlex.quote(asked.kind)}" if asked.kind else ""
            again = f"python -m tests.campaign --seed {asked.seed}{kind} --only {number}"
            print(f"broken: {case.kind}: {why}\n  {said(case)}\n  again: {again}", flush=True)
            if asked.smaller and not stopped:
                print(f"  smaller: {said(smaller(case, lambda one: fault(home, one)))}", flush=True)
        spent[case.kind] += round(1000 * (time.monotonic() - begun))
        number += asked.jobs
    os.write(write, json.dumps([counts, broken, spent, number]).encode())


def smaller(case: Case, broken: Callable[[Case], object]) -> Case:
    """The same fault with fewer damages and words, and shorter words."""
    for place in reversed(range(len(case.damages))):
        other = replace(case, damages=case.damages[:place] + case.damages[place + 1 :])
        case = other if broken(other) else case
    for place in reversed(range(1, len(case.words))):
        other = replace(case, words=case.words[:place] + case.words[place + 1 :])
        case = other if broken(other) else case
    for place in range(1, len(case.words)):
        while len(word := case.words[place]) > 8:
            other = replace(case, words=(*case.words[:place], word[: len(word) // 2], *case.words[place + 1 :]))
            if not broken(other):
                break
            case = other
    return case


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes that take turns with the cases")
    parser.add_argument("--kind", choices=KINDS, help="only cases of this kind")
    parser.add_argument("--from", type=int, default=0, dest="start", help="the number of the first case")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="only the case of this number")
    parser.add_argument("--smaller", action="store_true", help="also look for a smaller case that breaks")
    asked = parser.parse_args()
    asked.end = sys.maxsize
    if asked.only is not None:
        asked.start, asked.end, asked.minutes = asked.only, asked.only + 1, 60
    home = Path(tempfile.mkdtemp(prefix="campaign-")) / "home"
    home.mkdir()
    load()
    prepare(home)
    sys.stdout.flush()
    pipes, workers = [], []
    for place in range(asked.jobs):
        read, write = os.pipe()
        worker = os.fork()
        if worker == 0:
            (folder := home.parent / str(place)).mkdir()
            work(asked, Path(shutil.copytree(home, folder / "home", symlinks=True)), place, write)
            os._exit(0)
        os.close(write)
        pipes.append(read)
        workers.append(worker)
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, lambda number, _: [os.kill(worker, number) for worker in workers])
    parts = [json.loads(os.fdopen(read, "rb").read()) for read in pipes]
    for worker in workers:
        os.waitpid(worker, 0)
    shutil.rmtree(home.parent, ignore_errors=True)
    counts, spent = (sum((Counter(part[i]) for part in parts), Counter[str]()) for i in (0, 2))
    broken: dict[str, list[int]] = {}
    for _, found, _, _ in parts:
        for kind, numbers in found.items():
            broken[kind] = sorted(broken.get(kind, []) + numbers)
    kinds = {
        kind: {"cases": n, "ms each": round(spent[kind] / n), "broken": broken.get(kind, [])}
        for kind, n in counts.items()
    }
    go_on = min(number for *_, number in parts)
    print(
        json.dumps({"seed": asked.seed, "cases": sum(counts.values()), "go on with": f"--from {go_on}", "kinds": kinds})
    )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
