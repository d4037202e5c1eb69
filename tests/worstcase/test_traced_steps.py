"""Steps of the user: traced with unknown vectors, run on the worst functions, refused where they are not linear."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import own_algorithm
from cflag_theory.kernels.algorithms import algorithm
from cflag_theory.worstcase.saving import recheck, record
from cflag_theory.worstcase.vectors import NotLinear
from cflag_theory.worstcase.worst import worst_case

NUMBERS = {"E": 2, "T": 2, "eta": Fraction(1, 10)}


def plain(x, gradient, beta):
    return x - beta * gradient


def proximal(x, x_t, full_gradient, beta, mu=Fraction(1, 10)):
    y = x.copy()
    y = y - beta * (full_gradient + mu * (x - x_t))
    return y


def tracking(x, gradient, grad_g, grad_g_i, beta):
    return x - beta * (gradient - grad_g_i + grad_g)


def momentum(x_t, displacement, state, gamma=0.5):
    state = gamma * state + displacement
    return x_t + state, state


@pytest.mark.parametrize(("step", "row"), [(plain, "fedavg"), (proximal, "fedprox"), (tracking, "fedtrack")])
def test_a_row_that_is_written_as_a_step_has_the_same_worst_case(step, row):
    own, known = worst_case(own_algorithm(step), **NUMBERS), worst_case(row, **NUMBERS)
    assert float(own.upper) == pytest.approx(float(known.upper), rel=1e-9)
    assert own.lower == pytest.approx(known.lower, rel=1e-6)


@pytest.mark.parametrize("row", ["fedavg", "scaffold"])
def test_a_server_with_a_state_is_traced_over_the_rounds(row):
    method = own_algorithm(None, momentum, server_state=lambda x: 0 * x, row=row)
    found = worst_case(method, **NUMBERS)
    assert found.lower <= float(found.upper) <= found.lower + 1e-6
    still = worst_case(own_algorithm(None, momentum, server_state=lambda x: 0 * x, row=row, gamma=0), **NUMBERS)
    assert float(still.upper) == pytest.approx(float(worst_case(row, **NUMBERS).upper), rel=1e-9)


@pytest.mark.parametrize("measure", ["distance", "grad"])
def test_a_servers_step_is_what_is_measured(measure):
    own = worst_case(own_algorithm(None, doubled, row="fedavg"), measure=measure, **NUMBERS)
    known = worst_case(algorithm("fedavg", server_rate=2), measure=measure, **NUMBERS)
    assert float(own.upper) == pytest.approx(float(known.upper), rel=1e-9)
    assert own.lower == pytest.approx(known.lower, rel=1e-6)


def doubled(x_t, displacement):
    return x_t + 2 * displacement


def squares(x_t, displacement):
    return x_t + displacement**2


def clipped(x, gradient, beta):
    return x - beta * gradient / max(1, np.linalg.norm(gradient))


def named(x, gradient, beta, i):
    return x - beta * gradient * (1 + i)


def counting(x, gradient, beta, N):
    return x - beta * gradient / N


def constant(x, gradient, beta):
    return 0


def in_place(x, gradient, beta):
    y = x
    y -= beta * gradient
    return y


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (clipped, "only sums, differences and multiples"),
        (named, "names i: a worst case for every N needs clients alike"),
        (counting, "names N"),
        (constant, "returned no sum of multiples of vectors"),
        # The trace is that of FedAvg; the run is not.
        (in_place, "writes to an array"),
    ],
)
def test_what_is_not_linear_is_refused(step, message):
    with pytest.raises(InvalidInput, match=message):
        worst_case(own_algorithm(step), **NUMBERS)
    with pytest.raises(InvalidInput):
        worst_case(own_algorithm(None, squares, row="fedavg"), **NUMBERS)


def test_a_run_that_goes_elsewhere_than_its_trace_is_seen():
    calls = []

    def drawn(x, gradient, beta):
        calls.append(1)
        return x - beta * gradient * (1 if len(calls) < 9 else Fraction(1, 4))

    with pytest.raises(NotLinear, match="away from where they were traced"):
        worst_case(own_algorithm(drawn), **NUMBERS)


def remembering(x_t, displacement, grad_f_memory):
    return x_t + displacement - grad_f_memory


def test_units_and_files_of_own_steps():
    with pytest.raises(NotLinear, match="takes no memory here"):
        worst_case(own_algorithm(None, remembering, row="fedavg"), kind="smooth", measure="grad", **NUMBERS)
    with pytest.raises(InvalidInput, match="use units in which it is 1"):
        worst_case(own_algorithm(plain), L=2, **NUMBERS)
    with pytest.raises(InvalidInput, match="solve it again"):
        recheck(record(worst_case(own_algorithm(plain), **NUMBERS)))
