"""The cases: what is done to which command, as a function of the seed and the number of the case."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.campaign import plugins, tables

_NUMBERS = """
0 -1 1 2 3 1e-320 1e308 1e400 nan inf -inf 9223372036854775807 -9223372036854775808 18446744073709551616 4294967296
10000000000 0x10 1_0 1,2 0-4 4-0 0-99999999 1e400000000 1/0 1/3
"""
_WORDS = r"""
a=1 =1 a= name=3 seed=x D=nan clients=99999999999 {[]:1} ((1,),) None True ' é 𝔼 \ * ? . .. / ~ ~nobody - -- --help
/dev/null /dev/full /dev/zero /proc/self/mem digits glm quadratic cfl c_flag all none own.py:problem own.py:nothing
claims.py study.toml run.npz new old found cflag.lemma13 ours.worst_drift linear theory rounds=0
"""
_LONG = ("a" * 5000, "9" * 5000, "-" * 3000 + "1", "[" * 3000)
VALUES = (*_NUMBERS.split(), *_WORDS.split(), "", " ", "\n", "\x1b[31m", "\udcff", *_LONG)
#: In the place of a value of a JSON file or of the header of an archive.
PLAIN = (None, True, -1, 0, 3, 10**30, 1e308, -1e-320, float("nan"), [], {}, [[]], [None], {"": 0})
PLAIN += ("", "x", "1/0", "1e400000000", "../../x", "\x1b[31m", "9" * 5000)

ON_DATA = "simulate --beta 0.01 --alpha 0.1 --T 2 --E 1 --replicas 2"
RUN = f"{ON_DATA} --problem glm --dial clients=2"
RATE = "rate --problem separable --dial clients=2 --horizons 2,4 --replicas 2 --E 1"
SWEEP = "sweep study.toml --jobs 1"
BRIDGE = "bridge --clients 2 --model linear --method c_flag --rounds 1 --epochs 1 --seeds 1 --memory-size 5"
STEPS = "stepsize --L 1 --m 0 --E 1 --alpha 1 --beta 0.1 --T 4"
COMMANDS = [
    f"{RUN} --memory uniform --memory-size 2 --diagnostics all --every 2 --mode fast --seed 1 --out new/run.npz",
    f"{ON_DATA} --data data.csv --clients 2 --zeta 1.0 --past-classes 0-1 --current-classes 2,3 --potential cauchy",
    f"{ON_DATA} --data data.npz --clients 2",
    "simulate --algorithm cfl --set past=taylor --set window=2 --problem evolving --beta 0.01 --T 3 --E 1",
    "simulate --problem own.py:problem --dial clients=2 --alpha 0.1 --beta 0.01 --T 2 --E 1 --participants 1",
    f"{RATE} --c 0.1 --a 0.5 --alpha-factor 1.0 --seed 0 --out new",
    f"{RATE} --vary m=0,0.5 --memory sign --m 0.5",
    "rate --paper cfl --dial D=2 --horizons 2,4 --replicas 2",
    f"{STEPS} --out new",
    f"{STEPS} --grad-g 1 --epsilon 0.05 --plot new/plane.png",
    "stepsize --paper cfl --L 5 --K 10 --eta-l 0.002 --T 100",
    "stepsize --from-trace run.npz --E 1 --T 4 --lowest 0 --format json",
    "forgetting --problem glm --dial clients=2 --T 2 --E 1 --replicas 2 --memory-size 2 --out new",
    "tasks --dial tasks=3 --dial clients=2 --dial components=4 --dial dimension=3 --T 2 --E 1 --replicas 2",
    "decide --only refute claims.py --budget 20 --seconds 5 --seed 1 --out new",
    "decide --only refute cflag.lemma13 --budget 5 --seconds 5 --out new",
    "decide --replay found/false.json",
    "decide claims.py --budget 20 --seconds 5",
    "conform scaffold.py --algorithm scaffold --numbers float64 --problems 2 --partial --seconds 5",
    "conform --list --format json",
    f"{SWEEP} --out new",
    "sweep study.toml --dry-run",
    "plot swept --figure series --x T --y last_f --by seed --where T=1 --name it --out new",
    "plot swept --figure map --x T --by memory.m --out new",
    "plot rate.json --out new",
    f"{BRIDGE} --data digits --tasks 5 --zeta 1.0 --partition balanced --heads list --batch 64 --lr 0.1 --out new",
    f"{BRIDGE} --mode theory --set threads=1 --past-every 0 --memory-kind ring --dtype float64 --format json",
    "bridge --report trained --out new",
    "bridge --check-data . --format json",
    "sharp lemma13 --n 3 --E 4 --out new",
    "list lemma",
    "show cflag.eq7 --format json",
    "show cflag.lemma13 --replay --level quick --seed 1",
    "verify cflag.lemma13 cflag.eq7 --list --jobs 1 --seed 2",
    "verify own.page --format json --out new",
    "verify own.page own.descent --recheck",
    "map own.page --out new.svg",
    "map own.page own.descent --format dot --jobs 1",
    "map cflag.lemma13 --paper c-flag --verdicts report --format json --details",
    "errata own.page --out new.md",
    "errata --paper cfl --jobs 1 --seed 0",
    "decide own.page --seconds 5 --repair",
    "decide cflag.eq5.2 --only prove --seconds 5",
    "nqm --no-search --n 3 --N 2 --K 1 --T 2 --replicas 2 --grid 0.5 --spectrum log --out new",
    f"{ON_DATA} --data data.csv --missing mean --scale --read levels=9 --read target=classes --features a,b --describe",
]
#: Files that a command reads, with its words. What a damaged file asks for beside them takes no longer.
READ = {
    "run.npz": "stepsize --from-trace run.npz --E 1 --T 4",
    "data.csv": COMMANDS[1],
    "data.npz": COMMANDS[2],
    "own.py": COMMANDS[4],
    "own.page": "decide own.page --seconds 2",
    "report/verdicts.json": "map cflag.lemma13 --verdicts report --format json",
    "claims.py": "decide --only refute claims.py --budget 20 --seconds 2 --out new",
    "scaffold.py": "conform scaffold.py --problems 2 --rounds 2 --seconds 2",
    "study.toml": "sweep study.toml --dry-run",
    "bridge.toml": f"bridge bridge.toml {BRIDGE.removeprefix('bridge ')} --out new",
    "found/false.json": "decide --replay found/false.json",
    "rate.json": "plot rate.json --out new",
    "steps/step_sizes.json": "plot steps --out new",
    "tasks.json": "plot tasks.json --out new",
    "swept/sweep.json": "plot swept --out new",
    "swept/runs-*.parquet": "plot swept --out new",
    "old/rate_horizons.jsonl": f"{RATE} --out old",
    "old/.cflag-theory": f"{RATE} --out old",
    "trained/run.json": f"{BRIDGE} --out trained",
    "trained/c_flag-1.npz": f"{BRIDGE} --out trained",
    "trained/c_flag-1-task0.npz": "stepsize --from-trace trained/c_flag-1-task0.npz --E 1 --T 4",
    "trained/results.json": "bridge --report trained --out new",
}
#: Environments, and what else a process may find: `running.run` does it. Of the first ones Python itself must start.
AT_START = [
    *({"set": {name: value}} for name in ("NUMBA_NUM_THREADS", "CFLAG_LOOPS") for value in ("0", "x", "9" * 5000)),
    {"set": {"NUMBA_DISABLE_JIT": "1"}},
    {"set": {"NUMBA_CACHE_DIR": "/dev/null/x"}},
    {"set": {"PYTHONIOENCODING": "ascii"}},
    {"set": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}},
    *({where: "closed"} for where in ("stdout", "stderr")),
    *({"limit": ("NOFILE", count)} for count in (12, 20, 40)),
    # With 300 MB OpenBLAS waits for more without end while SciPy loads it, and hears no signal.
    *({"limit": ("AS", size << 20)} for size in (600, 900, 1500, 2500)),
    *({"interrupt": seconds / 10} for seconds in range(1, 40, 3)),
]
SURROUNDINGS = [
    *({"set": {"COLUMNS": value}} for value in ("0", "1", "-5", "x", "999999999")),
    {"set": {"TMPDIR": "/nowhere"}},
    {"set": {"MPLBACKEND": "nothing"}},
    {"set": {"XDG_CACHE_HOME": "/dev/null/x"}},
    {"set": {"HOME": "/nowhere", "XDG_CACHE_HOME": ""}},
    {"gone": True},
    *({"stdout": where} for where in ("/dev/full", "pipe")),
    {"stderr": "/dev/full"},
    *({"limit": ("FSIZE", size)} for size in (0, 1, 100, 4096, 30_000)),
    *({"limit": ("NPROC", count)} for count in (0, 1)),
    *({"interrupt": seconds / 50} for seconds in range(40)),
]
#: Seconds by which `time.time` goes on at each call.
CLOCKS: list[Callable[[random.Random], float]] = [
    lambda draw: -1.0,
    lambda draw: 0.0,
    lambda draw: -86400.0 * draw.random(),
    lambda draw: draw.choice((1e-3, -1e-3, 3600.0, -3600.0)),
    lambda draw: -1e9,
]
#: Results for `--out new` that a kill, or other writers, must not spoil.
WRITING = [
    f"{SWEEP} --out new",
    "sweep study.toml --jobs 2 --out new",
    f"{RATE} --out new",
    f"{RUN} --out new/run.npz",
    f"{STEPS} --out new",
    "decide --only refute claims.py --budget 200 --out new",
    "verify own.page --out new --jobs 1",
    "tasks --dial tasks=3 --dial clients=2 --dial components=4 --dial dimension=3 --T 2 --E 1 --replicas 2 --out new",
]
SHOWN = ("cflag.eq7", "cflag.lemma13", "cflag.lemma12")
KINDS = {
    "arguments": 20,
    "damaged files": 16,
    "hostile folders": 5,
    "surroundings": 6,
    "start": 1,
    "hostile Python": 12,
    "several writers": 3,
    "killed runs": 8,
    "kept evidence": 4,
    "compiled loops": 0.05,
    "clocks": 3,
    "files of other tools": 10,
    "algorithm 1": 12,
}
_DAMAGES = "flip cut insert repeat nest digits token token edit edit edit empty link"


@dataclass(frozen=True)
class Case:
    """A command, and what is done to it.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    words : tuple of str
        After the command's name.
    damages : tuple of (file, kind, number, byte)
        What is done to its folder before.
    files : tuple of (name, content)
        The user's files beside those of all cases.
    how : mapping
        Surroundings, as in `SURROUNDINGS`.
    real : bool
        Whether Python starts anew.
    stops : tuple of (seconds, signal)
        When the command is stopped and given again.
    writers : int
        How many are started at once.
    codes : tuple of int
        The exit codes that it may have.
    like : tuple of str
        The words of a command on whole files, whose numbers or verdict it gives if it ends with 0.
    """

    kind: str
    words: tuple[str, ...]
    damages: tuple[tuple[str, str, int, int], ...] = ()
    files: tuple[tuple[str, bytes], ...] = ()
    how: Mapping[str, Any] = field(default_factory=dict)
    real: bool = False
    stops: tuple[tuple[float, int], ...] = ()
    writers: int = 1
    codes: tuple[int, ...] = (0, 1, 2, 130)
    like: tuple[str, ...] = ()


def case_of(seed: int, number: int, only: str | None = None) -> Case:
    draw = random.Random(f"{seed}/{number}")
    (kind,) = (only,) if only else draw.choices(list(KINDS), list(KINDS.values()))
    words = tuple(draw.choice(COMMANDS).split())
    writing = tuple(draw.choice(WRITING).split())
    shown = ("show", draw.choice(SHOWN), "--format", "json")
    if kind == "killed runs":
        # Most of a command's work is done within half a second.
        stops = [(draw.uniform(0, draw.choice((0.1, 0.5, 1.5))), _signal(draw)) for _ in range(draw.randint(1, 3))]
        return Case(kind, writing, stops=tuple(stops), codes=(0, 1))
    if kind == "several writers":
        return Case(kind, writing, writers=draw.choice((2, 4)), codes=(0, 1, 2))
    if kind == "surroundings":
        return Case(kind, words, how=draw.choice(SURROUNDINGS))
    if kind == "start":
        return Case(kind, words, how=draw.choice(AT_START), real=True)
    if kind == "clocks":
        words = draw.choice((shown, writing))
        return Case(kind, words, how={"clock": draw.randrange(len(CLOCKS))}, codes=(0, 1), like=words)
    if kind == "hostile Python":
        words, text, codes = plugins.drawn(draw)
        return Case(kind, words, files=(("it.py", text.encode()),), codes=codes)
    if kind == "files of other tools":
        name, content = tables.drawn(draw)
        given = (*tables.WORDS.split(), name, *(() if name.endswith(".npz") else ("--features", "a,b")))
        return Case(kind, given, files=((name, content),), codes=(0, 2), like=tables.LIKE)
    if kind == "algorithm 1":
        return Case(kind, (str(draw.randrange(1 << 40)),))
    if kind == "kept evidence":
        name = f"cache/cflag-theory/evidence/*/{shown[1]}-*"
        damages = [
            (name, draw.choice(("forge", "forge", "cut", "flip", "edit", "link", "device", "open")), *_two(draw))
        ]
        return Case(kind, shown, tuple(damages), how={"set": {"XDG_CACHE_HOME": "HERE/cache"}}, codes=(0,), like=shown)
    if kind == "compiled loops":
        damages = [("loops/cflag-theory/*/*/*.nb*", draw.choice(_DAMAGES.split()), *_two(draw))]
        words = tuple(f"{RUN} --format json".split())
        return Case(kind, words, tuple(damages), how={"set": {"XDG_CACHE_HOME": "HERE/loops"}}, real=True, like=words)
    if kind == "damaged files":
        name = draw.choice(list(READ))
        kinds = [draw.choice(_DAMAGES.split()) for _ in range(draw.choice((1, 1, 2, 4)))]
        return Case(kind, tuple(READ[name].split()), tuple((name, one, *_two(draw)) for one in kinds))
    if kind == "hostile folders":
        words = draw.choice([command for command in (*COMMANDS, *WRITING) if command.endswith("--out new")])
        names = ("index.html", "rate.json", ".lock", ".cflag-theory", "sweep.json", "rate.png", "step_sizes.json", "a")
        kinds = ("file", "outside", "device", "folder", "gone")
        damages = [(f"new/{name}", draw.choice(kinds), 0, 0) for name in draw.sample((*names, "run.json"), 2)]
        return Case(kind, tuple(words.split()), tuple(damages))
    changed = list(words)
    for _ in range(draw.randint(1, 3)):
        place = draw.randrange(1, len(changed) + 1)
        if draw.random() < 0.8 and place < len(changed):
            changed[place] = draw.choice(VALUES)
        else:
            changed.insert(place, draw.choice(VALUES))
    return Case(kind, tuple(changed))


def _two(draw: random.Random) -> tuple[int, int]:
    return draw.randrange(1 << 30), draw.randrange(256)


def _signal(draw: random.Random) -> int:
    return int(draw.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM)))
