"""Performance estimation beside the paper: its bounds, their ranges, and what the ledger is told."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from cflag_theory.claims.ledger import claim
from cflag_theory.verify import performance as pe
from cflag_theory.verify.verdict import SUPPORTS, UNDECIDED

PEPit = pytest.importorskip("PEPit")
pytest.importorskip("clarabel")

QUARTER, TWELFTH, HALF = Fraction(1, 4), Fraction(1, 12), Fraction(1, 2)
LOCAL = {"n": 2, "E": 3, "step": TWELFTH, "order": [0, 0, 1]}
ROUND = {"N": 2, "n": 2, "E": 2, "step": TWELFTH, "alpha": HALF, "order": [0, 1]}


@pytest.mark.parametrize(
    ("quantity", "bound", "largest"),
    [
        ("drift", 8, QUARTER),
        ("iag_error", "1/6", TWELFTH),
        ("sum_gradients", 4, QUARTER),
        ("sum_errors", "1/2", TWELFTH),
    ],
)
def test_bounds_are_those_of_the_paper(quantity, bound, largest):
    """At beta L E = 1/12 and E = 3: 4 k, 2 beta L E, (4 beta L E + 1) E and 2 beta L E^2."""
    assert pe.solve_local_steps(**LOCAL, quantity=quantity).above.value == Fraction(bound)
    at_most, beyond = (
        pe.solve_local_steps(**(LOCAL | {"step": step}), quantity=quantity)
        for step in (largest, largest * Fraction(1001, 1000))
    )
    assert at_most.above is not None
    assert beyond.above is None


def test_bounds_are_given_for_what_the_paper_bounds():
    # Lemma 13 ends at k = E - 1; in several rounds the paper's gradient is that of the last one.
    assert pe.solve_local_steps(**LOCAL, k=3).above is None
    assert pe.solve_local_steps(**LOCAL, rounds=2).above is None
    found = pe.solve_round(**ROUND, r=2)
    assert found.above.value == 36 * TWELFTH**4 + 2 * TWELFTH**2 + 2 * TWELFTH * HALF * (HALF + 1)
    # The proof of (158) needs alpha <= 1/L and beta <= 1/(12 L E).
    for change in ({"alpha": Fraction(11, 10)}, {"step": Fraction(1, 11)}):
        assert pe.solve_round(**(ROUND | change)).above is None


@pytest.mark.parametrize(
    ("id", "bound"),
    [
        # Before k = 2 the drift is beta, which is 1/(12 L).
        ("cflag.lemma12", QUARTER * (1 + 3 * TWELFTH)),
        ("cflag.lemma13", 8),
        ("cflag.cor14", Fraction(1, 6)),
        ("cflag.lemma15_1", 6),
        ("cflag.lemma16", HALF),
    ],
)
def test_evidence_for_the_ledger_is_a_second_witness(id, bound):
    (found,) = pe.worst_case_evidence(claim(id))
    assert (found.kind, found.finding) == ("worst-case", SUPPORTS)
    (part,) = (part for part in claim(id).parts if part.key == found.part)
    # On the printed statement where it is true as printed, else on its repair.
    assert found.on == ("repair" if part.repair else "printed")
    assert 0 < found.data["ratio"] < 0.6
    solved = found.data["solved"]
    assert len(solved) == 2
    assert all(one["above"] == pytest.approx(float(bound)) and one["faults"] == [] for one in solved)
    json.dumps(found.to_json())


def test_evidence_is_undecided_where_a_comparison_or_the_solver_fails(monkeypatch):
    between = pe.sandwich
    monkeypatch.setattr(pe, "sandwich", lambda found: between(found, above=1))
    (found,) = pe.worst_case_evidence(claim("cflag.lemma13"))
    assert found.finding == UNDECIDED
    assert "is below the worst case" in found.summary

    def fail(self, **settings):
        raise ValueError("no solution")

    monkeypatch.setattr(PEPit.PEP, "solve", fail)
    (found,) = pe.worst_case_evidence(claim("cflag.lemma13"))
    assert found.finding == UNDECIDED
    assert "no solution" in found.summary


def test_other_claims_get_no_evidence():
    assert pe.worst_case_evidence(claim("cflag.lemma1")) == ()
