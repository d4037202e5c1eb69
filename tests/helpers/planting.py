"""Planted errors: a statement of a claim with another constant, relation or hypothesis, and what must come of it.

They stand beside the claim's check, and only tests read them: a check that accepts an error decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypedDict, Unpack

import sympy as sp

from cflag_theory.claims.engine.claim import Claim, Fact, Statement, statements
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.errors import UnknownName

#: One millionth less and more than 1.
LESS, MORE = 1 - sp.Rational(1, 10**6), 1 + sp.Rational(1, 10**6)


@dataclass(frozen=True)
class Plant:
    """A statement with an error.

    Attributes
    ----------
    error : str
        What is wrong.
    constants : mapping
        Arguments of the claim's builder, by place or by name; without them the claim is that of the ledger.
    change : callable
        The statement to the one with the error.
    part, on : str
        Where the statement is: the part, and "printed", "repair", "sharp" or "refutation".
    verdict : str
        The verdict on the changed statement alone. "false": an exact instance refutes it. "open": no instance is known,
        and its proof is not accepted. "holds": it is true, which shows that not everything is rejected.
    """

    error: str
    constants: Mapping[int | str, Any] = field(default_factory=dict)
    change: Callable[[Statement], Statement] = lambda statement: statement
    part: str = "1"
    on: str = "printed"
    verdict: str = "false"

    def statement(self, build: Callable[..., Claim]) -> Statement:
        """The statement with the error, from the claim's builder.

        Raises
        ------
        UnknownName
            If the claim has no such statement.
        """
        listed = [value for key, value in self.constants.items() if isinstance(key, int)]
        named = {key: value for key, value in self.constants.items() if isinstance(key, str)}
        for part in build(*listed, **named).parts:
            known = statements(part) | ({"refutation": part.refutation} if part.refutation else {})
            if part.key == self.part and self.on in known:
                return self.change(known[self.on])
        raise UnknownName(f"there is no {self.on!r} statement in part {self.part!r} to plant an error in")


Plants = tuple[Plant, ...]
#: What stands on a side instead: a function of the old one, an expression, a number as text, or None for the old one.
Side: TypeAlias = Any


class Where(TypedDict, total=False):
    """Fields of `Plant`; several parts for the same error in each."""

    part: str | tuple[str, ...]
    on: str
    verdict: str


def built(*values: Any, **where: Unpack[Where]) -> Plants:
    """Other constants: numbers, text such as "11/10", tuples of several or mappings by name; `where` as in `Plant`."""
    found: list[Plant] = []
    for value in values:
        listed = dict(enumerate(value)) if isinstance(value, tuple) else {0: value}
        given = value if isinstance(value, dict) else listed
        words = ", ".join(f"{key} = {one}" if isinstance(key, str) else str(one) for key, one in given.items())
        found += _in_parts(Plant(f"constants {words}", {key: _number(one) for key, one in given.items()}), **where)
    return tuple(found)


def changed(error: str, change: Callable[[Statement], Statement], **where: Unpack[Where]) -> Plants:
    """Another statement; it keeps its proof unless told otherwise."""
    return _in_parts(Plant(error, change=change), **where)


def related(error: str, *, left: Side = None, right: Side = None, **where: Unpack[Where]) -> Plants:
    """Another relation, with the old proof: another left side, right side or both."""

    def planted(statement: Statement) -> Statement:
        assert statement.relation is not None
        return replace(statement, relation=_other(statement.relation, left, right))

    return changed(error, planted, **where)


def scaled(factor: Any, *parts: str, left: bool = False, on: str = "printed", verdict: str = "false") -> Plants:
    """The right side of some parts times a factor, or the left side; of part 1 if none is named."""

    def times(side: sp.Expr) -> sp.Expr:
        return side * _number(factor)

    error = f"{'left' if left else 'right'} side times {factor}"
    old, new = (times, None) if left else (None, times)
    return related(error, left=old, right=new, part=parts or "1", on=on, verdict=verdict)


def shifted(*terms: Any, **where: Unpack[Where]) -> Plants:
    """The right side and one of the terms."""

    def by(term: Any) -> Side:
        return lambda side: side + _number(term)

    return tuple(plant for term in terms for plant in related(f"{term} more", right=by(term), **where))


def assumed(name: str, *, left: Side = None, right: Side = None, **where: Unpack[Where]) -> Plants:
    """Another hypothesis or definition in place of the one of that name."""

    def planted(statement: Statement) -> Statement:
        hypotheses, definitions = (
            tuple(replace(f, relation=_other(f.relation, left, right)) if f.name == name else f for f in facts)
            for facts in (statement.hypotheses, statement.definitions)
        )
        return _differs(statement, hypotheses, definitions, name)

    return changed(f"another {name}", planted, **where)


def without(*names: str, **where: Unpack[Where]) -> Plants:
    """A hypothesis or definition fewer, by name, one after another; no hypothesis at all without a name."""
    if not names:
        return changed("without hypotheses", lambda statement: replace(statement, hypotheses=()), **where)

    def less(name: str) -> Callable[[Statement], Statement]:
        def planted(statement: Statement) -> Statement:
            hypotheses, definitions = (
                tuple(fact for fact in facts if fact.name != name)
                for facts in (statement.hypotheses, statement.definitions)
            )
            return _differs(statement, hypotheses, definitions, name)

        return planted

    return tuple(plant for name in names for plant in changed(f"without {name}", less(name), **where))


def _in_parts(
    plant: Plant, *, part: str | tuple[str, ...] = "1", on: str = "printed", verdict: str = "false"
) -> Plants:
    parts = (part,) if isinstance(part, str) else part
    return tuple(replace(plant, part=key, on=on, verdict=verdict) for key in parts)


def _differs(statement: Statement, hypotheses: tuple[Fact, ...], definitions: tuple[Fact, ...], name: str) -> Statement:
    if (hypotheses, definitions) == (statement.hypotheses, statement.definitions):
        raise UnknownName(f"no hypothesis called {name!r} is changed")
    return replace(statement, hypotheses=hypotheses, definitions=definitions)


def _other(relation: Relation, left: Side, right: Side) -> Relation:
    sides = []
    for old, new in ((relation.left, left), (relation.right, right)):
        sides.append(old if new is None else new(old) if callable(new) else sp.sympify(_number(new)))
    return Relation(sides[0], relation.op, sides[1])


def _number(value: Any) -> Any:
    return sp.Rational(value) if isinstance(value, str) else value
