"""(7), line 12, (17)-(22) and (23)-(25): exact rounds of Algorithm 1, one coordinate at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from cflag_theory.claims.c_flag.problem import update as claim
from cflag_theory.claims.engine.notation import alpha, beta
from cflag_theory.kernels import Problem
from cflag_theory.kernels.draws import COMPONENT, below, lane, words
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.witnesses.instances import described, exact_run, on_the_line, rationals, slopes, visited

# Exact rounds on random small problems, besides the ones chosen to break a statement.
_ROUNDS, _SEED = 12, 22


def _problems() -> Iterator[tuple[Problem, Fraction, Fraction, int]]:
    """(problem, alpha, beta, E): first the stationary one, on which nothing should move."""
    at_rest = on_the_line([[(1, 1)]], [[(1, 1)]], start=1, L=1)
    yield at_rest, Fraction(1, 2), Fraction(1, 2), 2
    rng = np.random.default_rng(_SEED)
    for _ in range(_ROUNDS):
        clients, n = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        tasks = [
            [list(zip(rationals(rng, n), rationals(rng, n), strict=True)) for _ in range(clients)] for _ in range(2)
        ]
        raw = [Fraction(int(v)) for v in rng.integers(1, 5, clients)]
        p = [v / sum(raw) for v in raw]
        start = rationals(rng, 1)[0]
        problem = on_the_line(tasks[0], tasks[1], start=start, L=2, p=p)
        step, local, E = (int(v) for v in rng.integers(1, 5, 3))
        yield problem, Fraction(step, 4), Fraction(local, 8), E


def points() -> Iterator[Point]:
    """One exact round of Algorithm 1 on each problem, E and the step sizes chosen with it."""
    for problem, step, local, E in _problems():
        # Rounds alike but for alpha give S and the mean of the local iterates apart from each other.
        whole = _round(problem, step, local, E)
        without_memory = _round(problem, Fraction(0), local, E)
        x = problem.start[0]
        memory_gradient, grad_g = slopes(problem)
        S, ends = _local_steps(problem, local, E)
        story = (f"{described(problem)}; memory keeps everything; E = {E}, seed {_SEED}.",)
        at_ends = sum(
            p * slopes(replace(problem, start=np.array([end])))[0] for p, end in zip(problem.p, ends, strict=True)
        )
        values = {
            claim.x: x,
            claim.x_next: whole,
            claim.x_mean: without_memory,
            claim.S: S,
            claim.grad_f_memory: memory_gradient,
            claim.memory_mean: memory_gradient,
            claim.memory_at_clients: at_ends,
            claim.grad_g: grad_g,
            claim.total_weight: sum(problem.p),
            alpha: step,
            beta: local,
        }
        yield Point(values, story)
        # (23) with the memory gradient at the clients' last iterates.
        yield Point(values | {claim.x_next: without_memory - step * at_ends}, story, "client")


def _round(problem: Problem, step: Fraction, local: Fraction, E: int) -> Fraction:
    return visited(exact_run(problem, alpha=step, beta=local, local_steps=E, seed=_SEED))[1]


def _local_steps(problem: Problem, local: Fraction, E: int) -> tuple[Fraction, list[Fraction]]:
    """S and x_{t,E}^i by (5) and (4), written out here once more: a witness that shares no line with the simulation."""
    x, part = problem.start[0], problem.current

    def gradient(j: int, at: Fraction) -> Fraction:
        rows = range(part.row_start[j], part.row_start[j + 1])
        curved: Fraction = sum(
            part.weights[c] * part.rows[c, 0] * (part.rows[c, 0] * at - part.shifts[c]) for c in rows
        )
        return curved + (part.offsets[j, 0] if len(part.offsets) else 0)

    means = []
    for i in range(problem.clients):
        members = range(part.client_start[i], part.client_start[i + 1])
        means.append(sum(gradient(j, x) for j in members) / Fraction(len(members)))
    grad_g = sum(p * mean for p, mean in zip(problem.p, means, strict=True))
    S, ends = Fraction(0), []
    for i in range(problem.clients):
        members = range(part.client_start[i], part.client_start[i + 1])
        filled = {j: x for j in members}
        at = x
        for k in range(E):
            if k > 0:
                word = lane(words(_SEED, COMPONENT, 0, i, 0, k >> 2), k)
                filled[members[below(word, len(members))]] = at
            delayed = sum(gradient(j, filled[j]) for j in members) / Fraction(len(members))
            S += problem.p[i] * delayed
            at -= local * (grad_g - means[i] + delayed)
        ends.append(at)
    return S, ends


CHECKS = {
    "cflag.eq7": Check(points),
    "cflag.alg1": Check(points),
    "cflag.eq22": Check(points),
    "cflag.eq25": Check(points),
}
