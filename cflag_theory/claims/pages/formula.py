"""Formulas as they are written: "drift(k) <= 4 beta k grad_g" is a Relation.

A product is written by putting its factors side by side; "*" is allowed. A quotient has one factor under the bar, so
that a/2 b is (a/2) b. |v| is the norm of a vector and |v|^2 its Gram entry; <u, v> is the inner product; grad f(x) the
gradient of f at x. [name] is the slack of what is given under that name, or the residual of an equation.

A text is read once into a tree, which knows nothing of names; what they mean is looked up when the tree is evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from typing import Any

import sympy as sp

from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.terms import dot, is_vector, norm, norm2
from cflag_theory.claims.pages.text import Piece

_TOKEN = re.compile(r"""\s*(\d+(?:\.\d+)?|[A-Za-z_][\w']*|<=|>=|\*\*|!=|==|"[^"]*"|\[[^\[\]]*\]|\S)""")
_RELATIONS = {"<=": "<=", "<": "<", "=": "==", ">=": "<=", ">": "<"}
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


class Words(Mapping[str, Any]):
    """What names mean: those of a page, and before them those of a claim, a scheme or a function with places.

    A formula without names of the second kind has one value, which is kept.
    """

    def __init__(self, page: dict[str, Any], own: Mapping[str, Any] | None = None, kept: Any = None) -> None:
        self.page, self.own = page, own or {}
        self.kept: dict[Node, Any] = {} if kept is None else kept

    def with_own(self, own: Mapping[str, Any]) -> Words:
        """These words with others before them."""
        return Words(self.page, {**self.own, **own}, self.kept)

    def define(self, name: str, value: Any) -> None:
        """Give a name of the page its meaning."""
        if name in self.page:
            self.kept.clear()
        self.page[name] = value

    def told(self, name: str) -> Any:
        """What {name} stands for in words: a text, a number or a constant of the claim; None if for neither."""
        value = self.get(name)
        number = isinstance(value, sp.Expr) and (value.is_number or name in self.own)
        return value if number or isinstance(value, str) else None

    def __getitem__(self, name: str) -> Any:
        return self.own[name] if name in self.own else self.page[name]

    def __contains__(self, name: object) -> bool:
        return name in self.own or name in self.page

    def __iter__(self) -> Iterator[str]:
        return iter({**self.page, **self.own})

    def __len__(self) -> int:
        return len({**self.page, **self.own})


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


def relation(text: str, words: Words, given: Callable[[str], sp.Expr] | None = None) -> Relation:
    """One relation between two formulas, or the name of one; >= and > are turned around.

    Raises
    ------
    PageError, FormulaError
        It cannot be read, or is no relation between two numbers or two vectors.
    """
    found = _evaluated(text, "relation", words, given)
    if not isinstance(found, Relation):
        raise _placed(text, FormulaError(f"{text!r} is no relation: write <=, < or = between two formulas", 0))
    return found


def formula(text: str, words: Words, given: Callable[[str], sp.Expr] | None = None) -> Any:
    """A number, a vector, an operator, a text: whatever the names mean."""
    return _evaluated(text, "formula", words, given)


def formulas(text: str, words: Words) -> list[Any]:
    """Formulas with commas between them."""
    found: list[Any] = _evaluated(text, "several", words, None) if text.strip() else []
    return found


def read(text: str, words: Words) -> Any:
    """A relation or a formula."""
    return relation(text, words) if is_relation(text) else formula(text, words)


def is_relation(text: str) -> bool:
    """Whether there is a relation sign outside of all brackets; that of <u, v> is none."""
    depth = 0
    for token, _ in _tokens(text):
        depth += (token in ("(", _OPEN)) - (token in (")", _CLOSE))
        if depth == 0 and token in _RELATIONS:
            return True
    return False


def _evaluated(text: str, kind: str, words: Words, given: Callable[[str], sp.Expr] | None) -> Any:
    try:
        node = _parsed(str(text), kind)
        if given is not None or not node.names.isdisjoint(words.own):
            return _Meaning(words, given).of(node)
        if node not in words.kept:
            words.kept[node] = _Meaning(words, None).of(node)
        return words.kept[node]
    except FormulaError as error:
        raise _placed(text, error) from None


def _placed(text: str, error: FormulaError) -> Exception:
    return text.error(str(error), error.at) if isinstance(text, Piece) else error


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
def _parsed(text: str, kind: str) -> Node:
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
        if self.peek not in _RELATIONS:
            self.fail("{!r} stands where <=, < or = should")
        op = self.next()
        right = self.sum()
        if self.peek in _RELATIONS:
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


class _Meaning:
    """Evaluates a tree, with what names mean."""

    def __init__(self, words: Words, given: Callable[[str], sp.Expr] | None) -> None:
        self.words, self.given = words, given

    def of(self, node: Node) -> Any:
        try:
            value: Any = getattr(self, f"_{node.kind}")(node)
        except FormulaError:
            raise
        except (TypeError, ValueError, KeyError, AttributeError, ZeroDivisionError) as error:
            raise FormulaError(str(error).strip("'"), node.at) from error
        return value

    def _relation(self, node: Node) -> Relation:
        left, right = map(self.of, node.parts)
        if node.value[0] == ">":
            left, right = right, left
        return Relation(sp.sympify(left), _RELATIONS[node.value], sp.sympify(right))

    def _several(self, node: Node) -> list[Any]:
        return [self.of(part) for part in node.parts]

    def _sum(self, node: Node) -> Any:
        total: Any = None
        for term in node.parts:
            value = self.of(term.parts[0])
            value = -value if term.kind == "-" else value
            total = value if total is None else total + value
        return total

    def _product(self, node: Node) -> Any:
        total: Any = None
        for factor in node.parts:
            first, *others = self._factors(factor.parts[0])
            total = first if total is None else total / first if factor.kind == "/" else total * first
            for other in others:
                total = total * other
        return total

    def _factors(self, node: Node) -> list[Any]:
        """The value, or the factors where a name with brackets behind it is a product."""
        if node.kind == "name":
            return self._named(node)
        return self._powers(node) if node.kind == "power" else [self.of(node)]

    def _powers(self, node: Node) -> list[Any]:
        """A power, with the factors before it and behind it: q (a)^n is q times a^n, and a^n (b) is a^n times b."""
        base = node.parts[0]
        exponent, *behind = self._factors(node.parts[1])
        exponent = -exponent if node.value else exponent
        if base.kind == "bars" and is_vector(inside := self.of(base.parts[0])):
            return [norm2(sp.expand(inside)) if exponent == 2 else norm(sp.expand(inside)) ** exponent, *behind]
        *before, last = self._factors(base)
        return [*before, last**exponent, *behind]

    def _power(self, node: Node) -> Any:
        first, *others = self._powers(node)
        for other in others:
            first = first * other
        return first

    def _bars(self, node: Node) -> Any:
        inside = self.of(node.parts[0])
        return norm(sp.expand(inside)) if is_vector(inside) else sp.Abs(inside)

    def _brackets(self, node: Node) -> Any:
        return self.of(node.parts[0])

    def _dot(self, node: Node) -> Any:
        return dot(*map(self.of, node.parts))

    def _number(self, node: Node) -> Any:
        return sp.Rational(node.value)

    def _text(self, node: Node) -> str:
        return node.value

    def _slack(self, node: Node) -> Any:
        if self.given is None:
            raise FormulaError(f"[{node.value}] stands for what is given, in certificates alone", node.at)
        return self.given(node.value)

    def _grad(self, node: Node) -> Any:
        name = node.parts[0]
        *indices, arguments = name.parts or (None,)
        if arguments is None or arguments.kind == "index":
            raise FormulaError(f"grad {name.value} is taken at a point: write grad {name.value}(x)", node.at)
        function = self._named(Node("name", name.at, name.value, tuple(indices)))[0]
        return function.grad(*self.of(arguments))

    def _name(self, node: Node) -> Any:
        first, *others = self._named(node)
        for other in others:
            first = first * other
        return first

    def _named(self, node: Node) -> list[Any]:
        """What a name means, called with what stands behind it; brackets that it does not take are factors."""
        if node.value not in self.words:
            near = get_close_matches(node.value, [name for name in self.words if isinstance(name, str)], n=2)
            meant = f": did you mean {' or '.join(near)}?" if near else ""
            raise FormulaError(f"nothing on the page is called {node.value!r}{meant}", node.at)
        factors: list[Any] = []
        found = self.words[node.value]
        for part in node.parts:
            values = [self.of(one) for one in part.parts]
            if part.kind == "index":
                found = found[tuple(values)]
            elif not factors and callable(found) and not isinstance(found, sp.Expr):
                found = found(*values)
            elif len(values) == 1:
                factors.append(values[0])
            else:
                raise FormulaError(f"{node.value} is no function of {len(values)} places", node.at)
        return [found, *factors]
