"""(10)-(22) of the CFL paper and our own round: verdicts, and what a wrong constant does to them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
import sympy as sp

from cflag_theory.claims import ours_cfl_round, ours_cfl_step
from cflag_theory.claims.cfl import leaning, local_drift, one_round, progress
from cflag_theory.claims.claim import at_most
from cflag_theory.claims.proof import examine
from cflag_theory.verify.check import Check, run_check
from cflag_theory.verify.checks import CHECKS
from cflag_theory.verify.one_round import expectation, noisy_rounds

TINY = sp.Rational(1, 10**6)
HALF = Fraction(1, 2)


@cache
def check_of(id):
    points = tuple(CHECKS[id].points())
    return Check(lambda: points)


def decide(subject):
    return run_check(subject, check_of(subject.id))


def parts(verdict):
    return {part.key: part.verdict for part in verdict.parts}


def findings(verdict, on, kind, key="1"):
    return [e.finding for e in verdict.evidence if (e.on, e.kind, e.part) == (on, kind, key)]


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (progress.eq10, {"1": "typo", "2": "typo"}),
        (progress.eq13, {"1": "holds", "2": "holds", "3": "needs-hypothesis"}),
        (local_drift.eq14, {"1": "needs-hypothesis", "2": "needs-hypothesis"}),
        (progress.eq15, {"1": "loose"}),
        (local_drift.eq17, {"1": "needs-hypothesis"}),
        (local_drift.eq18, {"1": "holds"}),
        (one_round.eq20, {"1": "typo", "2": "needs-hypothesis"}),
        (one_round.eq21, {"1": "typo", "2": "typo"}),
        (ours_cfl_round.cfl_round, {"1": "holds", "2": "holds"}),
        (ours_cfl_step.cfl_step, {"1": "holds", "2": "holds"}),
    ],
)
def test_verdict(build, expected):
    verdict = decide(build())
    assert parts(verdict) == expected
    proofs = [e for e in verdict.evidence if e.kind == "proof"]
    assert proofs
    for item in proofs:
        assert item.data["engines"] == ["sympy", "z3"], item.summary
        assert item.data["undecided"] == []


def test_eq10_with_its_sign_mended_is_proved():
    subject = progress.eq10()
    part = subject.parts[0]
    verdict = decide(replace(subject, parts=(replace(part, printed=part.repair.statement, repair=None),)))
    assert verdict.verdict == "holds"


def test_eq12_with_less_than_L_in_its_mended_form_is_refuted():
    """With mu = L the constant (L + mu)/2 of the squared norm is L."""
    subject = progress.eq10()
    repaired = subject.parts[1].repair.statement.relation
    worse = at_most(repaired.left, repaired.right - progress.L * progress.step**2 / 2)
    assert parts(decide(subject.with_printed(worse, "2")))["2"] == "typo"
    mended = replace(subject.parts[1].repair.statement, relation=worse)
    broken = replace(subject.parts[1], repair=replace(subject.parts[1].repair, statement=mended))
    assert decide(replace(subject, parts=(broken,))).verdict == "false"


@pytest.mark.parametrize("convexity", [sp.Rational(1, 4) + TINY, 1])
def test_eq13_with_more_convexity_is_not_proved(convexity):
    verdict = decide(progress.eq13(convexity))
    assert findings(verdict, "printed", "proof", "2") == ["undecided"]
    assert parts(verdict)["2"] in ("open", "false")


def test_eq13_past_drifts_make_the_bias_positive():
    """The whole point of part 3: f_t(w_t) - f_t(w*) is smaller than f(w_t) - f(w*) on average."""
    biased = [p.values for p in check_of("cfl.eq13").points() if "second" in p.story[0] or "round 2" in p.story[0]]
    assert any(values[progress.local_gap] < values[progress.gap] for values in biased)


@pytest.mark.parametrize("build", [local_drift.eq14, local_drift.eq17])
@pytest.mark.parametrize("noise", [1 - TINY, HALF, 0])
def test_less_noise_is_refuted_even_with_nonexpansive_steps(build, noise):
    verdict = decide(build(sp.Rational(noise)))
    assert parts(verdict)["1"] == "false"
    assert findings(verdict, "repair", "proof") == ["undecided"]
    assert findings(verdict, "repair", "counterexample") == ["refutes"]


def test_eq14_needs_steps_that_do_not_increase_distances():
    """Without the hypothesis the comparison with the noiseless run has nothing to stand on."""
    repair = local_drift.eq14().parts[0].repair.statement
    bare = replace(repair, hypotheses=tuple(f for f in repair.hypotheses if f.name != "nonexpansive"))
    assert not examine(bare).accepted
    loose = tuple(
        replace(f, relation=at_most(leaning.lipschitz, 2)) if f.name == "nonexpansive" else f
        for f in repair.hypotheses
    )
    assert not examine(replace(repair, hypotheses=loose)).accepted


@pytest.mark.parametrize(("first", "second"), [(8, 4), (9, 4), (8, 5)])
def test_eq15_with_constants_between_is_proved(first, second):
    verdict = decide(progress.eq15(first, second))
    assert findings(verdict, "printed", "proof") == ["supports"]


@pytest.mark.parametrize(("first", "second"), [(8 - HALF, 4), (8, 4 - HALF), (4, 2)])
def test_eq15_with_less_than_8_and_4_is_refuted(first, second):
    verdict = decide(progress.eq15(sp.Rational(first), sp.Rational(second)))
    assert findings(verdict, "printed", "proof") == ["undecided"]
    assert parts(verdict)["1"] == "false"


@pytest.mark.parametrize(("first", "second"), [(8 - TINY, 4), (8, 4 - TINY)])
def test_eq18_with_smaller_constants_is_refuted(first, second):
    verdict = decide(local_drift.eq18(first, second))
    assert findings(verdict, "printed", "proof") == ["undecided"]
    assert parts(verdict)["1"] == "false"


def test_eq20_with_another_constant_is_not_proved():
    verdict = decide(one_round.eq20(8 - TINY))
    assert findings(verdict, "repair", "proof", "1") == ["undecided"]
    assert findings(verdict, "repair", "proof", "2") == ["undecided"]


def test_eq20_is_refuted_by_the_steep_loss_alone():
    relation = one_round.eq20().parts[0].printed.relation
    broken = [p for p in check_of("cfl.eq20").points() if p.part == "1" and not relation.holds_at(p.values)]
    assert len(broken) == 1
    assert "clip" in broken[0].story[0]


def test_eq21_is_refuted_by_a_large_step_only():
    relation = one_round.eq21().parts[0].printed.relation
    first = [p for p in check_of("cfl.eq21").points() if p.part == "1"]
    assert [relation.holds_at(p.values) for p in first] == [False, True, True]


def test_eq21_without_its_factor_in_the_mended_form():
    subject = one_round.eq21()
    repaired = subject.parts[0].repair.statement
    wrong = replace(repaired, relation=subject.parts[0].printed.relation)
    assert not examine(wrong).accepted


@pytest.mark.parametrize("progress_left", [sp.Rational(278, 245) + TINY, 2])
def test_round_does_not_prove_more_progress_than_it_has(progress_left):
    assert not examine(ours_cfl_round.cfl_round(progress_left).parts[0].printed).accepted


def test_round_without_the_drift_terms_is_not_proved():
    assert not examine(ours_cfl_round.cfl_round(1, sp.Rational(10, 3) - TINY).parts[0].printed).accepted


def test_round_without_the_bias_is_refuted_by_a_fixed_client():
    """Small steps towards a client's own minimiser: beta_t cannot be left out of the round."""
    relation = ours_cfl_round.cfl_round().parts[0].printed.relation
    bare = at_most(relation.left, relation.right.subs(ours_cfl_round.bias, 0))
    broken = [p.story[0] for p in check_of("ours.cfl_round").points() if not bare.holds_at(p.values)]
    assert any("fixed client" in story for story in broken)


def test_cfl_step_with_more_progress_is_refuted_by_the_largest_step():
    subject = ours_cfl_step.cfl_step()
    relation = subject.parts[0].printed.relation
    verdict = decide(subject.with_printed(at_most(relation.left, relation.right * (1 + TINY)), "1"))
    assert parts(verdict)["1"] == "false"
    assert findings(verdict, "printed", "proof", "1") == ["undecided"]


@pytest.mark.parametrize("eta_l", [Fraction(1, 10), HALF, Fraction(3, 5)])
def test_eq14_fails_for_concave_objectives(eta_l):
    """What its note says about (27)."""
    found = noisy_rounds(
        lambda w: -w, lambda w: Fraction(0), start=Fraction(0), eta_l=eta_l, sigma=Fraction(1), local_steps=2
    )
    moved = expectation(found, lambda r: (r.end / (2 * eta_l)) ** 2)
    bound = 2 * expectation(found, lambda r: r.mean(lambda c: [m**2 for m in c.local])) + HALF
    assert moved > bound
