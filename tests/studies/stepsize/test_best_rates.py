"""Rounds to a target and best step sizes: minimal, feasible, and better than any point of a grid."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from cflag_theory.studies.stepsize.best_rates import MOST_ROUNDS, largest, log_ratio, rounds_to
from cflag_theory.studies.stepsize.predicted import HELD, SQRT
from cflag_theory.verify import step_sizes

pytestmark = pytest.mark.full

GIVEN = {"m": 0.25, "T": 2000, "gap": 1.5, "grad_g": 0.7, "gap_h": 0.9}
PROVED = ("ours.drawn_once", "ours.redrawn", "ours.algorithm1_descent")


def found(claim, *, alpha, beta, **given):
    (row,) = [row for row in step_sizes(**{**GIVEN, **given}, alpha=alpha, beta=beta).bounds if row.claim == claim]
    return row


def best(claim, goal, *, beta=0.001, **given):
    rows = step_sizes(**{**GIVEN, **given}, alpha=0.1, beta=beta).best
    return next(row for row in rows if (row.claim, row.goal) == (claim, goal))


@pytest.mark.parametrize("least", [1, 2, 3, 1000, 2**40 + 1])
def test_the_least_number_of_rounds(least):
    assert rounds_to(1.0, lambda rounds: True, lambda rounds: least / rounds) == least


def test_rounds_that_never_come():
    assert rounds_to(1.0, lambda rounds: True, lambda rounds: 1 + 1e-9) == math.inf
    assert rounds_to(1.0, lambda rounds: False, lambda rounds: 0.0) == math.inf
    assert rounds_to(1.0, lambda rounds: rounds >= MOST_ROUNDS, lambda rounds: 0.0) == MOST_ROUNDS


@pytest.mark.parametrize(("low", "high"), [(5, 7), (9, 15), (1000, 1030), (2**40 + 3, 2**40 + 2**36)])
def test_a_window_between_powers_of_two_is_found(low, high):
    """A bound that falls and rises again, below the target from `low` to `high` only."""
    middle, half = (low + high) / 2, (high - low) / 2
    assert rounds_to(1.0, lambda rounds: True, lambda rounds: 1 + (abs(rounds - middle) - half) / middle) == low
    assert rounds_to(0.0, lambda rounds: True, lambda rounds: 1 + (abs(rounds - middle) - half) / middle) == math.inf


@pytest.mark.parametrize("claim", PROVED[:2])
@pytest.mark.parametrize("law", [HELD, SQRT])
def test_one_round_less_is_not_enough(claim, law):
    alpha, beta, epsilon = 0.3, 0.002, 0.05
    given = {"L": 2.0, "E": 5, "epsilon": epsilon}
    needed = found(claim, alpha=alpha, beta=beta, **given).rounds[law]

    def value(rounds):
        step = beta * math.sqrt(GIVEN["T"] / rounds) if law == SQRT else beta
        return found(claim, alpha=alpha, beta=step, **{**given, "T": int(rounds)}).value

    assert value(needed) <= epsilon < value(needed - 1)


def test_a_floor_above_the_target_takes_for_ever():
    row = found("ours.drawn_once", alpha=0.3, beta=0.05, L=2.0, E=5, epsilon=1e-3)
    assert row.rounds[HELD] == math.inf
    assert math.isfinite(row.rounds[SQRT])


@pytest.mark.parametrize("claim", PROVED)
@pytest.mark.parametrize(("L", "E", "m"), [(2.0, 5, 0.25), (0.5, 1, 0.0), (30.0, 20, 0.81)])
def test_the_largest_beta_is_feasible_and_beats_a_grid(claim, L, E, m):
    epsilon = 0.05 * L
    given = {"L": L, "E": E, "m": m, "epsilon": epsilon}
    row = best(claim, "largest beta", **given)
    # Without the target the bound alone is worked out, which is quick.
    del given["epsilon"]
    again = found(claim, alpha=row.alpha, beta=row.beta, **given)
    assert not again.fails
    assert again.value == pytest.approx(row.value)
    assert row.value <= epsilon
    top = 1 / (L * E)
    grid = itertools.product(np.linspace(0.05, 1.0, 12) / L, np.geomspace(1e-4, 10, 18) * top)
    ratios = []
    for alpha, beta in grid:
        one = found(claim, alpha=alpha, beta=beta, **given)
        if one.value is not None and one.value <= epsilon:
            ratios.append(beta / row.beta)
    assert ratios
    assert max(ratios) <= 1
    # The grid comes near it: the optimum is not a point out of reach.
    assert max(ratios) > 0.4


def test_the_best_alpha_lies_inside_where_a_large_bias_asks_for_it():
    # beta -> 0 leaves 1/(alpha (1 - L alpha m)), least at alpha = 1/(2 L m).
    row = best("ours.redrawn", "limit", L=2.0, E=5, m=1.5, epsilon=0.05)
    assert row.alpha == pytest.approx(1 / (2 * 2.0 * 1.5), rel=1e-3)
    assert row.beta == 0.0


def test_no_alpha_needs_fewer_rounds():
    given = {"L": 2.0, "E": 5, "m": 1.5, "epsilon": 0.05}
    row = best("ours.redrawn", "fewest rounds", beta=0.002, **given)
    others = [found("ours.redrawn", alpha=alpha, beta=0.002, **given) for alpha in np.linspace(0.04, 0.28, 9)]
    reached = [one.rounds[HELD] for one in others if HELD in one.rounds]
    assert min(reached) >= row.rounds
    assert min(reached) < 1.1 * row.rounds


def test_a_target_out_of_reach_has_no_best_step_sizes():
    row = best("ours.drawn_once", "largest beta", L=2.0, E=5, epsilon=1e-9)
    assert (row.alpha, row.beta, row.value) == (None, None, None)
    row = best("ours.drawn_once", "largest beta", L=2.0, E=5, m=1.5, epsilon=0.5)
    assert row.beta is None
    assert best("ours.drawn_once", "fewest rounds", L=2.0, E=5, m=1.5, epsilon=0.5).rounds == math.inf


def test_the_largest_point_of_a_rising_function():
    assert largest(lambda x: math.log(x / 3), 1.0, 10.0) == pytest.approx(3, rel=1e-12)
    assert largest(lambda x: math.log(x / 3), 1.0, 10.0) <= 3
    assert largest(lambda x: -1.0, 1.0, 10.0) == 10.0
    assert largest(lambda x: 1.0, 1.0, 10.0) is None


@pytest.mark.parametrize(
    ("left", "right", "value"),
    [(2.0, 1.0, math.log(2)), (0.0, 1.0, -700), (-1.0, 1.0, -700), (1.0, 0.0, 700), (math.inf, 1.0, 700)],
)
def test_logarithms_of_ratios_are_finite(left, right, value):
    assert log_ratio(left, right) == value
    assert log_ratio(left, math.nan) == 700
