"""What is said of progress where standard error is no terminal."""

import io
import sys

from cflag_theory.cli import shell


def said(monkeypatch, seconds):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(shell, "SECONDS_BETWEEN_LINES", seconds)
    with shell.progress_bar("claims", 3) as advance:
        for id in ("a", "b", "c"):
            advance(1, id)
    return stream.getvalue()


def test_long_work_says_how_far_it_is(monkeypatch):
    assert said(monkeypatch, 0) == "claims: 1 of 3, now a\nclaims: 2 of 3, now b\nclaims: 3 of 3, now c\n"


def test_short_work_says_nothing(monkeypatch):
    assert said(monkeypatch, 60) == ""
