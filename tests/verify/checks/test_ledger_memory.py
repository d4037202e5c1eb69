"""Lemmas 8, 9 and 10, and what we prove around them: verdicts, and planted errors that change them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp
from rows import decided

from cflag_theory.claims.c_flag.problem import memory
from cflag_theory.claims.c_flag.problem import objective as problem
from cflag_theory.claims.c_flag.problem.ours import memory as ours_memory
from cflag_theory.claims.engine.notation import bias2, grad_f2, grad_g, m, r
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.errors import InconsistentEvidence
from cflag_theory.kernels.memory.memory import draw_subset
from cflag_theory.verify.checks.c_flag.problem import memory as checks
from cflag_theory.verify.checks.c_flag.problem.ours import memory as ours_checks

NEARLY = 1 - sp.Rational(1, 10**6)
ROWS = {
    "cflag.lemma8": ("holds", {"1": "holds"}),
    "cflag.lemma9": ("needs-hypothesis", {"1": "needs-hypothesis"}),
    "cflag.lemma10": ("holds", {"1": "holds"}),
    "ours.eq3": ("holds", {"1": "holds", "2": "holds"}),
    "ours.assumption2": ("holds", dict.fromkeys("1234", "holds")),
    "ours.bias_floor": ("holds", {"1": "holds"}),
}


@pytest.mark.parametrize("id", ROWS)
def test_verdicts(id):
    builders = {**memory.CLAIMS, **ours_memory.CLAIMS}
    assert decided(builders[id]()) == ROWS[id]


def test_lemma8_for_draws_that_are_not_uniform():
    subject = memory.lemma8()
    part = subject.parts[0]
    planted = replace(subject, parts=(replace(part, printed=replace(part.printed, hypotheses=())),))
    # The enumeration speaks of uniform draws only, the class-balanced instance of the others.
    with pytest.raises(InconsistentEvidence, match="1/3 on the left and 0 on the right"):
        decided(planted)
    assert decided(subject.with_printed(equal(memory.mean_bias, 1)))[0] == "false"


def test_the_shares_of_a_class_balanced_memory_in_the_note():
    """Classes {0, 1, 2} and {3}, two kept: expected shares 1/6, 1/6, 1/6, 1/2, from the memory's own draws."""
    labels, order, total = np.array([0, 0, 0, 1]), np.empty(4, dtype=np.int64), np.zeros(4)
    draws = 6000
    for seed in range(draws):
        kept = draw_subset(seed, 0, 0, 0, labels, 0, 4, 2, True, order)
        total[order[:kept]] += 1 / kept
    assert total[3] == draws / 2
    # Each of the three is kept with probability 1/3: five standard deviations.
    assert np.abs(total[:3] / draws - 1 / 6).max() < 5 * np.sqrt(2 / 9 / draws) / 2


@pytest.mark.parametrize("left_out", ["Assumption 2", "(28)"])
def test_lemma9_uses_both_hypotheses(left_out):
    part = memory.lemma9().parts[0]
    fewer = tuple(fact for fact in part.repair.statement.hypotheses if fact.name != left_out)
    repair = replace(part.repair, statement=replace(part.repair.statement, hypotheses=fewer))
    verdict, _ = decided(replace(memory.lemma9(), parts=(replace(part, repair=repair),)))
    assert verdict == "false"


def test_lemma9_with_a_smaller_constant():
    part = memory.lemma9().parts[0]
    statement = replace(part.repair.statement, relation=at_most(bias2, NEARLY * m * grad_f2))
    planted = replace(memory.lemma9(), parts=(replace(part, repair=replace(part.repair, statement=statement)),))
    assert decided(planted)[0] == "false"


def test_lemma9_counterexample_satisfies_assumption2_at_every_x():
    world = checks.cancelling()
    for x, draw in product(range(-3, 4), checks.draws(world, 1)):
        here = replace(world, start=np.array([Fraction(x, 2)], dtype=object))
        grad_f_i = checks.gradients(here.potential, here.past, here.start)[:, 0]
        assert all(checks.biases(here, draw) ** 2 == grad_f_i**2 / 4)


def test_lemma10_with_a_smaller_constant():
    assert decided(memory.lemma10().with_printed(at_most(memory.memory_norm, NEARLY * r * grad_g)))[0] == "false"


def test_ours_eq3_without_its_remainder():
    wrong = equal(problem.h, problem.decomposed(problem.f, problem.g))
    assert decided(ours_memory.eq3().with_printed(wrong))[1] == {"1": "false", "2": "holds"}


def test_ours_constants_past_their_sharp_values():
    assert decided(ours_memory.assumption2(NEARLY))[1]["1"] == "false"
    assert decided(ours_memory.bias_floor(NEARLY))[0] == "false"
    wrong = at_most(ours_memory.kappa, NEARLY * ours_memory.root_m)
    assert decided(ours_memory.assumption2().with_printed(wrong, "3"))[1]["3"] == "false"


def test_a_sum_that_does_not_interpolate_is_seen(monkeypatch):
    """If memories with another minimiser passed, the enumeration would say so."""
    every = lambda components: (  # noqa: E731
        [kept for size in range(1, len(components)) for kept in ours_checks.combinations(range(len(components)), size)],
        0,
    )
    monkeypatch.setattr(ours_checks, "satisfying", every)
    (found,) = ours_checks.assumption2_further(ours_memory.assumption2(), 0, 1)
    assert found.finding == "refutes"
