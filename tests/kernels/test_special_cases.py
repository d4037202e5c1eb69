"""Algorithms that the papers call special cases of each other give the same runs."""

import numpy as np
import pytest
from worlds import grad_g, world

from cflag_theory.kernels import algorithm, simulate, uniform

ENGINES = ["compiled", "reference"]
RUN = {"beta": 0.05, "local_steps": 5, "rounds": 6, "replicas": 2, "seed": 3, "iterates": True}


def iterates(problem, row, engine, **changes):
    return simulate(problem, row, **(RUN | changes), engine=engine).iterates


@pytest.mark.parametrize("engine", ENGINES)
def test_c_flag_without_memory_step_is_fedtrack(engine):
    problem = world(0, offsets=True)
    memory = uniform(2)
    c_flag = simulate(problem, "c_flag", alpha=0, memory=memory, **RUN, engine=engine)
    fedtrack = simulate(problem, "fedtrack", memory=memory, **RUN, engine=engine)
    assert np.array_equal(c_flag.iterates, fedtrack.iterates)
    assert c_flag.columns.keys() == fedtrack.columns.keys()
    for name in c_flag.columns.keys() - {"ifo_calls", "communicated"}:
        assert np.array_equal(c_flag.column(name), fedtrack.column(name))
    # The memory step is paid for though its rate is 0: two components of each of three clients.
    assert (c_flag.column("ifo_calls") - fedtrack.column("ifo_calls") == 2 * problem.clients).all()
    moved = simulate(problem, "c_flag", alpha=0.1, memory=memory, **RUN, engine=engine)
    assert np.abs(moved.iterates - fedtrack.iterates).max() > 1e-3


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("row", ["fedtrack", "local_gd"])
def test_one_client_one_step_is_gradient_descent(engine, row):
    problem = world(1, N=1)
    run = iterates(problem, row, engine, local_steps=1)
    x = problem.start
    for t in range(RUN["rounds"]):
        assert np.allclose(run[:, t], x, rtol=0, atol=1e-14)
        x = x - RUN["beta"] * grad_g(problem, x)


@pytest.mark.parametrize("engine", ENGINES)
def test_fedprox_without_weight_is_fedavg(engine):
    problem = world(2)
    fedavg = iterates(problem, "fedavg", engine)
    assert np.array_equal(iterates(problem, algorithm("fedprox", proximal=0), engine), fedavg)
    assert np.abs(iterates(problem, "fedprox", engine) - fedavg).max() > 1e-6


@pytest.mark.parametrize("engine", ENGINES)
def test_one_component_per_client_makes_stochastic_full(engine):
    problem = world(3, n=1, offsets=True)
    assert np.allclose(iterates(problem, "fedavg", engine), iterates(problem, "local_gd", engine), rtol=0, atol=1e-14)


@pytest.mark.parametrize("engine", ENGINES)
def test_scaffold_with_one_client_is_fedavg(engine):
    problem = world(4, N=1)
    assert np.allclose(iterates(problem, "scaffold", engine), iterates(problem, "fedavg", engine), rtol=0, atol=1e-13)
    several = world(4, N=3)
    assert np.abs(iterates(several, "scaffold", engine) - iterates(several, "fedavg", engine)).max() > 1e-5


@pytest.mark.parametrize("engine", ENGINES)
def test_fedtrack_with_one_component_is_full_gradient_tracking(engine):
    problem = world(5, n=1)
    full = algorithm("fedtrack", estimator="full")
    assert np.allclose(iterates(problem, "fedtrack", engine), iterates(problem, full, engine), rtol=0, atol=1e-14)


@pytest.mark.parametrize("engine", ENGINES)
def test_scaffold_with_full_gradients_and_one_step_tracks(engine):
    # With E = 1 option II sets c_i to grad g_i(x_t), so that from the second round on u_i is the tracking term of
    # the round before; the averaged step is grad g(x_t) either way.
    problem = world(6)
    scaffold = algorithm("scaffold", estimator="full")
    descent = iterates(problem, "local_gd", engine, local_steps=1)
    assert np.allclose(iterates(problem, scaffold, engine, local_steps=1), descent, rtol=0, atol=1e-13)


@pytest.mark.parametrize("engine", ENGINES)
def test_scaffold_keeps_its_control_variates_over_rounds(engine):
    problem = world(7)
    E, beta = RUN["local_steps"], RUN["beta"]
    run = iterates(problem, algorithm("scaffold", estimator="full"), engine)[0]
    from cflag_theory.kernels.problems.objective import gradients

    x, control = problem.start, np.zeros((problem.clients, problem.dimension))
    for t in range(RUN["rounds"]):
        assert np.allclose(run[t], x, rtol=0, atol=1e-13)
        c = problem.p @ control
        local = np.stack([x] * problem.clients)
        for _ in range(E):
            now = [gradients(problem.potential, problem.current, local[i])[i] for i in range(problem.clients)]
            local = local - beta * (np.stack(now) - control + c)
        control = control - c + (x - local) / (E * beta)
        x = problem.p @ local


@pytest.mark.parametrize("engine", ENGINES)
def test_server_rate_scales_the_first_step(engine):
    problem = world(8)
    once = iterates(problem, "fedavg", engine, rounds=1)
    twice = iterates(problem, algorithm("fedavg", server_rate=2), engine, rounds=1)
    assert np.allclose(twice[:, 1] - problem.start, 2 * (once[:, 1] - problem.start), rtol=0, atol=1e-14)
