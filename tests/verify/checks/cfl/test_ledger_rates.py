"""Rates of the CFL paper: floors along runs, Theorem 4.7, and the rules that our theorems use."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from math import log

import pytest
import sympy as sp
from cflag_theory.claims.cfl.symbols import T, sigma2
from rows import points_of

from cflag_theory.claims.cfl.rates import correlated as correlated_rates
from cflag_theory.claims.cfl.rates import floors, summed
from cflag_theory.claims.cfl.rates import theorems as rate_theorems
from cflag_theory.claims.cfl.rates import weighted_means as rates
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.notation import L
from cflag_theory.claims.engine.points import holds_at
from cflag_theory.claims.engine.relation import at_most
from cflag_theory.claims.ledger import LEDGER
from cflag_theory.verify.checks.cfl import rates as checks
from cflag_theory.verify.evidence import Point, applies
from cflag_theory.verify.instances.drift_rounds import DriftRounds, current, even

TINY = sp.Rational(1, 10**6)


def test_lnT_alone_with_one_constant_is_refuted_by_a_small_drift():
    """C = 10 serves no D^2 = 1/100 with R = 1."""
    subject = LEDGER["cfl.lnT"]()
    low = next(p for p in points_of(subject.id) if p.values[rates.rho] == 100)
    printed = subject.parts[1].printed
    point = Point({**low.values, rates.C: 10}, low.story)
    assert applies(printed, point)
    assert not holds_at(printed.relation, point.values)


def test_the_ratio_of_lnT_is_largest_at_two_rounds_without_loss():
    """What its note says of a grid; G adds the same to both sides."""
    shares = [step / 20 for step in range(20)] + [0.99]
    ratios = {}
    for rounds, share, x in product((*range(2, 20), 100), shares, (0, 0.1, 0.5, 0.9)):
        weights = [(1 - x) ** (rounds - t) for t in range(1, rounds + 1)]
        mean = sum(q / (t - share) for t, q in enumerate(weights, start=1)) / sum(weights)
        rest = (1 - share) ** 2
        ratios[rounds, share, x] = (share + rest * mean) / (share + rest * log(rounds) / rounds)
    assert max(ratios, key=ratios.__getitem__) == (2, 0, 0)
    assert max(ratios.values()) == pytest.approx(3 / (2 * log(2)))


def test_the_bracket_of_phi_stays_above_0_633():
    assert min(1 - log(rounds) / rounds for rounds in range(1, 1000)) == 1 - log(3) / 3 > 0.633


def test_phi_rate_is_refuted_within_the_printed_step_size():
    """mu eta = 1/10 with mu = L: the last rounds weigh more, and the ln T/T with c = 1 is not theirs."""
    relation = LEDGER["cfl.phi_rate"]().parts[1].printed.relation
    broken = [p for p in points_of("cfl.phi_rate") if not holds_at(relation, p.values)]
    assert any(p.values[rates.x] == Fraction(1, 20) and p.values[T] == 100 for p in broken)
    assert all(p.values[rates.x] > 0 for p in broken)


def test_the_subtracted_term_of_phi_is_of_order_one_over_T():
    """T times what is subtracted does not grow, as the proved family has it with 1600 for it."""
    subtracted = [rounds * (1 - checks.late(rounds)[0]) for rounds in (40, 80, 160)]
    assert subtracted == sorted(subtracted, reverse=True)
    assert subtracted[0] < 1600


@pytest.mark.parametrize(
    ("page", "family"),
    [
        (floors, "fixed_clients"),
        (floors, "new_in_every_round"),
        (floors, "no_gradient"),
        (floors, "geometric"),
        (floors, "flat"),
        (summed, "behind"),
        (summed, "plateau"),
    ],
)
def test_a_higher_floor_is_not_proved(page, family):
    statement = getattr(page, family)()
    goal = statement.relation
    higher = at_most(goal.left * (1 + TINY), goal.right)
    last = replace(statement.proof.steps[-1], goal=higher)
    wrong = replace(
        statement, relation=higher, proof=replace(statement.proof, steps=(*statement.proof.steps[:-1], last))
    )
    assert examine(statement).accepted
    assert not examine(wrong).accepted


def test_the_floor_of_fixed_clients_is_attained():
    """One round with the step 1/2 from ||w_0 - w*||^2 = G^2 has E f = G^2/4."""
    world = DriftRounds(weights=current(1), start=Fraction(1), eta_l=Fraction(1, 2), G=Fraction(1))
    assert checks.gaps(world)[-1] == Fraction(1, 4)


@pytest.mark.parametrize("rounds", [1, 2, 4])
def test_no_step_goes_below_the_floor_of_time_drifts(rounds):
    for eta_l in (Fraction(1, 10), Fraction(1, 2), Fraction(4, 5)):
        least, floor = checks.time_drifts(rounds, eta_l)
        assert least >= Fraction(1, 8) * Fraction(1, rounds + 1)
        assert rounds != 4 or least >= floor


def test_the_bracket_of_fedavg_falls_faster_than_the_floor_of_its_noise():
    """With ||w_0 - w*||^2 = sigma^2/(mu^2 T) and mu = L the quotient exceeds any C: here 249 at T = 1000."""
    noise = next(part for part in LEDGER["cfl.fedavg_rates"]().parts if part.key == "noise")
    printed = noise.printed.relation
    bracket = (
        (printed.right / rates.C).subs({floors.start2: 1 / T, sigma2: 1, L: 1, rate_theorems.mu: 1}).subs({T: 1000})
    )
    assert sp.Rational(1, 4000) > 249 * bracket


def test_with_a_smooth_class_the_sum_over_rounds_is_missed_by_more_than_theorem_B5_has():
    """T^2 (f - f*) of part sum of cfl.sc_rate for D = mu = 1 grows with L."""
    ratios = [checks.behind(9, smooth)[0] * 81 for smooth in (1, 2, 3)]
    assert ratios == sorted(ratios)
    assert all(found >= Fraction(2 * smooth, 3) for found, smooth in zip(ratios, (1, 2, 3), strict=True))


def test_orthogonal_drifts_leave_the_unit_ball_only_if_T_is_too_small():
    least, floor = checks.plateau(10, 500)
    assert least > floor
    with pytest.raises(ArithmeticError, match="leaves the unit ball"):
        checks.plateau(10, 101)


def test_the_largest_step_still_leaves_clients_at_rest():
    """With B = 1 the least gap is 2^-N of the first one, but for what the moving draws add."""
    for clients in (1, 2):
        least, floor = checks.at_rest(clients, 30)
        assert floor <= least < 2 * floor


def test_floors_replayed_over_all_draws_refute():
    for id in ("cfl.sc_rate", "cfl.gc_rate", "cfl.fedavg_rates"):
        found = list(checks.CHECKS[id].further(None, 0, 0))
        assert len(found) >= 4
        assert {item.finding for item in found} == {"refutes"}


@pytest.mark.parametrize("share", [1 + TINY, 2])
def test_the_family_of_theorem_4_7_leaves_no_more_than_that(share):
    assert examine(correlated_rates.floor()).accepted
    assert not examine(correlated_rates.floor(share)).accepted


def _slope(w, client, time):
    """grad f_{tau,i}(w) = w - delta - xi of the first instance of cfl.thm4_7_cO, for two signs."""
    half = Fraction(1, 2)
    return w - client * w / 2 - time * max(-half, min(half, w / 2))


def test_theorem_4_7_with_a_second_moment_above_its_bound():
    """Its story: xi_1 = xi_2, so that the weights do not matter; every objective is convex and 2-smooth."""
    point = points_of("cfl.thm4_7_cO")[0]
    assert point.values[correlated_rates.squares] == Fraction(1, 2)
    signs = list(product((1, -1), repeat=2))
    assert sum(_slope(Fraction(1), *two) ** 2 for two in signs) / 4 == Fraction(3, 2)
    # The bound itself: c_O + D^2 sum p^2.
    assert "= 3/2 over the four draws" in point.story[1]
    assert point.story[1].endswith("would have 11/8.")
    for two, (left, right) in product(signs, pairwise(map(Fraction, (-3, -1, 0, 1, 3)))):
        assert 0 <= _slope(right, *two) - _slope(left, *two) <= 2 * (right - left)


def test_the_closed_forms_of_noises_and_fresh_drifts_are_the_enumerated_ones():
    third = Fraction(1, 3)
    drifts = {"G": Fraction(1), "D": Fraction(1, 2), "stateless": True}
    world = DriftRounds(current(3), start=Fraction(2), eta_l=third, **drifts)
    assert [2 * gap for gap in checks.gaps(world)] == checks.fresh(Fraction(4), third, Fraction(5, 4), 3)
    world = DriftRounds(current(3), start=Fraction(2), eta_l=third, sigma=Fraction(1))
    assert checks.gaps(world) == [square / 2 for square in checks.fresh(Fraction(4), third, Fraction(1), 3)]


@pytest.mark.parametrize(
    ("place", "world"),
    [
        (0, DriftRounds(even(3), G=Fraction(1), D=Fraction(1, 2), R=Fraction(1, 4))),
        (1, DriftRounds(even(2), G=Fraction(1, 2), D=Fraction(1), sigma=Fraction(1))),
        (2, DriftRounds(current(3), G=Fraction(1), D=Fraction(1, 3))),
        (3, DriftRounds(even(2), G=Fraction(1), D=Fraction(1), clients=2)),
    ],
)
def test_second_moments_on_pages_are_those_of_all_draws(place, world):
    for part, sizes in (("rounds", {"eta_l": Fraction(1, 3)}), ("local", {"eta_l": Fraction(1, 20), "local_steps": 2})):
        point = [one for one in points_of("ours.cfl_strongly_convex") if one.part == part][place]
        assert 2 * checks.gaps(replace(world, start=Fraction(1), **sizes))[-1] == point.values[floors.apart2(T)]
