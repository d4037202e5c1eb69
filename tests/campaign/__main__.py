"""Tries to break the commands: python -m tests.campaign --minutes 1 --seed 0.

Each case is a function of the seed and its number: hostile arguments, damaged files, hostile folders and surroundings,
killed runs. A case breaks the product if it ends in a traceback or an error of our own, says anything but one sentence,
dies of a signal, takes too much memory or time, is deaf to an interrupt, changes a file that is not the product's, or
loses or spoils results. What breaks is made smaller, step by step, and printed with the command that repeats it.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.campaign.cases import KINDS, SURROUNDINGS, Case, case_of
from tests.campaign.running import fault, load, prepare, smaller


def said(case: Case) -> str:
    parts = [f"cflag {shlex.join(word if len(word) < 200 else word[:100] + '...' for word in case.words)}"]
    parts += [f"damaged: {damage}" for damage in case.damages]
    if case.surroundings is not None:
        parts.append(f"with {SURROUNDINGS[case.surroundings]}"[:300])
    if case.kills:
        parts.append(f"killed after {', '.join(f'{after:.3f} s' for after in case.kills)}")
    return "\n  ".join(parts).encode("utf-8", "backslashreplace").decode()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS, help="only cases of this kind")
    parser.add_argument("--case", type=int, help="only the case of this number")
    asked = parser.parse_args()
    counts, found, number = Counter[str](), 0, 0 if asked.case is None else asked.case
    with tempfile.TemporaryDirectory(prefix="campaign-", ignore_cleanup_errors=True) as name:
        home = Path(name) / "home"
        home.mkdir()
        load()
        prepare(home)
        ends = time.monotonic() + 60 * asked.minutes
        while asked.case is not None or time.monotonic() < ends:
            case = case_of(asked.seed, number)
            if asked.kind in (None, case.kind):
                counts[case.kind] += 1
                why = fault(home, case)
                if why is not None:
                    found += 1
                    case = case if case.kills else smaller(case, lambda one: fault(home, one))
                    again = f"python -m tests.campaign --seed {asked.seed} --case {number}"
                    print(f"broken: {why!r}\n  {said(case)}\n  again: {again}", flush=True)
            if asked.case is not None:
                break
            number += 1
    print(json.dumps({"seed": asked.seed, "cases": dict(counts), "broken": found}))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
