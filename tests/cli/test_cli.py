"""What users type: results on standard output, one sentence and exit code 2 on what they can fix."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import cflag_theory
from cflag_theory.files import MARKER
from cflag_theory.kernels import random_separable, read_trace, uniform
from cflag_theory.studies import defaults as studies
from cflag_theory.studies.rates import past_task as rates
from cflag_theory.verify import verify

PROGRAM = "from cflag_theory.cli.main import main; main()"
MEANWHILE = "  computed in NumPy this time; the compiled loop is being made in the background, for the next\n"
TINY = (
    "--problem",
    "separable",
    "--dial",
    "clients=2",
    "--dial",
    "past=3",
    "--dial",
    "current=3",
    "--memory-size",
    "1",
)


def run(*arguments, program=PROGRAM, **options):
    """The command line in a process of its own, from whatever folder, installed or not."""
    root = str(Path(cflag_theory.__file__).parents[1])
    paths = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-c", program, *arguments]
    environment = {**os.environ, "PYTHONPATH": paths}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run(command, text=True, env=environment, check=False, **streams)


# The same sentence whichever way it is started.


def test_a_process_of_its_own_succeeds():
    done = run("list", "--format", "json")
    assert done.returncode == 0
    assert json.loads(done.stdout)[0]["id"] == "cflag.eq3"
    assert done.stderr == ""


def test_a_process_of_its_own_fails_with_one_sentence():
    done = run("show", "cflag.nosuch")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("cflag: no claim is called 'cflag.nosuch': ")
    assert done.stderr.count("\n") == 1


def test_a_reader_that_has_seen_enough():
    """`cflag ... | head -1` ends quietly."""
    reading, writing = os.pipe()
    os.close(reading)
    done = run("show", "cflag.eq65", stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


HEAVY = ("numpy", "scipy", "numba", "sympy", "matplotlib", "z3", "sklearn", "jinja2")
LOADED = f"""
def loaded():
    import sys
    print("loaded:", *(name for name in {HEAVY} if name in sys.modules))
"""


def test_the_list_of_loaded_libraries_is_not_blind():
    assert run(program=f"import sympy\n{LOADED}\nloaded()").stdout.startswith("loaded: sympy")


@pytest.mark.parametrize(
    "module",
    [
        "cflag_theory",
        "cflag_theory.claims",
        "cflag_theory.kernels",
        "cflag_theory.figures",
        "cflag_theory.verify",
        "cflag_theory.cli.main",
    ],
)
def test_importing_loads_no_library(module):
    assert run(program=f"import {module}\n{LOADED}\nloaded()").stdout == "loaded:\n"


@pytest.mark.parametrize("arguments", [("--help",), ("verify", "--help"), ("--version",)])
def test_help_loads_no_library(arguments, record_property):
    program = f"{LOADED}\nimport atexit\natexit.register(loaded)\n{PROGRAM}"
    started = time.perf_counter()
    done = run(*arguments, program=program)
    # For the report of the tests; a slow machine is not a failure.
    record_property("seconds", time.perf_counter() - started)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "loaded:"


def test_help_names_every_command(cflag):
    code, out, _ = cflag("--help")
    assert code == 0
    for command in ("verify", "show", "rate", "stepsize", "simulate"):
        assert command in out


def test_version(cflag):
    assert cflag("--version") == (0, f"cflag-theory {cflag_theory.__version__}\n", "")


# verify and show


def test_verify_prints_the_verdicts(cflag):
    code, out, err = cflag("verify", "cflag.eq7", "cflag.lemma13")
    assert (code, err) == (0, "")
    rows = {line.split()[0]: line for line in out.splitlines() if line.startswith("cflag.")}
    assert "typo" in rows["cflag.eq7"]
    assert "loose" in rows["cflag.lemma13"]


@pytest.mark.full
def test_verify_as_json(cflag, verdicts):
    code, out, _ = cflag("verify", "cflag.eq65", "cflag.lemma13", "--format", "json")
    assert code == 0
    found = json.loads(out)
    promised = {"id", "paper", "where", "statement", "verdict", "evidence", "sharp", "repair", "counterexample"}
    assert all(promised <= set(item) for item in found)
    assert found == [verdicts[id].to_json() for id in ("cflag.eq65", "cflag.lemma13")]


def test_verify_is_a_thin_shell_over_its_function(cflag):
    _, first, _ = cflag("verify", "cflag.cor14", "--format", "json", "--seed", "3")
    (found,) = verify(["cflag.cor14"], seed=3)
    assert json.loads(first) == [found.to_json()]


@pytest.mark.full
def test_verify_writes_the_report(cflag, tmp_path, monkeypatch):
    problem = random_separable(clients=2, past=3, current=3, dimension=2, seed=1)
    monkeypatch.setattr(studies, "default_studies", lambda seed: ([(problem, uniform(1))], ["No digits."]))
    full = rates.rate
    monkeypatch.setattr(
        studies,
        "rate",
        lambda problem, memory, *, seed: full(problem, memory, seed=seed, horizons=(4, 8), replicas=2, local_steps=1),
    )
    names = ("C-FLAG", "C-FLAG on digits")
    monkeypatch.setattr("cflag_theory.cli.first_report.REPORT", {name: studies.REPORT[name] for name in names})
    # All of it in this process, where the studies are small.
    monkeypatch.setattr("cflag_theory.verify.workers.how_many", lambda jobs: 1)
    target = tmp_path / "deep" / "report"
    code, out, err = cflag("verify", "cflag.eq65", "--out", target)
    assert (code, err) == (0, "")
    assert f"report: {target / 'index.html'}" in out
    assert "No digits." in (target / "index.html").read_text(encoding="utf-8")
    assert (target / "rate.png").exists()


# rate, stepsize, simulate


def test_rate(cflag, tmp_path):
    command = ("rate", *TINY, "--horizons", "4,8", "--replicas", 2, "--E", 1)
    code, out, err = cflag(*command, "--out", tmp_path / "new")
    assert (code, err) == (0, "")
    assert out.splitlines()[-2] == "Fitted slopes and all bounds: --details."
    names = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert names == [MARKER, *DRAWN, "rate_horizons.jsonl"]
    _, out, _ = cflag(*command, "--format", "json")
    assert json.loads(out) == json.loads((tmp_path / "new" / "rate.json").read_text(encoding="utf-8"))
    (study,) = json.loads(out)
    assert study["horizons"] == [4, 8]


STEPS = {"--L": 2, "--m": 0.5, "--E": 10, "--alpha": 0.3, "--beta": 0.004, "--T": 1000}


def options(values):
    return [str(word) for pair in values.items() for word in pair]


def test_stepsize(cflag):
    code, out, _ = cflag("stepsize", *options(STEPS), "--details")
    assert code == 0
    assert "beta <= 1/(4LE)" in out
    _, out, _ = cflag("stepsize", *options(STEPS), "--format", "json")
    found = json.loads(out)
    assert {row["condition"]: row["holds"] for row in found["conditions"]}["beta <= 1/(4LE)"] is True
    assert found["L"] == 2


def test_simulate(cflag, tmp_path):
    command = ("simulate", *TINY, "--beta", 0.01, "--alpha", 0.1, "--T", 3, "--E", 2, "--replicas", 2)
    code, out, err = cflag(*command, "--out", tmp_path / "run.npz")
    assert (code, err) == (0, "")
    assert "3 rounds, 2 replicas" in out
    trace = read_trace(tmp_path / "run.npz")
    assert (trace.replicas, trace.rounds) == (2, 3)
    assert [path.name for path in tmp_path.iterdir()] == ["run.npz"]
    _, out, _ = cflag(*command, "--format", "json")
    summary = json.loads(out)
    assert summary["end"]["f"] == pytest.approx(float(trace.at_end("f").mean()))


@pytest.mark.parametrize("row", ["c_flag", "cfl"])
def test_a_first_short_run_does_not_wait_for_the_compiler(cflag, monkeypatch, row):
    command = ("simulate", *TINY, "--beta", 0.01, "--T", 3, "--E", 2, "--algorithm", row)
    begun, ran, kept = [], [], [True]
    monkeypatch.setattr("cflag_theory.kernels.engines.cpu.run.is_kept", lambda plain: kept[0])
    _, compiled, _ = cflag(*command)
    kept[0] = False
    monkeypatch.setattr(os, "posix_spawn", lambda program, words, *_, **__: begun.append(words))
    code, out, _ = cflag(*command)
    assert (code, out) == (0, compiled + MEANWHILE)
    # What the other process does compiles the loop that was missing.
    ((*_, text),) = begun
    monkeypatch.setattr("cflag_theory.kernels.simulation._run", lambda plan, out: ran.append(plan))
    exec(text, {})
    assert [(plan.engine, plan.framework is None) for plan in ran] == [("compiled", row == "c_flag")]


def test_simulate_without_a_memory_step(cflag):
    code, out, _ = cflag("simulate", *TINY, "--algorithm", "fedavg", "--beta", 0.01, "--T", 2, "--format", "json")
    assert code == 0
    assert json.loads(out)["rounds"] == 2


# What users can fix.

SIMULATE = ("simulate", *TINY, "--beta", "0.01")
DRAWN = ("rate.json", "rate.png", "rate.svg", "rate_details.png", "rate_details.svg")
RATE = ("rate", *TINY, "--horizons", "4,8", "--replicas", "2", "--E", "1")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("verify", "nosuch"), "no claim is called 'nosuch': cflag list names all"),
        (("verify", "cflag.eq65", "nosuch"), "no claim is called 'nosuch'"),
        (("verify", "cflag.eq65", "--level", "medium"), "level is 'medium': use one of quick, full"),
        (("show", "nosuch"), "no claim is called 'nosuch'"),
        (("show", "cflag.eq65", "--level", "medium"), "level is 'medium'"),
        (("simulate", "--beta", "0.1", "--problem", "nosuch"), "problem 'nosuch' is unknown: use one of default, glm"),
        ((*SIMULATE, "--algorithm", "nosuch"), "algorithm 'nosuch' is unknown: use one of c_flag, "),
        ((*SIMULATE, "--diagnostics", "nosuch"), "diagnostics 'nosuch' is unknown: use one of none, cheap, all"),
        (("simulate", "--beta", "0.1", "--memory", "nosuch"), "memory 'nosuch' is unknown: use all, uniform, "),
        ((*SIMULATE, "--dial", "conflict"), "dial 'conflict' is not understood: write KEY=VALUE"),
        ((*SIMULATE, "--dial", "nosuch=1"), "problem 'separable' has no dial 'nosuch': use one of clients, "),
        ((*SIMULATE, "--dial", "clients=0"), "clients is 0: use an integer of at least 1"),
        ((*SIMULATE, "--dial", "conflict=2"), "conflict is 2: use a number from 0 to 1"),
        ((*SIMULATE, "--E", "0"), "local_steps is 0: use an integer of at least 1"),
        ((*SIMULATE, "--T", "0"), "rounds is 0: use an integer of at least 1"),
        ((*SIMULATE, "--replicas", "0"), "replicas is 0: use an integer of at least 1"),
        ((*SIMULATE, "--seed", str(2**63)), f"seed is {2**63}: use an integer of at least 0, below 2^63"),
        ((*SIMULATE, "--alpha", "-1"), "alpha is -1.0: use a finite number that is not negative"),
        (
            (*SIMULATE, "--algorithm", "fedavg", "--alpha", "1"),
            "algorithm 'fedavg' has no memory step",
        ),
        (("simulate", "--beta", "-1"), "beta is -1.0: use a finite positive number"),
        (("simulate", "--beta", "nan"), "beta is nan: use a finite positive number"),
        (("simulate", "--beta", "0.1", "--m", "0.5"), "m = 0.5 needs a memory whose bias is a dial"),
        (("simulate", "--beta", "0.1", "--memory", "sign", "--m", "-1"), "m is -1.0: use a finite number"),
        (("simulate", "--beta", "0.1", "--memory-size", "0"), "size is 0"),
        (("simulate", "--beta", "0.1", "--data", "nosuch.csv"), "data file nosuch.csv does not exist"),
        (("simulate", "--beta", "0.1", "--data", "digits", "--clients", "0"), "clients is 0"),
        (("simulate", "--beta", "0.1", "--data", "digits", "--zeta", "-1"), "zeta is -1.0"),
        (
            ("simulate", "--beta", "0.1", "--data", "digits", "--past-classes", "4-0"),
            "past classes '4-0' is not understood",
        ),
        (("rate", "--horizons", "16"), "horizons [16] do not increase from 1 on: give at least two"),
        (("rate", "--horizons", "two"), "horizons 'two' is not understood: write 0-4 or 16,32,64"),
        ((*RATE, "--replicas", "1"), "replicas is 1: use an integer of at least 2, below 2^63"),
        ((*RATE, "--E", "0"), "local_steps is 0: use an integer of at least 1"),
        ((*RATE, "--c", "0"), "c is 0.0: use a finite positive number"),
        *(
            (("stepsize", *options({**STEPS, name: value})), f"{name[2:]} = {shown} is not allowed: give a")
            for name, value, shown in (
                ("--L", -1, "-1.0"),
                ("--L", 0, "0.0"),
                ("--L", "nan", "nan"),
                ("--m", -0.5, "-0.5"),
                ("--E", 0, "0"),
                ("--alpha", 0, "0.0"),
                ("--beta", "inf", "inf"),
                ("--T", 0, "0"),
            )
        ),
    ],
    ids=lambda value: " ".join(value).replace(" ".join(TINY), "...") if isinstance(value, tuple) else "",
)
def test_one_sentence_and_exit_code_2(cflag, arguments, sentence):
    code, out, err = cflag(*arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("cflag: ")
    assert sentence in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("nosuch",),
        ("verify", "--nosuch"),
        ("verify", "--seed", "-1"),
        ("verify", "--format", "xml"),
        ("simulate",),
        ("simulate", "--beta", "small"),
        ("stepsize", "--L", "1"),
    ],
    ids=" ".join,
)
def test_words_that_the_command_line_does_not_know(cflag, arguments):
    code, out, err = cflag(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("cflag: ")
    assert len(err.splitlines()) == 1


OUT = {
    "verify": ("verify", "cflag.eq65"),
    "rate": RATE,
    "simulate": (*SIMULATE, "--T", "2"),
}


@pytest.mark.parametrize("command", OUT)
@pytest.mark.parametrize("below", ["report", "a/b"])
def test_an_output_that_cannot_be_written(cflag, tmp_path, command, below):
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    code, out, err = cflag(*OUT[command], "--out", tmp_path / "file" / below)
    assert (code, out) == (2, "")
    assert err.startswith("cflag: cannot write ")
    assert "choose another" in err
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


def test_a_file_in_place_of_the_report_folder(cflag, tmp_path):
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    assert cflag("verify", "cflag.eq65", "--out", tmp_path / "file")[0] == 2
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


def test_a_run_that_diverges_says_so_and_writes_nothing(cflag, tmp_path):
    code, out, err = cflag(
        *("simulate", "--problem", "quadratic", "--memory", "all", "--alpha", 50, "--beta", 50, "--T", 500),
        *("--out", tmp_path / "run.npz"),
    )
    assert (code, out) == (2, "")
    assert "diverged in round" in err
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_is_no_traceback(cflag, monkeypatch):
    def stop(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("cflag_theory.verify.check.first_look", stop)
    assert cflag("verify") == (130, "", "cflag: interrupted; nothing was written\n")


@pytest.mark.parametrize(
    ("words", "may"),
    [
        ("list", set()),
        ("stepsize", set()),
        ("simulate --beta 0.01 --T 1 --E 1", {"numpy", "scipy", "numba"}),
        ("conform nothing.py --algorithm fedavg", {"numpy"}),
    ],
)
def test_a_command_loads_no_library_that_it_does_not_use(words, may):
    done = run(*words.split(), program=f"{LOADED}\nimport atexit\natexit.register(loaded)\n{PROGRAM}")
    assert done.stdout.splitlines()[-1].startswith("loaded:")
    assert set(done.stdout.splitlines()[-1].split()[1:]) <= may, done.stdout
