"""The forgetting term: every term of it in exact rounds and in random ones, our bounds on it, and the choice of D*."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import sympy as sp

from cflag_theory.claims.c_flag.forgetting import average, memory_choice
from cflag_theory.claims.c_flag.forgetting import terms as claim
from cflag_theory.claims.c_flag.forgetting.ours.step import sigma
from cflag_theory.claims.c_flag.local_steps.sums import error_sum, norm_S, rho_sum
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import E, L, alpha, beta, grad_g, k, m, r, sum2
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.formulas import forgetting
from cflag_theory.kernels.numbers import Array, Ints
from cflag_theory.kernels.problems.objective import component_gradient
from cflag_theory.kernels.problems.problem import Problem
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point, Sample
from cflag_theory.verify.instances.c_flag import SUMS, of
from cflag_theory.verify.instances.on_the_line import described, on_the_line, random_runs, rationals
from cflag_theory.verify.instances.paths import Round, norm, walk
from cflag_theory.verify.instances.runs import Exact, Kept
from cflag_theory.verify.verdict import REFUTES, Evidence

_ROUNDS, _SEED = 12, 149


def _terms(found: Round, smoothness: Any, step: Any, local: Any, steps: int) -> dict[Any, Any]:
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
        norm_S: norm(S),
        sigma: ((1 + local * smoothness) ** steps - 1) / (local * smoothness),
        claim.T1: smoothness * local**2 * rho**2,
        claim.T2: -local * q * (memory @ found.rho_sum),
        claim.T3: -local * q * (memory @ found.error_sum),
        claim.T4: smoothness * local**2 * error**2,
    }


def _slopes(problem: Problem) -> list[tuple[list[Fraction], list[Fraction]]]:
    """The gradients at the start of every client's past and current components, on the line."""

    def of_clients(part: Any) -> Iterator[list[Fraction]]:
        for first, end in pairwise(part.client_start.tolist()):
            yield [component_gradient(problem.potential, part, j, problem.start)[0] for j in range(first, end)]

    return list(zip(of_clients(problem.past), of_clients(problem.current), strict=True))


def _omega_squared(problem: Problem) -> Fraction:
    """omega^2 of Lemma 11 on the line, where all components of a client have one curvature, so that no x matters."""
    total = Fraction(0)
    for p, (past, current) in zip(problem.p, _slopes(problem), strict=True):
        sets = [[*current, *kept] for size in range(len(past) + 1) for kept in combinations(past, size)]
        # The last set has everything.
        means = [sum(one) / Fraction(len(one)) for one in sets]
        total += p * max((mean - means[-1]) ** 2 for mean in means)
    return total


def _exact_values(problem: Problem, orders: Ints, *, step: Fraction, local: Fraction) -> dict[Any, Any]:
    """The values of one exact round on the line with L = 1."""
    values = _terms(walk(problem, beta=local, orders=orders), Fraction(1), step, local, orders.shape[1])
    # grad h~ is the plain mean over all past and current components, as (3) weighs them. The paper's m is positive, and
    # b = 0 allows any.
    slopes = [slope for lists in _slopes(problem) for one in lists for slope in one]
    union, steps = abs(sum(slopes) / Fraction(len(slopes))), orders.shape[1]
    return values | {E: steps, k: steps - 1, claim.N: problem.clients, claim.grad_union: union, m: Fraction(1, 10)}


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
        values = _exact_values(problem, refreshed, step=step, local=local)
        if past[0][0] == current[0][0]:
            values[claim.omega2] = _omega_squared(problem)
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
        values = _exact_values(problem, orders, step=step, local=share / steps)
        values[claim.omega2] = _omega_squared(problem)
        if values[grad_g] and step < 2:
            yield Point(values, _story(problem, orders), unseen=_UNSEEN)


def samples(seed: int, count: int) -> Iterator[Sample]:
    """The first round of random runs, with refreshes of our own and all past data in memory."""
    rng = np.random.default_rng([seed, _SEED])
    found: list[dict[Any, Any]] = []
    for run in random_runs(seed, count, beta_limit=1 / 4):
        orders = np.stack([rng.integers(0, n, run.local_steps) for n in run.problem.current.counts])
        whole = walk(run.problem, beta=run.beta, orders=orders)
        found.append(_terms(whole, run.L, run.alpha, run.beta, run.local_steps) | of(run, E, k, claim.N))
    yield Sample({key: np.array([values[key] for values in found], dtype=float) for key in found[0]})


def _steep() -> Iterator[Point]:
    """The concave quadratic with memory against it, or along it for alpha > 1/L, far beyond the paper's step sizes."""
    for steps, local, (step, past) in product(
        (1, 2, 4), (Fraction(1, 60), Fraction(3)), ((Fraction(1, 2), _UP), (Fraction(7, 4), _DOWN))
    ):
        problem = on_the_line([[past]], [[_DOWN]], start=0, L=1)
        yield Point(_exact_values(problem, np.zeros((1, steps), dtype=int), step=step, local=local))


def sums_points() -> Iterator[Point]:
    """The instances of the paper's rows and the steep ones."""
    yield from (*_steep(), *points())


def ours_points() -> Iterator[Point]:
    """The same; part 3 needs those with a known omega^2."""
    for point in sums_points():
        known = claim.omega2 in point.values
        yield from [point] if known else [replace(point, part=part) for part in ("1", "2")]


def _memories(past: tuple[int, ...], current: int, alpha: Fraction, rounds: int) -> Iterator[Point]:
    """Every memory of one component of f, the mean of s x over `past`; g = current x, beta = 1/60, L = E = 1."""
    beta = Fraction(1, 60)
    # Assumptions 2 and 3, with m = ||b||^2 / ||grad f||^2 and r at every x.
    mean = Fraction(sum(past), len(past))
    m = max((slope - mean) ** 2 / mean**2 for slope in past)
    r = Fraction(max(map(abs, past)), abs(current))
    assert m < 1
    assert alpha < 2 / (1 + m)
    sets = [kept for size in range(len(past) + 1) for kept in combinations(past, size)]
    slopes = [Fraction(sum(kept) + current, len(kept) + 1) for kept in sets]
    # x_0 - x_T by the round update (24), whose gradients are the slopes.
    moved = [rounds * (alpha * slope + beta * current) for slope in past]
    lost = [Fraction(slope + current, 2) * way for slope, way in zip(past, moved, strict=True)]
    best = [max(slope * way for slope in slopes) for way in moved]
    spread = [Fraction(slope - current, 2) ** 2 for slope in past]
    q = 1 - alpha
    values = {
        memory_choice.lost_mean: sum(lost) / len(past),
        memory_choice.best_mean: sum(best) / len(past),
        memory_choice.largest: max(best),
        memory_choice.omega2_mean: sum(spread) / len(past),
        # (180).
        memory_choice.first: (16 * r * q + 22) / rounds,
        memory_choice.second: Fraction(11, 60) + 2 * r / 15 * q,
    }
    drawn = [
        {memory_choice.lost: lost[j], memory_choice.best: best[j], memory_choice.omega2: spread[j]}
        for j in range(len(past))
    ]
    for slope, own in zip(past, drawn, strict=True):
        words = (
            f"N = E = L = 1, past components {', '.join(f'{s} x' for s in past)}, of which the memory keeps one (m = "
            f"{m}), g = {current} x, r = {r}, alpha = {alpha}, beta = {beta}, T = {rounds}; this one keeps {slope} x."
        )
        yield Point(values | own, (words,), members={"(166)": drawn})


def memory_points() -> Iterator[Point]:
    """Tasks that conflict and tasks that agree; the largest Delta may be that of C, of M u C or of P u C."""
    yield from _memories((3, 6), -1, Fraction(1, 240), 4)
    yield from _memories((1, 2), 1, Fraction(1, 2), 4)
    yield from _memories((1, 1), -1, Fraction(1, 4), 1)
    yield from _memories((2, 3, 4), -2, Fraction(1, 60), 2)


_HALF = Fraction(1, 2)
#: T with a rational root.
ROUNDS = (1, 4, 9)


def past(scale: Fraction) -> list[list[tuple[Fraction, int]]]:
    return [[(1 + scale, 0), (1 - scale, 0)]]


def climbing(local: Fraction, rounds: int) -> Exact:
    """f = 0, g = -x^2/2, E = 1, x_0 = 1; alpha = 3/2 moves nothing."""
    return Exact(on_the_line([[(0, 0)]], [[(-1, 0)]], start=1, L=1), Fraction(3, 2), local, 1, rounds)


def _forgetting(diminishing: bool) -> Iterator[Point]:
    """Runs on which grad g stays bounded, with their G; beta = c/(2 sqrt(T)) or 1/(60 L E)."""
    rate = Fraction(1, 4)
    for scale, steps, step, rounds in product((Fraction(0), _HALF), (1, 3), (_HALF, Fraction(1)), (1, 4)):
        root = Fraction(1, int(np.sqrt(rounds)))
        local = rate * root / 2 if diminishing else Fraction(1, 60 * steps)
        run = Exact(on_the_line(past(scale), [[(1, 0)]], start=1, L=1), step, local, steps, rounds)
        ratio, e = 1 + scale, run.sums.entries
        # f_memory and g are multiples of x^2/2, and |x_t| never grows past x_0 = 1.
        assert all(abs(x[0]) <= 1 for kept in run.draws() for x in run.path(kept))
        Gamma = local**2 / 2 * e["S2"] - local * (1 - step) * e["memory_dot_S"]
        if diminishing:
            K = (sp.exp(sp.Rational(rate) * steps) - 1) / sp.Rational(rate)
            C = rate * ratio * K + rate**2 * K**2 / 2
        else:
            K = 60 * steps * (sp.exp(sp.Rational(1, 60)) - 1)
            C = local * ratio * K + local**2 * K**2 / 2
        values: dict[Any, Any] = {
            **of(run, *SUMS, L),
            m: scale**2,
            **of(run, alpha, beta, E),
            r: ratio,
            average.c: rate,
            average.w: root,
            average.G: 1,
            average.K: sp.sympify(K),
            average.C: sp.sympify(C),
            average.Gamma_sum: Gamma,
        }
        yield Point(values)


def paths(run: Exact) -> dict[Kept, list[Array]]:
    """x_0, ..., x_T for every memory."""
    return {kept: run.path(kept) for kept in run.draws()}


def climbing_family(local: Fraction, rounds: int) -> tuple[bool, Fraction]:
    """Whether the exact run follows the recursion of the claim and its assumptions, and the mean of Gamma(t)."""
    run = climbing(local, rounds)
    ((kept, path),) = paths(run).items()
    follows = all(x[0] == (1 + local) ** k for k, x in enumerate(path))
    for x in path:
        grad_f, memory, _ = run.gradients(x, kept)
        follows &= grad_f[0] == memory[0] == 0
    e = run.sums.entries
    return bool(follows), (local**2 / 2 * e["S2"] + local / 2 * e["memory_dot_S"]) / rounds


#: beta and T: beta = 1/(2 sqrt(T)) with Lemma 4, 1/(60 L E) with Lemma 18.
CLIMBS = {
    "cflag.lemma4": [(Fraction(1, 2 * root), root**2) for root in (2, 4, 6)],
    "cflag.lemma18": [(Fraction(1, 60), rounds) for rounds in (20, 60, 120)],
}


def _climbing_evidence(subject: Claim, seed: int, count: int) -> Iterator[Evidence]:
    for local, rounds in CLIMBS[subject.id]:
        follows, mean = climbing_family(local, rounds)
        words = "follows" if follows else "does not follow"
        least = local**4 * rounds * (2 * rounds - 3) / 12
        summary = (
            f"The exact run of the family with beta = {local}, T = {rounds} {words} its recursion and Assumptions 2 "
            f"and 3; mean of Gamma(t): {float(mean):.4g}, at least beta^4 T (2T - 3)/12 = {float(least):.4g}."
        )
        yield Evidence("property", "1", "printed", REFUTES, summary, {"mean_Gamma": str(mean), "T": rounds})


CHECKS = {
    **dict.fromkeys(("cflag.eq90", "cflag.eq151", "cflag.eq156", "cflag.eq158"), Check(points, samples)),
    "cflag.eq160": Check(lambda: (point for point in points() if claim.omega2 in point.values)),
    "cflag.eq166": Check(memory_points),
    "ours.local_sums": Check(sums_points, samples),
    "ours.forgetting_step": Check(ours_points, samples),
    "cflag.lemma4": Check(partial(_forgetting, True), further=_climbing_evidence),
    "cflag.lemma18": Check(partial(_forgetting, False), further=_climbing_evidence),
}
