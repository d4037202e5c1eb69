"""The union of memory and current data: exact rounds of (67)-(68) and of Algorithm 1, and random runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from cflag_theory.claims.c_flag.iterates import L_memory
from cflag_theory.claims.c_flag.union import lemma3, surrogate
from cflag_theory.claims.c_flag.union.ours import rounds as ours
from cflag_theory.claims.engine.notation import E, L, alpha, beta, r
from cflag_theory.kernels import Problem, Trace, everything, simulate
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point, Sample
from cflag_theory.verify.instances.c_flag import of
from cflag_theory.verify.instances.on_the_line import Component, random_problem
from cflag_theory.verify.instances.unions import (
    APART,
    AT_REST,
    SEED,
    UNEVEN,
    Clients,
    Union,
    UnionRun,
    random_unions,
    single,
)

_HALF, _SIXTIETH = Fraction(1, 2), Fraction(1, 60)
#: Memory and current data do not conflict at x_0.
_AGREE = (single([(1, 1)], [(1, 1)], 1), single([(0, 0)], [(1, 1)] * 2, 0))
_RANDOM = [union for union, _ in random_unions()]


def _common(union: Union, steps: int, rounds: int = 1, *, separate: bool = False) -> UnionRun:
    """alpha = beta = 1/(30 L E)."""
    step = Fraction(1, 30 * steps)
    return UnionRun(union, step, step, steps, rounds, separate)


def _algorithm1(union: Union, rounds: int) -> UnionRun:
    return UnionRun(union, _SIXTIETH, _SIXTIETH, 2, rounds, True)


_ROUND = (alpha, beta, lemma3.x, lemma3.grad_g, lemma3.grad_h, lemma3.grad_f_memory, lemma3.S, lemma3.S_union)


def _eq68_points() -> Iterator[Point]:
    """A round from the minimiser of h~, where only (67)-(68) stay, and random rounds."""
    for union, steps in ((AT_REST, 2), (single([(1, 0)], [(1, 1)], 1), 1), *random_unions()[:6]):
        run = _common(union, steps)
        yield Point(of(run, *_ROUND), (run.words,))


def _round_points() -> Iterator[Point]:
    """Rounds of (67)-(68), and rounds of both algorithms for E = 1 and as much memory as current data."""
    for union, steps in random_unions()[:8]:
        yield Point(of(_common(union, steps), *_ROUND, ours.x_mean), part="1")
        data = [(kept, [*new, *new][: len(kept)]) for _, kept, new in union.data]
        if all(len(kept) == len(new) for kept, new in data):
            even = replace(union, current=[new for _, new in data])
            step = Fraction(1, 30 * steps)
            yield Point(of(UnionRun(even, step, step, 1), *_ROUND), part="2")


def at_rest(memory: list[Component], current: list[Component], steps: int) -> Union:
    """The same data started where Algorithm 1 with alpha = beta = 1/(30 L E) stays: its round is affine."""
    first, second = (_common(single(memory, current, x), steps, separate=True).visited[1] for x in (0, 1))
    return single(memory, current, first / (1 - second + first))


def _lemma3_points() -> Iterator[Point]:
    """Algorithm 1 at rest, away from the stationary points of h~."""
    # To first order in beta the last two descend the h~ of (3), and still do not stop where its gradient vanishes.
    for (steps, size), rounds in product(((2, 1), (3, 1), (2, 2), (1, 2)), (1, 3)):
        run = _common(at_rest([(1, 0)], [(1, 1)] * size, steps), steps, rounds, separate=True)
        known = of(run, alpha, beta, L, E, surrogate.T, surrogate.h(0), surrogate.h(surrogate.T), surrogate.least)
        yield Point(known, (f"{run.words} It stays at x_0.",))


_SIZES = (lemma3.size_g, lemma3.size_memory, lemma3.share)


def _remark_points() -> Iterator[Point]:
    """(67)-(68) at a minimiser of h~ for three rounds: memory and current data conflict there, or do not."""
    for union in (AT_REST, *_AGREE):
        run = _common(union, 2, 3)
        for t, x in enumerate(run.visited[:-1]):
            values, words = of(run.at(x), *_SIZES, lemma3.size_h), (f"{run.words} Round {t}: x_t = {x}.",)
            yield from (Point(values | {r: ratio}, words, "1") for ratio in (Fraction(0), _HALF, Fraction(2)))
    equal = Union([[(1, 1)]] * 2, [[(1, -1)] * 3] * 2, Fraction(0), (_HALF,) * 2)
    for union in (APART, AT_REST, equal, *_AGREE, *_RANDOM[:6]):
        run = _common(union, 2)
        yield Point(of(run, *_SIZES, lemma3.size_by_client, surrogate.share_spread, r), (run.union.words,), "2")


def _lemma11_points() -> Iterator[Point]:
    """Rounds of Algorithm 1 on data that attain the bound, that break it for h~ by (3), and at random."""
    # Every curvature 1, so that omega is finite.
    flat = [replace(union, memory=_flat(union.memory), current=_flat(union.current)) for union in _RANDOM[:10]]
    for union in (single([(1, 0)], [(1, -1)], 0), UNEVEN, *flat):
        run = _algorithm1(union, 2)
        for t, x in enumerate(run.visited[:-1]):
            for part, size2 in (("1", lemma3.by_client2), ("2", lemma3.grad_h2)):
                symbols = lemma3.grad_g2, size2, lemma3.mean_gap2, lemma3.omega2, surrogate.share_spread
                yield Point(of(run.at(x), *symbols), (f"{run.words} Round {t}: x_t = {x}.",), part)


def _flat(clients: Clients) -> Clients:
    return [[(1, b) for _, b in components] for components in clients]


def _current_points() -> Iterator[Point]:
    """Opposed gradients, which attain part 1, gradients at right angles with s = 0, and random data."""
    pairs: list[tuple[list[Component], list[Component]]] = [([(1, _HALF)], [(1, -1)]), ([(1, 0)], [(1, -1)])]
    pairs.append(([(1, 1)], [(1, -1)] * 3))
    symbols = (*_SIZES, lemma3.size_h, lemma3.size_by_client, surrogate.share_spread, r)
    for union in (APART, *(single(*pair, 0) for pair in pairs), *_RANDOM[:10]):
        yield Point(of(_algorithm1(union, 1), *symbols, lemma3.grad_g2, lemma3.grad_h2, ours.memory_dot))


@dataclass(frozen=True)
class _FloatRun:
    """A random run on floats with alpha = beta, the L of its components, and what `UnionRun` has, by replicas."""

    problem: Problem
    trace: Trace
    step: float
    local_steps: int
    L: float

    alpha = beta = property(lambda self: self.step)
    t = 0
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

    @property
    def share(self) -> float:
        """|M| / (|M| + |C|) of a run whose memory keeps everything."""
        kept, new = int(self.problem.past.counts.sum()), int(self.problem.current.counts.sum())
        return kept / (kept + new)

    @property
    def dot(self) -> np.ndarray[Any, Any]:
        """<grad f_memory, grad g> from ||grad h~||^2 of the trace."""
        h2, memory2, g2 = (self.trace.column(name) for name in ("grad_h2", "grad_memory2", "grad_g2"))
        found: np.ndarray[Any, Any] = h2 - self.share**2 * memory2 - (1 - self.share) ** 2 * g2
        return found / (2 * self.share * (1 - self.share))


def _float_runs(seed: int, count: int, limit: float, *, union: bool) -> Iterator[_FloatRun]:
    """Runs with alpha = beta and beta L E up to `limit`; with `union`, both tasks are the current data."""
    rng = np.random.default_rng([seed, SEED])
    for case in range(count):
        clients, n, dimension = int(rng.integers(1, 4)), int(rng.integers(1, 4)), int(rng.integers(2, 4))
        # The families in the order quadratic, generalized linear, separable.
        problem = random_problem((1, 0, 2)[case % 3], clients, n, dimension, int(rng.integers(1 << 31)))
        if union:
            labels = np.zeros(int(problem.current.counts.sum()), dtype=np.int64)
            problem = replace(problem, past=problem.current, labels=labels)
        scale = max(float(problem.constants[name].value) for name in ("L", "L_component"))
        steps = int(rng.integers(1, 7))
        step = (1.0 if case % 2 == 0 else rng.uniform(0.05, 1)) * limit / (scale * steps)
        sizes: dict[str, Any] = {
            "alpha": step,
            "beta": step,
            "local_steps": steps,
            "rounds": 4,
            "replicas": 2,
            "threads": 1,
        }
        trace = simulate(problem, "c_flag", memory=everything(), seed=int(rng.integers(1 << 31)), **sizes)
        yield _FloatRun(problem, trace, step, steps, scale)


def _round_samples(seed: int, count: int) -> Iterator[Sample]:
    """Every round of random runs of (67)-(68) with beta L E up to 1/4."""
    h, t = surrogate.h, surrogate.t
    for run in _float_runs(seed, count, 1 / 4, union=True):
        yield Sample(of(run, L, E, beta, h(t), h(t + 1), surrogate.grad_h(t), L_memory))


def _lemma3_samples(seed: int, count: int) -> Iterator[Sample]:
    """Random runs of (67)-(68) at half to all of beta = 1/(30 L E) for the L that beta belongs to."""
    symbols = surrogate.T, surrogate.h(0), surrogate.h(surrogate.T), surrogate.least, L_memory
    for run in _float_runs(seed, count, 1 / 30, union=True):
        # L enters the statement as 1/(30 beta E) too; a smaller step belongs to a larger L.
        yield Sample({L: 1 / (30 * run.step * run.local_steps)} | of(run, *symbols))


def _algorithm1_samples(seed: int, count: int) -> Iterator[Sample]:
    """Random runs of Algorithm 1 with alpha = beta = 1/(30 L E) on every family."""
    for run in _float_runs(seed, count, 1 / 30, union=False):
        weight = 1 / (1 + run.local_steps)
        f2, g2 = run.trace.column("grad_f2"), run.trace.column("grad_g2")
        size2 = weight**2 * f2 + (1 - weight) ** 2 * g2 + 2 * weight * (1 - weight) * run.dot
        path = weight * run.path("f") + (1 - weight) * run.path("g")
        found = {
            ours.target(0): path[:, 0],
            ours.target(surrogate.T): path[:, -1],
            ours.least_target: size2.min(axis=1),
            ours.mean_g2: g2.mean(axis=1),
        }
        yield Sample({L: 1 / (30 * run.step * run.local_steps)} | of(run, E, alpha, beta, surrogate.T) | found)


def _current_samples(seed: int, count: int) -> Iterator[Sample]:
    """Rounds of random runs in which the hypothesis of either part is met."""
    for run in _float_runs(seed, count, 1 / 4, union=False):
        g2, h2, met = run.trace.column("grad_g2"), run.trace.column("grad_h2"), np.sqrt(run.trace.column("r2_met"))
        fits = np.isfinite(met) & (met * run.share < 1 - run.share)
        if fits.any():
            sizes = {lemma3.size_g: np.sqrt(g2[fits]), lemma3.size_h: np.sqrt(h2[fits])}
            yield Sample({lemma3.share: run.share, r: met[fits]} | sizes, "1")
        fits = run.dot >= 0
        if fits.any():
            yield Sample({lemma3.share: run.share, lemma3.grad_g2: g2[fits], lemma3.grad_h2: h2[fits]}, "2")


CHECKS = {
    "cflag.eq68": Check(_eq68_points),
    "cflag.lemma3": Check(_lemma3_points),
    "cflag.lemma3_remark": Check(_remark_points),
    "cflag.lemma11": Check(_lemma11_points),
    "cflag.eq69": Check(samples=_round_samples),
    "cflag.lemma3_surrogate": Check(samples=_lemma3_samples),
    "ours.union_round": Check(_round_points),
    "ours.union_descent": Check(samples=_round_samples),
    "ours.algorithm1_descent": Check(samples=_algorithm1_samples),
    "ours.current_from_union": Check(_current_points, _current_samples),
}
