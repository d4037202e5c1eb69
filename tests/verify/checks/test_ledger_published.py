"""The published tables: verdicts, and a planted number that changes each of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rows import decided

from cflag_theory.claims.c_flag import published
from cflag_theory.claims.ledger import claim
from cflag_theory.verify.checks.c_flag import published as check

ROWS = {
    "cflag.tables_text": ("false", {"1": "false", "2": "false"}),
    "cflag.supplement_tables_text": ("false", {"1": "false", "2": "holds"}),
    "cflag.tables_consistent": ("false", {"1": "holds", "2": "false"}),
    "ours.tables_iid": ("holds", {"1": "holds"}),
    "ours.tables_twins": ("holds", {"1": "holds"}),
}


@pytest.mark.parametrize("id", ROWS)
def test_verdicts(id):
    assert decided(claim(id)) == ROWS[id]


def planted(monkeypatch, change):
    monkeypatch.setattr(check, "TABLES", tuple(map(change, published.TABLES)))


def test_without_the_better_baseline_the_sentence_would_hold(monkeypatch):
    better = ("Erg-FL", "non-IID", "CIFAR10")
    planted(monkeypatch, lambda e: replace(e, accuracy="60") if (e.method, e.setting, e.data) == better else e)
    assert decided(claim("cflag.tables_text"))[1]["1"] == "holds"
    assert decided(claim("cflag.supplement_tables_text"))[1]["1"] == "holds"


def test_one_wrong_entry_breaks_each_agreement(monkeypatch):
    planted(monkeypatch, lambda e: replace(e, accuracy="1") if e.table == "3" and e.method == "C-FLAG" else e)
    assert decided(claim("cflag.tables_consistent"))[1]["1"] == "false"
    assert decided(claim("ours.tables_iid"))[0] == "false"


def test_more_forgetting_than_fine_tuning_would_be_seen(monkeypatch):
    planted(monkeypatch, lambda e: replace(e, forgetting="90") if e.method == "C-FLAG" else e)
    assert decided(claim("cflag.supplement_tables_text"))[1]["2"] == "false"


def test_agreeing_numbers_would_be_seen(monkeypatch):
    means = {("IID", "CIFAR10"): ("89.28", "7.23"), ("non-IID", "CIFAR100"): ("43.47", "16.76")}

    def mend(entry):
        if entry.table == "8":
            accuracy, forgetting = means[entry.setting, entry.data]
            return replace(entry, accuracy=accuracy, forgetting=forgetting)
        twin = entry.method == "Erg-FL" and entry.data == "TinyImageNet" and entry.setting == "IID"
        return replace(entry, accuracy_deviation="1.06") if twin and entry.table == "6" else entry

    planted(monkeypatch, mend)
    assert decided(claim("cflag.tables_consistent")) == ("holds", {"1": "holds", "2": "holds"})
    assert decided(claim("ours.tables_twins"))[0] == "false"
