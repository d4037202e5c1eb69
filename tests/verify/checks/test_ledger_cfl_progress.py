"""(10)-(22) of the CFL paper and our own round: verdicts, and what a wrong constant does to them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp
from rows import decide, findings, parts, points_of

from cflag_theory.claims.cfl.one_round import leaning, local_drift, progress
from cflag_theory.claims.cfl.one_round import recursion as one_round
from cflag_theory.claims.cfl.one_round.ours import largest_step as ours_cfl_step
from cflag_theory.claims.cfl.one_round.ours import round as ours_cfl_round
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.relation import at_most
from cflag_theory.verify.witnesses.drift_rounds import DriftRounds
from cflag_theory.verify.witnesses.one_round import expectation, noisy_rounds

TINY = sp.Rational(1, 10**6)
HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (progress.eq10, {"1": "typo", "2": "typo"}),
        (progress.eq13, {"1": "holds", "2": "holds", "3": "needs-hypothesis"}),
        (local_drift.eq14, {"1": "needs-hypothesis", "2": "needs-hypothesis"}),
        (progress.eq15, {"1": "loose"}),
        (local_drift.eq17, {"1": "needs-hypothesis"}),
        (local_drift.eq18, {"1": "holds", "2": "needs-hypothesis"}),
        (one_round.eq20, {"1": "needs-hypothesis", "2": "needs-hypothesis"}),
        (one_round.eq21, {"1": "typo", "2": "typo", "3": "needs-hypothesis"}),
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
    biased = [p.values for p in points_of("cfl.eq13") if "second" in p.story[0] or "round 2" in p.story[0]]
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
        replace(f, relation=at_most(leaning.lipschitz, 2)) if f.name == "nonexpansive" else f for f in repair.hypotheses
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


def test_eq18_on_a_local_path_needs_lemma_B2():
    repair = local_drift.eq18().parts[1].repair.statement
    bare = replace(repair, hypotheses=tuple(f for f in repair.hypotheses if f.name != "Lemma B.2"))
    assert not examine(bare).accepted


def test_eq18_is_refuted_at_a_small_step():
    """Below the step size with 12 at c = L = 1; with 3 in place of the 2 of the loss it holds there."""
    relation = local_drift.eq18().parts[1].printed.relation
    small, large = (p for p in points_of("cfl.eq18") if "R |w|" in p.story[0])
    eta_l, eta_g = Fraction(1, 20), Fraction(1, 100)
    assert f"eta_l = {eta_l}, eta_g = {eta_g}" in small.story[0]
    assert 2 * eta_l * eta_g < (sp.sqrt(3 * eta_g**2 + 4 * eta_g**4) - 2 * eta_g**2) / 12
    assert not relation.holds_at(small.values)
    assert not relation.holds_at(large.values)
    wider = at_most(relation.left, relation.right + local_drift.rho_i2)
    assert wider.holds_at(small.values)


def test_eq20_with_another_constant_is_not_proved():
    verdict = decide(one_round.eq20(8 - TINY))
    assert findings(verdict, "repair", "proof", "1") == ["undecided"]
    assert findings(verdict, "repair", "proof", "2") == ["undecided"]


@pytest.mark.parametrize("name", ["(17), (18)", "drifts grow"])
def test_eq19_needs_both_hypotheses(name):
    repair = one_round.eq20().parts[0].repair.statement
    bare = replace(repair, hypotheses=tuple(f for f in repair.hypotheses if f.name != name))
    assert not examine(bare).accepted


def test_eq20_is_refuted_by_the_steep_loss_alone():
    relation = one_round.eq20().parts[0].printed.relation
    broken = [p for p in points_of("cfl.eq20") if p.part == "1" and not relation.holds_at(p.values)]
    assert len(broken) == 1
    assert "clip" in broken[0].story[0]


def test_eq21_is_refuted_by_a_large_step_only():
    relation = one_round.eq21().parts[0].printed.relation
    first = [p for p in points_of("cfl.eq21") if p.part == "1"]
    assert [relation.holds_at(p.values) for p in first] == [False, True, True]


def later_round(eta, curvature=Fraction(1)):
    """E||w_2 - w*||^2, E||w_3 - w*||^2 and E f(w_2) - f*: f = L w^2/2, w_1 = w* = 0, D = 1, p = (1/2, 1/2)."""
    world = DriftRounds(((Fraction(1),), (HALF, HALF)), a=curvature, eta_l=eta, D=Fraction(1))
    near, far = (world.expectation(lambda run, t=t: run.w[t] ** 2) for t in (2, 3))
    return near, far, curvature * near / 2


@pytest.mark.parametrize("c_2", [Fraction(1, 6), Fraction(5, 2), 100])
def test_no_c_2_saves_the_second_round(c_2):
    """c_1 = 2 c_pG = 1; half and all of mu L eta = L eta, and both sides over eta^2."""
    eta = Fraction(1, 1000)
    near, far, value = later_round(eta)
    assert far > (1 - eta / 2) * near - eta * value + eta**2 + c_2 * eta**3


def test_eq21_as_printed_fails_in_the_second_round_too():
    """The note's L = 1/100, eta = 5."""
    eta, curvature = Fraction(5), Fraction(1, 100)
    near, far, value = later_round(eta, curvature)
    printed = one_round.eq21().parts[0].printed.relation
    values = {
        progress.L: curvature,
        progress.mu: curvature,
        progress.eta: eta,
        one_round.eta_l: eta,
        one_round.K: 1,
        one_round.N: 1,
        one_round.sigma2: 0,
        progress.c_B: 1,
        one_round.c_G: HALF,
        one_round.rho2: 0,
        progress.rho: 0,
        progress.dist: 0,
        progress.dist2: near,
        progress.gap: value,
        progress.next2: far,
    }
    assert not printed.holds_at(values)
    assert printed.holds_at({**values, one_round.c_G: 1})


def test_eq21_of_the_method_breaks_for_continual_clients_and_for_FedAvg():
    relation = one_round.eq21().parts[2].printed.relation
    points = [p for p in points_of("cfl.eq21") if p.part == "3"]
    assert [relation.holds_at(p.values) for p in points] == [False, False, True]
    assert "FedAvg" in points[1].story[0]


@pytest.mark.parametrize("name", ["(13)", "(15)", "(20)"])
def test_eq21_of_the_method_needs_what_it_is_granted(name):
    repair = one_round.eq21().parts[2].repair.statement
    bare = replace(repair, hypotheses=tuple(f for f in repair.hypotheses if f.name != name))
    assert not examine(bare).accepted


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
    broken = [p.story[0] for p in points_of("ours.cfl_round") if not bare.holds_at(p.values)]
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
