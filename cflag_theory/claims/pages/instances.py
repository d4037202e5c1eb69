"""Exact instances that stand on a page: values that lists give, and values that follow from them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.engine.claim import Fact
from cflag_theory.claims.engine.points import holds_at
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.pages.formula import Words, formula, formulas, relation
from cflag_theory.claims.pages.proofs import Scheme
from cflag_theory.claims.pages.text import Line, Piece

#: Values of symbols, of terms of sequences and of names that only the instances have.
Values = dict[sp.Expr, sp.Expr]
#: From the values so far, all that a line makes of them.
_Step = Callable[[Values], Iterator[Values]]


class _Over(sp.Function):  # type: ignore[misc]
    """The sum, the largest or the least of a formula over i = 0, ..., n - 1: evaluated when n has a value."""

    @classmethod
    def of(cls, kind: int) -> Callable[..., Any]:
        def over(i: sp.Symbol, n: sp.Expr) -> Callable[[sp.Expr], sp.Expr]:
            bound = sp.Dummy(integer=True, nonnegative=True)
            return lambda body: cls(kind, bound, n, sp.sympify(body).xreplace({i: bound}))

        return over


#: What a name of the page may be that instances use for a number of their own: nothing, steps, facts, words.
_NO_VALUES = (type(None), Scheme, Fact, tuple, str)
#: Formulas in words.
_BRACES = re.compile(r"\{([^{}]*)\}")
_FOLDED = (lambda found: sp.Add(*found), lambda found: sp.Max(*found), lambda found: sp.Min(*found))
#: What these words mean among instances, where everything has a value.
_WORDS = {"sum": _Over.of(0), "max": _Over.of(1), "min": _Over.of(2), "ln": sp.log}


@dataclass(frozen=True)
class Instances:
    """What a block of a page gives values to, in the order of its lines, and the words behind them.

    `names` are those that it gives values to, and `own` those that only these instances have; `part` is the part that
    they are for, or None for all; `family` names what makes rounds or runs of the values, if anything. `line_of` says
    behind how many lines a name gets its value, `used` what the lines are made of.
    """

    steps: tuple[_Step, ...]
    story: tuple[Callable[[Values], str], ...]
    names: Mapping[str, sp.Expr]
    own: frozenset[Any]
    line_of: Mapping[str, int]
    used: frozenset[sp.Expr]
    part: str | None = None
    family: str = ""
    unseen: str = ""

    def values(
        self,
        arguments: Iterable[str] = (),
        made: Callable[[Values, dict[str, sp.Expr]], Iterator[Values]] | None = None,
    ) -> Iterator[tuple[Values, dict[str, sp.Expr], tuple[str, ...]]]:
        """Of each instance the values of the page's terms, those of all names, and its story.

        With `made`, behind the last line that gives one of the `arguments`, values become those of rounds or runs.
        """
        steps = list(self.steps)
        if made is not None:
            last = max((self.line_of[name] + 1 for name in arguments if name in self.line_of), default=0)
            steps.insert(last, lambda values: made(values, self._given(values)))
        found: Iterator[Values] = iter([{}])
        for step in steps:
            found = chain.from_iterable(map(step, found))
        for values in found:
            given = self._given(values)
            kept = {term: value for term, value in values.items() if self.own.isdisjoint((term, term.func))}
            yield kept, given, tuple(told(values) for told in self.story)

    def _given(self, values: Values) -> dict[str, sp.Expr]:
        return {name: values[term] for name, term in self.names.items() if term in values}


def instances_of(line: Line, words: Words, part: str | None) -> Instances:
    """`instances`, `instances NAME`, `instances of FAMILY` or `instances NAME of FAMILY`, with the lines under it.

    Several may stand in one line, and behind these words, with " | " between them; a story or `unseen` stands alone.

    each L, m = 1, 0; 7/3, 1/2       in turn these values; `each m = 0, 1` for one name, `each L and m = 0, 1` for each
    alpha = share 2/(L (1 + m))      what follows from them; names that the page does not know are the instances' own
    h(t + 1) = h(t)/2 for t < T      one after the other, for t = 0, ..., T - 1
    total = sum(t, T)(h(t))          likewise max and min
    where alpha L <= 1; L = m        the others are left out
    story L = {L}, alpha = {alpha}.  a line of the story, with the values of formulas
    instances NAME                   here the lines of these
    unseen it is the largest         what a reader must see where one of these refutes

    Raises
    ------
    PageError
        A line that cannot be read, or gives a value to what has none.
    """
    head, first = line.said.cut(" | ")
    rest = head.behind("instances")
    name, family = (rest.part(0, 0), rest.behind("of")) if rest.startswith("of ") else rest.cut(" of ")
    read = _Reader(words.with_own(_WORDS))
    if name:
        read.shared(name)
    read.lines(line, first)
    own = frozenset(read.own.values())
    return Instances(
        tuple(read.steps),
        tuple(read.story),
        read.names,
        own,
        read.line_of,
        frozenset(read.used),
        part,
        str(family),
        read.unseen,
    )


class _Reader:
    """Reads the lines of a block."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self.own: dict[str, Any] = {}
        self.names: dict[str, sp.Expr] = {}
        self.steps: list[_Step] = []
        self.story: list[Callable[[Values], str]] = []
        self.line_of: dict[str, int] = {}
        self.used: set[sp.Expr] = set()
        self.unseen = ""
        self._open: list[str] = []

    @property
    def words(self) -> Words:
        return self._words.with_own(self.own)

    def lines(self, block: Line, first: Piece) -> None:
        for said in first.listed(" | "):
            self.line(said)
        for one in block.inside:
            if one.inside:
                raise one.inside[0].error("nothing stands under a line of instances: begin a longer line with a sign")
            whole = Piece.of(one, one.text)
            with one.placed():
                for said in [whole] if one.kind in ("story", "unseen") else whole.listed(" | "):
                    self.line(said)

    def shared(self, name: Piece) -> None:
        named = self._words.get(name)
        if not isinstance(named, Line) or name in self._open:
            raise name.error(f"no instances before these are named {str(name)!r}")
        self._open.append(str(name))
        self.lines(named, named.said.cut(" | ")[1])
        self._open.pop()

    def line(self, said: Piece) -> None:
        kind = said.partition(" ")[0]
        rest = said.behind(kind)
        if kind == "instances":
            self.shared(rest)
        elif kind == "story":
            self.used |= set().union(*(_atoms(self._formula(said.part(*at.span(1)))) for at in _BRACES.finditer(said)))
            self.story.append(_told(rest, self.words))
        elif kind == "unseen":
            self.unseen = str(rest)
        elif kind == "where":
            for one in rest.listed("; "):
                condition = relation(one, self.words)
                self.used |= _atoms(condition.slack)
                self.steps.append(_kept(condition))
        else:
            head, body = said.behind("each").cut(" = ")
            body, over = body.cut(" for ")
            *others, head = head.listed(" and ")
            for other in others:
                self._each(kind, [other], body.listed(", "), over)
            names = head.listed(", ")
            self._each(kind, names, body.listed("; " if len(names) > 1 else ", "), over)

    def _each(self, kind: str, names: list[Piece], rows: list[Piece], over: Piece) -> None:
        if kind != "each" and len(rows) > 1:
            raise names[0].error("several values: write 'each name = ...'")
        found = [[sp.sympify(value) for value in formulas(row, self.words)] for row in rows]
        if not found or any(len(row) != len(names) for row in found):
            listed = ", ".join(names)
            raise (rows or names)[0].error(f"each of {listed} needs a value: {len(names)} in a row")
        self.used |= set().union(*(_atoms(value) for row in found for value in row))
        targets = [self._target(name) for name in names]
        given = _given(targets, found)
        self.steps.append(_repeated(targets, found[0], *map(self._formula, over.cut(" < "))) if over else given)

    def _formula(self, text: Piece) -> sp.Expr:
        return sp.sympify(formula(text, self.words))

    def _target(self, name: Piece) -> sp.Expr:
        """The symbol or the term that a name means, or a new one of the instances' own."""
        bare = str(name).partition("(")[0]
        if bare not in self.own and isinstance(self._words.get(bare), _NO_VALUES):
            self.own[bare] = sp.Function(bare, real=True) if "(" in name else sp.Symbol(bare, real=True)
        meant = formula(name, self.words)
        if not isinstance(meant, sp.Symbol | AppliedUndef):
            raise name.error(f"{str(name)!r} has a value of its own: give values to symbols and terms of sequences")
        if isinstance(meant, sp.Symbol):
            self.names[bare], self.line_of[bare] = meant, len(self.steps)
        return meant


def _atoms(expr: sp.Expr) -> set[sp.Expr]:
    found: set[sp.Expr] = expr.atoms(sp.Symbol, AppliedUndef)
    return found


def _at(expr: sp.Expr, values: Values) -> sp.Expr:
    """The value of a formula, or of the indices of a term."""
    # The second time for h(T), where h has a value at the value of T.
    expr = expr.xreplace(values).xreplace(values)
    for one in expr.atoms(_Over):
        kind, i, n, body = one.args
        found = [_at(body.xreplace({i: sp.Integer(at)}), values) for at in range(int(n))]
        expr = expr.xreplace({one: _FOLDED[int(kind)](found)})
    return expr


def _given(targets: list[sp.Expr], rows: list[list[sp.Expr]]) -> _Step:
    def step(values: Values) -> Iterator[Values]:
        for row in rows:
            yield values | dict(zip(targets, [_at(value, values) for value in row], strict=True))

    return step


def _repeated(targets: list[sp.Expr], row: list[sp.Expr], index: sp.Expr, count: sp.Expr) -> _Step:
    def step(values: Values) -> Iterator[Values]:
        for at in range(int(_at(count, values))):
            here = {index: sp.Integer(at)}
            values = values | {
                a.xreplace(here): _at(b.xreplace(here), values) for a, b in zip(targets, row, strict=True)
            }
        yield values

    return step


def _kept(condition: Relation) -> _Step:
    return lambda values: iter([values] if holds_at(condition, values) else [])


def _told(text: Piece, words: Words) -> Callable[[Values], str]:
    def told(values: Values) -> str:
        return _BRACES.sub(lambda match: str(_at(sp.sympify(formula(match[1], words)), values)), text)

    return told
