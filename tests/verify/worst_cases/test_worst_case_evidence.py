"""Exact worst cases beside the paper: its bounds, closed forms, and what the ledger is told."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from cflag_theory.claims.ledger import claim
from cflag_theory.errors import InvalidInput
from cflag_theory.verify import worst_cases
from cflag_theory.verify.instances.orders import up_to_relabelling
from cflag_theory.verify.instances.recursions import local_worst
from cflag_theory.verify.verdict import SUPPORTS, UNDECIDED
from cflag_theory.worstcase.local_steps import QUANTITIES, solve_local_steps
from cflag_theory.worstcase.solving import NotConverged

QUARTER, TWELFTH, HALF = Fraction(1, 4), Fraction(1, 12), Fraction(1, 2)


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
    (found,) = worst_cases.worst_case_evidence(claim(id))
    assert (found.kind, found.finding) == ("worst-case", SUPPORTS)
    (part,) = (part for part in claim(id).parts if part.key == found.part)
    # On the printed statement where it is true as printed, else on its repair.
    assert found.on == ("repair" if part.repair else "printed")
    assert 0 < found.data["ratio"] < 0.6
    assert Fraction(found.data["above"]) == bound
    assert len(found.data["solved"]) == 2
    json.dumps(found.to_json())


def test_evidence_is_undecided_where_a_comparison_or_the_solver_fails(monkeypatch):
    solve = solve_local_steps

    def smaller(*args, **settings):
        found = solve(*args, **settings)
        return replace(found, square=found.square * Fraction(999, 1000))

    monkeypatch.setattr(worst_cases, "solve_local_steps", smaller)
    (found,) = worst_cases.worst_case_evidence(claim("cflag.lemma13"))
    assert found.finding == UNDECIDED
    assert "The closed form" in found.summary
    monkeypatch.setattr(worst_cases, "_ROWS", {"cflag.lemma13": ("printed", "drift", QUARTER, Fraction(1))})
    (found,) = worst_cases.worst_case_evidence(claim("cflag.lemma13"))
    assert "The bound 1 is below" in found.summary

    def fail(*args, **settings):
        raise NotConverged("no solution")

    monkeypatch.setattr(worst_cases, "solve_local_steps", fail)
    (found,) = worst_cases.worst_case_evidence(claim("cflag.lemma13"))
    assert found.finding == UNDECIDED
    assert "no solution" in found.summary


def test_other_claims_get_no_evidence():
    assert worst_cases.worst_case_evidence(claim("cflag.lemma1")) == ()


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize(
    ("n", "E", "u"),
    [(2, 3, TWELFTH), (3, 3, QUARTER), (1, 3, Fraction(3)), (2, 4, Fraction(8)), (2, 3, Fraction(1, 1000))],
)
def test_local_steps_have_their_closed_form_over_all_orders(quantity, n, E, u):
    """Also far beyond the paper's step sizes."""
    for order in up_to_relabelling(n, E):
        worst = local_worst(order, n=n, step=u / E)
        closed = {
            "drift": worst.drift[E - 1] * E / u,
            "error": worst.error[E - 1],
            "gradient_sum": worst.gradient_sum,
            "error_sum": worst.error_sum,
        }[quantity]
        found = solve_local_steps(order, n=n, u=u, quantity=quantity)
        # What is proved is never below what is attained.
        assert found.square >= closed**2
        assert found.value == pytest.approx(float(closed), rel=1e-6, abs=1e-3 * float(u))


def test_two_steps_by_hand():
    # E = 2, n = 2: d_1 = beta, and E = 3: d_2 = 2 beta + beta^2/2 with L = 1 and beta = 1/8.
    found = solve_local_steps((0, 1), n=2, u=Fraction(3, 8), k=2)
    assert found.value == pytest.approx(2 + 1 / 16, rel=1e-7)
    assert solve_local_steps((0,), n=2, u=QUARTER, quantity="error").value == pytest.approx(1 / 16, rel=1e-6)
    assert solve_local_steps((0,), n=2, u=QUARTER, quantity="gradient_sum").value == pytest.approx(2 + 1 / 8, rel=1e-7)


def test_a_drift_that_is_kept_small_keeps_the_error_small():
    free = solve_local_steps((0, 0, 0), n=2, u=Fraction(4), quantity="error")
    kept = solve_local_steps((0, 0, 0), n=2, u=Fraction(4), quantity="error", drift_limit=Fraction(5, 4))
    assert kept.value < 0.95 * free.value


@pytest.mark.parametrize(
    "change",
    [{"u": Fraction(0)}, {"n": 0}, {"k": 3}, {"k": 0}, {"quantity": "length"}, {"order": (0, 2)}, {"order": ()}],
)
def test_what_makes_no_sense_is_refused(change):
    numbers = {"order": (0, 1), "n": 2, "u": QUARTER} | change
    with pytest.raises(InvalidInput):
        solve_local_steps(numbers.pop("order"), **numbers)
