"""Local steps (4): every step of exact and of random rounds, for Lemmas 12, 13, 15 and 16 and the lines around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np

from cflag_theory.claims.c_flag.local_steps import lengths
from cflag_theory.claims.c_flag.local_steps.drift import drift, error, gap_mean, largest, table_mean
from cflag_theory.claims.c_flag.local_steps.iag import before
from cflag_theory.claims.c_flag.local_steps.sums import error_sum, rho_sum
from cflag_theory.claims.engine.notation import E, L, beta, grad_g, k
from cflag_theory.kernels import Problem
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.numbers import Ints
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point, Sample
from cflag_theory.verify.instances.c_flag import concave_round, of
from cflag_theory.verify.instances.on_the_line import Component, described, on_the_line, random_runs, rationals
from cflag_theory.verify.instances.paths import Path, norm, walk

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
}
