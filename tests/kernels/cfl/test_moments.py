"""Exact moments of Algorithm 2 on the noisy quadratic model: by hand, by draws, and by the simulator's own noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from needs import quick
from scipy.special import gamma
from scipy.stats import foldnorm

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.cfl.moments import expected_norm, moments, responses
from cflag_theory.kernels.cfl.round_weights import RoundWeights

LAM = np.array([0.0, 1.0, 2.0, 5.0])
START = np.array([1.0, 2.0, -1.0, 0.5])
SIZES = {"clients": 3, "G2": 0.5, "D2": 2.0, "sigma2": 0.3}
CASES = {
    "fedavg": (None, 0.0, 0.0),
    "fedprox": (None, 0.7, 0.0),
    "equal past weights": (RoundWeights("lemma B.4", D2=1.0, R2=0.3), 0.0, 0.1),
    "unequal past weights": (RoundWeights("correlated", D2=1.0, R2=0.3, alpha=0.6), 0.0, 0.1),
    "window": (RoundWeights("uniform", window=2), 0.0, 0.1),
}


def drawn(weights, proximal, lost, *, eta, K=4, T=6, rate=0.9, runs=40_000, stateless=False):
    """Algorithm 2 step by step with drawn drifts, (runs, d) at the end."""
    rng, N, d = np.random.default_rng(1), SIZES["clients"], len(LAM)

    def normal(square):
        return rng.normal(size=(runs, N, d)) * np.sqrt(square / d)

    x, delta, xi, iota = np.tile(START, (runs, 1)), [], [], []
    weights = weights or RoundWeights("current")
    for t in range(1, T + 1):
        p = weights.at(t).astype(float)
        delta.append(normal(SIZES["G2"]) if stateless or t == 1 else delta[0])
        xi.append(normal(SIZES["D2"]))
        iota.append(lost + np.sqrt(lost / 1000) * rng.normal(size=(runs, N, d)))
        drift = sum(p[s] * (delta[s] + xi[s]) for s in range(t)) + sum(p[s] * iota[s] for s in range(t - 1))
        y = np.repeat(x[:, None], N, axis=1)
        for _ in range(K):
            y = y - eta * (LAM * y + drift + normal(SIZES["sigma2"]) + proximal * (y - x[:, None]))
        x = x + rate * (y.mean(axis=1) - x)
    return x


@pytest.mark.parametrize("stateless", [False, True])
@pytest.mark.parametrize("case", quick(CASES, of=2))
def test_moments_are_those_of_drawn_runs(case, stateless):
    weights, proximal, lost = CASES[case]
    options = {"local_steps": 4, "rounds": 6, "server_rate": 0.9}
    answers = responses(LAM, [0.2], weights=weights, proximal=proximal, **options)
    exact = moments(answers, START, **SIZES, information_loss=lost, stateless=stateless)
    x = drawn(weights, proximal, lost, eta=0.2, stateless=stateless)
    mean, variance = exact.mean[0, -1], exact.variance[0, -1]
    # Five standard errors; the seed is fixed.
    assert (np.abs(x.mean(axis=0) - mean) <= 5 * np.sqrt(variance / len(x))).all()
    assert (np.abs(x.var(axis=0) - variance) <= 5 * variance * np.sqrt(2 / len(x))).all()
    norms = np.linalg.norm(LAM * x, axis=1)
    assert abs(norms.mean() - exact.norm()[0, -1]) <= 5 * norms.std() / np.sqrt(len(x))


@pytest.mark.parametrize("weights", [RoundWeights("uniform"), RoundWeights("lemma B.4", D2=2, R2=1)])
def test_two_sums_do_what_all_sensitivities_do(weights):
    """Equal past weights take the short way; the same weights with a negligible difference take the long one."""
    rows = [[float(v) for v in weights.at(t)] for t in range(1, 9)]
    for row in rows[2:]:
        row[0] += 1e-13
        row[1] -= 1e-13
    steps = np.array([0.05, 0.3])
    short = responses(LAM, steps, rounds=8, local_steps=2, weights=weights)
    long = responses(LAM, steps, rounds=8, local_steps=2, weights=RoundWeights("given", given=rows))
    for name in ("start", "loss", "client", "time", "loss_noise", "step_noise"):
        np.testing.assert_allclose(getattr(short, name), getattr(long, name), rtol=1e-10, atol=1e-14)


def test_two_rounds_by_hand():
    """lambda = 1, K = 1: u_2 = rho^2 u_0 - eta ((rho + 1/2) xi_1 + xi_2/2 + iota_1/2) - (1 - rho^2) delta - noises."""
    eta = Fraction(3, 10)
    rho = 1 - eta
    answers = responses([1.0], [float(eta)], rounds=2, weights=RoundWeights("uniform"))
    half = Fraction(1, 2)
    expected = {
        "start": rho**2,
        "loss": -eta * half,
        "client": (1 - rho**2) ** 2,
        "time": eta**2 * ((rho + half) ** 2 + half**2),
        "loss_noise": (eta * half) ** 2,
        "step_noise": eta**2 * (1 + rho**2),
    }
    for name, value in expected.items():
        assert getattr(answers, name)[0, 2, 0] == pytest.approx(float(value), rel=1e-14)


def test_each_cause_enters_with_its_own_size():
    """Sizes are of vectors and spread over d coordinates and N clients; I is of each coordinate."""
    answers = responses([1.0, 3.0], [0.2], rounds=4, local_steps=2, weights=RoundWeights("uniform"))
    shares = {
        "G2": (answers.client, 1 / (2 * 5)),
        "D2": (answers.time, 1 / (2 * 5)),
        "sigma2": (answers.step_noise, 1 / (2 * 5)),
        "information_loss": (answers.loss_noise, 1 / (1000 * 5)),
    }
    for name, (response, share) in shares.items():
        found = moments(answers, [0.0, 0.0], clients=5, **{name: 0.7})
        np.testing.assert_allclose(found.variance, 0.7 * share * response, rtol=1e-14)
        shift = 0.7 * answers.loss if name == "information_loss" else 0.0 * answers.loss
        np.testing.assert_allclose(found.mean, shift, atol=1e-15)


def test_steps_may_change_from_round_to_round():
    """FedAvg with steps 1/t on f = ||w||^2/2 is the mean of all drifts, as CFL with step 1 is."""
    T = 12
    fedavg = responses([1.0], 1 / np.arange(1, T + 1)[None, :], rounds=T)
    cfl = responses([1.0], [1.0], rounds=T, weights=RoundWeights("uniform"))
    t = np.arange(1, T + 1)
    for answers in (fedavg, cfl):
        np.testing.assert_allclose(answers.time[0, 1:, 0], 1 / t, rtol=1e-12)
        np.testing.assert_allclose(answers.start[0, 1:, 0], 0, atol=1e-15)
        np.testing.assert_allclose(answers.client[0, 1:, 0], 1, rtol=1e-12)


def test_special_cases_coincide():
    steps = [0.1]
    fedavg = responses(LAM, steps, rounds=5, local_steps=3)
    same = {
        "proximal 0": responses(LAM, steps, rounds=5, local_steps=3, proximal=0.0),
        "current": responses(LAM, steps, rounds=5, local_steps=3, weights=RoundWeights("lemma B.4", R2=1)),
    }
    for other in same.values():
        np.testing.assert_array_equal(fedavg.time, other.time)
        np.testing.assert_array_equal(fedavg.start, other.start)
    # The first local step starts at w_t, where the proximal term has no gradient.
    one = responses(LAM, steps, rounds=5, proximal=3.0)
    np.testing.assert_allclose(one.start, responses(LAM, steps, rounds=5).start, rtol=1e-12)


def test_a_rate_that_diverges_is_infinitely_bad():
    answers = responses([0.0, 5.0], [0.1, 50.0], rounds=400, local_steps=5)
    found = moments(answers, [1.0, 1.0], clients=1, D2=1.0)
    assert np.isfinite(found.norm()[0]).all()
    assert found.norm()[1, -1] == np.inf
    assert found.square()[1, -1] == np.inf


@pytest.mark.parametrize("d", [1, 2, 7, 40])
def test_expected_norm_of_isotropic_normals(d):
    chi = np.sqrt(6) * gamma((d + 1) / 2) / gamma(d / 2)
    assert expected_norm(np.zeros((1, d)), np.full((1, d), 3.0))[0] == pytest.approx(chi, rel=1e-8)


@given(mean=st.floats(-5, 5), deviation=st.floats(0.01, 3))
def test_expected_norm_in_one_dimension_is_folded(mean, deviation):
    exact = foldnorm.mean(abs(mean) / deviation, scale=deviation)
    assert expected_norm(np.array([mean]), np.array([deviation**2])) == pytest.approx(exact, rel=1e-7)


def test_expected_norm_without_variance_or_with_too_much():
    mean = np.array([[3.0, 4.0], [0.0, 0.0], [np.inf, 0.0]])
    found = expected_norm(mean, np.zeros((3, 2)))
    assert found[0] == pytest.approx(5, rel=1e-8)
    assert list(found[1:]) == [0, np.inf]


def test_expected_norm_of_a_skew_law_by_draws():
    mean, variance = np.array([0.3, 0.0, 2.0]), np.array([4.0, 0.01, 0.5])
    draws = np.linalg.norm(mean + np.sqrt(variance) * np.random.default_rng(2).normal(size=(200_000, 3)), axis=1)
    assert abs(draws.mean() - expected_norm(mean, variance)) <= 5 * draws.std() / np.sqrt(len(draws))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"eigenvalues": [-1.0]}, "eigenvalues"),
        ({"eigenvalues": []}, "eigenvalues"),
        ({"eigenvalues": [np.nan]}, "NaN"),
        ({"steps": [[0.1, 0.2]]}, r"shape \(1, 2\)"),
        ({"steps": [-0.1]}, "steps"),
        ({"steps": []}, "steps"),
        ({"rounds": 0}, "rounds is 0"),
        ({"rounds": 30_000_000}, "use at most 20000000"),
        ({"local_steps": 1.5}, "local_steps is 1.5"),
        ({"proximal": -1.0}, "proximal is -1.0"),
        ({"server_rate": np.inf}, "server_rate is inf"),
        ({"weights": RoundWeights("given", given=[[1]])}, "round 2 has no row"),
    ],
)
def test_what_responses_refuses(change, message):
    valid = {"eigenvalues": [1.0], "steps": [0.1], "rounds": 3}
    with pytest.raises(InvalidInput, match=message):
        responses(**{**valid, **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start": [1.0, 2.0]}, "start has shape"),
        ({"clients": 0}, "clients is 0"),
        ({"D2": -1.0}, "D2 is -1.0"),
        ({"information_loss": np.nan}, "information_loss is nan"),
    ],
)
def test_what_moments_refuses(change, message):
    answers = responses([1.0], [0.1], rounds=2)
    with pytest.raises(InvalidInput, match=message):
        moments(answers, **{"start": [1.0], "clients": 1, **change})
