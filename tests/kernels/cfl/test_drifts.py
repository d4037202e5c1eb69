"""Drifts have the moments of Assumptions 2, 3, 6 and 7; windows hold what they say."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from worlds import exact_world, world

from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.kernels import Drift, Windows, algorithm, evolving, fresh, noisy_quadratic, pointer, simulate, subsets
from cflag_theory.kernels.cfl import drifts
from cflag_theory.kernels.cfl.windows import KINDS, choose, draw_window, longest
from cflag_theory.kernels.draws import CLIENT_DRIFT, NOISE, PARTICIPANTS

SAMPLES, ROUNDS, D, F, ALPHA = 10_000, 3, 2.0, 1.5, 0.7


def time_drifts(law, correlation, d=3):
    """xi of the first rounds for many clients, (samples, rounds, d)."""
    law_code, code = drifts.LAWS.index(law), drifts.CORRELATIONS.index(correlation)
    out = np.empty((SAMPLES, ROUNDS, d))
    for i in range(SAMPLES):
        xi, scratch = np.zeros(d), np.zeros(d)
        for t in range(ROUNDS):
            drifts.time_drift(law_code, code, 7, 0, i, t, D, F, F / D, ALPHA, xi, scratch)
            out[i, t] = xi
    return out


COVARIANCES = {
    "independent": lambda t, s: 0.0,
    "common": lambda t, s: F**2,
    "geometric": lambda t, s: ALPHA ** abs(t - s) * D**2,
}


def assert_mean(samples, expected):
    """The mean of independent samples is the expected one, within five standard errors."""
    error = samples.std(axis=0) / np.sqrt(len(samples))
    assert (np.abs(samples.mean(axis=0) - expected) <= 5 * error + 1e-12).all()


@pytest.mark.parametrize("law", drifts.LAWS)
@pytest.mark.parametrize("correlation", drifts.CORRELATIONS)
def test_time_drifts_have_mean_zero_and_the_covariances_of_the_assumptions(law, correlation):
    xi = time_drifts(law, correlation)
    for t in range(ROUNDS):
        assert_mean(xi[:, t], 0.0)
        assert_mean((xi[:, t] ** 2), D**2 / 3)
        for s in range(t):
            assert_mean((xi[:, t] * xi[:, s]).sum(axis=1), COVARIANCES[correlation](t, s))


@pytest.mark.parametrize("correlation", drifts.CORRELATIONS)
def test_signs_have_the_same_correlations(correlation):
    C, A = 1.5, 2.0
    code = drifts.CORRELATIONS.index(correlation)
    signs = np.empty((SAMPLES, ROUNDS))
    for i in range(SAMPLES):
        previous = 1
        for t in range(ROUNDS):
            # Under Assumption 6 the common sign is taken in both rounds with probability (C / A)^2.
            previous = drifts.time_sign(code, 3, 0, i, t, C / A, ALPHA, previous)
            signs[i, t] = previous
    expected = {"independent": lambda t, s: 0.0, "common": lambda t, s: (C / A) ** 2}
    expected["geometric"] = lambda t, s: ALPHA ** abs(t - s)
    for t in range(ROUNDS):
        assert_mean(signs[:, t], 0.0)
        for s in range(t):
            assert_mean(signs[:, t] * signs[:, s], expected[correlation](t, s))


@pytest.mark.parametrize("law", drifts.LAWS)
@pytest.mark.parametrize("d", [1, 2, 4, 7])
def test_vectors_are_isotropic_with_the_stated_mean_square(law, d):
    out = np.empty((SAMPLES, d))
    for i in range(SAMPLES):
        drifts.fill_vector(drifts.LAWS.index(law), 5, NOISE, 0, 0, i // 50, i % 50, 3.0, out[i])
    assert_mean(out, 0.0)
    assert_mean(out**2, 9.0 / d)
    for a in range(d):
        for b in range(a):
            assert_mean(out[:, a] * out[:, b], 0.0)
            assert_mean(out[:, a] ** 2 * out[:, b] ** 2, 0.0 if law == "sign" else 81.0 / d**2)
    if law == "sign":
        assert (np.count_nonzero(out, axis=1) == 1).all()
    else:
        assert_mean(out**4, 3 * 81.0 / d**2)
        assert len(np.unique(out)) == out.size


def test_the_sign_law_stays_rational():
    out = np.array([Fraction(1)] * 3, dtype=object)
    drifts.fill_vector(1, 5, CLIENT_DRIFT, 0, 0, 0, 0, Fraction(2, 3), out)
    assert sorted(map(abs, out)) == [0, 0, Fraction(2, 3)]
    assert all(type(value) is Fraction for value in out)
    xi = np.array([Fraction(0)] * 3, dtype=object)
    drifts.time_drift(1, 2, 5, 0, 0, 1, Fraction(2, 3), 0, 0, Fraction(1, 2), xi, xi.copy())
    assert all(type(value) is Fraction for value in xi)


@pytest.mark.parametrize(
    ("dials", "error", "message"),
    [
        ({"law": "uniform"}, UnknownName, "use one of normal, sign"),
        ({"correlation": "ar"}, UnknownName, "use one of independent, common, geometric"),
        ({"G": -1}, InvalidInput, "G is -1"),
        ({"sigma": float("inf")}, InvalidInput, "sigma is inf"),
        ({"D": True}, InvalidInput, "D is True"),
        ({"D": 2, "F": 1}, InvalidInput, "correlation='common'"),
        ({"alpha": 0.5}, InvalidInput, "correlation='geometric'"),
        ({"D": 1, "F": 2, "correlation": "common"}, InvalidInput, "no drifts have F > D"),
        ({"A": 1, "C": 2, "correlation": "common"}, InvalidInput, "no drifts have F > D or C > A"),
        ({"alpha": 1, "correlation": "geometric"}, InvalidInput, "a number below 1"),
        ({"stateless": 1}, InvalidInput, "True or False"),
    ],
)
def test_bad_drifts(dials, error, message):
    with pytest.raises(error, match=message):
        Drift(**dials)


def window(rule, client, t, *, n=10, clients=3, seed=0):
    out = np.empty(n * clients, dtype=np.int64)
    order = np.empty(n * clients, dtype=np.int64)
    kind = KINDS.index(rule.kind)
    length = draw_window(kind, rule.size, rule.shift, rule.count, seed, 0, client, t, client * n, n, order, out)
    return out[:length].tolist()


def test_a_pointer_moves_overlaps_and_returns():
    rounds = [window(pointer(4, 3), 1, t) for t in range(5)]
    assert rounds == [[10, 11, 12, 13], [13, 14, 15, 16], [16, 17, 18, 19], [10, 11, 12, 13], [13, 14, 15, 16]]
    assert all(len({*a} & {*b}) == 1 for a, b in pairwise(rounds[:3]))
    # A move of the window's size leaves no overlap before the pointer returns, and no move is not a change.
    assert window(pointer(4, 4), 0, 1) == [4, 5, 6, 7]
    assert window(pointer(4, 4), 0, 2) == [0, 1, 2, 3]
    assert window(pointer(4, 0), 0, 5) == [0, 1, 2, 3]
    assert window(pointer(10, 3), 0, 1) == list(range(10))
    assert window(Windows(), 2, 9) == list(range(20, 30))


def test_subsets_are_disjoint_and_cover_the_data():
    seen = {tuple(window(subsets(3), 1, t)) for t in range(60)}
    assert sorted(len(one) for one in seen) == [3, 3, 4]
    assert sorted(j for one in seen for j in one) == list(range(10, 20))


def test_fresh_data_come_from_all_clients_without_repetition():
    rounds = [window(fresh(7), client, t) for client in range(3) for t in range(40)]
    assert all(len(set(one)) == 7 for one in rounds)
    counts = np.bincount(np.concatenate(rounds), minlength=30)
    assert (np.abs(counts - 28) <= 5 * np.sqrt(28)).all()
    assert len({tuple(one) for one in rounds}) == len(rounds)


def test_choices_are_uniform_over_subsets():
    counts = {}
    for t in range(3000):
        order = np.arange(5)
        choose(1, PARTICIPANTS, 0, 0, t, order, 5, 2)
        key = frozenset(order[:2].tolist())
        counts[key] = counts.get(key, 0) + 1
    assert len(counts) == 10
    assert all(abs(count - 300) <= 5 * np.sqrt(300 * 0.9) for count in counts.values())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pointer(0, 1), "size of the windows is 0"),
        (lambda: pointer(3, -1), "shift is -1: use an integer of at least 0"),
        (lambda: subsets(0), "count of the windows is 0"),
        (lambda: fresh(2.5), "size is 2.5: use an integer"),
        (lambda: Windows("pointers"), "use one of all, pointer, subsets, fresh"),
        (lambda: Windows("subsets", count=2, size=3), "size is not a dial"),
        (lambda: evolving(world(0), windows=pointer(5, 1)), "take 5 components and a client has 4"),
        (lambda: evolving(world(0), windows=subsets(5)), "5 subsets of the 4"),
        (lambda: evolving(world(0), windows=fresh(13)), "take 13 components and there are 12"),
        (lambda: evolving(world(0)), "without windows and drift"),
        (lambda: evolving(world(0), windows="all"), "windows is 'all': use a Windows or None"),
        (lambda: evolving(world(0), drift=0.1), "drift is 0.1"),
        (lambda: evolving(exact_world(0), drift=Drift(D=1)), r"Drift\(law='sign'\)"),
        (lambda: noisy_quadratic(mu=6.0), "mu is 6.0 and L is 5.0: use mu <= L"),
        (lambda: noisy_quadratic(spectrum="log"), "use one of linear, geometric"),
        (lambda: noisy_quadratic(spectrum="geometric", mu=0.0), "no eigenvalue 0"),
        (lambda: noisy_quadratic(distance=-1.0), "distance is -1.0"),
    ],
)
def test_bad_windows_and_problems(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()


def test_longest_windows():
    ragged = world(3, n=6, ragged=True).current
    assert longest(Windows(), ragged.counts) == ragged.counts.max()
    assert longest(subsets(1), ragged.counts) == ragged.counts.max()
    assert longest(fresh(2), ragged.counts) == 2


@pytest.mark.parametrize(("spectrum", "mu"), [("linear", 0.0), ("geometric", 1.0), ("ends", 1.0), ("uniform", 0.5)])
def test_the_noisy_quadratic_model_is_what_it_says(spectrum, mu):
    problem = noisy_quadratic(dimension=6, clients=3, L=4.0, mu=mu, spectrum=spectrum, distance=2.0, seed=1)
    rows, weights = problem.current.rows[:6], problem.current.weights[:6]
    eigenvalues = np.linalg.eigvalsh((rows.T * weights) @ rows)
    assert eigenvalues[0] == pytest.approx(mu, abs=1e-12)
    assert eigenvalues[-1] == pytest.approx(4.0)
    assert problem.constants["L"].value == pytest.approx(4.0)
    # grad f(w_0) = H (w_0 - w*), whose coordinates are eigenvalues times distance.
    trace = simulate(problem, "fedavg", beta=0.01, local_steps=1, rounds=1)
    assert trace.column("grad_f2")[0, 0] == pytest.approx(np.sum((2 * eigenvalues) ** 2))
    assert trace.column("f") == pytest.approx(trace.column("g"), rel=1e-13)


def test_a_long_run_that_forgets_fits_into_memory():
    problem = noisy_quadratic(dimension=2, clients=2)
    run = {"beta": 0.01, "local_steps": 1, "rounds": 20_000, "diagnostics": "none"}
    with pytest.raises(InvalidInput, match="GiB: keep fewer by window="):
        simulate(problem, "cfl", **run)
    assert simulate(problem, algorithm("cfl", window=40), **run).ok
