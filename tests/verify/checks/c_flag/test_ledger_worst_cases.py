"""Tracking's multipliers: what they prove, what they do not, and that wrong ones are rejected."""

from __future__ import annotations

from fractions import Fraction

import pytest

from cflag_theory.claims.ledger import claim
from cflag_theory.verify.checks.c_flag import worst_cases as checks
from cflag_theory.verify.verdict import SUPPORTS, UNDECIDED
from cflag_theory.verify.worst_cases import worst_case_evidence
from cflag_theory.worstcase.worst import worst_case

ONE, HALF = Fraction(1), Fraction(1, 2)


@pytest.mark.parametrize(("E", "T"), [(1, 1), (1, 4), (2, 3), (4, 2), (8, 3)])
def test_the_bound_is_proved_and_no_solver_finds_more(E, T):
    assert checks.proved_up_to_one(E, T)
    if E * T <= 8:
        found = worst_case("fedtrack", E=E, T=T, eta=Fraction(1, 2 * E))
        assert found.lower == pytest.approx(1 / (2 * T + 2), rel=1e-5)


def test_one_step_is_proved_up_to_three_halves_and_no_further():
    """The last condition and the first are all that one round of one step has: (3 - 2 h)/8 is their square's factor."""

    def proved(h):
        found = checks.left_over(1, 1, h, ONE)
        return found is not None and all(map(checks.semidefinite, found))

    assert proved(Fraction(3, 2))
    assert not proved(Fraction(1501, 1000))


def test_wrong_multipliers_prove_nothing(monkeypatch):
    right = checks.multipliers

    def moved(*args):
        found = right(*args)
        pair = next(iter(found))
        return found | {pair: found[pair] + Fraction(1, 1000)}

    monkeypatch.setattr(checks, "multipliers", moved)
    assert checks.left_over(2, 1, ONE, HALF) is None
    assert not checks.proved_up_to_one(2, 1)
    (found,) = checks.CHECKS["ours.tracking_rate"].further(claim("ours.tracking_rate"), 0, 1)
    assert found.finding == UNDECIDED


def test_a_smaller_bound_is_not_proved(monkeypatch):
    """With 1/(4 h T + 2 + 1/100) the matrix is not semidefinite."""
    combined = checks.combined

    def smaller(problem, certificate):
        total = combined(problem, certificate)
        M = {**total.M, (0, 0): 1 / (1 / total.M[0, 0] + Fraction(1, 100))}
        return type(total)(M, total.D, total.values, total.constant)

    monkeypatch.setattr(checks, "combined", smaller)
    assert not checks.proved_up_to_one(2, 2)


def test_semidefinite_matrices():
    assert checks.semidefinite([[ONE, ONE], [ONE, ONE]])
    assert not checks.semidefinite([[Fraction(0), ONE], [ONE, ONE]])
    assert not checks.semidefinite([[ONE, 2 * ONE], [2 * ONE, ONE]])
    (found,) = checks.CHECKS["ours.tracking_rate"].further(claim("ours.tracking_rate"), 0, 1)
    assert (found.kind, found.finding, found.data["cases"]) == ("enumeration", SUPPORTS, 25)
    (exact,) = (part for part in claim("ours.tracking_rate").parts if part.key == "exact")
    assert f"E <= {checks.MOST_STEPS} and T <= {checks.MOST_ROUNDS}" in exact.printed.words


@pytest.mark.parametrize(
    "id",
    [
        "ours.any_bias",
        "ours.any_clients",
        "ours.fedavg_drift",
        "ours.tracking_rate",
        pytest.param("ours.tracking_steps", marks=pytest.mark.full),
        "cflag.lemma3_surrogate",
        "cfl.gc_rate",
    ],
)
def test_solved_worst_cases_agree_with_the_rows(id):
    (found,) = worst_case_evidence(claim(id))
    assert (found.kind, found.finding) == ("worst-case", SUPPORTS)
