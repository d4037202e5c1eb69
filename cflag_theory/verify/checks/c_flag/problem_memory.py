"""Assumptions 2 and 3 and Lemmas 8 to 10: every memory of small exact problems, and random problems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, pairwise, product
from typing import Any

import numpy as np

from cflag_theory.claims.c_flag.problem import assumptions, memory
from cflag_theory.claims.c_flag.problem.ours import memory as ours
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import bias2, grad_f2, grad_g, m, r
from cflag_theory.claims.engine.points import holds_at
from cflag_theory.kernels import Problem, random_glm, random_quadratic, random_separable
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.problems.objective import gradients, mean_gradient
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point, Sample
from cflag_theory.verify.instances.on_the_line import described, on_the_line, rationals
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, UNDECIDED, Evidence

#: The kept components of every client, as indices into all past components.
Draw = tuple[tuple[int, ...], ...]
#: Components a (x - s)^2 / 2 of one client as (a, s).
Squares = Sequence[tuple[Any, Any]]
_ZERO, _HALF, _QUARTER = Fraction(0), Fraction(1, 2), Fraction(1, 4)
#: Least squares without an interpolating solution, and with one.
_CROSSING = ((1, 0), (1, 2), (2, 1), (1, 4))
_COMMON = ((_HALF, 1), (3 * _HALF, 1), (1, 1), (4, 1))


def draws(problem: Problem, size: int) -> list[Draw]:
    """Every memory that keeps `size` components at each client; all are equally likely."""
    first = problem.past.client_start.tolist()
    return list(product(*[combinations(range(a, b), size) for a, b in pairwise(first)]))


def _slopes(problem: Problem) -> Array:
    """grad f_i at the start for every client, one coordinate each."""
    return gradients(problem.potential, problem.past, problem.start)[:, 0]


def biases(problem: Problem, draw: Draw) -> Array:
    """b_i at the start for every client, one coordinate each."""
    kept = [mean_gradient(problem.potential, problem.past, np.array(chosen), problem.start)[0] for chosen in draw]
    return np.array(kept, dtype=object) - _slopes(problem)


def bias_at(components: Squares, kept: Sequence[int], x: Fraction) -> tuple[Fraction, Fraction]:
    """(grad f_i, b_i) at x for the memory `kept`."""
    problem = on_the_line([[(a, a * s) for a, s in components]], [[(0, 1)]], start=x, L=max(a for a, _ in components))
    return _slopes(problem)[0], biases(problem, (tuple(kept),))[0]


def shape(components: Squares, kept: Sequence[int]) -> tuple[Fraction, Fraction, Fraction]:
    """(kappa, b_i(s), s): relative curvature error of the memory, bias at the minimiser s of f_i, and s."""
    total = sum((Fraction(a) for a, _ in components), _ZERO)
    kept_a = sum((Fraction(components[j][0]) for j in kept), _ZERO) / len(kept)
    rest = sum((Fraction(a * s) for a, s in components), _ZERO) / total
    return abs(kept_a * len(components) / total - 1), bias_at(components, kept, rest)[1], rest


def _assumption2_points() -> Iterator[Point]:
    """Memories that break it at rest, by too much curvature and at the boundary m_i = 1; and good ones."""
    half: Squares = ((_HALF, 1), (3 * _HALF, 1))
    cases: list[tuple[Squares, tuple[int, ...]]] = [(((1, 0), (1, 2)), (0,)), (((3, 1), (0, 1)), (0,))]
    cases += [(((3, 1), (0, 1), (0, 1)), (0,)), (half, (0,)), (half, (0, 1)), (((1, 0), (2, 1), (1, 2)), (0, 2))]
    for components, kept in cases:
        kappa, rest_bias, rest = shape(components, kept)
        for x, bound in product((rest, rest + 1, rest - 3), (_ZERO, _QUARTER, Fraction(99, 100))):
            grad_f, b = bias_at(components, kept, x)
            shown = ", ".join(f"({a})(x - {s})^2/2" for a, s in components)
            values = {
                assumptions.bias_i: abs(b),
                assumptions.grad_f_i: abs(grad_f),
                assumptions.m_i: bound,
                assumptions.kappa: kappa,
                assumptions.bias_at_rest: abs(rest_bias),
                assumptions.moved: abs(b - rest_bias),
            }
            story = f"f_i is the mean of {shown}; the memory keeps number {[j + 1 for j in kept]}; x = {x}."
            yield Point(values, (story,))


def satisfying(components: Squares) -> tuple[list[tuple[int, ...]], int]:
    """The proper memories that satisfy Assumption 2 with some m_i < 1, and how many proper memories there are.

    On the line that is b_i(s) = 0 and kappa < 1, by `ours.assumption2`.
    """
    count = len(components)
    every = [kept for size in range(1, count) for kept in combinations(range(count), size)]
    shapes = {kept: shape(components, kept) for kept in every}
    return [kept for kept, (kappa, rest_bias, _) in shapes.items() if rest_bias == 0 and kappa < 1], len(every)


def _every_memory(subject: Claim, seed: int, count: int) -> Iterable[Evidence]:
    """Every proper memory of two least-squares sums with four components."""
    (crossing, total), (common, _) = satisfying(_CROSSING), satisfying(_COMMON)
    shown = [", ".join(f"({a}, {s})" for a, s in components) for components in (_CROSSING, _COMMON)]
    summary = (
        f"Of the {total} proper memories of four components (a, s) = {shown[0]} without a common minimiser "
        f"{len(crossing)} have some m_i < 1; of {shown[1]} with one, {len(common)}."
    )
    kept = {"without_common_minimiser": crossing, "with_common_minimiser": common}
    data = {"exact": True, "cases": total, **{key: [list(one) for one in found] for key, found in kept.items()}}
    finding = REFUTES if len(crossing) < total else UNDECIDED
    yield Evidence("enumeration", subject.parts[0].key, "printed", finding, summary, data)


def every_small_sum(subject: Claim, seed: int, count: int) -> Iterable[Evidence]:
    """All sums of two or three components from a small grid: those that every uniform memory satisfies interpolate."""
    grid = list(product((1, 2, 3), (0, 1, 2)))
    sums = [chosen for size in (2, 3) for chosen in combinations_with_replacement(grid, size)]
    allowed, broken = 0, 0
    for components in sums:
        found, _ = satisfying(components)
        for size in range(1, len(components)):
            if set(combinations(range(len(components)), size)) <= set(found):
                allowed += 1
                broken += len({s for _, s in components}) > 1
    summary = (
        f"Of {len(sums)} sums of a (x - s)^2/2 with a in 1, 2, 3 and s in 0, 1, 2, every memory of one size satisfies "
        f"Assumption 2 in {allowed} cases; in {broken} of them the components have different minimisers."
    )
    data = {"exact": True, "cases": allowed}
    yield Evidence("enumeration", "4", "printed", REFUTES if broken else SUPPORTS, summary, data)


def _lemma8_problem(start: Fraction) -> Problem:
    past = [[(1, 2), (-1, 1), (3, 0)], [(2, -1), (0, 3), (1, 1)]]
    return on_the_line(past, [[(1, 0)]] * 2, start=start, L=1, p=[Fraction(1, 3), Fraction(2, 3)])


def _expected(problem: Problem, every: list[Draw]) -> tuple[Fraction, list[Fraction]]:
    """The mean of b over draws that are equally likely, and each component's share at the first client."""
    b = sum(biases(problem, draw) for draw in every) / Fraction(len(every))
    kept = len(every[0][0])
    return problem.p @ b, [Fraction(sum(j in draw[0] for draw in every), len(every) * kept) for j in range(3)]


def _lemma8_points() -> Iterator[Point]:
    """The expected bias at some x, over all memories of each size; and a draw that is not uniform."""
    cases = []
    for start, size in product((_ZERO, Fraction(3, 2), Fraction(-4)), (1, 2, 3)):
        cases.append(_expected(_lemma8_problem(start), draws(_lemma8_problem(start), size)))
    # Classes {1, 2} and {3}, one of each kept: the second client keeps all.
    cases.append(_expected(_lemma8_problem(Fraction(3, 2)), [((0, 2), (3, 4, 5)), ((1, 2), (3, 4, 5))]))
    for mean, shares in cases:
        farthest = max(shares, key=lambda w: abs(w - Fraction(1, 3)))
        yield Point({memory.mean_bias: mean, memory.n: 3, memory.share: farthest})


def _every_draw(subject: Claim, seed: int, count: int) -> Iterable[Evidence]:
    """The mean bias over all draws of one small problem, x running over a grid."""
    printed = subject.parts[0].printed.relation
    assert printed is not None
    agree = []
    for numerator, size in product(range(-4, 5), (1, 2, 3)):
        problem = _lemma8_problem(Fraction(numerator, 2))
        agree.append(holds_at(printed, {memory.mean_bias: _expected(problem, draws(problem, size))[0]}))
    summary = f"The mean of b over all draws agrees in {sum(agree)} of {len(agree)} cases of x and size."
    data = {"exact": True, "cases": len(agree)}
    yield Evidence("enumeration", subject.parts[0].key, "printed", SUPPORTS if all(agree) else REFUTES, summary, data)


def cancelling() -> Problem:
    """Two clients with gradients x + 1 and x - 1 at x = 0, each the mean of 3/2 and 1/2 of it."""
    clients = [[(c, -c * s) for c in (3 * _HALF, _HALF)] for s in (1, -1)]
    return on_the_line(clients, [[(1, 1)]] * 2, start=0, L=1)


def _shared(ratio: int) -> Problem:
    """Two clients with gradients x and ratio x at x = 1, each the mean of 3/2 and 1/2 of it."""
    clients = [[(a * c, 0) for c in (3 * _HALF, _HALF)] for a in (1, ratio)]
    return on_the_line(clients, [[(1, 0)]] * 2, start=1, L=2)


def _lemma9_points() -> Iterator[Point]:
    """Clients whose gradients cancel, and clients that (28) covers; all draws of each."""
    for problem in (cancelling(), _shared(1), _shared(2)):
        grad_f_i = _slopes(problem)
        for draw, bound in product(draws(problem, 1), (Fraction(10**6), _QUARTER)):
            b_i = biases(problem, draw)
            # Assumption 2 at every client, with equality; the components' gradients are in the ratio 3 : 1 at all x.
            assert all(b_i**2 == _QUARTER * grad_f_i**2)
            clients = [
                {memory.bias_i2: bias**2, memory.grad_f_i2: slope**2} for bias, slope in zip(b_i, grad_f_i, strict=True)
            ]
            whole = {bias2: (problem.p @ b_i) ** 2, grad_f2: (problem.p @ grad_f_i) ** 2}
            yield Point(
                whole | {m: bound, memory.m_i: _QUARTER} | clients[int(np.argmax(grad_f_i**2))],
                (f"{described(problem)}; the clients keep the components {draw}, counted from 0; x = x_0.",),
                members={"Assumption 2": clients},
            )


def _lemma10_points() -> Iterator[Point]:
    """Parallel and opposed memory gradients."""
    rng = np.random.default_rng(10)
    for case in range(12):
        clients = 1 + case % 3
        slopes = [Fraction(int(v), 2) for v in rng.integers(-4, 5, clients)]
        problem = on_the_line([[(0, -v)] for v in slopes], [[(1, -3)]] * clients, start=0, L=1)
        of_memory = _slopes(problem)
        new = abs(problem.p @ gradients(problem.potential, problem.current, problem.start)[:, 0])
        worst = max(abs(v) for v in of_memory)
        values = {memory.memory_norm: abs(problem.p @ of_memory), memory.memory_i: worst, grad_g: new}
        yield Point(values | {memory.r_i: worst / new, r: worst / new})


def _bias_floor_points() -> Iterator[Point]:
    """Every draw of one component a client; m_i is the ratio at this x."""
    worlds = [cancelling(), _shared(2)]
    rng = np.random.default_rng(27)
    for case in range(8):
        clients = 1 + case % 3
        past = [list(zip(rationals(rng, 2), rationals(rng, 2), strict=True)) for _ in range(clients)]
        worlds.append(on_the_line(past, [[(1, 0)]] * clients, start=rationals(rng, 1)[0], L=2))
    for world in worlds:
        grad_f_i = _slopes(world)
        if not all(grad_f_i):
            continue
        grad_f = world.p @ grad_f_i
        for draw in draws(world, 1):
            b_i = biases(world, draw)
            ratios = b_i**2 / grad_f_i**2
            values = {bias2: (world.p @ b_i) ** 2, grad_f2: grad_f**2, ours.m_max: max(ratios), memory.m_i: ratios[0]}
            values |= {memory.bias_i2: b_i[0] ** 2, memory.grad_f_i2: grad_f_i[0] ** 2}
            yield Point(values | {ours.spread2: world.p @ (grad_f_i - grad_f) ** 2})


@dataclass(frozen=True)
class _State:
    """Gradients at a random x of a random problem: of every f_i and f_i_memory, (N, d), and of g, (d,)."""

    p: Array
    past: Array
    memory: Array
    current: Array

    def values(self) -> dict[Any, Any]:
        """Squared norms of b and grad f, then client by client, m_i being the observed ratio."""
        bias = self.memory - self.past
        bias_i2, grad_f_i2 = _norm2(bias), _norm2(self.past)
        whole = {bias2: _norm2(self.p @ bias), grad_f2: _norm2(self.p @ self.past)}
        return whole | {memory.m_i: bias_i2 / grad_f_i2, memory.bias_i2: bias_i2, memory.grad_f_i2: grad_f_i2}


def _states(seed: int, count: int) -> Iterator[_State]:
    """Problems of every family with up to 4 clients, a memory of some components each, and a random x."""
    rng = np.random.default_rng([seed, 89])
    for case in range(count):
        clients, n, dimension = int(rng.integers(1, 5)), int(rng.integers(1, 6)), int(rng.integers(2, 5))
        size: dict[str, Any] = {"clients": clients, "dimension": dimension, "seed": int(rng.integers(1 << 31))}
        problem = (
            random_glm(components=n, **size),
            random_quadratic(components=n, **size),
            random_separable(past=n, current=n, **size),
        )[case % 3]
        x = problem.start + rng.normal(size=dimension)
        first = problem.past.client_start
        kept = [a + rng.choice(b - a, int(rng.integers(1, b - a + 1)), replace=False) for a, b in pairwise(first)]
        of_memory = np.stack([mean_gradient(problem.potential, problem.past, chosen, x) for chosen in kept])
        current = problem.p @ gradients(problem.potential, problem.current, x)
        yield _State(problem.p, gradients(problem.potential, problem.past, x), of_memory, current)


def _norm2(vectors: Array) -> Array:
    return np.asarray(np.sum(vectors**2, axis=-1))


def _lemma9_samples(seed: int, count: int) -> Iterator[Sample]:
    """Every client, with m_i the observed ratio and m the least that (28) allows."""
    for found in (state.values() for state in _states(seed, count)):
        yield Sample(found | {m: np.max(found[memory.bias_i2]) / found[grad_f2]}, on="repair")


def _lemma10_samples(seed: int, count: int) -> Iterator[Sample]:
    """Every client, with r_i the observed ratio."""
    for state in _states(seed, count):
        new, own = np.sqrt(_norm2(state.current)), np.sqrt(_norm2(state.memory))
        values = {memory.memory_norm: np.sqrt(_norm2(state.p @ state.memory)), memory.memory_i: own, grad_g: new}
        yield Sample(values | {memory.r_i: own / new, r: np.max(own) / new})


def _bias_floor_samples(seed: int, count: int) -> Iterator[Sample]:
    """Every client of random problems, m_i the observed ratio."""
    for state in _states(seed, count):
        found = state.values()
        spread = state.p @ np.sum((state.past - state.p @ state.past) ** 2, axis=1)
        yield Sample(found | {ours.spread2: spread, ours.m_max: np.max(found[memory.m_i])})


CHECKS = {
    "cflag.assumption2": Check(_assumption2_points, further=_every_memory),
    "cflag.lemma8": Check(_lemma8_points, further=_every_draw),
    "cflag.lemma9": Check(_lemma9_points, _lemma9_samples),
    "cflag.lemma10": Check(_lemma10_points, _lemma10_samples),
    "ours.assumption2": Check(further=every_small_sum),
    "ours.bias_floor": Check(_bias_floor_points, _bias_floor_samples),
}
