"""Bounds beside measurements: the numbers of the claims, above what they bound, and silent where a hypothesis fails."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from cflag_theory.kernels import (
    everything,
    random_glm,
    random_quadratic,
    random_separable,
    rotation_bias,
    sign_bias,
    simulate,
    uniform,
)
from cflag_theory.kernels.problems.by_name import quadratic
from cflag_theory.studies.rates.instances import instance_rate
from cflag_theory.verify import rate

pytestmark = pytest.mark.full

SMALL = {"horizons": (16, 64, 256), "replicas": 4, "local_steps": 3}
PROBLEM = random_separable(clients=2, past=4, current=3, dimension=3, heterogeneity=0.6, seed=5)
MEMORIES = {
    "all": everything(),
    "once": uniform(2),
    "fresh": uniform(2, redraw=True),
    "sign": sign_bias(m=0.5),
    "sign, m = 1": sign_bias(m=1.0),
    "fresh sign, m = 2": sign_bias(m=2.0, redraw=True),
    "rotation": rotation_bias(m=0.5),
}
LAWS = ({}, {"power": 0.0}, {"power": 1.0}, {"alpha_factor": 0.5})


@pytest.fixture(scope="module", params=[(name, k) for name in MEMORIES for k in range(len(LAWS))], ids=str)
def study(request):
    name, k = request.param
    return rate(PROBLEM, MEMORIES[name], **SMALL, **LAWS[k])


def by_claim(study):
    return {bound.claim: bound for bound in study.bounds}


def test_proved_bounds_lie_above_what_they_bound(study):
    checked = 0
    for bound in study.bounds:
        curve = study.curves.get(bound.quantity)
        if bound.proved and curve is not None and bound.of != "below":
            measured = curve.mean if bound.of == "mean" else curve.min_mean
            for value, found in zip(bound.values, measured, strict=True):
                assert value is None or value >= found * (1 - 1e-9)
                checked += value is not None
    assert checked


def test_every_bound_says_why(study):
    assert all(bound.why for bound in study.bounds)
    assert all(any(v is not None for v in bound.values) for bound in study.bounds if bound.proved)


def test_which_bounds_apply():
    def proved(memory, **law):
        return {bound.claim for bound in rate(PROBLEM, memory, **SMALL, **law).bounds if bound.proved}

    once = {"cflag.lemma1", "cflag.thm5", "ours.drawn_once", "ours.first_rounds", "ours.bounded_gradients"}
    assert proved(uniform(2)) == once
    assert proved(uniform(2, redraw=True)) == once | {"cflag.thm2", "ours.redrawn"}
    assert proved(sign_bias(m=1.0)) == {"cflag.lemma1", "ours.bounded_gradients"}
    assert proved(sign_bias(m=2.0, redraw=True)) == {
        "cflag.thm2",
        "cflag.lemma1",
        "ours.redrawn",
        "ours.bounded_gradients",
    }
    assert "cflag.thm5" not in proved(uniform(2), power=0.0)
    assert "cflag.thm2" not in proved(uniform(2, redraw=True), alpha_factor=0.5)
    assert proved(uniform(2), alpha_factor=3.0) == set()


def test_a_measured_m_proves_nothing():
    found = rate(random_glm(clients=2, components=4, dimension=2, seed=1), uniform(2), **SMALL)
    bounds = by_claim(found)
    assert found.m_kind.startswith("measured")
    assert not bounds["cflag.lemma1"].proved
    assert "pilot" in bounds["cflag.lemma1"].why


def test_the_numbers_of_ours_spelled_out():
    found = rate(PROBLEM, uniform(2), **SMALL)
    bounds, smooth = by_claim(found), max(found.L, found.L_component)
    for k, T in enumerate(found.horizons):
        beta = found.c / math.sqrt(T)
        grown = ((1 + beta * smooth) ** 3 - 1) / smooth
        rho = found.alpha * (1 - math.sqrt(found.m))
        second = (grown / rho) ** 2 * found.curves["g"].mean[k]
        assert bounds["ours.drawn_once"].values[k] > second
        F = (found.theorem2[k] * T / (2 * found.L * (1 + found.m))) - T * found.mean_gamma[k]
        assert bounds["ours.drawn_once"].values[k] == pytest.approx(2 * F / (rho * T) + second)


def test_theorem_2_is_its_claim():
    found = rate(PROBLEM, uniform(2), **SMALL)
    assert by_claim(found)["cflag.thm2"].values == pytest.approx(found.theorem2)
    assert by_claim(rate(PROBLEM, uniform(2), **SMALL, alpha_factor=0.5))["cflag.thm2"].values == (None,) * 3


def test_the_printed_form_of_theorem_5():
    """(163) spelled out, with r and omega^2 as met, for |M| = |C|."""
    problem = random_separable(clients=2, past=4, current=4, dimension=3, conflict=0, seed=5)
    found = rate(problem, everything(), **SMALL, c=0.005)
    bound = by_claim(found)["cflag.thm5 (163)"]
    assert not bound.proved
    smooth, E = max(found.L, found.L_component), 3
    for value, T in zip(bound.values, found.horizons, strict=True):
        beta = found.c / math.sqrt(T)
        trace = simulate(
            problem,
            "c_flag",
            alpha=found.alpha,
            beta=beta,
            local_steps=E,
            rounds=T,
            memory=everything(),
            replicas=4,
        )
        u, r = beta * smooth * E, trace.r_met
        Q = 72 * u**4 / smooth + 4 * u**2 / smooth + 2 * r * beta * E * (1 - smooth * found.alpha) * (6 * u + 1)
        Z = beta * E * (1 - 80 * u**3 - 10 * u)
        v, g, h = (trace.column(name) for name in ("grad_memory2", "grad_g2", "grad_h2"))
        # ||grad g - grad h~||^2 is a quarter of ||grad f_memory - grad g||^2, by the parallelogram law.
        omega2 = ((2 * v + 2 * g - 4 * h) / 4).max()
        f_drop, h_drop = (np.mean(trace.column(name)[:, 0] - trace.at_end(name)) for name in ("f", "h"))
        wanted = 2 * found.L * (1 + found.m) / T * (f_drop + Q / Z * h_drop + Q * T * omega2)
        assert value == pytest.approx(wanted)


def test_lemma_3_is_shown_at_its_step_size_only():
    problem = random_quadratic(clients=1, components=1, dimension=2, convexity=1.0, seed=1)
    L_of_f = problem.constants["L"].value
    step = 1 / (30 * L_of_f * 3)
    found = rate(problem, everything(), **SMALL, c=step, power=0.0, alpha_factor=1 / 90)
    assert found.alpha == pytest.approx(step)
    bound = by_claim(found)["cflag.lemma3"]
    assert all(value is not None for value in bound.values)
    assert not bound.proved
    assert by_claim(rate(problem, everything(), **SMALL))["cflag.lemma3"].values == (None,) * 3


def test_what_algorithm_1_descends_is_shown_where_it_is_the_joint_objective():
    """|M| = |C| asks for alpha = beta E."""
    problem = random_separable(clients=2, past=4, current=4, dimension=3, seed=5)
    smooth = max(problem.constants[name].value for name in ("L", "L_component"))
    alpha = 0.2 / smooth
    found = rate(
        problem,
        everything(),
        **SMALL,
        power=0.0,
        c=alpha / 3,
        alpha_factor=alpha * problem.constants["L"].value,
    )
    bound = by_claim(found)["ours.algorithm1_descent"]
    assert bound.proved
    assert all(v >= of for v, of in zip(bound.values, found.curves["h"].min_mean, strict=True))


@pytest.mark.parametrize("convexity", [4.0, 0.0])
def test_the_lowest_value_of_a_quadratic(convexity):
    problem = random_quadratic(clients=2, components=3, dimension=3, convexity=convexity, seed=3)
    found = problem.lower.value
    if convexity == 0.0:
        assert found is None
        return
    A = sum(p * a for p, a in zip(problem.p, _matrices(problem), strict=True))
    b = sum(
        p * problem.past.offsets[i:j].mean(axis=0)
        for p, (i, j) in zip(problem.p, pairwise(problem.past.client_start), strict=True)
    )
    x = np.linalg.solve(A, -b)
    assert found == pytest.approx(x @ A @ x / 2 + b @ x)


def _matrices(problem):
    part = problem.past
    for i, j in pairwise(part.client_start):
        rows = slice(part.row_start[i], part.row_start[j])
        yield (part.rows[rows].T * part.weights[rows]) @ part.rows[rows] / (j - i)


def test_the_lowest_value_is_zero_for_sums_of_potentials_and_unknown_else():
    assert random_glm(clients=1, components=3, dimension=2).lower.value == 0.0
    anti = random_separable(clients=1, past=2, current=2, dimension=2, anti_aligned=1.0)
    assert anti.lower.value == 0.0
    assert replace(anti, past=anti.current).lower.value is None
    sloping = quadratic([[[1.0, 0], [0, 0]]], [[0.0, 1.0]], [0], [[[1.0, 0], [0, 1.0]]], [[0.0, 0.0]], [0])
    assert sloping.lower.value is None


def test_an_m_that_the_runs_refute_proves_nothing():
    """A planted constant: the true one of this memory is larger."""
    true = rate(PROBLEM, uniform(2), **SMALL)
    planted = rate(PROBLEM, uniform(2), **SMALL, m=true.m_met / 2)
    needs_no_m = {"ours.bounded_gradients"}
    assert {bound.claim for bound in planted.bounds if bound.proved} == needs_no_m
    assert "the runs have" in by_claim(planted)["ours.drawn_once"].why
    assert by_claim(rate(PROBLEM, uniform(2), **SMALL, m=true.m))["ours.drawn_once"].proved


def test_the_joint_descent_takes_the_smoothness_of_a_signed_memory():
    """f_memory = (1 + scale) f has a larger L than f and than every component."""
    problem = random_separable(clients=2, past=4, current=4, dimension=3, seed=5)
    smooth = max(problem.constants[name].value for name in ("L", "L_component"))
    memory = sign_bias(m=9.0)

    def bound(alpha):
        factor = alpha * problem.constants["L"].value * 10
        return by_claim(rate(problem, memory, **SMALL, power=0.0, c=alpha / 3, alpha_factor=factor))

    of_memory = max(smooth, 4 * problem.constants["L"].value)
    # The claim wants L (alpha + beta E) <= 1.
    assert bound(0.45 / of_memory)["ours.algorithm1_descent"].proved
    assert not bound(min(0.45 / smooth, 1.0 / of_memory))["ours.algorithm1_descent"].proved


def test_underflow_and_overflow_refute_no_m():
    """Half of the replicas leave the floats, the others shrink until squares lose their digits."""
    found = instance_rate("alpha-diverges", horizons=(16, 64, 16384), replicas=8)
    assert found.m_met > found.m * (1 + 1e-6)
    assert by_claim(found)["cflag.lemma1"].proved
