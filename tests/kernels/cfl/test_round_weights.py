"""The weights of past rounds: the minimiser of what Lemma B.4 and Theorem 4.9 minimise, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.kernels.cfl.round_weights import SCHEMES, RoundWeights

fractions = st.fractions(min_value=0, max_value=9, max_denominator=12)
positive = st.fractions(min_value=Fraction(1, 12), max_value=9, max_denominator=12)
correlations = st.fractions(min_value=0, max_value=Fraction(11, 12), max_denominator=12)
rounds = st.integers(min_value=1, max_value=9)


def covariance(t, D2, R2, alpha):
    """Q of (7), in the number type of its arguments."""
    Q = [[D2 * alpha ** abs(i - j) for j in range(t)] for i in range(t)]
    for i in range(t - 1):
        for j in range(t - 1):
            Q[i][j] += R2
    return Q


def gradient(Q, p):
    return [sum(q * value for q, value in zip(row, p, strict=True)) for row in Q]


@given(t=rounds, D2=positive, R2=fractions, alpha=correlations)
def test_correlated_weights_solve_the_linear_system(t, D2, R2, alpha):
    p = RoundWeights("correlated", D2=D2, R2=R2, alpha=alpha).at(t)
    assert sum(p) == 1
    assert len(set(gradient(covariance(t, D2, R2, alpha), p))) == 1


@given(t=rounds, D2=positive, R2=fractions, alpha=correlations)
def test_nonnegative_weights_satisfy_the_kkt_conditions(t, D2, R2, alpha):
    p = RoundWeights("nonnegative", D2=D2, R2=R2, alpha=alpha).at(t)
    slopes = gradient(covariance(t, D2, R2, alpha), p)
    assert sum(p) == 1
    assert min(p) >= 0
    assert {slope for slope, weight in zip(slopes, p, strict=True) if weight > 0} == {min(slopes)}


@given(t=rounds, D2=positive, R2=fractions)
def test_lemma_b4_is_the_system_without_correlation(t, D2, R2):
    lemma = RoundWeights("lemma B.4", D2=D2, R2=R2).at(t)
    assert list(lemma) == list(RoundWeights("correlated", D2=D2, R2=R2).at(t))
    past = D2 / (t * D2 + (t - 1) * R2)
    assert list(lemma) == [past] * (t - 1) + [1 - (t - 1) * past]


@given(t=rounds, D2=positive, R2=positive, F2=fractions)
def test_a_common_correlation_lowers_the_variance(t, D2, R2, F2):
    """(33): F2 counts as a smaller D2, down to weights on the current round alone."""
    weights = RoundWeights("lemma B.4", D2=D2, R2=R2, F2=F2).at(t)
    if F2 < D2:
        assert list(weights) == list(RoundWeights("lemma B.4", D2=D2 - F2, R2=R2).at(t))
    else:
        assert list(weights) == list(RoundWeights("current").at(t)) == [0] * (t - 1) + [1]


@given(t=rounds, D2=positive, R2=fractions, alpha=correlations, scheme=st.sampled_from(["correlated", "nonnegative"]))
def test_floats_agree_with_fractions(t, D2, R2, alpha, scheme):
    exact = RoundWeights(scheme, D2=D2, R2=R2, alpha=alpha)
    floats = RoundWeights(scheme, D2=float(D2), R2=float(R2), alpha=float(alpha))
    assert exact.exact
    assert not floats.exact
    assert floats.at(t).dtype == np.float64
    np.testing.assert_allclose(floats.at(t), exact.at(t).astype(float), atol=1e-11)


@pytest.mark.parametrize(("D2", "R2", "alpha"), [(1.0, 0.5, 0.8), (4.0, 0.25, 0.95), (0.01, 1.0, 0.99)])
def test_nonnegative_weights_against_a_solver(D2, R2, alpha):
    t = 12
    root = np.linalg.cholesky(np.array(covariance(t, D2, R2, alpha))).T
    # The row of a large weight stands for the constraint of sum one.
    system = np.vstack([root, np.full((1, t), 1e5)])
    solution, _ = nnls(system, np.append(np.zeros(t), 1e5))
    np.testing.assert_allclose(RoundWeights("nonnegative", D2=D2, R2=R2, alpha=alpha).at(t), solution, atol=1e-6)


def test_the_weights_of_table_2():
    """Row 4 of the printed table, whose columns D and R are read as D^2 and R^2."""
    weights = RoundWeights("correlated", D2=1, R2=Fraction(1, 2), alpha=Fraction(4, 5)).at(4)
    np.testing.assert_allclose(weights.astype(float), [0.3870, 0.0774, -0.2077, 0.7434], atol=5e-5)


@pytest.mark.parametrize(
    ("scheme", "dials", "t", "expected"),
    [
        ("uniform", {}, 4, [Fraction(1, 4)] * 4),
        ("current", {}, 3, [0, 0, 1]),
        ("lemma B.4", {"R2": 1}, 3, [0, 0, 1]),
        ("correlated", {"R2": 1, "alpha": Fraction(1, 2)}, 3, [0, 0, 1]),
        ("lemma B.4", {"D2": 1}, 3, [Fraction(1, 3)] * 3),
        ("given", {"given": [[1], [2, -1]]}, 2, [2, -1]),
    ],
)
def test_edge_cases(scheme, dials, t, expected):
    assert list(RoundWeights(scheme, **dials).at(t)) == expected


@pytest.mark.parametrize("scheme", [scheme for scheme in SCHEMES if scheme != "given"])
@pytest.mark.parametrize("t", [1, 3, 4, 7])
def test_a_window_solves_anew_for_the_latest_rounds(scheme, t):
    dials = {name: Fraction(1, 2) for name in SCHEMES[scheme] if name != "F2"}
    windowed, whole = RoundWeights(scheme, **dials, window=3), RoundWeights(scheme, **dials)
    kept = min(t, 4)
    assert list(windowed.at(t)) == [0] * (t - kept) + list(whole.at(kept))


def test_a_window_renormalises_given_rows():
    rows = [[1], [Fraction(1, 2)] * 2, [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]]
    assert list(RoundWeights("given", given=rows, window=1).at(3)) == [0, Fraction(1, 2), Fraction(1, 2)]
    empty = RoundWeights("given", given=[[1], [0, 1], [1, 1, -1]], window=1)
    with pytest.raises(InvalidInput, match="latest 2 rounds at round 3 sum to 0"):
        empty.at(3)


def test_extreme_floats_stay_finite():
    for D2, R2 in ((1e-320, 1.0), (1.0, 1e-320), (1e300, 1e300), (1e308, 1e-308)):
        weights = RoundWeights("correlated", D2=D2, R2=R2, alpha=0.5).at(50)
        assert np.isfinite(weights).all()
        assert weights.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("scheme", "dials", "message"),
    [
        ("lemma B.4", {}, "D2 is 0 and R2 is 0"),
        ("lemma B.4", {"D2": 1, "F2": 2}, "D2 is 1 and F2 is 2 and R2 is 0"),
        ("lemma B.4", {"D2": 1, "alpha": 0.5}, "alpha is 0.5 and round weights 'lemma B.4' do not read it"),
        ("uniform", {"D2": 1}, "D2 is 1"),
        ("correlated", {"D2": 1, "alpha": 1}, "alpha is 1: Assumption 7"),
        ("correlated", {"D2": -1}, "D2 is -1"),
        ("correlated", {"D2": float("nan")}, "D2 is nan"),
        ("correlated", {"D2": float("inf")}, "D2 is inf"),
        ("correlated", {"D2": "2"}, "D2 is '2'"),
        ("correlated", {"D2": True}, "D2 is True"),
        ("correlated", {"D2": 1, "window": 0}, "window is 0"),
        ("correlated", {"D2": 1, "window": 2.5}, "window is 2.5"),
        ("given", {}, "give both or neither"),
        ("uniform", {"given": [[1]]}, "give both or neither"),
        ("given", {"given": []}, "no rows"),
        ("given", {"given": [[1], [0.5, 0.4]]}, "row 2 .* sum 0.9"),
        ("given", {"given": [[1], [1]]}, "row 2 .* has 1 numbers"),
        ("given", {"given": [["1"]]}, r"given\[0\]\[0\] is '1': use a finite number"),
        ("given", {"given": [[float("nan")]]}, r"given\[0\]\[0\] is nan"),
    ],
)
def test_what_is_refused(scheme, dials, message):
    with pytest.raises(InvalidInput, match=message):
        RoundWeights(scheme, **dials)


def test_unknown_schemes_and_rounds():
    with pytest.raises(UnknownName, match="'correlated'"):
        RoundWeights("lemma b4")
    for t in (0, -1, 1.0, True):
        with pytest.raises(InvalidInput, match="rounds are counted from 1"):
            RoundWeights("uniform").at(t)
    with pytest.raises(InvalidInput, match="round 2 has no row among the 1 given"):
        RoundWeights("given", given=[[1]]).at(2)


@pytest.mark.parametrize(
    "weights",
    [
        RoundWeights("lemma B.4", D2=2, R2=Fraction(1, 3)),
        RoundWeights("lemma B.4", D2=2.5, R2=0.7, F2=1.0, window=3),
        RoundWeights("lemma B.4", D2=0, R2=1),
        RoundWeights("correlated", D2=1, R2=2, alpha=Fraction(4, 5)),
        RoundWeights("nonnegative", D2=1, R2=2, alpha=Fraction(4, 5)),
        RoundWeights("uniform", window=2),
        RoundWeights("current"),
        RoundWeights("given", given=[[1], [0.25, 0.75], [0, 0, 1], [0.1, 0.2, 0.3, 0.4], [0, 0, 0, 0, 1]]),
    ],
    ids=str,
)
def test_the_current_weight_is_the_last_of_its_round(weights):
    for t in range(1, 6):
        assert weights.current(t) == weights.at(t)[-1]
    with pytest.raises(InvalidInput, match="rounds are counted from 1"):
        weights.current(0)
