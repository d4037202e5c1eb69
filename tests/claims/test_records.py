"""What pages say beside mathematics: read as text, in paper order; what is misspelt ends with its place."""

from __future__ import annotations

import pytest

from cflag_theory.claims import glossary, headlines, printed, uses
from cflag_theory.claims.pages import records
from cflag_theory.claims.pages.page import Page
from cflag_theory.claims.pages.text import PageError

FIRST = """
claim cflag.a | (1) | A claim
    say 0 <= 1
    prints Sec. 2, (1) | $a | b$ -- As (3) has
        it.
    headline it holds
    letter C for cflag.c -- the data
prints Sec. 2 (2022) | Words. -- Motivation.
claim cflag.b | (3) | Another
    after cflag.c
    prints Sec. 1 by 1, cflag.a.1 | Both.
    part 1
        prints (3) | One.
        say 0 <= 1
    part step size
        prints (4) by 1 | Two.
        say 0 <= 1
    uses cflag.a, cflag.c | proof | [the sum]
letter L -- a constant
"""
#: A module in Python has its records on a page, where claims are bare.
SECOND = """
claim cflag.c
    after cflag.a
    prints (2) | Three.
claim ours.d
"""
CACHES = (
    records.pages,
    records.blocks,
    records.places,
    records.keys,
    records._records,
    printed.printed,
    uses.printed_uses,
    headlines.headlines,
    glossary.glossary,
)


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Pages in a folder of their own, in place of those of the ledger."""
    (tmp_path / "c_flag").mkdir()
    monkeypatch.setattr(records, "ROOT", tmp_path)

    def written(first=FIRST, second=SECOND):
        (tmp_path / "c_flag" / "first.page").write_text(first, encoding="utf-8")
        (tmp_path / "c_flag" / "second.page").write_text(second, encoding="utf-8")
        for one in CACHES:
            one.cache_clear()

    yield written
    for one in CACHES:
        one.cache_clear()


def test_the_order_is_that_of_the_pages_where_a_claim_says_no_other(read):
    read()
    assert dict(records.places()) == {
        "cflag.a": "c_flag.first",
        "cflag.c": "c_flag.second",
        "cflag.b": "c_flag.first",
        "ours.d": "c_flag.second",
    }
    assert list(records.places()) == ["cflag.a", "cflag.c", "cflag.b", "ours.d"]


def test_what_is_printed_stands_under_what_decides_it(read):
    read()
    assert [(one.place, one.version, one.rows, one.text, one.remark) for one in printed.printed("C-FLAG")] == [
        ("Sec. 2, (1)", "both", ("cflag.a.1",), "$a | b$", "As (3) has it."),
        ("Sec. 2", "2022", (), "Words.", "Motivation."),
        ("(2)", "both", ("cflag.c.1",), "Three.", ""),
        ("Sec. 1", "both", ("cflag.b.1", "cflag.a.1"), "Both.", ""),
        ("(3)", "both", ("cflag.b.1",), "One.", ""),
        ("(4)", "both", ("cflag.b.step_size", "cflag.b.1"), "Two.", ""),
    ]
    assert printed.printed("CFL") == ()


def test_uses_headlines_and_letters(read):
    read()
    assert [(one.user, one.used, one.place, one.words) for one in uses.printed_uses("C-FLAG")] == [
        ("cflag.b", "cflag.a", "proof", "[the sum]"),
        ("cflag.b", "cflag.c", "proof", "[the sum]"),
    ]
    assert headlines.headlines() == (("cflag.a", "it holds"),)
    assert glossary.glossary() == {
        ("cflag.a", "C"): "the data",
        ("cflag.c", "C"): "the data",
        ("C-FLAG", "L"): "a constant",
    }


def test_the_page_takes_these_lines():
    assert list(Page(FIRST, words={"a": 1}).claims) == ["cflag.a", "cflag.b"]


def everything():
    records.places()
    printed.printed("C-FLAG")
    uses.printed_uses("C-FLAG")
    headlines.headlines()
    glossary.glossary()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("after cflag.c", "after cflag.d", "line 10, column 11: no claim is called 'cflag.d': did you mean"),
        ("after cflag.c", "after cflag.b", "line 9, column 1: claims come after each other: cflag.b"),
        ("after cflag.c", "after cflag.a", "both come after cflag.a: say after which claim"),
        ("    after cflag.a\n", "", "first.page|second.page.*both come first: say after which claim"),
        ("claim ours.d", "claim cflag.a", "line 5, column 1: the claim cflag.a stands on the page of c_flag.first too"),
        ("cflag.a.1 |", "cflag.e.1 |", "line 11, column 25: no claim is called 'cflag.e': did you mean"),
        ("by 1, ", "by 2, ", "line 11, column 22: cflag.b has no part '2': use 1, step_size"),
        (
            " by 1, cflag.a.1",
            "",
            "line 11, column 12: which parts of cflag.b decide it",
        ),
        ("Sec. 2 (2022)", "Sec. 2 by 1", "line 8, column 18: '1' stands outside of claims"),
        ("(3) | One.", "(3) One.", "line 13, column 9: what a paper prints is written 'prints place | text -- remark'"),
        ("cflag.a, cflag.c |", "cflag.a, cflg.c |", "line 18, column 19: no claim is called 'cflg.c': did you mean"),
        ("| proof |", "proof |", "line 18, column 5: what a proof uses is written"),
        ("letter L -- a constant", "letter L", "line 19, column 1: a letter is written 'letter L -- meaning'"),
        ("for cflag.c", "for cflag.x", "line 7, column 18: no claim is called 'cflag.x'"),
        ("for cflag.c", "for cflag.a", "line 7, column 12: 'C' has two meanings for cflag.a"),
    ],
)
def test_what_is_wrong_ends_with_its_place(read, old, new, message):
    assert old in FIRST + SECOND
    read(FIRST.replace(old, new), SECOND.replace(old, new))
    with pytest.raises(PageError, match=message):
        everything()
