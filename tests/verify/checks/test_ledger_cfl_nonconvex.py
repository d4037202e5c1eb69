"""The non-convex proof of the CFL paper: verdicts, planted constants, and the theorem in its place."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest
import rows
import sympy as sp
from rows import parts

from cflag_theory.claims.cfl.nonconvex import descent as nonconvex
from cflag_theory.claims.cfl.nonconvex import floor as nonconvex_floor
from cflag_theory.claims.cfl.nonconvex import local_drift as nonconvex_drift
from cflag_theory.claims.cfl.nonconvex import progress as nonconvex_progress
from cflag_theory.claims.cfl.nonconvex import rate as nonconvex_rate
from cflag_theory.claims.cfl.nonconvex.ours import coefficient as ours_cfl_coefficient
from cflag_theory.claims.cfl.nonconvex.ours import fedavg as ours_cfl_fedavg
from cflag_theory.claims.cfl.nonconvex.ours import rate as ours_cfl_nonconvex
from cflag_theory.claims.cfl.symbols import D2
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.relation import at_most, below
from cflag_theory.verify.checks.cfl.nonconvex import descent as checks
from cflag_theory.verify.checks.cfl.nonconvex import local_drift as drift_checks
from cflag_theory.verify.checks.cfl.nonconvex import rate as rate_checks
from cflag_theory.verify.checks.cfl.nonconvex.ours import coefficient as coefficient_checks
from cflag_theory.verify.checks.cfl.nonconvex.ours import fedavg as fedavg_checks

MODULES = (
    nonconvex,
    nonconvex_drift,
    nonconvex_progress,
    nonconvex_rate,
    ours_cfl_nonconvex,
    ours_cfl_fedavg,
    ours_cfl_coefficient,
)
BUILDERS = {id: build for module in MODULES for id, build in module.CLAIMS.items()}
ROWS = {
    "cfl.nc_eq26": {"1": "holds", "2": "typo", "3": "holds"},
    "cfl.nc_eq28": {"1": "typo"},
    "cfl.nc_eq31": {"1": "holds", "2": "typo", "3": "typo"},
    "cfl.nc_eq32": {"1": "holds", "2": "needs-hypothesis", "3": "typo"},
    "cfl.nc_weights": {"1": "holds", "2": "false"},
    "cfl.nc_rate": {
        "1a": "needs-hypothesis",
        "1b": "false",
        "2": "typo",
        "3": "typo",
        "4": "typo",
        "step": "typo",
    },
    "ours.cfl_nonconvex": dict.fromkeys("1234", "holds"),
    "ours.cfl_fedavg_nonconvex": {"1": "holds"},
    "ours.cfl_nonconvex_coefficient": dict.fromkeys("123", "holds"),
    "ours.cfl_nonconvex_weights": dict.fromkeys("12", "holds"),
}
LESS = 1 - sp.Rational(1, 10**6)
decide = partial(rows.decide, further=True)


@pytest.mark.parametrize("id", ROWS)
def test_verdicts(id):
    verdict = decide(BUILDERS[id]())
    assert parts(verdict) == ROWS[id]
    for item in verdict.evidence:
        if item.kind == "proof":
            assert (item.finding, item.data["engines"]) == ("supports", ["sympy", "z3"])
            assert item.data["undecided"] == item.data["pieces"] == []


def test_the_refutations_are_accepted():
    for part in nonconvex_rate.nc_rate().parts:
        assert part.refutation is None or examine(part.refutation).accepted
    floor = nonconvex_floor.floor()
    assert not examine(replace(floor, relation=at_most(nonconvex_floor.G**2, 0))).accepted


def test_26_with_half_the_information_loss_fails():
    subject = nonconvex.nc_eq26()
    relation = subject.parts[0].printed.relation
    smaller = at_most(relation.left, relation.right.subs(nonconvex.past, nonconvex.past * LESS))
    assert parts(decide(subject.with_printed(smaller, "1")))["1"] == "false"


@pytest.mark.parametrize(("first", "second"), [(4, 1), (4, sp.Rational(101, 100)), (2, 1)])
def test_27_with_less_than_2_before_the_noise(first, second):
    assert parts(decide(nonconvex.nc_eq26(first, second)))["2"] == "false"


def test_27_holds_for_one_local_step():
    relation = nonconvex.move_bound()
    for world in checks.WORLDS:
        if world.local_steps == 1:
            assert relation.holds_at(checks.moments(world))


def test_a_larger_step_does_not_drop_the_sum_of_gradients():
    assert not examine(nonconvex.nc_eq26(limit=2 * LESS).parts[2].printed).accepted
    planted = nonconvex.nc_eq26().parts[2].printed.relation
    larger = {nonconvex.L: 1, nonconvex.eta: sp.Rational(51, 100)}
    assert not planted.holds_at(larger)


@pytest.mark.parametrize("drift", [1, sp.Rational(3, 2), 2 * LESS])
def test_28_with_less_than_2_before_the_drifts(drift):
    verdict = decide(nonconvex.nc_eq28(drift))
    assert verdict.verdict == "false"
    assert "refutes" in {item.finding for item in verdict.evidence if item.on == "repair"}


def test_28_is_attained():
    ratios = [
        item.data["largest_ratio"]
        for item in decide(nonconvex.nc_eq28()).evidence
        if item.on == "repair" and "largest_ratio" in item.data
    ]
    assert ratios == [1.0]


@pytest.mark.parametrize("factor", [1, sp.Rational(101, 100)])
def test_30_with_a_smaller_factor(factor):
    assert parts(decide(nonconvex_drift.nc_eq31(factor)))["2"] == "false"


def test_31_with_a_longer_step():
    """At 16 K^2 eta_l^2 L^2 c_pB = 1 the repaired (31) is an equality, so that 16 cannot be smaller."""
    assert not examine(nonconvex_drift.nc_eq31(share=16 * LESS).parts[2].repair.statement).accepted
    repaired = nonconvex_drift.nc_eq31().parts[2].repair.statement.relation
    points = [
        point for point in drift_checks.nc_eq31_points() if point.part == "3" and nonconvex_drift.far2 in point.values
    ]
    sides = [repaired.at(point.values) for point in points]
    assert any(left == right for left, right in sides)
    assert any(left > right for left, right in sides)


def test_29_with_a_smaller_information_loss():
    statement = nonconvex_drift.nc_eq31().parts[0].printed
    relation = at_most(statement.relation.left, statement.relation.right * LESS)
    assert not examine(replace(statement, relation=relation)).accepted


def test_c_0_with_A_and_B_as_printed():
    assert parts(decide(nonconvex_progress.nc_eq32(swapped=True)))["3"] == "false"


@pytest.mark.parametrize("value", [1 + sp.Rational(1, 10**6), 2])
def test_the_displayed_problem_has_no_larger_least_value(value):
    assert parts(decide(nonconvex_progress.nc_weights(value)))["1"] == "false"


def test_the_weights_of_a_smaller_power_of_the_drift():
    assert parts(decide(nonconvex_rate.nc_rate(D2 / 2)))["3"] == "false"


def test_the_floor_of_the_printed_rate():
    """From L w_1 = G with the step 1/L nothing ever changes: E||grad f||^2 = G^2 in every round."""
    assert set(rate_checks.mean_squared_gradients(rate_checks.stuck(Fraction(2), 6))) == {1}


@pytest.mark.parametrize("constant", [sp.Rational(1, 2), sp.Rational(97, 100)])
def test_the_errors_cannot_count_less(constant):
    """T/(T + 1) with T = 40: 1 - 1/40 and less are refuted by the run itself."""
    assert parts(decide(ours_cfl_nonconvex.nonconvex(constant)))["1"] == "false"


@pytest.mark.parametrize("constant", [Fraction(1, 2), LESS])
def test_fresh_drifts_that_count_less(constant):
    """No proof of the theorem, nor of the number of rounds in the repair of the FedAvg rate."""
    assert not examine(ours_cfl_fedavg.bound(constant)).accepted
    assert not examine(ours_cfl_fedavg.reached(constant).statement).accepted


def test_the_fedavg_rate_needs_its_fresh_drifts():
    repaired = ours_cfl_fedavg.reached()
    kept = tuple(fact for fact in repaired.statement.hypotheses if fact.name != "fresh")
    assert not examine(replace(repaired.statement, hypotheses=kept)).accepted
    world = fedavg_checks.WORLDS[1]
    assert fedavg_checks.largest_bias(world) == 0 < fedavg_checks.largest_bias(replace(world, stateless=False))


def test_the_sum_of_the_errors_is_not_dropped():
    statement = ours_cfl_nonconvex.one_step()
    dropped = at_most(statement.relation.left, statement.relation.right.subs(ours_cfl_nonconvex.error2_mean, 0))
    assert not examine(replace(statement, relation=dropped)).accepted


def test_eta_with_L_under_the_root():
    subject = nonconvex_rate.nc_rate()
    part = subject.parts[-1]
    bare = replace(part.repair.statement, hypotheses=part.printed.hypotheses)
    planted = replace(part, repair=replace(part.repair, statement=bare))
    assert parts(decide(replace(subject, parts=(planted,))))["step"] == "false"


def test_a_descent_of_32_needs_its_condition():
    part = nonconvex_progress.nc_eq32().parts[1]
    assert not examine(replace(part.repair.statement, hypotheses=part.printed.hypotheses)).accepted


def test_the_mended_coefficient_falls_through_zero_at_12():
    relation = ours_cfl_coefficient.coefficients().parts[2].printed.relation
    values = {
        number: relation.at(point.values)[0]
        for number, point in zip((8, 12, 13, 16, 24), list(coefficient_checks.shorter_steps())[::4], strict=True)
    }
    assert values == {
        8: sp.Rational(1, 2),
        12: 0,
        13: sp.Rational(-1, 18),
        16: sp.Rational(-1, 6),
        24: sp.Rational(-3, 10),
    }


def test_a_step_that_is_not_short_enough():
    statement = ours_cfl_coefficient.coefficients().parts[2].printed
    short = statement.hypotheses[1]
    longer = replace(short, relation=below(short.relation.left * LESS, short.relation.right))
    assert not examine(replace(statement, hypotheses=(statement.hypotheses[0], longer))).accepted


def test_a_smaller_constant_for_local_steps_has_no_proof():
    assert parts(decide(ours_cfl_nonconvex.nonconvex(local=4 * LESS)))["2"] == "open"


def test_26_is_attained_when_the_loss_is_the_gradient():
    left, right = nonconvex.inner_bound().at(checks.moments(checks.WORLDS[-1]))
    assert left == right


def test_the_least_coefficient_is_one_half():
    subject = ours_cfl_coefficient.coefficients()
    relation = subject.parts[0].printed.relation
    assert parts(decide(subject.with_printed(at_most(relation.left / LESS, relation.right), "1")))["1"] == "false"


@pytest.mark.parametrize("part", [0, 1])
def test_the_optimal_weights_are_attained(part):
    subject = ours_cfl_coefficient.weights()
    key, relation = subject.parts[part].key, subject.parts[part].printed.relation
    assert parts(decide(subject.with_printed(at_most(relation.left / LESS, relation.right), key)))[key] == "false"


def test_drifts_that_count_less_in_the_drift_model():
    statement = ours_cfl_nonconvex.drift_model()
    smaller = at_most(statement.relation.left, statement.relation.right * LESS)
    assert not examine(replace(statement, relation=smaller)).accepted
