"""The worst order: all orders up to relabelling for small n and E, run on the attaining instance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from cflag_theory.claims.c_flag.local_steps.drift import error
from cflag_theory.claims.c_flag.local_steps.ours import worst_order as claim
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import k
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.quantities.c_flag import of_worst
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence
from cflag_theory.verify.worst_cases.attaining import walk_attaining
from cflag_theory.verify.worst_cases.orders import all_worst, cyclic, measure, repeated, settled, worst_order
from cflag_theory.verify.worst_cases.recursions import LocalWorst, local_worst

# (n, E, beta L): beta L k up to 1, and beyond.
_SMALL = tuple(
    (n, steps, share / (steps - 1))
    for n, steps in ((2, 3), (2, 5), (3, 4), (4, 5))
    for share in (Fraction(1, 2), Fraction(1), Fraction(3))
)
_LONG = ((8, 40, Fraction(1, 39)), (40, 40, Fraction(1, 39)), (12, 80, Fraction(1, 30)), (24, 160, Fraction(1, 40)))
_ENUMERATED = tuple((n, steps) for n in (1, 2, 3, 4) for steps in (1, 2, 3, 5, 7))
_SHARES = tuple(Fraction(share) for share in (Fraction(1, 12), Fraction(1, 4), 1, 2, 4, 16))


@cache
def _met(order: tuple[int, ...], n: int, step: Fraction) -> LocalWorst:
    """What the attaining instance does, from the kernels."""
    return walk_attaining(order, n=n, step=step)


def _instances() -> Iterator[tuple[LocalWorst, LocalWorst]]:
    """Rounds of the attaining instance, each with the worst case of the components in turn."""
    for n, steps, step in _SMALL:
        turns = local_worst(cyclic(n, steps), n=n, step=step)
        for worst in all_worst(n, steps, step):
            yield _met(worst.order, n, step), turns
    for n, steps, step in _LONG:
        turns = local_worst(cyclic(n, steps), n=n, step=step)
        for order in (repeated(steps), worst_order("error", n=n, local_steps=steps, step=step), settled(n, steps, n)):
            yield _met(order, n, step), turns


def points() -> Iterator[Point]:
    """The last local step of every round."""
    for met, turns in _instances():
        at = met.local_steps - 1
        values: dict[Any, Any] = {
            **of_worst(met, at),
            claim.n: met.n,
            error(k): met.error[at],
            claim.d_turns(k): turns.drift[at],
            claim.d_turns(k + 1): turns.drift[at + 1],
            claim.table_turns(k): turns.table[at],
            claim.latest(k): sum(met.drift[max(at - q, 0)] for q in range(met.n)) / met.n,
        }
        yield Point(values, part="drift")
        yield Point(values, part="error")
        if not any(met.order):
            yield Point(values, part="again")
        fresh = [start for start in range(at) if met.step * (at - start) >= 1]
        if fresh:
            yield Point(values | {claim.s: fresh[-1]}, part="1")


def enumerated(subject: Claim, seed: int, count: int) -> Iterable[Evidence]:
    """All orders up to relabelling: none has more than the order that is said to be the worst."""
    tried, above = 0, []
    for n, steps in _ENUMERATED:
        for share in _SHARES:
            step = share / steps
            orders = {
                name: worst_order(name, n=n, local_steps=steps, step=step) for name in ("drift", "error", "error_sum")
            }
            most = {name: measure(name, local_worst(order, n=n, step=step)) for name, order in orders.items()}
            for one in all_worst(n, steps, step):
                tried += 1
                if any(measure(name, one) > value for name, value in most.items()):
                    above.append((one.order, step))
    data: dict[str, Any] = {"cases": tried, "exact": True, "above": [str(one) for one in above]}
    summary = f"{len(above)} of {tried} orders up to relabelling, n <= 4 and E <= 7, exceed the one that is the worst."
    yield Evidence("property", "drift", "printed", REFUTES if above else SUPPORTS, summary, data)


CHECKS = {
    "ours.worst_order": Check(points, further=enumerated),
    "ours.worst_error_beyond": Check(points),
}
