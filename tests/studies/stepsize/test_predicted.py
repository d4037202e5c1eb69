"""Predicted bounds against the statements written out by hand, and against runs."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from cflag_theory.kernels import make_problem, simulate, uniform
from cflag_theory.studies.stepsize.predicted import HELD, INPUTS, SQRT
from cflag_theory.verify import step_sizes

L, M, E, T, ALPHA, BETA = 2.0, 0.25, 3, 400, 0.4, 0.01
NUMBERS = {
    "gap": 1.5,
    "grad_g": 0.7,
    "grad_g0": 1.1,
    "gap_g": 2.5,
    "gap_h": 0.9,
    "omega": 0.3,
    "memory_gap": 0.2,
    "r": 1.25,
}


def bounds(**changed):
    given = {"L": L, "m": M, "E": E, "T": T, "alpha": ALPHA, "beta": BETA, **NUMBERS, **changed}
    return {(row.claim, row.kind): row for row in step_sizes(**given).bounds}


def by_hand(alpha, beta):
    """Every bound at the numbers above, from the words of its claim."""
    F, G, G0, r = NUMBERS["gap"], NUMBERS["grad_g"], NUMBERS["grad_g0"], NUMBERS["r"]
    gap_h, omega2 = NUMBERS["gap_h"], NUMBERS["omega"] ** 2
    reach = ((1 + beta * L) ** E - 1) / L
    sigma, root, off = reach / beta, math.sqrt(M), abs(1 - L * alpha)
    Gamma = (L / 2 * beta**2 * sigma**2 + r * off * beta * sigma) * G**2
    u, c = beta * L * E, beta * math.sqrt(T)
    Q = 72 * beta**4 * L**3 * E**4 + 4 * beta**2 * L * E**2 + 2 * r * beta * E * (1 - L * alpha) * (6 * u + 1)
    Z = beta * E * (1 - 80 * u**3 - 10 * u)
    Y = (math.exp(c * L * E) - 1) / L
    unit = alpha * (1 - root)
    C5 = 24 * F * L * Y * (1 + root) / (unit * (1 - root)) + 12 / 5 * (Y * G0 / unit) ** 2
    W = min(T, math.floor((1 - root) / (4 * L * reach)))
    K4, K18 = (math.exp(c * L * E) - 1) / (c * L), 60 * E * (math.exp(1 / 60) - 1)
    q = reach / alpha
    total = alpha + beta * E
    rho = ((1 + beta * L) ** E - 1) / (beta * L) - E
    return {
        ("cflag.thm2", "printed"): 2 * L * (1 + M) / T * (F + T * Gamma),
        ("cflag.thm2", "repaired"): 2 * L * (1 + M) / T * (F + T * Gamma),
        ("cflag.thm5", "printed"): 2 * L * (1 + M) / T * (F + Q / Z * gap_h + Q * T * omega2),
        ("cflag.thm5", "repaired"): C5 / math.sqrt(T),
        ("ours.drawn_once", "proved"): 2 * F / (unit * T) + (reach / unit) ** 2 * G**2,
        ("ours.redrawn", "proved"): (2 * F / (alpha * T) + (reach / alpha) ** 2 * G**2) / (1 - L * alpha * M),
        ("ours.first_rounds", "proved"): 3 * F / (unit * W) + 12 / 5 * (reach * G0 / unit) ** 2,
        ("ours.adaptive_descent", "proved"): F / (unit * (1 - L * unit / 2) * T),
        ("ours.bounded_gradients", "proved"): 2 * NUMBERS["gap_g"] / (alpha * (1 - q) * T)
        + (NUMBERS["memory_gap"] / (1 - q)) ** 2,
        ("cflag.lemma3", "printed"): 60 * L / T * gap_h,
        ("ours.algorithm1_descent", "proved"): 2 * gap_h / (total * T) + (beta * rho / total) ** 2 * G**2,
        ("cflag.lemma4", "repaired"): (c * r * K4 + L * c**2 * K4**2 / 2) * G**2 * (1 / T + 1 / math.sqrt(T)),
        ("cflag.lemma18", "printed"): (16 * r * (1 - L * alpha) + 22) * gap_h / T
        + (11 / (60 * L) + 2 * r / (15 * L) * (1 - L * alpha)) * omega2,
        ("cflag.lemma18", "repaired"): (beta * r * K18 + L * beta**2 * K18**2 / 2) * G**2 * (1 / T + 1),
        ("ours.forgetting_step", "proved"): Gamma,
    }


#: Step sizes at which each theorem speaks; the others are at the numbers above.
AT = {
    "cflag.lemma3": (1 / (30 * L * E), 1 / (30 * L * E)),
    "cflag.lemma18": (ALPHA, 1 / (60 * L * E)),
    "cflag.thm5": (ALPHA, 0.001),
}
THEOREMS = tuple(by_hand(ALPHA, BETA))


def test_every_theorem_is_written_out_here():
    assert tuple(bounds()) == THEOREMS


@pytest.mark.parametrize("theorem", THEOREMS, ids=" ".join)
def test_the_number_is_that_of_the_words(theorem):
    alpha, beta = AT.get(theorem[0], (ALPHA, BETA))
    found = bounds(alpha=alpha, beta=beta)[theorem]
    assert (found.needs, found.fails) == ((), ())
    assert found.value == pytest.approx(by_hand(alpha, beta)[theorem], rel=1e-12)


def test_tiny_steps_keep_their_digits():
    beta = 1e-18
    found = bounds(beta=beta, gap=0.0)["ours.drawn_once", "proved"]
    # ((1 + beta L)^E - 1)/L is beta E to first order.
    assert found.value == pytest.approx((beta * E * NUMBERS["grad_g"] / (ALPHA * 0.5)) ** 2, rel=1e-12)


def test_missing_numbers_are_named():
    found = step_sizes(L=L, m=M, E=E, T=T, alpha=ALPHA, beta=BETA)
    assert found.numbers == {}
    needs = {(row.claim, row.kind): row.needs for row in found.bounds}
    assert needs["ours.drawn_once", "proved"] == ("gap", "grad_g")
    assert needs["cflag.thm2", "printed"] == ("gap", "grad_g", "r")
    assert needs["cflag.thm5", "printed"] == ("gap", "gap_h", "omega", "r")
    assert needs["ours.bounded_gradients", "proved"] == ("gap_g", "memory_gap")
    for row in found.bounds:
        assert set(row.needs) <= set(INPUTS)
        assert (row.value is None) == bool(row.needs or row.fails)


def test_conditions_that_fail_are_named():
    found = bounds(m=1.5, alpha=0.3)
    assert found["ours.drawn_once", "proved"].fails == ("m < 1",)
    assert found["cflag.thm2", "printed"].fails == ("alpha = 1/(L(1+m))",)
    assert found["ours.redrawn", "proved"].value is not None
    assert all(row.value is None for row in found.values() if row.fails)


def test_an_infinite_r_makes_what_uses_it_say_nothing():
    found = bounds(r=math.inf)
    assert found["ours.forgetting_step", "proved"].value == math.inf
    assert found["cflag.thm2", "printed"].value == math.inf
    assert math.isfinite(found["ours.drawn_once", "proved"].value)
    shown = step_sizes(L=L, m=M, E=E, T=T, alpha=ALPHA, beta=BETA, **{**NUMBERS, "r": math.inf}).to_json()
    json.dumps(shown, allow_nan=False)
    assert shown["numbers"]["r"] == "inf"


def test_without_a_target_there_are_no_rounds():
    assert all(not row.rounds for row in bounds().values())
    assert set(bounds(epsilon=0.1)["ours.drawn_once", "proved"].rounds) == {HELD, SQRT}
    # A bound on the forgetting term is not one on a gradient.
    assert bounds(epsilon=0.1)["ours.forgetting_step", "proved"].rounds == {}


@pytest.mark.parametrize("redraw", [False, True])
def test_a_run_stays_below_what_is_predicted(redraw):
    """With the constants of the problem, and the run's own gap and gradients."""
    problem = make_problem("default")
    memory = uniform(8, redraw=redraw)
    trace = simulate(
        problem, "c_flag", alpha=0.2, beta=0.02, local_steps=3, rounds=40, memory=memory, engine="reference"
    )
    m = float(trace.m_met)
    assert m < 1
    g2, f = trace.column("grad_g2"), trace.column("f")
    found = step_sizes(
        L=float(problem.constants["L_component"].value),
        m=m,
        E=3,
        alpha=0.2,
        beta=0.02,
        T=40,
        gap=max(0.0, float(f[0, 0] - trace.at_end("f")[0])),
        grad_g=math.sqrt(float(g2.mean())),
        r=trace.r_met,
    )
    values = {(row.claim, row.kind): row.value for row in found.bounds}
    measured = float(trace.column("grad_f2").mean())
    assert 0 < measured <= values["ours.drawn_once", "proved"]
    assert float(np.mean(trace.column("Gamma"))) <= values["ours.forgetting_step", "proved"]
