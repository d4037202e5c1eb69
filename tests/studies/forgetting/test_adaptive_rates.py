"""Rules for adaptive rates: every rule is there, differences are paired, and closed forms come out."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cflag_theory.claims.ledger import LEDGER
from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import algorithm, everything, random_glm, simulate, uniform
from cflag_theory.kernels.algorithms import ADAPTIONS
from cflag_theory.kernels.problems.by_name import quadratic
from cflag_theory.kernels.problems.glm import glm
from cflag_theory.studies.forgetting.adaptive_rates import QUANTITIES, RULES
from cflag_theory.studies.forgetting.heterogeneity import Case, Setting, mean_of
from cflag_theory.studies.rates.statistics import resampling
from cflag_theory.verify import adaptive_study, forgetting_study

SMALL = Setting(local_steps=3, rounds=12, replicas=4, seed=2)


@pytest.fixture(scope="module")
def study():
    return adaptive_study(random_glm(clients=3, components=5, dimension=4, seed=1), uniform(2), SMALL)


def rule(study, name):
    return next(one for one in study.rules if one.adaptive == name)


def three_against_one():
    """cflag.sec5_guarantee, part f: f_i = g_1 = g_2 = g_3 = x^2/2, g_4 = -x^2/2, p_i = 1/4, L = 1, x_0 = 1."""
    ones, owners = np.ones((4, 1, 1)), np.arange(4)
    signs = np.array([1.0, 1.0, 1.0, -1.0]).reshape(4, 1, 1)
    zero = np.zeros((4, 1))
    return quadratic(ones, zero, owners, signs, zero, owners, start=np.array([1.0]))


def test_every_rule_and_its_claims_exist():
    assert [one.adaptive for one in RULES] == list(ADAPTIONS)
    assert all(claim in LEDGER for one in RULES for claim in one.claims)
    assert all(claim in LEDGER for _, claims in QUANTITIES.values() for claim in claims)


def test_no_adaption_is_c_flag(study):
    problem = random_glm(clients=3, components=5, dimension=4, seed=1)
    (constant,) = forgetting_study([Case("", "", "", problem, uniform(2))], SMALL, algorithms=["c_flag"])
    (adaptive,) = forgetting_study([Case("", "", "", problem, uniform(2))], SMALL, algorithms=["c_flag_adaptive"])
    assert rule(study, "none").values["total_Gamma"] == constant.total
    assert rule(study, "none").values["change_f"] == constant.change_f
    assert rule(study, "worst").values["total_Gamma"] == adaptive.total
    assert adaptive.total != constant.total


def test_quantities_are_those_of_the_runs(study):
    problem = random_glm(clients=3, components=5, dimension=4, seed=1)
    run = {"alpha": study.alpha, "beta": study.beta, "local_steps": 3, "rounds": 12, "replicas": 4, "seed": 2}
    trace = simulate(problem, "c_flag", memory=uniform(2), **run)
    values = rule(study, "none").values
    assert values["total_Gamma"].mean == pytest.approx(trace.column("Gamma").sum(axis=1).mean())
    assert values["mean_Gamma"].mean == pytest.approx(trace.column("Gamma").mean())
    assert values["floor_f"].mean == pytest.approx(trace.column("grad_f2")[:, -1].mean())
    assert values["floor_g"].mean == pytest.approx(trace.column("grad_g2")[:, -1].mean())
    assert set(values) == set(QUANTITIES)


def test_differences_are_paired(study):
    for key in set(QUANTITIES) - {"raised"}:
        none = rule(study, "none").against[key]
        assert (none.mean, none.low, none.high) == (0, 0, 0)
        for one in study.rules:
            assert one.against[key].mean == pytest.approx(
                one.values[key].mean - rule(study, "none").values[key].mean, rel=1e-9, abs=1e-15
            )


def test_intervals_of_differences_resample_replicas_not_runs(study):
    """The replicas' own differences, resampled: far narrower than those of unpaired runs would be."""
    problem = random_glm(clients=3, components=5, dimension=4, seed=1)
    run = {"alpha": study.alpha, "beta": study.beta, "local_steps": 3, "rounds": 12, "replicas": 4, "seed": 2}
    traces = {
        name: simulate(problem, algorithm("c_flag", adaptive=name), memory=uniform(2), **run) for name in ADAPTIONS
    }
    first = traces["none"]
    for name, trace in traces.items():
        # The same memory and the same components in the first round, bit by bit.
        assert np.array_equal(trace.column("grad_memory2")[:, 0], first.column("grad_memory2")[:, 0])
        assert np.array_equal(trace.column("Lambda")[:, 0], first.column("Lambda")[:, 0])
        own = (trace.column("Gamma") - first.column("Gamma")).sum(axis=1)
        expected = mean_of(own, resampling(4, 2))
        against = rule(study, name).against["total_Gamma"]
        assert (against.low, against.high) == pytest.approx((expected.low, expected.high), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("adaptive", ADAPTIONS)
def test_gamma_is_that_of_the_step_really_taken(adaptive):
    """Where f has the Hessian L I and b = 0, f(x_{t+1}) - f(x_t) + a (1 - L a / 2) ||grad f||^2 is Gamma(t) exactly.

    a is the weighted mean of Table 1's alpha_{t,i}, under interference above alpha.
    """
    random, L, N, d = np.random.default_rng(0), 2.0, 3, 2
    owners, several = np.repeat(np.arange(N), d), np.repeat(np.arange(N), 3)
    problem = glm(
        np.tile(np.sqrt(L * d) * np.eye(d), (N, 1)),
        2 * random.standard_normal(N * d),
        owners,
        0.7 * random.standard_normal((N * 3, d)),
        random.standard_normal(N * 3),
        several,
        potential="quadratic",
        labels=np.zeros(N * d, dtype=int),
    )
    alpha, beta = 0.15, 0.2
    assert problem.constants["L"].value == pytest.approx(L)
    trace = simulate(
        problem,
        algorithm("c_flag", adaptive=adaptive),
        alpha=alpha,
        beta=beta,
        local_steps=4,
        rounds=30,
        memory=everything(),
        replicas=2,
        seed=5,
    )
    grad_f2, Lambda = trace.column("grad_f2"), trace.column("Lambda")
    assert 0 < (Lambda <= 0).mean() < 1
    # Line 4 of Algorithm 3 as printed has beta a_i for a_i.
    factor = {"average": 1, "worst": 1, "printed": beta}.get(adaptive, 0)
    rates = np.where(Lambda > 0, alpha, alpha * (1 - factor * Lambda / grad_f2[:, :, None])) @ problem.p
    f = np.column_stack([trace.column("f"), trace.at_end("f")])
    expected = np.diff(f) + rates * (1 - L * rates / 2) * grad_f2
    np.testing.assert_allclose(trace.column("Gamma"), expected, rtol=1e-9, atol=1e-14)


def test_what_is_proved_never_to_raise_gamma_does_not(study):
    """ours.adaptive_server, ours.adaptive_clients: from equal points and draws, in every replica."""
    for name in ("none", "server", "clients"):
        raised = rule(study, name).values["raised"]
        assert (raised.mean, raised.low, raised.high) == (0, 0, 0)
    assert rule(study, "server").values["total_Gamma"].high <= 0


def test_rounds_that_raise_gamma_are_seen():
    """Three against one, alpha = beta = 1/4: the average case's S is 3 (1/4) 4 (3/4) - 1/4 of x_t, its Gamma above."""
    problem = three_against_one()
    setting = Setting(alpha=0.25, beta=0.25, local_steps=1, rounds=5, replicas=2)
    found = adaptive_study(problem, everything(), setting)
    average = rule(found, "average")
    # In units of x_t^2: alpha_mean = 5/16, beta S = (3 * 3 - 1/4) / 4.
    moved = (9 - 0.25) / 4
    raised = moved**2 / 2 - (1 - 5 / 16) * moved
    constant = 0.125**2 / 2 - 0.75 * 0.125
    assert raised > constant
    assert average.values["raised"].mean == 1
    # x_{t+1} = -2 (1 - alpha) x_t.
    x2 = 1.5 ** (2 * np.arange(6))
    assert average.values["change_f"].mean == pytest.approx((x2[5] - 1) / 2)
    assert average.values["total_Gamma"].mean == pytest.approx(raised * x2[:5].sum())
    assert average.values["floor_f"].mean == pytest.approx(x2[4])
    assert rule(found, "worst").values["change_f"].mean < 0


def test_rules_that_diverge_are_counted_and_the_others_are_measured():
    setting = Setting(alpha=0.25, beta=0.25, local_steps=1, rounds=700, replicas=3)
    found = adaptive_study(three_against_one(), everything(), setting)
    average = rule(found, "average")
    assert average.diverged == 3
    assert average.rounds < 700
    assert set(average.values) == {"raised"}
    assert average.against == {}
    assert rule(found, "server").values["floor_f"].mean < 1e-12
    json.dumps(found.to_json(), allow_nan=False)


def test_constant_rates_that_fail_at_once_are_refused():
    problem = random_glm(clients=2, components=3, dimension=2)
    with pytest.raises(InvalidInput, match="use a smaller beta"):
        adaptive_study(problem, uniform(2), Setting(beta=1e200, rounds=2, replicas=2))


def test_progress_is_called_for_each_rule():
    words = []
    adaptive_study(three_against_one(), everything(), Setting(rounds=2, replicas=2), progress=words.append)
    assert words == [one.words for one in RULES]
