"""How claims depend on each other, as text: a tree around one claim, or the claims that depend on false ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from cflag_theory.claims.book import Book
from cflag_theory.claims.ledger import BOOK
from cflag_theory.claims.uses import Arrow
from cflag_theory.cli.tables.page import Page
from cflag_theory.verify.resting import FATES, breaks, roots, sentence, stand_ins

#: How far a tree goes without details.
DEPTH = 2


def tree(
    start: str,
    paper: str,
    among: Collection[Arrow],
    labels: Mapping[str, str],
    book: Book = BOOK,
    *,
    details: bool = False,
) -> None:
    """One claim and whether it rests on what is false; then the claims that it uses and those that use it, indented."""
    console = Page()
    console.say(_named(start, labels, book), style="bold")
    found = [one for one in breaks(paper, labels, book) if start in one.fates]
    if found:
        console.say(
            f"Its printed proof uses claims that are false in some part: {', '.join(one.claim for one in found)}."
        )
    for words in dict.fromkeys(FATES[one.fates[start]] for one in found):
        console.say(f"{start} is {words}.")
    if others := stand_ins(start, labels, book):
        console.say(f"Its notes point to theorems of ours: {', '.join(others)}.")
    cut = False
    for title, ends in (
        ("It uses", lambda arrow: (arrow.user, arrow.used)),
        ("Used by", lambda arrow: (arrow.used, arrow.user)),
    ):
        console.say("")
        console.say(f"{title}:", style="bold")
        lines = [*_branch(start, among, labels, ends, 1, {start}, book)]
        shown = [line for depth, line in lines if details or depth <= DEPTH]
        for line in shown or ["  nothing"]:
            console.say(line)
        cut = cut or len(shown) < len(lines)
    if cut:
        console.say("\nWhat these rest on in turn: --details.")


def _branch(
    id: str,
    among: Collection[Arrow],
    labels: Mapping[str, str],
    ends: Callable[[Arrow], tuple[str, str]],
    depth: int,
    told: set[str],
    book: Book,
) -> Iterator[tuple[int, str]]:
    near: dict[str, Arrow] = {}
    for arrow in among:
        here, there = ends(arrow)
        if here == id:
            near.setdefault(there, arrow)
    for other, arrow in near.items():
        known = other in told
        told.add(other)
        said = f"{arrow.place}: {arrow.words}" if arrow.kind == "printed" else _kind(arrow, book)
        yield depth, f"{'  ' * depth}{_named(other, labels, book)}{', see above' if known else ''}  ({said})"
        if not known:
            yield from _branch(other, among, labels, ends, depth + 1, told, book)


def _kind(arrow: Arrow, book: Book) -> str:
    return "taken as printed" if arrow.kind == "granted" else "our proof" if book.of_ledger else "its proof"


def _named(id: str, labels: Mapping[str, str], book: Book) -> str:
    return f"{id} [{labels.get(id, 'open')}] {book.claim(id).where}: {book.claim(id).title}"


def falls(paper: str, labels: Mapping[str, str], book: Book = BOOK) -> None:
    """The claims of a paper that depend on false ones, and whether they hold."""
    console = Page()
    console.say(sentence(paper, labels, book))
    for one in roots(breaks(paper, labels, book)):
        console.say("")
        console.say(_named(one.claim, labels, book), style="bold")
        if one.instead:
            console.say(f"  replaced by: {', '.join(one.instead)}")
        for fate, words in FATES.items():
            if ids := one.with_fate(fate):
                names = [f"{id} ({', '.join(stand_ins(id, labels, book))})" if fate == "ours" else id for id in ids]
                console.say(f"  {words}: {', '.join(names)}")
    console.say("")
    first = "" if book.of_ledger else "FOLDER-OR-PAGE "
    console.say(f"cflag map {first}CLAIM prints the claims around one; --out map.svg draws all")
