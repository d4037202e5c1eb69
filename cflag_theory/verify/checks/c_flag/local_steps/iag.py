"""Lemma 12 and the lines around it: every local step of exact and of random rounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np

from cflag_theory.claims.c_flag.local_steps.drift import drift, error, gap_mean, largest, table_mean
from cflag_theory.claims.c_flag.local_steps.iag import before
from cflag_theory.claims.engine.notation import E, L, beta, grad_g, k
from cflag_theory.kernels import Problem
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.numbers import Ints
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point, Sample
from cflag_theory.verify.quantities.c_flag import of
from cflag_theory.verify.witnesses.instances import Component, described, on_the_line, random_runs, rationals
from cflag_theory.verify.witnesses.paths import Path, norm, walk

# Exact rounds on random small problems, besides the ones chosen to break or attain a bound.
_ROUNDS, _SEED = 6, 105


def along(path: Path, size_of_grad_g: Any) -> dict[Any, list[Any]]:
    """The quantities of the statements for k = 0, ..., E - 1."""
    drifts = path.drift
    tops = [max(drifts[: at + 1]) for at in range(len(drifts))]
    steps = len(path.delayed)
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


def _random_lines() -> Iterator[tuple[Problem, Fraction, Any]]:
    rng = np.random.default_rng(_SEED)
    for case in range(_ROUNDS):
        clients, n, steps = 1 + case % 3, int(rng.integers(1, 4)), int(rng.integers(1, 6))
        current = [list(zip(rationals(rng, n, span=4), rationals(rng, n), strict=True)) for _ in range(clients)]
        problem = on_the_line([[(1, 0)]] * clients, current, start=rationals(rng, 1)[0], L=1)
        share = (Fraction(1, 12), Fraction(1, 4), Fraction(3))[case % 3]
        yield problem, share / steps, rng.integers(0, n, (clients, steps))


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
    for problem, step, orders in _random_lines():
        yield from _points(problem, step, orders, range(orders.shape[1]))


def _points(problem: Problem, step: Fraction, orders: Ints, some: Iterable[int]) -> Iterator[Point]:
    """Some local steps of every client."""
    whole, words = walk(problem, beta=step, orders=orders), described(problem)
    for client, path in enumerate(whole.paths):
        found = along(path, norm(whole.grad_g))
        for at in some:
            values = {key: series[at] for key, series in found.items()} | {beta: step, L: 1, E: orders.shape[1]}
            yield Point(values, (f"{words}; client {client + 1} refreshes {orders[client].tolist()}.",))


def samples(seed: int, count: int, limit: float) -> Iterator[Sample]:
    """Every local step of every client in the first round of random runs, with refreshes of our own."""
    rng = np.random.default_rng([seed, _SEED])
    found: list[dict[Any, Any]] = []
    for run in random_runs(seed, count, beta_limit=limit):
        orders = np.stack([rng.integers(0, n, run.local_steps) for n in run.problem.current.counts])
        whole = walk(run.problem, beta=run.beta, orders=orders)
        steps = np.ones(run.local_steps)
        common = {symbol: value * steps for symbol, value in of(run, beta, L, E).items()}
        found += [along(path, norm(whole.grad_g)) | common for path in whole.paths]
    yield Sample({key: np.concatenate([values[key] for values in found]) for key in found[0]})


def _within(limit: float) -> Check:
    return Check(points, lambda seed, count: samples(seed, count, limit))


CHECKS = {
    "cflag.lemma12": _within(3.0),
    "cflag.eq105": _within(3.0),
    "cflag.eq117": _within(1 / 4),
    "cflag.eq126": _within(1 / 4),
    "cflag.eq129": _within(1 / 12),
}
