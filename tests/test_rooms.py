"""How large the rooms of the house are: one grows only if another shrinks, with the reason beside its number."""

from __future__ import annotations

from pathlib import Path

import pytest

import cflag_theory

PACKAGE = Path(cflag_theory.__file__).parent
#: Lines of Python and pages, at most.
ROOMS = {
    # One place says how settings, sweeps, runs and results are read; `bridge` and `studies` lost what they had of it.
    "": 844,
    "bridge": 10692,
    # Folders of pages by others are read here too; a page is refused where a reader would see something else. Ledger
    # and folder are both a book, which maps, reports and errata take.
    "claims": 22689,
    # Reports, maps and errata on pages of others; only MathML comes into a report, whose first page is a summary.
    # `stepsize` answers before it lists; four commands on one file are one. Answers come first, the rest is behind
    # --details, and four commands share the data options; `figures` and `studies` shrank for it.
    "cli": 7231,
    "conform": 2365,
    # The range of an index of which a statement does not speak is no hypothesis on instances.
    "falsify": 8558,
    "figures": 1829,
    # Versions that compute stand beside the hash of sources that they are made of. Tables are read as statistics
    # packages write them. A round on a GPU is one graph.
    "kernels": 15124,
    # Users' Python runs behind a wall, where it may end, hang or change Python: claims, implementations, plug-ins.
    "outside": 500,
    # Which step sizes are safe is an answer of its own, with the bound that is then proved.
    "studies": 10595,
    "testing": 451,
    # What rests on a claim of a page that is not proved is not proved. A first look comes before z3 and all instances.
    # A process keeps what it has computed of a claim.
    "verify": 11967,
}


def files(room):
    inside = PACKAGE.glob("*.*") if not room else (PACKAGE / room).rglob("*.*")
    return [path for path in inside if path.suffix in (".py", ".page")]


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_does_not_grow(room):
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files(room)) <= ROOMS[room]


def test_every_folder_is_a_room():
    folders = {path.parent.relative_to(PACKAGE).parts[:1] for path in PACKAGE.rglob("*.py")}
    assert {next(iter(parts), "") for parts in folders} == {*ROOMS}


def test_lines_are_not_longer_instead():
    """Characters count too, since lines can be made longer."""
    assert sum(len(path.read_text(encoding="utf-8")) for room in ROOMS for path in files(room)) <= 4240161
