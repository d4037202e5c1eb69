"""Exact instances: those that stand on pages, and the families of rounds and runs that pages name.

A family is a function whose arguments are named as on the page; it makes a round or a run, or several one after the
other, of which the table of its module (`c_flag.TABLE`, `cfl.TABLE`) says what each symbol of a claim is there. Lines
behind those that give its arguments may use these values.
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature
from typing import Any

import sympy as sp

from cflag_theory.claims.engine.claim import Claim, statements
from cflag_theory.claims.engine.points import exact_number
from cflag_theory.claims.pages.instances import Instances, Values
from cflag_theory.claims.pages.text import bare, said
from cflag_theory.errors import InvalidInput
from cflag_theory.verify.evidence import Point


def points_of(subject: Claim) -> Iterator[Point]:
    """The instances that stand on a claim's page."""
    for block in subject.instances:
        try:
            for point in _of_family(subject, block) if block.family else _plainly(subject, block):
                # Read now, so that a value that does not fit is told with the claim.
                _ = point.exact
                yield point
        except (ValueError, TypeError, KeyError) as error:
            raise InvalidInput(f"the instances of {subject.id} on its page: {bare(said(error))}") from error


def _plainly(subject: Claim, block: Instances) -> Iterator[Point]:
    """The instances of values alone."""
    named = _named(subject, block.part)
    for values, story in block.values():
        yield Point(_with_terms(values, named), story, block.part, unseen=block.unseen)


def _with_terms(values: Values, named: set[sp.Expr]) -> Values:
    """The values, those of the statement's h(t + 1) among them, which is h(3) at t = 2."""
    return values | {term: values[at] for term in named if (at := term.xreplace(values)) in values}


def _of_family(subject: Claim, block: Instances) -> Iterator[Point]:
    """The instances of rounds or runs, one by one."""
    make, table = _family(block.family)
    arguments, wanted, states = signature(make).parameters, _named(subject, block.part) | block.used, [None]

    def made(values: Values, given: dict[str, sp.Expr]) -> Iterator[Values]:
        found = make(**{name: exact_number(given[name]) for name in arguments if name in given})
        for states[0] in found if isinstance(found, Iterator) else (found,):
            yield _values(table, states[0], wanted - {*values}) | values

    for values, story in block.values(arguments, made):
        state: Any = states[0]
        members = {
            name: [_values(table, one, wanted) for one in family]
            for name, family in getattr(state, "members", {}).items()
        }
        yield Point(_with_terms(values, wanted), (state.words, *story), block.part, members, block.unseen)


def _values(table: Any, state: Any, wanted: set[sp.Expr]) -> dict[sp.Expr, Any]:
    """What a state gives the wanted symbols; a table may have None for what a symbol does not mean there."""
    found = {}
    for symbol in table:
        if symbol in wanted:
            try:
                found[symbol] = table[symbol](state)
            except AttributeError as error:
                # A state has what its symbols read; others mean nothing there.
                if error.obj is not state:
                    raise
    return {symbol: sp.sympify(value) for symbol, value in found.items() if value is not None}


def _family(name: str) -> tuple[Any, Any]:
    """What makes the rounds or the runs of this name, and the table of their symbols."""
    from cflag_theory.verify.instances import adapted_clients, c_flag, cfl

    known = {
        name: (make, module.TABLE)
        for module in (c_flag, adapted_clients, cfl)
        for name, make in module.FAMILIES.items()
    }
    if name not in known:
        raise KeyError(f"no family of instances is named {name!r}: use {', '.join(known)}")
    return known[name]


def _named(subject: Claim, key: str | None) -> set[sp.Expr]:
    """The symbols and terms of the statements of a part, or of all."""
    relations = [
        relation
        for part in subject.parts
        if key in (None, part.key)
        for statement in statements(part).values()
        for relation in statement.relations
    ]
    return set().union(*(side.atoms(sp.Symbol, sp.Function) for one in relations for side in (one.left, one.right)))
