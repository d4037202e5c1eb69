"""Files whole or not at all, folders of our own, and what others may have laid there."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from failing_disk import every_failure

from cflag_theory.errors import OutputError
from cflag_theory.files import (
    MARKER,
    alone_in,
    check_file_writable,
    check_writable,
    own_folder,
    whole,
    whole_set,
    write_text,
)


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != MARKER}


def test_a_file_is_old_or_new_whichever_call_of_the_system_fails(tmp_path):
    target = tmp_path / "rate.json"
    write_text(target, "old")
    seen = set()
    for _, error in every_failure(lambda: write_text(target, "new" * 100)):
        assert isinstance(error, OutputError)
        assert "rate.json' (No space left on device): free some space or choose another with --out" in str(error)
        (found,) = content(tmp_path).values()
        seen.add(found)
    # Only the folder's own fsync comes after the rename.
    assert seen == {b"old", b"new" * 100}
    assert content(tmp_path) == {"rate.json": b"new" * 100}
    with pytest.raises(OutputError, match="cannot write"):
        write_text(target / "below.json", "[]")


def test_sets_of_files_are_old_or_new_and_the_last_one_never_newer_than_the_others(tmp_path):
    def write_set(text):
        with whole_set(tmp_path, last="index") as draft:
            for name in ("zeta", "index", "alpha"):
                write_text(draft / name, text)

    write_set("old")
    for _, error in every_failure(lambda: write_set("new")):
        assert isinstance(error, OutputError)
        found = content(tmp_path)
        assert set(found) == {"alpha", "index", "zeta"}
        assert set(found.values()) <= {b"old", b"new"}
        if found["index"] == b"new":
            assert set(found.values()) == {b"new"}
    (tmp_path / "zeta").unlink()
    (tmp_path / "zeta").mkdir()
    with pytest.raises(OutputError, match=r"zeta.*which is a folder"):
        write_set("newer")
    assert (tmp_path / "index").read_bytes() == b"new"


def test_archives_of_arrays_are_whole_or_not_there(tmp_path):
    def write():
        with whole(tmp_path / "trace.npz") as file:
            np.savez(file, x=np.arange(4.0))

    for _, error in every_failure(write):
        assert isinstance(error, OutputError)
        found = content(tmp_path)
        assert set(found) <= {"trace.npz"}
        if found:
            with np.load(tmp_path / "trace.npz") as arrays:
                assert arrays["x"].tolist() == [0, 1, 2, 3]
            (tmp_path / "trace.npz").unlink()


def test_a_writable_folder_is_made_and_left_empty(tmp_path):
    made = check_writable(tmp_path / "a" / "b")
    assert made.is_absolute()
    assert made.is_dir()
    assert list(made.iterdir()) == []


def test_drafts_of_two_writers_do_not_meet(tmp_path):
    with whole(tmp_path / "one") as first, whole(tmp_path / "one") as second:
        first.write(b"first")
        second.write(b"second")
        assert len(list(tmp_path.glob(".cflag-*.draft"))) == 2
    assert content(tmp_path) == {"one": b"first"}


KILLED = """
import os, sys
from pathlib import Path
from cflag_theory.files import own_folder, whole, whole_set
folder = own_folder(sys.argv[1])
with whole(folder / "one") as file, whole_set(folder, last="") as draft:
    (draft / "two").write_text("half")
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_drafts_are_cleared_when_their_writer_is_gone_and_not_before(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout.readline() == b"ready\n"
        own_folder(tmp_path)
        assert len(list(tmp_path.glob(".cflag-*.draft"))) == 2
        writer.kill()
        writer.wait()
    own_folder(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [MARKER]


def test_only_empty_folders_and_ours_are_taken(tmp_path):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    own_folder(ours)
    (ours / "notes.txt").write_text("mine")
    assert own_folder(ours) == ours
    theirs.mkdir()
    (theirs / "index.html").write_text("mine")
    with pytest.raises(OutputError, match=r"holds files that cflag did not write \(index\.html\): choose a new"):
        own_folder(theirs)
    assert content(theirs) == {"index.html": b"mine"}
    # As sweeps were written before folders had a marker.
    (theirs / "sweep.json").write_text('{\n "format": "cflag-theory sweep 1"')
    assert own_folder(theirs) == theirs
    with pytest.raises(OutputError, match="holds files"):
        own_folder("/")


@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe", "folder"])
def test_only_plain_files_are_replaced(tmp_path, kind):
    target, other = tmp_path / "one", tmp_path / "other"
    if kind == "link":
        other.write_text("mine")
    if "link" in kind:
        target.symlink_to(other)
    elif kind == "pipe":
        os.mkfifo(target)
    else:
        target.mkdir()
    before = target.lstat()
    for write in (lambda: write_text(target, "new"), lambda: check_file_writable(target)):
        with pytest.raises(OutputError, match="not a plain file: choose another with --out"):
            write()
    assert target.lstat() == before
    assert other.exists() == (kind == "link")
    # The marker is the one name that others can foresee.
    (folder := tmp_path / "below").mkdir()
    target.rename(folder / MARKER)
    with pytest.raises(OutputError):
        own_folder(folder)
    assert not (tmp_path / "other").exists() or other.read_text() == "mine"


def test_a_file_of_another_kind_is_not_replaced(tmp_path):
    (tmp_path / "notes.npz").write_text("mine")
    with pytest.raises(OutputError, match="exists and is not of this kind"):
        check_file_writable(tmp_path / "notes.npz", begins=b"PK")
    (tmp_path / "notes.npz").write_bytes(b"PK...")
    assert check_file_writable(tmp_path / "notes.npz", begins=b"PK") == tmp_path / "notes.npz"


def test_a_command_may_take_its_folder_again_and_others_not(tmp_path):
    with alone_in(tmp_path, "study"), pytest.raises(OutputError, match="another study is writing to"):
        alone_in(tmp_path, "study").__enter__()
    with alone_in(tmp_path, "command", again=True):
        with alone_in(tmp_path, "study"):
            pass
        os.close(os.open(tmp_path / MARKER, os.O_RDONLY))
        other = "import sys; from cflag_theory.files import alone_in\nwith alone_in(sys.argv[1], 'study'): pass"
        done = subprocess.run([sys.executable, "-c", other, tmp_path], capture_output=True, text=True, check=False)
        assert "another study is writing to" in done.stderr


def test_the_marker_keeps_what_it_holds(tmp_path):
    (tmp_path / MARKER).write_text("a word of the user's own")
    with alone_in(tmp_path, "study"):
        pass
    assert (tmp_path / MARKER).read_text() == "a word of the user's own"
