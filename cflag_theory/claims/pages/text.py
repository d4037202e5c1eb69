"""The text of a page: lines under lines by indentation, and words that know where they stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from cflag_theory.errors import InvalidInput


class PageError(InvalidInput):
    """A place of a page that cannot be read: its line and column, and what to write instead."""


class Piece(str):
    """A part of a line's text, which knows its place: parts of it know theirs."""

    line: Line
    start: int

    @classmethod
    def of(cls, line: Line, text: str, start: int = 0) -> Piece:
        made = cls(text)
        made.line, made.start = line, start
        return made

    def part(self, start: int, end: int | None = None) -> Piece:
        """What stands from `start` to `end`, without the blanks around it."""
        inside = self[start:end]
        lead = len(inside) - len(inside.lstrip())
        return Piece.of(self.line, inside.strip(), self.start + start + lead)

    def cut(self, mark: str) -> tuple[Piece, Piece]:
        """What stands before the first `mark` outside of brackets and quotes, and what stands behind it."""
        place = next(_outside(self, mark), None)
        return (
            (self.part(0), self.part(len(self)))
            if place is None
            else (self.part(0, place), self.part(place + len(mark)))
        )

    def cut_last(self, mark: str) -> tuple[Piece, Piece]:
        """As `cut`, at the last `mark`."""
        places = list(_outside(self, mark))
        return (
            (self.part(0, places[-1]), self.part(places[-1] + len(mark)))
            if places
            else (self.part(0), self.part(len(self)))
        )

    def drawn(self) -> tuple[Piece, str]:
        """What is declared, and behind " : " the LaTeX that it prints as."""
        head, latex = self.cut(" : ")
        return head, tex(latex)

    def listed(self, mark: str) -> list[Piece]:
        """What stands between the marks."""
        found, rest = [], self
        while rest:
            one, rest = rest.cut(mark)
            found.append(one)
        return found

    def behind(self, word: str) -> Piece:
        """The rest behind a first word."""
        return self.part(len(word)) if self == word or self.startswith(f"{word} ") else self

    @property
    def unquoted(self) -> Piece:
        """The text between quotes, or as it is."""
        return self.part(1, len(self) - 1) if _quoted(self) else self

    @property
    def quoted(self) -> bool:
        """Whether it stands in quotes."""
        return _quoted(self)

    def error(self, words: str, at: int = 0) -> PageError:
        """The exception that names this place."""
        return self.line.error(words, self.start + at)


def _quoted(text: str) -> bool:
    return len(text) > 1 and text[0] == text[-1] == '"' and '"' not in text[1:-1]


def _outside(text: str, mark: str) -> Iterator[int]:
    """The places of a mark outside of round brackets and quotes."""
    if mark not in text:
        return
    depth, quoted = 0, False
    for place, sign in enumerate(text):
        if not quoted and depth <= 0 and text.startswith(mark, place):
            yield place
        quoted ^= sign == '"'
        depth += 0 if quoted else (sign == "(") - (sign == ")")


@dataclass
class Line:
    """A line of a page with the lines under it. Lines that continue it are part of its text."""

    text: str
    indent: int
    page: str
    #: Where the parts of the text stand: the place in the text, the line's number and the column.
    places: list[tuple[int, int, int]] = field(default_factory=list)
    inside: list[Line] = field(default_factory=list)

    @property
    def said(self) -> Piece:
        """The line without the words behind " -- "."""
        return Piece.of(self, self.text).part(0, self._dash)

    @property
    def words(self) -> str:
        """The words behind " -- "."""
        return "" if self._dash is None else self.text[self._dash + 3 :].strip()

    @property
    def _dash(self) -> int | None:
        place = f" {self.text}".find(" -- ")
        return None if place < 0 else place

    @property
    def kind(self) -> str:
        """Its first word."""
        return self.text.partition(" ")[0]

    @property
    def number(self) -> int:
        """The number of its first line on the page."""
        return self.places[0][1]

    def place(self, other: Line) -> str:
        """Where it stands, for a reader of another line."""
        return f"line {self.number}" + (f" of {self.page}" if self.page != other.page else "")

    def error(self, words: str, at: int = 0) -> PageError:
        """The exception that names a place in the text."""
        start, number, column = next(one for one in reversed(self.places) if one[0] <= at)
        return PageError(f"{self.page}, line {number}, column {column + at - start}: {words}")

    @contextmanager
    def placed(self) -> Iterator[None]:
        """Errors of what the line makes name the line."""
        try:
            yield
        except PageError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise self.error(said(error)) from error


def said(error: Exception) -> str:
    """What an exception says: a KeyError puts quotes around it."""
    return str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)


#: Lines of words, which run on in the lines under them.
_TOLD = ("note", "prints", "uses", "headline", "letter", "story")
#: Blocks that declare, and what else keeps no words behind " -- ".
_NAMED = ("use", "symbol", "sequence", "vector", "function", "index", "mean", "let")
_WORDLESS = (*_NAMED, "with", "after", "coq", "kind", "family")
#: What says one thing: nothing stands under it. Under a proof the same words begin names of steps.
_SAYS = ("setting", "fact", "say", "is", "for", "where", "reading", "unseen", "expect", "because")
_LEAVES = (*_SAYS, *_WORDLESS, *_TOLD)
_STEPS = ("proof", "scheme", "start", "step")
#: What is said once in each place.
_ONCE = ("say", "is", "repair", "sharp", "refuted", "reading", "kind", "unseen", "expect")
#: Lines whose words may run on in the lines under them.
_PROSE = re.compile(r"(say|is|for|where|fact|setting|refuted by)\b")
#: How a line begins that continues the one before: with a sign of a formula, with what is given, with words, a
#: title. One that ends with a comma or within quotes is continued too.
_CONTINUES = re.compile(r"([-+/*<=:,]|>=|\| |from\b)")


@cache
def lines(text: str, page: str) -> list[Line]:
    """The lines of a page as a tree; blank lines and those that begin with "#" are left out.

    A page that is built has been read for its records before.

    Raises
    ------
    PageError
        A tab; a line under nothing.
    """
    root = Line("", -1, page, [(0, 0, 1)])
    stack = [root]
    for number, raw in enumerate(text.splitlines(), 1):
        bare = raw.strip()
        if not bare or bare.startswith("#"):
            continue
        indent = len(raw) - len(raw.lstrip(" "))
        last, here = stack[-1], Line(bare, indent, page, [(0, number, indent + 1)])
        if "\t" in raw:
            raise here.error("a tab: indent with blanks")
        told = last.kind in _TOLD or (" -- " in last.text and bool(_PROSE.match(last.text)))
        open_list = (last.text.endswith(",") or last.text.count('"') % 2) and " -- " not in last.text
        if last is not root and ((indent > last.indent and (told or open_list)) or _CONTINUES.match(bare)):
            added = bare.removeprefix("-- ") if bare.startswith("-- ") and " -- " in last.text else bare
            last.places.append((len(last.text) + 1, number, indent + 1 + len(bare) - len(added)))
            last.text += f" {added}"
            continue
        while stack[-1].indent >= indent:
            stack.pop()
        if stack[-1] is not root and stack[-1].inside and stack[-1].inside[0].indent != indent:
            raise here.error(f"the lines beside it begin in column {stack[-1].inside[0].indent + 1}: align them")
        if stack[-1] is root and indent:
            raise here.error("a line under nothing: begin it in column 1")
        stack[-1].inside.append(here)
        stack.append(here)
    _open(root)
    return root.inside


def _open(line: Line) -> None:
    """What would stand under a line may stand behind it, each time after " | "; a claim has three fields before.

    Nothing stands under a line of instances: there it is what would stand beside the line.
    """
    lines, line.inside = line.inside, []
    above = line.kind
    steps = above in _STEPS
    for one in lines:
        kind = one.kind
        if not steps and kind in _ONCE and any(other.kind == kind for other in line.inside):
            raise one.error(f"a second {kind!r}: it stands once in each place")
        line.inside.append(one)
        if not steps and kind in _WORDLESS and one.words:
            raise one.error(f"words behind ' -- ' are not kept at {kind!r}: write them into a line that begins with #")
        leaf = above == "source" or (not steps and kind in _LEAVES)
        if leaf and one.inside:
            raise one.inside[0].error(f"nothing stands under {kind!r}: begin a longer line with a sign")
        listed = above == "instances" and kind not in ("story", "unseen")
        if (listed or not leaf) and " | " in one.text:
            fields = 3 if kind == "claim" else 1
            first, others = (found := one.said.listed(" | "))[:fields], [_line(said) for said in found[fields:]]
            if others:
                if listed:
                    line.inside += others
                else:
                    one.inside = [*others, *one.inside]
                one.text = " | ".join(first) + (f" -- {one.words}" if one.words else "")
        _open(one)


def _line(piece: Piece) -> Line:
    """A line that stands in another, whose places it has."""
    outer = piece.line
    inside = [
        (max(0, at - piece.start), number, column + max(0, piece.start - at)) for at, number, column in outer.places
    ]
    first = sum(at <= 0 for at, *_ in inside) - 1
    return Line(str(piece), outer.indent + 1, outer.page, inside[first:])


def only(line: Line, kinds: Collection[str], what: str) -> None:
    """Refuse lines under a line that begin with none of these words."""
    for one in line.inside:
        if one.kind not in kinds:
            raise one.error(f"{one.kind!r} stands under {what}: use one of {', '.join(sorted(kinds))}")


def shown(words: str, meant: Callable[[str], Any]) -> str:
    """Words in which {name} is replaced by the text or the number that it stands for, if it stands for one."""

    def told(match: re.Match[str]) -> str:
        value = meant(match[1])
        return match[0] if value is None else shown(value, meant) if isinstance(value, str) else str(value)

    return re.sub(r"\{(\w+)\}", told, words) if "{" in words else words


def bare(text: str) -> str:
    """A text without what the names of a folder of pages end with."""
    return re.sub(r" __\d+(?=\b|_)", "", text)


#: Signs that stand for commands of LaTeX.
_TABLE = r"""
α=\alpha β=\beta γ=\gamma δ=\delta ε=\epsilon ζ=\zeta η=\eta θ=\theta κ=\kappa λ=\lambda μ=\mu ν=\nu ξ=\xi π=\pi
ρ=\rho σ=\sigma ς=\varsigma τ=\tau φ=\varphi ϕ=\phi χ=\chi ω=\omega Γ=\Gamma Δ=\Delta Λ=\Lambda Ξ=\Xi Σ=\Sigma Φ=\Phi
Ω=\Omega 𝛚=\boldsymbol{\omega} 𝛏=\boldsymbol{\xi} 𝛅=\boldsymbol{\delta} 𝔼=\mathbb{E} 𝐄=\mathbf{E} 𝐱=\mathbf{x}
𝐲=\mathbf{y} 𝐳=\mathbf{z} 𝒪=\mathcal{O} ℋ=\mathcal{H} 𝒮=\mathcal{S} ℝ=\mathbb{R} ∇=\nabla ∂=\partial ∑=\sum √=\sqrt
‖=\| ⟨=\langle ⟩=\rangle ≤=\leq ≥=\geq ⩽=\le ⩾=\ge ≠=\ne ∈=\in ±=\pm ×=\times ·=\cdot ∞=\infty ←=\leftarrow
→=\rightarrow ℓ=\ell ⊤=\top †=\dagger ∼=\sim
"""
_SIGNS = dict(pair.split("=", 1) for pair in _TABLE.split())


def tex(text: str) -> str:
    r"""A formula as LaTeX: "‖∇f(ω)‖" is "\|\nabla f(\omega)\|"."""
    if re.search(r"√(?![{\[])", text):
        raise ValueError("a root needs its braces: write √{10}")
    # A blank ends a command before a letter.
    made = re.sub("[^ -~]", lambda sign: _SIGNS.get(sign[0], sign[0]) + "\0", text)
    return re.sub(r"(?<=[A-Za-z])\0(?=[A-Za-z])", " ", made).replace("\0", "")
