"""(3), (5), (7), the updates and 𝔼[B(t)]: exact rounds of Algorithm 1, one coordinate at a time, and counted ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise, product
from math import comb, prod
from typing import Any

import numpy as np

from cflag_theory.claims.c_flag.problem import objective, overfitting, update
from cflag_theory.claims.c_flag.problem.ours import memory as ours
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import E, alpha, beta
from cflag_theory.claims.engine.points import holds_at
from cflag_theory.kernels import Problem, uniform
from cflag_theory.kernels.draws import COMPONENT, below, lane, words
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.memory.memory import draw_subset
from cflag_theory.kernels.problems.objective import component_gradient, gradients, mean_value, values
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.problem_memory import Draw, biases, draws
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.instances.on_the_line import (
    Component,
    described,
    exact_run,
    on_the_line,
    rationals,
    slopes,
    visited,
)
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence

_ZERO, _HALF, _QUARTER = Fraction(0), Fraction(1, 2), Fraction(1, 4)
COMPONENTS = objective.c1, objective.c2, objective.c3
#: Sizes (|P^i|, |C^i|) of two clients: shares that differ, at equal and at unequal amounts of data, and shares alike.
_SIZES = (((1, 3), (3, 1)), ((1, 1), (2, 1)), ((1, 2), (2, 4)), ((2, 2), (1, 1)))
#: Of every replay of a round of Algorithm 1.
_SEED = 22


def _members(part: Any) -> list[Any]:
    return [np.arange(first, last) for first, last in pairwise(part.client_start)]


def _mean_losses(problem: Problem) -> list[Fraction]:
    """h_i at the start for every client: the mean over its past and current components together."""
    kind, found = problem.potential, []
    for chosen in zip(_members(problem.past), _members(problem.current), strict=True):
        pairs = zip((problem.past, problem.current), chosen, strict=True)
        total = sum(mean_value(kind, part, own, problem.start) * len(own) for part, own in pairs)
        found.append(total / Fraction(sum(map(len, chosen))))
    return found


def eq3_points(more: bool = False) -> Iterator[Point]:
    """Two clients whose data sets have the sizes above, with weights 1/2 and by size; `more` for what we prove."""
    for sizes, by_size in product(_SIZES, (False, True)):
        past, current = (sum(pair[task] for pair in sizes) for task in (0, 1))
        p = [Fraction(sum(pair), past + current) if by_size else _HALF for pair in sizes]
        tasks = [
            [[(1, i + 2 * task + j) for j in range(pair[task])] for i, pair in enumerate(sizes)] for task in (0, 1)
        ]
        problem = on_the_line(tasks[0], tasks[1], start=1, L=1, p=p)
        h_i = _mean_losses(problem)
        f_i, g_i = (values(problem.potential, part, problem.start) for part in (problem.past, problem.current))
        whole = {
            objective.h: problem.p @ np.array(h_i, dtype=object),
            objective.f: problem.p @ f_i,
            objective.g: problem.p @ g_i,
            objective.past: past,
            objective.current: current,
        }
        clients = [
            whole
            | {objective.past_i: a, objective.current_i: b, objective.h_i: h_i[i], objective.f_i: f_i[i]}
            | {objective.g_i: g_i[i]}
            for i, (a, b) in enumerate(sizes)
        ]
        members = {"h_i": clients}
        if more:
            shares = np.array([Fraction(a, a + b) for a, b in sizes])
            apart = (shares - Fraction(past, past + current)) * (f_i - g_i)
            clients[0] |= {ours.remainder: problem.p @ apart, ours.p_i: problem.p[0], ours.share_i: shares[0]}
            f, g = (sum(pair[task] * own[i] for i, pair in enumerate(sizes)) for task, own in enumerate((f_i, g_i)))
            clients[0] |= {ours.f_by_size: f / past, ours.g_by_size: g / current}
            members = {}
        yield Point(clients[0], (f"{described(problem)}; x = x_0.",), members=members)


def _after(problem: Problem, beta: Fraction, order: Sequence[Sequence[int]]) -> Fraction:
    """x after one round without a memory step, with the given component order of every client."""
    return visited(exact_run(problem, alpha=0, beta=beta, local_steps=len(order[0]), orders=np.array([order])))[1]


def _eq5_points() -> Iterator[Point]:
    """A second round of the toy example: delayed gradients as differences of S for E = 1, 2, 3."""
    problem = on_the_line([[(1, 0)]], [[(1, 0), (2, 1), (-1, 3)]], start=1, L=2)
    # The first local order is c_2; the second round samples c_1 at k = 1 and c_3 at k = 2.
    first = _after(problem, _QUARTER, [[0, 1, 1]])
    later = replace(problem, start=np.array([first], dtype=object))
    # With one client the local step (4) is -beta grad g_i', so the end of a round of E steps is x_{t,E}.
    local = [first, *(_after(later, _QUARTER, [[0, 0, 2][:steps]]) for steps in (1, 2, 3))]
    estimates = [(before - after) / _QUARTER for before, after in pairwise(local)]

    def at(j: int, x: Fraction) -> Fraction:
        found: Fraction = component_gradient(problem.potential, problem.current, j, np.array([x], dtype=object))[0]
        return found

    numbers: dict[Any, Any] = {update.delayed(k): value for k, value in enumerate(estimates)}
    for j, component in enumerate(COMPONENTS):
        numbers |= {component(k): at(j, local[k]) for k in range(3)}
        numbers[getattr(objective, f"c{j + 1}_initial")] = at(j, problem.start[0])
    numbers[objective.grad_g_i] = gradients(problem.potential, problem.current, later.start)[0, 0]
    story = (
        "N = 1, c_1 = x^2/2, c_2 = x^2 - x, c_3 = -x^2/2 - 3x, alpha = 0, beta = 1/4, x_0 = 1; round t = 1 after a "
        "round of E = 3 that refreshed c_2 twice; it samples c_1 at k = 1 and c_3 at k = 2.",
        f"x_t = {first}; the delayed gradients at k = 0, 1, 2 are {', '.join(map(str, estimates))}, the differences of "
        "S for E = 1, 2, 3.",
    )
    yield Point(numbers, story)


def _counted_round(n: int, steps: int) -> tuple[int, Fraction, Problem]:
    """(component gradients evaluated, end of the round, the problem) for a round by the text of Sec. 3, counted."""
    problem = on_the_line([[(1, 0)]], [[(j + 1, j) for j in range(n)]], start=1, L=n)
    count = 0

    def gradient(j: int, x: Any) -> Any:
        nonlocal count
        count += 1
        return component_gradient(problem.potential, problem.current, j, x)

    x = problem.start
    table = [gradient(j, x) for j in range(n)]
    for k in range(steps):
        if k > 0:
            table[k % n] = gradient(k % n, x)
        x = x - Fraction(1, 8 * n) * sum(table) / n
    return count, x[0], problem


def cost_points() -> Iterator[Point]:
    """Counted rounds, each of which ends where the simulator's does."""
    for n, steps in product((1, 2, 3, 5), (1, 2, 3, 7)):
        count, end, problem = _counted_round(n, steps)
        assert end == _after(problem, Fraction(1, 8 * n), [[k % n for k in range(steps)]]), (n, steps)
        story = (
            f"n = |C^i| = {n} components, E = {steps}: a round by (4) and (5) evaluated {count} component gradients "
            f"and ended at {end}, as the simulator's did; full local gradients would take {n * steps}."
        )
        yield Point({objective.n: n, E: steps, objective.cost: count}, (story,))


def _problems() -> Iterator[tuple[Problem, Fraction, Fraction, int]]:
    """(problem, alpha, beta, E): first the stationary one, on which nothing should move; then random small ones."""
    yield on_the_line([[(1, 1)]], [[(1, 1)]], start=1, L=1), _HALF, _HALF, 2
    rng = np.random.default_rng(_SEED)
    for _ in range(12):
        clients, n = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        tasks = [
            [list(zip(rationals(rng, n), rationals(rng, n), strict=True)) for _ in range(clients)] for _ in range(2)
        ]
        raw = [Fraction(int(v)) for v in rng.integers(1, 5, clients)]
        p = [v / sum(raw) for v in raw]
        problem = on_the_line(tasks[0], tasks[1], start=rationals(rng, 1)[0], L=2, p=p)
        step, local, steps = (int(v) for v in rng.integers(1, 5, 3))
        yield problem, Fraction(step, 4), Fraction(local, 8), steps


def _update_points() -> Iterator[Point]:
    """One exact round of Algorithm 1 on each problem, E and the step sizes chosen with it."""
    for problem, step, local, steps in _problems():
        # Rounds alike but for alpha give S and the mean of the local iterates apart from each other.
        whole, mean = (
            visited(exact_run(problem, alpha=size, beta=local, local_steps=steps, seed=_SEED))[1] for size in (step, 0)
        )
        of_memory, grad_g = slopes(problem)
        S, ends = _local_steps(problem, local, steps)
        at_ends = sum(p * slopes(problem, end)[0] for p, end in zip(problem.p, ends, strict=True))
        story = (f"{described(problem)}; memory keeps everything; E = {steps}, seed {_SEED}.",)
        found = {
            update.x: problem.start[0],
            update.x_next: whole,
            update.x_mean: mean,
            update.S: S,
            update.grad_f_memory: of_memory,
            update.memory_mean: of_memory,
            update.memory_at_clients: at_ends,
            update.grad_g: grad_g,
            update.total_weight: sum(problem.p),
            alpha: step,
            beta: local,
        }
        yield Point(found, story)
        # (23) with the memory gradient at the clients' last iterates.
        yield Point(found | {update.x_next: mean - step * at_ends}, story, "client")


def _local_steps(problem: Problem, local: Fraction, steps: int) -> tuple[Fraction, list[Fraction]]:
    """S and x_{t,E}^i by (5) and (4), written out here once more: a witness that shares no line with the simulation."""
    x, part = problem.start[0], problem.current

    def gradient(j: int, at: Fraction) -> Fraction:
        rows = range(part.row_start[j], part.row_start[j + 1])
        curved = sum(part.weights[c] * part.rows[c, 0] * (part.rows[c, 0] * at - part.shifts[c]) for c in rows)
        return Fraction(curved + (part.offsets[j, 0] if len(part.offsets) else 0))

    def mean(filled: dict[int, Fraction]) -> Fraction:
        return sum((gradient(j, at) for j, at in filled.items()), _ZERO) / len(filled)

    tables = [dict.fromkeys(members.tolist(), x) for members in _members(part)]
    full = [mean(table) for table in tables]
    grad_g = sum(p * own for p, own in zip(problem.p, full, strict=True))
    S, ends = _ZERO, []
    for i, filled in enumerate(tables):
        at = x
        for k in range(steps):
            if k > 0:
                word = lane(words(_SEED, COMPONENT, 0, i, 0, k >> 2), k)
                filled[list(filled)[below(word, len(filled))]] = at
            delayed = mean(filled)
            S += problem.p[i] * delayed
            at -= local * (grad_g - full[i] + delayed)
        ends.append(at)
    return S, ends


@cache
def _seeds(first: tuple[int, ...], size: int) -> Mapping[Draw, int]:
    """A seed of the simulator for each of those memories, so that a run can be given its memory."""
    labels = np.zeros(first[-1], dtype=np.int64)
    found: dict[Draw, int] = {}
    seed = 0
    while len(found) < prod(comb(b - a, size) for a, b in pairwise(first)):
        kept: list[tuple[int, ...]] = []
        for i, (a, b) in enumerate(pairwise(first)):
            order = np.empty(b - a, dtype=np.int64)
            number = draw_subset(seed, 0, i, 0, labels, a, b - a, size, False, order)
            kept.append(tuple(sorted(int(j) for j in order[:number])))
        found.setdefault(tuple(kept), seed)
        seed += 1
    return found


@dataclass(frozen=True)
class World:
    """An exact problem with step sizes for expectations over all memories of one component a client."""

    problem: Problem
    alpha: Fraction
    beta: Fraction
    local_steps: int

    @property
    def words(self) -> str:
        """The world in one line."""
        return (
            f"{described(self.problem)}, E = {self.local_steps}, alpha = {self.alpha}, beta = {self.beta}; each client "
            "keeps 1 of its past components"
        )

    def rounds(self, x: Fraction, draw: Draw) -> list[tuple[Fraction, Fraction, Fraction, Fraction]]:
        """(B, S, b, next x) of a round from x with this memory, one entry for each order of the components."""
        problem = replace(self.problem, start=np.array([x], dtype=object))
        steps: dict[str, Any] = {"alpha": self.alpha, "beta": self.beta, "local_steps": self.local_steps}
        seed = _seeds(tuple(int(v) for v in problem.past.client_start), 1)[draw]
        b = Fraction((problem.p * biases(problem, draw)).sum())
        found = []
        # The entry at k = 0 is not read.
        every = [product([0], *[range(int(n))] * (self.local_steps - 1)) for n in problem.current.counts]
        for order in product(*every):
            trace = exact_run(problem, memory=uniform(1), seed=seed, orders=np.array([order]), **steps)
            after = visited(trace)[1]
            S = (x - after - self.alpha * (slopes(problem)[0] + b)) / self.beta
            found.append((trace.column("B")[0, 0], S, b, after))
        return found


@dataclass(frozen=True)
class Expected:
    """Of round t: 𝔼[B(t)], the part of it with L alpha^2 - alpha alone, and the largest |𝔼[b(x_t) | x_t, S]|."""

    mean_B: Fraction
    first_term: Fraction
    conditional_bias: Fraction


def expected(world: World, rounds: int, *, redraw: bool) -> list[Expected]:
    """Exact expectations over all memories and component orders, for t = 0, ..., rounds - 1."""
    every, start = draws(world.problem, 1), world.problem.start[0]
    states: dict[tuple[Draw, Fraction], Fraction]
    states = {((), start): Fraction(1)} if redraw else {(draw, start): Fraction(1, len(every)) for draw in every}
    found = []
    for _ in range(rounds):
        mean = second = _ZERO
        seen: dict[tuple[Fraction, Fraction], list[Fraction]] = {}
        after: dict[tuple[Draw, Fraction], Fraction] = {}
        for (fixed, x), weight in states.items():
            for draw in every if redraw else [fixed]:
                outcomes = world.rounds(x, draw)
                part = weight / (len(outcomes) * (len(every) if redraw else 1))
                for B, S, b, x_next in outcomes:
                    mean += part * B
                    second += part * world.beta * b * S
                    cell = seen.setdefault((x, S), [_ZERO, _ZERO])
                    cell[0] += part
                    cell[1] += part * b
                    after[fixed, x_next] = after.get((fixed, x_next), _ZERO) + part
        largest = max(abs(moment / mass) for mass, moment in seen.values())
        found.append(Expected(mean, mean - second, largest))
        states = after
    return found


def family(start: int | Fraction = 1, L: Fraction = Fraction(8, 5), alpha: Fraction = _HALF) -> World:
    """The one-client instance of the claim: curvatures 1/2 and 3/2, g = (x - 2)^2/2."""
    return World(on_the_line([[(_HALF, 0), (3 * _HALF, 0)]], [[(1, 2)]], start=start, L=L), alpha, _QUARTER, 1)


def two_clients() -> World:
    """Two clients, E = 2, two current components each: component orders are enumerated too."""
    past: list[list[Component]] = [[(_HALF, 0), (3 * _HALF, 0)], [(1, 0), (2, 0)]]
    current: list[list[Component]] = [[(1, 1), (0, 1)], [(1, 3), (1, 1)]]
    return World(on_the_line(past, current, start=1, L=2), _QUARTER, Fraction(1, 8), 2)


def _overfitting_points() -> Iterator[Point]:
    """𝔼[B(t)] for memories drawn once, and drawn anew every round."""
    worlds = ((family(), 4), (family(L=Fraction(1), alpha=Fraction(4, 5)), 3), (two_clients(), 2))
    for (world, rounds), redraw in product(worlds, (False, True)):
        words = f"{world.words}; memory drawn {'anew every round' if redraw else 'once'},"
        means = expected(world, rounds, redraw=redraw)
        if not redraw:
            total = sum((found.mean_B for found in means), _ZERO)
            yield Point({overfitting.total_B: total}, (f"{words} T = {rounds}.",), "sum")
        for t, found in enumerate(means):
            story = (
                f"{words} all draws and component orders enumerated.",
                f"At t = {t}, {found.first_term} of 𝔼[B(t)] is without the sum S (as (34) prints it at E = 1).",
            )
            numbers = {overfitting.mean_B: found.mean_B, overfitting.conditional_bias2: found.conditional_bias**2}
            yield Point(numbers, story)


def _overfitting_evidence(subject: Claim, seed: int, count: int) -> Iterable[Evidence]:
    """𝔼[B(t)] round by round over all draws, as data of the verdict."""
    once, anew = ([found.mean_B for found in expected(family(), 5, redraw=redraw)] for redraw in (False, True))
    summary = (
        f"Over all draws 𝔼[B(t)] for t = 0, ..., 4 is {', '.join(map(str, once))} with the memory drawn once, and "
        f"{', '.join(map(str, anew))} with it drawn every round."
    )
    means = {"drawn_once": [str(v) for v in once], "drawn_every_round": [str(v) for v in anew]}
    printed = subject.parts[0].printed.relation
    assert printed is not None
    finding = SUPPORTS if all(holds_at(printed, {overfitting.mean_B: value}) for value in once) else REFUTES
    data = {"exact": True, "cases": len(once), **means}
    yield Evidence("enumeration", subject.parts[0].key, "printed", finding, summary, data)


def expected_overfitting(rounds: int = 8, *, start: int | Fraction = 3) -> dict[str, Any]:
    """𝔼[B(t)] against t over all draws of the one-client instance, for the figure: "t" (T,), "drawn_once" and
    "drawn_every_round" (T,) as `Fraction`, "limit" of the first, and "words".

    With the memory drawn every round the work doubles with each of the T rounds. From x_0 = 1 the value is constant
    from t = 1 on.
    """
    world = family(start)
    return {
        "t": list(range(rounds)),
        "drawn_once": [found.mean_B for found in expected(world, rounds, redraw=False)],
        "drawn_every_round": [found.mean_B for found in expected(world, rounds, redraw=True)],
        "limit": Fraction(str(overfitting.FAMILY_VALUE)),
        "words": world.words,
    }


CHECKS = {
    "cflag.eq3": Check(eq3_points),
    "ours.eq3": Check(lambda: eq3_points(more=True)),
    "cflag.eq5": Check(_eq5_points),
    "cflag.iag_cost": Check(cost_points),
    **dict.fromkeys(("cflag.eq7", "cflag.alg1", "cflag.eq22", "cflag.eq25"), Check(_update_points)),
    "cflag.overfitting_mean": Check(_overfitting_points, further=_overfitting_evidence),
}
