"""Local steps (4): every step of exact and of random rounds, for Lemmas 12, 13, 15 and 16 and the lines around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise, product
from typing import Any

import numpy as np

from cflag_theory.claims.c_flag.local_steps import lengths
from cflag_theory.claims.c_flag.local_steps.drift import d, drift, error, gap_mean, largest, table, table_mean
from cflag_theory.claims.c_flag.local_steps.iag import before
from cflag_theory.claims.c_flag.local_steps.ours import worst_order, worst_path, worst_sums, worst_turns
from cflag_theory.claims.c_flag.local_steps.sums import error_sum, norm_S, rho_sum
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import E, L, beta, grad_g, k
from cflag_theory.kernels import Problem
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.numbers import Ints
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point, Sample
from cflag_theory.verify.instances import orders
from cflag_theory.verify.instances.attaining import attaining_problem, walk_attaining
from cflag_theory.verify.instances.c_flag import concave_round, of, of_worst
from cflag_theory.verify.instances.on_the_line import Component, described, on_the_line, random_runs, rationals
from cflag_theory.verify.instances.orders import all_worst, cyclic, repeated, settled, up_to_relabelling
from cflag_theory.verify.instances.paths import Path, Round, norm, walk
from cflag_theory.verify.instances.recursions import LocalWorst, local_worst
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence

# Exact rounds on random small problems, besides the ones chosen to break or attain a bound.
_ROUNDS, _SEED = 6, 105


def _samples_up_to_k(symbol: Any, column: str, limit: float, seed: int, count: int) -> Iterator[Sample]:
    """The largest of a quantity over clients and steps up to every k, in random runs."""
    for run in random_runs(seed, count, beta_limit=limit):
        # The draws of a step do not depend on E: a round of k + 1 steps is the beginning of the round of E steps, and
        # its largest value is held against the bound at k.
        for steps in range(1, run.local_steps + 1):
            trace = run.trace if steps == run.local_steps else run.first_round(steps)
            met = {symbol(k): trace.root(column), k: steps - 1, grad_g: trace.root("grad_g2")}
            yield Sample(met | of(run, beta, L, E))


def _samples_of_sums(limit: float, seed: int, count: int) -> Iterator[Sample]:
    """Every round of random runs."""
    for run in random_runs(seed, count, beta_limit=limit):
        yield Sample(of(run, rho_sum, error_sum, beta, L, E, k, grad_g))


def _along(path: Path, size_of_grad_g: Any) -> dict[Any, list[Any]]:
    """The quantities of the statements for k = 0, ..., E - 1."""
    drifts, steps = path.drift, len(path.delayed)
    tops = [max(drifts[: at + 1]) for at in range(len(drifts))]
    return {
        k: list(range(steps)),
        drift(k): drifts[:steps],
        drift(k + 1): drifts[1:],
        largest(k): tops[:steps],
        before(k): [drifts[0] * 0, *tops[: steps - 1]],
        error(k): path.error,
        table_mean(k): path.table_mean,
        gap_mean(k): path.gap_mean,
        grad_g: [size_of_grad_g] * steps,
    }


def _lines() -> Iterator[tuple[list[Component], Fraction, tuple[int, ...]]]:
    """(components, beta, order of refreshes) of the chosen instances: one client, L = 1, x_t = 0."""
    concave, convex = (-1, -1), (1, 1)
    yield [convex] * 4, Fraction(1, 32), (0, 1, 2, 3)
    yield [concave] * 48, Fraction(1, 32000), (0,) * 32
    yield [concave], Fraction(1, 480), (0,) * 40
    yield [convex] * 24, Fraction(1, 16), (0,) * 33 + tuple(range(1, 24)) + (23,) * 64


def points() -> Iterator[Point]:
    """Every local step of the chosen instances at its last steps, and of random small problems."""
    for components, step, order in _lines():
        problem = on_the_line([[(1, 0)]], [components], start=0, L=1)
        some = {0, 1, len(order) - 2, len(order) - 1} if len(order) > 4 else range(len(order))
        yield from _points(problem, step, np.array([order]), some)
    # Once more with a small gradient: the line (129) as printed compares it with its square.
    for size, steps in product((Fraction(1, 2), Fraction(3)), (1, 2, 3)):
        problem = on_the_line([[(1, 0)]], [[(-1, -size)]], start=0, L=1)
        yield from _points(problem, Fraction(1, 12 * steps), np.zeros((1, steps), dtype=int), (steps - 1,))
    rng = np.random.default_rng(_SEED)
    for case in range(_ROUNDS):
        clients, n, steps = 1 + case % 3, int(rng.integers(1, 4)), int(rng.integers(1, 6))
        current = [list(zip(rationals(rng, n, span=4), rationals(rng, n), strict=True)) for _ in range(clients)]
        problem = on_the_line([[(1, 0)]] * clients, current, start=rationals(rng, 1)[0], L=1)
        share = (Fraction(1, 12), Fraction(1, 4), Fraction(3))[case % 3]
        yield from _points(problem, share / steps, rng.integers(0, n, (clients, steps)), range(steps))


def _points(problem: Problem, step: Fraction, orders: Ints, some: Iterable[int]) -> Iterator[Point]:
    """Some local steps of every client."""
    whole, words = walk(problem, beta=step, orders=orders), described(problem)
    for client, path in enumerate(whole.paths):
        found = _along(path, norm(whole.grad_g))
        for at in some:
            values = {key: series[at] for key, series in found.items()} | {beta: step, L: 1, E: orders.shape[1]}
            yield Point(values, (f"{words}; client {client + 1} refreshes {orders[client].tolist()}.",))


def _samples(limit: float, seed: int, count: int) -> Iterator[Sample]:
    """Every local step of every client in the first round of random runs, with refreshes of our own."""
    rng = np.random.default_rng([seed, _SEED])
    found: list[dict[Any, Any]] = []
    for run in random_runs(seed, count, beta_limit=limit):
        orders = np.stack([rng.integers(0, n, run.local_steps) for n in run.problem.current.counts])
        whole = walk(run.problem, beta=run.beta, orders=orders)
        steps = np.ones(run.local_steps)
        common = {symbol: value * steps for symbol, value in of(run, beta, L, E).items()}
        found += [_along(path, norm(whole.grad_g)) | common for path in whole.paths]
    yield Sample({key: np.concatenate([values[key] for values in found]) for key in found[0]})


def lengths_points() -> Iterator[Point]:
    """Two components of which one is refreshed, so that e is not zero at k = 1; and one alone, where it is."""
    for components, order in (([(1, 2), (1, -1)], [0, 0, 1, 0]), ([(2, 1)], [0, 0, 0])):
        problem = on_the_line([[(1, 0)]], [components], start=1, L=2)
        for step in (Fraction(1, 16), Fraction(1, 2)):
            (path,) = walk(problem, beta=step, orders=np.array([order])).paths
            moves = [(here - there)[0] / step for here, there in pairwise(path.points)]
            errors = (path.delayed - path.full)[:, 0]
            # grad g - grad g_i at x_t, the same at every step.
            correction = moves[0] - path.delayed[0, 0]
            for at in range(len(order)):
                made, full = [*zip(moves, errors, strict=True)][:at], zip(path.full[:at, 0], errors[:at], strict=True)
                values = {
                    L: 2,
                    beta: step,
                    k: at,
                    lengths.made(k): sum(abs(step * move) for move, _ in made),
                    lengths.with_error(k): sum(abs(move + e) for move, e in made),
                    lengths.split(k): sum(abs(correction + v + e) for v, e in full),
                }
                yield Point(values, (f"{described(problem)}; beta = {step}, k = {at}, refreshes {order}.",))


def constants_along_range() -> dict[str, Any]:
    """Printed constants, proved ones and exact instances along u = beta L E, for the figure."""
    grid = [Fraction(i, 48) for i in range(1, 25)]
    u = np.array([float(v) for v in grid])

    def met(steps: int, n: int, v: Fraction, column: str) -> float:
        return float(concave_round(steps, n, v / steps).root(column) / v)

    return {
        "drift": {
            "title": "Lemma 13: client drift",
            "ylabel": r"$\|x_{t,k}-x_t\| \,/\, (\beta k \|\nabla g(x_t)\|)$",
            "printed": 4.0,
            "range": 0.25,
            "range_words": r"$u = 1/4$",
            "u": u,
            "proved": np.expm1(u) / u,
            "instances": {
                steps: [met(steps, 1, v, "drift2_max") * steps / (steps - 1) for v in grid] for steps in (2, 8, 40)
            },
        },
        "error": {
            "title": "Corollary 14: error of the delayed gradient",
            "ylabel": r"$\|e_{t,k}\| \,/\, (\beta L E \|\nabla g(x_t)\|)$",
            "printed": 2.0,
            "range": 1 / 12,
            "range_words": r"$u = 1/12$",
            "u": u,
            "proved": np.ones_like(u),
            "instances": {steps: [met(steps, 64, v, "iag_error2_max") for v in grid] for steps in (2, 8, 32)},
        },
    }


_OUR_ROUNDS, _OUR_SEED = 10, 812
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
    rng = np.random.default_rng(_OUR_SEED)
    for case in range(_OUR_ROUNDS):
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
    "cflag.lemma13": Check(samples=partial(_samples_up_to_k, drift, "drift2_max", 1 / 4)),
    "cflag.cor14": Check(samples=partial(_samples_up_to_k, error, "iag_error2_max", 1 / 12)),
    "cflag.lemma15_1": Check(samples=partial(_samples_of_sums, 1 / 4)),
    "cflag.lemma15_2": Check(samples=partial(_samples_of_sums, 1 / 4)),
    "cflag.lemma16": Check(samples=partial(_samples_of_sums, 1 / 12)),
    "cflag.lemma12": Check(points, partial(_samples, 3.0)),
    "cflag.eq105": Check(points, partial(_samples, 3.0)),
    "cflag.eq117": Check(points, partial(_samples, 1 / 4)),
    "cflag.eq126": Check(points, partial(_samples, 1 / 4)),
    "cflag.eq129": Check(points, partial(_samples, 1 / 12)),
    "cflag.eq100": Check(lengths_points),
    "ours.worst_drift": Check(path_points),
    "ours.worst_iag_error": Check(path_points),
    "ours.worst_sums": Check(sums_points),
    "ours.worst_order": Check(order_points, further=enumerated),
    "ours.worst_error_beyond": Check(order_points),
    "ours.worst_turns": Check(turns_points),
}
