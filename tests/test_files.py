"""Files whole or not at all, and folders that can be written."""

from __future__ import annotations

import errno

import pytest

from cflag_theory.errors import OutputError
from cflag_theory.files import check_writable, whole, whole_set, write_text


def test_text_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "rate.json"
    write_text(target, "[1]")
    assert target.read_text(encoding="utf-8") == "[1]"

    def full(source, destination):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OutputError, match=r"cannot write .*rate\.json.*No space left on device.*choose another place"):
        write_text(target, "[2]")
    assert [path.name for path in tmp_path.iterdir()] == ["rate.json"]
    assert target.read_text(encoding="utf-8") == "[1]"
    with pytest.raises(OutputError, match="cannot write"):
        write_text(target / "below.json", "[]")


def test_a_writable_folder_is_made_and_left_empty(tmp_path):
    made = check_writable(tmp_path / "a" / "b")
    assert made.is_absolute()
    assert made.is_dir()
    assert list(made.iterdir()) == []


def test_drafts_of_two_writers_do_not_meet(tmp_path):
    with whole(tmp_path / "one") as first, whole(tmp_path / "one") as second:
        first.write(b"first")
        second.write(b"second")
        assert len(list(tmp_path.glob(".one.*.draft"))) == 2
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"one": b"first"}


def test_who_holds_the_folder_replaces_the_draft_of_a_killed_process(tmp_path):
    (tmp_path / ".one.draft").write_bytes(b"half of something longer")
    with whole(tmp_path / "one", alone=True) as file:
        file.write(b"all")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"one": b"all"}


def test_the_last_file_of_a_set_moves_last(tmp_path):
    (tmp_path / "zeta").mkdir()

    def write_set():
        with whole_set(tmp_path, last="index") as draft:
            for name in ("zeta", "index", "alpha"):
                (draft / name).write_text(name, encoding="utf-8")

    with pytest.raises(IsADirectoryError):
        write_set()
    assert not (tmp_path / "index").exists()
    assert not list(tmp_path.glob(".draft-*"))
