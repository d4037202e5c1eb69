"""What several modules here need: the first decided claims, and the command line as a function."""

from __future__ import annotations

import sys

import pytest

from cflag_theory.verify import cli, verify

FIRST_EIGHT = tuple(f"cflag.{name}" for name in ("eq7", "eq22", "eq25", "lemma1", "eq65", "lemma13", "cor14", "eq177"))


@pytest.fixture(scope="session")
def verdicts():
    """Verdict by id, for the first eight claims."""
    return dict(zip(FIRST_EIGHT, verify(FIRST_EIGHT), strict=True))


@pytest.fixture
def cflag(monkeypatch, capsys):
    """Calls `main` as the entry point does; returns exit code, standard output and standard error."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["cflag", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, printed.err

    return call
