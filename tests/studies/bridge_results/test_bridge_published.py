"""The paper's numbers by key, and what they say about each other; a planted number changes each finding."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from cflag_theory.studies.bridge_results import published
from cflag_theory.studies.bridge_results.published import (
    METHODS,
    PUBLISHED,
    accuracies,
    deviation,
    findings,
    learning_accuracy,
)


@pytest.mark.parametrize(
    ("key", "printed", "spread"),
    [
        (("table2", "cifar10", "non-iid", "c_flag", "accuracy"), "65.02", "6.22"),
        (("table2", "cifar10", "non-iid", "er_ring", "forgetting"), "8.32", "7.42"),
        (("table2", "tinyimagenet", "non-iid", "nccl", "forgetting"), "8.73", "0.28"),
        (("table3", "cifar100", "iid", "fedtrack", "accuracy"), "29.85", "3.32"),
        (("table3", "tinyimagenet", "iid", "c_flag", "accuracy"), "44.30", "0.71"),
        (("table6", "cifar10", "iid", "er_ring", "forgetting"), "16.50", "11.57"),
        (("table7", "cifar10", "iid class-incremental", "lwf", "forgetting"), "32.07", "16.54"),
        (("table7", "cifar100", "non-iid class-incremental", "fedtrack", "accuracy"), "3.53", "0.18"),
        (("table8", "cifar10", "iid clients=50", "c_flag", "accuracy"), "90.67", ""),
        (("table8", "cifar100", "non-iid clients=25", "c_flag", "forgetting"), "4.27", ""),
        (("table8", "cifar100", "non-iid clients=5", "c_flag", "accuracy"), "38.43", ""),
    ],
)
def test_numbers_and_their_deviations(key, printed, spread):
    number = PUBLISHED[key]
    assert number.printed == printed
    assert deviation(number) == (Fraction(spread) if spread else None)


def test_every_row_of_every_table_is_there():
    # Data sets x methods x metrics, and settings x clients x metrics for Table 8.
    sizes = {"table2": 3 * 5 * 2, "table3": 3 * 6 * 2, "table6": 3 * 11 * 2, "table8": 2 * 5 * 2}
    sizes["table7"] = 2 * 2 * 8 * 2
    assert {table: sum(key[0] == table for key in PUBLISHED) for table in sizes} == sizes
    assert sum(sizes.values()) == len(PUBLISHED)
    assert {key[3] for key in PUBLISHED} == set(METHODS.values())
    clients = {number.clients for number in PUBLISHED.values() if number.table == "table8"}
    assert clients == {5, 10, 15, 25, 50}
    assert all(number.clients == 5 for number in PUBLISHED.values() if number.table != "table8")


def test_where_tables_print_the_same_run():
    agreement = [found for found in findings() if found.kind == "agreement"]
    assert [found.fits for found in agreement] == [True, False, False, False, False, False]
    assert agreement[0].sentence == "66 of 66 numbers of Tables 2 and 3 are the same in Table 6"
    assert {found.sentence for found in agreement[2:]} == {
        "c_flag on iid cifar10: accuracy 89.28 in Table 3, 87.89 in Table 8",
        "c_flag on iid cifar10: forgetting 7.23 in Table 3, 10.25 in Table 8",
        "c_flag on non-iid cifar100: accuracy 43.47 in Table 2, 38.43 in Table 8",
        "c_flag on non-iid cifar100: forgetting 16.76 in Table 2, 16.33 in Table 8",
    }


def test_learning_accuracy_is_implied_exactly():
    number = PUBLISHED["table3", "cifar10", "iid", "finetune", "accuracy"]
    assert learning_accuracy(number) == Fraction("72.64") + Fraction(4, 5) * Fraction("26.51") == Fraction("93.848")
    tiny = PUBLISHED["table2", "tinyimagenet", "non-iid", "c_flag", "accuracy"]
    assert learning_accuracy(tiny) == Fraction("28.63") + Fraction(9, 10) * Fraction("9.52")
    assert all(0 <= learning_accuracy(number) <= 100 for number in accuracies("table2", "table3", "table7", "table8"))


def test_copies_and_gaps_are_found():
    by_kind = {found.kind: found.sentence for found in findings() if found.kind in ("repeated", "missing")}
    assert by_kind == {
        "repeated": "er_ring on non-iid cifar100 and er_ring on iid tinyimagenet share all four numbers, "
        "31.25 +- 1.05 and 32.40 +- 1.69",
        "missing": "Tables 2, 3 and 6 have no non-iid row for fedtrack",
    }


@pytest.mark.parametrize(
    ("key", "printed", "kind", "words"),
    [
        (("table3", "cifar10", "iid", "c_flag", "accuracy"), "99.28", "learning accuracy", "105.06 is impossible"),
        (("table2", "cifar10", "non-iid", "ewc", "accuracy"), "41.02", "learning accuracy", "guessing gives 50"),
        (("table3", "cifar10", "iid", "ewc", "accuracy"), "75.99", "agreement", "accuracy 75.99 in Table 3, 75.98 in"),
    ],
)
def test_a_planted_number_is_seen(monkeypatch, key, printed, kind, words):
    changed = PUBLISHED | {key: replace(PUBLISHED[key], printed=printed)}
    before = {found.sentence for found in findings()}
    monkeypatch.setattr(published, "PUBLISHED", changed)
    new = [found for found in findings() if found.sentence not in before and found.fits is not True]
    assert any(found.kind == kind and words in found.sentence for found in new)


def test_no_deviation_is_borrowed_from_another_number(monkeypatch):
    key = ("table2", "cifar10", "non-iid", "c_flag", "accuracy")
    other = replace(PUBLISHED[key], printed="65.03")
    monkeypatch.setattr(published, "PUBLISHED", PUBLISHED | {key: other})
    assert deviation(other) is None
