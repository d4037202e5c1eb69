"""Tries to break the commands: python -m tests.campaign --minutes 1 --seed 0.

Each case is a function of the seed and its number: hostile arguments, damaged files, hostile folders, killed runs. A
case breaks the product if it ends in a traceback or an error of our own, says anything but one sentence, dies of a
signal, takes more than `MEMORY` or `SECONDS`, or changes a file that is not the product's. What breaks is made smaller,
step by step, and printed with the command that repeats it.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import chdir, redirect_stdout, suppress
from dataclasses import dataclass, replace
from pathlib import Path

MEMORY, SECONDS = 2 << 30, 60
#: Ends of a command: done, nothing found, bad input, interrupted.
CODES = (0, 1, 2, 130)
VALUES = [
    *[
        "0",
        "-1",
        "1",
        "2",
        "3",
        "1e-320",
        "1e308",
        "1e400",
        "nan",
        "inf",
        "-inf",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551616",
    ],
    *[
        "4294967296",
        "10000000000",
        "0x10",
        "1_0",
        "1,2",
        "0-4",
        "4-0",
        "0-99999999",
        "a=1",
        "=1",
        "a=",
        "name=3",
        "seed=x",
        "D=nan",
        "clients=99999999999",
    ],
    *[
        "{[]:1}",
        "((1,),)",
        "None",
        "True",
        "'",
        "é",
        "𝔼",
        "\x1b[31m",
        "\\",
        "*",
        "?",
        ".",
        "..",
        "/",
        "~",
        "-",
        "--",
        "--help",
        ".",
        "/dev/null",
        "/dev/full",
        "/dev/zero",
    ],
    *["digits", "glm", "quadratic", "cfl", "c_flag", "all", "none"],
    *("", " ", "a" * 5000, "9" * 5000, "-" * 3000 + "1", "[" * 3000, "\udcff"),
]
STUDY = (
    '[memory]\nkind = "sign"\nm = [0, 0.25]\n[[algorithm]]\nname = "c_flag"\nalpha = "1/(L*(1 + m))"\n'
    '[[algorithm]]\nname = "fedavg"\n[run]\nbeta = ["c/sqrt(T)", 0.01]\nc = 0.05\nE = 2\nT = [1, 8]\n'
    "seed = {first = 0, count = 3}\nreplicas = 3\n"
)
CLAIMS = (
    "from fractions import Fraction\nfrom cflag_theory.falsify import Conjecture, Range\n"
    'claim = Conjecture(name="false", ranges={"x": Range(0, 1)}, left=lambda x: x, right=Fraction(1, 2))\n'
)
RUN = "simulate --problem glm --dial clients=2 --beta 0.01 --alpha 0.1 --T 2 --E 1 --replicas 2"
RATE = "rate --problem separable --dial clients=2 --horizons 2,4 --replicas 2 --E 1"
COMMANDS = [
    f"{RUN} --memory uniform --memory-size 2 --diagnostics all --every 2 --mode fast --seed 1 --out new/run.npz",
    f"{RUN} --data data.csv --clients 2 --zeta 1.0 --past-classes 0-1 --current-classes 2,3 --potential cauchy",
    f"{RUN} --data data.npz --clients 2",
    "simulate --algorithm cfl --set past=taylor --set window=2 --problem evolving --beta 0.01 --T 3 --E 1",
    f"{RATE} --c 0.1 --a 0.5 --alpha-factor 1.0 --seed 0 --out new",
    f"{RATE} --vary m=0,0.5 --memory sign --m 0.5",
    "rate --paper cfl --dial D=2 --horizons 2,4 --replicas 2",
    "stepsize --L 1 --m 0 --E 1 --alpha 1 --beta 0.1 --T 4 --out new",
    "stepsize --from-trace run.npz --lowest 0 --format json",
    "forgetting --problem glm --dial clients=2 --T 2 --E 1 --replicas 2 --memory-size 2 --out new",
    "tasks --dial tasks=3 --dial clients=2 --dial components=4 --dial dimension=3 --T 2 --E 1 --replicas 2",
    "falsify claims.py --budget 20 --seconds 5 --seed 1 --out new",
    "falsify --replay found/false.json",
    "decide claims.py --budget 20 --seconds 5",
    "sweep study.toml --jobs 1 --out new",
    "sweep study.toml --dry-run",
    "plot swept --figure series --x T --y last_f --by seed --where T=1 --out new",
    "plot rate.json",
    "list",
    "show cflag.eq7 --format json",
]
#: Files of the working folder that a command reads, with the words of that command.
READ = {
    "run.npz": "stepsize --from-trace run.npz",
    "data.csv": COMMANDS[1],
    "data.npz": COMMANDS[2],
    "study.toml": "sweep study.toml --dry-run",
    "found/false.json": "falsify --replay found/false.json",
    "rate.json": "plot rate.json --out new",
    "swept/sweep.json": "plot swept --out new",
    "old/rate_horizons.jsonl": f"{RATE} --out old",
    "old/.cflag-theory": f"{RATE} --out old",
}


@dataclass(frozen=True)
class Case:
    """A command, and what is done to its folder before: (file, kind, number, number)."""

    words: tuple[str, ...]
    damages: tuple[tuple[str, str, int, int], ...] = ()
    kills: tuple[float, ...] = ()


def case_of(seed: int, number: int) -> Case:
    draw = random.Random(f"{seed}/{number}")
    kind = draw.choices(("words", "files", "folders", "kills"), (10, 10, 4, 1))[0]
    if kind == "kills":
        words = draw.choice(("sweep study.toml --jobs 2 --out new", f"{RATE.replace('2,4', '16-40')} --out new"))
        return Case(tuple(words.split()), kills=tuple(draw.uniform(0, 6) for _ in range(draw.randint(1, 3))))
    if kind == "files":
        name = draw.choice(list(READ))
        kinds = ("flip", "flip", "cut", "insert", "repeat", "nest", "digits", "empty", "link")
        damages = [
            (name, draw.choice(kinds), draw.randrange(1 << 30), draw.randrange(256)) for _ in range(draw.randint(1, 4))
        ]
        return Case(tuple(READ[name].split()), tuple(damages))
    if kind == "folders":
        words = draw.choice([command for command in COMMANDS if "--out new" in command and "/run" not in command])
        names = ("index.html", "rate.json", ".lock", ".cflag-theory", "sweep.json", "rate.png", "step_sizes.json", "a")
        kinds = ("file", "outside", "device", "folder", "gone")
        damages = [(f"new/{name}", draw.choice(kinds), 0, 0) for name in draw.sample(names, 2)]
        return Case(tuple(words.split()), tuple(damages))
    words = draw.choice(COMMANDS).split()
    for _ in range(draw.randint(1, 3)):
        place = draw.randrange(1, len(words) + 1)
        if draw.random() < 0.8 and place < len(words):
            words[place] = draw.choice(VALUES)
        else:
            words.insert(place, draw.choice(VALUES))
    return Case(tuple(words))


def spoil(folder: Path, damage: tuple[str, str, int, int]) -> None:
    name, kind, number, byte = damage
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    if kind in ("file", "outside", "device", "folder", "gone", "link", "empty"):
        if path.is_symlink() or path.is_file():
            path.unlink()
        elif path.is_dir():
            return
    if kind == "file":
        path.write_text("mine")
    elif kind == "outside":
        path.symlink_to(folder / "mine.txt")
    elif kind == "device":
        path.symlink_to("/dev/full")
    elif kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(path)
    elif kind == "empty":
        path.write_bytes(b"")
    elif path.is_file():
        content = bytearray(path.read_bytes() or b"x")
        place = number % len(content)
        if kind == "flip":
            content[place] = byte
        elif kind == "cut":
            del content[place:]
        elif kind == "insert":
            content[place:place] = random.Random(number).choice(VALUES).encode("utf-8", "surrogateescape")
        elif kind == "repeat":
            content[place:place] = content[place : place + 1000] * (1 + byte)
        elif kind == "nest":
            content[place:place] = b"[{"[byte % 2 : byte % 2 + 1] * 20_000
        elif kind == "digits":
            content[place:place] = b"9" * (1 << (byte % 14))
        path.write_bytes(bytes(content))


def prepare(folder: Path) -> None:
    """What valid commands read, made by valid commands."""
    (folder / "study.toml").write_text(STUDY)
    (folder / "claims.py").write_text(CLAIMS)
    lines = [f"{i % 7},{i % 5},{i % 4}" for i in range(80)]
    (folder / "data.csv").write_text("\n".join(["a,b,label", *lines]))
    import numpy as np

    table = np.array([[int(cell) for cell in line.split(",")] for line in lines], dtype=float)
    np.savez(folder / "data.npz", features=table[:, :2], labels=table[:, 2])
    for words in (
        f"{RUN} --memory uniform --memory-size 2 --diagnostics all --out run.npz",
        f"{RATE} --out old",
        "sweep study.toml --jobs 1 --out swept",
        "falsify claims.py --budget 50 --out found",
    ):
        # In this process, so that a fork finds the loops compiled.
        with suppress(SystemExit), chdir(folder), redirect_stdout(io.StringIO()):
            start(words.split())
    shutil.copy(folder / "old" / "rate.json", folder)
    (folder / "mine.txt").write_text("mine")


def start(words: Sequence[str]) -> None:
    from cflag_theory.cli.main import main

    sys.argv = ["cflag", *words]
    main()


def run(folder: Path, words: Sequence[str]) -> tuple[int, str, int, float]:
    """Exit code (negative: of a signal), standard error, peak bytes and seconds of a command, in a fork of this one."""
    output = folder.with_name(folder.name + ".err")
    begun, child = time.monotonic(), os.fork()
    if child == 0:
        try:
            os.chdir(folder)
            for handle, target in ((0, os.devnull), (1, os.devnull), (2, str(output))):
                os.dup2(os.open(target, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), handle)
            resource.setrlimit(resource.RLIMIT_CPU, (4 * SECONDS, 4 * SECONDS))
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
            start(words)
        except SystemExit as ended:
            sys.stderr.flush()
            os._exit(ended.code if isinstance(ended.code, int) else 1)
        except BaseException:
            import traceback

            traceback.print_exc()
            sys.stderr.flush()
        os._exit(99)
    while True:
        ended, status, usage = os.wait4(child, os.WNOHANG)
        if ended:
            break
        if time.monotonic() - begun > SECONDS:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.01)
    seconds, memory = time.monotonic() - begun, usage.ru_maxrss << 10
    return os.waitstatus_to_exitcode(status), output.read_text(errors="replace"), memory, seconds


def fault(home: Path, case: Case) -> str | None:
    """How a case breaks the product, or None."""
    with tempfile.TemporaryDirectory(dir=home.parent) as name:
        folder = Path(name) / "work"
        shutil.copytree(home, folder, symlinks=True)
        for damage in case.damages:
            spoil(folder, damage)
        if case.kills:
            return _unlike_unbroken(folder, case)
        code, err, memory, seconds = run(folder, case.words)
        lines = err.splitlines()
        if seconds > SECONDS:
            return f"it takes more than {SECONDS} s"
        if code not in CODES:
            return f"it ends with {code}: {lines[-1][:300] if lines else ''}"
        if "Traceback" in err or (code == 2 and sum(line.startswith("cflag: ") for line in lines) != 1):
            return f"it says {err[-300:]!r}"
        if memory > MEMORY:
            return f"it takes {memory >> 20} MB"
        if (folder / "mine.txt").read_text() != "mine":
            return "it wrote through a link"
        for changed, kind, _, _ in case.damages:
            if kind == "file" and (not (folder / changed).is_file() or (folder / changed).read_text() != "mine"):
                return f"it changed {changed}, which was the user's"
    return None


def _unlike_unbroken(folder: Path, case: Case) -> str | None:
    """Kill a run, give the command again until it is through, and compare with one that nobody killed."""
    command = [sys.executable, "-m", "cflag_theory", *case.words]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    for after in case.kills:
        with subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            time.sleep(after)
            process.kill()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"after a kill it ends with {done.returncode}: {done.stderr[-300:]}"
    whole = ["whole" if word == "new" else word for word in case.words]
    subprocess.run([*command[:3], *whole], cwd=folder, env=environment, capture_output=True, check=True)
    left, right = (
        {path.name: path.read_bytes() for path in (folder / name).iterdir() if path.suffix != ".jsonl"}
        for name in ("new", "whole")
    )
    different = sorted(name for name in left | right if left.get(name) != right.get(name))
    return f"after a kill these differ: {different}" if different else None


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
    parser.add_argument("--case", type=int, help="only the case of this number")
    asked = parser.parse_args()
    # What a fork then need not load again.
    import cflag_theory.cli.main
    import cflag_theory.figures
    import cflag_theory.kernels.engines.cpu.run
    import cflag_theory.studies.sweeps.sweep  # noqa: F401

    counts: Counter[str] = Counter()
    found = 0
    with tempfile.TemporaryDirectory(prefix="campaign-") as name:
        home = Path(name) / "home"
        home.mkdir()
        prepare(home)
        ends = time.monotonic() + 60 * asked.minutes
        number = 0 if asked.case is None else asked.case
        while asked.case is not None or time.monotonic() < ends:
            case = case_of(asked.seed, number)
            counts["killed runs" if case.kills else "damaged files and folders" if case.damages else "arguments"] += 1
            why = fault(home, case)
            if why is not None:
                found += 1
                case = smaller(case, lambda one: fault(home, one)) if not case.kills else case
                again = f"python -m tests.campaign --seed {asked.seed} --case {number}"
                print(f"broken: {why}\n  {case}\n  again: {again}", flush=True)
            if asked.case is not None:
                break
            number += 1
    print(json.dumps({"seed": asked.seed, "cases": dict(counts), "broken": found}))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
