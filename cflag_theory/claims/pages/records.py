"""What pages say beside mathematics: the order of claims, what a paper prints and its proofs use, headlines, Coq.

All pages are read as text and no claim is built: this takes a twentieth of a second. The lines are

    after cflag.lemma1                      the claim before it in the paper, if another than above it
    prints Lemma 4, (12) | text -- remark   what the paper prints, under a claim or a part, which decides it;
                                            `Lemma 4 (2022)` in one version, `Lemma 4 by 1, cflag.eq90.1` for what else
                                            decides it; outside of claims what none decides, with the reason
    uses cflag.eq22, cflag.eq25 | (24) | words
    headline words                          one line why the verdict is what it is
    letter C for cflag.thm5 -- meaning      also for that claim; outside of claims for all of the paper
    coq 1 File.name, 2 repair File.other    theorems by hand behind a part and what is proved of it: as printed, if the
                                            line says neither repair nor sharp
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType

from cflag_theory.claims.pages.text import Line, PageError, Piece, lines

ROOT = Path(__file__).parents[1]
KINDS = frozenset(["prints", "uses", "headline", "letter", "coq"])


@dataclass(frozen=True)
class Record:
    """A line of a page, with the part and the claim under which it stands, empty outside of them."""

    line: Line
    module: str
    claim: str = ""
    part: str = ""

    @property
    def text(self) -> Piece:
        """The line behind its first word."""
        return Piece.of(self.line, self.line.text).behind(self.line.kind)

    @property
    def after(self) -> Piece | None:
        """The claim after which a claim says that it comes."""
        return next((one.said.behind("after") for one in self.line.inside if one.kind == "after"), None)


def unknown(id: Piece, among: Iterable[str]) -> PageError:
    """The exception for a name that no claim has."""
    near = get_close_matches(id, [*among], n=1)
    return id.error(f"no claim is called {str(id)!r}" + (f": did you mean {near[0]}?" if near else ""))


@cache
def pages() -> Mapping[str, tuple[Line, ...]]:
    """The lines of all pages by module."""
    found = {}
    for path in sorted(ROOT.rglob("*.page")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        found[module] = tuple(lines(path.read_text(encoding="utf-8"), path.name))
    return found


def _id(line: Line) -> str:
    return str(line.said.behind("claim").cut(" | ")[0])


@cache
def blocks() -> Mapping[str, Record]:
    """The claims of all pages by id, each page in its order.

    Raises
    ------
    PageError
        A claim stands on two pages.
    """
    found: dict[str, Record] = {}
    for module, all in pages().items():
        for line in all:
            if line.kind == "claim":
                id = _id(line)
                if id in found:
                    raise line.error(f"the claim {id} stands on the page of {found[id].module} too")
                found[id] = Record(line, module, id)
    return found


@cache
def places() -> Mapping[str, str]:
    """The module of each claim: the papers' claims in paper order, then what we prove instead.

    Raises
    ------
    PageError
        A claim comes after no claim, or after one that another follows.
    """
    following: dict[str, str] = {}
    above: dict[tuple[str, str], str] = {}
    papers = dict.fromkeys(id.partition(".")[0] for id in blocks())
    for id, record in blocks().items():
        paper = id.partition(".")[0]
        said = record.after
        before = str(said) if said else above.get((record.module, paper), paper)
        above[record.module, paper] = id
        if before in following:
            where = "first" if before == paper else f"after {before}"
            raise (said or record.line).error(f"{id} and {following[before]} both come {where}: say after which claim")
        following[before] = id
    order: list[str] = []
    for at in sorted(papers, key="ours".__eq__):
        while at in following:
            order.append(at := following[at])
    lost = [record for id, record in blocks().items() if id not in order]
    for record in lost:
        if record.after and record.after not in blocks():
            raise unknown(record.after, blocks())
    if lost:
        raise lost[0].line.error(f"claims come after each other: {', '.join(one.claim for one in lost)}")
    return MappingProxyType({id: blocks()[id].module for id in order})


def written(id: str) -> str:
    """A claim as its page says it, instances and quotations included."""
    text = ROOT.joinpath(*places()[id].split(".")).with_suffix(".page").read_text(encoding="utf-8")
    return block(text, blocks()[id].line)


def block(text: str, line: Line) -> str:
    """A line of a page with what stands under it, as it is written."""
    first, *rest = text.splitlines()[line.number - 1 :]
    return "\n".join([first, *takewhile(lambda one: one.startswith(" ") or not one, rest)]).rstrip()


@cache
def keys(id: str) -> tuple[str, ...]:
    """The parts of a claim as records name them."""
    like = next((str(one.said.behind("like")) for one in blocks()[id].line.inside if one.kind == "like"), id)
    inside = [one for one in blocks()[like].line.inside if one.kind == "part"]
    return tuple(word(str(one.said.behind("part"))) for one in inside) or ("1",)


def word(key: str) -> str:
    """The key of a part as one word, which is how records name it."""
    return key.replace(" ", "_")


def records(kind: str) -> tuple[Record, ...]:
    """The lines of one kind in the order of the ledger; those outside of claims follow the claim above them."""
    return _records().get(kind, ())


@cache
def _records() -> Mapping[str, tuple[Record, ...]]:
    return in_order(pages(), places())


def in_order(pages: Mapping[str, Iterable[Line]], ids: Iterable[str]) -> Mapping[str, tuple[Record, ...]]:
    """The records of pages by kind, in the order of these claims."""
    under: dict[str, list[Record]] = {}
    for module, all in pages.items():
        at = next((_id(line) for line in all if line.kind == "claim"), "")
        for line in all:
            at = _id(line) if line.kind == "claim" else at
            if line.kind == "claim":
                under.setdefault(at, []).extend(_of(line, module, at))
            elif line.kind in KINDS:
                under.setdefault(at, []).append(Record(line, module))
    found: dict[str, list[Record]] = {}
    for id in (*ids, ""):
        for record in under.get(id, ()):
            found.setdefault(record.line.kind, []).append(record)
    return {kind: tuple(all) for kind, all in found.items()}


def _of(line: Line, module: str, id: str) -> Iterator[Record]:
    for one in line.inside:
        if one.kind in KINDS:
            yield Record(one, module, id)
        elif one.kind == "part":
            key = word(str(one.said.behind("part")))
            yield from (Record(inner, module, id, key) for inner in one.inside if inner.kind == "prints")
