"""The grammar of formulas: a text becomes a tree, which knows nothing of what names mean.

A product is written by putting its factors side by side; "*" is allowed. A quotient has one factor under the bar, so
that a/2 b is (a/2) b. |v| is the norm of a vector and |v|^2 its Gram entry; <u, v> is the inner product; grad f(x) the
gradient of f at x. [name] is the slack of what is given under that name, or the residual of an equation.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

_TOKEN = re.compile(r"""\s*(\d+(?:\.\d+)?|[A-Za-z_][\w']*|<=|>=|\*\*|!=|==|"[^"]*"|\[[^\[\]]*\]|\S)""")
RELATIONS = {"<=": "<=", "<": "<", "=": "==", ">=": "<=", ">": "<"}
_OPEN, _CLOSE = "\N{MATHEMATICAL LEFT ANGLE BRACKET}", "\N{MATHEMATICAL RIGHT ANGLE BRACKET}"
#: What people write and a page does not, with what it has instead.
_INSTEAD = {
    "**": "^",
    "==": "=",
    "!=": "<= or <",
    "\N{LESS-THAN OR EQUAL TO}": "<=",
    "\N{GREATER-THAN OR EQUAL TO}": ">=",
    "\N{MIDDLE DOT}": "a blank",
}


class FormulaError(ValueError):
    """A formula that cannot be read: what is wrong, and the place in its text."""

    def __init__(self, words: str, at: int) -> None:
        super().__init__(words)
        self.at = at


@dataclass(frozen=True, eq=False)
class Node:
    """A part of a formula: its kind, where it begins, the name or number, and its parts."""

    kind: str
    at: int
    value: str = ""
    parts: tuple[Node, ...] = ()

    @cached_property
    def names(self) -> frozenset[str]:
        """The names in it."""
        own = {self.value} if self.kind == "name" else ()
        return frozenset(own).union(*(part.names for part in self.parts))


def is_relation(text: str) -> bool:
    """Whether there is a relation sign outside of all brackets; that of <u, v> is none."""
    depth = 0
    for token, _ in _tokens(text):
        depth += (token in ("(", _OPEN)) - (token in (")", _CLOSE))
        if depth == 0 and token in RELATIONS:
            return True
    return False


def _tokens(text: str) -> list[tuple[str, int]]:
    """ "<" and ">" that touch what they enclose are brackets; a relation sign has blanks on both sides."""
    found = []
    for match in _TOKEN.finditer(text):
        token, start, end = match[1], match.start(1), match.end()
        if token == "<" and text[end : end + 1].strip():
            token = _OPEN
        elif token == ">" and text[start - 1 : start].strip():
            token = _CLOSE
        found.append((token, start))
    return found


@cache
def parsed(text: str, kind: str) -> Node:
    """The tree of a text that is a "relation", a "formula" or "several" formulas.

    Raises
    ------
    FormulaError
        It cannot be read.
    """
    reader = _Reader(text)
    found = {"relation": reader.relation, "formula": reader.sum, "several": reader.several}[kind]()
    if reader.tokens:
        reader.fail("{!r} is not expected here")
    return found


class _Reader:
    """Tokens from the left, with one step of looking ahead."""

    def __init__(self, text: str) -> None:
        self.text, self.tokens = text, _tokens(text)[::-1]
        self.bars = 0

    def fail(self, words: str) -> None:
        token, at = self.tokens[-1] if self.tokens else ("the end", len(self.text))
        token = {_OPEN: "<", _CLOSE: ">"}.get(token, token)
        hint = f": write {_INSTEAD[token]}" if token in _INSTEAD else ""
        if token in ("<", ">"):
            hint = ": a relation sign has blanks on both sides, and <u, v> has none inside"
        raise FormulaError(words.format(token) + hint, at)

    @property
    def peek(self) -> str:
        return self.tokens[-1][0] if self.tokens else ""

    @property
    def at(self) -> int:
        return self.tokens[-1][1] if self.tokens else len(self.text)

    def next(self) -> str:
        return self.tokens.pop()[0] if self.tokens else ""

    def take(self, token: str) -> None:
        if self.peek != token:
            self.fail(f"{ {_CLOSE: '>'}.get(token, token)!r} is missing before {{!r}}")
        self.next()

    def relation(self) -> Node:
        at, left = self.at, self.sum()
        if not self.tokens:
            return left
        if self.peek not in RELATIONS:
            self.fail("{!r} stands where <=, < or = should")
        op = self.next()
        right = self.sum()
        if self.peek in RELATIONS:
            self.fail("a second {!r}: write two facts, one relation each")
        return Node("relation", at, op, (left, right))

    def several(self) -> Node:
        at, found = self.at, [self.sum()]
        while self.peek == ",":
            self.next()
            found.append(self.sum())
        return Node("several", at, "", tuple(found))

    def several_or_none(self) -> Node:
        return Node("several", self.at) if self.peek == ")" else self.several()

    def sum(self) -> Node:
        at = self.at
        sign = self.next() if self.peek in ("+", "-") else "+"
        found = [Node(sign, at, "", (self.product(),))]
        while self.peek in ("+", "-"):
            place, sign = self.at, self.next()
            found.append(Node(sign, place, "", (self.product(),)))
        return found[0].parts[0] if len(found) == 1 and found[0].kind == "+" else Node("sum", at, "", tuple(found))

    def product(self) -> Node:
        at, found = self.at, [Node("*", self.at, "", (self.power(),))]
        while self.peek in ("*", "/") or self.begins_factor():
            place = self.at
            op = self.next() if self.peek in ("*", "/") else "*"
            found.append(Node(op, place, "", (self.power(),)))
        return found[0].parts[0] if len(found) == 1 else Node("product", at, "", tuple(found))

    def begins_factor(self) -> bool:
        token = self.peek
        return bool(token) and (token[0].isalnum() or token[0] in f"_([{_OPEN}" or (token == "|" and not self.bars))

    def power(self) -> Node:
        at, base = self.at, self.atom()
        if self.peek != "^":
            return base
        self.next()
        sign = self.next() if self.peek == "-" else ""
        return Node("power", at, sign, (base, self.atom()))

    def inside(self, close: str, read: Callable[[], Node]) -> Node:
        outer, self.bars = self.bars, 0
        found = read()
        self.take(close)
        self.bars = outer
        return found

    def atom(self) -> Node:
        at, token = self.at, self.peek
        if token == "|":
            self.next()
            if self.peek == "|" and self.at == at + 1:
                raise FormulaError("'||' opens nothing: write |v| for the norm of v", at)
            self.bars += 1
            inside = self.sum()
            self.take("|")
            self.bars -= 1
            return Node("bars", at, "", (inside,))
        if token in (_OPEN, "("):
            self.next()
            if token == "(":
                return Node("brackets", at, "", (self.inside(")", self.sum),))
            pair = self.inside(_CLOSE, self.several)
            if len(pair.parts) != 2:
                raise FormulaError("'<' opens <u, v>: a relation sign has blanks on both sides", at)
            return Node("dot", at, "", pair.parts)
        if token[:1].isdigit():
            return Node("number", at, self.next())
        if token.startswith("["):
            return Node("slack", at, self.next()[1:-1])
        if token.startswith('"'):
            return Node("text", at, self.next()[1:-1])
        if token == "grad":
            self.next()
            return Node("grad", at, "", (self.name(self.at),))
        return self.name(at)

    def name(self, at: int) -> Node:
        if not re.match(r"[A-Za-z_]", self.peek):
            self.fail("{!r} stands where a name or a number should")
        name, parts = self.next(), []
        # An index touches its name: f[i] is a member of a family, and f [i] a product with a slack.
        if self.peek.startswith("[") and self.at == at + len(name):
            place = self.at + 1
            inner = _Reader(self.next()[1:-1])
            inner.tokens = [(token, start + place) for token, start in inner.tokens]
            parts.append(Node("index", place, "", inner.several().parts))
        while self.peek == "(":
            self.next()
            parts.append(self.inside(")", self.several_or_none))
        return Node("name", at, name, tuple(parts))
