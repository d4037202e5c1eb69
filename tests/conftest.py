"""What all tests share: settings of hypothesis, interrupts, decided claims, the command line as a function, a sweep."""

from __future__ import annotations

import functools
import gc
import hashlib
import inspect
import math
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

# Another search: pytest --hypothesis-profile=explore. Its examples go to .hypothesis in the current folder.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fixed", settings.get_profile("explore"), derandomize=True)
settings.load_profile("fixed")
# Hypothesis draws constants of modules that are not installed, and reads them all for it: seconds in each process. As
# for users, whose package is installed, there are none.
providers._get_local_constants = lambda: providers._local_constants

# A shell that starts the tests in the background has them ignore interrupts, and so all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# pytest rewrites the assertions of every package that has a plugin, such as this one: seconds in each process.
for hook in sys.meta_path:
    getattr(hook, "_must_rewrite", set()).clear()

# At Python's own limits a twelfth of the time goes into looking for garbage that is not there.
gc.set_threshold(20_000, 20, 20)

#: Files that take longest: they start first, so that no process is left with one of them at the end. Three of them
#: compile the plain loop, the framework's and that of own problems, before others wait for these.
LONGEST = tuple(
    f"test_{name}.py"
    for name in (
        *("whole_ledger", "planted", "theory", "coq_witness", "bench_accept", "bridge_together", "bridge_conforms"),
        *("first_look", "adaptive", "framework_exact", "own_problems", "cli_worst_case", "checks", "cli_rate"),
        *("report", "cuda", "falsify_planted", "third_paper", "framework", "repairing", "ten_false_lemmas"),
        *("plain_loops", "bridge_combinations", "cuda_ptx", "bench_bridge", "forty_five_lemmas", "bridge_elsewhere"),
        *("falsify_ledger", "modes", "matrix_tiles", "cache"),
    )
)


#: Files of a folder for one process, in this order: what the first has computed, the second needs.
TOGETHER = {"test_planted.py": "test_whole_ledger.py"}
#: They read all claims.
TOGETHER |= dict.fromkeys(("test_uses.py", "test_replacements.py", "test_proofs.py"), "test_ledger.py")

#: What a test may ask for with importorskip without being marked `extra`: the extra `test` has it, or the system.
PLAIN = {"sklearn", "pyarrow", "fcntl", "resource", "psutil"}
#: These tests import torch throughout.
TORCH = Path(__file__).with_name("bridge")


_WHOLE = "\npytestmark = pytest.mark.full\n"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--recheck", action="store_true", help="decide the ledger anew, whatever earlier runs have kept")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("recheck") and not hasattr(config, "workerinput"):
        from cflag_theory.verify import kept

        shutil.rmtree(kept._root() / kept._state(), ignore_errors=True)


def pytest_report_header() -> str | None:
    if find_spec("torch") is None:
        return "torch is not installed: tests/bridge is left out; pip install -e '.[test-all]' has what all tests need"
    return None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    # To collect a file whose tests are not run takes its imports.
    full = config.option.markexpr == "not full" and collection_path.suffix == ".py" and _WHOLE in _text(collection_path)
    return True if full or (collection_path == TORCH and find_spec("torch") is None) else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Files go to processes whole, and some of them together."""
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            folder, _, name = super()._split_scope(nodeid).rpartition("/")
            return f"{folder}/{TOGETHER.get(name, name)}"

    return Together(config, log) if config.option.dist == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first, then those with most tests: processes take them in this order."""
    size = Counter(item.path for item in items)
    rank = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: (rank.get(item.path.name, len(rank)), -size[item.path], str(item.path)))
    text = {path: path.read_text(encoding="utf-8") for path in size}
    extra = {path for path in size if path.is_relative_to(TORCH) or asks(outside_functions(text[path]))}
    for item in items:
        # To read the source of a function takes a millisecond, and there are ten thousand.
        mixed = item.path not in extra and "importorskip" in text[item.path] and isinstance(item, pytest.Function)
        if item.path in extra or (mixed and asks(inspect.getsource(item.function))):
            item.add_marker("extra")


def asks(source: str) -> bool:
    """Whether a test's source asks for a library that the extra `test` lacks."""
    asked = re.findall(r"importorskip\(\"?([\w.\[\]]+)", source)
    return any(library not in PLAIN for library in asked)


def outside_functions(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith((" ", "@")))


@pytest.fixture(scope="module", autouse=True)
def _frozen():
    """What earlier files have left is there for good: whoever collects garbage in earnest need not go through it."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def kept():
    """Evidence on the package as it stands: of all processes, and of earlier runs."""
    from cflag_theory.verify.kept import Kept

    return Kept()


@pytest.fixture(scope="session")
def verdicts(kept):
    """Verdict by id, for the first eight claims."""
    from needs import FIRST_EIGHT

    from cflag_theory.verify import verify

    return dict(zip(FIRST_EIGHT, verify(FIRST_EIGHT, kept=kept), strict=True))


@pytest.fixture(scope="session")
def compiled_once(tmp_path_factory):
    """A file of the Coq theory is compiled once for all processes, by its text and the files that it builds on."""
    from cflag_theory.verify import coq, theory

    base, run = tmp_path_factory.getbasetemp(), coq.run_coq
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "theory"
    folder.mkdir(exist_ok=True)

    def compiled(coqc, path, *options):
        if path.name not in {source.name for source in theory.PROOFS.glob("*.v")}:
            return run(coqc, path, *options)
        built_on = [path.with_name(f"{name}.vo") for name in theory._required(path)]
        text = hashlib.sha256(repr([options, *(one.read_bytes() for one in (path, *built_on))]).encode()).hexdigest()
        there, made = folder / f"{text}.vo", path.with_suffix(".vo")
        if there.exists():
            shutil.copy(there, made)
            return subprocess.CompletedProcess((), 0, "", "")
        done = run(coqc, path, *options)
        if done is not None and done.returncode == 0:
            shutil.copy(made, draft := folder / f"{text}.{os.getpid()}")
            os.replace(draft, there)
        return done

    with pytest.MonkeyPatch.context() as patched:
        for module in (coq, theory):
            patched.setattr(module, "run_coq", compiled)
        yield


@pytest.fixture(scope="session")
def built():
    """A command line is built from its functions once a process, here as for users."""
    from typer.main import get_command

    return functools.cache(get_command)


@pytest.fixture
def cflag(monkeypatch, capsys, tmp_path_factory, built):
    """Calls `main` as the entry point does; returns exit code, standard output and standard error.

    No evidence is there from earlier tests.
    """
    from cflag_theory.cli import main as cli

    evidence = tmp_path_factory.mktemp("evidence")
    monkeypatch.setattr("cflag_theory.verify.kept._root", lambda: evidence)
    monkeypatch.setattr("typer.main.get_command", built)
    # What is said of progress depends on how long a command takes.
    monkeypatch.setattr("cflag_theory.cli.shell.SECONDS_BETWEEN_LINES", math.inf)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["cflag", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, printed.err

    return call


#: Forty-eight short runs of three replicas.
SWEEP = """\
record = ["grad_f2", "drift2_max"]
every = 3

[memory]
kind = "sign"
m = [0, 0.25]

[[algorithm]]
name = "c_flag"
alpha = "1/(L*(1 + m))"

[[algorithm]]
name = "scaffold"
server_rate = 0.5

[run]
beta = ["c/sqrt(T)", 0.01]
c = 0.05
E = 2
T = [1, 8]
seed = {first = 0, count = 3}
replicas = 3
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    """The file above; its chunks are small, so that there are several."""
    return small_chunks(tmp_path, monkeypatch)


def small_chunks(folder, monkeypatch):
    from cflag_theory.studies.sweeps import check as sweep_check

    monkeypatch.setattr(sweep_check, "LEAST_WORK", 2e5)
    path = folder / "study.toml"
    path.write_text(SWEEP, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def swept(tmp_path_factory):
    """The folder of its results from one process, without a break; for copies, as it is run once."""
    from cflag_theory.verify import sweep

    folder = tmp_path_factory.mktemp("swept")
    with pytest.MonkeyPatch.context() as patched:
        sweep(small_chunks(folder, patched), out=folder / "whole", jobs=1)
    return folder / "whole"


@pytest.fixture
def whole(swept, tmp_path):
    """Its results, and a copy of their folder."""
    from cflag_theory.verify import read_results

    return read_results(shutil.copytree(swept, tmp_path / "whole"))
