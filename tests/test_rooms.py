"""How large the rooms of the house are: one grows only if another shrinks, with the reason beside its number."""

from __future__ import annotations

from pathlib import Path

import pytest

import cflag_theory

PACKAGE = Path(cflag_theory.__file__).parent
#: Lines of Python and pages, at most.
ROOMS = {
    # One place says how all that users name is opened, read and checked for its form; what must be private is so there.
    # What public functions take is checked by their annotations, in `public`, and no longer by each of them.
    "": 1407,
    "bridge": 9871,
    # Folders of pages by others are read here too; a page is refused where a reader would see something else. Ledger
    # and folder are both a book, which maps, reports and errata take.
    "claims": 23203,
    # Reports, maps and errata on pages of others; only MathML comes into a report, whose first page is a summary.
    # `stepsize` answers before it lists; four commands on one file are one. Answers come first, the rest is behind
    # --details, and four commands share the data options; `figures` and `studies` shrank for it.
    "cli": 7459,
    # An implementation in a file runs in a process of its own.
    "conform": 2360,
    # A claim's functions stay in the process of their file. Squares are found by semidefinite programs, not listed.
    # Claims about T rounds, draws of K of N, means of means; repairs read off programs; audits; proofs as chains.
    "falsify": 12420,
    # Text that users bring is escaped in every picture, and what is drawn has a form. Regions of sharp steps.
    "figures": 2036,
    # Versions that compute stand beside the hash of sources that they are made of. Tables are read as statistics
    # packages write them. A round on a GPU is one graph.
    "kernels": 15315,
    # Users' Python runs behind a wall, where it may end, hang or change Python: claims, implementations, plug-ins.
    "outside": 539,
    # Which step sizes are safe is an answer of its own, with the bound that is then proved, beside exact worst cases
    # and published bounds.
    "studies": 10698,
    "testing": 432,
    # What rests on a claim of a page that is not proved is not proved. A first look comes before z3 and all instances.
    # A process keeps what it has computed of a claim. Worst cases have a room of their own.
    "verify": 10229,
    # Exact worst cases for every number of clients, instead of performance estimation for few: one loop of rounds for
    # all rows that are linear in gradients, for users' own, and for draws of clients; largest and best steps.
    "worstcase": 3474,
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
    assert sum(len(path.read_text(encoding="utf-8")) for room in ROOMS for path in files(room)) <= 4632454
