"""Which false claims a paper builds on, what falls with them, and what stands again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cflag_theory.claims.book import Book
from cflag_theory.claims.ledger import BOOK
from cflag_theory.claims.uses import Arrow, arrows, behind, beyond, ids, stated

#: What became of a claim whose printed proof uses a false one, from best to worst.
FATES = {
    "proved": "true as printed, by another proof",
    "repaired": "true with the repair that is named, by another proof",
    "ours": "false too, and replaced by a theorem of ours",
    "given": "proved only if the false claim is taken as it is printed",
    "lost": "false or open, with nothing proved in its place",
    "stated": "not a claim: an assumption or a question",
}
#: Fates that the sentence counts together, with its words for one claim, for more, and before a list of results.
_COUNTED = (
    (("proved", "repaired"), "is saved by another proof", "are saved by other proofs", "these are saved"),
    (("ours",), "is replaced by a theorem of ours", "are replaced by theorems of ours", "these are replaced"),
    (
        ("given",),
        "is proved only if what is false is taken as printed",
        "are proved only if what is false is taken as printed",
        "these are proved only if what is false is taken as printed",
    ),
    (("lost",), "has nothing in its place", "have nothing in their place", "these have nothing in their place"),
)
_PROVED = {"holds": "proved", "loose": "proved", "typo": "repaired", "needs-hypothesis": "repaired"}


@dataclass(frozen=True)
class Break:
    """A false claim and what the paper builds on it."""

    #: The id of the false claim.
    claim: str
    #: Every claim whose printed proof uses it, directly or not, in the paper's order, with a key of `FATES`.
    fates: Mapping[str, str]
    #: Proved theorems of ours to which the notes on the false claim point.
    instead: tuple[str, ...]

    def with_fate(self, *fates: str) -> list[str]:
        """The claims with one of these fates."""
        return [id for id, fate in self.fates.items() if fate in fates]


def stand_ins(id: str, labels: Mapping[str, str], book: Book = BOOK) -> tuple[str, ...]:
    """The theorems of ours to which the notes on a claim point, those that hold."""
    return tuple(one for one in book.instead(id) if labels.get(one) in ("holds", "loose"))


def breaks(paper: str, labels: Mapping[str, str], book: Book = BOOK) -> list[Break]:
    """The false claims of a paper of a `book`, in its order. What has no verdict in `labels` is taken for open."""
    among = arrows(paper, book)
    printed = stated(among, book)
    found = []
    for id in ids(paper, book):
        if labels.get(id) == "false":
            fallen = set(beyond(id, printed))
            fates = {one: fate(one, id, among, labels, book) for one in ids(paper, book) if one in fallen}
            found.append(Break(id, fates, stand_ins(id, labels, book)))
    return found


def roots(found: Iterable[Break]) -> list[Break]:
    """The breaks on which something rests and which rest on no other one."""
    found = list(found)
    return [one for one in found if one.fates and not any(one.claim in other.fates for other in found)]


def fate(id: str, broken: str, among: Iterable[Arrow], labels: Mapping[str, str], book: Book = BOOK) -> str:
    """What became of a claim whose printed proof uses a broken one: a key of `FATES`."""
    label = labels.get(id, "open")
    if label in ("assumption", "question"):
        return "stated"
    if label not in _PROVED:
        return "ours" if stand_ins(id, labels, book) else "lost"
    checked = [arrow for arrow in among if arrow.kind in ("proof", "granted")]
    taken = {arrow.used for arrow in checked if arrow.kind == "granted" and arrow.user in {id, *behind(id, checked)}}
    return "given" if broken in taken else _PROVED[label]


def worst_fates(found: Iterable[Break]) -> dict[str, str]:
    """What became of every claim that rests on a false one, and of one that rests on several the worst."""
    worst: dict[str, str] = {}
    order = list(FATES)
    for one in found:
        for id, became in one.fates.items():
            worst[id] = max(worst.get(id, became), became, key=order.index)
    return worst


def result_name(id: str, book: Book = BOOK) -> str:
    """How the paper names the result that a claim is, such as "Lemma 3, (11)"; empty for a line or a remark."""
    where = book.claim(id).where
    names = re.findall(
        r"(?:Theorem|Lemma|Corollary|Proposition) (?:[A-Z]\.)?\d+(?:\.\d+)?", where.partition("after ")[0]
    )
    return where if names and where.startswith(names[0]) and len(where) < 20 else " and ".join(names)


def sentence(paper: str, labels: Mapping[str, str], book: Book = BOOK) -> str:
    """The breaks of one paper in words, computed from the arrows and the verdicts: counts, then the named results."""
    found = breaks(paper, labels, book)
    worst = worst_fates(found)
    fallen = {id: worst[id] for id in ids(paper, book) if worst.get(id, "stated") != "stated"}
    if not fallen:
        return f"{paper}: no claim rests on one that is false."
    counted, named = [], []
    for fates, singular, plural, short in _COUNTED:
        chosen = [id for id, fate in fallen.items() if fate in fates]
        if chosen:
            counted.append(f"{len(chosen)} {singular if len(chosen) == 1 else plural}")
        # One theorem may be several claims: a rate for each class of functions.
        results: dict[str, list[str]] = {}
        for id in chosen:
            if called := result_name(id, book):
                results.setdefault(called, []).extend(stand_ins(id, labels, book) if "ours" in fates else ())
        if results:
            names = [f"{name} ({', '.join(dict.fromkeys(by))})" if by else name for name, by in results.items()]
            named.append(f"{short}: {', '.join(names)}")
    bases = sum(bool(set(one.fates) & set(fallen)) for one in found)
    resting = "1 claim rests" if len(fallen) == 1 else f"{len(fallen)} claims rest"
    false = "1 that is false" if bases == 1 else f"{bases} that are false"
    counts = f"{paper}: {resting} on {false} in some part. Of these, {'; '.join(counted)}."
    return f"{counts} Of the numbered results, {'; '.join(named)}." if named else counts
