"""The glm family, the registry, the passage to exact arithmetic, and what every problem must satisfy."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from finite_sums import L_bounds_the_change, client_gradient, gradient, norm2
from hypothesis import given, settings
from hypothesis import strategies as st

from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.kernels import formulas
from cflag_theory.kernels.memory import memory
from cflag_theory.kernels.memory.bias import bias_bound, ratio_bound
from cflag_theory.kernels.problems.by_name import (
    PROBLEMS,
    glm,
    make_problem,
    random_glm,
    random_quadratic,
    random_separable,
    to_exact,
    validate,
)
from cflag_theory.kernels.problems.problem import EXACT, MEASURED, UPPER_BOUND, Components, Constant
from cflag_theory.kernels.problems.smoothness import curvature_matrices, largest_norm

POTENTIALS = sorted(formulas.POTENTIALS)
SMALL = dict(clients=2, components=4, dimension=3)


@settings(max_examples=40, deadline=None)
@given(potential=st.sampled_from(POTENTIALS), seed=st.integers(0, 500))
def test_no_pair_of_points_exceeds_L_of_a_glm(potential, seed):
    problem = random_glm(**SMALL, potential=potential, seed=seed)
    x, y = np.random.default_rng(seed).normal(size=(2, 3))
    assert L_bounds_the_change(problem, x, y)


def largest_slope(problem, part, i, x, directions):
    h = 1e-5
    steps = [h * direction / np.linalg.norm(direction) for direction in directions]
    return max(
        np.sqrt(norm2(client_gradient(problem, part, i, x + s) - client_gradient(problem, part, i, x - s))) / (2 * h)
        for s in steps
    )


@pytest.mark.parametrize("signed", [True, False])
def test_curvature_of_wide_data_has_the_norm_of_the_whole_matrix(signed):
    random = np.random.default_rng(7)
    # Ten rows of one client, the last of them twice, in 40 dimensions; and 60, which fill their space.
    wide, full = random.normal(size=(10, 40)), random.normal(size=(60, 40))
    wide[9] = wide[8]
    weights = random.normal(size=10)
    problem = glm(wide, np.ones(10), [0] * 10, full, np.ones(60), [0] * 60, potential="cosine", past_weights=weights)
    for part, rows, weights in ((problem.past, wide, problem.past.weights), (problem.current, full, np.ones(60))):
        ((found, metric),) = curvature_matrices(part, signed=signed)
        assert (metric == 1).all()
        whole = (rows.T * (weights if signed else abs(weights))) @ rows / len(rows)
        assert len(found) == min(rows.shape)
        assert np.linalg.norm(found, 2) == pytest.approx(np.linalg.norm(whole, 2), rel=1e-12)


def test_wide_data_need_no_square_of_their_width():
    rows, labels = np.random.default_rng(8).normal(size=(6, 50_000)), np.arange(6) % 2
    problem = glm(rows, labels, [0, 0, 1, 1, 2, 2], rows, labels, [0, 0, 1, 1, 2, 2], potential="logistic")
    pairs = rows.reshape(3, 2, -1)
    top = max(np.linalg.norm(pair @ pair.T, 2) / 2 for pair in pairs)
    assert problem.constants["L"].value == pytest.approx(top * problem.past.weights[0], rel=1e-12)


@pytest.mark.parametrize("potential", POTENTIALS)
def test_L_is_attained_where_it_is_called_exact(potential):
    random = np.random.default_rng(5)
    rows, targets = random.normal(size=(3, 4)), random.normal(size=3)
    # Three independent rows: all residuals vanish at one x, and the top eigenvector shows L there.
    problem = glm(rows, targets, [0, 0, 0], 0.1 * rows, targets, [0, 0, 0], potential=potential)
    assert problem.constants["L"].kind == EXACT
    x = np.linalg.lstsq(rows, targets)[0]
    top = np.linalg.eigh(rows.T @ rows)[1][:, -1]
    assert largest_slope(problem, problem.past, 0, x, [top]) == pytest.approx(problem.constants["L"].value, rel=1e-7)


@pytest.mark.parametrize("potential", POTENTIALS)
def test_L_component_is_attained_where_the_residual_vanishes(potential):
    problem = random_glm(clients=1, components=1, dimension=3, potential=potential, seed=3)
    part = max((problem.past, problem.current), key=lambda part: norm2(part.rows[0]))
    row = part.rows[0]
    x = row * part.shifts[0] / norm2(row)
    constant = problem.constants["L_component"]
    assert constant.kind == problem.constants["L"].kind == EXACT
    assert largest_slope(problem, part, 0, x, [row]) == pytest.approx(constant.value, rel=1e-7)


@pytest.mark.parametrize("potential", POTENTIALS)
def test_L_is_an_upper_bound_where_the_residuals_cannot_all_vanish(potential):
    problem = random_glm(**SMALL, potential=potential, seed=1)
    assert problem.constants["L"].kind == (EXACT if potential == "quadratic" else UPPER_BOUND)


def test_mixed_signs_make_L_an_upper_bound():
    problem = glm([[1.0], [1.0]], [0, 0], [0, 0], [[0.1]], [0], [0], potential="cosine", past_weights=[1, -1])
    assert problem.constants["L"].kind == UPPER_BOUND


def test_components_are_grouped_by_client_with_their_labels():
    rows = np.arange(1.0, 5.0).reshape(4, 1)
    problem = glm(rows, rows[:, 0], [1, 0, 1, 0], rows[:2], [0, 0], [0, 1], labels=[7, 8, 9, 8])
    assert problem.past.rows[:, 0].tolist() == problem.past.shifts.tolist() == [2, 4, 1, 3]
    assert problem.labels.tolist() == [8, 8, 7, 9]
    assert problem.past.client_start.tolist() == [0, 2, 4]
    assert problem.p.tolist() == [0.5, 0.5]


def test_default_weights_follow_the_numbers_of_samples():
    problem = glm([[1], [1], [1]], [0, 0, 0], [0, 0, 1], [[1], [1]], [1, 1], [0, 1])
    assert problem.p == pytest.approx([3 / 5, 2 / 5])


def test_subsets_of_a_glm_have_no_bound_without_a_run():
    problem = random_glm(**SMALL)
    assert bias_bound(problem, memory.uniform(2)) == Constant(
        None, MEASURED, "no bound on b over all x is known in the glm family"
    )
    assert ratio_bound(problem, memory.everything()).kind == MEASURED
    assert bias_bound(problem, memory.uniform(4)).value == 0
    assert bias_bound(problem, memory.sign_bias(scale=0.5)).value == 0.25


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_registered_problem_is_valid_and_repeatable(name):
    problem, again = make_problem(name), make_problem(name)
    assert validate(problem) is problem
    assert (problem.past.rows == again.past.rows).all()
    assert (problem.start == again.start).all()
    assert norm2(gradient(problem, problem.past, problem.start)) > 0
    past, current = (gradient(problem, part, problem.start) for part in (problem.past, problem.current))
    # Two tasks, or one objective whose local data change.
    assert (norm2(past - current) > 1e-3) == (not problem.evolving)
    assert not np.array_equal(make_problem(name, seed=1).start, problem.start)


def test_unknown_problems_and_dials_list_the_known_ones():
    with pytest.raises(UnknownName, match="default, glm, separable, quadratic"):
        make_problem("seperable")
    with pytest.raises(UnknownName, match="heterogeneity, conflict"):
        make_problem("separable", conflit=1)
    with pytest.raises(UnknownName, match="cauchy, cosine, geman_mcclure, quadratic"):
        make_problem("glm", potential="hinge")


@pytest.mark.parametrize(
    "problem",
    [
        random_glm(**SMALL, potential="geman_mcclure"),
        random_glm(**SMALL, potential="quadratic"),
        random_separable(clients=3, past=2, current=2, dimension=4),
    ],
    ids=lambda problem: problem.name,
)
def test_to_exact_is_the_same_problem(problem):
    exact = to_exact(problem)
    assert exact.exact
    assert to_exact(exact) is exact
    assert set(exact.p) == {Fraction(1, problem.clients)}
    assert exact.notes == problem.notes
    for part, twin in ((problem.past, exact.past), (problem.current, exact.current)):
        found = gradient(exact, twin, exact.start).astype(float)
        assert found == pytest.approx(gradient(problem, part, problem.start), rel=1e-12, abs=1e-14)
    for name in ("L", "L_component"):
        ratio = exact.constants[name].value / Fraction(problem.constants[name].value)
        assert 1 - Fraction(1, 10**14) < ratio < 1 + Fraction(1, 10**8)


def test_to_exact_moves_uneven_weights_to_sum_one():
    p = np.random.default_rng(0).dirichlet(np.ones(7))
    rows, clients = np.ones((7, 1)), range(7)
    exact = to_exact(glm(rows, np.zeros(7), clients, rows, np.ones(7), clients, potential="quadratic", p=p))
    assert sum(exact.p) == 1
    assert exact.p.astype(float) == pytest.approx(p, rel=1e-15)


def test_to_exact_needs_a_rational_potential():
    with pytest.raises(InvalidInput, match="use one of geman_mcclure, quadratic"):
        to_exact(random_glm(**SMALL, potential="cauchy"))
    with pytest.raises(InvalidInput, match="cannot run on Fraction"):
        glm([[Fraction(1)]], [0], [0], [[1]], [0], [0], potential="cosine")


BASE = random_glm(**SMALL)
BAD_PARTS = {
    "L is 0": lambda q: replace(q, constants=q.constants | {"L": Constant(0, EXACT, "")}),
    "L is -1": lambda q: replace(q, constants=q.constants | {"L": Constant(-1, EXACT, "")}),
    "L_component is missing": lambda q: replace(q, constants={"L": q.constants["L"]}),
    "sum 1.5": lambda q: replace(q, p=np.array([0.75, 0.75])),
    "minimum -0.5": lambda q: replace(q, p=np.array([1.5, -0.5])),
    "p has 3 weights": lambda q: replace(q, p=np.ones(3) / 3),
    "start has length 2": lambda q: replace(q, start=np.zeros(2)),
    "NaN": lambda q: replace(q, past=replace(q.past, rows=np.full_like(q.past.rows, np.nan))),
    "start hold NaN": lambda q: replace(q, start=np.full(3, np.inf)),
    "one shift and one weight": lambda q: replace(q, past=replace(q.past, shifts=q.past.shifts[1:])),
    "current offsets": lambda q: replace(q, current=replace(q.current, offsets=np.ones((1, 3)))),
    "row_start must rise": lambda q: replace(q, past=replace(q.past, row_start=q.past.row_start[::-1])),
    "client 0 has no past": lambda q: replace(q, past=replace(q.past, client_start=np.array([0, 0, 8]))),
    "labels have shape": lambda q: replace(q, labels=q.labels[1:]),
    "a past weight is -1.0": lambda q: replace(q, past=replace(q.past, weights=-q.past.weights)),
    "mix Fraction and float": lambda q: replace(q, start=to_exact(random_quadratic(dimension=3)).start),
    "potential code 9": lambda q: replace(q, potential=9),
}


@pytest.mark.parametrize("message", BAD_PARTS)
def test_validate_names_what_disagrees(message):
    with pytest.raises(InvalidInput, match=message):
        validate(BAD_PARTS[message](BASE))


def test_fractional_weights_must_sum_to_one_exactly():
    exact = to_exact(random_quadratic(clients=2))
    with pytest.raises(InvalidInput, match="use weights >= 0 with sum 1"):
        validate(replace(exact, p=exact.p * (1 + Fraction(1, 10**30))))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: glm([[1, 2]], [0, 1], [0], [[1, 2]], [0], [0]), r"past_targets has shape \(2,\)"),
        (lambda: glm([1, 2], [0, 1], [0], [[1, 2]], [0], [0]), r"past_rows has shape \(2,\)"),
        (lambda: glm([[1]], [0], [0], [[1, 2]], [0], [0]), r"current_rows has shape \(1, 2\)"),
        (lambda: glm([[1]], [0], [0.0], [[1]], [0], [0]), "past_clients must hold integers"),
        (lambda: glm([[1]], [0], [0], [[1]], [0], [-1]), "current_clients must hold integers"),
        (lambda: glm([[1]], [0], [0, 1], [[1]], [0], [0]), "past_clients has shape"),
        (lambda: glm([["a"]], [0], [0], [[1]], [0], [0]), "past_rows holds <U1 values"),
        (lambda: glm([[1j]], [0], [0], [[1]], [0], [0]), "past_rows holds complex128"),
        (lambda: glm([[None]], [0], [0], [[1]], [0], [0]), "past_rows holds None"),
        (lambda: glm([[1]], [0], [1], [[1]], [0], [0]), "client 0 has no past"),
        (lambda: glm(np.empty((0, 1)), [], np.zeros(0, int), [[1]], [0], [0]), "0 past and 1 current"),
        (lambda: glm(np.empty((1, 0)), [0], [0], np.empty((1, 0)), [0], [0]), "dimension 0"),
        (lambda: glm([[1]], [0], [0], [[1]], [0], [0], past_weights=[-1]), "unbounded"),
        (lambda: glm([[1]], [0], [0], [[1]], [0], [0], p=[0.5]), "sum 0.5"),
        (lambda: glm([[0]], [0], [0], [[0]], [0], [0]), "L is 0"),
        (lambda: random_glm(components=0), "components is 0"),
        (lambda: random_glm(dimension=2.0), "dimension is 2.0"),
        (lambda: random_glm(noise=-1), "noise is -1"),
        (lambda: random_glm(seed=1.5), "seed is 1.5"),
    ],
)
def test_bad_arguments_are_refused(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()


def test_the_constants_of_a_problem_say_how_they_are_known():
    """m and r are those of a memory that keeps everything."""
    problem = random_separable(clients=2, dimension=3, conflict=0.0)
    assert problem.L is problem.constants["L"]
    assert float(problem.m) == 0
    assert problem.m.kind == EXACT
    assert problem.r.value == ratio_bound(problem, memory.everything()).value
    assert (problem.lower.value, problem.lower.why) == (0.0, "no weight is negative and phi >= 0")
    assert random_glm(clients=2, r=2.5, conflict=0.0).r.value == 2.5
    unknown = random_glm(clients=2)
    assert (unknown.r.value, unknown.r.kind) == (None, MEASURED)
    with pytest.raises(InvalidInput, match=r"a constant is not known .no bound on grad f_memory"):
        float(unknown.r)


@pytest.mark.parametrize("weights", [("1/3", "1/3"), ("1/3", "5/7"), ("0", "2"), ("-1", "-1/2"), ("-1", "2")])
def test_exact_curvature_of_wide_data_is_that_of_the_smaller_side(weights):
    """L by the rows x rows side, where weights have one sign, is what the whole side of the floats has."""
    rows = np.array([[Fraction(3 * i + j, 2) for j in range(5)] for i in range(2)])
    given = [Fraction(one) for one in weights]
    problem = glm(
        rows,
        [Fraction(1, 3)] * 2,
        [0, 0],
        rows,
        [Fraction(1, 3)] * 2,
        [0, 0],
        potential="geman_mcclure",
        past_weights=given,
        current_weights=given,
        start=rows[0],
    )
    whole = (rows.T * [abs(one) for one in given]) @ rows / 2
    norm = np.linalg.norm(whole.astype(float), 2)
    assert norm * (1 - 1e-14) <= problem.constants["L"].value <= norm * (1 + 1e-8)
    for signed in (True, False):
        (found,) = curvature_matrices(problem.past, signed=signed)
        assert len(found.matrix) == (
            5 if signed and min(given) < 0 < max(given) else sum(one != 0 for one in given) or 1
        )
        values = np.linalg.eigvals((found.matrix / found.metric[:, None]).astype(float))
        signs = np.array(given if signed else [abs(one) for one in given])
        assert max(abs(values)) == pytest.approx(
            np.linalg.norm(((rows.T * signs) @ rows / 2).astype(float), 2), rel=1e-12
        )


def test_exact_curvature_of_very_wide_data_takes_a_second():
    """40 rows in 4000 dimensions, all weights different; the whole side would take sixteen million fractions."""
    draw = np.random.default_rng(3)
    rows = np.array([[Fraction(int(one), 8) for one in row] for row in draw.integers(-9, 10, (40, 4000))])
    part = Components(
        rows=rows,
        shifts=np.array([Fraction(0)] * 40),
        weights=np.array([Fraction(k + 1, 40) for k in range(40)]),
        offsets=rows[:0],
        row_start=np.arange(41),
        client_start=np.array([0, 20, 40]),
    )
    begun = time.process_time()
    found, _ = largest_norm("L", curvature_matrices(part, signed=False))
    assert time.process_time() - begun < 5
    floats = rows.astype(float) * np.sqrt(part.weights.astype(float))[:, None]
    norm = max(np.linalg.norm(floats[span] @ floats[span].T, 2) / 20 for span in (slice(20), slice(20, 40)))
    assert norm * (1 - 1e-12) <= found <= norm * (1 + 1e-8)
