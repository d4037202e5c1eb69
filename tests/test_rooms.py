"""How large the rooms of the house are: one grows only if another shrinks, with the reason beside its number."""

from __future__ import annotations

from pathlib import Path

import pytest

import cflag_theory

PACKAGE = Path(cflag_theory.__file__).parent
#: Lines of Python and pages, at most.
ROOMS = {
    "": 785,
    # What modules that are joined now said of themselves stands with their classes.
    "bridge": 10955,
    # Instances stand on the pages, and not in `verify`; folders of pages by others, and what a failing step lacks, are
    # read here too; imports identify a run's vectors with a round's.
    "claims": 25297,
    "cli": 6726,
    "conform": 2400,
    # A statement of a page as a conjecture; sequences and numbers that equations give.
    "falsify": 8996,
    "figures": 1975,
    "kernels": 14562,
    "studies": 10919,
    "testing": 451,
    "verify": 11836,
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
    assert sum(len(path.read_text(encoding="utf-8")) for room in ROOMS for path in files(room)) <= 4_303_338
