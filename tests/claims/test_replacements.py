"""What replaces a printed statement belongs to it: a sharp bound implies it, a repair does not assume it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import ceil, floor

import sympy as sp

from cflag_theory.claims.cfl.techniques import norms
from cflag_theory.claims.engine.algebra import follows
from cflag_theory.claims.engine.claim import Fact, Part
from cflag_theory.claims.engine.meanings import unfold
from cflag_theory.claims.engine.relation import Relation, at_most
from cflag_theory.claims.engine.terms import norm2
from cflag_theory.claims.ledger import LEDGER, claim

ASSUMED = {
    "cfl.nc_eq32.2": "a question: the exact condition is its answer",
    "cfl.nc_rate.step": "a step size that is misprinted: its square is what is used",
}


@cache
def parts() -> dict[str, Part]:
    return {f"{id}.{part.key}": part for id in LEDGER for part in claim(id).parts}


def enclosed(relation: Relation) -> list[Relation]:
    """Bounds of the values of exp in a relation, to ten places."""
    found = []
    for value in sp.expand(relation.slack).atoms(sp.exp):
        if not value.free_symbols:
            scaled, places = Fraction(str(value.evalf(30))) * 10**10, sp.Integer(10**10)
            found += [at_most(floor(scaled) / places, value), at_most(value, ceil(scaled) / places)]
    return found


def mended(part: Part) -> Relation:
    """The true statement that stands for what is printed."""
    relation = (part.repair.statement if part.repair else part.printed).relation
    assert relation is not None
    return relation


def ranges(part: Part) -> list[Relation]:
    """The facts under which both hold, without equations, which could decide a statement about numbers alone."""
    assert part.sharp
    bounds = {*part.sharp.statement.hypotheses, *(part.repair.statement if part.repair else part.printed).facts}
    return [fact.relation for fact in bounds if fact.relation.op != "=="]


def test_a_sharp_bound_implies_the_one_that_it_improves():
    for name, part in parts().items():
        if part.sharp is None:
            continue
        better, target, given = part.sharp.statement.relation, mended(part), ranges(part)
        if name == "cfl.lemA2.1":
            # A bound of what another step size gives: the two right sides are compared.
            root = next(fact.relation for fact in part.sharp.statement.definitions if fact.name == "2")
            assert follows(at_most(better.right, target.right), [*given, root])
            assert not follows(at_most(target.right, better.right), [*given, root])
            continue
        if name == "cfl.lemA5.1":
            # What is saved is a multiple of ||z - x||^2, which is not declared to be non-negative.
            assert unfold(norms.step2) == norm2(norms.z - norms.x)
            given.append(at_most(0, norms.step2))
        assert follows(target, [better, *enclosed(better), *given]), name
        assert not follows(target, [*enclosed(better), *given]), f"{name}: it does not hold anyway"


def assumes(part: Part) -> bool:
    """Whether one hypothesis that the repair adds implies the repaired relation, which those printed do not."""
    if part.repair is None or part.repair.statement.relation is None:
        return False
    printed = [fact.relation.unfolded for fact in part.printed.hypotheses]
    goal = part.repair.statement.relation.unfolded
    added = (fact.relation.unfolded for fact in part.repair.statement.hypotheses)
    implied = any(follows(goal, [one]) for one in added if one not in printed)
    return implied and not follows(goal, printed)


def test_no_hypothesis_that_a_repair_adds_is_its_conclusion():
    assert {name for name, part in parts().items() if assumes(part)} == {*ASSUMED}


def test_a_bound_of_something_else_implies_nothing():
    """Sharp bounds of other claims, and one that is weaker than what is printed, are found out."""
    lemma, corollary = parts()["cflag.lemma13.1"], parts()["cflag.cor14.1"]
    assert lemma.sharp
    assert corollary.sharp
    foreign, given = corollary.sharp.statement.relation, ranges(lemma)
    assert foreign is not None
    assert not follows(mended(lemma), [foreign, *enclosed(foreign), *given])
    better = lemma.sharp.statement.relation
    assert better is not None
    weaker = at_most(better.left, 4 * better.right)
    assert not follows(mended(lemma), [weaker, *enclosed(weaker), *given])


def test_a_repair_that_assumes_its_conclusion_is_found_out():
    part = parts()["cflag.eq160.1"]
    assert part.repair
    assert not assumes(part)
    goal = part.repair.statement.relation
    assert goal is not None
    circular = replace(part.repair.statement, hypotheses=(*part.printed.hypotheses, Fact("more", goal, "")))
    assert assumes(replace(part, repair=replace(part.repair, statement=circular)))
