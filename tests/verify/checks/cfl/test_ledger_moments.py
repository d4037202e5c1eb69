"""Moments of the CFL paper: instances by hand, and that the worlds are what they are said to be."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise

import sympy as sp
from cflag_theory.claims.cfl.symbols import D2, F2
from rows import points_of

from cflag_theory.claims.cfl.moments import gradient_noise, information_loss
from cflag_theory.claims.engine.points import holds_at, sides_at
from cflag_theory.claims.ledger import LEDGER
from cflag_theory.verify.checks.cfl import moments as checks


def test_lemma_B2_fails_on_the_run_only_where_the_drift_meets_the_iterate():
    relation = LEDGER["cfl.lemB2_use"]().parts[0].printed.relation
    seen = set()
    for point in checks.lemB2_use_points():
        against = point.values[gradient_noise.drift_cross] < 0
        assert holds_at(relation, point.values) is not against
        seen.add(against)
    assert seen == {True, False}


def test_the_turning_drift_leaves_every_client_convex_and_smooth():
    grid = [Fraction(n, 4) for n in range(4 * 140, 4 * 156)]
    for a, b in pairwise(grid):
        for s in (1, -1):
            slope = 1 - s * (checks.turning(b) - checks.turning(a)) / (b - a)
            assert Fraction(1, 2) <= slope <= Fraction(3, 2)
            assert checks.turning(a) ** 2 <= 1


def test_lemma_B7_holds_where_F_is_at_most_D():
    relation = LEDGER["cfl.lemB7"]().parts[0].printed.relation
    for point in checks.lemB7_points():
        if point.values[F2] <= point.values[D2]:
            assert holds_at(relation, point.values), point.story


def test_the_clipped_drift_satisfies_assumptions_1_3_and_6_everywhere():
    grid = [Fraction(n, 4) for n in range(-12, 13)]
    for a, b in pairwise(grid):
        drift = checks.clipped(a)
        assert drift**2 <= a**2 / 4
        assert drift**2 <= Fraction(1, 4)
        for s in (1, -1):
            slope = 1 - s * (checks.clipped(b) - drift) / (b - a)
            assert Fraction(1, 2) <= slope <= Fraction(3, 2)


def test_the_instance_of_lemma_B7_has_5_over_4_against_9_over_8():
    point = next(iter(checks.lemB7_points()))
    assert sides_at(LEDGER["cfl.lemB7"]().parts[0].printed.relation, point.values) == (
        sp.Rational(5, 4),
        sp.Rational(9, 8),
    )


def test_labels_from_the_model_excuse_logits_that_bend():
    cases = [p for p in checks.fisher_points() if p.part == "2"]
    assert any("z'' = 1, 3, 0" in line for p in cases for line in p.story)
    for point in cases:
        assert point.values[information_loss.mean_bend] == 0
        assert point.values[information_loss.mean_fisher] == point.values[information_loss.mean_hessian]


def test_renewal_gives_the_stated_correlations():
    rows = checks.kept((0, 1, 1), 3)
    for a, b, expected in ((0, 1, Fraction(1, 2)), (1, 2, Fraction(1, 2)), (0, 2, Fraction(1, 4))):
        assert checks.mean([row[a] * row[b] for row in rows]) == expected
    apart = checks.kept((0, 1, 0, 2), 4, apart=2)
    expected = {(0, 1): 2, (1, 3): 4, (0, 3): 8, (0, 2): 0, (1, 2): 0, (2, 3): 0}
    for (a, b), inverse in expected.items():
        found = checks.mean([row[a] * row[b] for row in apart])
        assert found == (Fraction(1, inverse) if inverse else 0)


def test_the_mean_value_step_is_refuted_by_its_own_numbers():
    x = sp.Symbol("x")
    change = [sp.integrate(second, (x, 0, 1)) for second in (x, x**2)]
    assert change == [sp.Rational(1, 2), sp.Rational(1, 3)]
    assert change[0] ** 2 != change[1]


def test_the_taylor_errors_are_integrals_of_the_change_of_curvature():
    """f'' is linear between 0 and 1 and constant outside, so that trapezoids integrate it exactly."""

    def curvature(w):
        return 1 + min(max(w, Fraction(0)), Fraction(1))

    for point in points_of("cfl.lemB3"):
        start, hat, w = map(Fraction, re.findall(r" = (-?[\d/]+)[,.]", point.story[0].partition("eps = 1.")[2]))
        for name, at in ((information_loss.loss, hat), (information_loss.loss_elsewhere, start)):
            places = sorted({at, w, *(Fraction(x) for x in (0, 1) if min(at, w) < x < max(at, w))})
            change = sum((b - a) * ((curvature(a) + curvature(b)) / 2 - curvature(at)) for a, b in pairwise(places))
            assert point.values[name] == abs(change)


def test_the_squared_gradient_of_one_example_is_not_its_hessian_either():
    one = checks.Softmax((sp.Rational(2, 3), sp.Rational(1, 3)), (1, 0), (0, 0), (0,))
    first, second = one.derivatives(0)
    assert (first**2, second) == (sp.Rational(1, 9), sp.Rational(2, 9))
