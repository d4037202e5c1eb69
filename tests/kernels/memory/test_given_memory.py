"""A memory that is given, not drawn: exactly those components, in both engines, and special cases that coincide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from worlds import exact_world, world

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import (
    bias_bound,
    everything,
    given,
    random_separable,
    read_trace,
    simulate,
    uniform,
    write_trace,
)
from cflag_theory.kernels.memory.memory import Memory, draw_subset
from cflag_theory.kernels.problems.objective import mean_gradient, mean_value

RUN = {"alpha": 0.05, "beta": 0.02, "local_steps": 4, "rounds": 5, "iterates": True, "seed": 3}


def drawn(problem, size, *, seed, replica):
    """What a uniform memory draws, client by client."""
    kept = []
    for i, count in enumerate(problem.past.counts.tolist()):
        order = np.empty(count, dtype=np.int64)
        first = int(problem.past.client_start[i])
        n = draw_subset(seed, replica, i, 0, problem.labels, first, count, size, False, order)
        kept.append(order[:n].tolist())
    return kept


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize("offsets", [False, True])
def test_a_given_memory_is_the_drawn_one_that_it_repeats(engine, offsets):
    problem = world(4, N=3, n=6, d=4, offsets=offsets, ragged=True)
    first = simulate(problem, "c_flag", **RUN, memory=uniform(2), engine=engine)
    again = simulate(
        problem, "c_flag", **RUN, memory=given(drawn(problem, 2, seed=RUN["seed"], replica=0)), engine=engine
    )
    np.testing.assert_allclose(again.iterates, first.iterates, rtol=1e-13, atol=1e-13)
    for name in ("grad_memory2", "b2", "Gamma", "h", "Lambda"):
        np.testing.assert_allclose(again.column(name), first.column(name), rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_its_gradient_is_the_mean_over_the_kept_components(engine):
    problem = world(9, N=2, n=5, d=3)
    a, b = problem.past.client_start[:2].tolist()
    kept = [[a + 3, a], [b + 1]]
    trace = simulate(problem, "c_flag", **RUN, memory=given(kept), replicas=3, engine=engine)
    for t in range(RUN["rounds"]):
        x = trace.iterates[1, t]
        chosen = [np.array(indices) for indices in kept]
        gradient = sum(
            p * mean_gradient(problem.potential, problem.past, j, x) for p, j in zip(problem.p, chosen, strict=True)
        )
        assert trace.column("grad_memory2")[1, t] == pytest.approx(gradient @ gradient, rel=1e-12)
        value = sum(
            p * mean_value(problem.potential, problem.past, j, x) for p, j in zip(problem.p, chosen, strict=True)
        )
        share = 3 / (3 + int(problem.current.counts.sum()))
        g = trace.column("g")[1, t]
        assert trace.column("h")[1, t] == pytest.approx(share * value + (1 - share) * g, rel=1e-12)


def test_all_components_given_leave_no_bias():
    problem = world(2, N=2, n=4, d=3)
    everyone = [range(a, b) for a, b in zip(problem.past.client_start[:-1], problem.past.client_start[1:], strict=True)]
    whole = simulate(problem, "c_flag", **RUN, memory=everything())
    same = simulate(problem, "c_flag", **RUN, memory=given([list(indices) for indices in everyone]))
    np.testing.assert_allclose(same.iterates, whole.iterates, rtol=1e-12, atol=1e-14)
    assert same.column("b2").max() < 1e-28


def test_exact_runs_take_a_given_memory():
    problem = exact_world(5)
    first = int(problem.past.client_start[1])
    run = {"alpha": 0, "beta": problem.p[0] / 8, "local_steps": 2, "rounds": 2, "engine": "reference"}
    trace = simulate(problem, "c_flag", **run, memory=given([[0], [first]]))
    x = problem.start
    gradient = sum(
        problem.p[i] * mean_gradient(problem.potential, problem.past, np.array([j]), x) for i, j in ((0, 0), (1, first))
    )
    assert trace.column("grad_memory2")[0, 0] == gradient @ gradient


def test_a_run_records_what_it_remembered(tmp_path):
    problem = world(3, N=2, n=4, d=2)
    trace = simulate(problem, "c_flag", **RUN, memory=given([[0, 2], [5]]))
    assert trace.config["memory"]["kept"] == [[0, 2], [5]]
    write_trace(tmp_path / "run.npz", trace)
    read = read_trace(tmp_path / "run.npz")
    assert read.config == trace.config
    again = simulate(problem, "c_flag", **RUN, memory=given(read.config["memory"]["kept"]))
    assert again.config == trace.config
    assert np.array_equal(again.iterates, trace.iterates)
    assert simulate(problem, "c_flag", **RUN, memory=uniform(2)).config["memory"]["kept"] == []


def test_the_bias_of_a_given_memory_is_known_where_that_of_a_chosen_one_is():
    problem = random_separable(clients=2, past=6, seed=1)
    kept = [[0, 2, 5], [7, 8]]
    assert bias_bound(problem, given(kept)).value == bias_bound(problem, uniform(3), chosen=kept).value


@pytest.mark.parametrize(
    ("kept", "message"),
    [
        ([[0]], "kept names 1 clients of 2"),
        ([[0], [1]], r"kept\[1\] is \[1\]: use distinct integers from 4 to 7"),
        ([[0, 0], [5]], r"kept\[0\]"),
        ([[], [5]], r"kept\[0\]"),
    ],
)
def test_what_does_not_fit_the_problem_is_refused(kept, message):
    problem = world(1, N=2, n=4, d=2)
    with pytest.raises(InvalidInput, match=message):
        simulate(problem, "c_flag", **RUN, memory=Memory("given", kept=tuple(map(tuple, kept))))


def test_bad_lists_are_refused_at_once():
    with pytest.raises(InvalidInput, match=r"kept\[0\] is \[0.5\]"):
        given([[0.5]])
    with pytest.raises(InvalidInput, match="one sequence a client"):
        given([])
    with pytest.raises(InvalidInput, match="use given"):
        replace(everything(), kept=((0,),))
