"""The table of what a paper prints: nothing of the paper's numbering and no part of the ledger is left out."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from cflag_theory.claims.ledger import LEDGER, PAPERS, claim
from cflag_theory.claims.printed import name, of_part, printed

EQUATION = "equation"
#: What a paper numbers, by the name that stands before the number; equations have theirs in parentheses.
NUMBERING = {
    "C-FLAG": {
        EQUATION: "1-200",
        "Assumption": "1-6",
        "Lemma": "1 3-4 6-13 15-16 18",
        "Theorem": "2 5",
        "Corollary": "14 17",
        "Table": "1-8",
        "Figure": "1-7",
        "Algorithm": "1-3",
    },
    "CFL": {
        EQUATION: "1-5 7-34",
        "Definition": "3.1",
        "Assumption": "1-7",
        "Theorem": "4.1 4.4 4.7 4.9 B.5 B.6 B.8",
        "Proposition": "4.3",
        "Lemma": "A.1 A.2 A.3 A.4 A.5 A.6 B.1 B.2 B.3 B.4 B.7 B.9 B.10",
        "Remark": "3.2 3.3 4.2 4.5 4.6 4.8",
        "Example": "1",
        "Table": "1-9",
        "Figure": "1-7",
        "Algorithm": "1-6",
    },
}
_NAMED = re.compile(r"([A-Z][a-z]+) ((?:[A-Z]\.)?\d+(?:\.\d+)*)")
_EQUATIONS = re.compile(r"\((\d+)\)(?:-\((\d+)\))?")


def numbers(text: str) -> list[str]:
    """What a text lists: 1, 2, 3 and 5 for "1-3 5"; a name such as B.4 stands for itself."""
    found: list[str] = []
    for one in text.split():
        first, _, last = one.partition("-")
        found += map(str, range(int(first), int(last) + 1)) if last else [one]
    return found


def covered(place: str) -> set[tuple[str, str]]:
    """What a place names: "Corollary 14, (128)-(130)" names the corollary and three equations."""
    found = set(_NAMED.findall(place))
    for first, last in _EQUATIONS.findall(place):
        found |= {(EQUATION, number) for number in numbers(f"{first}-{last or first}")}
    return found


def test_what_a_place_names():
    assert numbers("1 3-5 B.4") == ["1", "3", "4", "5", "B.4"]
    three = {(EQUATION, "128"), (EQUATION, "129"), (EQUATION, "130")}
    assert covered("Corollary 14, (128)-(130)") == three | {("Corollary", "14")}
    assert covered("Algorithm 3, line 8") == {("Algorithm", "3")}
    assert covered("Lemma B.10, (5)") == {("Lemma", "B.10"), (EQUATION, "5")}
    assert covered("Sec. 3, text") == set()


@pytest.mark.parametrize("paper", NUMBERING)
def test_every_number_of_a_paper_is_covered(paper):
    found = set().union(*(covered(line.place) for line in printed(paper)))
    wanted = {(kind, number) for kind, text in NUMBERING[paper].items() for number in numbers(text)}
    assert not wanted - found
    assert not {one for one in found - wanted if one[0] in NUMBERING[paper]}


@pytest.mark.parametrize("paper", NUMBERING)
def test_every_part_of_a_paper_is_named_and_every_name_is_a_part(paper):
    ids = [id for id in LEDGER if claim(id).paper == paper]
    parts = {name(id, part.key) for id in ids for part in claim(id).parts}
    named = {row for line in printed(paper) for row in line.rows}
    assert sorted(parts - named) == []
    assert sorted(named - parts) == []


@pytest.mark.parametrize("paper", NUMBERING)
def test_a_line_without_rows_says_why(paper):
    for line in printed(paper):
        assert line.place
        assert line.text, line.place
        assert line.rows or line.remark, line
        assert "$" not in line.remark, "a remark is plain text"
        assert len(set(line.rows)) == len(line.rows), line
        assert all(field == field.strip() for field in (line.place, line.text, line.remark)), line


@pytest.mark.parametrize("paper", NUMBERING)
def test_no_line_is_there_twice(paper):
    counts = Counter((line.version, line.place, line.text) for line in printed(paper))
    assert [line for line, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("paper", NUMBERING)
def test_formulas_are_closed_and_in_tex(paper):
    for line in printed(paper):
        assert line.text.count("$") % 2 == 0, line
        for formula in line.text.split("$")[1::2]:
            depth = 0
            for brace in re.findall(r"(?<!\\)[{}]", formula):
                depth += 1 if brace == "{" else -1
                assert depth >= 0, formula
            assert depth == 0, formula


@pytest.mark.parametrize("paper", NUMBERING)
def test_the_lines_of_a_part_are_in_the_order_of_the_equations(paper):
    """Of the version that the ledger follows: under one claim, the equations that the places name do not go back."""
    last: dict[tuple[str, str], int] = {}
    for line in printed(paper):
        own = [int(number) for kind, number in covered(line.place) if kind == EQUATION]
        for row in line.rows if line.version != "2022" and own else ():
            assert min(own) >= last.get((row, line.claim), 0), (row, line)
            last[row, line.claim] = min(own)


def test_the_lines_of_a_part():
    lines = of_part("cflag.lemma13", "1")
    assert any("Lemma 13" in line.place for line in lines)
    assert of_part("ours.drawn_once", "1") == ()


def test_all_papers_are_numbered():
    assert set(NUMBERING) <= set(PAPERS)
