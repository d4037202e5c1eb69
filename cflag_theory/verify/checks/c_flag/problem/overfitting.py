"""𝔼[B(t)]: exact expectations over every draw of the memory and every order of the components."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise, product
from math import comb, prod
from typing import Any

import numpy as np

from cflag_theory.claims.c_flag.problem import overfitting as claim
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.points import holds_at
from cflag_theory.kernels import Problem, uniform
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.memory.memory import draw_subset
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.problem.memory import Draw, biases, draws
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence
from cflag_theory.verify.witnesses.instances import Component, described, exact_run, on_the_line, slopes, visited

_HALF = Fraction(1, 2)


@cache
def _seeds(first: tuple[int, ...], size: int) -> Mapping[Draw, int]:
    """A seed of the simulator for each of those memories, so that a run can be given its memory."""
    labels = np.zeros(first[-1], dtype=np.int64)
    wanted = prod(comb(b - a, size) for a, b in pairwise(first))
    found: dict[Draw, int] = {}
    seed = 0
    while len(found) < wanted:
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
    """An exact problem with step sizes and a memory size, for expectations over all draws."""

    problem: Problem
    alpha: Fraction
    beta: Fraction
    local_steps: int
    size: int = 1

    @property
    def words(self) -> str:
        """The world in one line."""
        return (
            f"{described(self.problem)}, E = {self.local_steps}, alpha = {self.alpha}, beta = {self.beta}; each client "
            f"keeps {self.size} of its past components"
        )

    def rounds(self, x: Fraction, draw: Draw) -> list[tuple[Fraction, Fraction, Fraction, Fraction]]:
        """(B, S, b, next x) of a round from x with this memory, one entry for each order of the components."""
        problem = replace(self.problem, start=np.array([x], dtype=object))
        counts, steps = problem.current.counts, self.local_steps
        seed = _seeds(tuple(int(v) for v in problem.past.client_start), self.size)[draw]
        b = Fraction((problem.p * biases(problem, draw)).sum())
        found = []
        # The entry at k = 0 is not read.
        for order in product(*[product([0], *[range(int(n))] * (steps - 1)) for n in counts]):
            trace = exact_run(
                problem,
                alpha=self.alpha,
                beta=self.beta,
                local_steps=steps,
                memory=uniform(self.size),
                seed=seed,
                orders=np.array([order]),
            )
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
    every = draws(world.problem, world.size)
    start: Fraction = world.problem.start[0]
    none: Draw = ()
    states: dict[tuple[Draw, Fraction], Fraction]
    states = {(none, start): Fraction(1)} if redraw else {(draw, start): Fraction(1, len(every)) for draw in every}
    found = []
    for _ in range(rounds):
        mean = second = Fraction(0)
        seen: dict[tuple[Fraction, Fraction], list[Fraction]] = {}
        after: dict[tuple[Draw, Fraction], Fraction] = {}
        for (fixed, x), weight in states.items():
            for draw in every if redraw else [fixed]:
                outcomes = world.rounds(x, draw)
                part = weight / (len(outcomes) * (len(every) if redraw else 1))
                for B, S, b, x_next in outcomes:
                    mean += part * B
                    second += part * world.beta * b * S
                    cell = seen.setdefault((x, S), [Fraction(0), Fraction(0)])
                    cell[0] += part
                    cell[1] += part * b
                    key = (fixed, x_next)
                    after[key] = after.get(key, Fraction(0)) + part
        largest = max(abs(moment / mass) for mass, moment in seen.values())
        found.append(Expected(mean, mean - second, largest))
        states = after
    return found


def family(start: int | Fraction = 1, L: Fraction = Fraction(8, 5), alpha: Fraction = _HALF) -> World:
    """The one-client instance of the claim: curvatures 1/2 and 3/2, g = (x - 2)^2/2."""
    problem = on_the_line([[(_HALF, 0), (3 * _HALF, 0)]], [[(1, 2)]], start=start, L=L)
    return World(problem, alpha, Fraction(1, 4), 1)


def two_clients() -> World:
    """Two clients, E = 2, two current components each: component orders are enumerated too."""
    past: list[list[Component]] = [[(_HALF, 0), (3 * _HALF, 0)], [(1, 0), (2, 0)]]
    current: list[list[Component]] = [[(1, 1), (0, 1)], [(1, 3), (1, 1)]]
    problem = on_the_line(past, current, start=1, L=2)
    return World(problem, Fraction(1, 4), Fraction(1, 8), 2)


def overfitting_points() -> Iterator[Point]:
    """𝔼[B(t)] for memories drawn once, and drawn anew every round."""
    for world, rounds in ((family(), 4), (family(L=Fraction(1), alpha=Fraction(4, 5)), 3), (two_clients(), 2)):
        for redraw in (False, True):
            how = "drawn anew every round" if redraw else "drawn once"
            means = expected(world, rounds, redraw=redraw)
            if not redraw:
                total = sum((found.mean_B for found in means), Fraction(0))
                yield Point({claim.total_B: total}, (f"{world.words}; memory {how}, T = {rounds}.",), "sum")
            for t, found in enumerate(means):
                yield Point(
                    {claim.mean_B: found.mean_B, claim.conditional_bias: found.conditional_bias},
                    (
                        f"{world.words}; memory {how}, all draws and component orders enumerated.",
                        f"At t = {t}, {found.first_term} of 𝔼[B(t)] is without the sum S (as (34) prints it at E = 1).",
                    ),
                )


def overfitting_further(subject: Claim, seed: int, count: int) -> Iterable[Evidence]:
    """𝔼[B(t)] round by round over all draws, as data of the verdict."""
    world, rounds = family(), 5
    once = [found.mean_B for found in expected(world, rounds, redraw=False)]
    anew = [found.mean_B for found in expected(world, rounds, redraw=True)]
    summary = (
        f"Over all draws 𝔼[B(t)] for t = 0, ..., {rounds - 1} is {', '.join(map(str, once))} with the memory drawn "
        f"once, and {', '.join(map(str, anew))} with it drawn every round."
    )
    data = {
        "exact": True,
        "cases": len(once),
        "drawn_once": [str(v) for v in once],
        "drawn_every_round": [str(v) for v in anew],
    }
    printed = subject.parts[0].printed.relation
    assert printed is not None
    finding = SUPPORTS if all(holds_at(printed, {claim.mean_B: value}) for value in once) else REFUTES
    yield Evidence("enumeration", subject.parts[0].key, "printed", finding, summary, data)


def expected_overfitting(rounds: int = 8, *, start: int | Fraction = 3) -> dict[str, Any]:
    """𝔼[B(t)] against t over all draws of the one-client instance, for the figure.

    Parameters
    ----------
    rounds : int
        The number of rounds T; with the memory drawn every round the work doubles with each.
    start : int or Fraction
        x_0; from 1 the value is constant from t = 1 on.

    Returns
    -------
    dict
        "t" (T,), "drawn_once" and "drawn_every_round" (T,) as `Fraction`, "limit" of the first, and "words".
    """
    world = family(start)
    return {
        "t": list(range(rounds)),
        "drawn_once": [found.mean_B for found in expected(world, rounds, redraw=False)],
        "drawn_every_round": [found.mean_B for found in expected(world, rounds, redraw=True)],
        "limit": Fraction(str(claim.FAMILY_VALUE)),
        "words": world.words,
    }


CHECKS = {
    "cflag.overfitting_mean": Check(
        overfitting_points,
        further=overfitting_further,
    )
}
