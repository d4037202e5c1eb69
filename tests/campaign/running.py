"""Runs a command in a fork of this process or in a new one, and says how a case breaks the product."""

from __future__ import annotations

import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.campaign.cases import BRIDGE, RATE, RUN, STEPS, SURROUNDINGS, SWEEP, Case
from tests.campaign.damage import spoil

#: What a case may take. An argument may ask for more time, and then an interrupt must end the command.
MEMORY, SECONDS, PATIENCE = 2 << 30, 60, 10
#: Where loops cannot be kept they are compiled first.
COMPILING = 5 * SECONDS
#: In a traceback, our code; the word alone is in what pip puts before it, too.
OURS = f"{os.sep}cflag_theory{os.sep}"
#: Ends of a command: done, nothing found, bad input, interrupted.
CODES = (0, 1, 2, 130)
INPUTS = {
    "study.toml": '[memory]\nkind = "sign"\nm = [0, 0.25]\n[[algorithm]]\nname = "c_flag"\nalpha = "1/(L*(1 + m))"\n'
    '[[algorithm]]\nname = "fedavg"\n[run]\nbeta = ["c/sqrt(T)", 0.01]\nc = 0.05\nE = 2\nT = [1, 8]\n'
    "seed = {first = 0, count = 3}\nreplicas = 3\n",
    "bridge.toml": 'data = "digits"\ntasks = 5\nzeta = 1.0\nmode = "theory"\nbatch = 64\nlr = 0.1\n'
    'memory_kind = "ring"\ndtype = "float64"\n[c_flag]\nadaptive = "none"\n',
    "claims.py": "from fractions import Fraction\nfrom cflag_theory.falsify import Conjecture, Range\n"
    'claim = Conjecture(name="false", ranges={"x": Range(0, 1)}, left=lambda x: x, right=Fraction(1, 2))\n',
    "scaffold.py": 'ALGORITHM = "scaffold"\n\n\ndef client_step(x, c, c_i, grad, lr, steps):\n    y = x\n'
    "    for _ in range(steps):\n        y = y - lr * (grad(y) - c_i + c)\n"
    '    return {"x_i": y, "c_i": c_i - c + (x - y) / (steps * lr)}\n',
    "own.py": "import numpy as np\nfrom cflag_theory.kernels import finite_sum\n\n\n"
    "def value(x, data):\n    return 0.5 * np.sum((x - data) ** 2)\n\n\n"
    "def gradient(x, data):\n    return x - data\n\n\n"
    "def problem(clients=2, seed=0):\n    points = np.arange(12.0 * clients).reshape(2, clients, 3, 2)\n"
    "    return finite_sum((value, gradient), past=list(points[0]), current=list(points[1]), start=np.zeros(2), L=1)\n",
    "data.csv": "\n".join(["a,b,label", *(f"{i % 7},{i % 5},{i % 4}" for i in range(80))]),
    "mine.txt": "mine",
}


def prepare(folder: Path) -> None:
    """What valid commands read, made by valid commands."""
    import numpy as np

    for name, text in INPUTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    table = np.loadtxt(folder / "data.csv", delimiter=",", skiprows=1)
    np.savez(folder / "data.npz", features=table[:, :2], labels=table[:, 2])
    for words in (
        f"{RUN} --memory uniform --memory-size 2 --diagnostics all --out run.npz",
        f"{RATE} --out old",
        f"{SWEEP} --out swept",
        f"{STEPS} --out steps",
        "decide --only refute claims.py --budget 50 --out found",
        "simulate --problem own.py:problem --alpha 0.1 --beta 0.01 --T 2 --E 1",
        "tasks --dial tasks=3 --dial clients=2 --dial components=4 --dial dimension=3 --T 2 --E 1 --out sequence",
    ):
        # In this process, so that a fork finds the loops compiled.
        with suppress(SystemExit), chdir(folder), redirect_stdout(io.StringIO()):
            start(words.split())
    # torch has threads once it has computed, which a fork lacks.
    _run(folder, f"{BRIDGE} --out trained".split())
    shutil.copy(folder / "old" / "rate.json", folder)
    shutil.copy(folder / "sequence" / "tasks.json", folder)


def start(words: Sequence[str]) -> None:
    from cflag_theory.cli.main import main

    sys.argv = ["cflag", *words]
    main()


@dataclass(frozen=True)
class Ended:
    """Exit code (negative: of a signal; None: deaf to an interrupt), standard error, peak bytes, seconds."""

    code: int | None
    err: str
    memory: int
    seconds: float


def _run(folder: Path, words: Sequence[str], *, limit: float = SECONDS, kill: float | None = None) -> Ended:
    """A command in a fork of this process; interrupted after `limit` seconds, or killed after `kill`."""
    output = folder.with_name(folder.name + ".err")
    output.touch()
    begun, child = time.monotonic(), os.fork()
    if child == 0:
        try:
            os.chdir(folder)
            for handle, target in ((0, os.devnull), (1, os.devnull), (2, str(output))):
                os.dup2(os.open(target, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), handle)
            signal.signal(signal.SIGINT, signal.default_int_handler)
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
    signals = iter(((kill, signal.SIGKILL),) if kill else ((limit, signal.SIGINT), (limit + PATIENCE, signal.SIGKILL)))
    after, number = next(signals)
    while True:
        ended, status, usage = os.wait4(child, os.WNOHANG)
        seconds = time.monotonic() - begun
        if ended:
            break
        if seconds > after:
            os.kill(child, number)
            after, number = next(signals, (seconds + SECONDS, signal.SIGKILL))
        time.sleep(0.005)
    code = None if not kill and seconds > limit + PATIENCE else os.waitstatus_to_exitcode(status)
    return Ended(code, output.read_text(errors="replace"), usage.ru_maxrss << 10, seconds)


def fresh(
    folder: Path,
    words: Sequence[str],
    *,
    set: Mapping[str, str] | None = None,
    gone: bool = False,
    stdout: str = "",
    stderr: str = "",
    limit: tuple[str, int] | None = None,
    interrupt: float | None = None,
) -> Ended:
    """A command in a new process, in surroundings that may be hostile."""
    begun = time.monotonic()

    def prepare() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for handle, target in ((1, stdout), (2, stderr)):
            if target == "closed":
                os.close(handle)
            elif target == "pipe":
                reader, writer = os.pipe()
                os.close(reader)
                os.dup2(writer, handle)
            elif target:
                os.dup2(os.open(target, os.O_RDWR), handle)
        if gone:
            (folder / "gone").mkdir()
            os.chdir(folder / "gone")
            (folder / "gone").rmdir()
        if limit:
            resource.setrlimit(getattr(resource, f"RLIMIT_{limit[0]}"), (limit[1], limit[1]))

    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | (set or {})
    child = subprocess.Popen(
        [sys.executable, "-m", "cflag_theory", *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=prepare,
    )
    if interrupt:
        with suppress(subprocess.TimeoutExpired):
            child.wait(interrupt)
        child.send_signal(signal.SIGINT)
    try:
        _, err = child.communicate(timeout=COMPILING)
        code: int | None = child.returncode
    except subprocess.TimeoutExpired:
        child.kill()
        code, (_, err) = None, child.communicate()
    return Ended(code, err.decode(errors="replace"), 0, time.monotonic() - begun)


def fault(home: Path, case: Case) -> str | None:
    """How a case breaks the product, or None."""
    with _copy(home) as folder:
        for damage in case.damages:
            spoil(folder, damage)
        if case.kills:
            runs = case.words[0] != "bridge" or find_spec("torch")
            return _unlike_unbroken(folder, case) if runs else None
        if case.surroundings is not None:
            how: dict[str, Any] = SURROUNDINGS[case.surroundings]
            ended = fresh(folder, case.words, **how)
            silent = "stderr" in how or "interrupt" in how
            if "interrupt" in how and OURS not in ended.err and ended.code == -signal.SIGINT:
                # Python had not come to the first line of ours.
                return None
        else:
            ended, silent = _run(folder, case.words, limit=PATIENCE if case.kind == "arguments" else SECONDS), False
        lines = ended.err.splitlines()
        if ended.code is None:
            return f"it did not end in {ended.seconds:.0f} s"
        if ended.seconds > SECONDS and case.surroundings is None:
            return f"it takes {ended.seconds:.0f} s"
        if ended.code not in CODES:
            return f"it ends with {ended.code}: {lines[-1][:300] if lines else ''}"
        # Before our first line Python itself reports an interrupt.
        ours = OURS in ended.err or "KeyboardInterrupt" not in ended.err
        if ours and ("Traceback" in ended.err or "Exception ignored" in ended.err):
            return f"it says {ended.err[-300:]!r}"
        if ended.code == 2 and not silent and sum(line.startswith("cflag: ") for line in lines) != 1:
            return f"it says {ended.err[-300:]!r}"
        if ended.memory > MEMORY:
            return f"it takes {ended.memory >> 20} MB"
        if (folder / "mine.txt").read_text() != "mine":
            return "it wrote through a link"
        for changed, kind, _, _ in case.damages:
            if kind == "file" and (not (folder / changed).is_file() or (folder / changed).read_text() != "mine"):
                return f"it changed {changed}, which was the user's"
    return None


@contextmanager
def _copy(home: Path) -> Iterator[Path]:
    # Workers of a command that was killed may write for a moment.
    with tempfile.TemporaryDirectory(dir=home.parent, ignore_cleanup_errors=True) as name:
        yield Path(shutil.copytree(home, Path(name) / "work", symlinks=True))


_whole: dict[tuple[str, ...], dict[str, Any]] = {}


def _unlike_unbroken(folder: Path, case: Case) -> str | None:
    """Kill a run, give the command again until it is through, and compare with one that nobody killed."""
    if case.words not in _whole:
        with _copy(folder) as other:
            _run(other, case.words)
            _whole[case.words] = _content(other / "new")
    for after in case.kills:
        _run(folder, case.words, kill=after)
        for path in (folder / "new").glob("[!.]*"):
            if path.suffix in (".json", ".npz") and _content_of(path) is None:
                return f"after a kill {path.name} is damaged"
    ended = _run(folder, case.words)
    if ended.seconds > SECONDS:
        return f"after a kill it takes {ended.seconds:.0f} s"
    if ended.code:
        return f"after a kill it ends with {ended.code}: {ended.err[-300:]}"
    if drafts := list((folder / "new").glob(".*.draft")):
        return f"after a kill there are {drafts}"
    left, right = _content(folder / "new"), _whole[case.words]
    different = sorted(name for name in left | right if left.get(name) != right.get(name))
    return f"after a kill these differ: {different}" if different else None


def _content(folder: Path) -> dict[str, Any]:
    return {path.name: _content_of(path) for path in folder.iterdir()}


def _content_of(path: Path) -> Any:
    """What a file says but for the seconds that were measured; None if it is damaged."""
    try:
        if path.suffix == ".json":
            return _without_seconds(json.loads(path.read_bytes()))
        if path.suffix == ".npz":
            with zipfile.ZipFile(path) as archive:
                return archive.testzip() is None or None
    except (ValueError, zipfile.BadZipFile):
        return None
    return path.read_bytes()


def _without_seconds(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_seconds(one) for key, one in value.items() if key not in ("seconds", "folder")}
    return [_without_seconds(one) for one in value] if isinstance(value, list) else value


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


def load() -> None:
    """Everything that a fork then need not load again."""
    import cflag_theory.cli.main
    import cflag_theory.conform
    import cflag_theory.figures
    import cflag_theory.kernels.engines.cpu.run
    import cflag_theory.studies.sweeps.sweep

    with suppress(ImportError), redirect_stderr(io.StringIO()):
        import cflag_theory.bridge.training.run  # noqa: F401
