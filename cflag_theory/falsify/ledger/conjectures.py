"""The papers' claims as conjectures for the falsifier."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from inspect import Parameter, Signature
from typing import Any

import numpy as np
import sympy as sp

from cflag_theory.claims.engine.claim import Statement, statements
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.falsify.algebra.tracing import NotAlgebra, Traced
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.ledger.numbers import Span, numeric
from cflag_theory.falsify.ledger.sources import Source, find_part, source, symbols_of
from cflag_theory.falsify.quantity import Hypothesis
from cflag_theory.falsify.ranges import Range
from cflag_theory.falsify.search.exact_numbers import DIGITS

#: How far floats may fall short of a hypothesis, relative to the sizes of its sides; fractions may not at all.
_ROUNDING = 1e-12


def ledger_conjecture(id: str, part: str | None = None, *, on: str = "printed") -> Conjecture:
    """A row of the ledger as a conjecture over small exact instances.

    No stored counterexample is used: the instances are all numbers that the hypotheses allow, small vectors and
    functions, or rounds of Algorithm 1 and of (67)-(68) on the line, whichever the row speaks of.

    Parameters
    ----------
    id : str
        A claim of the ledger, such as "cflag.lemma13".
    part : str, optional
        One of its parts; the first without it.
    on : {"printed", "repair", "sharp"}
        Which statement of the part.
    """
    claim, found = find_part(id, part)
    known = statements(found)
    if on not in known:
        raise UnknownName(f"{id}.{found.key} has no {on!r} statement: use one of {', '.join(known)}")
    name, relation = f"{id}.{found.key} ({on})", known[on].relation
    if relation is not None and relation.op == "==":
        raise InvalidInput(f"{name} is an equation, and the falsifier raises ratios: see cflag show {id} for its check")
    made = source(claim.id, found.key, on, known[on])
    return conjecture(f"{name} over {made.words}", made)


@dataclass(frozen=True, kw_only=True, eq=False)
class _OfARow(Conjecture):
    """A conjecture whose one hypothesis, that a draw is an instance, is put in the words of the row."""

    instance: str

    @cached_property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        return tuple(replace(one, words=self.instance) for one in super().hypotheses)


def conjecture(name: str, made: Source, relation: Relation | None = None) -> Conjecture:
    """The conjecture that a statement, or another relation in its place, holds for all of a source's instances."""
    goal = made.statement.relation if relation is None else relation
    assert goal is not None
    case = _Case(made, goal)
    ranges = {word: _range(word, span) for word, span in made.spans.items()}
    facts = dict.fromkeys(fact.relation for fact in made.statement.hypotheses)
    given = "; ".join(str(one) for one in facts if not (one.left == 0 and one.right.is_Symbol))
    return _OfARow(
        name=name,
        instance=f"left and right are those of {goal}" + (f", where {given}" if given else ""),
        ranges=ranges,
        given=(_named("instance", list(ranges), case.holds),),
        left=_named("left", list(ranges), lambda draw: case.sides(draw)[0]),
        right=_named("right", list(ranges), lambda draw: case.sides(draw)[1]),
        relation=goal.op,
    )


def _range(word: str, span: Span) -> Range:
    """The range of a variable; integers besides E are entries of the search and no sizes, of which it tries but few."""
    if span.kind == "integer":
        return Range(span.low, span.high, kind="integer", shape=() if word in ("E", "T") else (1,))
    return Range(span.low, span.high, scale="log" if span.kind == "log" else "linear")


class _Case:
    """The hypotheses and both sides of a relation at a draw, computed once for the three questions about it."""

    def __init__(self, made: Source, goal: Relation) -> None:
        relations = [goal, *(fact.relation for fact in made.statement.hypotheses)]
        self._source, self._ops = made, [relation.op for relation in relations[1:]]
        self._symbols = sorted(set().union(*map(symbols_of, relations)), key=str)
        sides = [side for relation in relations for side in (relation.left, relation.right)]
        self._numeric = numeric(sides, self._symbols)
        self._seen: tuple[Any, list[Any] | None] = (None, None)

    def _found(self, draw: Mapping[str, Any]) -> list[Any] | None:
        plain = {name: value.item() if isinstance(value, np.ndarray) else value for name, value in draw.items()}
        key = (DIGITS.get(), [(type(value), value) for value in plain.values()])
        traced = any(isinstance(value, Traced) for value in plain.values())
        if traced or self._seen[0] != key:
            try:
                values = self._source.values(plain)
                found = None if values is None else self._numeric(*[values[symbol] for symbol in self._symbols])
            except (ZeroDivisionError, OverflowError):
                found = None
            if traced:
                return found
            self._seen = (key, found)
        return self._seen[1]

    def sides(self, draw: Mapping[str, Any]) -> list[Any]:
        """Left and right."""
        found = self._found(draw)
        if found is None:
            raise ZeroDivisionError("the draw is not an instance")
        return found[:2]

    def holds(self, draw: Mapping[str, Any]) -> Any:
        """Whether the draw is an instance that satisfies the hypotheses; relations for traced numbers."""
        found = self._found(draw)
        if found is None:
            return False
        pairs = list(zip(found[2::2], found[3::2], self._ops, strict=True))
        if not any(isinstance(value, Traced) for value in draw.values()):
            return all(_within(left, right, op) for left, right, op in pairs)
        joined: Any = Traced(sp.S.Zero) == Traced(sp.S.Zero)
        for left, right, op in pairs:
            joined = joined & _without_division(_expression(left), _expression(right), op)
        return joined


def _expression(value: Any) -> sp.Expr:
    if isinstance(value, Traced):
        return value.expr
    return sp.Rational(value.numerator, value.denominator) if isinstance(value, int | Fraction) else sp.sympify(value)


def _without_division(left: sp.Expr, right: sp.Expr, op: str) -> Any:
    """left op right times the squares of both denominators, and that these are not zero."""
    if left.has(sp.exp) or right.has(sp.exp):
        raise NotAlgebra("it holds exponentials")
    (a, b), (c, d) = (sp.fraction(sp.together(side)) for side in (left, right))
    left, right = Traced(a * b * d**2), Traced(c * d * b**2)
    related = left == right if op == "==" else left < right if op == "<" else left <= right
    for under in (b, d):
        if not under.is_number:
            related = related & (Traced(sp.S.Zero) < Traced(under**2))
    return related


def _within(left: Any, right: Any, op: str) -> bool:
    if op == "<":
        return bool(left < right)
    if isinstance(left, float) or isinstance(right, float):
        rounding = _ROUNDING * (abs(left) + abs(right))
        return bool(abs(left - right) <= rounding if op == "==" else left - right <= rounding)
    return bool(left == right if op == "==" else left <= right)


def _named(name: str, words: list[str], of: Callable[[Mapping[str, Any]], Any]) -> Callable[..., Any]:
    """A function of variables by name, for the conjecture to read its arguments from."""

    def function(**draw: Any) -> Any:
        return of(draw)

    function.__name__ = name
    function.__signature__ = Signature([Parameter(word, Parameter.KEYWORD_ONLY) for word in words])  # type: ignore[attr-defined]
    return function


def rows() -> dict[tuple[str, str, str], Statement]:
    """Every statement of the ledger that is an inequality: by claim, part and "printed", "repair" or "sharp"."""
    from cflag_theory.claims.ledger import LEDGER
    from cflag_theory.claims.ledger import claim as of_ledger

    return {
        (id, part.key, on): statement
        for id in LEDGER
        for part in of_ledger(id).parts
        for on, statement in statements(part).items()
        if statement.relation is not None and statement.relation.op != "=="
    }
