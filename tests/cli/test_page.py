"""What tables for people look like where standard output is no terminal."""

from __future__ import annotations

from cflag_theory.cli.tables.page import Page


def test_columns_of_one_name_and_words_in_brackets_stay(capsys):
    Page().table(("m", "slope", "m"), [("0", "[-1, 0]", "0.5"), ("1", "[bold]", "0.25")])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [["m", "slope", "m"], ["0", "[-1,", "0]", "0.5"], ["1", "[bold]", "0.25"]]


def test_no_line_is_wider_than_asked(capsys):
    page = Page(30)
    page.say("word " * 20)
    page.table({"name": 10, "words": None}, [("x" * 15, "word " * 20)], whole=False)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 30
