"""`decide` and `prove`: both sides of a claim, or the proving one; the first answer ends the work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from cflag_theory.claims.engine.relation import Relation
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.algebra.proving import attempt_formula, box_of, read
from cflag_theory.falsify.algebra.tracing import NotAlgebra
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.decisions.constants import Constant, Sandwich, least, sandwich
from cflag_theory.falsify.decisions.decision import NEITHER, Decision
from cflag_theory.falsify.decisions.vector_claims import decide_vectors
from cflag_theory.falsify.falsifying import BUDGET, SECONDS, falsify
from cflag_theory.falsify.finding import NOT_BROKEN, PROVED, Finding
from cflag_theory.falsify.search.guard import TimeUp, time_limit

#: Part of the budget, and of the seconds, that one value of a constant may take.
_PART = 10


def decide(
    conjecture: Conjecture,
    *,
    budget: int = BUDGET,
    seed: int = 0,
    seconds: float = SECONDS,
    progress: Callable[[int], None] | None = None,
) -> Decision:
    """Prove a claim or refute it; where neither succeeds, the best of both sides.

    Parameters
    ----------
    budget, seed, seconds, progress
        As `falsify` takes them.

    Raises
    ------
    InvalidInput, InconsistentEvidence
        As `falsify` does.
    """
    return _decide(conjecture, True, budget, seed, seconds, progress)


def prove(
    conjecture: Conjecture,
    *,
    budget: int = BUDGET,
    seed: int = 0,
    seconds: float = SECONDS,
    progress: Callable[[int], None] | None = None,
) -> Decision:
    """Prove a claim; no counterexample is searched for, and one that algebra meets is reported.

    Raises
    ------
    InvalidInput, InconsistentEvidence
        As `falsify` does.
    """
    return _decide(conjecture, False, budget, seed, seconds, progress)


def _decide(
    conjecture: Conjecture,
    search: bool,
    budget: int,
    seed: int,
    seconds: float,
    progress: Callable[[int], None] | None,
) -> Decision:
    if not isinstance(conjecture, Conjecture):
        raise InvalidInput(f"{conjecture!r} is no Conjecture: pass one")
    if conjecture.about_vectors:
        return decide_vectors(conjecture, search, budget, seed, seconds, progress)
    if conjecture.free is not None:
        return _with_free_constant(conjecture, search, budget, seed, seconds, progress)
    found = falsify(conjecture, budget=budget, seed=seed, seconds=seconds, search=search, progress=progress)
    if found.status != NOT_BROKEN:
        return Decision(found.status, found)
    return Decision(NEITHER, found, None if found.interrupted else _factor(conjecture, found, seconds))


def _with_free_constant(
    conjecture: Conjecture,
    search: bool,
    budget: int,
    seed: int,
    seconds: float,
    progress: Callable[[int], None] | None,
) -> Decision:
    """Where the claim turns from refuted to proved, as its free variable moves over its range."""
    name = conjecture.free
    assert name is not None
    one = conjecture.variables[name]
    last: list[Finding] = []

    def ask(value: Fraction) -> tuple[str, Finding]:
        fixed = replace(conjecture, ranges={**conjecture.ranges, name: value}, free=None)
        part = max(1, budget // _PART)
        found = falsify(fixed, budget=part, seed=seed, seconds=seconds, search=search, progress=progress)
        last[:] = [found]
        if found.interrupted:
            raise KeyboardInterrupt
        return found.status, found

    # An end that does not belong to the range is no value of the constant.
    inner = [Fraction(one.low), Fraction(one.high)]
    width = inner[1] - inner[0]
    inner = [end if one.holds(end) else end + sign * width / 1024 for end, sign in zip(inner, (1, -1), strict=True)]
    try:
        reached: Sandwich[Finding] = sandwich(ask, *inner)
    except KeyboardInterrupt:
        if not last:
            raise
        return Decision(NEITHER, replace(last[0], interrupted=True))
    chosen = reached.proved or reached.refuted
    constant = Constant(
        name,
        reached.proved[0] if reached.proved else None,
        reached.refuted[0] if reached.refuted else None,
        reached.larger_is_weaker,
        tried=reached.tried,
        **_shown(reached),
    )
    finding = chosen[1] if chosen else last[0]
    return Decision(NEITHER if chosen is None else finding.status, finding, constant)


def _shown(reached: Sandwich[Finding]) -> dict[str, Any]:
    found: dict[str, Any] = {"engines": reached.proved[1].engines if reached.proved else ()}
    if reached.refuted is not None:
        against = reached.refuted[1]
        found |= {"case": against.case, "left": against.left, "right": against.right}
    return found


def _factor(conjecture: Conjecture, found: Finding, seconds: float) -> Constant | None:
    """The smallest factor of the right side with which the claim is proved, beside the largest ratio that was met."""
    if conjecture.relation == "==":
        return None
    try:
        formula = read(conjecture)
    except NotAlgebra:
        return None
    box = box_of(conjecture, formula)

    def ask(value: Fraction) -> tuple[str, tuple[str, ...]]:
        factor = Fraction(value)
        goal = Relation(formula.goal.left, formula.goal.op, factor.numerator * formula.goal.right / factor.denominator)
        try:
            with time_limit(max(seconds / _PART, 1.0)):
                answer = attempt_formula(replace(formula, goal=goal), box)
        except TimeUp:
            return NOT_BROKEN, ()
        return (PROVED if answer.word == PROVED else NOT_BROKEN), answer.engines

    # A short fraction near the largest ratio, so that a proof at the ratio itself is found.
    met = Fraction(found.largest_ratio or 0).limit_denominator(10**6)
    try:
        reached = least(ask, met)
    except KeyboardInterrupt:
        return None
    name = "factor of the right side"
    if reached.proved is None:
        return Constant(name, tried=reached.tried)
    return Constant(name, reached.proved[0], engines=reached.proved[1], tried=reached.tried)
