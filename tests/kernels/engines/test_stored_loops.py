"""Compiled loops on disk: damaged files, folders of others, disks that are full."""

import errno
import logging
import os
import subprocess
import sys
import time
from contextlib import ExitStack

import numba
import pytest

from cflag_theory import files
from cflag_theory.kernels.engines.codegen import cache
from cflag_theory.kernels.engines.codegen.stored import StoredLoop, safe_folder


def double(z):
    return 2 * z


@pytest.fixture
def loaded(tmp_path, monkeypatch, caplog):
    """Compiles or loads the function above and calls it; returns how often it was loaded, and what was said."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def call():
        caplog.clear()
        loop = numba.njit(double)
        loop._cache = StoredLoop(double)
        assert loop(3.0) == 6.0
        return sum(loop.stats.cache_hits.values()), [record.getMessage() for record in caplog.records]

    return call


@pytest.mark.parametrize("ending", ["*.nbi", "*.nbc"])
@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda content: b"", id="empty"),
        pytest.param(lambda content: content[: len(content) // 2], id="half"),
        pytest.param(lambda content: content[:-40] + bytes([content[-40] ^ 1]) + content[-39:], id="a bit"),
        # A pickle of somebody else's, which would run a command.
        pytest.param(lambda content: b"cos\nsystem\n(S'touch ran'\ntR.", id="a program"),
    ],
)
def test_a_damaged_file_is_set_aside_and_compiled_again(tmp_path, monkeypatch, loaded, ending, spoil):
    monkeypatch.chdir(tmp_path)
    assert loaded() == (0, [])
    (file,) = tmp_path.rglob(ending)
    file.write_bytes(spoil(file.read_bytes()))
    hits, (sentence,) = loaded()
    assert hits == 0
    assert "its checksum is wrong): it is compiled again" in sentence
    assert file.with_name(file.name + ".damaged").exists()
    assert not (tmp_path / "ran").exists()
    assert loaded() == (1, [])


def test_a_loop_that_cannot_be_loaded_or_kept_is_compiled(tmp_path, monkeypatch, loaded):
    class Full(files.Disk):
        def sync(self, handle):
            raise OSError(errno.ENOSPC, "No space left on device")

    assert loaded() == (0, [])
    (file,) = tmp_path.rglob("*.nbi")
    file.unlink()
    file.mkdir()
    monkeypatch.setattr(files, "disk", Full())
    hits, (unreadable, full) = loaded()
    assert hits == 0
    assert "Is a directory): it is compiled again" in unreadable
    assert "No space left on device" in full
    assert not list(tmp_path.rglob("*.draft"))


def test_folders_that_are_not_the_users_own_are_refused(tmp_path, monkeypatch, caplog):
    temporary = tmp_path / "tmp"
    for folder in (tmp_path / "open", tmp_path / "sticky", tmp_path / "linked", temporary):
        folder.mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "sticky").chmod(0o1777)
    (tmp_path / "linked" / "loops").symlink_to(tmp_path / "open")
    inner = tmp_path / "inner" / "loops" / "cpu"
    inner.mkdir(parents=True)
    inner.chmod(0o777)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    for root, reason in {
        tmp_path / "open": f"others may write to {tmp_path / 'open'}",
        tmp_path / "linked": f"others may write to {tmp_path / 'open'}",
        tmp_path / "inner": f"others may write to {inner}",
        tmp_path / "file": "File exists",
        "~": "there is no home folder",
    }.items():
        caplog.clear()
        assert safe_folder.__wrapped__(str(root), "loops").parent.parent == temporary
        (record,) = caplog.records
        assert (record.levelno, reason in record.getMessage()) == (logging.WARNING, True)
    assert safe_folder.__wrapped__(str(tmp_path / "sticky"), "loops") == tmp_path / "sticky" / "loops"


def test_users_without_a_home_folder_have_their_loops_compiled(tmp_path, monkeypatch, caplog):
    def fail(*_, **__):
        raise RuntimeError("could not determine the home directory")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    monkeypatch.setattr(cache.config, "CACHE_DIR", "")
    monkeypatch.setattr(cache.platformdirs, "user_cache_dir", fail)
    monkeypatch.setattr(cache, "safe_folder", safe_folder.__wrapped__)
    assert cache.cache_folder().parent.parent == tmp_path
    assert "compiled loops cannot be kept (there is no home folder)" in caplog.text


def test_folders_of_another_user_are_refused(tmp_path, monkeypatch, caplog):
    made = safe_folder.__wrapped__(str(tmp_path / "root"), "loops")
    assert made == tmp_path / "root" / "loops"
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    monkeypatch.setattr("os.geteuid", lambda: 12345)
    assert safe_folder.__wrapped__(str(tmp_path / "root"), "loops") != made
    assert f"{made} belongs to another user" in caplog.records[0].getMessage()


TWICE = """
import sys, numba
numba.config.CACHE_DIR = sys.argv[1]
from cflag_theory.kernels.engines.codegen.stored import StoredLoop
def double(z):
    return 2 * z
loop = numba.njit(double)
loop._cache = StoredLoop(double)
print(loop._cache._cache_file._index_path, flush=True)
sys.stdin.readline()
print(loop(3.0), sum(loop.stats.cache_hits.values()))
"""


def test_processes_that_want_a_loop_at_once_compile_it_once(tmp_path):
    program, here = tmp_path / "twice.py", [subprocess.PIPE] * 2
    program.write_text(TWICE)
    command = [sys.executable, str(program), str(tmp_path)]
    with ExitStack() as stack:
        both = [stack.enter_context(subprocess.Popen(command, text=True, stdin=here[0], stdout=here[1])) for _ in "ab"]
        (index,) = {one.stdout.readline().strip() for one in both}
        turn, waited = files.take_turn(index + ".lock")
        assert not waited
        for one in both:
            one.stdin.write("\n")
            one.stdin.flush()
        # Both wait for whoever has the turn.
        time.sleep(0.5)
        assert [one.poll() for one in both] == [None, None]
        os.close(turn)
        assert sorted(one.stdout.read().split() for one in both) == [["6.0", "0"], ["6.0", "1"]]


def test_an_interrupted_compilation_lets_others_have_their_turn(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    loop = cache.compiled(double)

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(loop._compiler, "compile", interrupted)
        with pytest.raises(KeyboardInterrupt):
            loop(3.0)
    turn, waited = files.take_turn(loop._cache._cache_file._index_path + ".lock", wait=False)
    assert turn is not None
    assert not waited
    os.close(turn)
    assert loop(3.0) == 6.0
