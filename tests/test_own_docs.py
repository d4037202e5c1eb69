"""docs/own.md: its files, commands and sweeps run as they are printed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).parents[1] / "docs" / "own.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")
FILES = dict(re.findall(r"```(?:python|toml)\n# ([\w.]+)[^\n]*\n(.*?)```", TEXT, flags=re.DOTALL))
COMMANDS = re.findall(r"(?m)^cflag (.+)$", TEXT)


def test_the_page_has_three_examples():
    assert sorted(FILES) == ["loss.py", "servers.py", "servers.toml", "smooth_hinge.py"]
    assert len(COMMANDS) == 6


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
