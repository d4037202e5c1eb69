"""docs/start.md and docs/own.md: their files, commands and sweeps run as they are printed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
TEXT = "".join((DOCS / name).read_text(encoding="utf-8") for name in ("start.md", "own.md"))
FILES = dict(re.findall(r"```(?:python|toml)\n# ([\w.]+)[^\n]*\n(.*?)```", TEXT, flags=re.DOTALL))
#: The whole ledger has tests of its own.
COMMANDS = [words for words in re.findall(r"(?m)^cflag (.+)$", TEXT) if words != "verify --out report"]


def test_the_pages_have_their_examples():
    assert sorted(FILES) == ["lemma.py", "loss.py", "ridge.py", "servers.py", "servers.toml", "smooth_hinge.py"]
    assert len(COMMANDS) == 11


@pytest.mark.full
@pytest.mark.parametrize("command", COMMANDS)
def test_examples_run_as_printed(command, cflag, tmp_path, monkeypatch):
    if command.startswith("sweep"):
        pytest.importorskip("pyarrow")
    if "digits" in command:
        pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    code, _, err = cflag(*shlex.split(command))
    assert code == 0, err
