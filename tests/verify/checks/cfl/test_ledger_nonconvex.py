"""The non-convex proof of the CFL paper: instances by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp
from rows import alone, points_of

from cflag_theory.claims.cfl.nonconvex import descent as nonconvex
from cflag_theory.claims.cfl.nonconvex.ours import fedavg as ours_cfl_fedavg
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.notation import L
from cflag_theory.claims.engine.points import holds_at, sides_at
from cflag_theory.claims.ledger import LEDGER
from cflag_theory.verify.checks.cfl import nonconvex as checks
from cflag_theory.verify.instances.cfl import WorldRound

LESS = 1 - sp.Rational(1, 10**6)


def test_27_holds_for_one_local_step():
    relation = nonconvex.move_bound()
    for world in checks.WORLDS:
        if world.local_steps == 1:
            assert holds_at(relation, checks.moments(world))


def test_31_needs_the_second_condition_on_the_step():
    """Where 8 K^2 eta_l^2 c_pB = 1 and L > 1 it fails; where both are equalities, so is (31)."""
    part = LEDGER["cfl.nc_eq31"]().parts[2]
    points = [point.values for point in points_of("cfl.nc_eq31") if point.part == "3"]
    points = [values for values in points if holds_at(part.printed.hypotheses[0].relation, values)]
    sides = [(values[L] > 1, *sides_at(part.printed.relation, values)) for values in points]
    assert any(large and left > right for large, left, right in sides)
    assert any(not large and left == right for large, left, right in sides)


def test_the_floor_of_the_printed_rate():
    """From L w_1 = G with the step 1/L nothing ever changes: E||grad f||^2 = G^2 in every round."""
    assert set(WorldRound(checks.stuck(Fraction(2), 6)).squared_gradients()) == {1}


@pytest.mark.parametrize("constant", [Fraction(1, 2), LESS])
def test_fresh_drifts_that_count_less(constant):
    """No proof of the theorem, nor of the number of rounds in the repair of the FedAvg rate."""
    theorem = ours_cfl_fedavg.CLAIMS["ours.cfl_fedavg_nonconvex"](constant)
    assert not examine(theorem.parts[0].printed).accepted
    assert not examine(ours_cfl_fedavg.reached(constant)).accepted


def test_the_fedavg_rate_needs_its_fresh_drifts():
    repaired = ours_cfl_fedavg.reached()
    kept = tuple(fact for fact in repaired.hypotheses if fact.name != "fresh")
    assert not examine(replace(repaired, hypotheses=kept)).accepted
    world = checks.STATELESS[1]
    assert checks.largest_bias(world) == 0 < checks.largest_bias(replace(world, stateless=False))


def test_eta_with_L_under_the_root():
    subject = LEDGER["cfl.nc_rate"]()
    part = subject.parts[-1]
    bare = replace(part.repair.statement, hypotheses=part.printed.hypotheses)
    assert alone(subject.id, "step", bare).verdict == "false"


def test_the_mended_coefficient_falls_through_zero_at_12():
    relation = LEDGER["ours.cfl_nonconvex_coefficient"]().parts[2].printed.relation
    shorter = [point for point in points_of("ours.cfl_nonconvex_coefficient") if point.part == "3"]
    values = {
        number: sides_at(relation, point.values)[0]
        for number, point in zip((8, 12, 13, 16, 24), shorter[::4], strict=True)
    }
    assert values == {
        8: sp.Rational(1, 2),
        12: 0,
        13: sp.Rational(-1, 18),
        16: sp.Rational(-1, 6),
        24: sp.Rational(-3, 10),
    }


def test_26_is_attained_when_the_loss_is_the_gradient():
    left, right = sides_at(nonconvex.inner_bound(), checks.moments(checks.WORLDS[-1]))
    assert left == right
