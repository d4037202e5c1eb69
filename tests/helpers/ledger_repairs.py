"""The ledger's repairs of statements about numbers, found again with the answers hidden."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.engine.claim import Part, Statement
from cflag_theory.claims.engine.models import look_for_model
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.steps import Obligation
from cflag_theory.falsify.decisions.changes import HYPOTHESIS, Change
from cflag_theory.falsify.decisions.repairing import EACH, Proposal, Repairing


@dataclass(frozen=True)
class Found:
    """What was found for a part of the ledger.

    `rank` is the place of the ledger's own repair among the proposals, from 1; None if it is not among them.
    """

    name: str
    kind: str
    proposals: tuple[Proposal, ...]
    rank: int | None


def parts_about_numbers() -> Iterator[tuple[str, Part]]:
    """Parts with a repair that is a relation, and whose proof is algebra alone: no rule about vectors or sequences."""
    from cflag_theory.claims.ledger import LEDGER
    from cflag_theory.claims.ledger import claim as of_ledger

    for id in LEDGER:
        for part in of_ledger(id).parts:
            if part.repair is None or part.printed.relation is None:
                continue
            repaired = part.repair.statement
            if repaired.relation is None or repaired.proof is None:
                continue
            if all(isinstance(step, Obligation) for step in repaired.proof.steps):
                yield f"{id}.{part.key}", part


def repair_part(name: str, part: Part, each: int = EACH) -> Found:
    """Proposals for the printed statement of a part, made without a look at its repair."""
    assert part.repair is not None
    terms: dict[sp.Expr, sp.Symbol] = {}
    goal, given, fixed = _plain(part.printed, terms)
    found = Repairing(goal, given, fixed).proposals(each)
    wanted, hypotheses, _ = _plain(part.repair.statement, terms)
    ranks = [k for k, one in enumerate(found, start=1) if _same(one.change, goal, given, wanted, hypotheses)]
    return Found(name, part.repair.kind, tuple(found), min(ranks, default=None))


def _plain(statement: Statement, terms: dict[sp.Expr, sp.Symbol]) -> tuple[Relation, tuple[Relation, ...], int]:
    """A statement in plain numbers: terms of sequences become numbers of the same sign. Definitions come first."""
    assert statement.relation is not None

    def number(expr: sp.Expr) -> sp.Expr:
        expr = sp.sympify(expr)
        for term in sorted(expr.atoms(AppliedUndef), key=str):
            if term not in terms:
                sign = (
                    {"positive": True}
                    if term.is_positive
                    else {"nonnegative": True}
                    if term.is_nonnegative
                    else {"real": True}
                )
                terms[term] = sp.Symbol(str(term), **sign)
        return expr.xreplace(terms)

    def plain(one: Relation) -> Relation:
        return Relation(number(one.left), one.op, number(one.right))

    definitions = tuple(plain(fact.relation) for fact in statement.definitions)
    hypotheses = tuple(plain(fact.relation) for fact in statement.hypotheses)
    return plain(statement.relation), (*definitions, *hypotheses), len(definitions)


def _same(
    change: Change, goal: Relation, given: tuple[Relation, ...], wanted: Relation, hypotheses: tuple[Relation, ...]
) -> bool:
    """Whether a change is the ledger's repair: the same claim under hypotheses that are no stronger."""
    if not _same_relation(change.goal, wanted):
        # A sharper constant than the ledger's is found too.
        sharper = change.goal.left == wanted.left == goal.left and change.goal.op == wanted.op
        return (
            sharper
            and change.given == given
            and _multiple(change.goal.right, wanted.right)
            and _follows(Relation(change.goal.right, "<=", wanted.right), given)
        )
    if change.kind == HYPOTHESIS:
        assert change.added is not None
        return any(_same_relation(change.added, one) for one in hypotheses) or _follows(change.added, hypotheses)
    return all(
        any(_same_relation(one, other) for other in hypotheses) or _follows(one, hypotheses) for one in change.given
    )


def _multiple(one: sp.Expr, other: sp.Expr) -> bool:
    return bool(other != 0 and sp.cancel(sp.together(one / other)).is_number)


def _follows(one: Relation, given: tuple[Relation, ...]) -> bool:
    try:
        return look_for_model(one, given).word == "proved"
    except TypeError:
        return False


def _same_relation(one: Relation, other: Relation) -> bool:
    """Whether two relations are equal up to a positive factor, for equations any factor."""
    if one.op != other.op:
        return False
    gap = sp.cancel(sp.together(other.slack))
    if gap == 0:
        # Two identities are the same if their sides are.
        return all(sp.cancel(sp.together(a - b)) == 0 for a, b in ((one.left, other.left), (one.right, other.right)))
    ratio = sp.cancel(sp.together(one.slack) / gap)
    return bool(ratio.is_number and ratio != 0 and (ratio > 0 or one.op == "=="))
