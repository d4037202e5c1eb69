"""(69)-(74) and (66) along (67)-(68): exact rounds on the line, and random runs.

(67)-(68) with a step size beta are Algorithm 1 with alpha = beta whose past and current data are both the union of
memory and current data: its memory gradient is then grad h~, and its trace records h~ as f.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from cflag_theory.claims.c_flag.union import surrogate as claim
from cflag_theory.claims.c_flag.union.tracking import L_memory
from cflag_theory.claims.engine.notation import E, L, beta, k
from cflag_theory.kernels import Problem, Trace, everything, random_glm, random_quadratic, random_separable, simulate
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.union.data import (
    AT_REST,
    CONVEX,
    LINEAR,
    SEED,
    STEEP,
    UNEVEN,
    Union,
    by_sizes,
    kept_smoothness,
    random_unions,
    run_union,
    shares,
)
from cflag_theory.verify.evidence import Point, Sample
from cflag_theory.verify.quantities.c_flag import of
from cflag_theory.verify.witnesses.instances import visited

_REPLAY = f"(67)-(68) with seed {SEED}."
_ROUND = (claim.h(claim.t), claim.h(claim.t + 1), claim.grad_h(claim.t), L_memory)


def round_values(union: Union, step: Fraction, steps: int) -> Point:
    """One exact round as values of (69)'s symbols."""
    run = run_union(union, step, steps, 1)
    return Point(of(run, L, E, k, beta, *_ROUND), (union.words, _REPLAY))


def eq69_points() -> Iterator[Point]:
    """The round at rest, the round that attains the sharp constant, and random rounds over the range."""
    for share, steps in product((Fraction(1, 4), Fraction(1, 30)), (1, 2, 5)):
        for union in (AT_REST, CONVEX, LINEAR):
            yield round_values(union, share / steps, steps)
    yield round_values(STEEP, Fraction(1, 30), 1)
    for number, (union, steps) in enumerate(random_unions(12)):
        yield round_values(union, Fraction(1, 4 << (number % 2)) / steps, steps)


def eq71_points() -> Iterator[Point]:
    """The range of (71), its end included, and one step beyond, which counts only where a wider range is claimed."""
    for smoothness, steps, share in product(
        (Fraction(1), Fraction(5, 3)), (1, 4), (Fraction(1, 100), Fraction(1, 30), Fraction(1, 4), Fraction(1, 3))
    ):
        yield Point({L: smoothness, E: steps, beta: share / (smoothness * steps)}, part="1")
    for point in eq69_points():
        yield replace(point, part="decrease")
        yield replace(point, part="strict")


def eq73_points() -> Iterator[Point]:
    """The step size of Lemma 3."""
    for smoothness, steps in product((Fraction(1, 3), Fraction(1), Fraction(7)), (1, 2, 9)):
        yield Point({L: smoothness, E: steps, beta: 1 / (30 * smoothness * steps)}, part="1")
    for steps, union in product((1, 2, 5), (AT_REST, CONVEX, LINEAR)):
        yield replace(round_values(union, Fraction(1, 30 * steps), steps), part="bound")


def run_values(union: Union, steps: int, rounds: int) -> Point:
    """A run with beta = 1/(30 L E) as values of (66)'s and (74)'s symbols.

    (73) is checked in every round; it holds wherever the kept components are 1-smooth.
    """
    step = Fraction(1, 30 * steps)
    run = run_union(union, step, steps, rounds)
    path, sizes2 = run.path, run.sizes2
    met = all(size2 <= 60 * (path[i] - path[i + 1]) for i, size2 in enumerate(sizes2))
    assert met == (kept_smoothness(union) <= 1)
    points = visited(run.trace)
    values: dict[Any, Any] = {
        **of(run, L, E, k, beta, claim.T, claim.h(0), claim.h(claim.T), *_ROUND, claim.least),
        claim.printed_sum: rounds * (path[0] - path[-1]),
        claim.round_sum(claim.T): sum(path[i] - path[i + 1] for i in range(rounds)),
        claim.share_spread: shares(union)[2],
    }
    if values[claim.share_spread] == 0:
        # Otherwise (67)-(68) with the h~ of (3) would take other steps.
        values[claim.h_sizes(0)] = by_sizes(union, points[0])[0]
        values[claim.h_sizes(claim.T)] = by_sizes(union, points[-1])[0]
        values[claim.least_sizes] = min(by_sizes(union, at)[1] ** 2 for at in points[:-1])
    return Point(values, (union.words, _REPLAY))


def run_points() -> Iterator[Point]:
    """Runs at rest, the quadratic that comes closest, linear losses, and random unions."""
    for steps, rounds in ((1, 1), (2, 2), (3, 3)):
        for union in (AT_REST, CONVEX, LINEAR):
            yield run_values(union, steps, rounds)
    for union, steps in random_unions(8):
        yield run_values(union, steps, 3)


def lemma3_points() -> Iterator[Point]:
    """A memory of steep components, unequal shares, the runs of (74), and long rounds of the quadratic."""
    yield uneven_round()
    runs = (run_values(STEEP, 1, 1), *run_points(), *(run_values(CONVEX, steps, 1) for steps in (8, 150)))
    for point in runs:
        yield replace(point, part="1")
        if point.values[claim.share_spread] == 0:
            yield replace(point, part="2")


def uneven_round() -> Point:
    """A round of (67)-(68) with the h~ of (3) for E = 1, where it needs no table of delayed gradients."""
    step, start = Fraction(1, 30), UNEVEN.start
    before, slope = by_sizes(UNEVEN, start)
    data = zip(UNEVEN.p, UNEVEN.memory, UNEVEN.current, strict=True)
    both = [(p, [*kept, *new]) for p, kept, new in data]
    local = sum(p * sum((a * start - b for a, b in client), Fraction(0)) / len(client) for p, client in both)
    moved = start - step * slope - step * local
    after, _ = by_sizes(UNEVEN, moved)
    values: dict[Any, Any] = {
        **dict.fromkeys((L, E, claim.T), 1),
        k: 0,
        beta: step,
        claim.h_sizes(0): before,
        claim.h_sizes(claim.T): after,
        claim.least_sizes: slope**2,
        L_memory: kept_smoothness(UNEVEN),
        claim.share_spread: shares(UNEVEN)[2],
    }
    story = f"(67)-(68) with h~ by (3): grad h~(x_0) = {slope}, sum_i p_i grad h~_i(x_0) = {local}."
    return Point(values, (UNEVEN.words, story), "2")


@dataclass(frozen=True)
class FloatRun:
    """A random run on floats with alpha = beta, the L of its components, and what `UnionRun` has, by replicas."""

    problem: Problem
    trace: Trace
    step: float
    local_steps: int
    L: float

    alpha = beta = property(lambda self: self.step)
    rounds = property(lambda self: self.path("f").shape[1] - 1)
    before = property(lambda self: self.path("f")[:, :-1])
    after = property(lambda self: self.path("f")[:, 1:])
    first = property(lambda self: self.path("f")[:, 0])
    last = property(lambda self: self.path("f")[:, -1])
    size = property(lambda self: self.trace.root("grad_f2"))
    least = property(lambda self: self.trace.column("grad_f2").min(axis=1))
    L_memory = property(lambda self: self.L)

    def path(self, name: str) -> np.ndarray[Any, Any]:
        """The column of f or g with its value at the end, shape (replicas, T + 1)."""
        return np.concatenate([self.trace.column(name), self.trace.at_end(name)[:, None]], axis=1)


_POTENTIALS = ("cauchy", "geman_mcclure", "cosine")


def random_problem(case: int, rng: np.random.Generator) -> Problem:
    """A problem of one of the three families."""
    size = {name: int(rng.integers(1, 4)) for name in ("clients", "n")}
    dimension, seed = int(rng.integers(2, 4)), int(rng.integers(1 << 31))
    if case % 3 == 0:
        return random_quadratic(clients=size["clients"], components=size["n"], dimension=dimension, seed=seed)
    potential = _POTENTIALS[seed % 3]
    if case % 3 == 1:
        return random_glm(
            clients=size["clients"], components=size["n"], dimension=dimension, potential=potential, seed=seed
        )
    return random_separable(
        clients=size["clients"],
        past=size["n"],
        current=size["n"],
        dimension=dimension,
        potential=potential,
        conflict=0.5,
        seed=seed,
    )


def float_runs(seed: int, count: int, limit: float, *, union: bool) -> Iterator[FloatRun]:
    """Runs with alpha = beta and beta L E up to `limit`; with `union`, both tasks are the current data."""
    rng = np.random.default_rng([seed, SEED])
    for case in range(count):
        problem = random_problem(case, rng)
        if union:
            labels = np.zeros(int(problem.current.counts.sum()), dtype=np.int64)
            problem = replace(problem, past=problem.current, labels=labels)
        scale = max(float(problem.constants[name].value) for name in ("L", "L_component"))
        steps = int(rng.integers(1, 7))
        step = (1.0 if case % 2 == 0 else rng.uniform(0.05, 1)) * limit / (scale * steps)
        trace = simulate(
            problem,
            "c_flag",
            alpha=step,
            beta=step,
            local_steps=steps,
            rounds=4,
            memory=everything(),
            replicas=2,
            seed=int(rng.integers(1 << 31)),
            threads=1,
        )
        yield FloatRun(problem, trace, step, steps, scale)


def eq69_samples(seed: int, count: int) -> Iterator[Sample]:
    """Every round of random runs of (67)-(68) with beta L E up to 1/4."""
    for run in float_runs(seed, count, 1 / 4, union=True):
        yield Sample(of(run, L, E, beta, *_ROUND))


def lemma3_samples(seed: int, count: int) -> Iterator[Sample]:
    """Random runs of (67)-(68) at half to all of beta = 1/(30 L E) for the L that beta belongs to."""
    for run in float_runs(seed, count, 1 / 30, union=True):
        # L enters the statement as 1/(30 beta E) too; a smaller step belongs to a larger L.
        smoothness = {L: 1 / (30 * run.step * run.local_steps)}
        yield Sample(smoothness | of(run, claim.T, claim.h(0), claim.h(claim.T), claim.least, L_memory))


CHECKS = {
    "cflag.eq69": Check(eq69_points, eq69_samples),
    "cflag.eq71": Check(eq71_points),
    "cflag.eq73": Check(eq73_points),
    "cflag.eq74": Check(run_points),
    "cflag.lemma3_surrogate": Check(lemma3_points, lemma3_samples),
}
