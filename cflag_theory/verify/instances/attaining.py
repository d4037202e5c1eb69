"""The instance that attains the worst case of the local steps, as a Problem that the exact reference engine runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cflag_theory.kernels import Problem
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.numbers import Ints
from cflag_theory.verify.instances.on_the_line import on_the_line
from cflag_theory.verify.instances.paths import walk
from cflag_theory.verify.instances.recursions import LocalWorst, check_order, check_size, check_step


def attaining_problem(n: int, *, clients: int = 1) -> Problem:
    """Clients with n components -x^2/2 - x each, x_0 = 0: then L = ||grad g(x_0)|| = 1 and x moves up."""
    size, many = check_size("n", n, 1), check_size("clients", clients, 1)
    return on_the_line([[(1, 0)]] * many, [[(-1, 1)] * size] * many, start=0, L=1)


def walk_attaining(order: Sequence[int], *, n: int, step: Fraction | int) -> LocalWorst:
    """Every local step of a round on the attaining instance: what is met, in the form of what is claimed."""
    size, length = check_size("n", n, 1), check_step(step)
    chosen = check_order(order, size)
    (path,) = walk(attaining_problem(size), beta=length, orders=_orders(chosen)).paths
    # Slopes of -1 at x_0: the delayed gradient is -(1 + mean drift of the table's points).
    table = tuple(abs(value) - 1 for (value,) in path.delayed)
    return LocalWorst(size, length, chosen, tuple(path.drift), table)


def _orders(order: tuple[int, ...]) -> Ints:
    """One client's row; the entry at k = 0 is not read."""
    return np.array([(0, *order)], dtype=np.int64)
