"""What users, files and machines do to the commands: each kind that once was a traceback, now one sentence."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from cflag_theory.errors import DataError, InvalidInput
from cflag_theory.falsify import Conjecture, Range
from cflag_theory.falsify.saving import read_claims
from cflag_theory.reading import read_json, read_text

SMALL = ("simulate", "--beta", "0.01", "--T", "2", "--E", "1")
LONG, MOST = "a" * 5000, str(2**63 - 1)


def one_sentence(result):
    code, _, err = result
    assert code == 2
    assert err.startswith("cflag: ")
    assert len(err.splitlines()) == 1
    assert len(err) < 1100
    return err


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ((*SMALL, "--problem", ""), "problem '' is unknown"),
        (("rate", "--problem", ""), "problem '' is unknown"),
        ((*SMALL[:2], "1e-320"), "beta is 1e-320, which floats hold with few digits only"),
        ((*SMALL, "--out", ""), "is a folder and not a plain file"),
        ((*SMALL, "--out", "/"), "is a folder and not a plain file"),
        ((*SMALL, "--out", LONG), "File name too long"),
        ((*SMALL, "--data", f"{LONG}.csv"), "File name too long"),
        ((*SMALL, "--algorithm", LONG), "is unknown"),
        (("sweep", LONG), "File name too long"),
        (("sweep", ""), "cannot read . (Is a directory)"),
        (("sweep", "/"), "cannot read / (Is a directory)"),
        (("bridge", "--check-data", "~no such user"), "~no such user is not a folder"),
        (("plot", LONG), "File name too long"),
        (("decide", f"{LONG}.py"), "File name too long"),
        (("decide", "--replay", LONG), "give a counterexample"),
        (("rate", "--paper", "cfl", "--dial", "D=x"), "D is 'x': use a finite number that is not negative"),
        (("rate", "--paper", "cfl", "--dial", "D=nan"), "D is 'nan': use a finite number"),
        (("rate", "--replicas", "1" * 400), "replicas is an integer of 1326 bits: use an integer of at least 2"),
        ((*SMALL, "--replicas", MOST), f"replicas is {MOST}: replicas are counted below 2^32"),
        ((*SMALL, "--seed", "9" * 5000), "Invalid value for '--seed'"),
        (("forgetting", "--T", MOST), f"rounds is {MOST}: use an integer of at least 1, below 2^32"),
        (("tasks", "--E", MOST), f"local_steps is {MOST}: use an integer of at least 1, below 2^32"),
        (("simulate", "--nothing"), "No such option: --nothing"),
        (("simulate",), "a step size is missing; L is 1.514, E is 10; try: cflag simulate --beta=0.022 --alpha=0.33"),
        (("nothing",), "No such command 'nothing'. See "),
        (("stepsize", "--paper", "x"), "'x' is not one of"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, tuple) else "",
)
def test_arguments(cflag, command, words):
    assert words in one_sentence(cflag(*command))


def test_text_that_never_ends_and_text_that_is_nested(tmp_path):
    with pytest.raises(OSError, match="it is no regular file but a device"):
        read_text("/dev/zero", most=1000)
    (tmp_path / "long").write_bytes(b" " * 1001)
    with pytest.raises(OSError, match="it has more than 1000 bytes"):
        read_text(tmp_path / "long", most=1000)
    (tmp_path / "deep.json").write_text("[" * 200_000, encoding="utf-8")
    with pytest.raises(ValueError, match="nested too deeply"):
        read_json(tmp_path / "deep.json")


@pytest.mark.parametrize("content", ["[" * 100_000, "9" * 5000, '{"panels": [1e999]}', "[{}]", "[1]", '{"panels": 3}'])
@pytest.mark.parametrize("name", ["rate.json", "nqm.json", "sweep.json", "results.json"])
def test_stored_results_that_are_damaged(cflag, tmp_path, name, content):
    (tmp_path / name).write_text(content, encoding="utf-8")
    if name != "results.json":
        one_sentence(cflag("plot", tmp_path))
        return
    from cflag_theory.bridge.measures.results import read_results

    with pytest.raises(DataError):
        read_results(tmp_path)


@pytest.mark.parametrize(
    "changes",
    [
        {"every": 0},
        {"every": "1"},
        {"identity": "../../x"},
        {"identity": 3},
        {"columns": 1},
        {"chunks": {}},
        {"format": 1},
    ],
)
def test_a_header_of_a_sweep_that_is_damaged(cflag, swept, tmp_path, changes):
    header = json.loads((swept / "sweep.json").read_text(encoding="utf-8"))
    (tmp_path / "sweep.json").write_text(json.dumps(header | changes), encoding="utf-8")
    one_sentence(cflag("plot", tmp_path))


@pytest.mark.parametrize("claim", [{"name": "x", "file": "a\0b"}, {"name": "\ud800"}, {"name": "\x1b[31m"}])
def test_a_counterexample_with_characters_that_no_name_has(cflag, tmp_path, claim):
    assert "is not a counterexample" in one_sentence(cflag("decide", "--replay", counterexample(tmp_path, claim)))


def counterexample(folder, claim):
    saved = {"kind": "counterexample of cflag decide, version 1", "claim": claim, "values": {}}
    saved |= dict.fromkeys(("relation", "left", "right"), "")
    (folder / "it.json").write_text(json.dumps(saved), encoding="utf-8")
    return folder / "it.json"


def test_files_that_name_themselves(cflag, tmp_path):
    for name in ("loop.json", "loop.py", "loop.toml", "loop.npz"):
        (tmp_path / name).symlink_to(tmp_path / name)
    one_sentence(cflag("decide", "--replay", tmp_path / "loop.json"))
    one_sentence(cflag("decide", "--replay", counterexample(tmp_path, {"name": "x", "file": "loop.py"})))
    one_sentence(cflag("decide", "--only", "refute", tmp_path / "loop.py"))
    one_sentence(cflag("sweep", tmp_path / "loop.toml"))
    one_sentence(cflag(*SMALL, "--data", tmp_path / "loop.npz"))


def test_a_users_file_that_raises_what_is_no_exception(tmp_path):
    (tmp_path / "stop.py").write_text("class Stop(BaseException): pass\nraise Stop('no')\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"stop\.py, line 2 .*raised Stop: no"):
        read_claims(tmp_path / "stop.py", seconds=5)


def test_a_name_that_would_rule_the_terminal():
    with pytest.raises(InvalidInput, match=r"is 'red \\x1b\[31m': give it some words on one line"):
        Conjecture(name="red \x1b[31m", ranges={"x": Range(0, 1)}, left=lambda x: x, right=1)


def test_features_whose_squares_no_float_can_hold(cflag, tmp_path):
    lines = [f"{'1e308' if number == 7 else number},{number % 10}" for number in range(40)]
    (tmp_path / "data.csv").write_text("\n".join(["a,label", *lines]), encoding="utf-8")
    err = one_sentence(cflag(*SMALL, "--data", tmp_path / "data.csv"))
    assert "1e+308 in row 7, column 0" in err


def test_a_name_that_the_output_cannot_spell(tmp_path):
    text = "from cflag_theory.falsify import Conjecture, Range\nfrom fractions import Fraction\n"
    claim = 'Conjecture(name="Gr\u00f6\u00dfe", ranges={"x": Range(0, 1)}, left=lambda x: x, right=Fraction(1, 2))\n'
    (tmp_path / "claims.py").write_text(f"{text}claim = {claim}", encoding="utf-8")
    command = [sys.executable, "-m", "cflag_theory", "decide", "--only", "refute", "claims.py", "--budget", "20"]
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert "Gr??e" in done.stdout


def test_a_working_folder_that_is_gone(tmp_path):
    code = (
        "import os, sys\n"
        "os.rmdir(os.getcwd())\n"
        "sys.argv = ['cflag', 'decide', '--only', 'refute', 'cflag.lemma13', '--budget', '5']\n"
        "from cflag_theory.__main__ import main\n"
        "main()\n"
    )
    (tmp_path / "gone").mkdir()
    # As of a command, a file: `python -c` looks for modules in the working folder, where Python 3.13.0 itself fails.
    (tmp_path / "run.py").write_text(code)
    done = subprocess.run(
        [sys.executable, tmp_path / "run.py"], cwd=tmp_path / "gone", capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (
        2,
        "cflag: the working folder no longer exists: change to one that does\n",
    )


WORK = """
import os, sys, time
from cflag_theory.studies.sweeps.sweep import _workers
with _workers(2, "loky", None) as (executor, _):
    print(executor.submit(os.getpid).result(), flush=True)
    executor.submit(time.sleep, 60)
    time.sleep(60)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_workers_end_with_a_process_that_is_killed():
    with subprocess.Popen([sys.executable, "-c", WORK], stdout=subprocess.PIPE, text=True) as main:
        worker = int(main.stdout.readline())
        os.kill(main.pid, signal.SIGKILL)
        main.wait()
        ends = time.monotonic() + 10
        while (running := _runs(worker)) and time.monotonic() < ends:
            time.sleep(0.1)
    assert not running


def _runs(process):
    try:
        os.kill(process, 0)
        with open(f"/proc/{process}/stat", encoding="ascii") as stat:
            return stat.read().split()[2] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
