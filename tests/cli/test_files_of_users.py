"""Files that users name: pipes, devices, folders and files without end are refused in a sentence, at once."""

from __future__ import annotations

import json
import os
import signal

import pytest

RUN = ("simulate", "--beta", "0.01", "--T", "2", "--E", "1")
COMMANDS = {
    "trace": ("stepsize", "--from-trace", "FILE.npz"),
    "csv": (*RUN, "--data", "FILE.csv"),
    "npz": (*RUN, "--data", "FILE.npz"),
    "own": (*RUN, "--problem", "FILE.py:made"),
    "sweep": ("sweep", "FILE.toml", "--dry-run"),
    "decide": ("decide", "FILE.py"),
    "page": ("decide", "FILE.page"),
    "replay": ("decide", "--replay", "FILE.json"),
    "verify": ("verify", "FILE.page"),
    "map": ("map", "--verdicts", "FILE.json", "--format", "svg"),
    "plot": ("plot", "FILE.json"),
    "conform": ("conform", "FILE.py"),
    "bridge": ("bridge", "FILE.toml"),
    "errata": ("errata", "--out", "FILE.tex"),
}


def make(kind, path):
    """A file of this kind; what a shell's <(...) gives is a pipe."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "sparse":
        with path.open("wb") as file:
            file.truncate(1 << 40)
    else:
        path.symlink_to(kind)


@pytest.fixture(autouse=True)
def soon():
    """A command that waits for the other end of a pipe, or reads without end, fails."""
    signal.alarm(60)
    yield
    signal.alarm(0)


@pytest.mark.parametrize("kind", ["pipe", "folder", "sparse", "/dev/zero", "/dev/tty", "/proc/self/mem", "/dev/stdin"])
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_only_regular_files_are_read(cflag, tmp_path, monkeypatch, kind, command):
    monkeypatch.chdir(tmp_path)
    named = next(word for word in command if word.startswith("FILE")).partition(":")[0]
    named = "rate.json" if command[0] == "plot" else named
    if kind == "sparse" and command[0] == "errata":
        pytest.skip("it would be read at its beginning only")
    make(kind, tmp_path / named)
    code, out, err = cflag(*(word.replace("FILE.json", named) for word in command))
    assert (code, out) == (2, "")
    assert err.startswith("cflag: ")
    assert len(err.splitlines()) == 1, err
    if kind == "pipe" and command[0] not in ("errata", "bridge"):
        assert "write what it brings to a file first" in err


LEDGER = [{"id": "cflag.lemma1", "verdict": "holds", "kind": "claim"}]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ([{"id": "cflag.lemma1", "kind": "claim"}], "[0].verdict, which is missing and should be null or one of holds"),
        ([LEDGER[0] | {"verdict": '"><script>alert(1)</script>'}], "[0].verdict, which should be null or one of holds"),
        ([LEDGER[0] | {"kind": "\x1b[31m"}], "[0].kind, which should be one of claim, assumption, question"),
        ([LEDGER[0], 3], "[1], which should be a table"),
        ({"id": 3}, "all of it, which should be a list"),
        (["x"], "[0], which should be a table"),
    ],
)
def test_verdicts_for_a_map_are_of_a_closed_vocabulary(cflag, tmp_path, changed, words):
    path = tmp_path / "ledger.json"
    path.write_text(json.dumps(changed), encoding="utf-8")
    code, out, err = cflag("map", "--verdicts", path, "--format", "svg")
    assert (code, out) == (2, "")
    assert words in err
