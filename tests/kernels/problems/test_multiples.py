"""The dial r of the random families: ||grad f_memory|| is at most r ||grad g|| everywhere, and r is met."""

from __future__ import annotations

import math

import numpy as np
import pytest
from finite_sums import gradient, norm2

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import random_glm, random_quadratic, random_separable, simulate
from cflag_theory.kernels.memory.bias import ratio_bound
from cflag_theory.kernels.memory.memory import everything
from cflag_theory.kernels.problems.by_name import to_exact
from cflag_theory.kernels.problems.problem import EXACT

SMALL = {"clients": 2, "dimension": 3, "seed": 7}
FAMILIES = {
    "glm": lambda r: random_glm(components=4, conflict=0, r=r, **SMALL),
    "separable": lambda r: random_separable(past=4, current=3, conflict=0, heterogeneity=0.8, r=r, **SMALL),
    "quadratic": lambda r: random_quadratic(components=4, r=r, **SMALL),
}


def points(problem):
    return np.random.default_rng(0).normal(scale=2, size=(20, problem.dimension))


@pytest.mark.parametrize("r", [0, 0.3, 1, 25.0])
@pytest.mark.parametrize("family", ["glm", "quadratic"])
def test_f_is_r_times_g(family, r):
    problem = FAMILIES[family](r)
    assert (problem.constants["r"].value, problem.constants["r"].kind) == (r, EXACT)
    for x in points(problem):
        f, g = gradient(problem, problem.past, x), gradient(problem, problem.current, x)
        assert f == pytest.approx(r * g, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("r", [0, 0.3, 1, 25.0])
def test_no_point_of_a_separable_problem_exceeds_r_and_some_come_close(r):
    problem = FAMILIES["separable"](r)
    assert problem.constants["r"].kind == EXACT
    assert problem.constants["r"].value == pytest.approx(r)
    assert ratio_bound(problem, everything()).value == problem.constants["r"].value
    ratios = []
    axes = [problem.start + 3 * direction for direction in problem.past.rows[:3]]
    for x in [*points(problem), *axes]:
        f, g = norm2(gradient(problem, problem.past, x)), norm2(gradient(problem, problem.current, x))
        assert math.sqrt(f) <= r * math.sqrt(g) * (1 + 1e-12)
        ratios.append(math.sqrt(f / g))
    assert max(ratios) >= 0.5 * r


@pytest.mark.parametrize("family", FAMILIES)
def test_without_the_dial_nothing_changes(family):
    """The numbers of the current task are drawn as ever."""
    plain, scaled = FAMILIES[family](None), FAMILIES[family](2.0)
    assert (plain.current.weights == scaled.current.weights).all()
    assert (plain.current.rows == scaled.current.rows).all()
    assert (plain.start == scaled.start).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_runs_do_not_exceed_r(family):
    problem = FAMILIES[family](3.0)
    step = 0.5 / problem.constants["L"].value
    trace = simulate(
        problem, "c_flag", alpha=step, beta=step / 9, local_steps=3, rounds=20, memory=everything(), replicas=2
    )
    assert trace.r_met <= 3 * (1 + 1e-9)


def test_r_on_fractions():
    exact = random_quadratic(components=2, r=0.5, exact=True, **SMALL)
    assert exact.constants["r"].value == 0.5
    assert (exact.past.weights == exact.current.weights / 2).all()
    assert to_exact(FAMILIES["separable"](2.0)).constants["r"].value == pytest.approx(2)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("r", [-1.0, math.nan, math.inf])
def test_an_r_that_is_none(family, r):
    with pytest.raises(InvalidInput, match=f"r is {r}: use a finite number that is not negative"):
        FAMILIES[family](r)


@pytest.mark.parametrize("make", [random_glm, random_separable])
def test_tasks_that_pull_apart_have_no_r(make):
    with pytest.raises(InvalidInput, match="r = 2 needs tasks with common stationary points: add the dial conflict=0"):
        make(r=2.0)
