"""`decide` proves or refutes a claim and stops at the first answer; `prove` only proves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from cflag_theory.claims.engine.relation import Relation
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.algebra.proving import attempt_formula, box_of, read
from cflag_theory.falsify.algebra.tracing import NotAlgebra
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.decisions.constants import Constant, least
from cflag_theory.falsify.decisions.decision import NEITHER, Decision
from cflag_theory.falsify.decisions.free_constant import with_free_constant
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
    """Prove or refute a claim; if neither succeeds, report the best constant proved and the largest ratio found.

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
    """Prove a claim. There is no search for counterexamples; one that algebra finds is reported.

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
        raise InvalidInput(f"{conjecture!r} is not a Conjecture: pass one")
    if conjecture.about_vectors:
        return decide_vectors(conjecture, search, budget, seed, seconds, progress)

    def asked(claim: Conjecture, cases: int) -> Finding:
        return falsify(claim, budget=cases, seed=seed, seconds=seconds, search=search, progress=progress)

    if (free := conjecture.free) is not None:

        def at(value: Fraction) -> Decision:
            fixed = replace(conjecture, ranges={**conjecture.ranges, free: value}, free=None)
            found = asked(fixed, max(1, budget // _PART))
            return Decision(found.status if found.status != NOT_BROKEN else NEITHER, found)

        return with_free_constant(conjecture, at)
    found = asked(conjecture, budget)
    if found.status != NOT_BROKEN:
        return Decision(found.status, found)
    return Decision(
        NEITHER, found, None if found.interrupted or found.out_of_time else _factor(conjecture, found, seconds)
    )


def _factor(conjecture: Conjecture, found: Finding, seconds: float) -> Constant | None:
    """The smallest factor of the right side with which the claim is proved, beside the largest ratio that was found."""
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
