"""Attacks on the examiner: false statements, or proofs of nothing, with what must be found wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from cflag_theory.claims.engine.claim import Fact, Statement
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.steps import Proof, Step


class Attack(NamedTuple):
    """`build` returns a statement, or a text that says what was refused; `sentence` is part of what must be said."""

    name: str
    build: Callable[[], Any]
    sentence: str


def table(*attacks: Attack) -> pytest.MarkDecorator:
    """The attacks as the cases of one test."""
    return pytest.mark.parametrize("attack", attacks, ids=lambda attack: attack.name)


def claims(
    goal: Relation, *steps: Step, given: tuple[Fact, ...] = (), where: tuple[Fact, ...] = ()
) -> Callable[[], Statement]:
    """A statement with its proof; `given` are its hypotheses, `where` its definitions."""
    return lambda: Statement("", goal, given, Proof(steps), where)


def fact(name: str, relation: Relation, *forall: Any) -> Fact:
    """A fact without words."""
    return Fact(name, relation, "", forall)


def answer(attack: Attack) -> str:
    """What is said of an attack: the faults that the examiner finds, or the exception that stops it."""
    try:
        built = attack.build()
        return "; ".join(examine(built).faults) or "accepted" if isinstance(built, Statement) else str(built)
    except (TypeError, ValueError) as error:
        return str(error)
