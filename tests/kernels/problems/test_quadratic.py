"""The quadratic family: the encoding is exact, L is certified, and runs have a closed form."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from finite_sums import client_gradient, component_gradient, norm2
from hypothesis import given, settings
from hypothesis import strategies as st

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.problems.by_name import gradient_descent, quadratic, random_quadratic, to_exact
from cflag_theory.kernels.problems.problem import EXACT, UPPER_BOUND
from cflag_theory.kernels.problems.smoothness import positive_semidefinite

rationals = st.fractions(min_value=-5, max_value=5, max_denominator=7)


def vectors(d):
    return st.lists(rationals, min_size=d, max_size=d).map(fractions)


def matrices(d):
    return st.lists(vectors(d), min_size=d, max_size=d).map(lambda rows: np.array(rows) + np.array(rows).T)


def fractions(values):
    return np.vectorize(Fraction, otypes=[object])(values)


@st.composite
def pairs(draw):
    d = draw(st.integers(1, 4))
    return [(draw(matrices(d)), draw(vectors(d))) for _ in range(3)], draw(vectors(d))


@settings(max_examples=40, deadline=None)
@given(pairs())
def test_encoded_gradients_are_exactly_Ax_minus_b(drawn):
    components, x = drawn
    if not any(matrix.any() for matrix, _ in components):
        return
    A, b = (np.array(part) for part in zip(*components, strict=True))
    # Unsorted clients: components are grouped by client, in their order of appearance.
    problem = quadratic(A, b, [1, 0, 1], A, b, [0, 1, 0])
    for j, original in enumerate([1, 0, 2]):
        assert (component_gradient(problem, problem.past, j, x) == A[original] @ x - b[original]).all()
    mean = (A[0] @ x - b[0] + A[2] @ x - b[2]) / 2
    assert (client_gradient(problem, problem.past, 1, x) == mean).all()
    assert (client_gradient(problem, problem.current, 0, x) == mean).all()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_encoded_float_gradients_agree_and_L_is_attained(seed):
    random = np.random.default_rng(seed)
    A = random.normal(size=(6, 4, 4))
    A = A + A.transpose(0, 2, 1)
    b = random.normal(size=(6, 4))
    clients = [0, 0, 0, 1, 1, 1]
    problem = quadratic(A, b, clients, -A, b, clients)
    x = random.normal(size=4)
    for j in range(6):
        assert component_gradient(problem, problem.past, j, x) == pytest.approx(A[j] @ x - b[j], rel=1e-12, abs=1e-12)
    means = [A[:3].mean(axis=0), A[3:].mean(axis=0)]
    for name, candidates in (("L", means), ("L_component", list(A))):
        constant = problem.constants[name]
        assert constant.kind == EXACT
        assert constant.value == pytest.approx(max(np.linalg.norm(M, 2) for M in candidates), rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 4).flatmap(matrices))
def test_the_exact_certificate_agrees_with_the_signs_of_the_eigenvalues(matrix):
    lowest = np.linalg.eigvalsh(matrix.astype(float))[0]
    if abs(lowest) > 1e-9:
        assert positive_semidefinite(matrix)[0] == (lowest > 0)
        if lowest > 0:
            assert positive_semidefinite(matrix) == (True, False)
    # A A^T of a matrix with fewer columns than rows is positive semidefinite and singular.
    thin = matrix[:, 1:]
    assert positive_semidefinite(thin @ thin.T + 0 * matrix) == (True, True)


def test_the_certificate_sees_an_indefinite_matrix_with_zero_diagonal():
    assert positive_semidefinite(fractions([[0, 1], [1, 0]])) == (False, False)
    assert positive_semidefinite(fractions([[1, 1], [1, 1]])) == (True, True)


def swap(**options):
    past, current = fractions([[0, 1], [1, 0]]), fractions([[0, 0], [0, 1]])
    return quadratic([past], [[0, 0]], [0], [current], [[0, 0]], [0], **options)


def test_a_rational_L_is_certified_exactly():
    assert (swap(L=1).constants["L"].value, swap(L=1).constants["L"].kind) == (1, EXACT)
    assert swap(L=Fraction(5, 4)).constants["L"].kind == UPPER_BOUND
    with pytest.raises(InvalidInput, match="use a larger L"):
        swap(L=Fraction(999999999999, 1000000000000))
    computed = swap().constants["L"]
    assert computed.kind == UPPER_BOUND
    assert 1 <= computed.value < 1 + Fraction(1, 10**8)


def test_the_certificate_covers_negative_curvature():
    A = [fractions([[-2, 1], [1, -2]])]
    assert quadratic(A, [[0, 0]], [0], A, [[0, 0]], [0], L=3).constants["L"].kind == EXACT
    with pytest.raises(InvalidInput, match="use a larger L"):
        quadratic(A, [[0, 0]], [0], A, [[0, 0]], [0], L=2)


def test_a_diagonal_rational_L_is_exact():
    A = [fractions([[Fraction(1, 3), 0], [0, Fraction(-2, 3)]])]
    constants = quadratic(A, [[1, 1]], [0], A, [[0, 0]], [0]).constants
    assert (constants["L"].value, constants["L"].kind) == (Fraction(2, 3), EXACT)
    assert (constants["L_component"].value, constants["L_component"].kind) == (Fraction(2, 3), EXACT)


@settings(max_examples=20, deadline=None)
@given(matrix=matrices(3), vector=vectors(3), x=vectors(3), beta=rationals, steps=st.integers(0, 6))
def test_the_closed_form_is_the_run(matrix, vector, x, beta, steps):
    closed = gradient_descent(matrix, vector, x, beta=beta, steps=steps)
    for _ in range(steps):
        x = x - beta * (matrix @ x - vector)
    assert (closed == x).all()


def test_the_closed_form_of_a_singular_matrix_in_floats():
    out = gradient_descent(np.zeros((2, 2)), [1.0, 2.0], [0.0, 0.0], beta=0.5, steps=10)
    assert out == pytest.approx([5, 10])


def test_an_exact_random_problem_is_the_float_one():
    floats, exact = random_quadratic(seed=4), random_quadratic(seed=4, exact=True)
    assert exact.exact
    x = fractions([Fraction(k, 8) for k in range(4)])
    for i in range(3):
        assert client_gradient(floats, floats.past, i, x.astype(float)) == pytest.approx(
            client_gradient(exact, exact.past, i, x).astype(float), abs=1e-14
        )
    assert exact.constants["L"].value >= Fraction(floats.constants["L"].value) * (1 - Fraction(1, 10**12))


def test_random_matrices_are_indefinite_until_shifted():
    def lowest(problem):
        basis = np.eye(4)
        zero = client_gradient(problem, problem.past, 0, 0 * basis[0])
        matrix = np.array([client_gradient(problem, problem.past, 0, axis) - zero for axis in basis])
        return np.linalg.eigvalsh(matrix)[0]

    assert lowest(random_quadratic(seed=1)) < 0 < lowest(random_quadratic(seed=1, convexity=5))
    alike = random_quadratic(heterogeneity=0, seed=1)
    x = np.ones(4)
    assert norm2(component_gradient(alike, alike.past, 0, x) - component_gradient(alike, alike.past, 9, x)) < 1e-24


def test_to_exact_certifies_L_from_above():
    problem = random_quadratic(seed=2)
    exact = to_exact(problem)
    x = fractions(problem.start.tolist())
    assert client_gradient(exact, exact.past, 0, x).astype(float) == pytest.approx(
        client_gradient(problem, problem.past, 0, problem.start), abs=1e-14
    )
    for name in ("L", "L_component"):
        assert exact.constants[name].kind == UPPER_BOUND
        assert 0 < exact.constants[name].value - Fraction(problem.constants[name].value) < Fraction(1, 10**8)


ONE = [[[1.0]]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: quadratic([[[0, 1], [2, 0]]], [[0, 0]], [0], [np.eye(2)], [[0, 0]], [0]), "not all symmetric"),
        (lambda: quadratic(np.ones((1, 3, 2)), [[0, 0]], [0], [np.eye(2)], [[0, 0]], [0]), "square"),
        (lambda: quadratic(ONE, [[0, 1]], [0], ONE, [[0]], [0]), "past_vectors has shape"),
        (lambda: quadratic(ONE, [[0]], [0], ONE, [[np.nan]], [0]), "current_vectors holds NaN"),
        (lambda: quadratic(ONE, [[0]], [0], ONE, [[0]], [0], L=1), "leave it out"),
        (lambda: quadratic(ONE, [[0]], [0], ONE, [[0]], [1]), "client 0 has no current|client 1 has no past"),
        (lambda: gradient_descent([[1]], [1], [1], beta=1, steps=-1), "steps is -1"),
        (lambda: gradient_descent([[1, 0]], [1], [1], beta=1, steps=1), "matrix has shape"),
        (lambda: random_quadratic(heterogeneity=2), "heterogeneity is 2"),
        (lambda: random_quadratic(convexity=-1), "convexity is -1"),
    ],
)
def test_bad_arguments_are_refused(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()
