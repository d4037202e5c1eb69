"""(149)-(165) and (178): counterexamples by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp
from rows import decided, points_of

from cflag_theory.claims.c_flag.forgetting import bounds as forgetting
from cflag_theory.claims.engine.notation import E, L, alpha, beta, m, r
from cflag_theory.claims.ledger import LEDGER
from cflag_theory.verify.checks.c_flag import forgetting as check
from cflag_theory.verify.instances.on_the_line import on_the_line


def test_the_counterexamples_on_alpha_lie_beyond_1_over_L():
    for id, keys in (("cflag.eq156", ("1", "2")), ("cflag.eq160", ("1",))):
        for item in decided(id).evidence:
            if item.part in keys and item.kind == "counterexample":
                values = {name: sp.Rational(value) for name, value in item.data["values"].items()}
                assert 1 < values[str(L)] * values[str(alpha)] < 2


def test_our_bound_is_attained_on_both_sides_of_alpha():
    relation = LEDGER["ours.forgetting_step"]().parts[0].printed.relation
    equal = {
        bool(point.values[L] * point.values[alpha] > 1)
        for point in points_of("ours.forgetting_step")
        if point.part == "1" and relation.slack.xreplace({k: sp.sympify(v) for k, v in point.values.items()}) == 0
    }
    assert equal == {True, False}


def test_161_by_hand():
    """grad f = 1, grad g = -3, one local step: everything about the round fits on a line."""
    (found,) = (e for e in decided("cflag.eq161").evidence if e.kind == "counterexample")
    values = {name: sp.Rational(value) for name, value in found.data["values"].items()}
    step, local, slope = sp.Rational(1, 2), sp.Rational(1, 60), 4
    assert (values["alpha"], values["beta"], values["E"], values["m"]) == (step, local, 1, 0)
    x = 1 - step * 1 - local * (1 - slope)
    h = [sp.Rational(1, 2) - 2, x**2 / 2 - 2 * x]
    Gamma = local**2 * 9 / 2 - local * (1 - step) * (1 * -3)
    at = {L: 1, r: sp.Rational(1, 3), alpha: step, beta: local, E: 1}
    right = forgetting.Q().subs(at) / forgetting.Z().subs(at) * (h[0] - h[1]) + forgetting.Q().subs(at) * 4
    assert values["Gamma"] == Gamma > 0 > right
    # alpha <= 1/L and beta L E = 1/60: the step sizes that the proof would like to have.
    assert step <= 1
    assert h[1] > h[0]


def test_the_family_of_165_exists():
    """A beta for every K: the left side of its equation falls from 1 to below 0."""
    (fact,) = LEDGER["cflag.eq164"]().parts[1].refutation.hypotheses
    left = sp.Poly(fact.relation.left, beta)
    assert left.eval(0) == 1
    assert left.eval(sp.Rational(1, 20)) < 0


def test_178_exactly():
    at = {L: 1, E: 1, beta: sp.Rational(1, 60), alpha: sp.Rational(1, 2), m: 0, r: 1}
    assert forgetting.Q().subs(at) == sp.Rational(67, 60000) + sp.Rational(11, 600)


@pytest.mark.parametrize(("step", "beaten"), [(Fraction(3, 2), True), (Fraction(1, 2), False)])
def test_157_fails_in_one_local_step_beyond_alpha_1_over_L(step, beaten):
    """f = g = x^2/2 - x at 0, all of it kept, N = E = L = r = 1, beta = 1/60; written out here once more."""
    local, q = Fraction(1, 60), 1 - step
    gamma = local**2 / 2 - local * q
    bound = 36 * local**4 + 2 * local**2 + q * local * (6 * local + 1)
    assert (gamma > bound) is beaten
    if beaten:
        assert (gamma, bound) == (Fraction(61, 7200), Fraction(-1033, 120000))
        relation = LEDGER["cflag.eq158"]().parts[0].printed.relation
        sides = [(relation.left.subs(one.values), relation.right.subs(one.values)) for one in points_of("cflag.eq158")]
        assert (sp.Rational(61, 7200), sp.Rational(-1033, 120000)) in sides


def test_the_size_of_1_less_L_alpha_repairs_156_without_a_condition_on_alpha():
    for part in LEDGER["cflag.eq156"]().parts[:2]:
        assert part.repair.kind == "typo"
        added = {fact.name for fact in part.repair.statement.hypotheses} - {f.name for f in part.printed.hypotheses}
        assert not added


@pytest.mark.parametrize("current", [[(-1, -1)], [(-1, -1), (1, 1)]])
def test_omega_squared_by_hand(current):
    """Every set of past gradients with all current ones; the largest distance of its mean from the whole mean."""
    problem = on_the_line([[(1, 1)]], [current], start=0, L=1)
    (((past,), slopes),) = check._slopes(problem)
    mean = sum(slopes) / Fraction(len(slopes))
    assert check._omega_squared(problem) == ((past - mean) / (len(slopes) + 1)) ** 2 > 0
