import math
from fractions import Fraction

import pytest
import sympy
from hypothesis import assume, given
from hypothesis import strategies as st

from cflag_theory.kernels import formulas

KINDS = sorted(formulas.POTENTIALS.values())
fractions = st.fractions(min_value=-3, max_value=3, max_denominator=20)
vectors = st.lists(fractions, min_size=3, max_size=3)


def inner(a, b):
    return sum((u * v for u, v in zip(a, b, strict=True)), Fraction(0))


@pytest.mark.parametrize("kind", sorted(formulas.RATIONAL - {formulas.HUBER}))
def test_rational_derivatives_are_exact(kind):
    z = sympy.Symbol("z", real=True)
    phi = formulas.potential(kind, z)
    assert sympy.simplify(sympy.diff(phi, z) - formulas.slope(kind, z)) == 0
    assert sympy.simplify(sympy.diff(phi, z, 2) - formulas.curvature(kind, z)) == 0


@given(fractions)
def test_hubers_potential_is_quadratic_up_to_one_and_linear_beyond(z):
    sign = 1 if z > 0 else -1
    expected = (z * z / 2, z, 1) if abs(z) <= 1 else (abs(z) - Fraction(1, 2), sign, 0)
    found = tuple(part(formulas.HUBER, z) for part in (formulas.potential, formulas.slope, formulas.curvature))
    assert found == expected


@pytest.mark.parametrize("kind", KINDS)
@given(z=st.floats(-20, 20))
def test_derivatives_by_differences(kind, z):
    # Huber's second derivative jumps at 1.
    assume(kind != formulas.HUBER or abs(abs(z) - 1) > 4e-3)

    def derivative(function, step=1e-3):
        # Fourth order: the error is below 1e-11 for these functions.
        near = function(kind, z + step) - function(kind, z - step)
        far = function(kind, z + 2 * step) - function(kind, z - 2 * step)
        return (8 * near - far) / (12 * step)

    assert formulas.slope(kind, z) == pytest.approx(derivative(formulas.potential), abs=1e-9)
    assert formulas.curvature(kind, z) == pytest.approx(derivative(formulas.slope), abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@given(z=st.floats(-1e6, 1e6))
def test_curvature_is_at_most_one_and_attained(kind, z):
    assert formulas.curvature(kind, 0.0) == 1
    assert abs(formulas.curvature(kind, z)) <= 1
    assert formulas.potential(kind, z) >= 0


@pytest.mark.parametrize("kind", KINDS)
def test_bounded_potentials_are_those_listed(kind):
    largest = max(formulas.potential(kind, z) for size in (math.pi, 1e3, 1e9) for z in (size, -size))
    assert (largest <= 2) == (kind in formulas.BOUNDED)


@given(values=st.lists(fractions, min_size=1, max_size=6), new=fractions, data=st.data())
def test_refreshed_mean_is_the_mean_after_the_change(values, new, data):
    j = data.draw(st.integers(0, len(values) - 1))
    mean = sum(values, Fraction(0)) / len(values)
    changed = [*values[:j], new, *values[j + 1 :]]
    expected = sum(changed, Fraction(0)) / len(values)
    assert formulas.refreshed_mean(mean, new, values[j], len(values)) == expected


@given(x=vectors, b=vectors, S=vectors, L=fractions, alpha=fractions, beta=fractions)
def test_descent_identity_of_a_quadratic(x, b, S, L, alpha, beta):
    # For f = (L/2) ||x||^2 the descent inequality behind Lemma 1 is an equality, term by term.
    grad_f = [L * c for c in x]
    memory = [u + v for u, v in zip(grad_f, b, strict=True)]
    after = [formulas.round_update(c, u, v, alpha, beta) for c, u, v in zip(x, memory, S, strict=True)]
    decrease = L * (inner(x, x) - inner(after, after)) / 2
    Gamma = formulas.forgetting(L, alpha, beta, inner(S, S), inner(memory, S))
    B = formulas.overfitting(L, alpha, beta, inner(grad_f, b), inner(b, S))
    left = alpha * inner(grad_f, grad_f) - L * alpha * alpha * (inner(grad_f, grad_f) + inner(b, b)) / 2
    assert left == decrease + B + Gamma


@given(alpha=st.fractions(min_value="1/10", max_value=1), m=st.fractions(min_value=0, max_value="1/2"))
def test_descent_factor_inverts_the_left_side(alpha, m):
    L = Fraction(1, 2)
    # ||b||^2 = m ||grad f||^2 in the identity above.
    assert formulas.descent_factor(L, m, alpha) * (alpha - L * alpha * alpha * (1 + m) / 2) == 1
