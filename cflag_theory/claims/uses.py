"""What rests on what: which claims a printed proof uses, and which ones the checked proofs use.

The first is read from the papers: `uses cflag.eq22, cflag.eq25 | place | words` under a claim of a page has the claims
that its printed proof uses, the place where the paper says so, and its words; words in brackets are ours. The second is
computed from the sources of the claims' facts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import cache

from cflag_theory.claims.book import Book
from cflag_theory.claims.engine.claim import Claim, Fact, Statement, statements
from cflag_theory.claims.engine.definitions import assumptions
from cflag_theory.claims.engine.examiner import examine, names_used
from cflag_theory.claims.ledger import BOOK

#: Kinds of arrows, and what an arrow from A to B means.
KINDS = {
    "printed": "the paper's proof or text of B uses A",
    "proof": "the checked proof of B, of its repair or of its sharper form uses what is proved of A",
    "granted": "the checked proof of B takes A as it is printed, unproved, as a hypothesis",
    "instead": "A is a theorem of ours to which the notes on B point",
}


def named(statement: Statement) -> set[str]:
    """The names of all that the steps of a proof rest on."""
    return {name for step in (statement.proof.steps if statement.proof else ()) for name in names_used(step)}


def without(statement: Statement, facts: Collection[Fact]) -> Statement:
    """The statement without some of its hypotheses and definitions."""
    given, defined = (tuple(f for f in of if f not in facts) for of in (statement.hypotheses, statement.definitions))
    return replace(statement, hypotheses=given, definitions=defined)


@cache
def idle(statement: Statement) -> tuple[Fact, ...]:
    """What a statement assumes although its proof is accepted without it."""
    unused = [fact for fact in assumptions(statement) if fact.name not in named(statement)]

    def spared(facts: list[Fact]) -> bool:
        return examine(without(statement, facts), second=False).accepted

    if statement.proof is None or not unused:
        return ()
    return tuple(unused) if spared(unused) else tuple(fact for fact in unused if spared([fact]))


def numbered(claim: Claim) -> bool:
    """Whether a claim is, or is about, a theorem with a number: readers are told which of its assumptions are idle."""
    return re.search(r"\bTheorems? \d", claim.where) is not None


@dataclass(frozen=True, order=True)
class Arrow:
    """One claim uses another."""

    #: Ids of claims.
    user: str
    used: str
    #: A key of `KINDS`.
    kind: str
    #: Where the paper says so and what it says; of a checked proof, which statements use which.
    place: str = ""
    words: str = ""


@cache
def printed_uses(paper: str, book: Book = BOOK) -> tuple[Arrow, ...]:
    """What the printed proofs of one paper use, in the order of the claims.

    Raises
    ------
    PageError
        A line without place or words, or that names no claim.
    """
    found = []
    for record in book.records("uses"):
        if book.paper_of(record.module) == paper:
            ids, rest = record.text.cut(" | ")
            place, words = rest.cut(" | ")
            if not words:
                raise record.line.error("what a proof uses is written 'uses claim, claim | place | words'")
            found += [Arrow(record.claim, book.known(id), "printed", place, words) for id in ids.listed(", ")]
    return tuple(found)


def proof_uses(id: str, book: Book = BOOK) -> tuple[Arrow, ...]:
    """What the checked statements of a claim import from other claims; refutations are left out."""
    found: dict[tuple[str, str], list[str]] = {}
    for part in book.claim(id).parts:
        for on, statement in statements(part).items():
            for source in (source for fact in statement.facts for source in fact.sources if source.claim != id):
                words = f"{part.key}, {on}: {source.claim} part {source.part}, {source.on}"
                found.setdefault((source.claim, "granted" if source.granted else "proof"), []).append(words)
    return tuple(Arrow(id, used, kind, words="; ".join(dict.fromkeys(all))) for (used, kind), all in found.items())


@cache
def arrows(paper: str, book: Book = BOOK) -> tuple[Arrow, ...]:
    """All arrows between the claims of one paper and the theorems of ours that its notes point to or its proofs use.

    Parameters
    ----------
    paper : str
        One of `book.papers`.
    book : Book
        The ledger, or the pages of a stranger.
    """
    own = book.own(paper)
    instead = [Arrow(id, one, "instead") for id in own for one in book.instead(id)]
    found = [*printed_uses(paper, book), *instead]
    # A theorem of ours comes in with the first arrow that leads to it, and brings what its own proof uses.
    waiting, seen = [*own, *(arrow.used for arrow in instead)], set()
    while waiting:
        id = waiting.pop(0)
        if id not in seen:
            seen.add(id)
            found += (more := proof_uses(id, book))
            waiting += [arrow.used for arrow in more]
    return tuple(found)


def stated(among: Iterable[Arrow], book: Book = BOOK) -> list[Arrow]:
    """The arrows that the paper has itself: on the pages of a stranger the proofs are its own."""
    return [one for one in among if one.kind == "printed" or (one.kind in ("proof", "granted") and not book.of_ledger)]


def ids(paper: str, book: Book = BOOK) -> tuple[str, ...]:
    """The claims of a paper in its order, then the theorems of ours among its arrows."""
    met = {one for arrow in arrows(paper, book) for one in (arrow.user, arrow.used)}
    own = book.own(paper)
    return (*own, *(id for id in book.places() if id.startswith("ours.") and id in met))


def behind(start: str, among: Iterable[Arrow]) -> list[str]:
    """What a claim rests on, directly or not, nearest first."""
    return _reached(start, among, lambda arrow: (arrow.user, arrow.used))


def beyond(start: str, among: Iterable[Arrow]) -> list[str]:
    """What rests on a claim, directly or not, nearest first."""
    return _reached(start, among, lambda arrow: (arrow.used, arrow.user))


def _reached(start: str, among: Iterable[Arrow], ends: Callable[[Arrow], tuple[str, str]]) -> list[str]:
    following: dict[str, list[str]] = {}
    for first, second in map(ends, among):
        following.setdefault(first, []).append(second)
    found = [start]
    for id in found:
        found += dict.fromkeys(one for one in following.get(id, ()) if one not in found)
    return found[1:]


def without_shortcuts(among: Collection[Arrow]) -> list[Arrow]:
    """The arrows between claims that no path replaces: of a printed use, a path of printed uses; of others, any."""
    uses = [arrow for arrow in among if arrow.kind != "instead"]
    printed = [arrow for arrow in uses if arrow.kind == "printed"]
    return [arrow for arrow in uses if not _shortcut(arrow, printed if arrow in printed else uses)]


def _shortcut(arrow: Arrow, among: Iterable[Arrow]) -> bool:
    others = [other for other in among if (other.user, other.used) != (arrow.user, arrow.used)]
    return arrow.used in behind(arrow.user, others)


def one_each(among: Iterable[Arrow]) -> dict[tuple[str, str], list[Arrow]]:
    """Arrows by (used, user): a printed use and a use of a checked proof may join the same two claims."""
    found: dict[tuple[str, str], list[Arrow]] = {}
    for arrow in among:
        found.setdefault((arrow.used, arrow.user), []).append(arrow)
    return found
