"""Plain documents with formulas: the same calls write LaTeX (article, amsmath, amssymb) or Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

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


_MARKS = re.compile(r"([\\`*_\[\]<>#$|~])")
_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "_": r"\_", "^": r"\textasciicircum{}", "&": r"\&",
    "%": r"\%", "#": r"\#", "$": r"\$", "~": r"\textasciitilde{}", "<": "$<$", ">": "$>$", "|": "$|$",
}  # fmt: skip


def in_markdown(text: str) -> str:
    """Words as Markdown shows them, on one line."""
    return _MARKS.sub(r"\\\1", " ".join(cleaned(text).split()))


def _in_latex(text: str) -> str:
    if text.startswith("`"):
        return rf"\texttt{{{_in_latex(text[1:-1])}}}"
    return "".join(_SPECIAL.get(sign, sign) for sign in text)


@dataclass(frozen=True)
class Form:
    """How a kind of document is written; in its texts %s is what is said."""

    #: Text as the format prints it; what is between backticks is code.
    escape: Callable[[str], str]
    #: A first line that no reader sees, for the mark; then the paragraph with the title, and the last one.
    mark: str
    title: str
    end: str
    section: str
    heading: str
    small: str
    #: A label, with what follows it and without.
    label: str
    alone: str
    quotation: str
    #: A formula in a line of its own.
    formula: str
    #: Lists: what stands before their entries, an entry, and what stands behind them.
    items: tuple[str, str, str]
    steps: tuple[str, str, str]


#: As GitHub, GitLab and pandoc read it, with formulas between dollars.
_MARKDOWN = Form(
    escape=lambda text: text if text.startswith("`") else _MARKS.sub(r"\\\1", text),
    mark="<!-- %s -->",
    title="# %s",
    end="",
    section="## %s",
    heading="### %s. %s",
    small="%s",
    label="**%s:** %s",
    alone="**%s:**",
    quotation="> %s: “%s”",
    formula="$$%s$$",
    items=("", "- %s", ""),
    steps=("", "{place}. $%s$ (%s)", ""),
)
_LIST = r"\setlength{\itemsep}{0pt}\setlength{\parskip}{0pt}"
#: An article that needs amsmath and amssymb alone.
_LATEX = Form(
    escape=_in_latex,
    mark="%% %s",
    title=r"""\documentclass{article}
\usepackage[utf8]{inputenc}
\usepackage{amsmath,amssymb}
\setlength{\oddsidemargin}{0pt}\setlength{\evensidemargin}{0pt}\setlength{\textwidth}{16.5cm}
\setlength{\topmargin}{-1cm}\setlength{\textheight}{23cm}
\setlength{\parindent}{0pt}\setlength{\parskip}{4pt}
%% Long formulas are broken between their terms.
\relpenalty=50 \binoppenalty=100 \sloppy\raggedbottom
\newcommand{\shown}[1]{{\leftskip=1.5em \rightskip=0pt plus 1fil\relax #1\par}}
\begin{document}
\begin{center}\Large %s\end{center}""",
    end=r"\end{document}",
    section=r"\section*{%s}",
    heading=r"\subsection*{\normalsize %s. %s}",
    small=r"{\small %s\par}",
    label=r"\textbf{%s:} %s",
    alone=r"\textbf{%s:}\par\nopagebreak",
    quotation=r"\shown{%s: ``%s''}",
    formula=r"\shown{$%s$}",
    items=(rf"\begin{{itemize}}{_LIST}", r"\item %s", r"\end{itemize}"),
    steps=(
        rf"\begin{{enumerate}}{_LIST}\small\raggedright",
        r"\item $%s$ \hspace{{1em}} (%s)",
        r"\end{enumerate}",
    ),
)


class Document:
    """Headings, labelled paragraphs, quotations, formulas, lists; `expectation` as in `typeset`."""

    def __init__(self, form: Form, *, expectation: bool = False) -> None:
        self.form, self.escape = form, form.escape
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
        self.lines += [*filter(None, lines), ""]

    def begin(self, title: str, mark: str) -> None:
        """The title, below a first line that no reader sees and that holds the mark."""
        self.add(self.form.mark % mark)
        self.add(self.form.title % self.escape(title))

    def section(self, title: str) -> None:
        """A part of the document."""
        self.add(self.form.section % self.escape(title))

    def heading(self, number: str, title: str) -> None:
        """An entry."""
        self.add(self.form.heading % (number, self.words(title)))

    def text(self, words: str) -> None:
        """A paragraph."""
        self.add(self.words(words))

    def small(self, words: str) -> None:
        """A line beside the matter."""
        self.add(self.form.small % self.words(words))

    def facts(self, label: str, facts: Sequence[tuple[str, str]]) -> None:
        """Facts in one paragraph: words, and a formula in TeX or nothing."""
        told = (self.words(words) + (f" (${breakable(latex)}$)" if latex else "") for words, latex in facts)
        self.add(self.form.label % (label, "; ".join(told) + "."))

    def labelled(self, label: str, words: str) -> None:
        """A paragraph that says first what it is."""
        self.add(self.form.label % (label, self.words(words)) if words else self.form.alone % label)

    def sides(self, left: str, right: str) -> None:
        """What the two sides of a statement are, each a formula in TeX."""
        self.add(f"The left side is ${left}$, the right side is ${right}$.")

    def quotation(self, place: str, text: str) -> None:
        """What is printed, with its place."""
        self.add(self.form.quotation % (self.escape(place), self.quoted(text)))

    def formula(self, latex: str) -> None:
        """A formula in a line of its own."""
        self.add(self.form.formula % breakable(latex))

    def items(self, items: Iterable[str]) -> None:
        """A list of sentences."""
        before, each, behind = self.form.items
        self.add(before, *(each % self.words(item) for item in items), behind)

    def steps(self, lines: Sequence[tuple[str, str]]) -> None:
        """Formulas one after the other, each with the reason."""
        before, each, behind = self.form.steps
        numbered = (
            each.format(place=place) % (breakable(latex), self.escape(reason))
            for place, (latex, reason) in enumerate(lines, 1)
        )
        self.add(before, *numbered, behind)

    def end(self) -> str:
        """The whole document."""
        if self.form.end:
            self.add(self.form.end)
        # LaTeX has no sign for a character that is not shown.
        return cleaned("\n".join(self.lines)).replace("\N{REPLACEMENT CHARACTER}", "?").rstrip() + "\n"


Markdown, LaTeX = partial(Document, _MARKDOWN), partial(Document, _LATEX)
