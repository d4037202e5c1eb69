"""Exact instances: those that stand on pages, and the families of rounds and runs that pages name.

A family is a function whose arguments are named as on the page; it makes a round or a run, of which the table of its
module (`c_flag.TABLE`, `cfl.TABLE`) says what each symbol of a claim is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from inspect import signature
from typing import Any

import sympy as sp

from cflag_theory.claims.engine.claim import Claim, statements
from cflag_theory.claims.pages.instances import Instances
from cflag_theory.claims.pages.text import bare, said
from cflag_theory.errors import InvalidInput
from cflag_theory.verify.evidence import Point


def points_of(subject: Claim) -> Iterator[Point]:
    """The instances that stand on a claim's page.

    Raises
    ------
    InvalidInput
        A value is none of its symbol's sort; no family has the name that the page gives; it lacks a number.
    """
    for block in subject.instances:
        try:
            yield from _points(subject, block)
        except (ValueError, TypeError, KeyError) as error:
            raise InvalidInput(f"the instances of {subject.id} on its page: {bare(said(error))}") from error


def _points(subject: Claim, block: Instances) -> Iterator[Point]:
    named = _named(subject, block.part)
    for values, given, story in block.values():
        if block.family:
            state, table = _made(block.family, given)
            values = {symbol: table[symbol](state) for symbol in table if symbol in named - {*values}} | values
            story = story or (state.words,)
        # The statement's h(t + 1) is h(3) at t = 2.
        values |= {term: values[at] for term in named if (at := term.xreplace(values)) in values}
        point = Point(values, story, block.part)
        # Read now, so that a value that does not fit is told with the claim.
        _ = point.exact
        yield point


def _made(family: str, given: dict[str, sp.Expr]) -> tuple[Any, Any]:
    """The round or the run of these numbers, and the table of its symbols."""
    from cflag_theory.verify.instances import c_flag, cfl

    known = {name: (make, module.TABLE) for module in (c_flag, cfl) for name, make in module.FAMILIES.items()}
    if family not in known:
        raise KeyError(f"no family of instances is named {family!r}: use {', '.join(known)}")
    make, table = known[family]
    return make(**{name: _plain(given[name]) for name in signature(make).parameters if name in given}), table


def _plain(value: sp.Expr) -> int | Fraction:
    return int(value) if value.is_Integer else Fraction(int(value.p), int(value.q))


def _named(subject: Claim, key: str | None) -> set[sp.Expr]:
    """The symbols and terms of the statements of a part, or of all."""
    relations = [
        relation
        for part in subject.parts
        if key in (None, part.key)
        for statement in statements(part).values()
        for relation in statement.relations
    ]
    return set().union(*(one.slack.atoms(sp.Symbol, sp.Function) for one in relations))
