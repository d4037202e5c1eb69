"""Rates adapted to the round, and updates as printed: both engines, exact, and against the text of the paper."""

from fractions import Fraction

import numpy as np
import pytest
from worlds import exact_world, to_float, world

from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.kernels import algorithm, everything, rotation_bias, sign_bias, simulate, uniform
from cflag_theory.kernels.algorithms import ADAPTIONS
from cflag_theory.kernels.formulas import (
    common_rate,
    forgetting,
    interaction_rate,
    interference_rate,
    table1_rates,
    transference_rate,
)
from cflag_theory.kernels.problems.objective import gradients

SWITCHES = [{"adaptive": name} for name in ADAPTIONS[1:]] + [{"server": "printed"}]
IDS = [*ADAPTIONS[1:], "server printed"]
RUN = {"beta": 0.02, "local_steps": 4, "rounds": 4, "replicas": 2, "iterates": True}
EXACT = {"alpha": Fraction(1, 16), "beta": Fraction(1, 32), "local_steps": 3, "rounds": 1, "iterates": True}


def step_size(problem):
    return 0.5 / problem.constants["L"].value


@pytest.mark.full
@pytest.mark.parametrize("switch", SWITCHES, ids=IDS)
@pytest.mark.parametrize("memory", [everything(), uniform(2, redraw=True), sign_bias(m=0.5), rotation_bias(m=0.5)])
@pytest.mark.parametrize("seed", range(3))
def test_compiled_agrees_with_reference(switch, memory, seed):
    problem = world(seed, offsets=True, ragged=True)
    row = algorithm("c_flag", **switch)
    run = RUN | {"alpha": step_size(problem), "memory": memory, "seed": seed, "diagnostics": "all", "rounds": 2}
    plain, fast = (simulate(problem, row, **run, engine=engine) for engine in ("reference", "compiled"))
    # Rates are quotients: two rounds of the 1e-12 of one division, on vectors of length one.
    size = 1.0 + np.abs(plain.iterates).max()
    assert np.abs(fast.iterates - plain.iterates).max() <= 1e-12 * size
    for name in ("Gamma", "B", "delayed_sum2", "Lambda"):
        scale = 1.0 + np.abs(plain.column(name)).max()
        assert np.abs(fast.column(name) - plain.column(name)).max() <= 1e-12 * scale, name


@pytest.mark.parametrize("switch", SWITCHES, ids=IDS)
def test_fractions_stay_exact_and_agree_with_floats(switch):
    problem, row = exact_world(3), algorithm("c_flag", **switch)
    run = EXACT | {"memory": sign_bias(scale=Fraction(1, 2)), "seed": 4}
    exact = simulate(problem, row, **run, engine="reference")
    assert all(isinstance(value, Fraction) for column in exact.columns.values() for value in column.ravel())
    floats = simulate(to_float(problem), row, **run, engine="compiled")
    assert np.allclose(exact.iterates.astype(float), floats.iterates, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("switch", SWITCHES, ids=IDS)
def test_gamma_and_b_are_those_of_the_step_really_taken(switch):
    # For f = (L/2) ||x||^2 and b = theta grad f: f(x_t) - f(x_{t+1}) + B + Gamma
    #     = alpha ||grad f||^2 - (L alpha^2 / 2) (||grad f||^2 + ||b||^2), alpha the mean of the rates taken.
    from cflag_theory.kernels.problems.by_name import quadratic

    third = Fraction(1, 3)
    slopes = [[1, 2], [-3, 1], [2, -4]]
    problem = quadratic(
        np.array([np.eye(2, dtype=int)] * 3),
        [[Fraction(0)] * 2] * 3,
        np.arange(3),
        np.array([np.eye(2, dtype=int)] * 3),
        slopes,
        np.arange(3),
        L=1,
        p=[third] * 3,
        start=[Fraction(1), Fraction(-2)],
    )
    theta = Fraction(1, 2)
    run = EXACT | {"memory": sign_bias(scale=theta)}
    trace = simulate(problem, algorithm("c_flag", **switch), **run, engine="reference")
    x, after = trace.iterates[0]
    memory2, grad2 = trace.column("grad_memory2")[0, 0], trace.column("grad_f2")[0, 0]
    sign = 1 if memory2 > grad2 else -1
    G, bias2 = (1 + sign * theta) * x, theta**2 * grad2
    products = trace.column("Lambda")[0, 0]
    alphas = [EXACT["alpha"]] * 3
    if switch.get("adaptive") in ("average", "worst"):
        alphas = [EXACT["alpha"] * (1 - min(product, 0) / memory2) for product in products]
    elif switch.get("adaptive") == "printed":
        alphas = [EXACT["alpha"] * (1 - EXACT["beta"] * min(product, 0) / memory2) for product in products]
    alpha = sum(alphas) / 3
    S = (x - after - alpha * G) / EXACT["beta"]
    assert trace.column("delayed_sum2")[0, 0] == S @ S
    assert trace.column("Gamma")[0, 0] == forgetting(Fraction(1), alpha, EXACT["beta"], S @ S, G @ S)
    left = (x @ x - after @ after) / 2 + trace.column("B")[0, 0] + trace.column("Gamma")[0, 0]
    assert left == alpha * grad2 - alpha**2 / 2 * (grad2 + bias2)
    assert min(products) < 0 < max(products)


def written_out(problem, alpha, beta, E):
    """Algorithm 3 as printed, line by line, on one component a client; f_memory = f."""
    x, p, N = problem.start, problem.p, problem.clients
    L = problem.constants["L"].value
    at_x = gradients(problem.potential, problem.current, x)
    grad_g, G = p @ at_x, p @ gradients(problem.potential, problem.past, x)
    x_next = x
    for i in range(N):
        local = x
        for _ in range(E):
            local = local - beta * (grad_g - at_x[i] + gradients(problem.potential, problem.current, local)[i])
        a = x - E * beta * (grad_g - at_x[i]) - local
        product = G @ a
        if product > 0:
            alpha_i, beta_i = alpha, (1 - L * alpha) * product / (L * N * p[i] * (a @ a))
        else:
            alpha_i, beta_i = alpha * (1 - product / (G @ G)), beta
        a = beta_i / beta * a
        x_next = x_next - p[i] * (alpha_i * G + E * beta_i * (grad_g - at_x[i]) + a)
    return x_next


@pytest.mark.parametrize("seed", range(4))
def test_printed_algorithm_3_is_the_text(seed):
    problem = exact_world(seed, n=1, N=3)
    trace = simulate(problem, "c_flag_adaptive_printed", **EXACT, memory=everything(), engine="reference")
    assert (trace.iterates[0, 1] == written_out(problem, EXACT["alpha"], EXACT["beta"], 3)).all()
    repaired = simulate(problem, "c_flag_adaptive", **EXACT, memory=everything(), engine="reference")
    assert (trace.iterates[0, 1] != repaired.iterates[0, 1]).any()


def test_printed_server_update_is_line_12_with_line_2():
    problem = exact_world(0, n=1)
    run = EXACT | {"memory": everything(), "engine": "reference"}
    without_memory = simulate(problem, "c_flag", **(run | {"alpha": 0})).iterates[0, 1]
    printed = simulate(problem, "c_flag_printed", **run).iterates[0, 1]
    grad_f = problem.p @ gradients(problem.potential, problem.past, problem.start)
    # Without a memory step x_{t+1} is the weighted mean of the local iterates.
    assert (printed == problem.start - EXACT["alpha"] * grad_f - without_memory).all()


@pytest.mark.parametrize("seed", [0, 1, 5, 7])
def test_one_client_has_one_rate(seed):
    one = exact_world(seed, N=1)
    rows = [algorithm("c_flag", adaptive=name) for name in ("server", "clients", "average", "worst")]
    # alpha < 1/L, so that the rates of Table 1 are positive.
    run = EXACT | {"alpha": Fraction(1, 64), "memory": everything(), "engine": "reference"}
    traces = [simulate(one, row, **run) for row in rows]
    common, interacting, average, worst = (trace.iterates for trace in traces)
    assert (common == interacting).all()
    assert (average == worst).all()
    # Under transference both cases of Table 1 are (16) too; under interference (16) is not a step size.
    assert (average == common).all() == (traces[0].column("Lambda")[0, 0, 0] > 0)


def test_common_and_interacting_rates_never_raise_gamma():
    seen = 0
    for seed in range(12):
        problem = world(seed, N=4)
        run = RUN | {"rounds": 1, "memory": uniform(2), "replicas": 8, "seed": seed, "alpha": 3 * step_size(problem)}
        before, *after = (
            simulate(problem, algorithm("c_flag", adaptive=name), **run).column("Gamma")
            for name in ("none", "server", "clients")
        )
        for Gamma in after:
            assert (Gamma <= before + 1e-14).all()
            seen += int((Gamma < before - 1e-9).sum())
    assert seen > 100


def test_table_1_can_raise_gamma():
    from cflag_theory.kernels.problems.by_name import quadratic

    half = Fraction(1, 2)
    zero = np.zeros((2, 2), dtype=int)
    problem = quadratic(
        np.array([np.eye(2, dtype=int)] * 2),
        [[0, 0]] * 2,
        [0, 1],
        np.array([zero] * 2),
        [[1, -1], [-2, -2]],
        [0, 1],
        L=1,
        p=[half, half],
        start=[Fraction(3, 2), half],
    )
    run = {"alpha": half, "beta": half, "local_steps": 1, "rounds": 1, "memory": everything(), "engine": "reference"}
    constant, adapted = (
        simulate(problem, algorithm("c_flag", adaptive=name), **run).column("Gamma")[0, 0]
        for name in ("none", "average")
    )
    assert (constant, adapted) == (Fraction(-1, 16), Fraction(1, 80))


def test_formulas():
    L, alpha, beta, product, norm2 = Fraction(2), Fraction(1, 4), Fraction(1, 8), Fraction(3), Fraction(5)
    assert transference_rate(L, alpha, product, norm2) == Fraction(3, 20)
    assert interference_rate(alpha, -product, norm2) == Fraction(2, 5)
    assert table1_rates(L, alpha, beta, product, 7, norm2) == (alpha, Fraction(3, 20))
    assert table1_rates(L, alpha, beta, -product, 5, norm2) == (Fraction(2, 5), beta)
    assert table1_rates(L, alpha, beta, Fraction(0), Fraction(0), norm2) == (alpha, beta)
    assert common_rate(L, alpha, product, norm2) == Fraction(3, 20)
    assert common_rate(L, alpha, -product, norm2) == common_rate(L, Fraction(1), product, norm2) == 0
    # The common rate minimises the forgetting term over beta >= 0, and one client's rate is the common one.
    best = forgetting(L, alpha, Fraction(3, 20), norm2, product)
    assert all(best < forgetting(L, alpha, Fraction(3, 20) + d, norm2, product) for d in (-beta, beta))
    assert interaction_rate(L, alpha, beta, product, beta * 0 + norm2, norm2) == Fraction(3, 20)
    assert interaction_rate(L, alpha, beta, -product, norm2, norm2) == 0
    assert interaction_rate(L, alpha, beta, Fraction(0), Fraction(0), Fraction(0)) == beta


def test_zero_gradients_leave_the_rates_alone():
    problem = exact_world(0, n=1)
    grad_f = problem.p @ gradients(problem.potential, problem.past, problem.start)
    still = sign_bias(scale=Fraction(1))
    for switch in SWITCHES[:-1]:
        trace = simulate(problem, algorithm("c_flag", **switch), **EXACT, memory=still, engine="reference", seed=1)
        assert trace.ok
    # Some seed draws the sign -1, for which grad_f_memory = 0 and Table 1 divides by zero.
    drawn = {
        simulate(problem, "c_flag", **EXACT, memory=still, engine="reference", seed=seed).column("grad_memory2")[0, 0]
        for seed in range(8)
    }
    assert drawn == {Fraction(0), 4 * (grad_f @ grad_f)}
    for seed in range(8):
        run = EXACT | {"memory": still, "engine": "reference", "seed": seed}
        adapted, constant = (simulate(problem, row, **run) for row in ("c_flag_adaptive", "c_flag"))
        if constant.column("grad_memory2")[0, 0] == 0:
            assert (adapted.iterates == constant.iterates).all()


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"server": "lazy"}, UnknownName, "use one of 'round update', 'printed'"),
        ({"adaptive": "best"}, UnknownName, "use one of none, average, worst, printed, server, clients"),
        ({"server": "printed", "adaptive": "worst"}, InvalidInput, "leave out server or adaptive"),
        ({"adaptive": "worst", "memory": False}, InvalidInput, "needs memory=True"),
        ({"server": "printed", "server_rate": 2}, InvalidInput, "server_rate=1"),
    ],
)
def test_bad_rows(changes, error, words):
    with pytest.raises(error, match=words):
        algorithm("c_flag", **changes)
