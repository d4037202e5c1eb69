"""Formulas for a terminal: the LaTeX that the ledger prints, as one line of text."""

from __future__ import annotations

import re
from functools import cache

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}^_\[\]]|\s+|\d+|.")
#: Commands that say how to draw what follows, and nothing else.
_DROPPED = {"left", "right", "textstyle", "displaystyle", "bigl", "bigr", "big", "Big", "limits", "nolimits"}
_FONTS = {"mathbb", "mathrm", "mathcal", "mathbf", "text", "operatorname", "boldsymbol"}
_ACCENTS = {"tilde": "~", "hat": "_hat", "bar": "_bar", "overline": "_bar"}
_EXPECTATION = "\N{MATHEMATICAL DOUBLE-STRUCK CAPITAL E}"
#: Brackets of inner products, which are not relations until all is put together.
_BRACKETS = str.maketrans({"\N{MATHEMATICAL LEFT ANGLE BRACKET}": "<", "\N{MATHEMATICAL RIGHT ANGLE BRACKET}": ">"})
_SIGNS = {
    "|": "||",
    "langle": "\N{MATHEMATICAL LEFT ANGLE BRACKET}",
    "rangle": "\N{MATHEMATICAL RIGHT ANGLE BRACKET}",
    "<": " < ",
    ">": " > ",
    "le": " <= ",
    "leq": " <= ",
    "ge": " >= ",
    "geq": " >= ",
    "ne": " != ",
    "ll": " << ",
    "sim": " ~ ",
    "approx": " ~ ",
    "cdot": " ",
    "times": " x ",
    "setminus": " without ",
    "in": " in ",
    "mapsto": " -> ",
    "to": " -> ",
    "lceil": "ceil(",
    "rceil": ")",
    "dagger": "memory",
    "nabla": "grad",
    "varphi": "phi",
    "varsigma": "varsigma",
    "ell": "l",
    "partial": "d",
    "circ": "o",
    "top": "transpose",
    "star": "*",
    "prime": "'",
    ",": " ",
    ";": " ",
    " ": " ",
    "!": "",
    "{": "{",
    "}": "}",
    "%": "%",
}


@cache
def plain(latex: str) -> str:
    """LaTeX as text: "\\frac{1}{2} {\\|S\\|^2}" is "1/2 ||S||^2". An expectation keeps its letter, \\mathbb{E}."""
    reader = _Reader(latex)
    words = _group(reader)
    while reader.rest:
        words += [reader.next(), *_group(reader)]
    text = re.sub(r"\s+", " ", _joined(words)).strip()
    text = re.sub(r"(?<=[(\u27e8\[]) (?=\w)| (?=[)\]])", "", text)
    text = re.sub(r"\(\(([^()]*)\)\)", r"(\1)", text)
    # A norm or an inner product needs no other brackets, unless it is what a function is taken of.
    bare = r"(?<![\w}~'])\((\|\|(?:(?!\|\|).)*\|\|(?:\^2)?|\u27e8[^\u27e8\u27e9|]*\u27e9)\)"
    return re.sub(bare, r"\1", text).translate(_BRACKETS)


class _Reader:
    """Tokens with one step of looking ahead."""

    def __init__(self, latex: str) -> None:
        self.rest = _TOKEN.findall(latex)[::-1]

    def next(self) -> str:
        return self.rest.pop() if self.rest else ""

    def peek(self) -> str:
        return self.rest[-1] if self.rest else ""


def _group(reader: _Reader) -> list[str]:
    """The words up to a closing brace or the end."""
    words: list[str] = []
    while reader.rest and reader.peek() != "}":
        words.append(_word(reader))
    return words


def _argument(reader: _Reader) -> str:
    """What the next braces hold, or the next single sign."""
    while reader.peek().isspace():
        reader.next()
    if len(reader.peek()) > 1 and reader.peek().isdigit():
        number = reader.next()
        reader.rest.append(number[1:])
        return number[0]
    return _word(reader).strip()


def _word(reader: _Reader) -> str:
    token = reader.next()
    if token == "{":
        inside = _joined(_group(reader))
        reader.next()
        return inside
    if token in ("^", "_"):
        return _script(token, _argument(reader))
    if not token.startswith("\\"):
        return _SIGNS[token] if token in ("<", ">") else token
    name = token[1:]
    if name in _DROPPED:
        return reader.next().strip(".") if reader.peek() == "." else ""
    if name in ("frac", "tfrac", "dfrac"):
        above, below = _argument(reader), _argument(reader)
        single = below.isdigit() or re.fullmatch(r"\w(_\w+|_\{[^{}]*\}|\^\w)?", below)
        return f"{_wrapped(above)}/{below if single else _enclosed(below)}"
    if name == "sqrt":
        degree = _degree(reader)
        return f"sqrt({_argument(reader)})" if degree == "2" else f"({_argument(reader)})^(1/{degree})"
    if name in _FONTS:
        letters = _argument(reader)
        return _EXPECTATION if letters == "E" and name in ("mathbb", "mathbf") else letters
    if name in _ACCENTS:
        return _argument(reader) + _ACCENTS[name]
    return _SIGNS.get(name, name)


def _degree(reader: _Reader) -> str:
    if reader.peek() != "[":
        return "2"
    reader.next()
    degree = _word(reader)
    reader.next()
    return degree


def _script(mark: str, inside: str) -> str:
    inside = inside.replace(" < ", "<").replace(" > ", ">")
    if mark == "^" and (inside == "memory" or set(inside) <= {"*", "'"}):
        return "_memory" if inside == "memory" else inside
    if inside.isalnum():
        return mark + inside
    return f"^{_enclosed(inside)}" if mark == "^" and "," not in inside else f"{mark}{{{inside}}}"


def _enclosed(text: str) -> str:
    """The text in parentheses, unless it stands in one pair already."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0 and place < len(text) - 1:
            return f"({text})"
    return text if text.startswith("(") else f"({text})"


def _wrapped(text: str) -> str:
    depth = 0
    for sign in text:
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0 and sign in " +-":
            return f"({text})"
    return text


def _joined(words: list[str]) -> str:
    """Words in a row, with a blank where two names would run together."""
    found, last = "", ""
    for word in filter(None, words):
        name = (len(word) > 1 and word[0].isalpha()) or word[0] == _EXPECTATION
        after = found[-1:].isalnum() or found[-1:] in (")", "}", "]", "~", "*")
        after_name = (len(last) > 1 or last == _EXPECTATION) and last[-1].isalnum() and word[0].isalnum()
        apart = (name and after) or after_name or (last[-1:] in ("}", "~") and word[0].isalpha())
        found += (" " if apart else "") + word
        last = word
    return found
