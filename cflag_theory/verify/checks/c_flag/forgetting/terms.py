"""(90) and (149)-(160): every term of the forgetting term, in exact rounds and in random ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np

from cflag_theory.claims.c_flag.forgetting import terms as claim
from cflag_theory.claims.c_flag.local_steps.sums import error_sum, rho_sum
from cflag_theory.claims.engine.notation import E, L, alpha, beta, grad_g, k, m, r, sum2
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.formulas import forgetting
from cflag_theory.kernels.numbers import Array, Ints
from cflag_theory.kernels.problems.objective import component_gradient, mean_gradient
from cflag_theory.kernels.problems.problem import Problem
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point, Sample
from cflag_theory.verify.quantities.c_flag import of
from cflag_theory.verify.witnesses.instances import described, on_the_line, random_runs, rationals
from cflag_theory.verify.witnesses.paths import Round, norm, walk

_ROUNDS, _SEED = 12, 149


def terms(found: Round, smoothness: Any, step: Any, local: Any) -> dict[Any, Any]:
    """The quantities of the statements, for a memory of all past data: b = 0, so that m = 0 will do."""
    S = found.rho_sum + found.error_sum
    memory, size, rho = found.grad_f_memory, norm(found.grad_g), norm(found.rho_sum)
    q, error = 1 - smoothness * step, norm(found.error_sum)
    return {
        L: smoothness,
        m: size * 0,
        r: norm(memory) / size if size else size,
        alpha: step,
        beta: local,
        grad_g: size,
        claim.memory: norm(memory),
        rho_sum: rho,
        error_sum: error,
        sum2: S @ S,
        claim.memory_dot_sum: memory @ S,
        claim.memory_dot_rho: memory @ found.rho_sum,
        claim.memory_dot_error: memory @ found.error_sum,
        claim.rho_dot_error: found.rho_sum @ found.error_sum,
        claim.Gamma: forgetting(smoothness, step, local, S @ S, memory @ S),
        claim.gap: abs(q),
        claim.T1: smoothness * local**2 * rho**2,
        claim.T2: -local * q * (memory @ found.rho_sum),
        claim.T3: -local * q * (memory @ found.error_sum),
        claim.T4: smoothness * local**2 * error**2,
    }


def union_gradient(problem: Problem) -> Array:
    """grad h~ at the start: the plain mean over all past and current components, as (3) weighs them."""
    gradients = [
        component_gradient(problem.potential, part, j, problem.start)
        for part in (problem.past, problem.current)
        for j in range(int(part.client_start[-1]))
    ]
    return np.asarray(sum(gradients) / len(gradients))


def omega_squared(problem: Problem) -> Fraction:
    """omega^2 of Lemma 11 on the line, where all components of a client have one curvature, so that no x matters."""
    total = Fraction(0)
    for i in range(problem.clients):
        past, current = (
            [mean_gradient(problem.potential, part, np.array([j]), problem.start)[0] for j in _members(part, i)]
            for part in (problem.past, problem.current)
        )
        whole = sum(past + current) / Fraction(len(past) + len(current))
        chosen = [kept for size in range(len(past) + 1) for kept in combinations(past, size)]
        total += problem.p[i] * max(
            (sum([*current, *kept]) / (len(current) + len(kept)) - whole) ** 2 for kept in chosen
        )
    return total


def _members(part: Any, client: int) -> range:
    return range(int(part.client_start[client]), int(part.client_start[client + 1]))


def exact_values(problem: Problem, orders: Ints, *, step: Fraction, local: Fraction) -> dict[Any, Any]:
    """The values of one exact round on the line with L = 1."""
    values = terms(walk(problem, beta=local, orders=orders), Fraction(1), step, local)
    steps, union = orders.shape[1], norm(union_gradient(problem))
    # The paper's m is positive, and b = 0 allows any.
    more = {E: steps, k: steps - 1, claim.N: problem.clients, claim.grad_union: union, m: Fraction(1, 10)}
    return values | more


def _story(problem: Problem, orders: Ints) -> tuple[str, ...]:
    return (
        f"{described(problem)}; memory keeps everything (b = 0, m = 1/10), refreshed components {orders.tolist()}.",
    )


_UP, _DOWN = (1, 1), (-1, -1)


def _chosen() -> Iterator[tuple[Any, Any, Any, Fraction, Fraction]]:
    """(past, current, orders, alpha, beta) of the instances chosen to break or attain a line; x_t = 0."""
    half, third = Fraction(1, 2), Fraction(3, 2)
    # E = 1; N = 2; alpha > 1/L with memory along the gradients, and along the errors, which point the other way.
    yield [[_DOWN]], [[_DOWN]], [[0]], half, Fraction(1, 60)
    yield [[_DOWN]] * 2, [[_DOWN]] * 2, [[0]] * 2, half, Fraction(1, 60)
    yield [[_UP]], [[_UP]], [[0]], third, Fraction(1, 60)
    yield [[_UP]], [[_DOWN] * 2], [[0, 0]], third, Fraction(1, 60)
    # Far beyond the step sizes of Lemmas 15 and 16, with memory against the gradients, and against the errors.
    yield [[_UP]], [[_DOWN]], [[0] * 4], half, Fraction(8)
    yield [[_DOWN]], [[_DOWN] * 2], [[0] * 4], half, Fraction(12)
    # sum_k rho_k = sum_k e_k, where (90) is an equality.
    yield [[_UP]], [[(0, 1), _UP]], [[0, 0]], half, Fraction(2)
    # The ends of the ranges, where the sharper bounds are nearly attained.
    for n, steps in ((1, 1), (1, 40), (32, 32)):
        for share, step in product((Fraction(1, 4), Fraction(1, 12)), (half, Fraction(1))):
            yield [[_UP if n == 1 else _DOWN]], [[_DOWN] * n], [[0] * steps], step, share / steps


#: The printed sums are not made of d, which bounds the drifts of repairs.
_UNSEEN = "d of 'd after k' exists: each member follows from earlier ones, since tau_{k,j} <= k"


@cache
def points() -> tuple[Point, ...]:
    """The chosen instances, and random small problems."""
    return tuple(_points())


def _points() -> Iterator[Point]:
    for past, current, orders, step, local in _chosen():
        problem, refreshed = on_the_line(past, current, start=0, L=1), np.array(orders)
        values = exact_values(problem, refreshed, step=step, local=local)
        if past[0][0] == current[0][0]:
            values[claim.omega2] = omega_squared(problem)
        yield Point(values, _story(problem, refreshed), unseen=_UNSEEN)
    rng = np.random.default_rng(_SEED)
    for case in range(_ROUNDS):
        clients, n, steps = 1 + case % 3, int(rng.integers(1, 4)), int(rng.integers(1, 5))
        share = (Fraction(1, 4), Fraction(1, 12), Fraction(1, 60))[case // 3 % 3]
        step = Fraction(int(rng.integers(1, 8)), 4)
        curvature = rationals(rng, 1, span=4)[0] or Fraction(1, 2)
        tasks = [[[(curvature, b) for b in rationals(rng, n)] for _ in range(clients)] for _ in range(2)]
        orders = rng.integers(0, n, (clients, steps))
        problem = on_the_line(*tasks, start=rationals(rng, 1)[0], L=1)
        values = exact_values(problem, orders, step=step, local=share / steps)
        values[claim.omega2] = omega_squared(problem)
        if values[grad_g] and step < 2:
            yield Point(values, _story(problem, orders), unseen=_UNSEEN)


def samples(seed: int, count: int) -> Iterator[Sample]:
    """The first round of random runs, with refreshes of our own and all past data in memory."""
    rng = np.random.default_rng([seed, _SEED])
    found: list[dict[Any, Any]] = []
    for run in random_runs(seed, count, beta_limit=1 / 4):
        orders = np.stack([rng.integers(0, n, run.local_steps) for n in run.problem.current.counts])
        whole = walk(run.problem, beta=run.beta, orders=orders)
        found.append(terms(whole, run.L, run.alpha, run.beta) | of(run, E, k, claim.N))
    yield Sample({key: np.array([values[key] for values in found], dtype=float) for key in found[0]})


def with_omega() -> Iterator[Point]:
    """The instances for which omega^2 of Lemma 11 is known."""
    return (point for point in points() if claim.omega2 in point.values)


CHECKS = {
    "cflag.eq90": Check(points, samples),
    "cflag.eq151": Check(points, samples),
    "cflag.eq156": Check(points, samples),
    "cflag.eq158": Check(points, samples),
    "cflag.eq160": Check(with_omega),
}
