"""What the letters of a formula stand for, in the papers' words.

A line `letter C -- meaning` of a page has the letter as `plain` prints it. It holds for the claim under which it
stands, outside of claims for all rows on the paper, our own included. The most special line counts.
"""

from __future__ import annotations

import re
from functools import cache

from cflag_theory.claims.book import Book
from cflag_theory.claims.engine.claim import Claim, statements
from cflag_theory.claims.engine.printing import in_text
from cflag_theory.claims.ledger import BOOK

_NAME = re.compile(r"(?!e\^)[^\W\d_]+[~']*(?:_(?:hat|bar|memory)(?![A-Za-z]))*(?:_(?:\{[^{}]*\}|[^\W_]+))?")
_SUBSCRIPT = re.compile(r"_(?:\{.*|(?!hat$|bar$|memory$)[^\W_]+)$")
#: Operators, which every reader knows, as the base e of an exponential.
_KNOWN = frozenset(["grad", "sum", "max", "min", "sqrt", "ln", "exp", "sup", "ceil", "mean", "Var", "transpose"])


@cache
def glossary(book: Book = BOOK) -> dict[tuple[str, str], str]:
    """Meanings by row, or paper, and letter.

    Raises
    ------
    PageError
        A letter without a meaning, or with two, or for a claim that there is not.
    """
    found = {}
    for record in book.records("letter"):
        letter, others = record.line.said.behind("letter").cut(" for ")
        if not record.line.words:
            raise record.line.error("a letter is written 'letter L -- meaning'")
        scopes = [record.claim or book.paper_of(record.module), *map(book.known, others.listed(", "))]
        for scope in scopes:
            if (scope, str(letter)) in found:
                raise letter.error(f"{str(letter)!r} has two meanings for {scope}")
            found[scope, str(letter)] = record.line.words
    return found


def letters(text: str) -> list[str]:
    """The letters of a formula in plain text, each once, in the order in which they appear."""
    return [name for name in dict.fromkeys(_NAME.findall(text)) if base(name) not in _KNOWN]


def formulas(claim: Claim) -> str:
    """The formulas of a claim in plain text: what is stated, and under which conditions."""
    stated = [one for part in claim.parts for one in statements(part).values()]
    found = [one.relation for one in stated]
    found += [fact.relation for one in stated for fact in (*one.hypotheses, *one.definitions)]
    return " ".join(in_text(relation) for relation in found if relation is not None)


def base(letter: str) -> str:
    """A letter without its subscript."""
    return _SUBSCRIPT.sub("", letter)


def scope(id: str, letter: str, book: Book = BOOK) -> str | None:
    """The row, or the paper, whose line gives the meaning of a letter; None without one."""
    known = glossary(book).keys()
    return next((one for one in (id, book.home(id)) if {(one, letter), (one, base(letter))} & known), None)


def meaning(id: str, letter: str, book: Book = BOOK) -> tuple[str, str] | None:
    """The letter under which a row's glossary has this one, and what it stands for; None if it has not."""
    found = scope(id, letter, book)
    if found is None:
        return None
    name = letter if (found, letter) in glossary(book) else base(letter)
    return name, glossary(book)[found, name]


def explained(id: str, text: str, book: Book = BOOK) -> dict[str, str]:
    """The letters of a row's formula with what they stand for."""
    found = (meaning(id, letter, book) for letter in letters(text))
    return dict(one for one in found if one is not None)
