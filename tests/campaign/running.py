"""Runs commands in forks of a process that has imported everything once, and says how a case breaks the product."""

from __future__ import annotations

import atexit
import ctypes
import io
import json
import os
import pkgutil
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import platformdirs

from tests.campaign import algorithm1
from tests.campaign.cases import BRIDGE, CLOCKS, RATE, RUN, STEPS, SWEEP, Case
from tests.campaign.damage import spoil

#: What a case may take. An argument may ask for more time, and then an interrupt must end the command.
MEMORY, SECONDS, PATIENCE = 2 << 30, 60, 10
#: Seconds that processes may live on after their command, of their own and after it was killed.
AFTER, AFTER_KILL = 3, 15
#: Outlives a command: its loop is compiled for the next. Lines of progress, and, in a traceback, our code.
PROGRESS = re.compile(r"[\w ]+: \d+ of [\d ]+(, now .*)?$")
LOOP, OURS = "simulate(default_problem()", f"{os.sep}cflag_theory{os.sep}"
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
    "own.page": "# Gradient descent.\n\nsymbol L_page as L positive : L\nsymbol a_page as a positive : a\n"
    "vector x_page as x : x_{@}\nfunction f_page as f; smooth = L : f\n"
    "\nlet after = x(0) - a grad f(x(0))\nfact STEP = step: a L <= 1 -- a <= 1/L.\n\n"
    "claim own.descent | Lemma 1 | One step descends\n    with half = 1/2\n"
    "    say f(after) <= f(x(0)) - half a |grad f(x(0))|^2\n    for STEP\n    proof\n"
    "        smooth: smooth f, x(0), after\n        hence from smooth, step\n    note Nesterov.\n",
    "mine.txt": "mine",
}


def load() -> None:
    """Everything that a fork then need not load again; children of children come to this process."""
    import cflag_theory
    import cflag_theory.__main__

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    for module in pkgutil.walk_packages(cflag_theory.__path__, "cflag_theory."):
        # Of the extras, and of graphics cards, what is there.
        with suppress(ImportError, RuntimeError), redirect_stderr(io.StringIO()):
            import_module(module.name) if not module.name.endswith(("__main__", "pytest_plugin")) else None


def prepare(folder: Path) -> None:
    """What valid commands read, made by valid commands."""
    import numpy as np

    for name, text in INPUTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    table = np.loadtxt(folder / "data.csv", delimiter=",", skiprows=1)
    np.savez(folder / "data.npz", features=table[:, :2], labels=table[:, 2])
    made = (
        f"{RUN} --memory uniform --memory-size 2 --diagnostics all --out run.npz",
        f"{RATE} --out old",
        f"{SWEEP} --out swept",
        f"{STEPS} --out steps",
        "simulate --algorithm cfl --problem evolving --beta 0.01 --T 3 --E 1",
        "tasks --dial tasks=3 --dial clients=2 --dial components=4 --dial dimension=3 --T 2 --E 1 --out sequence",
        "verify cflag.lemma13 --format json",
    )
    for words in made:
        # In this process, so that a fork finds the loops compiled.
        with suppress(SystemExit), chdir(folder), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            sys.argv = ["cflag", *words.split()]
            import_module("cflag_theory.cli.main").main()
    run(folder, ["decide", "--only", "refute", "claims.py", "--budget", "50", "--out", "found"])
    # torch has threads once it has computed, which a fork lacks.
    run(folder, f"{BRIDGE} --out trained".split())
    for claim in ("cflag.eq7", "cflag.lemma13", "cflag.lemma12"):
        run(folder, ("show", claim), how={"set": {"XDG_CACHE_HOME": "HERE/cache"}})
    shutil.copy(folder / "old" / "rate.json", folder)
    shutil.copy(folder / "sequence" / "tasks.json", folder)


@dataclass(frozen=True)
class Ended:
    """Exit code (negative: of a signal), both outputs, peak bytes, seconds, whether deaf, and what lives on."""

    code: int
    out: str
    err: str
    memory: int
    seconds: float
    deaf: bool
    left: str


def run(
    folder: Path,
    words: Sequence[str],
    *,
    how: Mapping[str, Any] | None = None,
    real: bool = False,
    limit: float = SECONDS,
    stop: tuple[float, int] | None = None,
    writers: int = 1,
) -> list[Ended]:
    """Several times a command at once, each in a fork or in a new process; one is stopped, or interrupted if late."""
    begun, busy = time.monotonic(), _busy()
    limit *= busy
    files = [folder.with_name(f"{folder.name}.{number}") for number in range(writers)]
    for file in files:
        # One may be stopped before it opens them, and an earlier one has written there.
        for n in (1, 2):
            Path(f"{file}.{n}").write_bytes(b"")
    sys.stdout.flush()
    children = {_start(folder, words, how or {}, real, str(file)): file for file in files}
    signals = iter(
        (stop, (SECONDS * busy, 9)) if stop else ((limit, signal.SIGINT), (limit + PATIENCE * busy, signal.SIGKILL))
    )
    (after, number), deaf, ended = next(signals), False, {}
    while len(ended) < writers:
        for child in children.keys() - ended.keys():
            found, status, usage = os.wait4(child, os.WNOHANG)
            if found:
                ended[child] = os.waitstatus_to_exitcode(status), usage.ru_maxrss << 10, time.monotonic() - begun
        if time.monotonic() - begun > after:
            for child in list(children.keys() - ended.keys())[: 1 if stop else None]:
                os.kill(child, number)
                deaf |= after > limit
            after, number = next(signals, (2 * SECONDS * busy, 9))
        time.sleep(0.002)
    killed = deaf or (stop and stop[1] == signal.SIGKILL) or any(code == -9 for code, *_ in ended.values())
    left = _left((AFTER_KILL if killed else AFTER) * busy)
    texts = {
        child: [Path(f"{file}.{n}").read_text(errors="replace") for n in (1, 2)] for child, file in children.items()
    }
    return [Ended(code, *texts[child], *rest, deaf, left) for child, (code, *rest) in ended.items()]


def _busy() -> float:
    """How much longer everything takes beside the other work of this machine."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def _left(patience: float) -> str:
    """The processes, now children of this one, that live on; they are ended."""
    until, left, meant = time.monotonic() + patience, "", set()
    while True:
        try:
            gone, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return left
        if not gone and time.monotonic() > until:
            for process in Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split():
                name = Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")[:200] or "a process"
                meant |= {process if LOOP in name else ""}
                left = left or ("" if process in meant else name)
                with suppress(OSError):
                    os.kill(int(process), signal.SIGKILL)
        time.sleep(0 if gone else 0.002)


def _start(folder: Path, words: Sequence[str], how: Mapping[str, Any], real: bool, output: str) -> int:
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        os.setpgid(0, 0)
        os.chdir(folder)
        _surround(folder, how, output)
        if real:
            path = os.pathsep.join(filter(None, sys.path))
            os.execve(sys.executable, [sys.executable, "-m", "cflag_theory", *words], os.environ | {"PYTHONPATH": path})
        sys.argv = ["cflag", *words]
        import_module("cflag_theory.__main__").main()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    with suppress(BaseException):
        # What Python does at its end.
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
    os._exit(code)


def _surround(folder: Path, how: Mapping[str, Any], output: str) -> None:
    """In the child: descriptors, environment, signals, limits and clocks, see `cases.SURROUNDINGS`."""
    for handle, target in enumerate((os.devnull, how.get("stdout", f"{output}.1"), how.get("stderr", f"{output}.2"))):
        for path in (f"{output}.{handle}", target):
            if "/" in path:
                file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
                os.dup2(file, handle)
                os.close(file)
        if target == "closed":
            os.close(handle)
        elif target == "pipe":
            reader, writer = os.pipe()
            os.close(reader)
            os.dup2(writer, handle)
            # The stream of this process may have been made for a file, in which one can seek.
            sys.stdout = os.fdopen(os.dup(handle), "w", encoding="utf-8")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    tempfile.tempdir = str(folder)
    os.environ.update(
        {"TMPDIR": str(folder)}
        | {name: value.replace("HERE", str(folder)) for name, value in how.get("set", {}).items()}
    )
    if "gone" in how:
        (folder / "gone").mkdir()
        os.chdir(folder / "gone")
        (folder / "gone").rmdir()
    if "limit" in how:
        name, most = how["limit"]
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    if "clock" in how:
        draw, step, at, real = random.Random(0), CLOCKS[how["clock"]], [time.time()], time.monotonic
        time.time = lambda: at.append(at.pop() + step(draw)) or at[0]
        # It must go on, or Python's own waiting has no end.
        time.monotonic = time.perf_counter = lambda: real() + draw.uniform(-2, 2)


def fault(home: Path, case: Case) -> str | None:
    """How a case breaks the product, or None."""
    if case.kind == "algorithm 1":
        return algorithm1.fault(int(case.words[0]))
    with _copy(home) as folder:
        for name, content in case.files:
            (folder / name).write_bytes(content)
        if case.kind == "compiled loops":
            known = Path(platformdirs.user_cache_dir("cflag-theory", appauthor=False))
            shutil.copytree(known, folder / "loops/cflag-theory", ignore=shutil.ignore_patterns("evidence"))
        for damage in case.damages:
            spoil(folder, damage)
        mine = {folder / name: (folder / name).read_bytes() for name in ("mine.txt", *(name for name, _ in case.files))}
        # What stands in a folder with the mark of ours, though with other words in it, is ours.
        marked = {name.rpartition("/")[0] for name, *_ in case.damages if name.endswith("/.cflag-theory")}
        others = (name for name, kind, *_ in case.damages if kind == "file" and name.rpartition("/")[0] not in marked)
        mine |= {folder / name: b"mine" for name in others}
        for stop in case.stops:
            (ended,) = run(folder, case.words, stop=stop)
            why = _unlike(case, ended, stopped=stop[1]) or _damaged(folder)
            if why:
                return f"stopped by signal {stop[1]}: {why}"
        limit = PATIENCE if case.kind in ("arguments", "damaged files", "hostile folders") else SECONDS
        stop = (case.how["interrupt"], signal.SIGINT) if "interrupt" in case.how else None
        for ended in run(
            folder, case.words, how=case.how, real=case.real, limit=limit, stop=stop, writers=case.writers
        ):
            if why := _unlike(case, ended, stopped=stop[1] if stop else 0):
                return why
            if case.like and ended.code == 0 and (wanted := _once(home, case.like)) != (found := _judged(ended.out)):
                return f"it gives {found!r:.300}, and not {wanted!r:.300}"
        for path, content in mine.items():
            if not path.is_file() or path.read_bytes() != content:
                return f"it changed {path.relative_to(folder)}, which is the user's"
        if case.stops or case.writers > 1:
            if drafts := [path.name for path in folder.rglob(".*.draft")]:
                return f"there are still {drafts}"
            left, right = _content(folder / "new"), _whole(home, case.words)
            if different := sorted(name for name in left | right if left.get(name) != right.get(name)):
                return f"these differ from those of one run that nobody stopped: {different}"
    return None


def _unlike(case: Case, ended: Ended, *, stopped: int) -> str | None:
    """How the end of a command is none that it may have."""
    lines = [line for line in ended.err.splitlines() if line.strip() and not PROGRESS.match(line.strip())]
    if ended.deaf:
        return f"it did not end in {ended.seconds:.0f} s, interrupted"
    if ended.seconds > SECONDS * _busy() and not case.real:
        return f"it takes {ended.seconds:.0f} s"
    # Before the first line of ours Python itself reports an interrupt.
    if stopped == signal.SIGINT and OURS not in ended.err and ended.code in (1, 99, -signal.SIGINT):
        return None
    if stopped in (signal.SIGKILL, signal.SIGTERM) and "resource_tracker" in ended.err:
        # Says another process, of a library, and clears up.
        lines, ended = [], replace(ended, err="")
    if "Traceback" in ended.err or "Exception ignored" in ended.err or "Warning:" in ended.err:
        return f"it says {ended.err[-500:]!r}"
    if ended.code not in (*case.codes, *((-stopped, 0, 130) if stopped else ())):
        return f"it ends with {ended.code}: {lines[-1][:300] if lines else ''}"
    seen = "stderr" not in case.how and "limit" not in case.how
    if case.kind == "hostile Python":
        # The file may print.
        lines = [line[line.index("cflag: ") :] for line in lines if "cflag: " in line]
    if ended.code == 2 and seen and (len(lines) != 1 or not lines[0].startswith("cflag: ")):
        return f"it says {ended.err[-500:]!r}"
    if ended.code == 0 and not ended.out and "stdout" not in case.how:
        return "it ends with 0 in silence"
    if ended.memory > MEMORY:
        return f"it takes {ended.memory >> 20} MB"
    return f"it leaves a process: {ended.left}" if ended.left else None


@contextmanager
def _copy(home: Path) -> Iterator[Path]:
    name = tempfile.mkdtemp(dir=home.parent)
    try:
        yield Path(shutil.copytree(home, Path(name) / "work", symlinks=True))
    finally:
        shutil.rmtree(name, ignore_errors=True)


_known: dict[Any, Any] = {}


def _once(home: Path, words: tuple[str, ...]) -> Any:
    """What a command says where nothing is done to it."""
    if words not in _known:
        with _copy(home) as folder:
            _known[words] = _judged(run(folder, words)[0].out)
    return _known[words]


def _judged(out: str) -> Any:
    """The verdict or the numbers of an output in JSON."""
    with suppress(ValueError):
        said = json.loads(out)
        return {key: said.get(key) for key in ("verdict", "parts", "start", "end")} if isinstance(said, dict) else said
    return None


def _whole(home: Path, words: tuple[str, ...]) -> dict[str, Any]:
    """What a command writes where nobody stops it."""
    if ("new", words) not in _known:
        with _copy(home) as folder:
            run(folder, words)
            _known["new", words] = _content(folder / "new")
    return _known["new", words]


def _damaged(folder: Path) -> str | None:
    """What is there is whole: the files of earlier runs, and of this one."""
    for path in folder.rglob("[!.]*"):
        if path.suffix in (".json", ".npz") and "cache" not in path.parts and _content_of(path) is None:
            return f"{path.relative_to(folder)} is damaged"
    return None


def _content(folder: Path) -> dict[str, Any]:
    return {path.name: _content_of(path) for path in folder.iterdir() if path.is_file()}


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
