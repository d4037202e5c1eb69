"""The instance that attains the worst case of the local steps, as a Problem that the exact reference engine runs."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

import numpy as np

from cflag_theory.kernels import Problem
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.numbers import Ints
from cflag_theory.verify.witnesses.instances import exact_run, on_the_line
from cflag_theory.verify.witnesses.paths import walk
from cflag_theory.verify.worst_cases.recursions import LocalWorst, check_order, check_size, check_step


def attaining_problem(n: int, *, clients: int = 1) -> Problem:
    """Clients with n components -x^2/2 - x each, x_0 = 0: then L = ||grad g(x_0)|| = 1 and x moves up.

    Parameters
    ----------
    n : int
        Components of a client.
    clients : int
        Clients, of equal weight; each has one past component x^2/2.

    Raises
    ------
    InvalidInput
        A size below 1.
    """
    size, many = check_size("n", n, 1), check_size("clients", clients, 1)
    return on_the_line([[(1, 0)]] * many, [[(-1, 1)] * size] * many, start=0, L=1)


def walk_attaining(order: Sequence[int], *, n: int, step: Fraction | int) -> LocalWorst:
    """Every local step of a round on the attaining instance: what is met, in the form of what is claimed.

    Parameters
    ----------
    order, n, step
        As in `recursions.local_worst`.

    Raises
    ------
    InvalidInput
        As in `recursions.local_worst`.
    """
    size, length = check_size("n", n, 1), check_step(step)
    chosen = check_order(order, size)
    (path,) = walk(attaining_problem(size), beta=length, orders=_orders(chosen)).paths
    # Slopes of -1 at x_0: the delayed gradient is -(1 + mean drift of the table's points).
    table = tuple(abs(value) - 1 for (value,) in path.delayed)
    return LocalWorst(size, length, chosen, tuple(path.drift), table)


def run_attaining(order: Sequence[int], *, n: int, step: Fraction | int) -> dict[str, Fraction]:
    """A round on the attaining instance by the exact reference engine.

    Parameters
    ----------
    order, n, step
        As in `recursions.local_worst`; the step must be positive.

    Returns
    -------
    dict
        In units of ||grad g(x_t)|| = 1 and L = 1: "drift" and "error", the largest over k = 0, ..., E - 1, and the
        lengths "gradient_sum" of sum_k rho_k and "error_sum" of sum_k e_k.

    Raises
    ------
    InvalidInput
        As in `recursions.local_worst`, and a step size 0, with which nothing runs.
    """
    size, length = check_size("n", n, 1), check_step(step)
    chosen = check_order(order, size)
    trace = exact_run(
        attaining_problem(size),
        alpha=Fraction(1, 2),
        beta=length,
        local_steps=len(chosen) + 1,
        orders=_orders(chosen)[None],
        diagnostics="all",
    )
    columns = {
        "drift": "drift2_max",
        "error": "iag_error2_max",
        "gradient_sum": "rho_sum2",
        "error_sum": "error_sum2",
    }
    return {name: _root(trace.column(column)[0, 0]) for name, column in columns.items()}


def _orders(order: tuple[int, ...]) -> Ints:
    """One client's row; the entry at k = 0 is not read."""
    return np.array([(0, *order)], dtype=np.int64)


def _root(square: Fraction) -> Fraction:
    """The root of a square of a rational number, as all norms on the line are."""
    return Fraction(isqrt(square.numerator), isqrt(square.denominator))
