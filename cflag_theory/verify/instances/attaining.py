"""The instance that attains the worst case of the local steps, as a Problem that the exact reference engine runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cflag_theory.kernels import Problem
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.numbers import Ints
from cflag_theory.public import Count, taking
from cflag_theory.verify.instances.on_the_line import on_the_line
from cflag_theory.verify.instances.paths import walk
from cflag_theory.verify.instances.recursions import LocalWorst, Step, check_order


@taking
def attaining_problem(n: Count, *, clients: Count = 1) -> Problem:
    """Clients with n components -x^2/2 - x each, x_0 = 0: then L = ||grad g(x_0)|| = 1 and x moves up."""
    return on_the_line([[(1, 0)]] * clients, [[(-1, 1)] * n] * clients, start=0, L=1)


@taking
def walk_attaining(order: Sequence[int], *, n: Count, step: Step) -> LocalWorst:
    """Every local step of a round on the attaining instance: what is met, in the form of what is claimed."""
    n, chosen, length = int(n), check_order(order, n), Fraction(step)
    (path,) = walk(attaining_problem(n), beta=length, orders=_orders(chosen)).paths
    # Slopes of -1 at x_0: the delayed gradient is -(1 + mean drift of the table's points).
    table = tuple(abs(value) - 1 for (value,) in path.delayed)
    return LocalWorst(n, length, chosen, tuple(path.drift), table)


def _orders(order: tuple[int, ...]) -> Ints:
    """One client's row; the entry at k = 0 is not read."""
    return np.array([(0, *order)], dtype=np.int64)
