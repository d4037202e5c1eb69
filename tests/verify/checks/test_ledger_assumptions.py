"""Assumptions 2 and 3: verdicts, and planted errors that change them."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp
from rows import decided, with_repair

from cflag_theory.claims.c_flag.problem import assumptions
from cflag_theory.claims.engine.notation import grad_g
from cflag_theory.claims.engine.relation import at_most
from cflag_theory.verify.checks.c_flag.problem import assumptions as checks

NEARLY = 1 - sp.Rational(1, 10**6)


def test_verdicts():
    assert decided(assumptions.assumption2()) == ("needs-hypothesis", {"1": "needs-hypothesis"})
    assert decided(assumptions.assumption3()) == (
        "needs-hypothesis",
        {"1": "needs-hypothesis", "2": "needs-hypothesis"},
    )


@pytest.mark.parametrize("left_out", ["same minimiser", "kappa"])
def test_assumption2_needs_both_hypotheses(left_out):
    kept = assumptions.assumption2().parts[0].repair.statement.hypotheses
    fewer = tuple(fact for fact in kept if fact.name != left_out)
    assert len(fewer) == 1
    assert decided(with_repair(assumptions.assumption2(), hypotheses=fewer))[0] == "false"


def test_assumption2_with_a_smaller_constant():
    wrong = at_most(assumptions.bias_i**2, NEARLY * assumptions.m_i * assumptions.grad_f_i**2)
    assert decided(with_repair(assumptions.assumption2(), relation=wrong))[0] == "false"


def test_memories_that_satisfy_assumption2_by_a_search_over_x():
    """The condition on (kappa, bias at rest) against the largest ratio on a grid of x that contains the minimiser."""
    for components in (checks._CROSSING, checks._COMMON, ((1, 0), (2, 1), (1, 2)), ((3, 1), (0, 1), (0, 1))):
        found, _ = checks.satisfying(components)
        for kept in [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]:
            _, _, rest = checks.shape(components, kept)
            ratio = Fraction(0)
            for x in [rest + Fraction(i, 7) for i in range(-6, 7)]:
                grad_f, b = checks.bias_at(components, kept, x)
                ratio = max(ratio, b**2 / grad_f**2) if grad_f else ratio + (10**6 if b else 0)
            assert (kept in found) is (ratio < 1)


@pytest.mark.parametrize("left_out", ["nested", "error bound", "r_i"])
def test_assumption3_uses_every_hypothesis(left_out):
    kept = assumptions.assumption3().parts[0].repair.statement.hypotheses
    fewer = tuple(fact for fact in kept if fact.name != left_out)
    verdict, parts = decided(with_repair(assumptions.assumption3(), hypotheses=fewer))
    assert verdict == "false"
    assert set(parts.values()) == {"false"}


def test_assumption3_with_a_smaller_constant():
    wrong = at_most(assumptions.memory_i, NEARLY * assumptions.r_i * grad_g)
    assert decided(with_repair(assumptions.assumption3(), relation=wrong))[0] == "false"


def test_assumption3_with_another_memory_step_in_the_family():
    _, parts = decided(assumptions.assumption3(sp.Rational(1, 4)))
    assert parts == {"1": "needs-hypothesis", "2": "open"}
