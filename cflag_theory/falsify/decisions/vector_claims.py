"""Claims with vectors: refuted by small explicit instances, or proved by rules and a certificate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import sympy as sp

from cflag_theory.claims.engine.algebra import Atoms, manifestly_nonnegative
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.sorts import sort_of
from cflag_theory.errors import InconsistentEvidence
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.decisions.constants import Constant, least
from cflag_theory.falsify.decisions.decision import NEITHER, Decision
from cflag_theory.falsify.decisions.derivation import derivation
from cflag_theory.falsify.decisions.free_constant import with_free_constant
from cflag_theory.falsify.falsifying import falsify
from cflag_theory.falsify.finding import NOT_BROKEN, PROVED, REFUTED, Finding, NoCase
from cflag_theory.falsify.search.cases import from_text
from cflag_theory.falsify.search.guard import TimeUp, time_limit
from cflag_theory.falsify.stated import Stated
from cflag_theory.falsify.vector_terms.continuing import NoMeaning
from cflag_theory.falsify.vector_terms.families import word
from cflag_theory.falsify.vector_terms.instances import instances
from cflag_theory.falsify.vector_terms.proving import Proved, prove_vectors
from cflag_theory.falsify.vector_terms.reading import Reading, read_vectors

#: Cases before the proving side is asked, and cases that a proof is tried on.
_FIRST, _SAMPLE = 150, 60
#: Proofs take as many seconds as so many evaluations may.
_PROOF = 6
_NONE = "no instance was found that satisfies the hypotheses for ever: they may contradict each other"


def decide_vectors(
    conjecture: Conjecture,
    search: bool,
    budget: int,
    seed: int,
    seconds: float,
    progress: Callable[[int], None] | None = None,
) -> Decision:
    """Decide a claim with vectors; without `search` the proving side alone."""
    try:
        if conjecture.free is not None:
            part = max(1, budget // 4)
            return with_free_constant(
                conjecture, lambda value: _both(conjecture, value, search, part, seed, seconds / 4, progress)
            )
        found = _both(conjecture, None, search, budget, seed, seconds, progress)
        if found.outcome != NEITHER or found.finding.interrupted or found.finding.out_of_time:
            return found
        return replace(found, constant=_factor(read_vectors(conjecture), found.finding, seconds))
    except KeyboardInterrupt:
        nothing = _no_instances(conjecture, budget, seed, "it was interrupted")
        return Decision(NEITHER, replace(nothing, interrupted=True))


def _both(
    conjecture: Conjecture,
    free: Fraction | None,
    search: bool,
    budget: int,
    seed: int,
    seconds: float,
    progress: Callable[[int], None] | None,
) -> Decision:
    reading = read_vectors(conjecture, free)
    unmet = False

    def look(cases: int) -> Finding:
        nonlocal unmet
        small = instances(conjecture, free)
        try:
            found = falsify(small, budget=cases, seed=seed, seconds=seconds, algebra=False, progress=progress)
            unmet = unmet or found.out_of_time
            return found
        except NoMeaning as error:
            return _no_instances(conjecture, budget, seed, str(error))
        except NoCase:
            if not any(fact.forall for fact in reading.facts):
                raise
            unmet = True
            return _no_instances(conjecture, budget, seed, _NONE)

    first = look(min(budget, _FIRST)) if search else None
    if first is not None and (first.refuted or first.interrupted):
        return _searched(conjecture, free, first)
    try:
        with time_limit(_PROOF * seconds):
            proof = _offered(conjecture) or prove_vectors(reading)
    except TimeUp:
        proof = None
    if proof is not None:
        tried = first if first is not None else look(min(budget, _SAMPLE))
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
    if not search:
        return Decision(
            NEITHER, _no_instances(conjecture, budget, seed, "no search for a counterexample was asked for")
        )
    found = _searched(conjecture, free, look(budget))
    if found.outcome == NEITHER and any(fact.forall for fact in reading.facts):
        gaps = (
            *found.finding.not_covered,
            "families that go on for ever otherwise than by a step, as their last members in turn, or as a progression",
        )
        return replace(found, finding=replace(found.finding, not_covered=gaps))
    return found


def _offered(conjecture: Conjecture) -> Proved | None:
    """The proof that a page has, if the examiner accepts it."""
    if not isinstance(conjecture, Stated) or conjecture.statement.proof is None:
        return None
    examined = examine(conjecture.statement)
    return Proved(conjecture.statement, examined.engines, found=False) if examined.accepted else None


def _searched(conjecture: Conjecture, free: Fraction | None, found: Finding) -> Decision:
    """What a search found, with the instance that a counterexample is."""
    if not found.refuted:
        return Decision(NEITHER, found)
    small = instances(conjecture, free)
    return Decision(REFUTED, found, instance=tuple(small.told(from_text(small, found.case, what="the counterexample"))))


def _no_instances(conjecture: Conjecture, budget: int, seed: int, why: str) -> Finding:
    return Finding(
        name=conjecture.name,
        relation=conjecture.relation,
        status=NOT_BROKEN,
        ranges={name: str(one) for name, one in conjecture.variables.items()},
        given=tuple(one.words for one in conjecture.hypotheses),
        seed=seed,
        budget=budget,
        not_covered=(f"everything: {why}",),
    )


def _factor(reading: Reading, found: Finding, seconds: float) -> Constant | None:
    """The smallest factor of the right side that is proved, where the right side is not negative."""
    right = reading.goal.right
    if reading.goal.op == "==" or not manifestly_nonnegative(Atoms()(right)):
        return None

    def ask(value: Fraction) -> tuple[str, tuple[str, ...]]:
        scaled = sp.expand(sp.Rational(value.numerator, value.denominator) * right)
        try:
            with time_limit(max(seconds / 2, 1.0)):
                goal = Relation(reading.goal.left, reading.goal.op, scaled)
                proof = prove_vectors(replace(reading, goal=goal))
        except TimeUp:
            proof = None
        return (NOT_BROKEN, ()) if proof is None else (PROVED, proof.engines)

    reached = least(ask, Fraction(found.largest_ratio or 0).limit_denominator(10**6))
    name = "factor of the right side"
    if reached.proved is None:
        return Constant(name, tried=reached.tried)
    return Constant(name, reached.proved[0], engines=reached.proved[1], tried=reached.tried)
