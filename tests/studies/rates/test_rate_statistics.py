"""What is kept of the runs: resampled minima without loss, and slopes fitted where the curve has settled."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cflag_theory.errors import Diverged
from cflag_theory.kernels import random_quadratic, random_separable, simulate, uniform
from cflag_theory.studies.rates import statistics as rate_statistics
from cflag_theory.studies.rates.statistics import fit, interval, read, resampling, what_shows

HORIZONS = tuple(2**k for k in range(4, 14))


def runs(rounds, *, replicas=6, **changes):
    problem = random_separable(clients=2, past=3, current=3, dimension=2, seed=1)
    options = {"alpha": 0.3, "beta": 0.02, "local_steps": 2, "memory": uniform(1), "replicas": replicas} | changes
    return simulate(problem, "c_flag", rounds=rounds, **options)


def test_the_weights_of_a_resample_sum_to_one():
    weights = resampling(7, 3)
    assert weights.shape == (rate_statistics.RESAMPLES, 7)
    assert weights.sum(axis=1) == pytest.approx(np.ones(len(weights)))
    assert not np.array_equal(weights, resampling(7, 4))


@pytest.mark.parametrize("block", [1, 3, 4096])
def test_resampled_minima_and_means_block_by_block(monkeypatch, block):
    """Leaving out rounds that cannot be the least one changes no resample."""
    monkeypatch.setattr(rate_statistics, "_BLOCK", block)
    trace, weights = runs(40), resampling(6, 0)
    (short, long) = read([trace], [10, 40], beta=0.02, weights=weights, share=0.25)
    for found, T in ((short, 10), (long, 40)):
        for key, column in rate_statistics.QUANTITIES.items():
            drawn = weights @ trace.column(column)[:, :T]
            assert found.squares[key].min_resampled == pytest.approx(drawn.min(axis=1))
            assert found.squares[key].mean_resampled == pytest.approx(drawn.mean(axis=1))


def test_a_prefix_reads_as_a_run_of_its_own():
    weights = resampling(6, 0)
    (short, _) = read([runs(40)], [10, 40], beta=0.02, weights=weights, share=0.25)
    (alone,) = read([runs(10)], [10], beta=0.02, weights=weights, share=0.25)
    assert short == alone


def test_the_distance_between_memory_and_current_gradient():
    """From three norms: with an even share it is the parallelogram law."""
    problem = random_quadratic(clients=2, components=3, dimension=3, seed=4)
    trace = simulate(
        problem,
        "c_flag",
        alpha=0.05,
        beta=0.02,
        local_steps=1,
        rounds=3,
        memory=uniform(3),
        replicas=2,
        iterates=True,
    )
    (found,) = read([trace], [3], beta=0.02, weights=resampling(2, 0), share=0.5)
    v, g, h = (trace.column(name) for name in ("grad_memory2", "grad_g2", "grad_h2"))
    apart = 2 * v + 2 * g - 4 * h
    assert found.delta2 == pytest.approx(apart.mean())
    assert found.omega2 == pytest.approx(apart.max() / 4)


def test_a_run_that_diverges_at_once_has_nothing_to_read():
    problem = random_quadratic(clients=1, components=1, dimension=2, seed=4)
    trace = simulate(
        problem,
        "c_flag",
        alpha=1e150,
        beta=1e150,
        local_steps=2,
        rounds=3,
        memory=uniform(1),
        replicas=2,
        throw=False,
    )
    assert trace.rounds == 0
    with pytest.raises(Diverged, match="diverged in round 0"):
        read([trace], [3], beta=1.0, weights=resampling(2, 0), share=0.5)


def law(values, *, noise=0.0, first=1.0):
    rng = np.random.default_rng(0)
    drawn = np.asarray(values)[:, None] * np.exp(noise * rng.standard_normal((len(values), 400)))
    return fit(HORIZONS[: len(values)], values, drawn, first=first)


@pytest.mark.parametrize("power", [-1.0, -0.5, -0.25])
def test_a_power_law_is_fitted_over_its_whole_range(power):
    found = law([3.0 * T**power for T in HORIZONS])
    assert found.slope == pytest.approx(power)
    assert (found.first, found.last, found.floor) == (16, HORIZONS[-1], None)
    assert (found.shows, found.near) == ("slope", power if power < -0.25 else None)


def test_few_horizons_and_wide_intervals_show_no_slope():
    assert law([3.0 / T for T in HORIZONS[:3]]).shows == "few"
    assert what_shows(-0.74, (-1.11, -0.36), None, 5) == ("open", None)
    assert what_shows(-0.93, (-1.02, -0.8), None, 5) == ("slope", -1.0)
    assert what_shows(-0.02, (-0.05, 0.01), 0.3, 5) == ("floor", None)


def test_a_transient_is_left_out():
    found = law([T**-1.0 * (1 + 50 * math.exp(-T / 40)) for T in HORIZONS])
    assert found.slope == pytest.approx(-1, abs=0.05)
    assert found.first >= 256


def test_where_a_decay_gives_way_to_a_floor_the_floor_is_fitted():
    found = law([1 / T + 0.02 for T in HORIZONS])
    assert found.floor == pytest.approx(1 / HORIZONS[-1] + 0.02)
    assert -0.05 < found.slope <= 0
    assert found.first >= 256


def test_noise_keeps_the_range_long_and_the_interval_covers():
    found = law([T**-0.5 * (1.1 if k % 2 else 0.9) for k, T in enumerate(HORIZONS)], noise=0.2)
    assert found.first == 16
    assert found.interval[0] < -0.5 < found.interval[1]


def test_values_at_rounding_are_not_fitted():
    falling = [4.0**-k for k in range(4)]
    found = law([*falling, 1e-30, 1e-31])
    assert (found.first, found.last) == (16, 128)
    assert found.slope == pytest.approx(-2)
    assert law([1.0, 1e-30, 1e-31]) is None
    assert law([0.0, 0.0], first=0.0) is None


def test_interval():
    assert interval(np.linspace(0, 1, 1001)) == pytest.approx((0.025, 0.975))
