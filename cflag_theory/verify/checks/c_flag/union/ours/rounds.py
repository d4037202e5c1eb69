"""Exact rounds on the line, instances that attain the bounds, and random runs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from cflag_theory.claims.c_flag.union import lemma3 as printed
from cflag_theory.claims.c_flag.union import surrogate
from cflag_theory.claims.c_flag.union.ours import rounds as claim
from cflag_theory.claims.engine.notation import E, L, alpha, beta, k, r
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.union.data import (
    APART,
    CONVEX,
    STEEP,
    Union,
    random_unions,
    run_union,
    shares,
    single,
)
from cflag_theory.verify.checks.c_flag.union.lemma3 import algorithm1, eq68_values, separate
from cflag_theory.verify.checks.c_flag.union.surrogate import eq69_samples, float_runs, round_values
from cflag_theory.verify.evidence import Point, Sample
from cflag_theory.verify.quantities.c_flag import of
from cflag_theory.verify.witnesses.instances import Component, root, slopes, visited

Values = dict[Any, Any]


def round_points() -> Iterator[Point]:
    """Rounds of (67)-(68), and rounds of both algorithms for E = 1 and as much memory as current data."""
    for union, steps in random_unions(8):
        step = Fraction(1, 30 * steps)
        values: Values = eq68_values(union, step, steps)
        trace = run_union(union, step, steps, 1).trace
        # The memory gradient of this run is grad h~, so that this takes the last term of (68) away again.
        mean = visited(trace)[1] + step * values[printed.grad_h]
        yield Point(values | {claim.x_mean: mean}, part="1")
        even = Union(union.memory, [[*new, *new][: len(kept)] for kept, new in _pairs(union)], union.start, union.p)
        if all(len(kept) == len(new) for kept, new in _pairs(even)):
            yield Point(eq68_values(even, step, 1), part="2")


def _pairs(union: Union) -> list[tuple[list[Component], list[Component]]]:
    return [(list(kept), list(new)) for kept, new in zip(union.memory, union.current, strict=True)]


def descent_points() -> Iterator[Point]:
    """The quadratic that attains the decrease at E = 1, and random rounds up to beta L (1 + E) = 1."""
    for share, steps in product((Fraction(1), Fraction(1, 3)), (1, 2, 5)):
        yield round_values(CONVEX, share / (1 + steps), steps)
    for union, steps in random_unions(8):
        yield round_values(union, Fraction(1, 1 + steps), steps)


def descent_samples(seed: int, count: int) -> Iterator[Sample]:
    """Random rounds with beta L E up to 1/4, where beta L (1 + E) <= 1/2."""
    return eq69_samples(seed, count)


def _concave(step: Fraction, local: Fraction, steps: int) -> Union:
    """g = -x^2/2 + x, and a linear f_memory that holds Algorithm 1 at x_0 = 0."""
    S = ((1 + local) ** steps - 1) / local
    return single([(0, local * S / step)], [(-1, -1)], 0)


def _mean_curvature(union: Union) -> Fraction:
    """The curvature of f_memory."""
    pairs = zip(union.p, union.memory, strict=True)
    return sum((p * sum(Fraction(a) for a, _ in kept) / len(kept) for p, kept in pairs), Fraction(0))


def _run_values(union: Union, step: Fraction, local: Fraction, steps: int, rounds: int) -> Point:
    run = algorithm1(union, step, local, steps, rounds)
    trace = run.trace
    weight = step / (step + local * steps)
    sizes2, sizes_g2 = [], []
    for at in visited(trace)[:-1]:
        f_memory, g = slopes(separate(union), at)
        sizes2.append((weight * f_memory + (1 - weight) * g) ** 2)
        sizes_g2.append(g**2)
    first, last = (
        weight * f + (1 - weight) * g
        for f, g in (
            (trace.column("f")[0, 0], trace.column("g")[0, 0]),
            (trace.at_end("f")[0], trace.at_end("g")[0]),
        )
    )
    mean = sum(sizes_g2, Fraction(0)) / rounds
    values: Values = {
        **of(run, L, E, k, alpha, beta, surrogate.T),
        claim.target(0): first,
        claim.target(surrogate.T): last,
        claim.least_target: min(sizes2),
        claim.mean_g2: mean,
        claim.L_f_memory: abs(_mean_curvature(union)),
    }
    return Point(values, part="1" if step != local or 30 * local * steps != 1 else None)


def algorithm1_points() -> Iterator[Point]:
    """Algorithm 1 held at rest by a linear memory loss, which attains the bound, steep memory, and random runs."""
    yield _run_values(STEEP, Fraction(1, 30), Fraction(1, 30), 1, 1)
    for steps in (1, 2, 6):
        small = Fraction(1, 30 * steps)
        for step, local in ((Fraction(1, 5), Fraction(4, 5) / steps), (small, small)):
            yield _run_values(_concave(step, local, steps), step, local, steps, 2)
    for union, steps in random_unions(8):
        small = Fraction(1, 30 * steps)
        for step, local in ((Fraction(1, 2), Fraction(1, 2) / steps), (small, small)):
            yield _run_values(union, step, local, steps, 3)


def algorithm1_samples(seed: int, count: int) -> Iterator[Sample]:
    """Random runs of Algorithm 1 with alpha = beta = 1/(30 L E) on every family."""
    for run in float_runs(seed, count, 1 / 30, union=False):
        trace, weight = run.trace, 1 / (1 + run.local_steps)
        f2, g2 = trace.column("grad_f2"), trace.column("grad_g2")
        size2 = weight**2 * f2 + (1 - weight) ** 2 * g2 + 2 * weight * (1 - weight) * _dot(run.problem, trace)
        path = weight * run.path("f") + (1 - weight) * run.path("g")
        yield Sample(
            {
                L: 1 / (30 * run.step * run.local_steps),
                **of(run, E, alpha, beta, surrogate.T),
                claim.target(0): path[:, 0],
                claim.target(surrogate.T): path[:, -1],
                claim.least_target: size2.min(axis=1),
                claim.mean_g2: g2.mean(axis=1),
            }
        )


def _share(problem: Any) -> float:
    """|M| / (|M| + |C|) of a run whose memory keeps everything."""
    kept, new = int(problem.past.counts.sum()), int(problem.current.counts.sum())
    return kept / (kept + new)


def _dot(problem: Any, trace: Any) -> np.ndarray[Any, Any]:
    """<grad f_memory, grad g> from ||grad h~||^2 of the trace."""
    s = _share(problem)
    rest = trace.column("grad_h2") - s**2 * trace.column("grad_memory2") - (1 - s) ** 2 * trace.column("grad_g2")
    found: np.ndarray[Any, Any] = rest / (2 * s * (1 - s))
    return found


def current_points() -> Iterator[Point]:
    """Opposed gradients, which attain part 1, gradients at right angles with s = 0, and random data."""
    opposed = single([(1, Fraction(1, 2))], [(1, -1)], 0)
    empty: list[Component] = [(1, 0)]
    cases = [APART, opposed, single(empty, [(1, -1)], 0), single([(1, 1)], [(1, -1)] * 3, 0)]
    for union in (*cases, *(union for union, _ in random_unions(10))):
        trace = algorithm1(union, Fraction(1, 60), Fraction(1, 60), 1, 1).trace
        f_memory, g = slopes(separate(union), union.start)
        kept, new = (sum(map(len, task)) for task in (union.memory, union.current))
        h2 = trace.column("grad_h2")[0, 0]
        values: Values = {
            printed.share: Fraction(kept, kept + new),
            r: abs(f_memory / g) if g else Fraction(0),
            printed.size_g: abs(g),
            printed.size_h: root(h2),
            printed.size_by_client: abs(slopes(union.problem(), union.start)[0]),
            surrogate.share_spread: shares(union)[2],
            printed.size_memory: abs(f_memory),
            printed.grad_g2: g**2,
            printed.grad_h2: h2,
            claim.memory_dot: f_memory * g,
        }
        yield Point(values)


def current_samples(seed: int, count: int) -> Iterator[Sample]:
    """Rounds of random runs in which the hypothesis of either part is met."""
    for run in float_runs(seed, count, 1 / 4, union=False):
        s = _share(run.problem)
        columns = {name: run.trace.column(name) for name in ("grad_g2", "grad_h2", "grad_memory2")}
        met = np.sqrt(run.trace.column("r2_met"))
        fits = np.isfinite(met) & (met * s < 1 - s)
        if fits.any():
            yield Sample(
                {
                    printed.share: s,
                    r: met[fits],
                    printed.size_g: np.sqrt(columns["grad_g2"][fits]),
                    printed.size_h: np.sqrt(columns["grad_h2"][fits]),
                },
                "1",
            )
        fits = _dot(run.problem, run.trace) >= 0
        if fits.any():
            chosen = {getattr(printed, name): columns[name][fits] for name in ("grad_g2", "grad_h2")}
            yield Sample({printed.share: s, **chosen}, "2")


CHECKS = {
    "ours.union_round": Check(round_points),
    "ours.union_descent": Check(descent_points, descent_samples),
    "ours.algorithm1_descent": Check(algorithm1_points, algorithm1_samples),
    "ours.current_from_union": Check(current_points, current_samples),
}
