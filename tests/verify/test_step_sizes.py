"""Every step-size condition at its edge, just inside and just outside."""

from __future__ import annotations

import json
import math

import pytest

from cflag_theory.claims.cfl.step_sizes import CONDITIONS as CFL_CONDITIONS
from cflag_theory.claims.step_sizes import CONDITIONS
from cflag_theory.errors import InvalidInput
from cflag_theory.verify import cfl_step_sizes, step_sizes
from cflag_theory.verify.conditions import StepSizes

NEAR = 1e-9
SETTINGS = [(1.0, 0.0, 1), (2.5, 0.75, 10), (0.003, 7.0, 4)]
# The root of 10 u + 80 u^3 = 1.
ROOT = 0.09346759389767632


def at(name, *, L, m, E, alpha=None, beta=None):
    found = step_sizes(L=L, m=m, E=E, alpha=alpha or 0.5 / L, beta=beta or 0.01 / (L * E), T=100)
    return next(row for row in found.conditions if row.condition == name)


#: name -> (which step size, its edge, whether the edge itself is allowed)
UPPER = {
    "alpha < 2/(L(1+m))": ("alpha", lambda L, m, E: 2 / (L * (1 + m)), False),
    "alpha <= 1/L": ("alpha", lambda L, m, E: 1 / L, True),
    "beta <= 1/(4LE)": ("beta", lambda L, m, E: 1 / (4 * L * E), True),
    "beta <= 1/(12LE)": ("beta", lambda L, m, E: 1 / (12 * L * E), True),
    "beta <= 1/(2LE)": ("beta", lambda L, m, E: 1 / (2 * L * E), True),
}
EQUATIONS = {
    "alpha = 1/(L(1+m))": ("alpha", lambda L, m, E: 1 / (L * (1 + m))),
    "beta = 1/(60LE)": ("beta", lambda L, m, E: 1 / (60 * L * E)),
}
BOTH, CUBIC = "alpha = beta = 1/(30LE)", "10u + 80u^3 < 1, u = beta L E"


def test_every_condition_is_tested_here():
    assert {*UPPER, *EQUATIONS, BOTH, CUBIC} == {condition.name for condition in CONDITIONS}


@pytest.mark.parametrize(("L", "m", "E"), SETTINGS)
@pytest.mark.parametrize("name", UPPER)
def test_upper_bound(name, L, m, E):
    which, edge, closed = UPPER[name]
    value = edge(L, m, E)
    inside, outside = (at(name, L=L, m=m, E=E, **{which: value * (1 + off)}) for off in (-NEAR, NEAR))
    assert inside.holds
    assert not outside.holds
    assert at(name, L=L, m=m, E=E, **{which: value / 3}).factor == pytest.approx(1 / 3)
    if closed:
        assert at(name, L=L, m=m, E=E, **{which: value}).holds


def test_the_open_edge_itself_is_outside():
    # Powers of two: no rounding can carry the edge inside.
    assert not at("alpha < 2/(L(1+m))", L=2.0, m=1.0, E=1, alpha=0.5).holds


@pytest.mark.parametrize(("L", "m", "E"), SETTINGS)
@pytest.mark.parametrize("name", EQUATIONS)
def test_equation(name, L, m, E):
    which, edge = EQUATIONS[name]
    value = edge(L, m, E)
    assert at(name, L=L, m=m, E=E, **{which: value}).holds
    for off in (-NEAR, NEAR, 1.0):
        row = at(name, L=L, m=m, E=E, **{which: value * (1 + off)})
        assert not row.holds
        assert row.factor == pytest.approx(1 + off)


@pytest.mark.parametrize(("L", "m", "E"), SETTINGS)
def test_equation_in_both_step_sizes(L, m, E):
    edge = 1 / (30 * L * E)
    assert at(BOTH, L=L, m=m, E=E, alpha=edge, beta=edge).holds
    for alpha, beta in ((1, 1 + NEAR), (1 - NEAR, 1), (1, 2), (2, 1)):
        row = at(BOTH, L=L, m=m, E=E, alpha=alpha * edge, beta=beta * edge)
        assert not row.holds
        assert row.factor is None


@pytest.mark.parametrize(("L", "m", "E"), SETTINGS)
def test_cubic(L, m, E):
    assert math.isclose(10 * ROOT + 80 * ROOT**3, 1, rel_tol=1e-12)
    inside = at(CUBIC, L=L, m=m, E=E, beta=ROOT / (L * E) * (1 - NEAR))
    assert inside.holds
    assert inside.factor == pytest.approx(1)
    assert not at(CUBIC, L=L, m=m, E=E, beta=ROOT / (L * E) * (1 + NEAR)).holds
    assert at(CUBIC, L=L, m=m, E=E, beta=0.05 / (L * E)).factor == pytest.approx(0.5 + 80 * 0.05**3)


def test_the_result_is_data():
    found = step_sizes(L=2, m=0.5, E=10, alpha=0.3, beta=0.004, T=400)
    assert isinstance(found, StepSizes)
    assert [row.condition for row in found.conditions] == [condition.name for condition in CONDITIONS]
    assert found.c == pytest.approx(0.004 * 20)
    shown = found.to_json()
    assert json.loads(json.dumps(shown, allow_nan=False))["c"] == found.c
    assert {"condition", "holds", "factor", "where", "unlocks"} == set(shown["conditions"][0])


GOOD = {"L": 1.0, "m": 0.5, "E": 2, "alpha": 0.1, "beta": 0.1, "T": 10}
NOT_A_NUMBER = float("nan")


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name in ("L", "alpha", "beta") for value in (0.0, -1.0, NOT_A_NUMBER, math.inf)]
    + [("m", value) for value in (-1e-9, -1.0, NOT_A_NUMBER, math.inf)]
    + [(name, value) for name in ("E", "T") for value in (0, -3, 2.5, NOT_A_NUMBER, math.inf)],
)
def test_bad_input_names_the_value_and_the_remedy(name, value):
    with pytest.raises(InvalidInput, match=rf"^{name} = {value} is not allowed: give a[n ]".replace("-", r"\-")):
        step_sizes(**{**GOOD, name: value})


def test_edges_of_the_allowed_input():
    step_sizes(**{**GOOD, "m": 0.0, "E": 1, "T": 1})
    assert step_sizes(**{**GOOD, "E": 2.0}).E == 2


# CFL


def threshold(L, c, eta_g):
    return (math.sqrt(3 * eta_g**2 + 4 * c * eta_g**4) - math.sqrt(4 * c * eta_g**4)) / (L * math.sqrt(c))


#: name -> the edge of eta = K eta_l eta_g
OF_ETA = {
    "eta <= s/(6L)": lambda L, c, eta_g: threshold(L, c, eta_g) / 6,
    "eta <= s/(12L)": lambda L, c, eta_g: threshold(L, c, eta_g) / 12,
    "4 K^2 eta_l^2 L^2 c < 1": lambda L, c, eta_g: eta_g / (2 * L * math.sqrt(c)),
    "eta <= 1/(2L)": lambda L, c, eta_g: 1 / (2 * L),
    "8 K^2 eta_l^2 c <= 1": lambda L, c, eta_g: eta_g / math.sqrt(8 * c),
}
OTHERS = {"eta_g = 1", "(L^2 + 1) c < 1 + p_t/2", "T >= 1/(2 eta mu)"}


def cfl(name, **values):
    found = cfl_step_sizes(**{"L": 1.0, "K": 1, "eta_l": 0.1, "T": 10, **values})
    return next(row for row in found.conditions if row.condition == name)


def test_every_cfl_condition_is_tested_here():
    assert {*OF_ETA, *OTHERS} == {condition.name for condition in CFL_CONDITIONS}


@pytest.mark.parametrize(("L", "A", "B", "eta_g", "K"), [(1.0, 0.0, 0.0, 1.0, 1), (5.0, 0.5, 2.0, 0.25, 10)])
@pytest.mark.parametrize("name", OF_ETA)
def test_upper_bounds_on_eta(name, L, A, B, eta_g, K):
    edge = OF_ETA[name]
    for off, holds in ((-NEAR, True), (NEAR, False)):
        eta_l = edge(L, 1 + A * A + B * B, eta_g) * (1 + off) / (K * eta_g)
        assert cfl(name, L=L, A=A, B=B, eta_g=eta_g, K=K, eta_l=eta_l).holds is holds


def test_the_paper_states_its_rates_for_a_global_step_size_of_one():
    assert cfl("eta_g = 1").holds
    assert not cfl("eta_g = 1", eta_g=1 + NEAR).holds


def test_the_nonconvex_statement_speaks_only_of_flat_functions():
    name = "(L^2 + 1) c < 1 + p_t/2"
    # FedAvg without relative drifts: L^2 < 1/2.
    assert cfl(name, L=0.7).holds
    assert not cfl(name, L=0.71).holds
    # Weights 1/2 and 1/2 at t = 2: L^2 < 1/4.
    assert cfl(name, L=0.49, T=2, D=1.0, R=0.0).holds
    assert not cfl(name, L=0.51, T=2, D=1.0, R=0.0).holds
    assert not cfl(name, L=0.7, A=0.5).holds


def test_rounds_for_the_linear_rate():
    name = "T >= 1/(2 eta mu)"
    assert cfl(name, mu=0.5, eta_l=0.1, T=10).holds
    assert not cfl(name, mu=0.5, eta_l=0.1, T=9).holds
    assert not cfl(name, mu=0.0, T=10**6).holds


def test_the_weight_of_the_current_round():
    given = {"L": 1.0, "K": 1, "eta_l": 0.1}
    assert cfl_step_sizes(**given, T=4).p_t == 1
    assert cfl_step_sizes(**given, T=4, D=2.0, R=1.0).p_t == pytest.approx(7 / 19)
    assert cfl_step_sizes(**given, T=1, D=2.0, R=1.0).p_t == 1
    assert json.loads(json.dumps(cfl_step_sizes(**given, T=4).to_json(), allow_nan=False))["eta"] == 0.1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"L": 0.0}, "L = 0.0 is not allowed"),
        ({"eta_l": NOT_A_NUMBER}, "eta_l = nan is not allowed"),
        ({"eta_g": -1.0}, "eta_g = -1.0 is not allowed"),
        ({"mu": -0.5}, "mu = -0.5 is not allowed"),
        ({"mu": 2.0}, "mu = 2.0 is above L = 1.0"),
        ({"A": math.inf}, "A = inf is not allowed"),
        ({"K": 0}, "K = 0 is not allowed"),
        ({"T": 2.5}, "T = 2.5 is not allowed"),
        ({"D": 1.0}, "only one of D and R is given"),
        ({"D": 0.0, "R": 0.0}, "D = 0 and R = 0"),
        ({"D": -1.0, "R": 0.0}, "D = -1.0 is not allowed"),
    ],
)
def test_bad_input_of_the_cfl_conditions(values, message):
    with pytest.raises(InvalidInput, match=message.replace("-", r"\-")):
        cfl_step_sizes(**{"L": 1.0, "K": 1, "eta_l": 0.1, "T": 10, **values})


def test_stepsize_of_cfl(cflag):
    command = ("stepsize", "--paper", "cfl", "--L", 5, "--K", 10, "--eta-l", 0.002, "--T", 100, "--A", 0.5)
    code, out, _ = cflag(*command, "--D", 1, "--R", 0.5)
    assert code == 0
    assert "eta <= s/(12L)" in out
    _, out, _ = cflag(*command, "--format", "json")
    found = json.loads(out)
    assert (found["c_O"], found["p_t"]) == (1.25, 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--K", "1", "--eta-l", "1", "--m", "0"), "--m is not an option of --paper cfl"),
        (("--K", "1"), "--paper cfl needs --eta-l"),
    ],
)
def test_options_of_the_other_paper(cflag, arguments, words):
    code, out, err = cflag("stepsize", "--paper", "cfl", "--L", "1", "--T", "3", *arguments)
    assert (code, out) == (2, "")
    assert words in " ".join(err.replace("│", " ").split())
