"""The cases: what is done to which command, as a function of the seed and the number of the case."""

from __future__ import annotations

import random
from dataclasses import dataclass

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
    f"{ON_DATA} --data data.csv --missing mean --scale --read levels=9 --read target=classes --features a,b --describe",
]
#: Files that a command reads, with its words. What a damaged file asks for beside them takes no longer.
READ = {
    "run.npz": "stepsize --from-trace run.npz --E 1 --T 4",
    "data.csv": COMMANDS[1],
    "data.npz": COMMANDS[2],
    "own.py": COMMANDS[4],
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
#: Environments, and what else a process may find: arguments of `running.fresh`.
SURROUNDINGS = [
    *({"set": {name: value}} for name in ("NUMBA_NUM_THREADS", "CFLAG_LOOPS") for value in ("0", "x", "9" * 5000)),
    *({"set": {"COLUMNS": value}} for value in ("0", "1", "-5", "x", "999999999")),
    {"set": {"NUMBA_DISABLE_JIT": "1"}},
    {"set": {"NUMBA_CACHE_DIR": "/dev/null/x"}},
    {"set": {"PYTHONIOENCODING": "ascii"}},
    {"set": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}},
    {"set": {"TMPDIR": "/nowhere"}},
    {"set": {"MPLBACKEND": "nothing"}},
    {"gone": True},
    *({"stdout": where} for where in ("/dev/full", "closed", "pipe")),
    *({"stderr": where} for where in ("/dev/full", "closed")),
    *({"limit": ("FSIZE", size)} for size in (0, 1, 100, 4096, 30_000)),
    *({"limit": ("NOFILE", count)} for count in (12, 20, 40)),
    *({"limit": ("AS", size << 20)} for size in (1500, 2500)),
    *({"interrupt": seconds / 10} for seconds in range(1, 40, 3)),
]
KINDS = {"arguments": 10, "damaged files": 14, "hostile folders": 4, "surroundings": 2, "killed runs": 3}
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
    surroundings : int or None
        A place in `SURROUNDINGS`.
    kills : tuple of floats
        Seconds after which the command is killed and given again.
    """

    kind: str
    words: tuple[str, ...]
    damages: tuple[tuple[str, str, int, int], ...] = ()
    surroundings: int | None = None
    kills: tuple[float, ...] = ()


def case_of(seed: int, number: int) -> Case:
    draw = random.Random(f"{seed}/{number}")
    (kind,) = draw.choices(list(KINDS), list(KINDS.values()))
    if kind == "killed runs":
        words = draw.choice((f"{SWEEP} --out new", "sweep study.toml --jobs 2 --out new", f"{RATE} --out new", BRIDGE))
        words = f"{BRIDGE} --out new" if words is BRIDGE else words
        return Case(kind, tuple(words.split()), kills=tuple(draw.uniform(0, 1.5) for _ in range(draw.randint(1, 3))))
    if kind == "surroundings":
        return Case(kind, tuple(draw.choice(COMMANDS).split()), surroundings=draw.randrange(len(SURROUNDINGS)))
    if kind == "damaged files":
        name = draw.choice(list(READ))
        damages = [
            (name, draw.choice(_DAMAGES.split()), draw.randrange(1 << 30), draw.randrange(256))
            for _ in range(draw.choice((1, 1, 2, 4)))
        ]
        return Case(kind, tuple(READ[name].split()), tuple(damages))
    if kind == "hostile folders":
        words = draw.choice([command for command in COMMANDS if command.endswith("--out new")])
        names = ("index.html", "rate.json", ".lock", ".cflag-theory", "sweep.json", "rate.png", "step_sizes.json", "a")
        kinds = ("file", "outside", "device", "folder", "gone")
        damages = [(f"new/{name}", draw.choice(kinds), 0, 0) for name in draw.sample((*names, "run.json"), 2)]
        return Case(kind, tuple(words.split()), tuple(damages))
    words = draw.choice(COMMANDS).split()
    for _ in range(draw.randint(1, 3)):
        place = draw.randrange(1, len(words) + 1)
        if draw.random() < 0.8 and place < len(words):
            words[place] = draw.choice(VALUES)
        else:
            words.insert(place, draw.choice(VALUES))
    return Case(kind, tuple(words))
