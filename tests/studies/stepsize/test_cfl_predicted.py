"""Predicted bounds for the CFL paper against their words, and against exact moments of the noisy quadratic model."""

from __future__ import annotations

import json
import math

import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.studies.stepsize.cfl_predicted import HELD, cfl_theorems
from cflag_theory.verify import cfl_step_sizes

L, MU, T, N, G, D, R, SIGMA, DISTANCE, GAP = 5.0, 0.5, 200, 4, 0.7, 0.6, 0.3, 0.2, 1.5, 2.0
GIVEN = {"L": L, "mu": MU, "T": T, "N": N, "G": G, "sigma": SIGMA, "distance": DISTANCE, "gap": GAP}


def values(**changed):
    found = cfl_step_sizes(**{**GIVEN, "K": 1, "eta_l": 0.01, "D": D, "R": R, **changed})
    return {(row.claim, row.note): row for row in found.bounds}


def by_hand(K, eta_l, eta_g, D, R, fedavg):
    """Every bound from the words of its claim, sums of weights at their largest."""
    eta = K * eta_l * eta_g
    past = 0.0 if fedavg else (T - 1) * D**2 / (T * D**2 + (T - 1) * R**2)
    second = 0.0 if fedavg else D**2 / (2 * D**2 + R**2)
    bias = math.sqrt((G**2 + D**2 * second**2) / N) + past * R
    v = (SIGMA**2 + D**2) / N
    V, rho2 = G**2 + D**2, (past * R) ** 2
    quadratic = 4 * V / N + 2 * SIGMA**2 / (N * K) + 4 * rho2
    cubic = 10 * (V + rho2) / 3 + 5 * SIGMA**2 / (2 * K)
    error2, client2 = 2 * V / N + 2 * rho2, 2 * V + 2 * rho2
    return {
        ("ours.cfl_strongly_convex", "K = 1"): ((1 - eta * MU) ** T * DISTANCE + bias / MU) ** 2 + eta * v / MU,
        ("ours.cfl_strongly_convex", "any K"): (1 - MU * eta / 2) ** T * DISTANCE**2
        + 16 / MU**2 * (V / N + rho2)
        + 2 * eta / MU * quadratic
        + 2 * L * eta**2 / (MU * eta_g**2) * cubic,
        ("ours.cfl_general_convex", "convex"): math.e * (DISTANCE**2 / (eta * T) + eta * ((1 + T) * bias**2 + v)),
        ("ours.cfl_nonconvex", "K = 1"): 2 * GAP / (eta * T) + error2 + L * eta * SIGMA**2 / N,
        ("ours.cfl_nonconvex", "any K"): 4 * GAP / (eta * T)
        + 4 * error2
        + 20 * K**2 * eta_l**2 * L**2 * (client2 + SIGMA**2 / K)
        + 4 * L * eta * SIGMA**2 / (N * K),
        ("ours.cfl_fedavg_nonconvex", "clients new in every round"): 8 * GAP / (3 * eta * T)
        + 8 / 3 * L * eta * (V / N + SIGMA**2 / (N * K))
        + 20 / 3 * K**2 * eta_l**2 * L**2 * (V + SIGMA**2 / K),
    }


@pytest.mark.parametrize(
    ("K", "eta_l", "eta_g", "fedavg"), [(1, 0.01, 1.0, False), (1, 0.01, 1.0, True), (4, 0.002, 1.25, False)]
)
def test_the_number_is_that_of_the_words(K, eta_l, eta_g, fedavg):
    changed = {"K": K, "eta_l": eta_l, "eta_g": eta_g} | ({"D": None, "R": None} if fedavg else {})
    found = values(**changed)
    expected = by_hand(K, eta_l, eta_g, 0.0 if fedavg else D, 0.0 if fedavg else R, fedavg)
    assert set(found) == set(expected)
    spoken = 0
    for key, row in found.items():
        if not row.fails:
            spoken += 1
            assert row.value == pytest.approx(expected[key], rel=1e-12)
    assert spoken == (6 if fedavg else 5 if K == 1 else 2)


def test_what_a_theorem_lacks():
    found = values(K=4, mu=0.0, A=0.5)
    fails = {key: row.fails for key, row in found.items()}
    assert fails["ours.cfl_strongly_convex", "any K"] == ("mu > 0", "eta <= 1/(10L)", "A = B = 0")
    assert "K = 1" in fails["ours.cfl_nonconvex", "K = 1"]
    assert "FedAvg" in fails["ours.cfl_fedavg_nonconvex", "clients new in every round"]
    needs = {(row.claim, row.note): row.needs for row in cfl_step_sizes(L=L, K=1, eta_l=0.01, T=T).bounds}
    assert needs["ours.cfl_nonconvex", "K = 1"] == ("N", "gap")
    assert needs["ours.cfl_general_convex", "convex"] == ("N", "distance")


def test_the_rounds_to_a_target_are_the_least():
    key, epsilon = ("ours.cfl_fedavg_nonconvex", "clients new in every round"), 0.5
    changed = {"D": None, "R": None}
    least = int(values(epsilon=epsilon, **changed)[key].rounds[HELD])
    assert values(T=least, **changed)[key].value <= epsilon < values(T=least - 1, **changed)[key].value
    # Clients that stay leave a floor.
    assert values(epsilon=1e-3)["ours.cfl_nonconvex", "K = 1"].rounds[HELD] == math.inf


def test_every_theorem_is_about_this_papers_claims():
    assert {one.claim for one in cfl_theorems()} == {key[0] for key in by_hand(1, 0.01, 1.0, D, R, False)}


def test_bounds_are_plain_values():
    shown = cfl_step_sizes(**GIVEN, K=1, eta_l=0.01, epsilon=1e-3).to_json()
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown


@pytest.mark.parametrize(
    ("name", "value"),
    [("N", 0), ("G", -1.0), ("sigma", math.nan), ("distance", -1.0), ("gap", math.inf), ("epsilon", 0)],
)
def test_bad_numbers(name, value):
    with pytest.raises(InvalidInput, match=f"^{name} = .* is not allowed"):
        values(**{name: value})
