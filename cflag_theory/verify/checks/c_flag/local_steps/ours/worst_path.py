"""The exact worst case of the local steps: every step of the attaining instance, and of random exact rounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from cflag_theory.claims.c_flag.local_steps.drift import drift, error
from cflag_theory.claims.c_flag.local_steps.ours import worst_path as claim
from cflag_theory.claims.engine.notation import k
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.quantities.c_flag import of_worst
from cflag_theory.verify.witnesses.instances import on_the_line, rationals
from cflag_theory.verify.witnesses.paths import Round, norm, walk
from cflag_theory.verify.worst_cases.attaining import attaining_problem
from cflag_theory.verify.worst_cases.orders import cyclic, repeated, settled
from cflag_theory.verify.worst_cases.recursions import LocalWorst, local_worst

_ROUNDS, _SEED = 10, 812
#: beta L of the attaining rounds, within the papers' ranges and far beyond.
_STEPS = (Fraction(1, 48), Fraction(1, 3), Fraction(5))


@dataclass(frozen=True)
class Case:
    """A round in which all clients refresh in one order, with the worst case of that order; L = 1.

    `attaining` says that all components are -x^2/2 - x.
    """

    round: Round
    worst: LocalWorst
    size: Fraction
    attaining: bool


@cache
def cases() -> tuple[Case, ...]:
    """The attaining rounds for several orders, and rounds of random quadratics of both curvatures."""
    found = []
    for n, order in ((1, cyclic(1, 6)), (3, cyclic(3, 7)), (3, repeated(5)), (4, settled(4, 8, 3)), (2, (1, 0, 0, 1))):
        for step in _STEPS:
            orders = np.array([(0, *order)])
            whole = walk(attaining_problem(n), beta=step, orders=orders)
            found.append(Case(whole, local_worst(order, n=n, step=step), Fraction(1), True))
    rng = np.random.default_rng(_SEED)
    for case in range(_ROUNDS):
        clients, n, steps = 1 + case % 3, int(rng.integers(1, 5)), int(rng.integers(2, 8))
        tasks = [list(zip(rationals(rng, n, span=4), rationals(rng, n), strict=True)) for _ in range(clients)]
        order = tuple(int(j) for j in rng.integers(0, n, steps - 1))
        problem = on_the_line([[(1, 0)]] * clients, tasks, start=rationals(rng, 1)[0], L=1)
        step = Fraction(int(rng.integers(1, 40)), 16)
        whole = walk(problem, beta=step, orders=np.array([(0, *order)] * clients))
        found.append(Case(whole, local_worst(order, n=n, step=step), norm(whole.grad_g), False))
    return tuple(found)


def points() -> Iterator[Point]:
    """Every local step of every client."""
    for case in cases():
        worst, size = case.worst, case.size
        for path in case.round.paths:
            for at in range(worst.local_steps):
                values = of_worst(worst, at, size) | {drift(k): path.drift[at], error(k): path.error[at]}
                yield Point(values, part="bound")
                if case.attaining:
                    on_line = {claim.y(k): path.drift[at], claim.error_met: path.error[at]}
                    yield Point(values | on_line, part="attained")


CHECKS = {
    "ours.worst_drift": Check(points),
    "ours.worst_iag_error": Check(points),
}
