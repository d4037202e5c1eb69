"""Of the hand-written theory only what a claim needs is compiled, and it says the same as when all of it is."""

from __future__ import annotations

import shutil

import pytest
from needs import needs_coq

from cflag_theory.claims.ledger import LEDGER
from cflag_theory.claims.pages.records import Record
from cflag_theory.claims.pages.text import PageError, lines
from cflag_theory.cli.shell import read_theory
from cflag_theory.verify import coq, theory

#: The files that state the rules for every inner-product space; the others are about the paper.
OF_RULES = ("Inner", "Operators", "Functions", "Sequences", "Steps", "Spaces")
BY_HAND = [path.stem for path in theory.files() if path.stem not in OF_RULES]


@pytest.mark.parametrize(
    ("id", "stems"),
    [
        ("cflag.eq22", ["Numbers", "Vectors", "Smoothness", "Algorithm1"]),
        ("cflag.lemma8", ["Numbers", "Vectors", "Smoothness", "Algorithm1", "Memory"]),
        # The requirements of Instances.v, which Sharp.v requires, stand on two lines.
        ("ours.drawn_once_rate", [stem for stem in BY_HAND if stem not in ("Memory", "Lines")]),
        ("cfl.lemB4", []),
    ],
)
def test_the_files_behind_a_claim(id, stems):
    assert [path.stem for path in theory.files_for(theory.names_for([id]))] == stems


def test_all_claims_together_need_all_files():
    assert [path.stem for path in theory.files_for(theory.names_for())] == BY_HAND
    behind_rules = {name for names in theory.rules().values() for name in names}
    assert theory.files_for({*theory.names_for(), *behind_rules}) == theory.files()
    assert theory.names_for(tuple(LEDGER)) == theory.names_for()


def test_a_claim_without_a_theorem_starts_no_coq(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: "/nowhere/coqc")
    monkeypatch.setattr(coq.subprocess, "run", None)
    assert read_theory("coq", ["cfl.lemB4", "cfl.lemA1"]) == {}


@needs_coq
def test_a_statement_alone_is_that_of_its_own_file():
    """`forgetting` is a name in two files: it is not told apart from one that is not needed."""
    seen = []
    found = theory.compile_theory(["cflag.eq15"], progress=seen.append)
    assert seen == ["Numbers.v", "Vectors.v", "Smoothness.v", "Algorithm1.v", "Descent.v", "Questions.v"]
    assert set(found) == {"Descent.eq15"}
    assert " forgetting P L alpha beta E order memory x (L / 2)" in found["Descent.eq15"].statement
    # Questions to a later file too, which has a `forgetting` of its own, change nothing.
    both = theory.compile_theory(["cflag.eq15", "ours.adaptive_clients"])
    assert both["Descent.eq15"] == found["Descent.eq15"]


@pytest.mark.parametrize(
    "said", ["4 Drift.lemma13", "lemma13", "1 sharper Drift.lemma13", "repair sharp Drift.lemma13"]
)
def test_a_line_that_names_no_part_or_theorem_is_refused(said, monkeypatch):
    (line,) = lines(f"coq {said}", "some.page")
    monkeypatch.setattr(theory, "records", lambda kind: (Record(line, "some", "cflag.lemma13"),))
    with pytest.raises(
        PageError, match=r"some.page, line 1, column 5: theorems are written 'coq part repair File.name'"
    ):
        theory.theorems.__wrapped__()
