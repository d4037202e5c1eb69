"""Theorems 2 and 5, Lemmas 4 and 18, Corollary 17: the families along simulated runs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from needs import quick
from rows import at_values, points_of

from cflag_theory.claims.c_flag.forgetting import average as average_forgetting
from cflag_theory.claims.c_flag.past_task import theorem2
from cflag_theory.claims.c_flag.past_task import theorem5 as limits
from cflag_theory.claims.engine.points import holds_at
from cflag_theory.verify.check import Check, run_check
from cflag_theory.verify.checks.c_flag import forgetting as average_checks
from cflag_theory.verify.checks.c_flag import past_task

BUILDERS = {**average_forgetting.CLAIMS, **limits.CLAIMS}


@pytest.mark.parametrize("id", quick(BUILDERS, "cflag.thm5", "cflag.lemma4"))
def test_a_constant_far_too_small_is_refuted_by_a_run(id):
    factor, C = Fraction(1, 10**5), average_forgetting.C
    small = [replace(point, values={**point.values, C: factor * point.values[C]}) for point in at_values(points_of(id))]
    verdict = run_check(replace(BUILDERS[id](factor), instances=()), Check(lambda: small))
    assert verdict.verdict == "false"
    assert [e.finding for e in verdict.evidence if (e.on, e.kind) == ("repair", "counterexample")] == ["refutes"]


@pytest.mark.parametrize("local", [Fraction(1, 60), Fraction(1, 4)])
@pytest.mark.parametrize("rounds", [1, 2, 7, 16])
def test_the_climbing_family_is_what_the_simulator_does(local, rounds):
    follows, mean = average_checks.climbing_family(local, rounds)
    assert follows
    assert mean >= local**4 * rounds * (2 * rounds - 3) / 12


def test_the_climbing_family_outgrows_every_bound_of_the_lemmas():
    """beta = 1/(2 sqrt(T)) for Lemma 4, where C/sqrt(T) tends to zero, and a constant beta for Lemma 18."""
    means = [average_checks.climbing_family(Fraction(1, 2 * root), root**2)[1] for root in (2, 4, 6)]
    assert Fraction(1, 96) < means[0] < means[1] < means[2]
    means = [average_checks.climbing_family(Fraction(1, 4), rounds)[1] for rounds in (4, 16, 24)]
    assert means[2] > 10 * means[1] > 100 * means[0]


@pytest.mark.parametrize("rounds", [1, 2, 9, 16])
def test_the_floor_is_what_the_simulator_does(rounds):
    holds, least = past_task.cancelling_family(Fraction(1, 8 * rounds), rounds)
    assert holds
    assert least >= Fraction(1, 36)


def test_theorem2_is_refuted_by_the_memory_that_is_drawn_once():
    """The same instance with fresh memories and with T = 1 satisfies the bound."""
    for point in points_of("cflag.thm2"):
        if point.part is None:
            once = "drawn once" in point.story[0] and "T = 1" not in point.story[0]
            biased = point.values[theorem2.bias2_sum] > 0
            assert holds_at(theorem2.bound(), point.values) or (once and biased)
