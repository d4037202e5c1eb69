"""What the papers print, sentence by sentence: where it stands, and which rows of the ledger decide it.

`prints place | text -- remark` on a page has a sentence or formula of the paper. It stands under the claim or the part
that decides it, and names what else decides it, behind "by"; outside of claims it says why no row does. A formula is
printed as in the paper, in TeX between dollars.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from cflag_theory.claims.book import Book
from cflag_theory.claims.ledger import BOOK
from cflag_theory.claims.pages.records import Record, blocks, places, word
from cflag_theory.claims.pages.text import Piece, tex

#: Which versions of a paper print a line: the one that the ledger follows, the one of ICLR 2022, or both.
VERSIONS = ("both", "2022", "later")


@dataclass(frozen=True)
class Printed:
    """A sentence or formula of a paper.

    Attributes
    ----------
    paper, place : str
        The paper's name; section, and the number of the equation, lemma, table or line of an algorithm.
    version : str
        One of `VERSIONS`; the C-FLAG paper has one version, which is "both".
    rows : tuple of str
        The parts that decide it, such as "cflag.eq5.2".
    text : str
        What is printed, with formulas in TeX between dollars.
    remark : str
        What differs between the versions; where no row decides the line, why.
    claim : str
        That under which it stands on a page, if it stands under one.
    """

    paper: str
    place: str
    version: str
    rows: tuple[str, ...]
    text: str
    remark: str
    claim: str = ""


@cache
def printed(paper: str, book: Book = BOOK) -> tuple[Printed, ...]:
    """The lines of one paper in the order of the claims that decide them.

    Raises
    ------
    PageError
        A line has no text, or names no part of a claim.
    """
    return tuple(_printed(paper, one, book) for one in book.records("prints") if book.paper_of(one.module) == paper)


def _printed(paper: str, record: Record, book: Book) -> Printed:
    head, text = record.line.said.behind("prints").cut(" | ")
    if not text:
        raise record.line.error("what a paper prints is written 'prints place | text -- remark'")
    place, others = head.cut(" by ")
    rows = [_row(record, one, book) for one in others.listed(", ")]
    if record.part:
        rows.insert(0, f"{record.claim}.{record.part}")
    elif record.claim and not rows:
        parts = book.keys(record.claim)
        if len(parts) > 1:
            raise place.error(f"which parts of {record.claim} decide it? say 'by' and name them: {', '.join(parts)}")
        rows.append(f"{record.claim}.{parts[0]}")
    version = next((one for one in VERSIONS if place.endswith(f" ({one})")), "both")
    with record.line.placed():
        quoted = tex(text)
    return Printed(
        paper, place.removesuffix(f" ({version})"), version, tuple(rows), quoted, record.line.words, record.claim
    )


def _row(record: Record, named: Piece, book: Book) -> str:
    """A part of the claim, or of another, as the tables name it."""
    id, _, key = named.rpartition(".")
    if not id and not record.claim:
        raise named.error(f"{str(named)!r} stands outside of claims: name the claim and its part")
    id = book.known(named.part(0, len(id))) if id else record.claim
    if key not in (parts := book.keys(id)):
        raise named.error(f"{id} has no part {key!r}: use {', '.join(parts)}")
    return f"{id}.{key}"


def name(id: str, key: str) -> str:
    """A part as the tables name it: "cflag.eq16.step_size" for a key of two words."""
    return f"{id}.{word(key)}"


def of_part(id: str, key: str, book: Book = BOOK) -> tuple[Printed, ...]:
    """What a part of a row decides, as it is printed."""
    return tuple(one for one in printed(book.home(id), book) if name(id, key) in one.rows)


@dataclass(frozen=True)
class Head:
    """What the first line of a claim says: its id, the paper, the place in it, and a title."""

    id: str
    paper: str
    where: str
    title: str


def search(text: str = "") -> list[Head]:
    """The claims, in ledger order, of which the id, the place, the title or the printed lines hold all these words.

    Pages are read as text; no claim is built.
    """
    words = text.lower().split()
    return [one for one in heads() if all(word in _searched(one) for word in words)]


@cache
def heads() -> tuple[Head, ...]:
    """The first lines of all claims, in ledger order."""
    told = (blocks()[id].text.listed(" | ") for id in places())
    return tuple(
        Head(str(id), "ours" if id.startswith("ours.") else BOOK.home(id), str(where), str(title))
        for id, where, title in told
    )


@cache
def _searched(head: Head) -> str:
    all = printed(BOOK.home(head.id))
    lines = (line.text for line in all if any(row.rpartition(".")[0] == head.id for row in line.rows))
    return " ".join((head.id, head.paper, head.where, head.title, *lines)).lower()
