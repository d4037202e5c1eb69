"""The logarithm of compiled loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cflag_theory.kernels import formulas
from cflag_theory.kernels.engines import components
from cflag_theory.kernels.engines.codegen import elementary
from cflag_theory.kernels.engines.codegen.cache import compiled


@compiled
def _each(kind, Z, out):
    for k in range(len(Z)):
        out[k] = formulas.potential(kind, Z[k])


def _compiled_log1p(y):
    """log(1 + y) by way of the Cauchy potential log(1 + z^2 / 2), and the y that it saw."""
    z = np.sqrt(2 * y)
    found = np.empty_like(z)
    _each(formulas.CAUCHY, z, found)
    return found, z * z / 2


def test_it_is_registered_by_what_the_loops_import():
    assert components.elementary is elementary


@pytest.mark.parametrize(("low", "high"), [(-300, 300), (-20, 0), (-2, 2), (-0.5, 0.5), (0, 16)])
def test_within_two_units_in_the_last_place(low, high):
    asked = 10 ** np.random.default_rng(7).uniform(low, high, 100_000)
    found, y = _compiled_log1p(asked)
    true = np.log1p(y)
    assert np.max(np.abs(found - true) / np.spacing(true)) <= 2


@given(st.floats(0, 1e300, allow_subnormal=False))
def test_the_plain_text_agrees(y):
    assert float(elementary.log1p(y)) == pytest.approx(math.log1p(y), rel=5e-16, abs=0)


def test_what_is_not_finite_stays_so():
    found = np.empty(3)
    _each(formulas.CAUCHY, np.array([math.inf, -math.inf, math.nan]), found)
    assert not np.isfinite(found).any()


def test_zero_is_zero():
    assert _compiled_log1p(np.zeros(3))[0].tolist() == [0, 0, 0]
