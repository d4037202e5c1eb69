"""The separable family: L, m and r are suprema, so no point exceeds them and some point attains them."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from finite_sums import L_bounds_the_change, client_gradient, component_gradient, gradient, norm2, point
from hypothesis import given, settings
from hypothesis import strategies as st

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import formulas
from cflag_theory.kernels.memory import memory
from cflag_theory.kernels.memory.bias import bias_bound, ratio_bound
from cflag_theory.kernels.problems.by_name import default_memory, default_problem, random_separable, separable, to_exact
from cflag_theory.kernels.problems.problem import EXACT, INFINITE, UPPER_BOUND

SMALL = dict(clients=2, past=4, current=3, dimension=3)
ROUNDING = 1 + 1e-12


CENTRED = sorted(name for name, code in formulas.POTENTIALS.items() if code in formulas.CENTRED)


def test_a_potential_without_a_minimum_is_refused():
    with pytest.raises(InvalidInput, match="logistic has no minimum at 0, which a separable problem needs: use cauchy"):
        random_separable(**SMALL, potential="logistic")


@st.composite
def problems(draw, **fixed):
    potential = draw(st.sampled_from(CENTRED))
    bounded = formulas.POTENTIALS[potential] in formulas.BOUNDED
    dials = dict(
        potential=potential,
        heterogeneity=draw(st.sampled_from([0, 0.3, 0.9])),
        conflict=draw(st.sampled_from([0, 0.5, 1])),
        ratio=draw(st.sampled_from([0.5, 1, 3])),
        anti_aligned=draw(st.sampled_from([0, 0.5, 1])) if bounded else 0,
        rotated=draw(st.booleans()),
        seed=draw(st.integers(0, 1000)),
    )
    return random_separable(**SMALL | dials | fixed)


def halves(problem):
    """A memory of the first two of every client's four past components."""
    return [np.array([first, first + 1]) for first in problem.past.client_start[:-1]]


@settings(max_examples=40, deadline=None)
@given(problem=problems(), seed=st.integers(0, 1000))
def test_no_pair_of_points_exceeds_L(problem, seed):
    x, y = np.random.default_rng(seed).normal(scale=2, size=(2, problem.dimension))
    assert L_bounds_the_change(problem, x, y)


@settings(max_examples=20, deadline=None)
@given(problem=problems())
def test_L_is_attained_at_the_shift(problem):
    h = 1e-5
    d = problem.dimension
    best = best_component = 0.0
    for part in (problem.past, problem.current):
        centre = part.rows[:d].T @ part.shifts[:d]
        for c in range(d):
            x, y = centre + h * part.rows[c], centre - h * part.rows[c]
            clients = [client_gradient(problem, part, i, x) for i in range(2)]
            before = [client_gradient(problem, part, i, y) for i in range(2)]
            best = max(best, *(math.sqrt(norm2(a - b)) / (2 * h) for a, b in zip(clients, before, strict=True)))
            for j in range(len(part.row_start) - 1):
                change = component_gradient(problem, part, j, x) - component_gradient(problem, part, j, y)
                best_component = max(best_component, math.sqrt(norm2(change)) / (2 * h))
    assert best == pytest.approx(problem.constants["L"].value, rel=1e-8)
    assert best_component == pytest.approx(problem.constants["L_component"].value, rel=1e-8)
    assert problem.constants["L"].kind == EXACT


@settings(max_examples=30, deadline=None)
@given(problem=problems(), seed=st.integers(0, 1000))
def test_m_of_a_given_memory_is_a_supremum(problem, seed):
    kept = halves(problem)
    rule = memory.uniform(2)
    m = bias_bound(problem, rule, chosen=kept)
    m_i = [bias_bound(problem, rule, chosen=kept, client=i) for i in range(2)]

    def ratios(x):
        f = gradient(problem, problem.past, x)
        b = gradient(problem, problem.past, x, kept) - f
        clients = []
        for i in range(2):
            f_i = client_gradient(problem, problem.past, i, x)
            clients.append(norm2(client_gradient(problem, problem.past, i, x, kept[i]) - f_i) / norm2(f_i))
        return [norm2(b) / norm2(f), *clients]

    bounds = [m.value, m_i[0].value, m_i[1].value]
    random = np.random.default_rng(seed)
    for z in random.normal(size=(3, 3)):
        assert (np.array(ratios(point(problem, z))) <= np.array(bounds) * (1 + 1e-9) + 1e-25).all()
    # One coordinate alone away from its stationary point: its ratio of coefficients is the ratio of gradients.
    attained = np.max([ratios(point(problem, 0.3 * axis)) for axis in np.eye(3)], axis=0)
    assert attained == pytest.approx(bounds, rel=1e-9, abs=1e-25)


@pytest.mark.parametrize("seed", range(5))
def test_the_worst_m_and_r_over_all_subsets_are_those_of_an_enumeration(seed):
    problem = to_exact(random_separable(**SMALL, heterogeneity=0.9, conflict=0, anti_aligned=0.5, seed=seed))
    spans = [range(a, b) for a, b in zip(problem.past.client_start[:-1], problem.past.client_start[1:], strict=True)]
    for size in (1, 2, 3, 4):
        rule = memory.uniform(size)
        draws = [list(choice) for choice in product(*(combinations(span, size) for span in spans))]
        for bound in (bias_bound, ratio_bound):
            for client in (None, 0, 1):
                worst = bound(problem, rule, client=client)
                assert worst.kind == EXACT
                assert worst.value == max(bound(problem, rule, chosen=kept, client=client).value for kept in draws)


@settings(max_examples=30, deadline=None)
@given(problem=problems(conflict=0), seed=st.integers(0, 1000))
def test_r_is_a_supremum_while_the_tasks_share_their_stationary_points(problem, seed):
    kept = halves(problem)
    rule = memory.uniform(2)
    bounds = [ratio_bound(problem, rule, chosen=kept, client=i).value for i in (None, 0, 1)]

    def ratios(x):
        g = norm2(gradient(problem, problem.current, x))
        parts = [
            gradient(problem, problem.past, x, kept),
            *(client_gradient(problem, problem.past, i, x, kept[i]) for i in range(2)),
        ]
        return np.sqrt([norm2(part) / g for part in parts])

    for z in np.random.default_rng(seed).normal(size=(3, 3)):
        assert (ratios(point(problem, z)) <= np.array(bounds) * ROUNDING).all()
    assert np.max([ratios(point(problem, 0.3 * axis)) for axis in np.eye(3)], axis=0) == pytest.approx(bounds)
    whole = ratio_bound(problem, memory.everything())
    assert problem.constants["r"].value == whole.value < math.inf
    assert problem.notes == ()


@pytest.mark.parametrize("potential", CENTRED)
def test_conflict_makes_r_infinite_and_a_point_shows_it(potential):
    problem = random_separable(**SMALL, potential=potential, conflict=0.4, seed=3)
    assert ratio_bound(problem, memory.uniform(2), client=1).value == math.inf
    assert problem.constants["r"].kind == INFINITE
    assert "Assumption 3 is violated" in problem.notes[0]
    assert "in 1 of 3 coordinates" in problem.notes[0]
    rows, shifts = problem.current.rows[:3], problem.current.shifts[:3]
    x = rows.T @ shifts
    assert norm2(gradient(problem, problem.current, x)) < 1e-30
    assert norm2(gradient(problem, problem.past, x, halves(problem))) > 1e-3


@pytest.mark.parametrize("d", [2, 3, 4])
def test_sign_and_rotation_have_m_scale_squared_and_a_sharp_or_safe_r(d):
    problem = random_separable(clients=2, past=3, current=3, dimension=d, conflict=0, seed=1)
    scale, angle = 0.6, 1.1
    sign, rotation = memory.sign_bias(scale=scale), memory.rotation_bias(scale=scale, angle=angle)
    assert bias_bound(problem, sign).value == bias_bound(problem, rotation, client=1).value == scale**2

    def stretched(x, rule):
        f = gradient(problem, problem.past, x)
        b = f.copy()
        if rule is rotation:
            memory.rotate(f, angle, b)
        return math.sqrt(norm2(f + scale * b) / norm2(gradient(problem, problem.current, x)))

    for rule in (sign, rotation):
        r = ratio_bound(problem, rule)
        attained = max(stretched(point(problem, 0.2 * axis), rule) for axis in np.eye(d))
        samples = [stretched(point(problem, z), rule) for z in np.random.default_rng(0).normal(size=(20, d))]
        assert max(samples) <= r.value * ROUNDING
        if rule is sign or d % 2 == 0:
            assert r.kind == EXACT
            assert attained == pytest.approx(r.value, rel=1e-12)
        else:
            assert r.kind == UPPER_BOUND
            assert attained <= r.value * ROUNDING


def test_a_vanishing_coefficient_makes_m_and_r_infinite():
    past, current, clients = [[1, 2], [-1, 1]], [[1, 0], [1, 0]], [0, 0]
    problem = separable(past, clients, current, clients)
    assert bias_bound(problem, memory.uniform(1)).value == math.inf
    assert bias_bound(problem, memory.uniform(2)).value == 0
    assert ratio_bound(problem, memory.everything()).kind == INFINITE
    assert "Assumption 3" in problem.notes[0]


def test_the_worst_r_counts_negative_coefficients():
    problem = separable([[-3], [1]], [0, 0], [[2]], [0], potential="cosine")
    assert ratio_bound(problem, memory.uniform(1)).value == 1.5
    assert ratio_bound(problem, memory.everything()).value == 0.5


def test_a_conflict_where_the_memory_has_no_gradient_is_none():
    problem = separable([[2, 0]], [0], [[1, 1]], [0], current_shift=[0, 1])
    assert (problem.constants["r"].value, problem.constants["r"].kind) == (2, EXACT)


def test_the_dials_of_r():
    problem = random_separable(conflict=0, heterogeneity=0, ratio=4)
    assert problem.constants["r"].value == pytest.approx(4, rel=1e-14)
    assert bias_bound(problem, memory.uniform(1)).value == 0


def test_a_balanced_memory_of_several_classes_is_bounded_by_all_subsets():
    weights = np.array([[1.0], [2.0], [3.0], [4.0]])
    problem = separable(weights, [0] * 4, weights, [0] * 4, labels=[0, 0, 1, 1])
    bound = bias_bound(problem, memory.class_balanced(2))
    assert bound.kind == UPPER_BOUND
    assert bound.value == bias_bound(problem, memory.uniform(2)).value == pytest.approx((3.5 / 2.5 - 1) ** 2)
    one_class = separable(weights, [0] * 4, weights, [0] * 4)
    assert bias_bound(one_class, memory.class_balanced(2)).kind == EXACT


def test_negative_weights_interfere_everywhere_with_finite_r():
    problem = random_separable(**SMALL, conflict=0, anti_aligned=1, seed=2)
    assert problem.constants["r"].kind == EXACT
    for x in np.random.default_rng(0).normal(size=(10, 3)):
        assert gradient(problem, problem.past, x) @ gradient(problem, problem.current, x) < 0


@pytest.mark.parametrize("seed", range(5))
def test_the_default_problem_is_what_it_says(seed):
    problem = default_problem(seed=seed)
    assert (problem.clients, problem.dimension) == (5, 10)
    assert set(problem.past.counts) == set(problem.current.counts) == {20}
    for client in (None, *range(5)):
        m = bias_bound(problem, default_memory(), client=client)
        assert m.kind == EXACT
        assert 0 < m.value < 1
    assert problem.constants["r"].kind == INFINITE
    assert problem.notes
    assert norm2(gradient(problem, problem.past, problem.start)) > 0.1


@pytest.mark.parametrize("d", [1, 2, 4, 7, 11])
def test_rotations_are_exactly_orthonormal(d):
    exact = to_exact(random_separable(clients=1, past=1, current=1, dimension=d, seed=d))
    rows = exact.past.rows[:d]
    assert ((rows @ rows.T) == np.eye(d, dtype=int)).all()
    if d >= 4:
        assert (abs(rows) != 1).all()


def test_rotations_that_are_orthonormal_up_to_rounding_only_stay_floats():
    angle = 0.3
    turn = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
    problem = separable([[1, 2]], [0], [[1, 1]], [0], rotation=turn)
    with pytest.raises(InvalidInput, match="orthonormal"):
        to_exact(problem)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: separable([[1, 2]], [0], [[1, 1, 1]], [0]), r"current_weights has shape \(1, 3\)"),
        (lambda: separable([[1, 2]], [0], [[1, 1]], [0], rotation=[[1, 0], [1, 1]]), "orthonormality"),
        (lambda: separable([[1, 2]], [0], [[1, 1]], [0], past_shift=[1]), "past_shift has shape"),
        (lambda: separable([[1, 2]], [0], [[-1, 1]], [0], potential="cauchy"), "current weight is -1.0"),
        (lambda: separable([[1, 2]], [0], [[1, 1]], [1]), "client 1 has no past components"),
        (lambda: separable([[0, 0]], [0], [[0, 0]], [0]), "L is 0.0"),
        (lambda: random_separable(heterogeneity=1), "heterogeneity is 1"),
        (lambda: random_separable(conflict=1.5), "conflict is 1.5"),
        (lambda: random_separable(ratio=0), "ratio is 0"),
        (lambda: random_separable(shift=math.inf), "shift is inf"),
        (lambda: random_separable(clients=0), "clients is 0"),
        (lambda: random_separable(seed=-1), "seed is -1"),
        (lambda: random_separable(anti_aligned=1, potential="cauchy"), "unbounded"),
    ],
)
def test_bad_arguments_are_refused(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()


@pytest.mark.parametrize(
    ("rule", "options", "message"),
    [
        (memory.uniform(2), {"client": 2}, "client 2 does not exist"),
        (memory.uniform(2), {"chosen": [[0, 1]]}, "chosen names 1 clients of 2"),
        (memory.uniform(2), {"chosen": [[0, 1], [4, 4]]}, r"chosen\[1\]"),
        (memory.uniform(2), {"chosen": [[0, 4], [4, 5]]}, r"chosen\[0\]"),
        (memory.uniform(2), {"chosen": [[], [4, 5]]}, r"chosen\[0\]"),
        (memory.everything(), {"chosen": [[0], [4]]}, "use a subset memory"),
    ],
)
def test_bounds_refuse_what_does_not_fit(rule, options, message):
    with pytest.raises(InvalidInput, match=message):
        bias_bound(random_separable(**SMALL), rule, **options)


def test_fractions_stay_fractions():
    half = Fraction(1, 2)
    problem = separable([[half, 1], [1, 1]], [0, 0], [[1, half]], [0])
    assert problem.exact
    assert problem.constants["L"].value == 1
    assert bias_bound(problem, memory.uniform(1)).value == Fraction(1, 9)
    assert problem.constants["r"].value == 2
