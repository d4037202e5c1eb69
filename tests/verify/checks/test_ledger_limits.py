"""Lemmas 4 and 18, Theorem 5 and Corollary 17: verdicts, families replayed, and planted constants."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
import sympy as sp
from rows import decide, points_of

from cflag_theory.claims.c_flag.forgetting import average as average_forgetting
from cflag_theory.claims.c_flag.past_task import theorem5 as limits
from cflag_theory.claims.c_flag.past_task.runs import T
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.notation import beta
from cflag_theory.claims.engine.relation import at_most
from cflag_theory.verify.check import Check, run_check
from cflag_theory.verify.checks.c_flag.forgetting import average as average_checks
from cflag_theory.verify.checks.c_flag.past_task import theorem5 as limits_checks

BUILDERS = {**average_forgetting.CLAIMS, **limits.CLAIMS}
TINY = sp.Rational(1, 10**6)


@cache
def decided(id):
    return decide(BUILDERS[id]())


@pytest.mark.parametrize("id", BUILDERS)
def test_verdict(id):
    verdict = decided(id)
    assert verdict.verdict == "needs-hypothesis"
    (proof,) = [e for e in verdict.evidence if e.kind == "proof"]
    assert proof.on == "repair"
    assert proof.data["engines"] == ["sympy", "z3"]
    assert proof.data["undecided"] == []
    assert verdict.counterexample is not None


@pytest.mark.parametrize("id", BUILDERS)
@pytest.mark.parametrize("constant", [1 - TINY])
def test_a_smaller_constant_has_no_proof(id, constant):
    """The constants are explicit and not sharp: no instance attains them, but the proof must notice."""
    (part,) = BUILDERS[id](constant).parts
    assert not examine(part.repair.statement).accepted


@pytest.mark.parametrize("id", BUILDERS)
def test_a_constant_far_too_small_is_refuted_by_a_run(id):
    factor, C = Fraction(1, 10**5), average_forgetting.C
    small = [replace(point, values={**point.values, C: factor * point.values[C]}) for point in points_of(id)]
    verdict = run_check(BUILDERS[id](factor), Check(lambda: small))
    assert verdict.verdict == "false"
    assert [e.finding for e in verdict.evidence if (e.on, e.kind) == ("repair", "counterexample")] == ["refutes"]


@pytest.mark.parametrize("id", BUILDERS)
def test_without_its_refutation_the_row_is_open(id):
    subject = BUILDERS[id]()
    bare = replace(subject, parts=(replace(subject.parts[0], refutation=None),))
    assert decide(bare).verdict == "open"


@pytest.mark.parametrize("name", ["m", "Theorem 5", "bounded"])
def test_the_repairs_use_their_hypotheses(name):
    for build in BUILDERS.values():
        statement = build().parts[0].repair.statement
        fewer = tuple(fact for fact in statement.hypotheses if fact.name != name)
        if len(fewer) < len(statement.hypotheses) and not (name == "m" and build is limits.cor17):
            assert not examine(replace(statement, hypotheses=fewer)).accepted


@pytest.mark.parametrize("local", [Fraction(1, 60), Fraction(1, 4)])
@pytest.mark.parametrize("rounds", [1, 2, 7, 16])
def test_the_diverging_family_is_what_the_simulator_does(local, rounds):
    follows, mean = average_checks.diverging_family(local, rounds)
    assert follows
    assert mean >= local * rounds**2 / 128


def test_the_diverging_family_outgrows_every_bound_of_the_lemmas():
    means = [average_checks.diverging_family(Fraction(1, 60), rounds)[1] for rounds in (4, 16, 24)]
    assert means[2] > 10 * means[1] > 100 * means[0]


@pytest.mark.parametrize("rounds", [1, 2, 9, 16])
def test_the_floor_is_what_the_simulator_does(rounds):
    holds, least = limits_checks.cancelling_family(Fraction(1, 8 * rounds), rounds)
    assert holds
    assert least >= Fraction(1, 36)


def test_a_steeper_growth_or_a_higher_floor_has_no_proof():
    family = average_forgetting.diverging()
    steeper = at_most(beta * T**2 / 100, family.relation.right)
    assert not examine(replace(family, relation=steeper)).accepted
    ground = limits.floor()
    assert not examine(replace(ground, relation=at_most(sp.Rational(1, 35), ground.relation.right))).accepted


def test_the_diverging_family_needs_its_step_size():
    family = average_forgetting.diverging()
    assert not examine(replace(family, hypotheses=())).accepted
