"""The forgetting term along rounds: against its formula on the iterates, and who interferes where it can be seen."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import everything, random_glm, simulate, uniform
from cflag_theory.kernels.problems.by_name import quadratic
from cflag_theory.kernels.problems.objective import gradients
from cflag_theory.studies.forgetting.heterogeneity import (
    HETEROGENEITY,
    ZETA,
    Case,
    Mean,
    Setting,
    data_cases,
    sentences,
    synthetic_cases,
)
from cflag_theory.verify import forgetting_study

SMALL = Setting(local_steps=3, rounds=6, replicas=3, seed=5)


def line(past_target, current_target, start):
    """f = (x - past_target)^2 / 2 and g = (x - current_target)^2 / 2 on the line, two equal clients, L = 1."""
    unit, owners = np.ones((2, 1, 1)), np.array([0, 1])
    return quadratic(
        unit, [[past_target]] * 2, owners, unit, [[current_target]] * 2, owners, start=np.array([float(start)])
    )


def case(problem, memory=None):
    return Case("one", "as given", "words", problem, memory or everything())


@pytest.mark.parametrize("row", ["c_flag", "c_flag_adaptive"])
def test_gamma_is_its_formula_on_the_iterates(row):
    """(15) for the step really taken: from x_t, x_{t+1} and grad f alone, where alpha is not adapted."""
    problem = random_glm(clients=2, components=4, dimension=3, conflict=0.2, seed=3)
    (found,) = forgetting_study([case(problem)], SMALL, algorithms=[row])
    L, alpha, beta = found.L, found.alpha, found.beta
    assert (alpha, beta) == (1 / (2 * L), 1 / (9 * L))
    run = {"alpha": alpha, "beta": beta, "local_steps": 3, "rounds": 6, "replicas": 3, "seed": 5}
    trace = simulate(problem, row, memory=everything(), **run, iterates=True)
    expected = np.full((3, 6), np.nan)
    for replica in range(3):
        for t in range(6):
            x, after = trace.iterates[replica, t : t + 2]
            grad_f = problem.p @ gradients(problem.potential, problem.past, x)
            if row == "c_flag_adaptive" and (trace.column("Lambda")[replica, t] <= 0).any():
                continue
            beta_S = x - after - alpha * grad_f
            expected[replica, t] = L / 2 * beta_S @ beta_S - (1 - L * alpha) * grad_f @ beta_S
    seen = np.isfinite(expected).all(axis=0)
    assert seen.sum() >= 3
    assert np.array(found.Gamma.mean)[seen] == pytest.approx(expected.mean(axis=0)[seen], rel=1e-9, abs=1e-16)
    if row == "c_flag":
        assert found.total.mean == pytest.approx(expected.sum(axis=1).mean(), rel=1e-9)
        assert found.largest.mean == pytest.approx(expected.max(axis=1).mean(), rel=1e-9)
        assert found.variation.mean == pytest.approx(expected.std(axis=1).mean(), rel=1e-9)
        f = trace.column("f")
        assert found.change_f.mean == pytest.approx((trace.at_end("f") - f[:, 0]).mean(), rel=1e-12)


def test_intervals_hold_the_mean_and_narrow_with_agreement():
    (found,) = forgetting_study([case(random_glm(seed=1), uniform(3))], SMALL, algorithms=["c_flag"])
    for value in (found.total, found.largest, found.variation, found.change_f):
        assert value.low <= value.mean <= value.high
    assert all(a <= b <= c for a, b, c in zip(found.Gamma.low, found.Gamma.mean, found.Gamma.high, strict=True))
    # One component a client leaves nothing to draw: all replicas agree.
    (same,) = forgetting_study([case(line(1, -1, 0))], SMALL, algorithms=["c_flag"])
    assert same.Gamma.low == pytest.approx(same.Gamma.high, rel=1e-12)


def test_between_the_tasks_every_client_interferes_and_beyond_them_none():
    """At x = 0 the gradients of (x - 1)^2/2 and (x + 1)^2/2 point apart; at x = 5 they agree."""
    small = Setting(alpha=0.01, beta=0.001, local_steps=2, rounds=5, replicas=2)
    (between,) = forgetting_study([case(line(1, -1, 0))], small, algorithms=["c_flag"])
    assert between.interfering == ((1.0,) * 5,) * 2
    assert between.server_interfering == (1.0,) * 5
    assert all(value < 0 for value in between.Lambda.mean)
    (beyond,) = forgetting_study([case(line(1, -1, 5))], small, algorithms=["c_flag"])
    assert beyond.interfering == ((0.0,) * 5,) * 2
    assert beyond.server_interfering == (0.0,) * 5
    assert all(value > 0 for value in beyond.Lambda.mean)
    # By hand in the first round: grad f = 4, S = a_i = 6 + (6 - 0.006).
    assert beyond.Lambda.mean[0] == pytest.approx(4 * (6 + 6 * 0.999), rel=1e-12)


def test_the_server_weighs_its_clients():
    """f = (x - 1)^2/2; g_1 = (x + 1)^2/2 with weight 3/4 transfers at x = 5, g_2 = (x - 20)^2/2 does not."""
    unit, owners = np.ones((2, 1, 1)), np.array([0, 1])
    problem = quadratic(
        unit, [[1.0]] * 2, owners, unit, [[-1.0], [20.0]], owners, p=np.array([0.75, 0.25]), start=np.array([5.0])
    )
    small = Setting(alpha=0.01, beta=0.001, local_steps=1, rounds=1, replicas=2)
    (found,) = forgetting_study([case(problem)], small, algorithms=["c_flag"])
    assert found.Lambda.mean[0] == pytest.approx(4 * (0.75 * 6 - 0.25 * 15))
    assert found.interfering == ((0.0,), (1.0,))
    assert found.server_interfering == (0.0,)


def test_three_levels_unless_one_is_set():
    cases = synthetic_cases("default", uniform(5), seed=2)
    assert [(one.level, one.words) for one in cases] == [
        (level, f"heterogeneity {value:g}") for level, value in HETEROGENEITY.items()
    ]
    assert {one.study for one in cases} == {"default"}
    (one,) = synthetic_cases("glm", uniform(5), dials={"heterogeneity": 0.3})
    assert (one.level, one.words) == ("as given", "heterogeneity 0.3")
    (one,) = synthetic_cases("noisy_quadratic", everything())
    assert one.words == "its own heterogeneity"
    cases = data_cases("digits", uniform(5), clients=3)
    assert [one.words for one in cases] == [f"zeta = {zeta:g}" for zeta in ZETA.values()]
    assert [one.words for one in data_cases("digits", uniform(5), zeta=2.0)] == ["zeta = 2"]


def test_the_paper_s_sentences_stand_beside_what_was_measured():
    small = Setting(local_steps=2, rounds=4, replicas=2)
    cases = synthetic_cases("glm", uniform(5), dials={"clients": 2, "components": 4})
    found = forgetting_study(cases, small)
    said = sentences(found)
    assert len(said) == 2 + 3
    low, medium, high = (one.variation.mean for one in found if one.algorithm == "c_flag")
    assert f"is {low:.3g} at low, {medium:.3g} at medium and {high:.3g} at high heterogeneity" in said[0]
    constant, adaptive = (one.largest.mean for one in found[:2])
    assert f"is {adaptive:.3g} with adaptive and {constant:.3g} with constant rates" in said[2]


@pytest.mark.parametrize(
    ("spreads", "largest", "first", "last"),
    [
        ((9, 2, 1), (3, 1), "the runs agree", "the runs agree"),
        # Sec. 7 has more in the IID case than in both others.
        ((5, 9, 1), (1, 3), "the runs do not agree", "the runs do not agree"),
        ((5, 1, 9), (1, 3), "the runs do not agree", "the runs do not agree"),
        # Means in the paper's order, intervals that overlap.
        ((2.5, 2, 1), (3, 2.5), "do not decide", "do not decide"),
    ],
)
def test_a_sentence_is_settled_where_intervals_lie_apart(spreads, largest, first, last):
    (one,) = forgetting_study([case(line(1, -1, 0))], SMALL, algorithms=["c_flag"])

    def around(value):
        return Mean(value, value - 0.4, value + 0.4)

    found = [
        replace(one, level=level, variation=around(spread), algorithm=row, largest=around(size))
        for level, spread in zip(HETEROGENEITY, spreads, strict=True)
        for row, size in zip(("c_flag", "c_flag_adaptive"), largest, strict=True)
    ]
    said = sentences(found)
    assert said[0].endswith(first)
    assert said[-1].endswith(last)


def test_results_are_plain_json():
    found = forgetting_study([case(line(1, -1, 0))], SMALL)
    record = json.loads(json.dumps(found[0].to_json(), allow_nan=False))
    assert record["Gamma"]["mean"] == pytest.approx(found[0].Gamma.mean)
    assert record["total"].keys() == {"mean", "low", "high"}


def test_progress_is_called_for_each_run():
    words = []
    forgetting_study([case(line(1, -1, 0))] * 2, SMALL, progress=words.append)
    assert len(words) == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 0.0}, "alpha is 0.0"),
        ({"beta": math.inf}, "beta is inf"),
        ({"local_steps": 0}, "local_steps is 0"),
        ({"rounds": 2.5}, "rounds is 2.5"),
        ({"replicas": 1}, "replicas is 1: use an integer of at least 2"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_bad_settings_are_refused(change, message):
    with pytest.raises(InvalidInput, match=message):
        Setting(**change)
