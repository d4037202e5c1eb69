"""Local steps and server steps of the user: they coincide with rows of the table, and do what a page by hand says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.kernels import (
    algorithm,
    everything,
    make_problem,
    own_algorithm,
    random_glm,
    simulate,
    uniform,
    write_trace,
)
from cflag_theory.kernels.problems.quadratic import quadratic

PROBLEM = random_glm(clients=2, components=4, dimension=3, potential="geman_mcclure")
RUN = dict(beta=0.1, local_steps=4, rounds=5, iterates=True, replicas=2, seed=3)


@pytest.mark.parametrize(
    ("row", "step", "memory"),
    [
        ("fedavg", lambda x, gradient, beta: x - beta * gradient, False),
        ("local_gd", lambda x, full_gradient, beta: x - beta * full_gradient, False),
        ("fedprox", lambda x, x_t, gradient, beta, mu=0.1: x - beta * (gradient + mu * (x - x_t)), False),
        (
            "fedtrack",
            lambda x, delayed_gradient, grad_g, grad_g_i, beta: x - beta * (delayed_gradient + grad_g - grad_g_i),
            False,
        ),
        (
            "c_flag",
            lambda x, delayed_gradient, grad_g, grad_g_i, beta: x - beta * (delayed_gradient + (grad_g - grad_g_i)),
            True,
        ),
    ],
)
def test_an_own_local_step_is_the_row_of_the_table(row, step, memory):
    sizes = {"alpha": 0.2} if memory else {}
    table, own = (
        simulate(PROBLEM, one, engine=engine, memory=uniform(2), diagnostics="all", **RUN, **sizes)
        for one, engine in ((row, "reference"), (own_algorithm(step, memory=memory), "compiled"))
    )
    if row == "fedtrack":
        np.testing.assert_allclose(own.iterates, table.iterates, rtol=1e-13)
    else:
        assert (own.iterates == table.iterates).all()
    # Lambda of an own step has its correction in it, which cancels in all that sums over clients.
    for name in ("f", "g", "grad_f2", "drift2_max", "ifo_calls", "communicated", "delayed_sum2", "Gamma", "B"):
        np.testing.assert_allclose(own.column(name), table.column(name), rtol=1e-9, atol=1e-12)
    assert own.config["engine"] == "reference"


def parabolas():
    """g_1 = (x - 1)^2 / 2 and g_2 = x^2, one component each, x_0 = 2."""
    matrices, vectors = [[[Fraction(1)]], [[Fraction(2)]]], [[Fraction(1)], [Fraction(0)]]
    return quadratic(matrices, vectors, [0, 1], matrices, vectors, [0, 1], p=[Fraction(1, 2)] * 2, start=[Fraction(2)])


def test_server_momentum_by_hand():
    """Two rounds of E = 1, beta = 1/4, gamma = 1/2.

    Round 0: grad g = ((2 - 1) + 2 * 2) / 2 = 5/2, d = -5/8, v = -5/8, x_1 = 11/8. Round 1: grad g = (3/8 + 11/4) / 2
    = 25/16, d = -25/64, v = -5/16 - 25/64 = -45/64, x_2 = 43/64.
    """

    def momentum(x_t, displacement, state, gamma=Fraction(1, 2)):
        state = gamma * state + displacement
        return x_t + state, state

    row = own_algorithm(None, momentum, server_state=lambda x: 0 * x, row="local_gd")
    trace = simulate(parabolas(), row, beta=Fraction(1, 4), local_steps=1, rounds=2, iterates=True)
    assert trace.iterates[0, :, 0].tolist() == [2, Fraction(11, 8), Fraction(43, 64)]
    # x_{t+1} = x_t - beta S.
    assert trace.column("delayed_sum2")[0].tolist() == [Fraction(5, 2) ** 2, Fraction(45, 16) ** 2]
    still = simulate(
        parabolas(), algorithm_with(row, gamma=0), beta=Fraction(1, 4), local_steps=1, rounds=2, iterates=True
    )
    plain = simulate(
        parabolas(), "local_gd", beta=Fraction(1, 4), local_steps=1, rounds=2, iterates=True, engine="reference"
    )
    assert (still.iterates == plain.iterates).all()


def algorithm_with(row, **settings):
    from cflag_theory.kernels.own.algorithms import with_settings

    return with_settings(row, settings)


def test_replicas_have_states_of_their_own():
    def counting(x_t, displacement, state, t):
        state.append(t)
        assert len(state) == t + 1
        return x_t + displacement, state

    row = own_algorithm(None, counting, server_state=[])
    one, three = (simulate(PROBLEM, row, **RUN | {"replicas": count}) for count in (1, 3))
    assert (one.iterates[0] == three.iterates[0]).all()


def test_a_server_step_may_take_memory_and_few_clients():
    def server(x_t, displacement, grad_f_memory, alpha):
        return x_t + displacement - alpha * grad_f_memory

    row = own_algorithm(None, server, row="fedtrack")
    assert row.memory
    mine, theirs = (
        simulate(PROBLEM, one, alpha=0.2, memory=everything(), engine="reference", **RUN) for one in (row, "c_flag")
    )
    np.testing.assert_allclose(mine.iterates, theirs.iterates, rtol=1e-13)
    mean = own_algorithm(None, lambda x_t, displacement: x_t + displacement)
    mine, theirs = (
        simulate(PROBLEM, one, participants=1, engine="reference", **RUN) for one in (mean, algorithm("fedavg"))
    )
    assert (mine.iterates == theirs.iterates).all()
    drifting = make_problem("noisy_quadratic")
    assert simulate(drifting, mean, beta=0.01, local_steps=1, rounds=2).ok
    with pytest.raises(InvalidInput, match="needs all clients on fixed local data"):
        simulate(PROBLEM, own_algorithm(lambda x: x), participants=1, **RUN)


def test_an_exact_run_of_an_own_step():
    run = dict(local_steps=2, rounds=2, engine="reference", iterates=True)
    row = own_algorithm(lambda x, gradient, beta: x - beta * gradient)
    mine, theirs = (simulate(parabolas(), one, beta=Fraction(1, 8), **run) for one in (row, "fedavg"))
    assert (mine.iterates == theirs.iterates).all()
    assert all(isinstance(one, Fraction) for one in mine.iterates.ravel())
    with pytest.raises(InvalidInput, match=r"local_step returned .*, which is not a fraction, in an exact run"):
        simulate(parabolas(), own_algorithm(lambda x: np.array([0.5])), beta=1, local_steps=1, rounds=1)


def test_a_record_names_the_functions(tmp_path):
    row = own_algorithm(lambda x, full_gradient, gain=2: x - gain * full_gradient / 8, name="mine", gain=3)
    trace = simulate(PROBLEM, row, **RUN)
    config = trace.config["algorithm"]
    assert (config["name"], config["settings"]) == ("mine", {"gain": "3"})
    assert config["local_step"].startswith(f"{__file__}, line ")
    write_trace(tmp_path / "run.npz", trace)


def shifting(x):
    x += 1
    return x


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((lambda x: x[:1],), r"local_step returned array.*: return the next iterate, a vector of shape \(3,\)"),
        ((lambda x: None,), "local_step returned None"),
        ((lambda x: x * np.nan,), "local_step returned NaN at array"),
        ((lambda x: 1 / 0,), r"local_step raised ZeroDivisionError \(division by zero\) in line"),
        ((shifting,), "local_step writes to an array that it was given"),
        ((None, lambda x_t: [1]), "server_step returned"),
        ((None, lambda x_t, state: x_t), "server_step names state and returned no pair"),
        ((None, lambda displacement: displacement.sort()), "server_step writes to an array"),
    ],
)
def test_a_wrong_step_is_refused_in_one_sentence(parts, message):
    with pytest.raises(InvalidInput, match=message) as told:
        simulate(PROBLEM, own_algorithm(*parts), **RUN)
    assert str(told.value).startswith(f"{__file__}, line ")
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: own_algorithm(), InvalidInput, "needs local_step, server_step or both"),
        (lambda: own_algorithm(lambda x, slope: x), UnknownName, "local_step needs 'slope', which is unknown"),
        (lambda: own_algorithm(lambda *x: x), InvalidInput, r"takes \*x: name every argument"),
        (lambda: own_algorithm(3), InvalidInput, "local_step is 3: use a function"),
        (lambda: own_algorithm(lambda x: x, mu=1), UnknownName, "has no setting 'mu'"),
        (lambda: own_algorithm(lambda x: x, row="fedavg"), InvalidInput, "leave out one"),
        (lambda: own_algorithm(lambda x: x, server_state=1), InvalidInput, "server_step is not"),
        (lambda: own_algorithm(None, lambda x_t: x_t, row="c_flag_adaptive"), InvalidInput, "constant rates"),
    ],
)
def test_parts_that_do_not_fit_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
