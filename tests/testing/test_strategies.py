"""Strategies: what they draw is what they promise, in exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.kernels import simulate
from cflag_theory.kernels.problems.objective import mean_hessian
from cflag_theory.testing import memories, participation, problems, sample_orders, step_sizes

BOUNDS = {"strongly convex": (Fraction(1, 4), 2), "convex": (0, 2), "non-convex": (-2, 2)}


def eigenvalue_range(matrix):
    values = np.linalg.eigvalsh(matrix.astype(float))
    return values[0], values[-1]


@pytest.mark.parametrize("convexity", BOUNDS)
@settings(max_examples=25)
@given(data=st.data())
def test_problems_have_the_promised_curvature(convexity, data):
    problem = data.draw(problems(convexity=convexity, L=2))
    low, high = BOUNDS[convexity]
    zero = problem.start * 0
    found = []
    for part in (problem.past, problem.current):
        for j in range(int(part.client_start[-1])):
            found.append(eigenvalue_range(mean_hessian(problem.potential, part, np.array([j]), zero)))
    assert min(a for a, _ in found) >= float(low) - 1e-12
    assert max(b for _, b in found) <= high + 1e-12
    assert problem.exact
    if convexity == "non-convex":
        assert min(a for a, _ in found) < 0


@settings(max_examples=20)
@given(st.data())
def test_draws_run_exactly(data):
    problem = data.draw(problems())
    memory = data.draw(memories(problem))
    alpha, beta = data.draw(step_sizes("alpha < 2/(L(1+m))", m=1, E=2))
    orders = data.draw(sample_orders(problem, rounds=2, local_steps=2))
    trace = simulate(
        problem,
        "c_flag",
        alpha=alpha,
        beta=beta,
        local_steps=2,
        rounds=2,
        memory=memory,
        orders=orders,
        engine="reference",
        throw=False,
    )
    assert all(isinstance(one, Fraction | int) for one in trace.column("f").ravel())
    assert 0 < alpha < 1


@pytest.mark.full
def test_problems_shrink_to_small_ones():
    found = find(problems(), lambda problem: problem.clients > 1)
    assert found.clients == 2
    assert found.dimension == 1
    assert len(found.past.shifts) == 2


def test_step_sizes_outside_miss_the_condition():
    alpha, beta = find(step_sizes("L (alpha + beta E) <= 1", E=4, inside=False), lambda found: True)
    assert alpha + 4 * beta > 1
    with pytest.raises(UnknownName, match="step_sizes knows no condition 'alpha small': use one of alpha"):
        find(step_sizes("alpha small"), lambda found: True)
    with pytest.raises(InvalidInput, match="no step sizes of the grid miss m < 1"):
        find(step_sizes("m < 1", m=0, inside=False), lambda found: True)


def test_bad_parameters():
    for given_, words in (({"convexity": "flat"}, "use one of strongly convex"), ({"mu": 2}, "use 0 < mu <= L")):
        with pytest.raises(InvalidInput, match=words):
            find(problems(**given_), lambda found: True)


@given(participation(3, 4))
def test_somebody_takes_part(drawn):
    assert len(drawn) == 4
    assert all(round_ and round_ == sorted(set(round_)) and set(round_) <= {0, 1, 2} for round_ in drawn)
