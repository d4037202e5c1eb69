"""What people read, on terminals of several widths and in a pipe."""

from __future__ import annotations

import pytest

from cflag_theory.cli.tables.page import Page

WORDS = "every word of a long remark stays whole " * 3
ROWS = [
    ("cflag.lemma13", "0.0962\n[0.0962, 0.0962]", "-1.2345678e-05", WORDS.strip()),
    ("ours.cfl_moments_on_the_run", "123456.789012", "12345678/87654321", "short"),
]


def test_columns_of_one_name_and_words_in_brackets_stay(capsys):
    Page().table(("m", "slope", "m"), [("0", "[-1, 0]", "0.5"), ("1", "[bold]", "0.25")])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [["m", "slope", "m"], ["0", "[-1,", "0]", "0.5"], ["1", "[bold]", "0.25"]]


@pytest.mark.parametrize("width", [60, 72, 80, 100, 130])
def test_a_terminal_splits_no_number_and_no_word(width, capsys):
    page = Page(force_terminal=True, width=width, color_system=None)
    page.say(f"  {WORDS}")
    page.table(("claim", "interval", "value", "remark"), ROWS)
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= width
    for row in ROWS:
        for cell in row[:3]:
            assert all(line in out for line in cell.splitlines())
    assert set(out.replace(":", "").replace(";", "").split()) == {
        *" ".join(" ".join(row) for row in ROWS).split(),
        *["claim", "interval", "value", "remark"],
    }
    # Where there is no room for columns, every row is a record that names them.
    assert (out.count("interval: ") == 2) == (width < 100)


def test_a_pipe_gets_lines_that_are_not_broken(capsys):
    page = Page(30)
    page.say(WORDS)
    page.table(("claim", "interval", "value", "remark"), ROWS)
    said, head, first, *_ = capsys.readouterr().out.splitlines()
    assert said == WORDS.rstrip()
    assert head.split() == ["claim", "interval", "value", "remark"]
    assert first.endswith(WORDS.strip())


def test_numbers_end_at_the_same_place(capsys):
    Page().table(("method", "seconds"), [("a", "1.5"), ("long name", "12.25")], numbers=True)
    lines = capsys.readouterr().out.splitlines()
    assert len(set(map(len, lines))) == 1
