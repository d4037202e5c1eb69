"""The CFL paper's tables: a planted number changes each verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rows import parts_of

from cflag_theory.claims.cfl import published as reported
from cflag_theory.verify.checks.cfl import experiments_reported as check


def plant(monkeypatch, table, method, accuracy, setting=None):
    """One method's accuracy in a table replaced, in all settings or in one."""

    def change(cell):
        meant = (cell.table, cell.method) == (table, method) and setting in (None, cell.setting)
        return replace(cell, accuracy=accuracy) if meant else cell

    monkeypatch.setattr(check, "TABLES", tuple(map(change, reported.TABLES)))


def test_every_table_is_complete():
    sizes = {table: sum(cell.table == table for cell in reported.TABLES) for table in ("4", "5", "6", "7", "9")}
    assert sizes == {"4": 7, "5": 12, "6": 12, "7": 5, "9": 12}


@pytest.mark.parametrize(("place", "part"), [(1, "1"), (2, "2")])
def test_a_wrong_improvement_is_seen(monkeypatch, place, part):
    first = list(reported.IMPROVEMENTS[0])
    first[place] = "0.28" if place == 1 else "0.32"
    monkeypatch.setattr(check, "IMPROVEMENTS", (tuple(first), *reported.IMPROVEMENTS[1:]))
    assert parts_of("cfl.table5") == {**dict.fromkeys("123", "holds"), part: "false"}


def test_an_improvement_that_only_rounding_orders_is_not_ordered(monkeypatch):
    plant(monkeypatch, "5", "CFL-Regularization", "70.79", "CIFAR10")
    assert parts_of("cfl.table5")["3"] == "false"


@pytest.mark.parametrize(
    ("table", "method", "accuracy", "setting", "part", "becomes"),
    [
        ("6", "FedProx", "70.00", "alpha=0.1", "1", "holds"),
        ("6", "FedProx", "85.00", "alpha=0.2", "1", "false"),
        ("6", "FedProx", "85.00", "alpha=0.2", "3", "false"),
        ("7", "FedProx", "79.10", None, "2", "false"),
        ("9", "MimeLite", "81.00", "50%", "4", "false"),
        ("5", "CFL-Regularization", "50.10", "CIFAR100", "7", "false"),
        ("4", "iCaRL (Small Set)", "74.30", None, "8", "false"),
        ("4", "PyHessian", "73.60", None, "8", "false"),
        ("5", "CFL-Regularization-Full", "90.00", "Fashion-MNIST", "9", "false"),
    ],
)
def test_one_number_changes_a_sentence(monkeypatch, table, method, accuracy, setting, part, becomes):
    plant(monkeypatch, table, method, accuracy, setting)
    assert parts_of("cfl.tables_text")[part] == becomes


def test_what_the_notes_say_of_the_sentences():
    """Part 3 at alpha = 0.1, part 7 for the other methods, and the other reading of part 6."""
    baselines = check.cells("6", setting="alpha=0.1", methods=("FedProx",))
    regularized = check.cells("6", setting="alpha=0.1", methods=("CFL-Regularization", "CFL-Regularization + FedProx"))
    assert len(check.above(regularized, baselines)[0]) == 2

    def gains(method):
        return [str(float(check.improvement(method, data))) for data in reported.DATA_SETS]

    assert gains("CFL-Core-Set") == ["1.57", "10.97", "3.2"]
    assert gains("CFL-Regularization-Full") == ["-9.38", "-37.42", "-35.13"]
    core, average = check.cells("9", methods=("CFL-Core-Set",)), check.cells("9", methods=("FedAvg",))
    assert check.above(core, average, significantly=True) == ([], 3)


def test_a_common_trend_would_be_seen(monkeypatch):
    falling = {"0%": "80.0", "25%": "79.0", "50%": "78.0"}
    cells = [replace(cell, accuracy=falling[cell.setting]) if cell.table == "9" else cell for cell in reported.TABLES]
    monkeypatch.setattr(check, "TABLES", tuple(cells))
    assert parts_of("cfl.tables_text")["5"] == "false"


def test_overlap_that_helps_would_be_seen(monkeypatch):
    cells = [replace(cell, accuracy="70") if cell.setting == "0%" else cell for cell in reported.TABLES]
    monkeypatch.setattr(check, "TABLES", tuple(cells))
    assert parts_of("cfl.tables_text")["6"] == "holds"
    assert parts_of("ours.cfl_tables")["3"] == "false"


@pytest.mark.parametrize(
    ("table", "method", "accuracy", "setting", "part"),
    [
        ("9", "CFL-Core-Set", "81.50", "0%", "1"),
        ("7", "CFL-Regularization", "79.50", None, "2"),
        ("6", "FedAvg", "70.52", "alpha=0.1", "4"),
        ("9", "CFL-Core-Set", "84.80", "0%", "5"),
    ],
)
def test_one_number_changes_what_we_say(monkeypatch, table, method, accuracy, setting, part):
    plant(monkeypatch, table, method, accuracy, setting)
    assert parts_of("ours.cfl_tables")[part] == "false"
