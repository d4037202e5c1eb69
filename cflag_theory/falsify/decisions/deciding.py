"""`decide` proves or refutes a claim and stops at the first answer; `prove` only proves."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import sympy as sp

from cflag_theory.claims.engine.algebra import Atoms, manifestly_nonnegative
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.sorts import sort_of
from cflag_theory.errors import CflagError, InconsistentEvidence
from cflag_theory.falsify.conjecture import Conjecture, Stated
from cflag_theory.falsify.decisions.constants import with_free_constant, with_simple_others
from cflag_theory.falsify.decisions.decision import NEITHER, Constant, Decision, least
from cflag_theory.falsify.decisions.derivation import derivation
from cflag_theory.falsify.decisions.guided import decide_existing
from cflag_theory.falsify.decisions.unbounded import AT, at_constant, unbounded
from cflag_theory.falsify.falsifying import BUDGET, NOT_ASKED, SECONDS, falsify
from cflag_theory.falsify.finding import NOT_BROKEN, PROVED, REFUTED, Finding, NoCase
from cflag_theory.falsify.proving import attempt_formula, box_of, read
from cflag_theory.falsify.search.cases import from_text
from cflag_theory.falsify.search.guard import TimeUp, time_limit
from cflag_theory.falsify.tracing import NotAlgebra
from cflag_theory.falsify.vector_terms.continuing import NoMeaning
from cflag_theory.falsify.vector_terms.instances import instances
from cflag_theory.falsify.vector_terms.proving import Proved, prove_vectors
from cflag_theory.falsify.vector_terms.reading import Reading, read_vectors, word
from cflag_theory.falsify.vector_terms.reasons import reasons
from cflag_theory.public import taking

#: Part of the budget, and of the seconds, that one value of a constant may take.
_PART = 10
#: Cases that a formula for a constant is tried on.
_CHOSEN = 300


@taking
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
    return _decide(conjecture, _Effort(True, budget, seed, seconds, progress))


@taking
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
    return _decide(conjecture, _Effort(False, budget, seed, seconds, progress))


@dataclass(frozen=True)
class _Effort:
    """What a decision may take; without `search` the proving side is asked alone."""

    search: bool
    budget: int
    seed: int
    seconds: float
    progress: Callable[[int], None] | None

    def falsify(self, claim: Conjecture, budget: int, **more: Any) -> Finding:
        return falsify(claim, budget=budget, seed=self.seed, seconds=self.seconds, progress=self.progress, **more)


def _decide(conjecture: Conjecture, effort: _Effort) -> Decision:
    if conjecture.exists:

        def chosen(claim: Conjecture) -> Decision:
            return _decide(claim, replace(effort, budget=min(effort.budget, _CHOSEN)))

        return decide_existing(conjecture, chosen) or _no_constant(conjecture, effort)
    if len(conjecture.frees) > 1:
        return with_simple_others(conjecture, lambda claim: _decide(claim, effort))
    if conjecture.about_vectors:
        return _decide_vectors(conjecture, effort)
    if conjecture.frees:

        def at(value: Fraction) -> Decision:
            fixed = replace(conjecture, ranges={**conjecture.ranges, conjecture.frees[0]: value}, free=None)
            found = effort.falsify(fixed, max(1, effort.budget // _PART), search=effort.search)
            return Decision(found.status if found.status != NOT_BROKEN else NEITHER, found)

        return with_free_constant(conjecture, at)
    found = effort.falsify(conjecture, effort.budget, search=effort.search)
    if found.status != NOT_BROKEN:
        return Decision(found.status, found, derivation=derivation(found.proof) if found.proof else None)
    stopped = found.interrupted or found.out_of_time
    return Decision(NEITHER, found, None if stopped else _factor(conjecture, found, effort.seconds))


def _no_constant(conjecture: Conjecture, effort: _Effort) -> Decision:
    """A claim that constants exist for which no formula was proved: an instance for every C, or how far that came."""
    constants = ", ".join(f"{c} of {', '.join(map(str, of)) or 'nothing'}" for c, of in conjecture.exists.items())
    why = f"no formula was proved for the constants: {constants}"
    nothing = nothing_met(conjecture, effort, why)
    if not effort.search:
        return Decision(NEITHER, nothing)
    made = None
    for value in AT:
        grown = (
            f"with {value} for every constant it is refuted, and no instance for all constants was found that is proved"
        )
        try:
            found = effort.falsify(at_constant(conjecture, value), max(1, effort.budget // len(AT)), algebra=False)
        except (NoCase, NoMeaning) as error:
            grown = str(error)
            break
        if not found.refuted:
            grown = f"with {value} for every constant the largest left/right found is {found.largest_ratio or 0:.6g}"
            continue
        if (made := unbounded(conjecture, found, value)) is not None:
            break
    if made is None:
        return Decision(NEITHER, replace(nothing, not_covered=(*nothing.not_covered, f"refutation: {grown}")))
    finding = replace(
        found,
        name=conjecture.name,
        given=nothing.given,
        sides=conjecture.words,
        written=True,
        engines=made.engines,
        found_by="for every constant",
        case=made.case,
        left=str(made.left),
        right=str(made.right),
        largest_ratio=None,
    )
    return Decision(REFUTED, finding, instance=made.lines)


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

    try:
        return _least_factor(ask, found)
    except KeyboardInterrupt:
        return None


def _least_factor(ask: Callable[[Fraction], tuple[str, tuple[str, ...]]], found: Finding) -> Constant:
    # A short fraction near the largest ratio, so that a proof at the ratio itself is found.
    reached = least(ask, Fraction(found.largest_ratio or 0).limit_denominator(10**6))
    value, engines = reached.proved or (None, ())
    return Constant("factor of the right side", value, engines=engines, tried=reached.tried)


#: Cases before the proving side is asked, and cases that a proof is tried on.
_FIRST, _SAMPLE = 150, 60
#: Proofs take as many seconds as so many evaluations may.
_PROOF = 6
_NONE = "no instance was found that satisfies the hypotheses for ever: they may contradict each other"


def _decide_vectors(conjecture: Conjecture, effort: _Effort) -> Decision:
    try:
        if conjecture.free is not None:
            part = replace(effort, budget=max(1, effort.budget // 4), seconds=effort.seconds / 4)
            return with_free_constant(conjecture, lambda value: _both(conjecture, value, part))
        found = _both(conjecture, None, effort)
        if found.outcome != NEITHER or found.finding.interrupted or found.finding.out_of_time:
            return found
        return replace(found, constant=_factor_of_vectors(read_vectors(conjecture), found.finding, effort.seconds))
    except KeyboardInterrupt:
        nothing = nothing_met(conjecture, effort, "it was interrupted")
        return Decision(NEITHER, replace(nothing, interrupted=True))


def _both(conjecture: Conjecture, free: Fraction | None, effort: _Effort) -> Decision:
    reading = read_vectors(conjecture, free)
    unmet, late = False, False

    def look(cases: int) -> Finding:
        nonlocal unmet
        small = instances(conjecture, free)
        try:
            found = effort.falsify(small, cases, algebra=False)
            unmet = unmet or found.out_of_time
            return replace(found, sides=conjecture.words, written=conjecture.written)
        except NoMeaning as error:
            return nothing_met(conjecture, effort, str(error))
        except NoCase:
            if not any(fact.forall for fact in reading.facts):
                raise
            unmet = True
            return nothing_met(conjecture, effort, _NONE)

    first = look(min(effort.budget, _FIRST)) if effort.search else None
    if first is not None and (first.refuted or first.interrupted):
        return _searched(conjecture, free, first)
    try:
        with time_limit(_PROOF * effort.seconds):
            proof = offered(conjecture) or prove_vectors(reading.as_proved())
    except TimeUp:
        proof, late = None, True
    if proof is not None:
        tried = first if first is not None else look(min(effort.budget, _SAMPLE))
        if tried.refuted:
            raise InconsistentEvidence(
                f"{conjecture.name}: rules and a certificate prove it, and at {dict(tried.case)} the left side is "
                f"{tried.left} and the right side {tried.right}"
            )
        if unmet:
            # What nothing satisfies proves anything.
            why = tried.not_covered[0] if tried.out_of_time else _NONE
            return Decision(NEITHER, replace(tried, not_covered=(f"vacuity: a proof was found, and {why}",)))
        finding = replace(tried, status=PROVED, engines=proof.engines, not_covered=())
        if isinstance(conjecture, Stated):
            sorts = {word(one): f"the {sort_of(one)} numbers" for one in reading.symbols}
            finding = replace(finding, ranges=sorts)
        return Decision(PROVED, finding, derivation=derivation(proof.statement) if proof.found else None)
    if not effort.search:
        return Decision(NEITHER, nothing_met(conjecture, effort, "no search for a counterexample was asked for"))
    found = _searched(conjecture, free, look(effort.budget))
    if found.outcome != NEITHER:
        return found
    gaps = [words for words in found.finding.not_covered if words != NOT_ASKED]
    if any(fact.forall for fact in reading.facts):
        gaps.append(
            "families that go on for ever otherwise than by a step, as their last members in turn, or as a progression"
        )
    gaps += [f"proof: none was found within {_PROOF * effort.seconds:g} s"] if late else []
    # What the programs cannot say is no fault of the claim.
    with suppress(TimeUp, CflagError, sp.PolynomialError, ValueError, ArithmeticError), time_limit(effort.seconds):
        gaps += reasons(reading)
    return replace(found, finding=replace(found.finding, not_covered=tuple(gaps)))


def offered(conjecture: Conjecture) -> Proved | None:
    """The proof that a page has, if the examiner accepts it."""
    if not isinstance(conjecture, Stated) or conjecture.statement.proof is None:
        return None
    examined = examine(conjecture.statement)
    return Proved(conjecture.statement, examined.engines, found=False) if examined.accepted else None


def _searched(conjecture: Conjecture, free: Fraction | None, found: Finding) -> Decision:
    """What a search found, with the instance that a counterexample is."""
    return Decision(REFUTED if found.refuted else NEITHER, found, instance=instance_of(conjecture, found, free))


def instance_of(conjecture: Conjecture, found: Finding, free: Fraction | None = None) -> tuple[str, ...]:
    """The vectors and functions that a counterexample is; nothing for a claim about numbers."""
    if not (found.refuted and conjecture.about_vectors):
        return ()
    small = instances(conjecture, free, int(found.case["dimension"]))
    return tuple(small.family.story(from_text(small, found.case, what="the counterexample")))


def nothing_met(conjecture: Conjecture, effort: _Effort, why: str) -> Finding:
    return Finding(
        name=conjecture.name,
        relation=conjecture.relation,
        status=NOT_BROKEN,
        ranges={name: str(one) for name, one in conjecture.variables.items()},
        given=tuple(one.words for one in conjecture.hypotheses),
        sides=conjecture.words,
        written=conjecture.written,
        seed=effort.seed,
        budget=effort.budget,
        not_covered=(f"everything: {why}",),
    )


def _factor_of_vectors(reading: Reading, found: Finding, seconds: float) -> Constant | None:
    """The smallest factor of the right side that is proved, where the right side is not negative."""
    right = reading.goal.right
    if reading.goal.op == "==" or not manifestly_nonnegative(Atoms()(right)):
        return None

    @cache
    def ask(value: Fraction) -> tuple[str, tuple[str, ...]]:
        if value == 1:
            # No proof was found of the claim as it is.
            return NOT_BROKEN, ()
        scaled = sp.expand(sp.Rational(value.numerator, value.denominator) * right)
        try:
            with time_limit(max(seconds / 2, 1.0)):
                goal = Relation(reading.goal.left, reading.goal.op, scaled)
                proof = prove_vectors(replace(reading, goal=goal).as_proved())
        except TimeUp:
            proof = None
        return (NOT_BROKEN, ()) if proof is None else (PROVED, proof.engines)

    return _least_factor(ask, found)
