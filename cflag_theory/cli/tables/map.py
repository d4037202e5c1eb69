"""How claims depend on each other, as text: a tree around one claim, or the claims that depend on false ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from cflag_theory.claims.ledger import claim
from cflag_theory.claims.uses import Arrow
from cflag_theory.cli.tables.page import Page
from cflag_theory.verify.resting import FATES, breaks, roots, sentence, stand_ins


def tree(start: str, paper: str, among: Collection[Arrow], labels: Mapping[str, str]) -> None:
    """One claim, the claims that it uses and those that use it, indented."""
    console = Page()
    console.say(_named(start, labels), style="bold")
    for title, ends in (
        ("It uses", lambda arrow: (arrow.user, arrow.used)),
        ("Used by", lambda arrow: (arrow.used, arrow.user)),
    ):
        console.say("")
        console.say(f"{title}:", style="bold")
        if not _branch(console, start, among, labels, ends, 1, {start}):
            console.say("  nothing")
    console.say("")
    found = [one for one in breaks(paper, labels) if start in one.fates]
    if found:
        console.say(
            f"Its printed proof uses claims that are false in some part: {', '.join(one.claim for one in found)}."
        )
    for words in dict.fromkeys(FATES[one.fates[start]] for one in found):
        console.say(f"{start} is {words}.")
    if others := stand_ins(start, labels):
        console.say(f"Its notes point to theorems of ours: {', '.join(others)}.")


def _branch(
    console: Page,
    id: str,
    among: Collection[Arrow],
    labels: Mapping[str, str],
    ends: Callable[[Arrow], tuple[str, str]],
    depth: int,
    told: set[str],
) -> bool:
    near: dict[str, Arrow] = {}
    for arrow in among:
        here, there = ends(arrow)
        if here == id:
            near.setdefault(there, arrow)
    for other, arrow in near.items():
        known = other in told
        told.add(other)
        said = f"{arrow.place}: {arrow.words}" if arrow.kind == "printed" else _kind(arrow)
        console.say(f"{'  ' * depth}{_named(other, labels)}{', see above' if known else ''}  ({said})")
        if not known:
            _branch(console, other, among, labels, ends, depth + 1, told)
    return bool(near)


def _kind(arrow: Arrow) -> str:
    return "taken as printed" if arrow.kind == "granted" else "our proof"


def _named(id: str, labels: Mapping[str, str]) -> str:
    return f"{id} [{labels.get(id, 'open')}] {claim(id).where}: {claim(id).title}"


def falls(paper: str, labels: Mapping[str, str]) -> None:
    """The claims of a paper that depend on false ones, and whether they hold."""
    console = Page()
    console.say(sentence(paper, labels))
    for one in roots(breaks(paper, labels)):
        console.say("")
        console.say(_named(one.claim, labels), style="bold")
        if one.instead:
            console.say(f"  replaced by: {', '.join(one.instead)}")
        for fate, words in FATES.items():
            if ids := one.with_fate(fate):
                names = [f"{id} ({', '.join(stand_ins(id, labels))})" if fate == "ours" else id for id in ids]
                console.say(f"  {words}: {', '.join(names)}")
    console.say("")
    console.say("cflag map CLAIM prints the claims around one; --out map.svg draws all")
