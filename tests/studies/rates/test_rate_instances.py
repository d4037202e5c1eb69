"""Instances with a closed form: the runs meet it, and the claims that they illustrate say what happens."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cflag_theory.claims.ledger import claim
from cflag_theory.cli.commands.rate import NAMES
from cflag_theory.errors import UnknownName
from cflag_theory.kernels import simulate
from cflag_theory.studies.rates.instances import INSTANCES, instance_rate

HORIZONS = tuple(2**k for k in range(4, 11))
#: No draws, so that the runs are the closed form; the other instances average over draws of the memory.
WITHOUT_DRAWS = ("one-over-T", "floor-beta", "no-assumption-3")


@pytest.fixture(scope="module")
def studies():
    return {name: instance_rate(name, horizons=HORIZONS, replicas=64) for name in INSTANCES}


@pytest.mark.parametrize("name", INSTANCES)
def test_every_instance_names_a_claim_of_the_ledger(name, studies):
    assert claim(INSTANCES[name].claim).id == INSTANCES[name].claim == studies[name].exact.claim
    assert studies[name].title == studies[name].exact.name == name
    assert studies[name].m == INSTANCES[name].m


def test_the_command_line_knows_all_of_them():
    assert tuple(INSTANCES) == NAMES


@pytest.mark.parametrize("name", WITHOUT_DRAWS)
def test_measured_values_are_the_closed_form(name, studies):
    study = studies[name]
    assert study.min_mean == pytest.approx(study.exact.least, rel=1e-9)
    assert study.curves["f"].mean == pytest.approx(study.exact.mean, rel=1e-9)


@pytest.mark.parametrize("name", ["floor-m", "alpha-diverges"])
def test_every_replica_follows_the_closed_form_of_its_memory(name):
    """The mean over memories is the closed form, and each run is that of one memory."""
    one, T = INSTANCES[name], 12
    problem, beta = one.problem(), one.c / math.sqrt(T)
    alpha = one.alpha_factor / (problem.constants["L"].value * (1 + one.m))
    trace = simulate(
        problem,
        "c_flag",
        alpha=alpha,
        beta=beta,
        local_steps=one.local_steps,
        rounds=T,
        memory=one.memory,
        replicas=64,
    )
    squares = trace.column("grad_f2")
    memories = np.unique(np.round(squares, 12), axis=0)
    assert len(memories) == {"floor-m": 4, "alpha-diverges": 2}[name]
    wanted = one.squares(np.arange(T), alpha, beta, one.local_steps)
    assert memories.mean(axis=0) == pytest.approx(wanted, abs=1e-10)


@pytest.mark.parametrize("name", ["floor-m", "alpha-diverges"])
def test_the_band_covers_the_closed_form(name, studies):
    study = studies[name]
    assert all(low <= value <= high for (low, high), value in zip(study.band, study.exact.least, strict=True))


def test_fresh_signs_average_to_the_closed_form():
    """Moments of x_t over 4000 replicas, within five standard errors in every round."""
    one, T = INSTANCES["redrawn"], 16
    trace = simulate(
        one.problem(),
        "c_flag",
        alpha=0.5,
        beta=one.c / 4,
        local_steps=1,
        rounds=T,
        memory=one.memory,
        replicas=4000,
    )
    squares = trace.column("grad_f2")
    wanted = one.squares(np.arange(T), 0.5, one.c / 4, 1)
    error = squares.std(axis=0) / math.sqrt(4000)
    assert (abs(squares.mean(axis=0) - wanted) <= 5 * error + 1e-12).all()


def test_the_rate_is_exactly_one_over_T(studies):
    study = studies["one-over-T"]
    rest = (study.c * study.E / study.alpha) ** 2
    assert study.exact.least == pytest.approx([rest / T for T in HORIZONS])
    assert study.slope == pytest.approx(-1, abs=1e-9)
    below = next(bound for bound in study.bounds if bound.of == "below")
    assert below.claim == "ours.drawn_once_rate"
    assert study.min_mean == pytest.approx(below.values)


def test_one_draw_in_four_keeps_a_floor(studies):
    study = studies["floor-m"]
    assert all(value >= 1 / 36 for value in study.exact.least)
    assert study.exact.least[-1] == pytest.approx(1 / 36, rel=0.1)
    assert min(study.min_mean) >= 1 / 36 / 2
    assert study.slope > -0.3
    # What Theorem 2 claims without its missing hypothesis goes to zero.
    assert study.theorem2[-1] < study.min_mean[-1] / 10


def test_constant_beta_keeps_a_floor(studies):
    study = studies["floor-beta"]
    floor = study.curves["f"].fit.floor
    assert floor == pytest.approx((study.c * study.E / study.alpha) ** 2)
    assert study.c == pytest.approx(1 / (60 * study.L * study.E))


def test_without_assumption_3_the_rate_is_met_all_the_same(studies):
    study = studies["no-assumption-3"]
    assert study.r_met == math.inf
    assert study.slope == pytest.approx(-1, abs=0.08)
    assert next(b for b in study.bounds if b.claim == "cflag.thm5 (163)").values == (None,) * len(HORIZONS)


def test_drawn_anew_the_rate_returns_for_m_of_one(studies):
    study = studies["redrawn"]
    assert study.m == 1.0
    assert study.curves["f"].mean_fit.slope == pytest.approx(-1, abs=0.1)
    assert next(b for b in study.bounds if b.claim == "ours.redrawn").proved


def test_within_the_printed_range_of_alpha_a_run_diverges(studies):
    study = studies["alpha-diverges"]
    assert study.alpha < 2 / (study.L * (1 + study.m))
    assert study.curves["f"].mean[1] > 100
    longest = instance_rate("alpha-diverges", horizons=(16, 2048), replicas=8)
    assert 0 < longest.diverged[1] < 8
    assert longest.curves["f"].mean[1] is None


def test_an_unknown_instance():
    with pytest.raises(UnknownName, match="instance 'nosuch' is unknown: use one of one-over-T, floor-m"):
        instance_rate("nosuch")
