"""Errors planted in statements of the ledger: each is rejected by its exact instances, or by its proof alone."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from expecting import expectations
from planting import assumed, built, scaled, without
from rows import alone, at_values, breaking, points_in_turn

from cflag_theory.claims.c_flag.local_steps import drift
from cflag_theory.claims.c_flag.problem import update
from cflag_theory.claims.engine.notation import E, L, alpha, beta, grad_g, k
from cflag_theory.claims.engine.points import covered_by, holds_at
from cflag_theory.claims.engine.relation import equal
from cflag_theory.claims.ledger import LEDGER, claim
from cflag_theory.errors import InconsistentEvidence, UnknownName
from cflag_theory.verify.check import Check, run_check
from cflag_theory.verify.evidence import Point, Sample

pytestmark = pytest.mark.full

PLANTS = [
    pytest.param(id, plant, id=f"{id}.{plant.part}-{plant.on}-{plant.error}")
    for id, one in expectations().items()
    for plant in one.plants
]


@pytest.mark.parametrize(("id", "plant"), PLANTS)
def test_a_planted_error_is_rejected(id, plant):
    statement = plant.statement(LEDGER[id] if plant.constants else partial(claim, id))
    points = at_values(points_in_turn(id)) if plant.on != "refutation" else ()
    if plant.verdict == "false":
        points = breaking(statement, plant.part, points)
    elif plant.verdict == "open":
        # Constants in a definition: what the row's instances define is not an instance of this statement.
        points = (point for point in points if defined(statement, point))
    # A proof that exact algebra alone does not accept is not accepted by both engines either.
    verdict = alone(id, plant.part, statement, list(points), second=plant.verdict == "holds")
    assert verdict.verdict == plant.verdict
    # Without an instance nothing holds, whatever is proved: so the proof is asked too.
    accepted = [item for item in verdict.evidence if item.kind == "proof" and item.finding == "supports"]
    assert bool(accepted) == (plant.verdict == "holds")


def defined(statement, point):
    """Whether the point satisfies the definitions that it speaks of."""
    known = (fact.relation for fact in statement.definitions if covered_by(fact.relation, point.values))
    return all(holds_at(relation, point.values) for relation in known)


def test_what_is_not_there_cannot_be_planted():
    for plants in (without("nosuch"), assumed("nosuch", right="1"), scaled(2, "9"), built(1, on="sharp", part="2")):
        with pytest.raises(UnknownName):
            plants[0].statement(LEDGER["cflag.lemma13"])


def test_a_proof_rewritten_to_end_in_a_wrong_repair_is_no_proof():
    x, x_mean, rest = update.x, update.x_mean, update.x - alpha * update.grad_f_memory
    wrong = equal(rest + (x - x_mean), rest - beta * update.S)
    repair = LEDGER["cflag.eq7"]().parts[0].repair.statement
    ending = replace(repair.proof, steps=(*repair.proof.steps[:-1], replace(repair.proof.steps[-1], goal=wrong)))
    assert alone("cflag.eq7", "1", replace(repair, relation=wrong, proof=ending)).verdict == "false"


# A planted error in a run, against a claim that is proved.

DRIFT_AT = {k: 1, beta: Fraction(1, 8), L: 1, E: 2, grad_g: 1}


def test_a_proved_claim_that_a_run_contradicts_is_an_error_and_no_verdict():
    far = Sample({drift.drift(k): np.array([0.1, 2.0]), **{key: float(value) for key, value in DRIFT_AT.items()}})
    check = Check(samples=lambda seed, count: [far])
    with pytest.raises(InconsistentEvidence, match=r"cflag\.lemma13\.1 \(printed\) is proved, and yet 1 of 2 cases"):
        run_check(claim("cflag.lemma13"), check)


def test_a_proved_claim_that_an_exact_instance_contradicts_is_an_error_and_no_verdict():
    far = Point({drift.drift(k): Fraction(2), **DRIFT_AT}, ("A drift of 2 where at most 1/2 is proved.",))
    with pytest.raises(InconsistentEvidence, match=r"is proved, and yet An exact instance has 2 on the left"):
        run_check(claim("cflag.lemma13"), Check(lambda: [far]))
    # Outside of the hypotheses the same drift contradicts nothing.
    outside = Point({**far.values, beta: Fraction(1)}, far.story)
    near = Point({**far.values, drift.drift(k): Fraction(1, 8)}, ("A drift of 1/8.",))
    assert run_check(claim("cflag.lemma13"), Check(lambda: [outside, near])).verdict == "loose"


def test_a_proof_without_any_instance_is_not_believed():
    assert run_check(replace(claim("cflag.lemma13"), instances=()), Check()).verdict == "open"
