"""Every step-size condition at its edge, just inside and just outside."""

from __future__ import annotations

import json
import math
import re

import pytest

from cflag_theory.claims.c_flag.step_sizes import CONDITIONS, OUR_CONDITIONS
from cflag_theory.claims.cfl.step_sizes import CONDITIONS as CFL_CONDITIONS
from cflag_theory.claims.cfl.step_sizes import OUR_CONDITIONS as CFL_OUR_CONDITIONS
from cflag_theory.claims.ledger import LEDGER
from cflag_theory.errors import InvalidInput
from cflag_theory.public import quoted
from cflag_theory.studies.stepsize.conditions import StepSizes, not_as_printed, standing
from cflag_theory.verify import cfl_step_sizes, step_sizes, verify

NEAR = 1e-9
EVERY = (*CONDITIONS, *OUR_CONDITIONS)
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
    "beta L (1 + E) <= 1": ("beta", lambda L, m, E: 1 / (L * (1 + E)), True),
    "beta <= 1/(LE)": ("beta", lambda L, m, E: 1 / (L * E), True),
}
EQUATIONS = {
    "alpha = 1/(L(1+m))": ("alpha", lambda L, m, E: 1 / (L * (1 + m))),
    "beta = 1/(60LE)": ("beta", lambda L, m, E: 1 / (60 * L * E)),
}
BOTH, CUBIC = "alpha = beta = 1/(30LE)", "10u + 80u^3 < 1, u = beta L E"


#: Conditions of ours in both step sizes, in m or in T: each has a test of its own below.
MIXED = {
    "m < 1",
    "L alpha m < 1",
    "L (alpha + beta E) <= 1",
    "q < 1, q = ((1+beta L)^E-1)/(L alpha)",
    "W >= 1, ours.first_rounds",
    "W >= 1, Theorem 5 repaired",
    "W <= T, Theorem 5 repaired",
}


def test_every_condition_is_tested_here():
    assert {*UPPER, *EQUATIONS, BOTH, CUBIC, *MIXED} == {condition.name for condition in CONDITIONS + OUR_CONDITIONS}


@pytest.mark.parametrize(
    "condition", CONDITIONS + OUR_CONDITIONS + CFL_CONDITIONS + CFL_OUR_CONDITIONS, ids=lambda one: one.name
)
def test_what_a_condition_unlocks_is_in_the_ledger(condition):
    assert condition.claims
    assert set(condition.claims) <= set(LEDGER)
    assert condition.paper in ("C-FLAG", "CFL", "ours")


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


def holds(name, **values):
    found = step_sizes(**{"L": 1.0, "m": 0.25, "E": 1, "alpha": 0.5, "beta": 1e-3, "T": 100, **values})
    return next(row for row in found.conditions if row.condition == name).holds


def test_conditions_on_the_bias():
    assert holds("m < 1", m=1 - NEAR)
    assert not holds("m < 1", m=1.0)
    assert holds("L alpha m < 1", L=2.0, alpha=0.25, m=2.0 - NEAR)
    assert not holds("L alpha m < 1", L=2.0, alpha=0.25, m=2.0)


def test_conditions_on_both_step_sizes():
    name = "L (alpha + beta E) <= 1"
    assert holds(name, L=2.0, E=4, alpha=0.25, beta=0.0625)
    assert not holds(name, L=2.0, E=4, alpha=0.25, beta=0.0625 * (1 + NEAR))
    # E = 1: q = beta / alpha.
    name = "q < 1, q = ((1+beta L)^E-1)/(L alpha)"
    assert holds(name, alpha=0.5, beta=0.5 * (1 - NEAR))
    assert not holds(name, alpha=0.5, beta=0.5 * (1 + NEAR))
    # E = 2: q = beta (2 + beta L) / alpha.
    assert holds(name, L=2.0, E=2, alpha=0.625, beta=0.25 * (1 - NEAR))
    assert not holds(name, L=2.0, E=2, alpha=0.625, beta=0.25 * (1 + NEAR))


def test_conditions_on_the_first_rounds():
    # E = 1 and W = 1: 4 L beta <= 1 - sqrt(m).
    edge = 0.5 / 4
    name = "W >= 1, ours.first_rounds"
    assert holds(name, beta=edge * (1 - NEAR))
    assert not holds(name, beta=edge * (1 + NEAR))
    # exp(beta sqrt(T) L E) - 1 <= (1 - sqrt(m)) sqrt(T) / (4 (1 + sqrt(m))).
    edge = math.log1p(0.5 * 10 / (4 * 1.5)) / 10
    name = "W >= 1, Theorem 5 repaired"
    assert holds(name, beta=edge * (1 - NEAR))
    assert not holds(name, beta=edge * (1 + NEAR))
    edge = math.log1p(0.5 * 10 / (8 * 100 * 1.5)) / 10
    name = "W <= T, Theorem 5 repaired"
    assert holds(name, beta=edge * (1 + NEAR))
    assert not holds(name, beta=edge * (1 - NEAR))


@pytest.mark.full
def test_what_is_proved_as_it_stands_is_what_the_ledger_says(kept):
    asked = {id for one in (*EVERY, *CFL_CONDITIONS, *CFL_OUR_CONDITIONS) for id in one.claims}
    for verdict in verify(sorted(asked), kept=kept):
        id, words = verdict.claim.id, not_as_printed([verdict.claim.id]).get(verdict.claim.id, ())
        word = verdict.verdict if verdict.is_claim else "question"
        expected = {"holds": "proved", "loose": "proved", "typo": "repaired", "needs-hypothesis": "repaired"}
        assert standing(id) == expected.get(word, "unproved"), id
        assert bool(words) == (verdict.is_claim and word not in ("holds", "loose")), id
        for part in verdict.parts:
            repair = next(one.repair for one in verdict.claim.parts if one.key == part.key)
            assert repair is None or part.kind != "claim" or any(repair.words in one for one in words)


def test_what_is_not_proved_is_unlocked_by_nothing():
    rows = step_sizes(L=2, m=0.5, E=10, alpha=0.3, beta=0.004, T=400).conditions
    shown = {id for row in rows for id in (*row.proved, *row.repaired)}
    assert {"cflag.eq14", "cflag.lemma3", "cflag.eq161"} <= {id for one in EVERY for id in one.claims} - shown
    assert not {id for row in rows for id in row.proved} & set(not_as_printed(shown))


def test_a_lower_bound_of_l_refutes_and_does_not_show():
    given = {"m": 0.5, "E": 10, "alpha": 0.3, "beta": 0.004, "T": 400}

    def answers(L, measured):
        return {row.condition: row.answer for row in step_sizes(L=L, measured=measured, **given).conditions}

    known, lower, large = answers(2, ()), answers(2, ("L",)), answers(8, ("L",))
    assert known["alpha <= 1/L"] == "yes"
    assert lower["alpha <= 1/L"] == "not refuted"
    assert large["alpha <= 1/L"] == "no"
    # 1/(L(1 + m)) is 1/3 at the lower bound, and alpha = 0.3 at L = 20/9; from 8 on it is below alpha.
    assert (known["alpha = 1/(L(1+m))"], lower["alpha = 1/(L(1+m))"], large["alpha = 1/(L(1+m))"]) == (
        "no",
        "unknown",
        "no",
    )
    assert lower["m < 1"] == "yes"
    assert answers(2, ("L", "m"))["m < 1"] == "not refuted"


def test_a_claim_without_repair_points_to_what_is_proved_instead():
    assert not_as_printed(["cflag.lemma3"]) == {"cflag.lemma3": ("no local repair, see ours.algorithm1_descent",)}


def test_the_result_is_data():
    found = step_sizes(L=2, m=0.5, E=10, alpha=0.3, beta=0.004, T=400)
    assert isinstance(found, StepSizes)
    assert [row.condition for row in found.conditions] == [condition.name for condition in CONDITIONS + OUR_CONDITIONS]
    assert found.c == pytest.approx(0.004 * 20)
    shown = found.to_json()
    assert json.loads(json.dumps(shown, allow_nan=False))["c"] == found.c
    assert {"condition", "holds", "factor", "where", "unlocks", "paper", "proved", "repaired", "answer"} == set(
        shown["conditions"][0]
    )
    assert {"L", "m", "E", "alpha", "beta", "T", "conditions", "c", "bounds", "best", "as_printed"} <= set(shown)


GOOD = {"L": 1.0, "m": 0.5, "E": 2, "alpha": 0.1, "beta": 0.1, "T": 10}
NOT_A_NUMBER = float("nan")


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name in ("L", "alpha", "beta") for value in (0.0, -1.0, NOT_A_NUMBER, math.inf)]
    + [("m", value) for value in (-1e-9, -1.0, NOT_A_NUMBER, math.inf)]
    + [(name, value) for name in ("E", "T") for value in (0, -3, 2.5, NOT_A_NUMBER, math.inf, 2**60, 10**400)]
    + [(name, value) for name in ("r", "gap", "grad_g", "omega") for value in (-1.0, NOT_A_NUMBER)]
    + [("epsilon", value) for value in (0.0, -1.0, NOT_A_NUMBER, math.inf)],
)
def test_bad_input_names_the_value_and_the_remedy(name, value):
    with pytest.raises(InvalidInput, match=rf"^{name} = {re.escape(quoted(value))} is not allowed: give a[n ]"):
        step_sizes(**{**GOOD, name: value})


def test_numbers_that_no_bound_knows():
    with pytest.raises(InvalidInput, match="grad_x is not a number that a bound uses: use one of gap, grad_g"):
        step_sizes(**GOOD, grad_x=1.0)


def test_a_step_of_zero_says_what_it_would_mean():
    with pytest.raises(InvalidInput, match=r"alpha = 0 is not allowed: .* the algorithm is FedTrack"):
        step_sizes(**{**GOOD, "alpha": 0})
    with pytest.raises(InvalidInput, match=r"beta = 0 is not allowed: .* nothing new is learned"):
        step_sizes(**{**GOOD, "beta": 0})


def test_gradient_evaluations_of_a_round():
    assert step_sizes(**GOOD).gradients_per_round is None
    assert step_sizes(**GOOD, N=3, n=10, memory_size=4).gradients_per_round == 3 * (10 + 1 + 4)
    with pytest.raises(InvalidInput, match="need N, n and memory_size: give all three or none"):
        step_sizes(**GOOD, N=3)


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
    "eta <= 1/(10L)": lambda L, c, eta_g: 1 / (10 * L),
    "eta <= 2/(mu + L)": lambda L, c, eta_g: 2 / L,
    "eta <= 1/L": lambda L, c, eta_g: 1 / L,
    "20 K^2 eta_l^2 L^2 <= 1": lambda L, c, eta_g: eta_g / (math.sqrt(20) * L),
    # The positive root of 20 c x^2 / eta_g^2 + 16 c x = 1, x = eta L.
    "16 eta L c + 20 (eta L/eta_g)^2 c <= 1": lambda L, c, eta_g: (
        eta_g**2 * (math.sqrt(256 * c * c + 80 * c / eta_g**2) - 16 * c) / (40 * c * L)
    ),
}
OTHERS = {"eta_g = 1", "(L^2 + 1) c < 1 + p_t/2", "T >= 1/(2 eta mu)", "eta_g >= 1", "x (1 + p_t/2) < 1 + p_t/2 - c"}


def cfl(name, **values):
    found = cfl_step_sizes(**{"L": 1.0, "K": 1, "eta_l": 0.1, "T": 10, **values})
    return next(row for row in found.conditions if row.condition == name)


def test_every_cfl_condition_is_tested_here():
    assert {*OF_ETA, *OTHERS} == {condition.name for condition in CFL_CONDITIONS + CFL_OUR_CONDITIONS}


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


def test_the_mended_coefficient():
    # FedAvg: (4 K^2 eta_l^2 L^2) 3/2 < 1/2.
    name = "x (1 + p_t/2) < 1 + p_t/2 - c"
    edge = math.sqrt(1 / 12)
    assert cfl(name, eta_l=edge * (1 - NEAR)).holds
    assert not cfl(name, eta_l=edge * (1 + NEAR)).holds
    assert not cfl(name, eta_l=1e-9, A=1.0).holds


def test_the_global_step_size_of_a_round():
    assert cfl("eta_g >= 1").holds
    assert not cfl("eta_g >= 1", eta_g=1 - NEAR).holds


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
    code, out, _ = cflag(*command, "--D", 1, "--R", 0.5, "--details")
    assert code == 0
    assert "eta <= s/(12L)" in out
    _, out, _ = cflag(*command, "--format", "json")
    found = json.loads(out)
    assert (found["c_O"], found["p_t"]) == (1.25, 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--K", "1", "--eta-l", "1", "--m", "0"), "--m is not an option of --paper cfl"),
        (("--eta-l", "1"), "--paper cfl needs --K"),
    ],
)
def test_options_of_the_other_paper(cflag, arguments, words):
    code, out, err = cflag("stepsize", "--paper", "cfl", "--L", "1", "--T", "3", *arguments)
    assert (code, out) == (2, "")
    assert words in " ".join(err.replace("│", " ").split())
