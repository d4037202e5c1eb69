"""The constant in place of 60 in Lemma 3, from the exact worst case of the local steps."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

from cflag_theory.claims.ledger import claim
from cflag_theory.errors import InvalidInput
from cflag_theory.studies.worst_cases.surrogate import (
    PRINTED,
    PRINTED_STEP,
    best_union_constant,
    many_steps,
    printed_range,
    union_constant,
)
from cflag_theory.verify.instances.on_the_line import exact_run, on_the_line
from cflag_theory.verify.instances.orders import cyclic


@pytest.mark.parametrize("E", [1, 2, 5, 40])
@pytest.mark.parametrize("u", [PRINTED_STEP, Fraction(1, 4)])
def test_it_is_the_descent_that_is_proved(E, u):
    b = u / E
    q = (1 + b) ** E - b - 2 * b * E
    found = union_constant(local_steps=E, u=u)
    assert found.proved == 2 / (1 - q**2)
    assert 1 / (b * (1 + E)) <= found.needed <= found.proved
    if E <= 2:
        # One refreshed table cannot turn yet.
        assert found.needed == found.proved
    fewer = [union_constant(local_steps=E, u=u, n=n).proved for n in (1, 2, 6)]
    assert fewer[0] == found.proved
    assert sorted(fewer, reverse=True) == fewer


@pytest.mark.parametrize(("n", "E"), [(1, 4), (3, 5), (2, 1)])
@pytest.mark.parametrize("u", [PRINTED_STEP, Fraction(1, 2)])
def test_the_instance_that_needs_it_is_run(n, E, u):
    """(67)-(68) on (L/2) x^2 are Algorithm 1 with alpha = beta and past and current data alike."""
    b = u / E
    components = [(1, 0)] * n
    problem = on_the_line([components], [components], start=1, L=1)
    trace = exact_run(problem, alpha=b, beta=b, local_steps=E, orders=np.array([[(0, *cyclic(n, E))]]))
    drop = trace.column("f")[0, 0] - trace.at_end("f")[0]
    needed = trace.column("grad_f2")[0, 0] / drop
    assert needed <= union_constant(local_steps=E, u=u, n=n).needed <= union_constant(local_steps=E, u=u, n=n).proved
    if u == PRINTED_STEP:
        assert needed == union_constant(local_steps=E, u=u, n=n).needed


def test_at_the_printed_step_size():
    low, high = many_steps(PRINTED_STEP)
    assert 0 < high - low < Fraction(1, 10**12)
    assert float(low) == pytest.approx(2 / (1 - (exp(1 / 30) - 1 / 15) ** 2))
    values = [union_constant(local_steps=E, u=PRINTED_STEP).proved for E in (1, 2, 5, 20, 80)]
    assert sorted(values) == values
    assert values[-1] < low
    # The ledger proves 31.03 there, and knows that 31.011 is needed.
    (found,) = (part.sharp for part in claim("cflag.lemma3_surrogate").parts if part.sharp)
    assert 31.011 < low < Fraction(int(found.value.p), int(found.value.q)) < PRINTED


@pytest.mark.parametrize("E", [1, 2, 4, 10, 30])
def test_the_best_step_size_is_best(E):
    found = best_union_constant(E)
    end = Fraction(E, 1 + E)
    assert found.u <= end
    for share in (Fraction(1, 2), Fraction(9, 10), Fraction(99, 100), Fraction(101, 100), Fraction(11, 10)):
        if found.u * share <= end:
            assert union_constant(local_steps=E, u=found.u * share).proved > found.proved
    assert 2 <= found.needed <= found.proved < Fraction(33, 10)


def test_for_many_local_steps_it_tends_to_ln_2():
    found = best_union_constant(150)
    assert float(found.u) == pytest.approx(log(2), rel=0.02)
    best = many_steps(Fraction(693147, 10**6))
    assert float(best[0]) == pytest.approx(2 / (1 - (2 - 2 * log(2)) ** 2), rel=1e-6)
    assert found.proved < best[0] < Fraction(321, 100)


@pytest.mark.parametrize("E", [1, 3, 20])
def test_the_range_of_60_L(E):
    low, high = printed_range(E)
    assert union_constant(local_steps=E, u=low).proved <= PRINTED
    assert union_constant(local_steps=E, u=low * Fraction(9999, 10000)).proved > PRINTED
    assert high == Fraction(E, 1 + E)
    assert low < PRINTED_STEP < high


def test_no_constant_is_given_where_none_is_proved():
    with pytest.raises(InvalidInput, match=r"u = 1 is beta L \(1 \+ E\) = 5/4: use a u of at most 4/5 for E = 4"):
        union_constant(local_steps=4, u=Fraction(1))
    with pytest.raises(InvalidInput, match="u = 1: use a fraction between 0 and 1"):
        many_steps(Fraction(1))
