"""(69)-(74) and (66) along (67)-(68): exact rounds on the line, and random runs.

(67)-(68) with a step size beta are Algorithm 1 with alpha = beta whose past and current data are both the union of
memory and current data: its memory gradient is then grad h~, and its trace records h~ as f.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from cflag_theory.claims.c_flag import surrogate as claim
from cflag_theory.claims.symbols import E, L, beta, k
from cflag_theory.kernels import (
    Problem,
    Trace,
    everything,
    random_glm,
    random_quadratic,
    random_separable,
    simulate,
)
from cflag_theory.verify.check import Check
from cflag_theory.verify.instances import Component, on_the_line, rationals
from cflag_theory.verify.search import Point, Sample

Clients = Sequence[Sequence[Component]]
_SEED = 68


@dataclass(frozen=True)
class Union:
    """Memory and current components of clients on the line, and where a run starts."""

    memory: Clients
    current: Clients
    start: Fraction
    p: tuple[Fraction, ...]
    words: str

    def problem(self) -> Problem:
        """Past data M u C and current data M u C."""
        both = [[*kept, *new] for kept, new in zip(self.memory, self.current, strict=True)]
        return on_the_line(both, both, start=self.start, L=1, p=self.p)


def show(clients: Clients) -> str:
    """The components of every client."""
    return "; ".join(", ".join(f"({a}) x^2/2 - ({b}) x" for a, b in components) for components in clients)


def single(memory: Sequence[Component], current: Sequence[Component], start: Fraction | int) -> Union:
    """One client."""
    words = f"N = 1, memory {show([memory])}, current data {show([current])}, x_0 = {start}, L = 1."
    return Union([memory], [current], Fraction(start), (Fraction(1),), words)


def random_unions(count: int, seed: int = _SEED) -> Iterator[tuple[Union, int]]:
    """Unions with up to three clients and up to two components a task, and E up to 4."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        clients = int(rng.integers(1, 4))
        tasks: list[list[list[Component]]] = [
            [
                list(zip(rationals(rng, n, span=4), rationals(rng, n), strict=True))
                for n in rng.integers(1, 3, clients).tolist()
            ]
            for _ in range(2)
        ]
        raw = [int(v) for v in rng.integers(1, 4, clients)]
        p = tuple(Fraction(v, sum(raw)) for v in raw)
        start = rationals(rng, 1)[0]
        words = f"N = {clients}, p = {', '.join(map(str, p))}, memory {show(tasks[0])}, current data {show(tasks[1])}"
        yield Union(tasks[0], tasks[1], start, p, f"{words}, x_0 = {start}, L = 1."), int(rng.integers(1, 5))


def run_union(union: Union, step: Fraction, steps: int, rounds: int) -> Trace:
    """(67)-(68) in exact arithmetic."""
    return simulate(
        union.problem(),
        "c_flag",
        alpha=step,
        beta=step,
        local_steps=steps,
        rounds=rounds,
        memory=everything(),
        seed=_SEED,
        engine="reference",
        iterates=True,
    )


def losses(trace: Trace) -> list[Fraction]:
    """h~(x_0), ..., h~(x_T)."""
    return [*trace.column("f")[0].tolist(), trace.at_end("f")[0]]


def root(square: Fraction) -> Fraction:
    """The root of a rational square; on the line every norm is rational."""
    from math import isqrt

    return Fraction(isqrt(square.numerator), isqrt(square.denominator))


def _replay(step: Fraction, steps: int, rounds: int) -> str:
    return f"(67)-(68) with beta = {step}, E = {steps}, {rounds} round{'s' if rounds > 1 else ''}, seed {_SEED}."


# h~ = x^2/4 + (x^2/2 - x)/2 is -1/8 at its minimiser 1/2, where nothing moves.
AT_REST = single([(1, 0)], [(1, 1)], Fraction(1, 2))
CONVEX = single([(1, 0)], [(1, 0)], 1)
LINEAR = single([(1, 1)], [(-1, 1)], 0)


def round_values(union: Union, step: Fraction, steps: int) -> Point:
    """One exact round as values of (69)'s symbols."""
    trace = run_union(union, step, steps, 1)
    before, after = losses(trace)
    size = root(trace.column("grad_f2")[0, 0])
    values: dict[Any, Any] = {
        L: 1,
        E: steps,
        k: steps - 1,
        beta: step,
        claim.h(claim.t): before,
        claim.h(claim.t + 1): after,
        claim.grad_h(claim.t): size,
    }
    story = (union.words, _replay(step, steps, 1), f"h~ goes from {before} to {after}; ||grad h~(x_t)|| = {size}.")
    return Point(values, story)


def eq69_points() -> Iterator[Point]:
    """The round at rest, the round that attains the sharp constant, and random rounds over the range."""
    for share, steps in product((Fraction(1, 4), Fraction(1, 30)), (1, 2, 5)):
        for union in (AT_REST, CONVEX, LINEAR):
            yield round_values(union, share / steps, steps)
    for number, (union, steps) in enumerate(random_unions(12)):
        yield round_values(union, Fraction(1, 4 << (number % 2)) / steps, steps)


def eq71_points() -> Iterator[Point]:
    """The range of (71), its end included, and one step beyond, which counts only where a wider range is claimed."""
    for smoothness, steps, share in product(
        (Fraction(1), Fraction(5, 3)), (1, 4), (Fraction(1, 100), Fraction(1, 30), Fraction(1, 4), Fraction(1, 3))
    ):
        step = share / (smoothness * steps)
        yield Point(
            {L: smoothness, E: steps, beta: step},
            (f"L = {smoothness}, E = {steps}, beta = {step}, so u = beta L E = {share}.",),
        )


def eq73_points() -> Iterator[Point]:
    """The step size of Lemma 3."""
    for smoothness, steps in product((Fraction(1, 3), Fraction(1), Fraction(7)), (1, 2, 9)):
        step = 1 / (30 * smoothness * steps)
        yield Point({L: smoothness, E: steps, beta: step}, (f"L = {smoothness}, E = {steps}, beta = {step}.",))


def run_values(union: Union, steps: int, rounds: int) -> Point:
    """A run with beta = 1/(30 L E) as values of (66)'s and (74)'s symbols, (73) being checked in every round."""
    step = Fraction(1, 30 * steps)
    trace = run_union(union, step, steps, rounds)
    path, sizes2 = losses(trace), trace.column("grad_f2")[0].tolist()
    assert all(size2 <= 60 * (path[i] - path[i + 1]) for i, size2 in enumerate(sizes2))
    drop, least = path[0] - path[-1], min(sizes2)
    values: dict[Any, Any] = {
        L: 1,
        E: steps,
        k: steps - 1,
        beta: step,
        claim.T: rounds,
        claim.h(0): path[0],
        claim.h(claim.T): path[-1],
        claim.h(claim.t): path[0],
        claim.h(claim.t + 1): path[1],
        claim.grad_h(claim.t): root(sizes2[0]),
        claim.least: least,
        claim.printed_sum: rounds * drop,
        claim.round_sum(claim.T): sum(path[i] - path[i + 1] for i in range(rounds)),
    }
    story = (
        union.words,
        _replay(step, steps, rounds),
        f"h~(x_0) - h~(x_T) = {float(drop):.10g}, min_t ||grad h~(x_t)||^2 = {float(least):.10g}; (73) holds in every "
        "round.",
    )
    return Point(values, story)


def run_points() -> Iterator[Point]:
    """Runs at rest, the quadratic that comes closest, linear losses, and random unions."""
    for steps, rounds in ((1, 1), (2, 2), (3, 3)):
        for union in (AT_REST, CONVEX, LINEAR):
            yield run_values(union, steps, rounds)
    for union, steps in random_unions(8):
        yield run_values(union, steps, 3)


def lemma3_points() -> Iterator[Point]:
    """The same, and a long round of the quadratic."""
    yield from run_points()
    for steps in (8, 150):
        yield run_values(CONVEX, steps, 1)


@dataclass(frozen=True)
class FloatRun:
    """A random run on floats, with the L of its components."""

    problem: Problem
    trace: Trace
    step: float
    local_steps: int
    L: float

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
    rng = np.random.default_rng([seed, _SEED])
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
        path = run.path("f")
        yield Sample(
            {
                L: run.L,
                E: run.local_steps,
                beta: run.step,
                claim.h(claim.t): path[:, :-1],
                claim.h(claim.t + 1): path[:, 1:],
                claim.grad_h(claim.t): run.trace.root("grad_f2"),
            }
        )


def lemma3_samples(seed: int, count: int) -> Iterator[Sample]:
    """Random runs of (67)-(68) at half to all of beta = 1/(30 L E) for the L that beta belongs to."""
    for run in float_runs(seed, count, 1 / 30, union=True):
        path = run.path("f")
        yield Sample(
            {
                # L enters the statement as 1/(30 beta E) too; a smaller step belongs to a larger L.
                L: 1 / (30 * run.step * run.local_steps),
                claim.T: path.shape[1] - 1,
                claim.h(0): path[:, 0],
                claim.h(claim.T): path[:, -1],
                claim.least: run.trace.column("grad_f2").min(axis=1),
            }
        )


CHECKS = {
    "cflag.eq69": Check(eq69_points, eq69_samples),
    "cflag.eq71": Check(eq71_points),
    "cflag.eq73": Check(eq73_points),
    "cflag.eq74": Check(run_points),
    "cflag.lemma3_surrogate": Check(lemma3_points, lemma3_samples),
}
