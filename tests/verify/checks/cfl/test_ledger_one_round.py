"""(10)-(23) of the CFL paper: instances by hand, and hypotheses that granted relations need."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp
from rows import points_of

from cflag_theory.claims.cfl import symbols
from cflag_theory.claims.cfl.one_round import local_drift, progress, thresholds
from cflag_theory.claims.cfl.one_round import recursion as one_round
from cflag_theory.claims.engine import notation
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.points import holds_at
from cflag_theory.claims.engine.relation import at_most
from cflag_theory.claims.ledger import LEDGER
from cflag_theory.verify.instances.drift_rounds import DriftRounds, expectation, noisy_rounds

HALF = Fraction(1, 2)


def test_eq13_past_drifts_make_the_bias_positive():
    """The whole point of part 3: f_t(w_t) - f_t(w*) is smaller than f(w_t) - f(w*) on average."""
    biased = [p.values for p in points_of("cfl.eq13") if "Round 2." in p.story[0]]
    assert any(values[progress.local_gap] < values[progress.gap] for values in biased)


def test_eq18_is_refuted_at_a_small_step():
    """Below the step size with 12 at c = L = 1; with 3 in place of the 2 of the loss it holds there."""
    relation = LEDGER["cfl.eq18"]().parts[1].printed.relation
    small, large = (p for p in points_of("cfl.eq18") if "R |w|" in p.story[0])
    eta_l, eta_g = Fraction(1, 20), Fraction(1, 100)
    assert f"eta_l = {eta_l}, eta_g = {eta_g}" in small.story[0]
    assert 2 * eta_l * eta_g < (sp.sqrt(3 * eta_g**2 + 4 * eta_g**4) - 2 * eta_g**2) / 12
    assert not holds_at(relation, small.values)
    assert not holds_at(relation, large.values)
    wider = at_most(relation.left, relation.right + local_drift.rho_i2)
    assert holds_at(wider, small.values)


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
    printed = LEDGER["cfl.eq21"]().parts[0].printed.relation
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
    assert not holds_at(printed, values)
    assert holds_at(printed, {**values, one_round.c_G: 1})


def test_eq21_of_the_method_breaks_for_continual_clients_and_for_FedAvg():
    relation = LEDGER["cfl.eq21"]().parts[2].printed.relation
    points = [p for p in points_of("cfl.eq21") if p.part == "3"]
    assert [holds_at(relation, p.values) for p in points] == [False, False, True]
    assert "weights 0 and 0 and 1" in points[1].story[0]  # FedAvg


def test_eq21_without_its_factor_in_the_mended_form():
    subject = LEDGER["cfl.eq21"]()
    repaired = subject.parts[0].repair.statement
    wrong = replace(repaired, relation=subject.parts[0].printed.relation)
    assert not examine(wrong).accepted


@pytest.mark.parametrize("eta_l", [Fraction(1, 10), HALF, Fraction(3, 5)])
def test_eq14_fails_for_concave_objectives(eta_l):
    """What its note says about (27)."""
    found = noisy_rounds(
        lambda w: -w, lambda w: Fraction(0), start=Fraction(0), eta_l=eta_l, sigma=Fraction(1), local_steps=2
    )
    moved = expectation(found, lambda r: (r.end / (2 * eta_l)) ** 2)
    bound = 2 * expectation(found, lambda r: r.mean(lambda c: [m**2 for m in c.local])) + HALF
    assert moved > bound


def test_step6_is_an_equality_at_its_bound():
    """Six is the largest step for (22), and leaves nothing: the coefficient is exactly 0."""
    at_bound = points_of("cfl.step6")[::3]
    assert at_bound
    assert all(sp.simplify(thresholds.LEFT.subs(p.values)) == 0 for p in at_bound)


def test_eq23_is_refuted_below_the_step_size():
    relation = LEDGER["cfl.phi"]().parts[0].printed.relation
    points = list(points_of("cfl.phi"))
    assert all(
        holds_at(fact.relation, p.values) for p in points for fact in LEDGER["cfl.phi"]().parts[0].printed.hypotheses
    )
    assert [holds_at(relation, p.values) for p in points] == [False, True, True, True]


@pytest.mark.parametrize(
    ("build", "words"), [(LEDGER["cfl.step6"], "(22) holds."), (LEDGER["cfl.step12"], "at most -eta.")]
)
def test_steps_say_what_is_left(build, words):
    assert build().parts[0].printed.words.endswith(words)


def test_22_as_printed_is_not_what_the_step_size_gives():
    """L = 10, c = eta_g = 1, eta = 1/200; the corrected line keeps -eta."""
    L, eta = 10, Fraction(1, 200)
    assert (12 * L * eta + 2) ** 2 <= 7
    near, ratio = 4 * eta**2 * L**2, (1 + 4 * eta * L) / (1 - 4 * eta**2 * L**2)
    assert -2 * eta + 16 * eta**2 * L + 4 * near * ratio == Fraction(701, 16500) > 0
    assert -2 * eta + 16 * eta**2 * L + 4 * eta * near * ratio <= -eta
    values = {notation.L: L, symbols.eta: eta, symbols.eta_g: 1, progress.c_B: 1}
    assert thresholds.PRINTED_LEFT.subs(values) == sp.Rational(701, 16500)
