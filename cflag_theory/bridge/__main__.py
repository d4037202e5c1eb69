"""`python -m cflag_theory.bridge`: a bridge run in plain lines, alone or in the processes that torchrun started.

torchrun --nproc-per-node 2 -m cflag_theory.bridge run.toml --out results
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cflag_theory.bridge.measures.metrics import metrics
from cflag_theory.bridge.settings.file import changes_from_words, read_changes
from cflag_theory.bridge.settings.presets import preset
from cflag_theory.bridge.settings.run_settings import RULES, RunSettings, merged, run_settings
from cflag_theory.errors import CflagError, InvalidInput, MissingExtra

#: Seconds between two lines of progress.
EVERY = 5.0


def main(words: Sequence[str] | None = None) -> int:
    """Run what the words say; the exit code, 2 after an error that a user can fix."""
    try:
        asked = _parser().parse_args(words)
        _run(_runs(asked), asked.preset, fast=asked.fast, anyway=asked.resume_anyway)
    except CflagError as error:
        print(f"cflag: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("cflag: interrupted; complete rounds are kept, and the same command continues", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m cflag_theory.bridge", description=__doc__.partition("\n")[0])
    parser.add_argument("file", nargs="?", type=Path, help="a TOML file; Split-Digits without one")
    parser.add_argument("--preset", help="an experiment of the paper, such as table3-cifar10")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting, such as rounds=3")
    parser.add_argument("--fast", action="store_true", help="switch on what is faster on the device, up to rounding")
    parser.add_argument("--out", type=Path, required=True, help="folder of the results; the same command continues")
    parser.add_argument(
        "--resume-anyway", action="store_true", help="continue with other versions, device or threads; it is recorded"
    )
    # As `cflag bridge` has them; every setting has one here.
    parser.add_argument("--method", action="append", default=[], help="such as c_flag; repeatable")
    parser.add_argument("--adaptive", help="rates of C-FLAG: none, average, worst or printed")
    parser.add_argument("--download", action="store_true", help="download the data to --root if missing")
    for name, rule in RULES.items():
        if name not in ("methods", "download"):
            parser.add_argument(f"--{name.replace('_', '-')}", dest=f"setting {name}", metavar="X", help=rule.wanted)
    return parser


def _words(asked: argparse.Namespace) -> list[str]:
    """What the options say, as the words of --set."""
    given = {name.removeprefix("setting "): value for name, value in vars(asked).items() if name.startswith("setting ")}
    given |= {"methods": ",".join(asked.method) or None, "c_flag.adaptive": asked.adaptive}
    given |= {"download": "true" if asked.download else None}
    return [*(f"{name}={value}" for name, value in given.items() if value is not None), *asked.set]


def _runs(asked: argparse.Namespace) -> list[tuple[RunSettings, Path]]:
    """Settings and folder of every run; a preset's variations have folders of their own."""
    changes = changes_from_words(_words(asked))
    if asked.preset is None:
        return [(run_settings(merged(read_changes(asked.file) if asked.file else {}, changes)), asked.out)]
    if asked.file is not None:
        raise InvalidInput(f"{asked.file} and the preset {asked.preset!r} are two runs: give one of them")
    return [(each.settings(changes), asked.out / each.name) for each in preset(asked.preset).variations]


def _run(runs: Sequence[tuple[RunSettings, Path]], name: str | None, *, fast: bool, anyway: bool) -> None:
    try:
        from cflag_theory.bridge.training.communication import started
        from cflag_theory.bridge.training.environment import fast as faster
        from cflag_theory.bridge.training.environment import find_device
        from cflag_theory.bridge.training.run import run_bridge
    except ImportError as error:
        raise MissingExtra(f"the bridge needs PyTorch ({error}): pip install 'cflag-theory[torch]'") from error
    if fast:
        runs = [(faster(settings), out) for settings, out in runs]
    first, _ = runs[0]
    with started(find_device(first.device), sum=first.exchange) as communication:
        speaks = communication.rank == 0
        for settings, out in runs:
            progress = _Lines(out) if speaks else None
            result = run_bridge(
                settings,
                out=out,
                preset=name,
                progress=progress,
                reading=None if progress is None else progress.read,
                communication=communication,
                anyway=anyway,
            )
            if speaks:
                print(f"{out}: {'complete' if result.complete else 'not complete'}")
                for part in result.runs:
                    found = metrics(part.accuracy)
                    accuracy, forgetting = _percent(found.average_accuracy), _percent(found.forgetting)
                    print(f"  {part.method} {part.seed}: accuracy {accuracy}, forgetting {forgetting} {part.message}")


def _percent(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.2f}"


class _Lines:
    """Progress as lines on standard error, not too many of them."""

    def __init__(self, out: Path) -> None:
        self.out, self.last = out, -EVERY

    def read(self, done: int, total: int) -> None:
        """So many images of the data set."""
        if time.monotonic() - self.last >= EVERY:
            self.last = time.monotonic()
            print(f"{self.out.name}: {done} of {total} images read", file=sys.stderr, flush=True)

    def __call__(self, **at: Any) -> None:
        if time.monotonic() - self.last < EVERY and at["overall"] < at["total"]:
            return
        self.last = time.monotonic()
        where = f"{at['method']} {at['seed']}: task {at['task'] + 1}, round {at['overall']} of {at['total']}"
        print(f"{self.out.name}: {where}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
