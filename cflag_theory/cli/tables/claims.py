"""Verdicts as tables for people, and how claims depend on each other, as text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from rich.text import Text

from cflag_theory.claims.book import Book
from cflag_theory.claims.engine.claim import MEANINGS, statements
from cflag_theory.claims.ledger import BOOK
from cflag_theory.claims.uses import Arrow, idle, numbered
from cflag_theory.cli.errata import WRONG, Found, counted
from cflag_theory.cli.tables.page import Page
from cflag_theory.verify.coq import census
from cflag_theory.verify.resting import FATES, breaks, roots, sentence, stand_ins
from cflag_theory.verify.verdict import GRAVITY, REFUTES, Verdict

#: Statements of a paper that are listed; its errata have all.
MOST = 30
COLOURS = {
    "holds": "green",
    "loose": "cyan",
    "open": "white",
    "typo": "yellow",
    "needs-hypothesis": "yellow",
    "false": "red",
}


def verdicts(found: Sequence[Verdict], *, listed: bool, looked: bool = False) -> None:
    """All of them in a table, or a summary; behind `first_counts`, what it has not said."""
    if listed:
        ledger(found)
    else:
        summary(found, looked=looked)


def runs(found: Sequence[Verdict], seed: int) -> None:
    """One line on the random runs; if one contradicted what is proved, there would be an error instead."""
    along = [item.data for verdict in found for item in verdict.evidence if item.kind == "property"]
    cases = sum(data["cases"] for data in along if data.get("cases") and not data.get("exact"))
    if cases:
        Page().say(f"random runs (seed {seed}): {cases} cases, none contradicts a proved statement")


def ledger(verdicts: Sequence[Verdict]) -> None:
    """The verdict table."""
    rows = []
    for verdict in verdicts:
        follows = [f"repair: {words}" for words in verdict.repairs]
        follows += [
            f"sharp: {s['constant']}: {s['value']} instead of {s['printed']} (factor {s['factor']:.3g})"
            for s in verdict.sharp
            if s["factor"] > 1
        ]
        follows += [f"see {', '.join(verdict.instead)}"] if verdict.instead else []
        proved = [s for part in verdict.claim.parts for s in statements(part).values() if s.proof is not None]
        spare = [fact.name for one in proved for fact in idle(one)] if numbered(verdict.claim) else []
        follows += [f"assumed and not used: {', '.join(dict.fromkeys(spare))}"] if spare else []
        by_hand = dict.fromkeys(theorem["name"] for theorem in _theorems(verdict))
        follows += [f"checked by Coq: {', '.join(by_hand)}"] if by_hand else []
        rows.append((verdict.claim.id, verdict.claim.where, label(verdict), "\n".join(follows)))
    console = Page()
    console.table(("claim", "where", "verdict", "fix or replacement"), rows)
    for paper, found in counts(verdicts).items():
        if any(found.values()):
            console.say(f"{paper}: {', '.join(f'{count} {name}' for name, count in found.items() if count)}")
    _besides(console, verdicts)


def first_counts(labels: Sequence[tuple[str, str]]) -> None:
    """By paper, how many statements have each verdict; what verdicts mean."""
    console = Page()
    found = _counted(labels)
    rows: list[list[str | Text]] = [
        [Text(name, style=COLOURS[name]), *(str(count[name]) for count in found.values()), MEANINGS[name]]
        for name in GRAVITY
    ]
    console.table(("verdict", *found, "meaning"), rows)


def summary(verdicts: Sequence[Verdict], *, looked: bool = False) -> None:
    """A screen: how many claims have each verdict, what verdicts mean, and where to read on."""
    console = Page()
    labels = _labels(verdicts)
    if not looked:
        first_counts([(paper, name) for paper, name in labels if paper != "ours"])
    ours = [name for paper, name in labels if paper == "ours"]
    if ours:
        holding = ours.count("holds")
        console.say(f"{holding} of {len(ours)} theorems of our own, which replace what fails, are proved")
    if looked:
        instances = sum(item.data["cases"] for one in verdicts for item in one.evidence if item.data.get("exact"))
        console.say(f"z3 and {instances} exact instances contradict none of these")
    _besides(console, verdicts)
    console.say("cflag list TEXT finds a claim, cflag show CLAIM prints its evidence, cflag verify --list lists all")


def wrong(found: Sequence[Found], faulty: Sequence[Found], loose: Sequence[Found], left: Sequence[Found]) -> None:
    """How many statements of a paper have which fault, and the gravest of them."""
    console = Page()
    console.say(counted(found, faulty, loose, left), style="bold")
    order = [*WRONG]
    gravest = sorted(faulty, key=lambda one: -order.index(one[2].verdict))
    rows = [
        (verdict.claim.id, part.key, verdict.claim.where, WRONG[state.verdict], verdict.claim.title)
        for verdict, part, state in gravest[:MOST]
    ]
    console.table(("claim", "part", "place", "fault", "title"), rows)
    more = f"{len(faulty) - MOST} more, and " if len(faulty) > MOST else ""
    console.say(f"{more}counterexamples, corrections and proofs: --out errata.md, or errata.tex")


def own(verdicts: Sequence[Verdict]) -> None:
    """Claims of pages, each with its verdict, what it follows from, and a counterexample whole."""
    console = Page()
    for verdict in verdicts:
        head = Text(f"{verdict.claim.id}  {verdict.claim.where}: ", style="bold")
        console.say(head + label(verdict, ", "))
        for item in verdict.evidence:
            on = "" if item.on == "printed" else f"{item.on}, "
            part = f"{item.part}: " if len(verdict.claim.parts) > 1 else ""
            console.say(f"  {part}{on}{item.kind}: {item.summary}")
            lines = item.data.get("instance", ()) if item.finding == REFUTES else item.data.get("hints", ())
            for line in lines:
                console.say(f"      {line}")
    for paper, found in counts(verdicts).items():
        console.say(f"{paper}: {', '.join(f'{count} {name}' for name, count in found.items() if count)}")


def _besides(console: Page, verdicts: Sequence[Verdict]) -> None:
    """Rows without a verdict, and what Coq says."""
    others = sum(not verdict.is_claim for verdict in verdicts)
    if others:
        console.say(f"assumptions and questions, with findings and no verdict: {others}")
    asked = census(verdicts)
    if asked is not None:
        console.say(str(asked))
        if asked.statements:
            console.say(asked.whole_words)
        for id, part, on, kind in asked.left:
            console.say(f"  without Coq: {id}, part {part}, {on}: {kind}")
        axioms = sorted(
            {axiom for verdict in verdicts for theorem in _theorems(verdict) for axiom in theorem["axioms"]}
        )
        if axioms:
            console.say(f"  axioms behind the headline theorems: {', '.join(axioms)}")


def label(verdict: Verdict, between: str = "\n") -> Text:
    """The verdict, or the kind, of a row, and of each of its parts where they differ."""
    text = Text(verdict.verdict, style=COLOURS.get(verdict.verdict, ""))
    if len({part.label for part in verdict.parts}) > 1:
        parts = [Text(f"{part.key} {part.label}", style=COLOURS.get(part.label, "")) for part in verdict.parts]
        text += Text(between if between.isspace() else " (") + Text(between).join(parts)
        text += Text("" if between.isspace() else ")")
    return text


def _labels(verdicts: Sequence[Verdict]) -> list[tuple[str, str]]:
    return [(verdict.claim.paper, verdict.verdict) for verdict in verdicts]


def counts(verdicts: Sequence[Verdict]) -> dict[str, dict[str, int]]:
    """By paper, how many of its rows have each verdict; rows that are not claims count nowhere."""
    return _counted(_labels(verdicts))


def _counted(labels: Sequence[tuple[str, str]]) -> dict[str, dict[str, int]]:
    return {paper: {name: labels.count((paper, name)) for name in GRAVITY} for paper in dict(labels)}


def _theorems(verdict: Verdict) -> list[dict[str, Any]]:
    return [theorem for item in verdict.evidence for theorem in item.data.get("theorems", ())]


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
        ours = "taken as printed" if arrow.kind == "granted" else "our proof" if book.of_ledger else "its proof"
        said = f"{arrow.place}: {arrow.words}" if arrow.kind == "printed" else ours
        yield depth, f"{'  ' * depth}{_named(other, labels, book)}{', see above' if known else ''}  ({said})"
        if not known:
            yield from _branch(other, among, labels, ends, depth + 1, told, book)


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
