"""Algorithm 3 line by line: exact rounds as printed, beside Sec. 5, Table 1 and (24)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cflag_theory.claims.c_flag.adaptive import algorithm3 as claim
from cflag_theory.claims.c_flag.problem import update
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import E, L, alpha, beta
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.numbers import Array
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.adaptive.rounds import Round, norm, random_rounds, with_gradients
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.quantities.c_flag import of
from cflag_theory.verify.verdict import REFUTES, UNDECIDED, Evidence

_HALF = Fraction(1, 2)


def _rounds(seed: int) -> list[Round]:
    """The same tasks at rest, conflicting tasks, and random rounds."""
    return [
        Round(with_gradients([Fraction(3, 2), _HALF], [[-1, 1], [2, 2]]), _HALF, Fraction(1, 4)),
        *random_rounds(8, seed),
    ]


def line2_points() -> Iterator[Point]:
    """One round of the printed update, in the first coordinate."""
    for case in _rounds(32):
        p, x = case.problem.p, case.problem.start
        mean = p @ case.ends
        end = case.simulated(server="printed").iterates
        assert end is not None
        case.agree("The printed update", bool((end[0, 1] == x - case.alpha * case.G - mean).all()))
        values = {
            update.x: x[0],
            update.x_mean: mean[0],
            update.S: (p @ case.a)[0],
            update.grad_f_memory: case.G[0],
            **of(case, alpha, beta),
        }
        yield Point(values, (case.words(), f"The printed update gives {end[0, 1, 0]} (coordinate 1)."))


def _line4(case: Round) -> Array:
    """a_i as line 4 computes it."""
    grad_g = case.problem.p @ case.grad_g_clients
    seen: Array = case.problem.start - case.local_steps * case.beta * (grad_g - case.grad_g_clients) - case.ends
    return seen


def line4_points() -> Iterator[Point]:
    """Every client of every round, in the first coordinate."""
    for case in _rounds(34):
        grad_g, seen = case.problem.p @ case.grad_g_clients, _line4(case)
        for i in range(case.problem.clients):
            values = {
                update.x: case.problem.start[0],
                claim.x_end: case.ends[i, 0],
                update.grad_g: grad_g[0],
                update.grad_g_i: case.grad_g_clients[i, 0],
                claim.a_sum: case.a[i, 0],
                **of(case, E, beta),
            }
            yield Point(values, (case.words(), f"Client {i + 1}, coordinate 1: line 4 gives {seen[i, 0]}."))


def rate_points() -> Iterator[Point]:
    """Lambda_i and ||a_i||^2 by lines 4 and 5, and by Sec. 5; lines 8 and 10 on the clients that they are for."""
    for case in _rounds(38):
        for i, seen in enumerate(_line4(case)):
            a, p = case.a[i], case.problem.p[i]
            values = {
                **of(case, L, alpha, beta, claim.N),
                claim.p_i: p,
                claim.line_a2: seen @ seen,
                claim.line_Lambda: case.G @ seen,
                claim.norm2: a @ a,
                claim.Lambda_i: case.G @ a,
                claim.memory2: case.G @ case.G,
            }
            yield Point(values, (case.words(), f"Client {i + 1}."))


def _literal_rates(case: Round) -> tuple[list[Fraction], list[Fraction]]:
    """Lines 5 to 12 as printed."""
    alphas, betas = [], []
    for p, seen in zip(case.problem.p, _line4(case), strict=True):
        product = case.G @ seen
        if product > 0:
            alphas.append(case.alpha)
            weight = case.L * case.problem.clients * p * (seen @ seen)
            betas.append((1 - case.L * case.alpha) * product / weight)
        else:
            alphas.append(case.alpha * (1 - product / (case.G @ case.G)))
            betas.append(case.beta)
    return alphas, betas


def line14_points() -> Iterator[Point]:
    """The step that lines 4 to 14 make, in the first coordinate; and the length of the repaired step."""
    for case in _rounds(44):
        p, x = case.problem.p, case.problem.start
        grad_g = p @ case.grad_g_clients
        alphas, betas = (np.array(rates, dtype=object) for rates in _literal_rates(case))
        adapted, correction = (p * betas) @ case.a, (p * betas) @ (grad_g - case.grad_g_clients)
        end = case.simulated("printed").iterates
        assert end is not None
        made = x - (p @ alphas) * case.G - case.local_steps * correction - adapted
        case.agree("The step of lines 4-14", bool((end[0, 1] == made).all()))
        values: dict[Any, Any] = {
            update.x: x[0],
            claim.alpha_mean: p @ alphas,
            update.grad_f_memory: case.G[0],
            claim.adapted: adapted[0],
            claim.correction: correction[0],
            **of(case, E, beta),
            update.total_weight: sum(p),
            update.grad_g: grad_g[0],
            update.grad_g_mean: grad_g[0],
        }
        words = f"By lines 4-12 beta_i = {', '.join(map(str, betas))}; coordinate 1."
        yield Point(values, (case.words(), words), "consistent")
        yield _repaired(case)


def _repaired(case: Round) -> Point:
    """||x_{t+1} - x_t|| with Table 1's rates, worst case."""
    end = case.simulated("worst").iterates
    assert end is not None
    products, rates = case.a @ case.G, case.rates("worst")
    inside, outside = np.flatnonzero(products <= 0), np.flatnonzero(products > 0)
    longest = max((norm(case.a[j]) for j in inside), default=0)
    values: dict[Any, Any] = {
        claim.step: norm(end[0, 1] - case.problem.start),
        claim.memory: norm(case.G),
        claim.longest: longest,
        claim.abs_q: abs(1 - case.L * case.alpha),
        claim.sign: 1 if case.L * case.alpha <= 1 else -1,
        claim.N_T: len(outside),
        claim.N_I: len(inside),
        claim.weight_I: sum(case.problem.p[j] for j in inside),
        **of(case, L, alpha, beta, claim.N),
    }
    for i in outside[:1]:
        values |= {claim.p_i: case.problem.p[i], claim.length: norm(case.a[i]), claim.Lambda_i: products[i]}
        values[claim.abs_rate] = abs(rates[i][1])
    for j in inside[:1]:
        values |= {claim.length_j: norm(case.a[j]), claim.Lambda_j: products[j], claim.alpha_j: rates[j][0]}
    return Point(values, part="bounded")


def unbounded_replay(claim_: Claim, seed: int, count: int) -> Iterator[Evidence]:
    """The family of the refutation in the exact simulation: bounded gradients, steps longer than any K."""
    step = local = _HALF
    lengths = []
    for K in (1, 10, 1000):
        epsilon = (1 - step) / (4 * local * K)
        case = Round(with_gradients([1], [[epsilon], [1]]), step, local)
        end = case.simulated("printed").iterates
        assert end is not None
        lengths.append((K, case.problem.start[0] - end[0, 1, 0]))
    right = all(length > K for K, length in lengths)
    shown = ", ".join(f"{length} > {K}" for K, length in lengths)
    yield Evidence(
        "counterexample",
        "bounded",
        "printed",
        REFUTES if right else UNDECIDED,
        f"Exact steps with all gradients at most 1: {shown}."
        if right
        else "The exact steps are not as long as claimed.",
        {"instance": ["N = 2, f_i = x^2/2, x_t = 1, g_1 = epsilon x, g_2 = x, alpha = beta = 1/2, epsilon = 1/(4 K)."]},
    )


CHECKS = {
    "cflag.alg3_line2": Check(line2_points),
    "cflag.alg3_line4": Check(line4_points),
    "cflag.alg3_line8": Check(rate_points),
    "cflag.alg3_line10": Check(rate_points),
    "cflag.alg3_line14": Check(line14_points, further=unbounded_replay),
}
