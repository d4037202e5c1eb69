"""Best eta_l and eta_g for a target under our bounds: feasible, reached, and better than any point of a grid."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.verify import cfl_step_sizes

pytestmark = pytest.mark.full

SETTINGS = {
    "K = 1, FedAvg": {"L": 5.0, "mu": 0.5, "K": 1, "T": 800, "G": 0.02, "sigma": 0.5},
    "K = 4": {"L": 5.0, "mu": 0.5, "K": 4, "T": 1000, "G": 0.02, "sigma": 0.5, "D": 0.1, "R": 0.02},
    "eta_g = 3": {"L": 0.3, "mu": 0.1, "K": 20, "T": 200, "sigma": 1.0, "eta_g": 3.0},
    "eta_g < 1": {"L": 2.0, "mu": 0.0, "K": 2, "T": 3000, "sigma": 0.3, "eta_g": 0.5},
}
REST = {"N": 10, "distance": 1.0, "gap": 1.0}


def found(setting, *, eta_l=1e-3, **changed):
    return cfl_step_sizes(**{**REST, **SETTINGS[setting], **changed}, eta_l=eta_l)


def bounds(setting, eta_l, **changed):
    return {(row.claim, row.note): row for row in found(setting, eta_l=eta_l, **changed).bounds}


def best(setting, goal, **changed):
    rows = found(setting, epsilon=0.3, **changed).best
    return {(row.claim, row.note): row for row in rows if row.goal == goal}


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_smallest_bound_is_feasible_and_beats_a_grid(setting):
    given = {**REST, **SETTINGS[setting]}
    top = 1 / (given["L"] * given["K"] * given.get("eta_g", 1.0))
    grid = [bounds(setting, float(step)) for step in np.geomspace(1e-5, 3, 60) * top]
    rows = best(setting, "smallest bound")
    assert rows
    for key, row in rows.items():
        tried = [one[key].value for one in grid if one[key].value is not None]
        if row.eta_l is None:
            assert not tried
            continue
        again = bounds(setting, row.eta_l)[key]
        assert again.fails == ()
        assert again.value == pytest.approx(row.value, rel=1e-12)
        assert row.value <= min(tried) * (1 + 1e-12) < row.value * 1.4
        assert row.eta == pytest.approx(given["K"] * row.eta_l * row.eta_g)


@pytest.mark.parametrize("setting", SETTINGS)
def test_one_round_less_is_not_enough_at_any_eta_l(setting):
    seen = 0
    for key, row in best(setting, "fewest rounds").items():
        if math.isinf(row.rounds):
            assert row.eta_l is None
            continue
        seen += 1
        rounds = int(row.rounds)
        assert bounds(setting, row.eta_l, T=rounds)[key].value <= 0.3
        if rounds > 1:
            assert best(setting, "smallest bound", T=rounds - 1)[key].value > 0.3
    assert seen


@pytest.mark.parametrize("setting", ["K = 4", "eta_g < 1"])
def test_no_eta_g_needs_fewer_rounds_than_the_limit(setting):
    limits, at_given = best(setting, "limit"), best(setting, "fewest rounds")
    assert limits
    for key, row in limits.items():
        assert (row.eta_l, row.eta_g) == (0.0, math.inf)
        assert row.rounds < at_given[key].rounds
        others = [best(setting, "fewest rounds", eta_g=eta_g)[key].rounds for eta_g in (1.0, 10.0, 1e3, 1e6)]
        assert min(others) >= row.rounds
        assert others[-1] <= 1.01 * row.rounds + 1


def test_one_local_step_has_the_closed_form():
    """FedAvg, K = 1: 2 gap/(eta T) + L eta sigma^2/N is least at eta = sqrt(2 gap N/(L T sigma^2)), or at its edge."""
    row = best("K = 1, FedAvg", "smallest bound", G=0.0)["ours.cfl_nonconvex", "K = 1"]
    eta = math.sqrt(2 * 10 / (5.0 * 800 * 0.25))
    assert row.eta == pytest.approx(eta, rel=1e-6)
    assert row.value == pytest.approx(2 * math.sqrt(2 * 5.0 * 0.25 / (10 * 800)), rel=1e-12)
    # With half a step as a limit of the range, the edge is the best: eta = 1/L.
    row = best("K = 1, FedAvg", "smallest bound", G=0.0, T=2)["ours.cfl_nonconvex", "K = 1"]
    assert row.eta == pytest.approx(1 / 5.0, rel=1e-9)


def test_an_eta_g_of_one_does_not_hide_the_best_eta_l():
    """eta_g >= 1 holds with equality for every eta_l, and is not an edge of eta_l."""
    row = best("K = 4", "smallest bound", eta_g=1.0)["ours.cfl_strongly_convex", "any K"]
    assert row.value < bounds("K = 4", 1e-3)["ours.cfl_strongly_convex", "any K"].value


def test_rounds_of_a_slow_start_keep_their_digits():
    """(1 - x)^T with x T = 20 and x near the last digit of 1: e^-20, not what rounding 1 - x makes of it."""
    found = cfl_step_sizes(L=1.0, mu=1e-15, K=1, eta_l=1.0, T=2 * 10**15, N=1, distance=1.0)
    (value,) = [row.value for row in found.bounds if (row.claim, row.note) == ("ours.cfl_strongly_convex", "K = 1")]
    assert value == pytest.approx(math.exp(-4), rel=1e-9)


def test_without_a_target_there_is_no_best():
    assert found("K = 4").best == ()
    shown = found("K = 4", epsilon=0.3).to_json()
    assert json.loads(json.dumps(shown, allow_nan=False))["best"] == shown["best"]
    assert {row["eta_g"] for row in shown["best"] if row["goal"] == "limit"} == {"inf"}


@pytest.mark.parametrize("changed", [{"L": 1e300, "mu": 1e-300}, {"L": 1e-300, "mu": 0.0}, {"K": 2**53}, {"T": 2**53}])
def test_extreme_numbers_have_an_answer(changed):
    shown = found("K = 4", epsilon=0.3, **changed).to_json()
    json.dumps(shown, allow_nan=False)
    for row in shown["best"]:
        assert (row["value"] is None) == (row["eta_l"] is None)


def test_drifts_whose_squares_overflow():
    with pytest.raises(InvalidInput, match=r"A = 1e\+160 and B = 1.0 are not allowed"):
        found("K = 4", A=1e160, B=1.0)
