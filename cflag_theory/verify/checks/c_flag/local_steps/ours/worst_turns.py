"""The worst order for the error at any step size: all orders of small rounds, and long rounds of that order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cflag_theory.claims.c_flag.local_steps.drift import d, table
from cflag_theory.claims.c_flag.local_steps.ours import worst_turns as claim
from cflag_theory.claims.c_flag.local_steps.ours.worst_order import d_turns, latest, n, rest, s
from cflag_theory.claims.engine.notation import L, beta, grad_g
from cflag_theory.claims.engine.notation import k as step_index
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.worst_cases.attaining import walk_attaining
from cflag_theory.verify.worst_cases.orders import cyclic, settled, up_to_relabelling
from cflag_theory.verify.worst_cases.recursions import LocalWorst, local_worst

# (n, E, beta L) in which turns pay for a while.
_SMALL = ((2, 6, Fraction(3, 2)), (3, 6, Fraction(2)), (4, 6, Fraction(3)), (2, 5, Fraction(8)))
_LONG = ((6, 40, Fraction(1, 10)), (12, 60, Fraction(1, 4)))


def turns(size: int, local_steps: int, step: Fraction) -> int:
    """The last s before k = E - 1 with (n - 1)((1 + beta L / n)^{k - s} - 1) >= 1; 0 if there is none."""
    k = local_steps - 1
    paying = [at for at in range(1, k) if (size - 1) * ((1 + step / size) ** (k - at) - 1) >= 1]
    return max(paying, default=0)


def points() -> Iterator[Point]:
    """The last local step of rounds on the attaining instance."""
    for size, steps, step in _SMALL:
        for order in up_to_relabelling(size, steps):
            yield from _points(order, size, step)
    for size, steps, step in _LONG:
        for last in (1, turns(size, steps, step), steps - 1):
            yield from _points(settled(size, steps, last), size, step)


def _points(order: tuple[int, ...], size: int, step: Fraction) -> Iterator[Point]:
    steps = len(order) + 1
    k, last = steps - 1, turns(size, steps, step)
    met: LocalWorst = walk_attaining(order, n=size, step=step)
    turning = local_worst(cyclic(size, steps), n=size, step=step)
    common: dict[Any, Any] = {
        beta: step,
        L: 1,
        grad_g: 1,
        n: size,
        s: last,
        d_turns(s): turning.drift[last],
        claim.rest_turns(s): turning.table[last] - turning.drift[last] / size,
    }
    at_end: dict[Any, Any] = {
        d(s + claim.j + 1): met.drift[k],
        table(s + claim.j + 1): met.table[k],
        claim.j: k - last - 1,
        step_index: k,
        table(step_index): met.table[k],
        latest(step_index): sum(met.drift[max(k - q, 0)] for q in range(size)) / size,
        rest(s): met.table[last] - met.drift[last] / size,
        claim.latest_others(s): sum((met.drift[max(last - q, 0)] for q in range(1, size)), Fraction(0)) / size,
    }
    yield Point(common | at_end, part="bound")
    if order == settled(size, steps, last):
        at_end = {d(s + claim.j): met.drift[k], table(s + claim.j): met.table[k], claim.j: k - last}
        yield Point(common | at_end, part="attained")


CHECKS = {
    "ours.worst_turns": Check(
        points,
    )
}
