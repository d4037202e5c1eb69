"""The rate study: what it reports, how it fits, and what it refuses."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import random_separable, rotation_bias, simulate, uniform
from cflag_theory.verify import rate
from cflag_theory.verify.rates import HORIZONS, fitted_slopes

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


def test_the_band_contains_the_estimate(study):
    for value, (low, high) in zip(study.min_mean, study.band, strict=True):
        assert 0 < low <= value <= high


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
        assert study.mean_gamma[position] == pytest.approx(gamma / T)


def test_the_same_seed_gives_the_same_study_and_another_does_not(problem, study):
    assert rate(problem, uniform(1), **SMALL) == study
    assert rate(problem, uniform(1), **SMALL, seed=3).min_mean != study.min_mean


@pytest.mark.parametrize(
    ("horizons", "fit_from"), [((4, 8), 4), ((4, 8, 16), 8), ((2, 4, 8, 16), 8), ((1, 2, 4, 8, 16), 4)]
)
def test_the_fit_is_over_the_larger_half_and_at_least_two(problem, horizons, fit_from):
    found = rate(problem, uniform(1), horizons=horizons, replicas=2, local_steps=1)
    assert found.fit_from == fit_from
    fitted = [(T, value) for T, value in zip(horizons, found.min_mean, strict=True) if fit_from <= T]
    slope = np.polyfit(*np.log(fitted).T, 1)[0]
    assert found.slope == pytest.approx(slope)
    assert found.slope_interval[0] <= found.slope_interval[1]


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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"horizons": (16,)}, r"horizons .* do not increase"),
        ({"horizons": ()}, r"horizons .* do not increase"),
        ({"horizons": (32, 16)}, r"horizons .* do not increase"),
        ({"horizons": (16, 16)}, r"horizons .* do not increase"),
        ({"horizons": (0, 16)}, r"horizons .* do not increase"),
        ({"replicas": 1}, "replicas = 1 leave nothing to resample: use at least 2"),
        ({"replicas": 0}, "replicas = 0"),
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
