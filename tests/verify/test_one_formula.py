"""The text that is proved is the text that runs: claims and kernels agree on every scalar formula they share."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from cflag_theory.claims.c_flag.past_task import descent
from cflag_theory.claims.c_flag.problem import update
from cflag_theory.claims.engine.notation import L, alpha, beta, bias_dot_sum, grad_dot_bias, grad_dot_sum, m, sum2
from cflag_theory.claims.ledger import LEDGER
from cflag_theory.kernels import formulas

pytestmark = pytest.mark.full

MEMORY_DOT_SUM = sp.Symbol("memory_dot_sum", real=True)
Gamma = descent.forgetting(sum2, grad_dot_sum, bias_dot_sum, L / 2)
ROUND = (update.x, update.grad_f_memory, update.S, alpha, beta)

#: (formula of the kernels, its arguments, the claim's expression).
SHARED = {
    "factor of Lemma 1": (formulas.descent_factor, (L, m, alpha), descent.factor()),
    "B(t) of (34)": (formulas.overfitting, (L, alpha, beta, grad_dot_bias, bias_dot_sum), descent.overfitting()),
    "Gamma(t) of (15)": (
        formulas.forgetting,
        (L, alpha, beta, sum2, MEMORY_DOT_SUM),
        # <grad_f_memory, S> = <grad f, S> + <b, S> by (6).
        Gamma.subs(grad_dot_sum, MEMORY_DOT_SUM - bias_dot_sum),
    ),
    "round update (24)": (formulas.round_update, ROUND, LEDGER["cflag.eq25"]().parts[0].printed.relation.right),
    "round update (24) in the repair of (7)": (
        formulas.round_update,
        ROUND,
        LEDGER["cflag.eq7"]().parts[0].repair.statement.relation.right,
    ),
}

rationals = st.fractions(min_value=-5, max_value=5, max_denominator=12)


@pytest.mark.parametrize("name", SHARED)
@given(data=st.data())
def test_formula_and_claim_agree_on_rationals(name, data):
    formula, arguments, expression = SHARED[name]
    values = [data.draw(rationals, label=str(argument)) for argument in arguments]
    if formula is formulas.descent_factor:
        smoothness, bias, step = values
        assume(step * (2 - smoothness * step * (1 + bias)) != 0)
    found = formula(*values)
    assert isinstance(found, Fraction)
    assert expression.xreplace(dict(zip(arguments, map(sp.Rational, values), strict=True))) == sp.Rational(found)
    # And as code on floats, which is what runs.
    compiled = sp.lambdify(arguments, expression, "math")
    assert formula(*map(float, values)) == pytest.approx(compiled(*map(float, values)), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", SHARED)
def test_formula_and_claim_are_the_same_expression(name):
    formula, arguments, expression = SHARED[name]
    assert sp.simplify(formula(*arguments) - expression) == 0


@pytest.mark.parametrize("name", SHARED)
def test_another_expression_is_told_apart(name):
    formula, arguments, expression = SHARED[name]
    assert sp.simplify(formula(*arguments) - expression.subs(alpha, 2 * alpha)) != 0
