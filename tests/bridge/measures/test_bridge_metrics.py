"""Metrics of accuracy matrices, by hand; None and never a number where something is missing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cflag_theory.bridge.measures.metrics import FORGETTING, forgetting, forward_transfer, metrics
from cflag_theory.errors import InvalidInput, UnknownName

# Task 0 rises from 80 to 90 before it falls to 60; task 1 gains: 70 to 75.
HAND = [
    [80.0, 50.0, 40.0],
    [90.0, 70.0, 45.0],
    [60.0, 75.0, 65.0],
]


def test_every_metric_by_hand():
    found = metrics(HAND, before=[50.0, 48.0, 50.0])
    assert found.average_accuracy == pytest.approx((60 + 75 + 65) / 3)
    assert found.forgetting == pytest.approx((20 - 5) / 2)
    assert found.forgetting_from_best == pytest.approx((30 - 5) / 2)
    assert found.forgetting_positive == pytest.approx(20 / 2)
    assert found.backward_transfer == pytest.approx(-7.5)
    assert found.forward_transfer == pytest.approx(((50 - 48) + (45 - 50)) / 2)
    assert found.learning_accuracy == pytest.approx((80 + 70 + 65) / 3)
    assert found.accuracy_by_task == pytest.approx((80, (90 + 70) / 2, (60 + 75 + 65) / 3))
    assert found.incremental_accuracy == pytest.approx((80 + 80 + 200 / 3) / 3)
    assert found.forgetting_by_task == (None, pytest.approx(-10), pytest.approx(7.5))
    assert found.forgetting_of_task == pytest.approx((20, -5))


def test_the_default_is_the_papers_sum():
    """1 / (S - 1) sum_{i < S} (a_{i,i} - a_{S,i}), written out."""
    a = np.random.default_rng(3).uniform(0, 100, (6, 6))
    wanted = sum(a[i, i] - a[5, i] for i in range(5)) / 5
    assert forgetting(a) == pytest.approx(wanted, abs=1e-12)
    assert forgetting(a) == forgetting(a, definition="paper")
    # Average accuracy and forgetting fix the learning accuracy; what is published can be checked by that.
    found = metrics(a)
    assert found.learning_accuracy == pytest.approx(found.average_accuracy + 5 / 6 * found.forgetting, abs=1e-12)


def test_no_definition_is_below_the_papers():
    a = np.random.default_rng(4).uniform(0, 100, (5, 5))
    smaller = forgetting(a)
    assert forgetting(a, definition="from-best") > smaller
    assert forgetting(a, definition="positive") > smaller


def test_what_was_not_measured_above_the_diagonal_is_needed_by_forward_transfer_only():
    a = np.where(np.tri(3, dtype=bool), HAND, math.nan)
    found, whole = metrics(a, before=[50.0, 48.0, 50.0]), metrics(HAND)
    assert found == whole
    assert forward_transfer(a, [50.0, 48.0, 50.0]) is None


def test_one_task_forgets_nothing_that_could_be_named():
    found = metrics([[91.0]])
    assert (found.average_accuracy, found.learning_accuracy, found.incremental_accuracy) == (91.0, 91.0, 91.0)
    assert found.forgetting is found.forgetting_from_best is found.backward_transfer is None
    assert found.forgetting_of_task == ()
    assert found.forgetting_by_task == (None,)
    assert all(forgetting([[91.0]], definition=name) is None for name in FORGETTING)
    assert forward_transfer([[91.0]], [50.0]) is None


def test_nothing_is_averaged_over_fewer_numbers():
    """A run that was stopped after two of three tasks has a curve of two points and no final metric."""
    rows = [[80.0, None, None], [90.0, 70.0, None], [None, None, None]]
    found = metrics(rows)
    assert found.accuracy_by_task == (80.0, 80.0, None)
    assert found.forgetting_by_task == (None, -10.0, None)
    assert found.average_accuracy is found.forgetting is found.learning_accuracy is found.incremental_accuracy is None
    assert found.forgetting_of_task == (None, None)
    hole = [list(row) for row in HAND]
    hole[2][0] = math.nan
    found = metrics(hole)
    assert found.average_accuracy is found.forgetting is found.forgetting_from_best is None
    assert found.forgetting_of_task == (None, -5.0)
    assert found.learning_accuracy == pytest.approx(215 / 3)


def test_nothing_forgotten_is_plus_zero():
    found = metrics([[70.0, 50.0], [70.0, 80.0]])
    assert math.copysign(1, found.backward_transfer) == 1
    assert found.to_json()["forgetting"] == 0.0


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[1.0, 2.0]], r"shape \(1, 2\)"),
        ([], r"shape \(0,\)"),
        (50.0, r"shape \(\)"),
        ([[50.0, 0.0], [101.0, 3.0]], "101 is outside"),
        ([[-1.0]], "-1 is outside"),
    ],
)
def test_what_is_no_matrix_of_percent(matrix, words):
    with pytest.raises(InvalidInput, match=words):
        metrics(matrix)


def test_names_and_lengths_are_asked_for():
    with pytest.raises(UnknownName, match="use one of paper, from-best, positive"):
        forgetting(HAND, definition="best")
    with pytest.raises(InvalidInput, match="one for each of 3 tasks"):
        forward_transfer(HAND, [1.0])
