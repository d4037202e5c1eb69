"""docs/paper.md: its pages are read and examined, and its commands print what stands there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.finding.hints import hints
from cflag_theory.claims.pages.folder import read_folder
from cflag_theory.claims.pages.text import bare

TEXT = (Path(__file__).parents[1] / "docs/paper.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```text\n(.*?)```", TEXT, flags=re.DOTALL)


def versions():
    """The page lemma.page as it grows, each with the output of the command behind it, and drift.page."""
    found, page = [], ""
    for block in BLOCKS:
        if block.startswith("$ "):
            found.append((page, block))
        elif block.startswith("claim "):
            page = page[: page.index("claim ")] + block
        elif not block.startswith("# drift.page"):
            page = block
    return found, next(block for block in BLOCKS if block.startswith("# drift.page"))


PAGES, DRIFT = versions()


def claims(place, text):
    (place / "lemma.page").write_text(text, encoding="utf-8")
    return read_folder(place / "lemma.page").claims.values()


def test_the_lemma_is_said_refused_proved_and_repaired(tmp_path):
    parts = [part for text, _ in PAGES for one in claims(tmp_path, text) for part in one.parts]
    said, lacking, proved, repaired = parts
    assert said.printed.proof is None
    assert not examine(lacking.printed).accepted
    assert bare(hints(lacking.printed)[0]) in PAGES[1][1]
    assert examine(proved.printed).accepted
    assert repaired.printed.relation is not None
    assert examine(repaired.repair.statement).accepted


def test_the_page_with_clients_is_proved(tmp_path):
    parts = [part for one in claims(tmp_path, DRIFT) for part in one.parts]
    assert [examine(part.printed).faults for part in parts] == [(), ()]


def masked(output):
    """Lines without the numbers of instances, which depend on how fast they are drawn."""
    return [re.sub(r"(property: ).*", r"\1", line) for line in output.splitlines()]


@pytest.mark.full
@pytest.mark.parametrize(("text", "shown"), PAGES, ids=["said", "refused", "proved", "repaired"])
def test_the_command_prints_what_stands_there(text, shown, cflag, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lemma.page").write_text(text, encoding="utf-8")
    command, _, output = shown.partition("\n")
    code, out, err = cflag(*shlex.split(command.removeprefix("$ cflag ")))
    assert code == 0, err
    assert masked(out) == masked(output)
