"""Formulas of the report as MathML, alone and in sentences: each is converted once, and broken where it is long."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from xml.etree import ElementTree

from cflag_theory.claims.engine.plain import plain
from cflag_theory.claims.engine.printing import in_latex
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.pages.text import bare
from cflag_theory.cli.typeset import typeset
from cflag_theory.shown import escaped

#: What a formula is made of. Text within one could bring any other element, and a link any address.
_ELEMENT = re.compile(
    r"\{.*\}(none|m(ath|row|i|o|n|text|space|frac|sqrt|root|su[bp]|subsup|over|under|underover|multiscripts|prescripts"
    r"|style|padded|phantom|enclose|table|tr|td))"
)
#: Characters of a line, as plain text: what fits beside the margins of the page.
_WIDE = 84
_SIGNS = re.compile(r" (?:\+|-|=|<|\\le) ")
#: Around the formulas of a sentence; no sentence has it.
_MARK = "\0"


@cache
def mathml(latex: str) -> str:
    """A formula, in as many blocks as it takes lines."""
    found = []
    for line in lines(bare(latex)):
        block = _converted(line)
        found.append(block.replace("<math ", '<math class="dense" ', 1) if len(plain(line)) > _WIDE + 6 else block)
    return "".join(found)


def prose(words: str) -> str:
    """A sentence with formulas in plain text as HTML: formulas as MathML, pieces in backticks as code."""
    return quoted(typeset(bare(words).replace(_MARK, ""), escape=str, dollar=_MARK), _MARK)


@cache
def quoted(words: str, dollar: str = "$") -> str:
    """A sentence whose formulas are LaTeX between dollars, as HTML."""
    pieces = bare(words).split(dollar)
    # A dollar alone is money.
    last = len(pieces) if len(pieces) % 2 else len(pieces) - 1
    return "".join(
        _converted(piece, "inline") if place % 2 and place < last else _text(piece)
        for place, piece in enumerate(pieces)
    )


def _text(words: str) -> str:
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escaped(words))


@cache
def _converted(latex: str, display: str = "block") -> str:
    """MathML and nothing else; what cannot be converted is shown as it is written."""
    from latex2mathml.converter import convert

    # The converter has an exception for each of its refusals, and none for all.
    with suppress(Exception):
        made = str(convert(latex, display=display))
        elements = list(ElementTree.fromstring(made).iter())
        if all(_ELEMENT.fullmatch(one.tag) and "href" not in one.attrib for one in elements):
            return made
    return f"<code>{escaped(latex)}</code>"


def of_relation(relation: Relation) -> str:
    """A relation of a claim as blocks."""
    return mathml(in_latex(relation))


def lines(latex: str) -> list[str]:
    """LaTeX in lines, broken before signs: outside of all brackets first, then inside of round ones.

    A fraction or a root stays whole.
    """
    found: list[str] = []
    for line in _broken(latex, brackets=True):
        flat = re.sub(r"\\(?:left|right)(?=[()\[\]])", "", line)
        found += _broken(flat, brackets=False) if len(plain(line)) > _WIDE else [line]
    return found


def _broken(latex: str, *, brackets: bool) -> list[str]:
    pieces, start = [], 0
    for place in _places(latex, brackets=brackets):
        pieces.append(latex[start:place])
        start = place
    pieces.append(latex[start:])
    found = [pieces[0]]
    for piece in pieces[1:]:
        if len(plain(found[-1] + piece)) <= _WIDE:
            found[-1] += piece
        else:
            found.append(piece)
    return found


def _places(latex: str, *, brackets: bool) -> list[int]:
    """Where signs stand outside of braces and norms, and outside of round brackets if they count."""
    places, depth = [], 0
    signs = {match.start() for match in _SIGNS.finditer(latex)}
    for place, letter in enumerate(latex):
        escaped = place > 0 and latex[place - 1] == "\\"
        if letter in ("({[" if brackets else "{") and not escaped:
            depth += 1
        elif letter in (")}]" if brackets else "}") and not escaped:
            depth -= 1
        elif latex.startswith(("\\{", "\\langle", "\\begin"), place):
            depth += 1
        elif latex.startswith(("\\}", "\\rangle", "\\end"), place):
            depth -= 1
        elif depth == 0 and place in signs and place > 0:
            places.append(place)
    return places
