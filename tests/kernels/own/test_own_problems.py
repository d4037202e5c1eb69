"""Finite sums of a user's functions: they run as built-in problems do, and what is wrong with them is said at once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import (
    algorithm,
    everything,
    finite_sum,
    given,
    glm,
    rotation_bias,
    sign_bias,
    simulate,
    to_exact,
    uniform,
)
from cflag_theory.kernels.problems.problem import MEASURED, STATED, digest

N, n, d = 2, 5, 3
random = np.random.default_rng(0)
ROWS = random.standard_normal((2, N, n, d))
RUN = dict(beta=0.1, local_steps=4, rounds=6, iterates=True)


def value(x, row):
    z = row @ x
    return np.log1p(np.exp(-abs(z))) + max(-z, 0.0)


def gradient(x, row):
    return -row / (1 + np.exp(row @ x))


def quartic(x, a):
    """Rational, and no ridge function; in Python alone, for its list."""
    return sum([(a * c) ** 2 / 2 for c in x]) + x[0] * x[-1]


def quartic_gradient(x, a):
    out = a * a * x
    out[0] += x[-1]
    out[-1] += x[0]
    return out


def own(functions=(value, gradient), **changes):
    given_data = {"past": list(ROWS[0]), "current": list(ROWS[1]), "start": np.zeros(d), "lower": 0}
    return finite_sum(functions, **given_data | changes)


@pytest.fixture(scope="module")
def logistic():
    """The built-in loss is 4 log(1 + e^-z)."""
    owners, quarter = np.repeat(np.arange(N), n), np.full(N * n, 0.25)
    past, current = ROWS.reshape(2, -1, d)
    nothing = np.zeros(N * n)
    tasks = (past, nothing, owners, current, nothing, owners)
    return glm(*tasks, potential="logistic", past_weights=quarter, current_weights=quarter)


@pytest.mark.parametrize("engine", ["reference", pytest.param("compiled", marks=pytest.mark.full)])
@pytest.mark.parametrize(
    ("row", "memory"),
    [
        ("c_flag", uniform(2)),
        ("c_flag", uniform(3, redraw=True)),
        ("c_flag", sign_bias(m=0.5, redraw=True)),
        ("fedtrack", rotation_bias(m=0.5)),
        ("fedprox", everything()),
        ("scaffold", given([[0, 2], [6]])),
        ("local_gd", None),
        ("c_flag_printed", uniform(2)),
        ("c_flag_adaptive", uniform(2)),
        ("c_flag_adaptive_printed", everything()),
        (algorithm("c_flag", adaptive="clients"), uniform(2)),
        (algorithm("c_flag", adaptive="server"), uniform(2)),
    ],
)
def test_an_own_logistic_loss_is_the_built_in_one(row, memory, engine, logistic):
    # Adapted rates have L in them.
    L = logistic.constants["L"].value
    sizes = {"alpha": 0.2} if "c_flag" in getattr(row, "name", row) else {}
    mine, theirs = (
        simulate(one, row, memory=memory, replicas=2, seed=5, engine=used, diagnostics="all", every=2, **RUN, **sizes)
        for one, used in ((own(L=L), engine), (logistic, "reference"))
    )
    assert mine.config["engine"] == engine
    np.testing.assert_allclose(mine.iterates, theirs.iterates, rtol=1e-10, atol=1e-13)
    for name in theirs.columns.keys() - {"Gamma", "B"}:
        np.testing.assert_allclose(mine.column(name), theirs.column(name), rtol=1e-8, atol=1e-10)
    for name, end in theirs.end.items():
        np.testing.assert_allclose(mine.end[name], end, rtol=1e-10)


def test_measured_constants_are_lower_bounds_and_stated_ones_are_stated(logistic):
    found = own().constants
    for name in ("L", "L_component"):
        true = logistic.constants[name].value
        assert 0.7 * true < found[name].value <= true * (1 + 1e-9)
        assert found[name].kind == MEASURED
        assert "lower bound" in found[name].why
    assert "lower bounds" in own().notes[0]
    stated = own(L=2.0, L_component=4)
    assert (stated.constants["L"].value, stated.constants["L"].kind, stated.notes) == (2.0, STATED, ())
    assert stated.lower.value == 0
    assert own(lower=None).lower.value is None


def test_an_exact_run_is_exact():
    """Against the same sum by hand: g_i = a^2 |x|^2 / 2 + x_0 x_1, one client, gradient descent."""
    start = np.array([Fraction(1), Fraction(1, 2)])
    problem = finite_sum(
        (quartic, quartic_gradient),
        past=[[Fraction(1)]],
        current=[[Fraction(1, 2), Fraction(2)]],
        start=start,
        L=Fraction(6),
        L_component=5,
    )
    trace = simulate(problem, "local_gd", beta=Fraction(1, 10), local_steps=1, rounds=2, iterates=True)
    x, curvature = start, Fraction(1, 2) * (Fraction(1, 4) + 4)
    for t in range(3):
        assert (trace.iterates[0, t] == x).all()
        x = x - Fraction(1, 10) * (curvature * x + x[::-1])
    assert all(isinstance(one, Fraction) for one in trace.iterates.ravel())
    with pytest.raises(InvalidInput, match="an exact problem needs an exact one: state L="):
        finite_sum((quartic, quartic_gradient), past=[[1]], current=[[1]], start=start)
    with pytest.raises(InvalidInput, match="not a fraction, in an exact run"):
        finite_sum((lambda x, a: 0.5 * x[0], quartic_gradient), past=[[1]], current=[[1]], start=start, L=1)
    with pytest.raises(InvalidInput, match="give finite_sum a start of Fraction"):
        to_exact(own())


def test_what_numba_cannot_compile_runs_in_python():
    class Loss:
        value = staticmethod(quartic)
        gradient = staticmethod(quartic_gradient)

    problem = finite_sum(Loss, past=[[1.0, 2.0]], current=[[1.0, 0.5]], start=np.ones(2))
    trace = simulate(problem, "fedavg", beta=0.1, local_steps=2, rounds=3)
    assert trace.config["engine"] == trace.config["loop"] == "reference"
    assert trace.at_end("g")[0] < trace.column("g")[0, 0]


def test_a_digest_tells_functions_and_data_apart():
    def steeper(x, row):
        return 2 * value(x, row)

    def steeper_gradient(x, row):
        return 2 * gradient(x, row)

    class Scaled:
        def __init__(self, scale):
            self.scale = scale

        def value(self, x, row):
            return self.scale * value(x, row)

        def gradient(self, x, row):
            return self.scale * gradient(x, row)

    assert len({digest(own(Scaled(scale))) for scale in (1, 2, 2)}) == 2
    digests = {digest(own()), digest(own((steeper, steeper_gradient))), digest(own(current=list(ROWS[1] / 2)))}
    assert len(digests) == 3
    assert digest(own()) in digests


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(np.array([1.0, 2.0, 4.0]), id="numbers"),
        pytest.param(np.array([1, 2, 4]), id="integers", marks=pytest.mark.full),
        pytest.param(np.arange(1.0, 13.0).reshape(3, 2, 2), id="matrices"),
    ],
)
def test_data_of_any_shape_run_as_machine_code(data):
    def square(x, a):
        return 0.5 * np.sum(a) * (x @ x)

    def square_gradient(x, a):
        return np.sum(a) * x

    problem = finite_sum((square, square_gradient), past=[data], current=[data[:2]], start=np.ones(2))
    run = dict(beta=0.01, local_steps=3, rounds=4, memory=uniform(2), iterates=True)
    found = [simulate(problem, "fedavg", engine=engine, **run) for engine in ("compiled", "reference")]
    assert [one.config["engine"] for one in found] == ["compiled", "reference"]
    np.testing.assert_allclose(found[0].iterates, found[1].iterates, rtol=1e-14)


def raising(x, row):
    return [][3]


def writing(x, row):
    x[0] = 1.0
    return gradient(x, row)


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        ((value, lambda x, row: -gradient(x, row)), "gradient of past component 0 of client 0 gives the slope"),
        ((value, lambda x, row: gradient(x, row) * (1, 1, 1.01)), "make it the gradient of value"),
        (
            (value, lambda x, row: gradient(x, row)[:2]),
            r"gradient returned .*: return the gradient, a vector of shape \(3,\)",
        ),
        ((lambda x, row: x, gradient), "value returned array.*: return a real number"),
        ((lambda x, row: None, gradient), "value returned None: return a real number"),
        ((lambda x, row: np.nan, gradient), "value returned NaN at array"),
        ((value, lambda x, row: row * np.nan), "gradient returned NaN at array"),
        ((lambda x, row: np.inf, gradient), "value of past component 0 of client 0 is not finite at x_0"),
        (
            (raising, gradient),
            r"value raised IndexError \(list index out of range\) in line \d+ of test_own_problems.py",
        ),
        ((value, writing), "gradient writes to an array that it was given: work on a copy"),
        ((value,), r"pass the pair \(value, gradient\)"),
    ],
)
def test_a_wrong_function_is_refused_in_one_sentence(functions, message):
    with pytest.raises(InvalidInput, match=message) as told:
        own(functions)
    assert "\n" not in str(told.value)
    if len(functions) == 2:
        assert str(told.value).startswith(f"{__file__}, line ")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"L": 0.01}, "L is stated as 0.01 and two gradients need"),
        ({"lower": 0.7}, "lower is 0.7 and f is below it at x_0"),
        ({"L": -1}, "L is -1: use a finite positive number"),
        ({"past": list(ROWS[0, :1])}, "past has 1 clients and current has 2"),
        ({"past": [ROWS[0, 0], []]}, "client 1 has no past components"),
        ({"start": []}, "start has length 0"),
        ({"labels": [0, 1]}, "one integer to each of the 10 components"),
    ],
)
def test_bad_arguments_are_refused(change, message):
    with pytest.raises(InvalidInput, match=message):
        own(**change)


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_nan_along_the_way_is_the_function_s_and_no_divergence(engine):
    """It is not reached from x_0 by the checks, but by the run."""

    def edge(x, row):
        return -10 * x[0] if x[0] < 20 else np.nan

    def edge_gradient(x, row):
        return np.array([-10.0, 0.0, 0.0]) if x[0] < 20 else np.array([np.nan, 0.0, 0.0])

    problem = own((edge, edge_gradient), L=1, L_component=1, lower=None)
    with pytest.raises(InvalidInput, match=r"(value|gradient) returned NaN at array"):
        simulate(problem, "local_gd", engine=engine, **RUN)


def test_models_of_second_derivatives_are_refused():
    with pytest.raises(InvalidInput, match="have neither second derivatives nor rows: use past='exact'"):
        simulate(own(), "cfl_taylor", **RUN)
    assert simulate(own(), "cfl", **RUN).config["engine"] == "reference"
    with pytest.raises(InvalidInput, match="runs in float64 alone"):
        simulate(own(), "fedavg", dtype="float32", **RUN)
