"""Proposition 4.3, Remarks 4.2, 4.5, 4.8, Theorem 4.7 and Table 1: verdicts, and what a planted error does to them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest
import rows
import sympy as sp
from rows import findings, parts

from cflag_theory.claims.cfl.rates import correlated as correlated_rates
from cflag_theory.claims.cfl.rates import remarks
from cflag_theory.claims.cfl.rates import table1 as rates_table
from cflag_theory.claims.cfl.weights.ours import variance as ours_cfl_variance
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.verify.checks.cfl.rates import correlated as correlated_checks
from cflag_theory.verify.checks.cfl.rates import table1 as table_checks

TINY = sp.Rational(1, 10**6)
decide = partial(rows.decide, further=True)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (remarks.prop4_3, {"1": "holds", "2": "holds"}),
        (remarks.rem4_2, {"1": "needs-hypothesis", "2": "needs-hypothesis"}),
        (remarks.rem4_5, {"1": "holds", "2": "holds", "3": "holds"}),
        (remarks.rem4_8, {"1": "false", "2": "holds"}),
        (correlated_rates.thm4_7, {"1": "false", "2": "false"}),
        (correlated_rates.thm4_7_cO, {"1": "typo"}),
        (rates_table.table1, {"1": "needs-hypothesis", "2": "holds", "3": "false", "4": "false", "5": "false"}),
        (ours_cfl_variance.correlated_minimum, {"1": "holds", "2": "holds"}),
        (ours_cfl_variance.largest_constant, {"1": "holds"}),
        (ours_cfl_variance.correlated_floor, {"1": "holds"}),
        (ours_cfl_variance.correlated_bias, {"1": "holds"}),
    ],
)
def test_verdict(build, expected):
    verdict = decide(build())
    assert parts(verdict) == expected
    for item in verdict.evidence:
        if item.kind == "proof":
            assert item.data["engines"] == ["sympy", "z3"]
            assert item.data["undecided"] == []


@pytest.mark.parametrize(
    ("subject", "key"),
    [
        (remarks.prop4_3(1 - TINY), "1"),
        (correlated_rates.thm4_7_cO(1 - TINY), "1"),
        (ours_cfl_variance.correlated_minimum(1 + TINY), "1"),
        (ours_cfl_variance.correlated_minimum(share=1 - TINY), "2"),
        (ours_cfl_variance.largest_constant(1 - TINY), "1"),
        (ours_cfl_variance.correlated_floor(1 + TINY), "1"),
        (ours_cfl_variance.correlated_bias(1 - TINY), "1"),
    ],
    ids=lambda value: getattr(value, "id", value),
)
def test_a_constant_past_its_sharp_value_is_refuted(subject, key):
    verdict = decide(subject)
    assert parts(verdict)[key] == "false"
    on = "repair" if subject.parts[0].repair else "printed"
    assert findings(verdict, on, "proof", key) == ["undecided"]
    assert findings(verdict, on, "counterexample", key) == ["refutes"]


@pytest.mark.parametrize(("build", "key"), [(remarks.prop4_3, "2"), (remarks.rem4_8, "2"), (remarks.rem4_5, "1")])
def test_a_printed_side_that_is_scaled(build, key):
    subject = build()
    relation = next(part.printed.relation for part in subject.parts if part.key == key)
    wrong = Relation(relation.left * (1 + TINY), relation.op, relation.right)
    verdict = decide(subject.with_printed(wrong, key))
    assert parts(verdict)[key] == "false"


def test_remark_4_5_rate_with_a_smaller_square():
    relation = remarks.rem4_5().parts[1].printed.relation
    wrong = Relation(relation.left, "<=", relation.right * sp.Rational(999, 1000))
    assert parts(decide(remarks.rem4_5().with_printed(wrong, "2")))["2"] == "false"
    third = remarks.rem4_5().parts[2].printed.relation
    assert parts(decide(remarks.rem4_5().with_printed(replace(third, right=third.right + 1), "3")))["3"] == "false"


@pytest.mark.parametrize("place", [0, 1])
def test_remark_4_2_needs_one_client(place):
    subject = remarks.rem4_2()
    held = subject.parts[place]
    bare = replace(held.repair, statement=replace(held.repair.statement, hypotheses=()))
    changed = tuple(replace(part, repair=bare) if part is held else part for part in subject.parts)
    verdict = decide(replace(subject, parts=changed))
    assert verdict.verdict == "false"
    assert findings(verdict, "repair", "counterexample", held.key) == ["refutes"]


def test_remark_4_8_turned_round_meets_no_counterexample():
    subject = remarks.rem4_8()
    relation = subject.parts[0].printed.relation
    turned = Relation(relation.right, "<=", relation.left)
    assert parts(decide(subject.with_printed(turned)))["1"] == "open"
    assert findings(decide(subject.with_printed(turned)), "printed", "property") == ["supports"]


@pytest.mark.parametrize("share", [1 + TINY, 2])
def test_the_family_of_theorem_4_7_leaves_no_more_than_that(share):
    assert examine(correlated_rates.floor()).accepted
    assert not examine(correlated_rates.floor(share)).accepted


def test_theorem_4_7_variance_with_what_the_drifts_share():
    subject = correlated_rates.thm4_7()
    verdict = decide(subject.with_printed(correlated_rates.least_value().relation))
    assert findings(verdict, "printed", "property") == ["supports"]
    first = decide(subject).counterexample
    assert first.data["instance"][0].startswith("t = 2, ")


def test_theorem_4_7_with_a_second_moment_above_its_bound(monkeypatch):
    assert correlated_checks.second_moment(Fraction(1)) == Fraction(3, 2)
    # The bound itself: c_O + D^2 sum p^2.
    assert 1 + Fraction(1, 4) + Fraction(1, 4) / 2 == Fraction(11, 8)
    for w in (Fraction(-3), Fraction(1, 2), Fraction(5)):
        h2 = min(Fraction(1, 4), w**2 / 4)
        assert correlated_checks.second_moment(w) == w**2 * Fraction(5, 4) + h2
    whole = correlated_checks.slope
    monkeypatch.setattr(correlated_checks, "slope", lambda w, client, time: whole(w, 2 * client, time))
    with pytest.raises(ArithmeticError, match="rises by"):
        correlated_checks.second_moment(Fraction(1))


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
    assert parts(decide(rates_table.table1()))["1"] == "holds"


def test_table_1_with_a_wrong_entry_of_ours(monkeypatch):
    def spoil(rate):
        changed = (rates_table.sigma**3 / rates_table.eps**2, *rate.terms[1:])
        return (
            replace(rate, terms=changed) if (rate.algorithm, rate.functions) == ("CFL", rates_table.GENERAL) else rate
        )

    monkeypatch.setattr(table_checks, "TABLE_1", _replaced(spoil))
    found = parts(decide(rates_table.table1()))
    assert (found["1"], found["2"]) == ("false", "false")


def test_table_1_without_the_impossible_entries(monkeypatch):
    def drop(rate):
        kept = [term for term in rate.terms if table_checks.fault(term, rate.functions) is None]
        return replace(rate, terms=tuple(kept))

    monkeypatch.setattr(table_checks, "TABLE_1", _replaced(drop))
    found = parts(decide(rates_table.table1()))
    # Without its last term Karimireddy et al.'s entry still vanishes.
    assert (found["4"], found["5"]) == ("holds", "false")


def test_table_1_impossible_entries_one_by_one(monkeypatch):
    def mend(rate):
        if (rate.source, rate.functions) != ("Karimireddy et al.", rates_table.GENERAL):
            return rate
        return replace(rate, terms=(*rate.terms[:2], rates_table.c_pB / rates_table.eps))

    monkeypatch.setattr(table_checks, "TABLE_1", _replaced(mend))
    found = parts(decide(rates_table.table1()))
    assert (found["4"], found["5"]) == ("false", "holds")


def test_table_1_terms_of_others_that_are_no_numbers():
    others = [rate for rate in rates_table.TABLE_1 if rate.source != "ours"]
    found = [line.split(", ")[1] for line in table_checks.faults(others)]
    assert found == ["Khaled et al.", "Karimireddy et al.", *["Woodworth et al."] * 3, "Yin et al."]
    zero = [rate.name for rate in rates_table.TABLE_1 if table_checks.vanishes(rate)]
    assert zero == ["FedAvg, Li et al., strongly convex", "FedAvg, Karimireddy et al., general convex"]


def test_a_family_that_does_not_pass_twice_the_constant_proves_nothing():
    assert parts(decide(rates_table.table1(-1)))["3"] == "open"
