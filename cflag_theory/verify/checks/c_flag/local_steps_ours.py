"""The exact worst case of the local steps: the attaining instance for many orders, and random exact rounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from cflag_theory.claims.c_flag.local_steps.drift import d, drift, error, table
from cflag_theory.claims.c_flag.local_steps.ours import worst_order, worst_path, worst_sums, worst_turns
from cflag_theory.claims.c_flag.local_steps.sums import error_sum, norm_S, rho_sum
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import E, L, beta, grad_g, k
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.instances import orders
from cflag_theory.verify.instances.attaining import attaining_problem, walk_attaining
from cflag_theory.verify.instances.c_flag import of_worst
from cflag_theory.verify.instances.on_the_line import on_the_line, rationals
from cflag_theory.verify.instances.orders import all_worst, cyclic, repeated, settled, up_to_relabelling
from cflag_theory.verify.instances.paths import Round, norm, walk
from cflag_theory.verify.instances.recursions import LocalWorst, local_worst
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence

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
            whole = walk(attaining_problem(n), beta=step, orders=np.array([(0, *order)]))
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


def path_points() -> Iterator[Point]:
    """Every local step of every client."""
    for case in cases():
        for path, at in product(case.round.paths, range(case.worst.local_steps)):
            values = of_worst(case.worst, at, case.size) | {drift(k): path.drift[at], error(k): path.error[at]}
            yield Point(values, part="bound")
            if case.attaining:
                on_line = {worst_path.y(k): path.drift[at], worst_path.error_met: path.error[at]}
                yield Point(values | on_line, part="attained")


def sums_points() -> Iterator[Point]:
    """Every round."""
    for case in cases():
        worst, whole, size = case.worst, case.round, case.size
        rho, errors, both = (norm(v) for v in (whole.rho_sum, whole.error_sum, whole.rho_sum + whole.error_sum))
        values: dict[Any, Any] = {symbol: of_worst(worst, 0, size)[symbol] for symbol in (beta, L, grad_g)}
        values |= {
            E: worst.local_steps,
            worst_sums.d_sum(E): size * (worst.gradient_sum - worst.local_steps),
            worst_sums.table_sum(E): size * (worst.delayed_sum - worst.local_steps),
            rho_sum: rho,
            error_sum: errors,
            norm_S: both,
        }
        met = {worst_sums.rho_met: rho, worst_sums.errors_met: errors, worst_sums.S_met: both}
        for part in ("gradients", "delayed", "errors"):
            yield Point(values, part=part)
            if case.attaining:
                yield Point(values | met, part=f"attained {part}")


#: What the attaining instance does, from the kernels.
_met = cache(walk_attaining)


def _latest(met: LocalWorst, at: int, first: int = 0) -> Fraction:
    """The mean over components of the drifts at the latest steps, without the `first` of them."""
    return sum((met.drift[max(at - q, 0)] for q in range(first, met.n)), Fraction(0)) / met.n


def _rounds() -> Iterator[tuple[LocalWorst, LocalWorst]]:
    """Rounds of the attaining instance, each with the worst case of the components in turn.

    beta L k up to 1, and beyond.
    """
    shares = (Fraction(1, 2), Fraction(1), Fraction(3))
    for (n, steps), share in product(((2, 3), (2, 5), (3, 4), (4, 5)), shares):
        step = share / (steps - 1)
        turns = local_worst(cyclic(n, steps), n=n, step=step)
        yield from ((_met(worst.order, n=n, step=step), turns) for worst in all_worst(n, steps, step))
    for n, steps, part in ((8, 40, 39), (40, 40, 39), (12, 80, 30), (24, 160, 40)):
        step = Fraction(1, part)
        turns = local_worst(cyclic(n, steps), n=n, step=step)
        worst = orders.worst_order("error", n=n, local_steps=steps, step=step)
        yield from ((_met(order, n=n, step=step), turns) for order in (repeated(steps), worst, settled(n, steps, n)))


def order_points() -> Iterator[Point]:
    """The last local step of every round."""
    for met, turns in _rounds():
        at = met.local_steps - 1
        values: dict[Any, Any] = {
            **of_worst(met, at),
            worst_order.n: met.n,
            error(k): met.error[at],
            worst_order.d_turns(k): turns.drift[at],
            worst_order.d_turns(k + 1): turns.drift[at + 1],
            worst_order.table_turns(k): turns.table[at],
            worst_order.latest(k): _latest(met, at),
        }
        yield from (Point(values, part=part) for part in ("drift", "error", *(() if any(met.order) else ("again",))))
        fresh = [start for start in range(at) if met.step * (at - start) >= 1]
        if fresh:
            yield Point(values | {worst_order.s: fresh[-1]}, part="1")


def enumerated(subject: Claim, seed: int, count: int) -> Iterable[Evidence]:
    """All orders up to relabelling: none has more than the order that is said to be the worst."""
    tried, above = 0, []
    shares = tuple(Fraction(share) for share in (Fraction(1, 12), Fraction(1, 4), 1, 2, 4, 16))
    for n, steps, share in product((1, 2, 3, 4), (1, 2, 3, 5, 7), shares):
        step, most = share / steps, {}
        for name in ("drift", "error", "error_sum"):
            order = orders.worst_order(name, n=n, local_steps=steps, step=step)
            most[name] = orders.measure(name, local_worst(order, n=n, step=step))
        for one in all_worst(n, steps, step):
            tried += 1
            if any(orders.measure(name, one) > value for name, value in most.items()):
                above.append((one.order, step))
    data: dict[str, Any] = {"cases": tried, "exact": True, "above": [str(one) for one in above]}
    summary = f"{len(above)} of {tried} orders up to relabelling, n <= 4 and E <= 7, exceed the one that is the worst."
    yield Evidence("property", "drift", "printed", REFUTES if above else SUPPORTS, summary, data)


def turns(n: int, local_steps: int, step: Fraction) -> int:
    """The last s before k = E - 1 with (n - 1)((1 + beta L / n)^{k - s} - 1) >= 1; 0 if there is none."""
    at = local_steps - 1
    return max((s for s in range(1, at) if (n - 1) * ((1 + step / n) ** (at - s) - 1) >= 1), default=0)


def turns_points() -> Iterator[Point]:
    """The last local step of rounds on the attaining instance, in which turns pay for a while."""
    for n, steps, step in ((2, 6, Fraction(3, 2)), (3, 6, Fraction(2)), (4, 6, Fraction(3)), (2, 5, Fraction(8))):
        for order in up_to_relabelling(n, steps):
            yield from _turns_points(order, n, step)
    for n, steps, step in ((6, 40, Fraction(1, 10)), (12, 60, Fraction(1, 4))):
        for last in (1, turns(n, steps, step), steps - 1):
            yield from _turns_points(settled(n, steps, last), n, step)


def _turns_points(order: tuple[int, ...], n: int, step: Fraction) -> Iterator[Point]:
    at, s, j = len(order), worst_turns.s, worst_turns.j
    last = turns(n, at + 1, step)
    met, turning = walk_attaining(order, n=n, step=step), local_worst(cyclic(n, at + 1), n=n, step=step)
    common: dict[Any, Any] = {
        beta: step,
        L: 1,
        grad_g: 1,
        worst_order.n: n,
        s: last,
        worst_order.d_turns(s): turning.drift[last],
        worst_turns.rest_turns(s): turning.table[last] - turning.drift[last] / n,
    }
    at_end: dict[Any, Any] = {
        d(s + j + 1): met.drift[at],
        table(s + j + 1): met.table[at],
        j: at - last - 1,
        k: at,
        table(k): met.table[at],
        worst_order.latest(k): _latest(met, at),
        worst_order.rest(s): met.table[last] - met.drift[last] / n,
        worst_turns.latest_others(s): _latest(met, last, 1),
    }
    yield Point(common | at_end, part="bound")
    if order == settled(n, at + 1, last):
        at_end = {d(s + j): met.drift[at], table(s + j): met.table[at], j: at - last}
        yield Point(common | at_end, part="attained")


CHECKS = {
    "ours.worst_drift": Check(path_points),
    "ours.worst_iag_error": Check(path_points),
    "ours.worst_sums": Check(sums_points),
    "ours.worst_order": Check(order_points, further=enumerated),
    "ours.worst_error_beyond": Check(order_points),
    "ours.worst_turns": Check(turns_points),
}
