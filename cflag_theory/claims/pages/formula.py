"""Formulas as they are written: "drift(k) <= 4 beta k grad_g" is a Relation.

A text is read once into a tree; what its names mean is looked up when the tree is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import reduce
from operator import add, mul
from typing import Any

import sympy as sp

from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.sorts import Sort, sort_of
from cflag_theory.claims.engine.terms import dot, is_vector, norm, norm2, vector
from cflag_theory.claims.pages.syntax import RELATIONS, FormulaError, Node, is_relation, parsed
from cflag_theory.claims.pages.text import Piece, said

#: Of the longest power of numbers that is computed, and the largest exponent.
_DIGITS = 2000
_SORTS = {str(sort): sort for sort in Sort} | {">= 0": Sort.NONNEGATIVE, "> 0": Sort.POSITIVE}


class Vectors:
    """What `vector` declares: x(k) with its indices, or x alone where its LaTeX has no place for one."""

    def __init__(self, name: str, latex: str) -> None:
        self.name, self.latex, self.made = name, latex, vector(name, latex)

    def __call__(self, *indices: Any) -> sp.Expr:
        return self.made(*indices)

    def alone(self) -> Any:
        """The vector without indices; of a family the family, as a scheme takes it."""
        return self if "@" in self.latex else self.made()

    def _refuse(self, *others: Any) -> None:
        raise ValueError(f"{self.name} has indices: write {self.name}(k)")

    _sympy_ = __neg__ = __add__ = __sub__ = __mul__ = __truediv__ = __pow__ = _refuse


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


def counted(text: Piece, words: Words) -> sp.Symbol:
    """What a fact may hold for every value of: an index in its place leaves out none of them."""
    found = formula(text, words)
    if not (isinstance(found, sp.Symbol) and sort_of(found).whole):
        raise text.error(f"{text} is neither an index nor a natural number, and no fact holds for every value of it")
    return found


def formulas(text: str, words: Words) -> list[Any]:
    """Formulas with commas between them."""
    found: list[Any] = _evaluated(text, "several", words, None) if text.strip() else []
    return found


def read(text: str, words: Words) -> Any:
    """A relation or a formula."""
    return relation(text, words) if is_relation(text) else formula(text, words)


def _evaluated(text: str, kind: str, words: Words, given: Callable[[str], sp.Expr] | None) -> Any:
    try:
        node = parsed(str(text), kind)
        if given is not None or not node.names.isdisjoint(words.own):
            return _Meaning(words, given).of(node)
        if node not in words.kept:
            words.kept[node] = _Meaning(words, None).of(node)
        return words.kept[node]
    except FormulaError as error:
        raise _placed(text, error) from None


def _placed(text: str, error: FormulaError) -> Exception:
    return text.error(str(error), error.at) if isinstance(text, Piece) else error


class Text(str):
    """What stands in quotes: a name, and no number."""

    def _sympy_(self) -> None:
        # sympy would run it.
        raise ValueError(f"the text {str(self)!r} stands where a number should")


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
            raise FormulaError(said(error), node.at) from error
        return value

    def _relation(self, node: Node) -> Relation:
        left, right = map(self.of, node.parts)
        if node.value[0] == ">":
            left, right = right, left
        made = Relation(sp.sympify(left), RELATIONS[node.value], sp.sympify(right))
        if any(side.has(sp.zoo, sp.nan, sp.oo, sp.I) for side in (made.left, made.right)):
            raise FormulaError("a side is no real number: it divides by 0, or takes the root of less than 0", node.at)
        vectors = [is_vector(side) for side in (made.left, made.right)]
        if any(vectors) and (made.op != "==" or not (all(vectors) or made.right == 0)):
            raise FormulaError(
                "a vector stands beside a relation sign: compare norms, |v|^2, or products, <u, v>", node.at
            )
        return made

    def _several(self, node: Node) -> list[Any]:
        return [self.of(part) for part in node.parts]

    def _sum(self, node: Node) -> Any:
        return reduce(add, (-self.of(one.parts[0]) if one.kind == "-" else self.of(one.parts[0]) for one in node.parts))

    def _product(self, node: Node) -> Any:
        total: Any = None
        for factor in node.parts:
            first, *others = self._factors(factor.parts[0])
            total = first if total is None else total / first if factor.kind == "/" else total * first
            total = reduce(mul, others, total)
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
        if is_vector(last):
            raise FormulaError("a vector has no powers: write |v|^2 for the square of its norm", base.at)
        if _long(last, exponent):
            raise FormulaError("a power of so many digits is not computed: give it a symbol", node.at)
        return [*before, last**exponent, *behind]

    def _power(self, node: Node) -> Any:
        return reduce(mul, self._powers(node))

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
        return Text(node.value)

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
        return reduce(mul, self._named(node))

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
        return [found.alone() if isinstance(found, Vectors) else found, *factors]


def _long(base: Any, exponent: Any) -> bool:
    """Whether a power of numbers has more digits than anybody reads."""
    if not getattr(exponent, "is_Integer", False):
        return False
    digits = len(str(base)) if getattr(base, "is_Rational", False) else 1
    return bool(abs(exponent) * digits > _DIGITS)


def in_tex(name: str) -> str:
    """A name as LaTeX, where a page gives none."""
    text: str = sp.latex(sp.Symbol(name))
    return text


def with_places(name: str, count: int) -> str:
    """The LaTeX of a name with so many places."""
    places = ",".join(f"@{place}" for place in range(1, count + 1))
    return f"{{{in_tex(name)}}}_{{{places}}}" if places else in_tex(name)


def head_of(text: Piece) -> tuple[Piece, list[Piece] | None]:
    """A name and, in brackets, its places."""
    place = text.find("(")
    if place < 0:
        return text, None
    return text.part(0, place), text.part(place + 1, text.rindex(")")).listed(", ")


def names_of(text: Piece) -> tuple[str, str, Piece]:
    """The name in the ledger, that on the page, and the sort behind them."""
    end = text.find('"', 1) + 1 if text.startswith('"') else len(text.partition(" ")[0])
    name, rest = str(text.part(0, end).unquoted), text.part(end)
    if not rest.startswith("as "):
        return name, name, rest
    rest = rest.part(3)
    short = rest.partition(" ")[0]
    return name, short, rest.part(len(short))


def two_names(text: Piece, remedy: str) -> tuple[str, str]:
    """The names of what has no sort."""
    name, short, sort = names_of(text)
    if sort:
        raise sort.error(remedy)
    return name, short


def declared_sort(sort: Piece) -> dict[str, bool]:
    """What the sort that a line gives lets sympy assume."""
    if sort and sort not in _SORTS:
        raise sort.error(f"{sort!r} is no sort: use {', '.join(_SORTS)}")
    return _SORTS[sort].assumptions if sort else {}
