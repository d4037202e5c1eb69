"""The noisy quadratic model: a planted entry changes each verdict, and two codes agree."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from rows import alone, parts_of, points_of

from cflag_theory.claims.cfl import published as model
from cflag_theory.claims.ledger import claim
from cflag_theory.kernels.cfl.moments import responses
from cflag_theory.kernels.cfl.round_weights import RoundWeights
from cflag_theory.verify.checks.cfl import experiments_quadratic_model as check


def test_the_printed_gradient_would_hold_with_one_half():
    """Planted: the coordinates of w^T A w/2 + B^T w make the printed loss vanish at the minimiser."""
    printed = claim("cfl.nqm_gradient").parts[1].repair.statement
    assert alone("cfl.nqm_gradient", "2", printed).verdict == "holds"


def plant(monkeypatch, method, column, rate):
    monkeypatch.setattr(check, "PRINTED", {**model.PRINTED, (method, column): rate})


def test_higher_rates_of_cfl_would_make_the_sentence_true(monkeypatch):
    changed = {key: "0.1" if key == ("CFL", "SRD LL-GC") else rate for key, rate in model.PRINTED.items()}
    changed["CFL", "SRD SL-GC"] = "0.36"
    monkeypatch.setattr(check, "PRINTED", changed)
    assert parts_of("cfl.nqm_table3")["1"] == "holds"


def test_a_tie_with_big_drift_breaks_the_repair(monkeypatch):
    plant(monkeypatch, "FedProx", "BRD SL-GC", "0.30")
    assert parts_of("cfl.nqm_table3")["1"] == "false"


@pytest.mark.parametrize("rate", ["0.1", "0.04"])
def test_the_count_of_unstable_rates_sees_one_entry(monkeypatch, rate):
    plant(monkeypatch, "FedAvg", "SRD LL-SC", rate)
    expected = (
        {"1": "holds", "2": "false", "3": "holds"} if rate == "0.1" else {"1": "holds", "2": "holds", "3": "false"}
    )
    assert parts_of("ours.cfl_nqm_rates") == expected


@pytest.mark.parametrize(
    "weights", [RoundWeights("current"), RoundWeights("uniform"), RoundWeights("lemma B.4", D2=2, R2=1)]
)
def test_the_exact_recursion_is_the_kernels(weights):
    """Two codes, one on fractions and one on floats."""
    rho, rounds = Fraction(2, 5), 7
    exact = check.recursion(weights, rounds, rho)
    floats = responses([1.0], [float(1 - rho)], rounds=rounds, weights=weights)
    names = ("start", "loss", "client", "time", "loss_noise", "step_noise")
    for name, value in zip(names, exact, strict=True):
        assert getattr(floats, name)[0, -1, 0] == pytest.approx(float(value), rel=1e-12)


def test_the_polynomials_of_the_counterexamples_are_the_kernels():
    lost = Fraction(1, 100)
    polynomial = check.loss(RoundWeights("uniform"), rounds=3, D2=check.BIG, clients=5, u0=Fraction(2), lost=lost)
    found = responses([1.0], [0.3], rounds=3, weights=RoundWeights("uniform"))
    sizes = {"client": 0.01, "time": 100.0, "step_noise": 1e-5, "loss_noise": 1e-5}
    variance = sum(getattr(found, name)[0, -1, 0] * size / 5 for name, size in sizes.items())
    mean = 2 * found.start[0, -1, 0] + 0.01 * found.loss[0, -1, 0]
    assert float(polynomial.eval(sp.Rational(3, 10))) == pytest.approx(mean**2 + variance, rel=1e-10)


def test_a_counterexample_at_best_rates_must_be_one():
    """From far away CFL has the smaller best loss, and Sturm's theorem finds no counterexample."""
    far = {"rounds": 2, "D2": check.BIG, "clients": 5, "u0": Fraction(40)}
    cfl, fedavg = check.loss(check.UNIFORM, **far), check.loss(check.CURRENT, **far)
    grid = np.arange(1, 200) / 100
    assert min(cfl.eval(float(x)) for x in grid) < min(fedavg.eval(float(x)) for x in grid)
    assert list(check._everywhere("1", cfl, fedavg, "far", ("CFL", "FedAvg"))) == []
    assert not check.never_below(sp.Poly(check.eta**2, check.eta), sp.S.Zero)
    assert not check.never_below(sp.Poly(check.eta**3 + 5, check.eta), sp.S.Zero)
    assert check.never_below(sp.Poly(check.eta**2, check.eta), -sp.S.One)


def test_every_story_of_ours_is_exact():
    for point in points_of("ours.cfl_nqm_decaying"):
        assert all(sp.sympify(value).is_Rational for value in point.values.values())
