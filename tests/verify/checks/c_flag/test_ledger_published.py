"""The published tables: a planted number changes each verdict."""

from __future__ import annotations

from dataclasses import replace

from rows import parts_of

from cflag_theory.claims.c_flag import published
from cflag_theory.verify.checks.c_flag import experiments


def plant(monkeypatch, change):
    monkeypatch.setattr(experiments, "TABLES", tuple(map(change, published.TABLES)))


def test_without_the_better_baseline_the_sentence_would_hold(monkeypatch):
    better = ("Erg-FL", "non-IID", "CIFAR10")
    plant(monkeypatch, lambda e: replace(e, accuracy="60") if (e.method, e.setting, e.data) == better else e)
    assert parts_of("cflag.tables_text")["1"] == "holds"
    assert parts_of("cflag.supplement_tables_text")["1"] == "holds"


def test_one_wrong_entry_breaks_each_agreement(monkeypatch):
    plant(monkeypatch, lambda e: replace(e, accuracy="1") if e.table == "3" and e.method == "C-FLAG" else e)
    assert parts_of("cflag.tables_consistent")["1"] == "false"
    assert parts_of("ours.tables_iid") == {"1": "false"}


def test_more_forgetting_than_fine_tuning_would_be_seen(monkeypatch):
    plant(monkeypatch, lambda e: replace(e, forgetting="90") if e.method == "C-FLAG" else e)
    assert parts_of("cflag.supplement_tables_text")["2"] == "false"


def test_agreeing_numbers_would_be_seen(monkeypatch):
    means = {("IID", "CIFAR10"): ("89.28", "7.23"), ("non-IID", "CIFAR100"): ("43.47", "16.76")}

    def mend(entry):
        if entry.table == "8":
            accuracy, forgetting = means[entry.setting, entry.data]
            return replace(entry, accuracy=accuracy, forgetting=forgetting)
        twin = entry.method == "Erg-FL" and entry.data == "TinyImageNet" and entry.setting == "IID"
        return replace(entry, accuracy_deviation="1.06") if twin and entry.table == "6" else entry

    plant(monkeypatch, mend)
    assert parts_of("cflag.tables_consistent") == {"1": "holds", "2": "holds"}
    assert parts_of("ours.tables_twins") == {"1": "false"}


def test_other_class_incremental_numbers_would_be_seen(monkeypatch):
    own = ("C-FLAG", "7")
    plant(monkeypatch, lambda e: replace(e, accuracy="10") if (e.method, e.table) == own else e)
    assert parts_of("cflag.class_text") == {"select": "holds", "overall": "false", "everywhere": "false"}
    assert parts_of("cflag.figure6_text") == {"accuracy": "false", "earlier": "open"}
    plant(
        monkeypatch,
        lambda e: replace(e, accuracy="50", forgetting="95") if (e.method, e.table) == own else e,
    )
    assert parts_of("cflag.class_text") == {"select": "holds", "overall": "false", "everywhere": "holds"}
    plant(
        monkeypatch,
        lambda e: replace(e, accuracy="1", forgetting="95") if (e.method, e.table) == own else e,
    )
    assert parts_of("cflag.class_text")["select"] == "false"


def test_other_numbers_of_figure_2_would_be_seen(monkeypatch):
    plant(monkeypatch, lambda e: replace(e, accuracy="1") if e.method == "C-FLAG" else e)
    assert parts_of("cflag.figure2_text") == {"accuracy": "false", "forgetting": "holds", "earlier": "open"}
    plant(monkeypatch, lambda e: replace(e, forgetting="99") if e.method == "C-FLAG" else e)
    assert parts_of("cflag.figure2_text") == {"accuracy": "holds", "forgetting": "false", "earlier": "open"}


def test_other_numbers_of_clients_would_be_seen(monkeypatch):
    def plant_row(**change):
        rows = [{n: replace(e, **change) if n != 5 else e for n, e in row.items()} for row in experiments.TABLE8]
        monkeypatch.setattr(experiments, "TABLE8", tuple(rows))

    plant_row(accuracy="90")
    assert parts_of("cflag.table8_text") == {"forgetting": "holds", "accuracy": "holds"}
    plant_row(forgetting="12")
    assert parts_of("cflag.table8_text") == {"forgetting": "false", "accuracy": "holds"}
