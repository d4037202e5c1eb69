"""The edge of the program: one sentence and an exit code, whatever goes wrong inside."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cflag_theory.cli import edge
from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import read_trace

FULL = "/dev/full"
STEPS = "stepsize --L 1 --m 0 --E 1 --alpha 1 --beta 0.1 --T 4"


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (InvalidInput("x is 3:\nuse 4\x1b[31m"), 2, "x is 3: use 4?[31m"),
        (OSError(errno.EIO, "Input/output error", "a.npz"), 2, "cannot use 'a.npz' (Input/output error): check"),
        (OSError(errno.ENOSPC, "No space left on device"), 2, "cannot write the results (No space left"),
        (MemoryError("Unable to allocate 7 GiB"), 2, "not enough memory (Unable to allocate 7 GiB): ask for less"),
        (RecursionError("maximum recursion depth"), 2, "the input is nested too deeply: make it flatter"),
        (OverflowError("int too large"), 2, "a number of the input is too large (int too large)"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (BrokenPipeError(), 0, ""),
        (SystemExit(3), 3, ""),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_every_error_is_one_sentence(capsys, error, code, sentence):
    def app(**_):
        raise error

    with pytest.raises(SystemExit) as ended:
        edge.run(app)
    printed = capsys.readouterr()
    assert (ended.value.code, printed.out) == (code, "")
    assert printed.err.replace("\N{REPLACEMENT CHARACTER}", "?").startswith(f"cflag: {sentence}" if sentence else "")
    assert len(printed.err.splitlines()) == bool(sentence)


def test_an_interrupt_is_not_lost_in_a_finalizer(capsys):
    class Finalized:
        def __del__(self):
            raise KeyboardInterrupt

    def app(standalone_mode):
        Finalized()
        until = time.monotonic() + 10
        while time.monotonic() < until:
            pass

    with pytest.raises(SystemExit) as ended:
        edge.run(app)
    assert (ended.value.code, capsys.readouterr().err) == (130, "cflag: interrupted; nothing was written\n")


def test_exit_codes_are_documented():
    line = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8").partition("Exit codes: ")[2]
    codes = [int(code) for code in re.findall(r"(\d+), ", line.partition(".\n")[0].split("[")[0])]
    assert codes[:5] == [0, 1, edge.MENDABLE, edge.INTERRUPTED, edge.OURS]


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def test_an_error_without_words_is_one_sentence(capsys, tmp_path, monkeypatch):
    def app(**_):
        raise Mute

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(SystemExit, match=str(edge.OURS)):
        edge.run(app)
    assert capsys.readouterr().err.startswith("cflag: an error of cflag itself (Mute)")


def test_an_error_of_our_own_says_where_its_details_are(capsys, tmp_path, monkeypatch):
    def app(**_):
        raise KeyError("a name that is missing")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(SystemExit, match=str(edge.OURS)):
        edge.run(app)
    (details,) = tmp_path.iterdir()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(f"please report it with the details in {details}")
    assert "in app\n" in details.read_text(encoding="utf-8")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(SystemExit, match=str(edge.OURS)):
        edge.run(app)
    assert "please report it with this line" in capsys.readouterr().err


@pytest.mark.skipif(not os.path.exists(FULL), reason="a device that is always full")
@pytest.mark.parametrize("arguments", [("--version",), ("--help",), ("list", "--format", "json")], ids=" ".join)
def test_a_full_disk_under_the_output(arguments):
    command = [sys.executable, "-m", "cflag_theory", *arguments]
    with open(FULL, "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    remedy = "free some space or write elsewhere"
    assert done.stderr == f"cflag: cannot write the results (No space left on device): {remedy}\n"


def ends_well(arguments):
    command = f"{sys.executable} -m cflag_theory {arguments}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX")
def test_streams_that_are_closed(tmp_path):
    ends_well(f"simulate --beta 0.01 --T 1 --E 1 --out {tmp_path / 'run.npz'} <&- >&- 2>&-")
    # Nothing that was meant for a stream went into a file.
    assert read_trace(tmp_path / "run.npz").config["rounds"] == 1


@pytest.mark.full
@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX")
@pytest.mark.parametrize("closed", ["<&- >&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_to_figures(tmp_path, closed):
    ends_well(f"{STEPS} --out {tmp_path / 'new'} {closed}")
    assert json.loads((tmp_path / "new" / "step_sizes.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("words", ["0", "abc", "-3", "9" * 5000])
def test_a_number_of_threads_that_is_none(cflag, monkeypatch, words):
    monkeypatch.setenv("NUMBA_NUM_THREADS", words)
    code, _, err = cflag("list")
    assert code == 2
    assert err.startswith(f"cflag: NUMBA_NUM_THREADS is {words[:20]!r}: use a number")


INTERRUPTED = """
import os, signal, sys, threading
from cflag_theory import __main__ as entry
threading.Timer(float(sys.argv.pop(1)), os.kill, (os.getpid(), signal.SIGINT)).start()
entry.main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_interrupts_of_the_first_second():
    """Whenever it arrives: while modules load, while arguments are read, during the command."""
    for after in (0.05, 0.2, 0.4, 0.8):
        command = [sys.executable, "-c", INTERRUPTED, str(after), "verify", "--list"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (130, "")
        assert done.stderr in ("", "cflag: interrupted; nothing was written\n")


@pytest.mark.full
def test_a_drawing_backend_that_there_is_none_of(tmp_path):
    command = [sys.executable, "-m", "cflag_theory", *STEPS.split(), "--out", tmp_path / "new"]
    environment = os.environ | {"MPLBACKEND": "nothing"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("cflag: matplotlib refuses its settings (Key backend: 'nothing'")
    assert done.stderr.endswith("): correct MPLBACKEND or matplotlibrc\n")
