"""Table 1 of the CFL paper: units, and a planted entry changes each verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rows import parts_of

from cflag_theory.verify.checks.cfl import rates as table


def test_table_1_units():
    term = table.sigma**2 / (table.mu * table.eps)
    assert table.unit(term) == (0, 0)
    assert table.fault(term, table.STRONG) is None
    assert "mu" in table.fault(term, table.GENERAL)
    assert "L^(-1)" in table.fault(table.G**2 / table.eps, table.GENERAL)
    with pytest.raises(ArithmeticError, match="different units"):
        table.unit(table.G + table.A)


def _replaced(change):
    return tuple(map(change, table.TABLE_1))


def test_table_1_with_a_mended_row(monkeypatch):
    def mend(rate):
        if (rate.algorithm, rate.source) != ("CL", "ours"):
            return rate
        terms = table.theorem("CL", rate.functions)
        return replace(rate, terms=tuple(term.subs({table.L: 1, table.H: 1}) for term in terms))

    monkeypatch.setattr(table, "TABLE_1", _replaced(mend))
    assert parts_of("cfl.table1")["1"] == "holds"


def test_table_1_with_a_wrong_entry_of_ours(monkeypatch):
    def spoil(rate):
        changed = (table.sigma**3 / table.eps**2, *rate.terms[1:])
        return replace(rate, terms=changed) if (rate.algorithm, rate.functions) == ("CFL", table.GENERAL) else rate

    monkeypatch.setattr(table, "TABLE_1", _replaced(spoil))
    found = parts_of("cfl.table1")
    assert (found["1"], found["2"]) == ("false", "false")


def test_table_1_without_the_impossible_entries(monkeypatch):
    def drop(rate):
        kept = [term for term in rate.terms if table.fault(term, rate.functions) is None]
        return replace(rate, terms=tuple(kept))

    monkeypatch.setattr(table, "TABLE_1", _replaced(drop))
    found = parts_of("cfl.table1")
    # Without its last term Karimireddy et al.'s entry still vanishes.
    assert (found["4"], found["5"]) == ("holds", "false")


def test_table_1_impossible_entries_one_by_one(monkeypatch):
    def mend(rate):
        if (rate.source, rate.functions) != ("Karimireddy et al.", table.GENERAL):
            return rate
        return replace(rate, terms=(*rate.terms[:2], table.c_pB / table.eps))

    monkeypatch.setattr(table, "TABLE_1", _replaced(mend))
    found = parts_of("cfl.table1")
    assert (found["4"], found["5"]) == ("false", "holds")


def test_table_1_terms_of_others_that_are_no_numbers():
    others = [rate for rate in table.TABLE_1 if rate.source != "ours"]
    found = [line.split(", ")[1] for line in table.faults(others)]
    assert found == ["Khaled et al.", "Karimireddy et al.", *["Woodworth et al."] * 3, "Yin et al."]
    zero = [rate.name for rate in table.TABLE_1 if table.vanishes(rate)]
    assert zero == ["FedAvg, Li et al., strongly convex", "FedAvg, Karimireddy et al., general convex"]
