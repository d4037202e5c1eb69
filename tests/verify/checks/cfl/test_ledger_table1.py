"""Table 1 of the CFL paper: units, and a planted entry changes each verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rows import parts_of

from cflag_theory.claims.cfl import table1 as rates_table
from cflag_theory.verify.checks.cfl import rates_table1 as table_checks


def test_table_1_units():
    term = rates_table.sigma**2 / (rates_table.mu * rates_table.eps)
    assert table_checks.unit(term) == (0, 0)
    assert table_checks.fault(term, rates_table.STRONG) is None
    assert "mu" in table_checks.fault(term, rates_table.GENERAL)
    assert "L^(-1)" in table_checks.fault(rates_table.G**2 / rates_table.eps, rates_table.GENERAL)
    with pytest.raises(ArithmeticError, match="different units"):
        table_checks.unit(rates_table.G + rates_table.A)


def _replaced(change):
    return tuple(map(change, rates_table.TABLE_1))


def test_table_1_with_a_mended_row(monkeypatch):
    def mend(rate):
        if (rate.algorithm, rate.source) != ("CL", "ours"):
            return rate
        terms = rates_table.theorem("CL", rate.functions)
        return replace(rate, terms=tuple(term.subs({rates_table.L: 1, rates_table.H: 1}) for term in terms))

    monkeypatch.setattr(table_checks, "TABLE_1", _replaced(mend))
    assert parts_of("cfl.table1")["1"] == "holds"


def test_table_1_with_a_wrong_entry_of_ours(monkeypatch):
    def spoil(rate):
        changed = (rates_table.sigma**3 / rates_table.eps**2, *rate.terms[1:])
        return (
            replace(rate, terms=changed) if (rate.algorithm, rate.functions) == ("CFL", rates_table.GENERAL) else rate
        )

    monkeypatch.setattr(table_checks, "TABLE_1", _replaced(spoil))
    found = parts_of("cfl.table1")
    assert (found["1"], found["2"]) == ("false", "false")


def test_table_1_without_the_impossible_entries(monkeypatch):
    def drop(rate):
        kept = [term for term in rate.terms if table_checks.fault(term, rate.functions) is None]
        return replace(rate, terms=tuple(kept))

    monkeypatch.setattr(table_checks, "TABLE_1", _replaced(drop))
    found = parts_of("cfl.table1")
    # Without its last term Karimireddy et al.'s entry still vanishes.
    assert (found["4"], found["5"]) == ("holds", "false")


def test_table_1_impossible_entries_one_by_one(monkeypatch):
    def mend(rate):
        if (rate.source, rate.functions) != ("Karimireddy et al.", rates_table.GENERAL):
            return rate
        return replace(rate, terms=(*rate.terms[:2], rates_table.c_pB / rates_table.eps))

    monkeypatch.setattr(table_checks, "TABLE_1", _replaced(mend))
    found = parts_of("cfl.table1")
    assert (found["4"], found["5"]) == ("false", "holds")


def test_table_1_terms_of_others_that_are_no_numbers():
    others = [rate for rate in rates_table.TABLE_1 if rate.source != "ours"]
    found = [line.split(", ")[1] for line in table_checks.faults(others)]
    assert found == ["Khaled et al.", "Karimireddy et al.", *["Woodworth et al."] * 3, "Yin et al."]
    zero = [rate.name for rate in rates_table.TABLE_1 if table_checks.vanishes(rate)]
    assert zero == ["FedAvg, Li et al., strongly convex", "FedAvg, Karimireddy et al., general convex"]
