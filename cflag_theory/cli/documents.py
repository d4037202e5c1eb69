"""Plain documents with formulas: the same calls write LaTeX (article, amsmath, amssymb) or Markdown."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from cflag_theory.cli.typeset import typeset, untagged
from cflag_theory.shown import cleaned

#: A fraction with more signs than this is written on the line, so that the formula can be broken.
LONGEST_FRACTION = 60


def breakable(latex: str) -> str:
    """A formula that TeX may break between its terms: brackets of fixed size, long fractions on the line.

    It neither ends before its end nor begins a tag of HTML.
    """
    text = re.sub(r"\\(?:left|right)(?![A-Za-z])\s?", "", latex).replace(r"\mathbf{E}", r"\mathbb{E}")
    text = untagged(re.sub(r"\\*([$%])", r"\\\1", text)).rstrip("\\")
    place = 0
    while (start := text.find(r"\frac{", place)) >= 0:
        above, after = _group(text, start + 5)
        below, end = _group(text, after)
        place = start + 1
        if len(above) + len(below) > LONGEST_FRACTION:
            text = f"{text[:start]}({above})/({below}){text[end:]}"
            place = start
    # What stands in one group is one box for TeX: {(a + b)} would never be broken.
    while (start := text.find("{", 0)) >= 0 and (found := _loose_group(text)) is not None:
        begin, end = found
        text = f"{text[:begin]}{text[begin + 1 : end]}{text[end + 1 :]}"
    return text


def _loose_group(text: str) -> tuple[int, int] | None:
    """A long group that is not an argument of a command, an index or a power."""
    for one in re.finditer(r"(?<![\\\w_^}\]])\{", text):
        inner, after = _group(text, one.start())
        if len(inner) > LONGEST_FRACTION and not re.search(r"\\[A-Za-z]+\s*$", text[: one.start()]):
            return one.start(), after - 1
    return None


def _group(text: str, start: int) -> tuple[str, int]:
    """What is between the braces that open at a place, and where the text goes on."""
    depth = 0
    for place in range(start, len(text)):
        escaped = place > 0 and text[place - 1] == "\\"
        depth += (not escaped) * ((text[place] == "{") - (text[place] == "}"))
        if depth == 0:
            return text[start + 1 : place], place + 1
    return text[start:], len(text)


class Document(ABC):
    """Headings, labelled paragraphs, quotations, formulas, lists; `expectation` as in `typeset`."""

    def __init__(self, *, expectation: bool = False) -> None:
        self.lines: list[str] = []
        self.expectation = expectation

    def words(self, text: str) -> str:
        """A sentence with its formulas set."""
        return typeset(text, escape=self.escape, dollar="$", expectation=self.expectation)

    def quoted(self, text: str) -> str:
        """A sentence whose formulas are TeX between dollars already."""
        pieces = text.split("$")
        return "".join(f"${breakable(one)}$" if place % 2 else self.escape(one) for place, one in enumerate(pieces))

    def add(self, *lines: str) -> None:
        """One paragraph."""
        self.lines += [*lines, ""]

    def text(self, words: str) -> None:
        """A paragraph."""
        self.add(self.words(words))

    def facts(self, label: str, facts: Sequence[tuple[str, str]]) -> None:
        """Facts in one paragraph: words, and a formula in TeX or nothing."""
        told = (self.words(words) + (f" (${breakable(latex)}$)" if latex else "") for words, latex in facts)
        self.add(self.labelled_text(label, "; ".join(told) + "."))

    def labelled(self, label: str, words: str) -> None:
        """A paragraph that says first what it is."""
        self.add(self.labelled_text(label, self.words(words)))

    def sides(self, left: str, right: str) -> None:
        """What the two sides of a statement are, each a formula in TeX."""
        self.add(f"The left side is ${left}$, the right side is ${right}$.")

    def end(self) -> str:
        """The whole document."""
        # LaTeX has no sign for a character that is not shown.
        return cleaned("\n".join(self.lines)).replace("\N{REPLACEMENT CHARACTER}", "?").rstrip() + "\n"

    @abstractmethod
    def escape(self, text: str) -> str:
        """Text as the format prints it; what is between backticks is code."""

    @abstractmethod
    def begin(self, title: str, mark: str) -> None:
        """The title, below a first line that no reader sees and that holds the mark."""

    @abstractmethod
    def section(self, title: str) -> None:
        """A part of the document."""

    @abstractmethod
    def heading(self, number: str, title: str) -> None:
        """An entry."""

    @abstractmethod
    def small(self, words: str) -> None:
        """A line beside the matter."""

    @abstractmethod
    def labelled_text(self, label: str, text: str) -> str:
        """A label and what follows it, which may be nothing."""

    @abstractmethod
    def quotation(self, place: str, text: str) -> None:
        """What is printed, with its place."""

    @abstractmethod
    def formula(self, latex: str) -> None:
        """A formula in a line of its own."""

    @abstractmethod
    def items(self, items: Iterable[str]) -> None:
        """A list of sentences."""

    @abstractmethod
    def steps(self, lines: Sequence[tuple[str, str]]) -> None:
        """Formulas one after the other, each with the reason."""


_MARKS = re.compile(r"([\\`*_\[\]<>#$|~])")


def in_markdown(text: str) -> str:
    """Words as Markdown shows them, on one line."""
    return _MARKS.sub(r"\\\1", " ".join(cleaned(text).split()))


class Markdown(Document):
    """Markdown with formulas between dollars, as GitHub, GitLab and pandoc read it."""

    def escape(self, text: str) -> str:
        return text if text.startswith("`") else _MARKS.sub(r"\\\1", text)

    def begin(self, title: str, mark: str) -> None:
        self.add(f"<!-- {mark} -->")
        self.add(f"# {self.escape(title)}")

    def section(self, title: str) -> None:
        self.add(f"## {self.escape(title)}")

    def heading(self, number: str, title: str) -> None:
        self.add(f"### {number}. {self.words(title)}")

    def small(self, words: str) -> None:
        self.text(words)

    def labelled_text(self, label: str, text: str) -> str:
        return f"**{label}:** {text}".rstrip()

    def quotation(self, place: str, text: str) -> None:
        self.add(f"> {self.escape(place)}: “{self.quoted(text)}”")

    def formula(self, latex: str) -> None:
        self.add(f"$${breakable(latex)}$$")

    def items(self, items: Iterable[str]) -> None:
        self.add(*(f"- {self.words(item)}" for item in items))

    def steps(self, lines: Sequence[tuple[str, str]]) -> None:
        self.add(*(f"{place}. ${breakable(latex)}$ ({reason})" for place, (latex, reason) in enumerate(lines, 1)))


_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "_": r"\_", "^": r"\textasciicircum{}", "&": r"\&",
    "%": r"\%", "#": r"\#", "$": r"\$", "~": r"\textasciitilde{}", "<": "$<$", ">": "$>$", "|": "$|$",
}  # fmt: skip


class LaTeX(Document):
    """An article that needs amsmath and amssymb alone."""

    def escape(self, text: str) -> str:
        if text.startswith("`"):
            return rf"\texttt{{{self.escape(text[1:-1])}}}"
        return "".join(_SPECIAL.get(sign, sign) for sign in text)

    def begin(self, title: str, mark: str) -> None:
        self.add(f"% {mark}")
        self.add(
            r"\documentclass{article}",
            r"\usepackage[utf8]{inputenc}",
            r"\usepackage{amsmath,amssymb}",
            r"\setlength{\oddsidemargin}{0pt}\setlength{\evensidemargin}{0pt}\setlength{\textwidth}{16.5cm}",
            r"\setlength{\topmargin}{-1cm}\setlength{\textheight}{23cm}",
            r"\setlength{\parindent}{0pt}\setlength{\parskip}{4pt}",
            "% Long formulas are broken between their terms.",
            r"\relpenalty=50 \binoppenalty=100 \sloppy\raggedbottom",
            r"\newcommand{\shown}[1]{{\leftskip=1.5em \rightskip=0pt plus 1fil\relax #1\par}}",
            r"\begin{document}",
            r"\begin{center}\Large " + self.escape(title) + r"\end{center}",
        )

    def end(self) -> str:
        self.add(r"\end{document}")
        return super().end()

    def section(self, title: str) -> None:
        self.add(rf"\section*{{{self.escape(title)}}}")

    def heading(self, number: str, title: str) -> None:
        self.add(rf"\subsection*{{\normalsize {number}. {self.words(title)}}}")

    def small(self, words: str) -> None:
        self.add(rf"{{\small {self.words(words)}\par}}")

    def labelled_text(self, label: str, text: str) -> str:
        return rf"\textbf{{{label}:}} {text}" if text else rf"\textbf{{{label}:}}\par\nopagebreak"

    def quotation(self, place: str, text: str) -> None:
        self.add(rf"\shown{{{self.escape(place)}: ``{self.quoted(text)}''}}")

    def formula(self, latex: str) -> None:
        self.add(rf"\shown{{${breakable(latex)}$}}")

    def items(self, items: Iterable[str]) -> None:
        self.add(
            r"\begin{itemize}\setlength{\itemsep}{0pt}\setlength{\parskip}{0pt}",
            *(rf"\item {self.words(item)}" for item in items),
            r"\end{itemize}",
        )

    def steps(self, lines: Sequence[tuple[str, str]]) -> None:
        self.add(
            r"\begin{enumerate}\setlength{\itemsep}{0pt}\setlength{\parskip}{0pt}\small\raggedright",
            *(rf"\item ${breakable(latex)}$ \hspace{{1em}} ({self.escape(reason)})" for latex, reason in lines),
            r"\end{enumerate}",
        )
