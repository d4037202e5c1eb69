"""Formulas of the report as MathML: each converted once, and broken at its top-level signs where it is long."""

from __future__ import annotations

import re
from functools import cache

from cflag_theory.claims.engine.plain import plain
from cflag_theory.claims.engine.printing import in_latex
from cflag_theory.claims.engine.relation import Relation

#: Characters of a line, as plain text: what fits beside the margins of the page.
_WIDE = 84
_SIGNS = re.compile(r" (?:\+|-|=|<|\\le) ")


@cache
def mathml(latex: str, inline: bool = False) -> str:
    """A formula, in as many blocks as it takes lines.

    Parameters
    ----------
    latex : str
    inline : bool
        One formula inside of a line of text.
    """
    from latex2mathml.converter import convert

    if inline:
        return str(convert(latex))
    found = []
    for line in lines(latex):
        block = str(convert(line, display="block"))
        found.append(block.replace("<math ", '<math class="dense" ', 1) if len(plain(line)) > _WIDE + 6 else block)
    return "".join(found)


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
