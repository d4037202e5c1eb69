"""A wrong constant in a claim changes its verdict: shown for each of the first eight.

Each test puts another constant, sign or relation where the paper's (or ours) stands, and runs the claim's own check.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import sympy as sp

from cflag_theory.claims.c_flag.forgetting import bounds as forgetting
from cflag_theory.claims.c_flag.local_steps import drift
from cflag_theory.claims.c_flag.past_task import descent
from cflag_theory.claims.c_flag.problem import update
from cflag_theory.claims.engine.notation import E, L, alpha, beta, grad_g, k
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.errors import InconsistentEvidence
from cflag_theory.verify.check import Check, run_check
from cflag_theory.verify.checks import CHECKS
from cflag_theory.verify.evidence import Point, Sample

# The sharp constant of Lemma 13.
TIGHT = 4 * (sp.exp(sp.Rational(1, 4)) - 1)
EXACT_SLOPE, EXACT_CONSTANT = sp.Rational(5940, 2249), sp.Rational(1809, 22490)
TINY = sp.Rational(1, 10**6)


@cache
def check_of(id):
    """The claim's check with its instances and samples drawn once for all tests here."""
    original = CHECKS[id]
    points = tuple(original.points())
    samples = tuple(original.samples(0, 24)) if original.samples else ()
    return Check(lambda: points, lambda seed, count: samples)


def decide(subject):
    return run_check(subject, check_of(subject.id))


def with_statement(subject, on, key="1", **changes):
    """The claim with its repair or sharp statement changed in one part."""
    parts = []
    for part in subject.parts:
        if part.key == key:
            held = getattr(part, on)
            part = replace(part, **{on: replace(held, statement=replace(held.statement, **changes))})
        parts.append(part)
    return replace(subject, parts=tuple(parts))


def of_part(verdict, key="1"):
    return next(part for part in verdict.parts if part.key == key)


def findings(verdict, on, kind, key="1"):
    return [e.finding for e in verdict.evidence if (e.on, e.kind, e.part) == (on, kind, key)]


def refuted_exactly(verdict):
    """Whether an exact instance is shown, with the two numbers that disagree."""
    found = verdict.counterexample
    return found is not None and found.kind == "counterexample" and found.data["left"] != found.data["right"]


# eq7


def test_eq7_with_the_wrong_sign_in_its_repair():
    x, x_mean, rest = update.x, update.x_mean, update.x - alpha * update.grad_f_memory
    wrong = equal(rest + (x - x_mean), rest - beta * update.S)
    verdict = decide(with_statement(update.eq7(), "repair", relation=wrong))
    assert verdict.verdict == "false"
    assert verdict.repairs == ()
    assert findings(verdict, "repair", "proof") == ["undecided"]
    assert findings(verdict, "repair", "counterexample") == ["refutes"]


def test_eq7_with_the_wrong_sign_in_repair_and_proof():
    """A proof rewritten to end in the wrong repair is no proof either."""
    x, x_mean, rest = update.x, update.x_mean, update.x - alpha * update.grad_f_memory
    wrong = equal(rest + (x - x_mean), rest - beta * update.S)
    proof = update.eq7().parts[0].repair.statement.proof
    ending = replace(proof, steps=(*proof.steps[:-1], replace(proof.steps[-1], goal=wrong)))
    verdict = decide(with_statement(update.eq7(), "repair", relation=wrong, proof=ending))
    assert verdict.verdict == "false"


def test_eq7_printed_as_it_should_be_is_not_refuted():
    mended = update.eq7().parts[0].repair.statement
    verdict = decide(update.eq7().with_printed(mended.relation))
    assert verdict.counterexample is None
    assert verdict.verdict == "open"


# eq22 and eq25

DRIFT = update.x_mean - update.x
ROUND = update.x - alpha * update.grad_f_memory - beta * update.S


@pytest.mark.parametrize(
    "relation",
    [
        equal(DRIFT, -2 * beta * update.S),
        equal(DRIFT, beta * update.S),
        equal(DRIFT, -beta * update.S / 2),
        equal(update.x_mean + update.x, -beta * update.S),
        equal(DRIFT, -(1 + TINY) * beta * update.S),
    ],
    ids=str,
)
def test_eq22_with_another_factor_or_sign(relation):
    verdict = decide(update.eq22().with_printed(relation))
    assert verdict.verdict == "false"
    assert refuted_exactly(verdict)


def test_eq22_with_a_wrong_local_step_has_no_proof():
    """The proof uses the definitions: with beta twice in (4) it does not close."""
    subject = update.eq22()
    printed = subject.parts[0].printed
    step = next(fact for fact in printed.definitions if fact.name == "(4)")
    twice = replace(step, relation=step.relation.subs({beta: 2 * beta}))
    definitions = tuple(twice if fact is step else fact for fact in printed.definitions)
    part = replace(subject.parts[0], printed=replace(printed, definitions=definitions))
    assert decide(replace(subject, parts=(part,))).verdict == "open"


@pytest.mark.parametrize(
    ("key", "relation"),
    [
        ("1", equal(update.x_next, ROUND - alpha * update.grad_f_memory)),
        ("1", equal(update.x_next, ROUND + 2 * beta * update.S)),
        ("1", equal(update.x_next, ROUND - TINY * beta * update.S)),
        ("2", equal(update.x_next, update.x - 2 * alpha * update.memory_mean - beta * update.S)),
        ("2", equal(update.x_next, update.x - alpha * update.memory_mean - beta**2 * update.S)),
    ],
    ids=str,
)
def test_eq25_with_another_factor(key, relation):
    verdict = decide(update.eq25().with_printed(relation, key))
    assert verdict.verdict == "false"
    assert of_part(verdict, key).verdict == "false"
    assert of_part(verdict, {"1": "2", "2": "1"}[key]).verdict == "holds"
    assert refuted_exactly(verdict)


# lemma1


@pytest.mark.parametrize(
    ("lead", "proved"),
    [(L / 4, L / 4), (L / 4, L / 2), ((sp.Rational(1, 2) - TINY) * L,) * 2, (sp.S.Zero,) * 2],
    ids=str,
)
def test_lemma1_with_less_than_half_of_L(lead, proved):
    """Neither the old proof nor one with the new constant passes, and exact rounds refute it."""
    changes = {"relation": descent.bound(lead), "proof": descent._proof(proved)}
    verdict = decide(with_statement(descent.lemma1(), "sharp", **changes))
    assert findings(verdict, "sharp", "proof") == ["undecided"]
    assert findings(verdict, "sharp", "counterexample") == ["refutes"]
    assert not of_part(verdict).sharp_proved
    assert verdict.sharp == ()


def test_lemma1_with_a_repair_past_the_sharp_constant():
    wrong = with_statement(descent.lemma1(), "repair", relation=descent.bound(L / 4), proof=descent._proof(L / 4))
    verdict = decide(wrong)
    assert of_part(verdict, "1").verdict == "false"
    assert verdict.verdict == "false"
    assert findings(verdict, "repair", "property") == ["refutes"]
    second = with_statement(descent.lemma1(), "repair", "2", relation=descent.bound(L / 4), proof=descent._proof(L / 4))
    assert of_part(decide(second), "2").verdict == "false"


def test_lemma1_printed_with_sums_from_zero_is_not_refuted():
    verdict = decide(descent.lemma1().with_printed(descent.bound(L)))
    assert of_part(verdict, "1").verdict == "open"
    assert all(e.part != "1" for e in verdict.evidence if e.finding == "refutes")


def test_lemma1_with_a_factor_that_is_too_small():
    """The factor of (8) at a step ten percent longer than alpha."""
    f_gap = descent.bound(L / 2).right / descent.factor()
    small = at_most(descent.grad_f2, descent.factor() * f_gap * sp.Rational(9, 10))
    verdict = decide(with_statement(descent.lemma1(), "sharp", relation=small))
    assert findings(verdict, "sharp", "counterexample") == ["refutes"]


def test_lemma1_without_the_bias_bound_has_no_proof():
    subject = descent.lemma1()
    verdict = decide(with_statement(subject, "repair", "2", hypotheses=(descent.STEP_SIZE,)))
    assert of_part(verdict, "2").verdict == "false"


# eq65


@pytest.mark.parametrize("constant", [3, 1, 2 + TINY, 2 - TINY, -2])
def test_eq65_with_another_constant(constant):
    verdict = decide(descent.eq65(constant))
    assert verdict.verdict == "false"
    assert refuted_exactly(verdict)


def test_eq65_at_another_step_size_has_no_proof():
    subject = descent.eq65()
    (part,) = subject.parts
    other = replace(part.printed.hypotheses[0], relation=equal(alpha, 1 / L))
    moved = replace(subject, parts=(replace(part, printed=replace(part.printed, hypotheses=(other,))),))
    assert decide(moved).verdict == "open"


# lemma13


@pytest.mark.parametrize("constant", [sp.Rational(11, 10), sp.Rational(9, 8), 1, sp.Rational(1, 2)])
def test_lemma13_with_a_constant_that_is_too_small(constant):
    verdict = decide(drift.lemma13(constant))
    assert verdict.verdict == "false"
    assert refuted_exactly(verdict)
    assert findings(verdict, "printed", "proof") == ["undecided"]


def test_lemma13_just_below_its_sharp_constant_has_no_proof():
    """No finite E attains the constant, so no instance refutes it; the proof must fail."""
    verdict = decide(drift.lemma13(sp.Rational(113, 100)))
    assert verdict.verdict == "open"
    assert findings(verdict, "printed", "proof") == ["undecided"]


@pytest.mark.parametrize(
    ("constant", "expected"), [(4, "loose"), (2, "loose"), (sp.Rational(8, 7), "loose"), (TIGHT, "holds")]
)
def test_lemma13_with_a_true_constant(constant, expected):
    assert decide(drift.lemma13(constant)).verdict == expected


def test_lemma13_with_k_replaced_by_k_minus_one():
    subject = drift.lemma13()
    verdict = decide(subject.with_printed(at_most(drift.drift(k), beta * (k - 1) * grad_g)))
    assert verdict.verdict == "false"


# cor14


@pytest.mark.parametrize("constant", [sp.Rational(9, 10), sp.Rational(19, 20), sp.Rational(1, 2), 0])
def test_cor14_with_a_constant_that_is_too_small(constant):
    verdict = decide(drift.cor14(constant))
    assert verdict.verdict == "false"
    assert refuted_exactly(verdict)
    assert findings(verdict, "printed", "proof") == ["undecided"]


def test_cor14_just_below_its_sharp_constant_has_no_proof():
    """Approached and not attained, like Lemma 13's."""
    verdict = decide(drift.cor14(1 - TINY))
    assert verdict.verdict == "open"
    assert findings(verdict, "printed", "proof") == ["undecided"]


@pytest.mark.parametrize(("constant", "expected"), [(2, "loose"), (1 + TINY, "loose"), (1, "holds")])
def test_cor14_with_a_true_constant(constant, expected):
    assert decide(drift.cor14(constant)).verdict == expected


# eq177


@pytest.mark.parametrize(
    ("slope", "constant"),
    [
        (0, 2),
        (0, 22),
        (2, 22),
        (EXACT_SLOPE - sp.Rational(1, 1000), EXACT_CONSTANT),
        (EXACT_SLOPE, EXACT_CONSTANT - TINY),
        (16, sp.Rational(1, 100)),
        (-16, 22),
    ],
)
def test_eq177_with_constants_that_are_too_small(slope, constant):
    verdict = decide(forgetting.eq177(slope, constant))
    assert verdict.verdict == "false"
    assert findings(verdict, "repair", "proof") == ["undecided"]
    assert findings(verdict, "repair", "counterexample") == ["refutes"]
    assert refuted_exactly(verdict)


@pytest.mark.parametrize(("slope", "constant"), [(16, 22), (3, 1), (3, EXACT_CONSTANT), (EXACT_SLOPE + TINY, 1)])
def test_eq177_with_true_constants_still_needs_its_hypothesis(slope, constant):
    assert decide(forgetting.eq177(slope, constant)).verdict == "needs-hypothesis"


def test_eq177_with_the_hypothesis_left_out_of_the_repair():
    hypotheses = (forgetting.CONSTANT_STEP, forgetting.STEP_SIZE)
    verdict = decide(with_statement(forgetting.eq177(), "repair", hypotheses=hypotheses))
    assert verdict.verdict == "false"


# A planted error in a run, against a claim that is proved.

DRIFT_AT = {k: 1, beta: Fraction(1, 8), L: 1, E: 2, grad_g: 1}


def test_a_proved_claim_that_a_run_contradicts_is_an_error_and_no_verdict():
    far = Sample({drift.drift(k): np.array([0.1, 2.0]), **{key: float(value) for key, value in DRIFT_AT.items()}})
    check = Check(samples=lambda seed, count: [far])
    with pytest.raises(InconsistentEvidence, match=r"cflag\.lemma13\.1 \(printed\) is proved, and yet 1 of 2 cases"):
        run_check(drift.lemma13(), check)


def test_a_proved_claim_that_an_exact_instance_contradicts_is_an_error_and_no_verdict():
    far = Point({drift.drift(k): Fraction(2), **DRIFT_AT}, ("A drift of 2 where at most 1/2 is proved.",))
    with pytest.raises(InconsistentEvidence, match=r"is proved, and yet An exact instance has 2 on the left"):
        run_check(drift.lemma13(), Check(lambda: [far]))
    # Outside of the hypotheses the same drift contradicts nothing.
    outside = Point({**far.values, beta: Fraction(1)}, far.story)
    near = Point({**far.values, drift.drift(k): Fraction(1, 8)}, ("A drift of 1/8.",))
    assert run_check(drift.lemma13(), Check(lambda: [outside, near])).verdict == "loose"


def test_a_proof_without_any_instance_is_not_believed():
    assert run_check(drift.lemma13(), Check()).verdict == "open"
