"""Potentials of the user: in every engine that can call them, what the built-in ones are."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.kernels import glm, own_potential, simulate, uniform
from cflag_theory.kernels.problems.problem import MEASURED, STATED, digest
from cflag_theory.kernels.problems.separable import random_separable


def cauchy(z):
    return math.log1p(z * z / 2)


def cauchy_slope(z):
    return z / (1 + z * z / 2)


def cauchy_curvature(z):
    return (1 - z * z / 2) / ((1 + z * z / 2) * (1 + z * z / 2))


def parabola(z):
    return 3 * z * z / 2


def three_z(z):
    return 3 * z


def world(potential, **weights):
    random = np.random.default_rng(1)
    rows, owners = random.standard_normal((2, 8, 3)), np.repeat([0, 1], 4)
    targets = random.standard_normal((2, 8))
    return glm(rows[0], targets[0], owners, rows[1], targets[1], owners, potential=potential, **weights)


@pytest.mark.parametrize("row", ["c_flag", "cfl_taylor"])
@pytest.mark.parametrize("mode", ["bitwise", "fast"])
def test_an_own_potential_is_the_built_in_one_in_all_loops(row, mode):
    mine = own_potential(cauchy, cauchy_slope, cauchy_curvature, bound=1, lower=0)
    sizes = {"alpha": 0.1, "memory": uniform(2)} if row == "c_flag" else {}
    run = dict(beta=0.05, local_steps=3, rounds=5, replicas=4, iterates=True, mode=mode, **sizes)
    own, theirs = (simulate(world(one), row, **run) for one in (mine, "cauchy"))
    assert own.config["engine"] == "compiled"
    np.testing.assert_allclose(own.iterates, theirs.iterates, rtol=1e-12, atol=1e-14)
    single = simulate(world(mine), row, **run | {"engine": "reference"})
    np.testing.assert_allclose(single.iterates, theirs.iterates, rtol=1e-12, atol=1e-14)


def test_constants_have_the_bound_in_them():
    plain, stated, measured = (
        world(one).constants
        for one in ("quadratic", own_potential(parabola, three_z, bound=3), own_potential(parabola, three_z))
    )
    for name in ("L", "L_component"):
        assert stated[name].value == pytest.approx(3 * plain[name].value, rel=1e-12)
        assert measured[name].value == pytest.approx(3 * plain[name].value, rel=1e-6)
        assert (stated[name].kind, measured[name].kind) == (STATED, MEASURED)
        assert "lower bound" in measured[name].why
    separable = random_separable(potential=own_potential(parabola, three_z, bound=3), clients=2, dimension=2)
    assert separable.constants["L"].value == pytest.approx(
        3 * random_separable(clients=2, dimension=2).constants["L"].value
    )


def test_a_separable_problem_needs_a_minimum_at_zero():
    tilted = own_potential(lambda z: parabola(z) + z, lambda z: three_z(z) + 1, bound=3)
    with pytest.raises(InvalidInput, match="has no minimum at 0"):
        random_separable(potential=tilted, clients=2, dimension=2)


def test_lower_bounds_and_negative_weights():
    assert world(own_potential(cauchy, cauchy_slope, bound=1)).lower.value is None
    shifted = own_potential(lambda z: cauchy(z) - 2, cauchy_slope, bound=1, lower=-2)
    assert world(shifted, past_weights=np.full(8, 0.5)).lower.value == pytest.approx(-1)
    with pytest.raises(InvalidInput, match="is unbounded"):
        world(shifted, past_weights=-np.ones(8))


def test_exact_runs_take_potentials_that_keep_fractions():
    rows, zero = [[Fraction(1, 2)]], [Fraction(0)]
    problem = glm(rows, zero, [0], rows, [Fraction(1)], [0], potential=own_potential(parabola, three_z, bound=3))
    trace = simulate(
        problem, "local_gd", beta=Fraction(1, 3), local_steps=1, rounds=1, engine="reference", iterates=True
    )
    assert trace.iterates[0, 1, 0] == Fraction(1, 2)
    with pytest.raises(InvalidInput, match="is not rational"):
        glm(rows, zero, [0], rows, zero, [0], potential=own_potential(cauchy, cauchy_slope, bound=1))


def test_what_numba_cannot_compile_runs_in_the_reference():
    listed = own_potential(lambda z: sum([one * z for one in [z, None] if one is not None]), lambda z: 2 * z, bound=2)
    assert simulate(world(listed), "fedavg", beta=0.1, local_steps=2, rounds=2).config["engine"] == "reference"
    without = own_potential(cauchy, cauchy_slope, bound=1)
    with pytest.raises(InvalidInput, match="has no curvature"):
        simulate(world(without), "cfl_taylor", beta=0.1, local_steps=2, rounds=2)


def test_a_digest_knows_the_potential():
    one, other = own_potential(cauchy, cauchy_slope, bound=1), own_potential(parabola, three_z, bound=3)
    assert digest(world(one)) != digest(world(other))
    assert digest(world(one)) == digest(world(own_potential(cauchy, cauchy_slope, bound=1)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((cauchy, lambda z: -cauchy_slope(z)), "make it the derivative of value"),
        ((cauchy, cauchy_slope, cauchy_slope), "make it the derivative of slope"),
        ((cauchy, lambda z: None), "slope returned None: return a real number"),
        ((math.sqrt, cauchy_slope), "value raised ValueError"),
        ((lambda z: z * math.inf, cauchy_slope), "value returned NaN|value is not finite"),
        ((cauchy, 3), "slope is 3: use a function"),
    ],
)
def test_a_wrong_potential_is_refused(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        own_potential(*arguments)


def test_a_wrong_bound_or_name_is_refused():
    with pytest.raises(InvalidInput, match="bound is stated as 2 and two slopes need 3"):
        own_potential(parabola, three_z, bound=2)
    with pytest.raises(InvalidInput, match="value falls to 0"):
        own_potential(parabola, three_z, lower=1)
    with pytest.raises(UnknownName, match=r"or FILE.py:name for your own"):
        world("nosuch")
