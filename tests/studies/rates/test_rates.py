"""The rate study: what it reports, how it fits, and what it refuses."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import everything, random_quadratic, random_separable, rotation_bias, simulate, uniform
from cflag_theory.studies.rates.past_task import HORIZONS, fitted_slopes
from cflag_theory.verify import rate

SMALL = {"horizons": (16, 32, 64), "replicas": 4, "local_steps": 2}


@pytest.fixture(scope="module")
def problem():
    return random_separable(clients=2, past=3, current=3, dimension=2, seed=1)


@pytest.fixture(scope="module")
def study(problem):
    return rate(problem, uniform(1), **SMALL)


def test_fields(problem, study):
    assert study.horizons == (16, 32, 64)
    for name in ("min_mean", "band", "mean_min", "theorem2", "mean_gamma"):
        assert len(getattr(study, name)) == 3
    assert study.title == problem.name
    assert study.notes == problem.notes
    assert (study.E, study.replicas, study.seed) == (2, 4, 0)
    assert (study.clients, study.dimension) == (2, 2)
    assert study.alpha == pytest.approx(1 / (study.L * (1 + study.m)))
    assert study.c == pytest.approx(1 / (3 * study.L * 2))


def test_top_level_numbers_are_those_of_f(study):
    curve = study.curves["f"]
    assert (study.min_mean, study.band, study.mean_min) == (curve.min_mean, curve.band, curve.mean_min)
    assert (study.slope, study.slope_interval) == (curve.fit.slope, curve.fit.interval)
    assert (study.fit_from, study.fit_to) == (curve.fit.first, 64)


def test_the_band_contains_the_estimate(study):
    for value, (low, high) in zip(study.min_mean, study.band, strict=True):
        assert 0 < low <= value <= high


def test_the_order_of_the_statistics(study):
    for curve in study.curves.values():
        for least, mean, (low, high) in zip(curve.min_mean, curve.mean, curve.mean_band, strict=True):
            assert least <= mean
            assert low <= mean <= high


def test_the_mean_of_the_minima_is_no_larger(study):
    assert all(minima <= value for minima, value in zip(study.mean_min, study.min_mean, strict=True))


def test_estimates_and_bound_recomputed(problem, study):
    """The same runs, and Theorem 2 with 2 L (1 + m) spelled out."""
    for position, T in enumerate(study.horizons):
        trace = simulate(
            problem,
            "c_flag",
            alpha=study.alpha,
            beta=study.c / math.sqrt(T),
            local_steps=2,
            rounds=T,
            memory=uniform(1),
            replicas=4,
            seed=0,
        )
        squares = trace.column("grad_f2")
        assert study.min_mean[position] == pytest.approx(min(squares[:, t].mean() for t in range(T)))
        assert study.mean_min[position] == pytest.approx(np.mean([squares[i].min() for i in range(4)]))
        progress = np.mean(trace.column("f")[:, 0] - trace.at_end("f"))
        gamma = np.mean(trace.column("Gamma").sum(axis=1))
        bound = 2 * study.L * (1 + study.m) * (progress + gamma) / T
        assert study.theorem2[position] == pytest.approx(bound)
        for key, column in (("f", "grad_f2"), ("g", "grad_g2"), ("h", "grad_h2")):
            means = trace.column(column).mean(axis=0)
            assert study.curves[key].min_mean[position] == pytest.approx(means.min())
            assert study.curves[key].mean[position] == pytest.approx(means.mean())
        assert study.mean_gamma[position] == pytest.approx(gamma / T)


def test_the_same_seed_gives_the_same_study_and_another_does_not(problem, study):
    assert rate(problem, uniform(1), **SMALL) == study
    assert rate(problem, uniform(1), **SMALL, seed=3).min_mean != study.min_mean


@pytest.mark.parametrize("power", [-0.5, -1.0, 0.0, 0.3])
def test_the_slope_of_a_power_law_is_its_power(power):
    values = np.array([[2.0, 7.0]]) * np.array(HORIZONS, dtype=float)[:, None] ** power
    assert fitted_slopes(HORIZONS, values) == pytest.approx([power, power], abs=1e-12)


def test_default_horizons():
    assert tuple(2**power for power in range(4, 13)) == HORIZONS


def test_m_is_exact_where_the_family_knows_it_and_measured_elsewhere(problem, study):
    assert study.m_kind.startswith("exact")
    assert study.m_met <= study.m * (1 + 1e-9)
    exact = rate(problem, rotation_bias(m=0.3), **SMALL)
    assert exact.m == pytest.approx(0.3)


def test_progress_reports_the_rounds(problem):
    told = []
    rate(problem, uniform(1), horizons=(4, 8), replicas=2, local_steps=1, progress=told.append)
    assert told == [4, 8]


def test_json(study):
    shown = json.loads(json.dumps(study.to_json(), allow_nan=False))
    assert shown["horizons"] == [16, 32, 64]
    assert shown["slope"] == study.slope
    unbounded = replace(study, r_met=math.inf, m_met=math.inf).to_json()
    assert (unbounded["r_met"], unbounded["m_met"]) == ("inf", "inf")
    json.dumps(unbounded, allow_nan=False)


@pytest.mark.parametrize(("power", "c"), [(0.0, 0.01), (1.0, 0.2), (0.25, 0.03)])
def test_laws_of_beta(problem, power, c):
    """Each horizon is a run of its own with beta = c / T^power; for power 0 they are one run, to the last bit."""
    found = rate(problem, uniform(1), **SMALL, power=power, c=c)
    for position, T in enumerate(found.horizons):
        trace = simulate(
            problem,
            "c_flag",
            alpha=found.alpha,
            beta=c / T**power,
            local_steps=2,
            rounds=T,
            memory=uniform(1),
            replicas=4,
        )
        assert found.min_mean[position] == float(trace.column("grad_f2").mean(axis=0).min())
        assert found.mean_gamma[position] == pytest.approx(float(trace.column("Gamma").mean()), rel=1e-12)
        F = float(np.mean(trace.column("f")[:, 0] - trace.at_end("f")))
        bound = 2 * found.L * (1 + found.m) * (F / T + found.mean_gamma[position])
        assert found.theorem2[position] == pytest.approx(bound)


@pytest.mark.parametrize(("power", "wanted"), [(0.5, 1 / 3), (1.0, 4 / 3), (0.0, 1 / 60)])
def test_c_without_a_value(problem, power, wanted):
    found = rate(problem, uniform(1), **SMALL, power=power)
    assert found.c == pytest.approx(wanted / (found.L * 2))


def test_alpha_at_and_beyond_the_edge(problem):
    for factor in (2.0, 3.0):
        found = rate(problem, uniform(1), **SMALL, alpha_factor=factor)
        assert found.alpha == pytest.approx(factor / (found.L * (1 + found.m)))
        assert found.theorem2 == (None, None, None)
        assert "alpha is not below 2/(L (1 + m))" in next(b for b in found.bounds if b.claim == "cflag.lemma1").why
    within = rate(problem, uniform(1), **SMALL, alpha_factor=1.5)
    lead = 1 / (within.alpha * (1 - 1.5 / 2))
    assert within.theorem2[0] > 0
    assert next(b for b in within.bounds if b.claim == "cflag.lemma1").values[0] == pytest.approx(
        within.theorem2[0] + lead / 16 * _overfitting(problem, within)
    )


def _overfitting(problem, study):
    trace = simulate(
        problem,
        "c_flag",
        alpha=study.alpha,
        beta=study.c / 4,
        local_steps=2,
        rounds=16,
        memory=uniform(1),
        replicas=4,
    )
    return float(trace.column("B").sum(axis=1).mean())


def test_a_horizon_at_which_replicas_diverge_keeps_what_was_measured(problem):
    steep = random_quadratic(clients=1, components=2, dimension=2, convexity=3.0, seed=2)
    found = rate(steep, everything(), horizons=(4, 8, 4096), replicas=2, local_steps=1, alpha_factor=4.0)
    assert found.diverged == (0, 0, 2)
    curve = found.curves["f"]
    assert curve.mean[2] is None
    assert curve.min_mean[2] <= curve.min_mean[1] * (1 + 1e-9)
    assert found.theorem2[2] is None
    assert curve.fit is None or curve.fit.last == 8
    json.dumps(found.to_json(), allow_nan=False)


def test_m_may_be_given(problem):
    found = rate(problem, rotation_bias(m=0.3), **SMALL, m=0.5)
    assert (found.m, found.m_kind) == (0.5, "given")


def test_a_rotated_memory_has_no_joint_objective(problem):
    found = rate(problem, rotation_bias(m=0.3), **SMALL)
    assert set(found.curves) == {"f", "g"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"power": -0.5}, "power is -0.5"),
        ({"power": math.nan}, "power is nan"),
        ({"alpha_factor": 0.0}, "alpha_factor is 0.0"),
        ({"alpha_factor": math.inf}, "alpha_factor is inf"),
        ({"m": -1.0}, "m is -1.0"),
        ({"horizons": (16,)}, r"horizons .* do not increase"),
        ({"horizons": ()}, r"horizons .* do not increase"),
        ({"horizons": (32, 16)}, r"horizons .* do not increase"),
        ({"horizons": (16, 16)}, r"horizons .* do not increase"),
        ({"horizons": (0, 16)}, r"horizons .* do not increase"),
        ({"horizons": (16, float("inf"))}, r"horizons\[1\] is inf: use an integer"),
        ({"horizons": (float("nan"), 16)}, r"horizons\[0\] is nan: use an integer"),
        ({"horizons": np.array([16, float("inf")])}, r"horizons .* are not whole"),
        ({"replicas": 1}, "replicas is 1: use an integer of at least 2"),
        ({"replicas": 0}, "replicas is 0"),
        ({"local_steps": 0}, "local_steps is 0: use an integer of at least 1"),
        ({"c": -1.0}, r"c is -1\.0: use a finite positive number"),
        ({"c": math.nan}, "c is nan: use a finite positive number"),
        ({"c": 0.0}, r"c is 0\.0: use a finite positive number"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_bad_input(problem, changes, message):
    with pytest.raises(InvalidInput, match=message):
        rate(problem, uniform(1), **{**SMALL, **changes})
