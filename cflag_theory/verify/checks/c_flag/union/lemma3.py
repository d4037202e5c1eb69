"""Algorithm 1 against (67)-(68), Lemma 3 along it, and Lemma 11: exact rounds on the line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import numpy as np

from cflag_theory.claims.c_flag.union import lemma3 as claim
from cflag_theory.claims.c_flag.union import surrogate
from cflag_theory.claims.engine.notation import E, L, alpha, beta, r
from cflag_theory.kernels import Problem, Trace
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.union.data import (
    APART,
    AT_REST,
    SEED,
    UNEVEN,
    Union,
    UnionRun,
    kept_smoothness,
    random_unions,
    run_union,
    shares,
    single,
)
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.quantities.c_flag import of
from cflag_theory.verify.witnesses.instances import Component, exact_run, on_the_line, slopes, visited


def algorithm1(union: Union, step: Fraction, local: Fraction, steps: int, rounds: int) -> UnionRun:
    """Algorithm 1 in exact arithmetic, with the memory components as all of the past."""
    trace = exact_run(separate(union), alpha=step, beta=local, local_steps=steps, rounds=rounds, seed=SEED)
    return UnionRun(union, step, local, steps, trace, "h")


def separate(union: Union) -> Problem:
    """Past data M, current data C."""
    return on_the_line(
        union.memory, union.current, start=union.start, L=max(Fraction(1), kept_smoothness(union)), p=union.p
    )


def delayed_sum(trace: Trace, gradient: Fraction, step: Fraction, local: Fraction, p: Any) -> Fraction:
    """S of the first round: from Lambda_i = grad_f_memory a_i, or by (24) where that vanishes."""
    if gradient != 0:
        found: Fraction = trace.column("Lambda")[0, 0] @ p / gradient
        return found
    before, after = visited(trace)[:2]
    return (before - after - step * gradient) / local


def eq68_values(union: Union, step: Fraction, steps: int) -> dict[Any, Any]:
    """One round of Algorithm 1 with alpha = beta and one of (67)-(68), from the same start."""
    own, other = algorithm1(union, step, step, steps, 1).trace, run_union(union, step, steps, 1).trace
    f_memory, g = slopes(separate(union), union.start)
    h, _ = slopes(union.problem(), union.start)
    p = np.array(union.p, dtype=object)
    return {
        alpha: step,
        beta: step,
        claim.x: union.start,
        claim.grad_g: g,
        claim.grad_h: h,
        claim.grad_f_memory: f_memory,
        claim.S: delayed_sum(own, f_memory, step, step, p),
        claim.S_union: delayed_sum(other, h, step, step, p),
    }


def eq68_points() -> Iterator[Point]:
    """A round from the minimiser of h~, where only (67)-(68) stay, and random rounds."""
    cases = [(AT_REST, 2), (single([(1, 0)], [(1, 1)], 1), 1), *random_unions(6)]
    for union, steps in cases:
        values = eq68_values(union, Fraction(1, 30 * steps), steps)
        yield Point(values, (f"{union.words} E = {steps}, seed {SEED}.",))


def at_rest(memory: list[Component], current: list[Component], steps: int) -> Union:
    """The same data started where Algorithm 1 with alpha = beta = 1/(30 L E) stays: its round is affine."""
    step = Fraction(1, 30 * steps)
    images = []
    for start in (0, 1):
        trace = algorithm1(single(memory, current, start), step, step, steps, 1).trace
        images.append(visited(trace)[1])
    return single(memory, current, images[0] / (1 - images[1] + images[0]))


def lemma3_points() -> Iterator[Point]:
    """Algorithm 1 at rest, away from the stationary points of h~."""
    one: list[Component] = [(1, 1)]
    # To first order in beta the last two descend the h~ of (3), and still do not stop where its gradient vanishes.
    for (steps, current), rounds in product(((2, one), (3, one), (2, one * 2), (1, one * 2)), (1, 3)):
        union = at_rest([(1, 0)], current, steps)
        step = Fraction(1, 30 * steps)
        run = algorithm1(union, step, step, steps, rounds)
        yield Point(
            of(run, alpha, beta, L, E, surrogate.T, surrogate.h(0), surrogate.h(surrogate.T), surrogate.least),
            (f"{union.words} Algorithm 1 with seed {SEED} stays at x_0.",),
        )


def remark_points() -> Iterator[Point]:
    """(67)-(68) at a minimiser of h~ for three rounds: memory and current data conflict there, or do not."""
    agree = (single([(1, 1)], [(1, 1)], 1), single([(0, 0)], [(1, 1)] * 2, 0))
    for union in (AT_REST, *agree):
        run = run_union(union, Fraction(1, 60), 2, 3)
        trace = run.trace
        _, share, _ = shares(union)
        for t, at in enumerate(visited(trace)[:-1]):
            f_memory, g = slopes(separate(union), at)
            values = {
                claim.size_h: abs(share * f_memory + (1 - share) * g),
                claim.size_g: abs(g),
                claim.size_memory: abs(f_memory),
                claim.share: share,
            }
            story = f"{union.words} (67)-(68) with beta = 1/60 = 1/(30 L E), E = 2, seed {SEED}, round {t}: x_t = {at}."
            yield from (
                Point(values | {r: ratio}, (story,), "1") for ratio in (Fraction(0), Fraction(1, 2), Fraction(2))
            )
    equal = Union([[(1, 1)]] * 2, [[(1, -1)] * 3] * 2, Fraction(0), (Fraction(1, 2),) * 2)
    for union in (APART, AT_REST, equal, *agree, *(union for union, _ in random_unions(6))):
        f_memory, g = slopes(separate(union), union.start)
        by_client, _ = slopes(union.problem(), union.start)
        _, share, spread = shares(union)
        sizes = {claim.size_by_client: abs(by_client), claim.size_g: abs(g), claim.size_memory: abs(f_memory)}
        ratio = abs(f_memory / g) if g else Fraction(0)
        yield Point(sizes | {claim.share: share, r: ratio, surrogate.share_spread: spread}, (union.words,), "2")


def omega2(union: Union) -> Fraction:
    """omega^2 over all C^i in D^i in M^i u C^i, for components of one curvature: every gap is then constant in x."""
    assert len({a for task in (union.memory, union.current) for components in task for a, _ in components}) == 1
    total = Fraction(0)
    for p, kept, new in zip(union.p, union.memory, union.current, strict=True):
        whole = _mean([*kept, *new])
        gaps = [
            (_mean([*subset, *new]) - whole) ** 2
            for size in range(len(kept) + 1)
            for subset in combinations(kept, size)
        ]
        total += p * max(gaps)
    return total


def gap2(union: Union) -> Fraction:
    """sum_i p_i ||grad g_i - grad h~_i||^2, for components of one curvature."""
    pairs = zip(union.p, union.memory, union.current, strict=True)
    return sum((p * (_mean([*kept, *new]) - _mean(list(new))) ** 2 for p, kept, new in pairs), Fraction(0))


def _mean(components: list[Component]) -> Fraction:
    return sum((Fraction(b) for _, b in components), Fraction(0)) / len(components)


def _flat(union: Union) -> Union:
    """The same with every curvature 1, so that omega is finite."""
    tasks: list[list[list[Component]]] = [
        [[(1, b) for _, b in components] for components in task] for task in (union.memory, union.current)
    ]
    return Union(tasks[0], tasks[1], union.start, union.p)


def lemma11_points() -> Iterator[Point]:
    """Rounds of Algorithm 1 on data that attain the bound, that break it for h~ by (3), and at random."""
    attained = single([(1, 0)], [(1, -1)], 0)
    for union in (attained, UNEVEN, *(_flat(union) for union, _ in random_unions(10))):
        trace = algorithm1(union, Fraction(1, 60), Fraction(1, 60), 2, 2).trace
        bound = omega2(union)
        _, _, spread = shares(union)
        for t, at in enumerate(visited(trace)[:-1]):
            by_client, _ = slopes(union.problem(), at)
            by_sizes2 = trace.column("grad_h2")[0, t]
            for part, slope2, h2 in (("1", claim.by_client2, by_client**2), ("2", claim.grad_h2, by_sizes2)):
                yield Point(
                    {
                        claim.grad_g2: trace.column("grad_g2")[0, t],
                        slope2: h2,
                        claim.mean_gap2: gap2(union),
                        claim.omega2: bound,
                        surrogate.share_spread: spread,
                    },
                    (
                        f"{union.words} Algorithm 1 with E = 2, alpha = beta = 1/60, seed {SEED}, round {t}: x_t = "
                        f"{at}.",
                    ),
                    part,
                )


CHECKS = {
    "cflag.eq68": Check(
        eq68_points,
        # What the same instances satisfy is not refuted.
    ),
    "cflag.lemma3": Check(lemma3_points),
    "cflag.lemma3_remark": Check(remark_points),
    "cflag.lemma11": Check(lemma11_points),
}
