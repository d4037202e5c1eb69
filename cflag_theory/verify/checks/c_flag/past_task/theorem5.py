"""Theorem 5 and Corollary 17: exact runs within the repairs, and the family that refutes, replayed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import sympy as sp

from cflag_theory.claims.c_flag.forgetting.average import C, c, w
from cflag_theory.claims.c_flag.past_task import runs as symbols
from cflag_theory.claims.c_flag.past_task import theorem5 as claim
from cflag_theory.claims.c_flag.past_task.ours import first_rounds
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import E, L, alpha, beta, bias2, grad_f2
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.problems.by_name import quadratic
from cflag_theory.kernels.problems.objective import gradients
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.forgetting.average import ROUNDS, past, paths
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.quantities.c_flag import SUMS, of
from cflag_theory.verify.verdict import REFUTES, Evidence
from cflag_theory.verify.witnesses.instances import on_the_line, slopes
from cflag_theory.verify.witnesses.runs import Exact

_HALF = Fraction(1, 2)


def cancelling(local: Fraction, rounds: int) -> Exact:
    """f_1 = (x_1^2 + x_2^2)/2, f_2 = -x_1^2/6 + x_2^2/2, g = (x_2 - 2)^2/2, b_i = +-grad f_i/2, alpha = 1/2, E = 1."""
    one, third = Fraction(1), Fraction(1, 3)
    clients = [np.diag([one, one]), np.diag([-third, one])]
    matrices = [scale * matrix for matrix in clients for scale in (1 + _HALF, 1 - _HALF)]
    zero = [Fraction(0), Fraction(0)]
    problem = quadratic(
        np.array(matrices),
        np.array([zero] * 4),
        [0, 0, 1, 1],
        np.array([np.diag([Fraction(0), one])] * 2),
        np.array([[Fraction(0), Fraction(2)]] * 2),
        [0, 1],
        L=one,
        p=np.array([_HALF, _HALF]),
        start=np.array([one, Fraction(0)]),
    )
    return Exact(problem, _HALF, local, 1, rounds)


def rate_points() -> Iterator[Point]:
    """Runs of T rounds with an admissible W."""
    cases = ((Fraction(0), 4, 1), (Fraction(0), 9, 2), (_HALF, 16, 1))
    rate = Fraction(1, 4)
    for (scale, rounds, W), curvature in product(cases, (-1, 1)):
        root = Fraction(1, int(np.sqrt(rounds)))
        problem = on_the_line(past(scale), [[(curvature, 1)]], start=2, L=1)
        step, local = 1 / (1 + scale**2), rate * root / 2
        run = Exact(problem, step, local, 1, rounds)
        sums = run.sums
        lowest = min(range(W + 1), key=lambda t: sums.f[t])
        grad_g = abs(slopes(problem)[1])
        drop = run.f(problem.start)
        Y = sp.exp(sp.Rational(rate)) - 1
        unit = sp.Rational(step * (1 - scale))
        value = 32 * drop * Y * (1 + scale) / (unit * (1 - scale)) + 4 * (Y * grad_g / unit) ** 2
        values: dict[Any, Any] = {
            **of(run, *SUMS, L, alpha, beta, E, bias2, grad_f2),
            symbols.t: lowest,
            symbols.root_m: scale,
            first_rounds.W: W,
            first_rounds.F: drop,
            first_rounds.size_g(0): grad_g,
            symbols.f_mean(symbols.t): sums.f[lowest],
            c: rate,
            w: root,
            claim.Y: Y,
            C: sp.sympify(value),
        }
        yield Point(values)


def calls_points() -> Iterator[Point]:
    """The number of rounds to epsilon, counted, on f = x^2/2 and g = -x with beta = 1/ceil(sqrt(T))."""

    def least(rounds: int) -> Fraction:
        problem = on_the_line(past(Fraction(0)), [[(0, 1)]], start=2, L=1)
        local = Fraction(1, 2 * (int(np.sqrt(rounds - 1)) + 1))
        return min(Exact(problem, Fraction(1), local, 1, rounds, only=((0,),)).sums.squares)

    reached = {rounds: least(rounds) for rounds in range(1, 20)}
    # min <= C_5/sqrt(T) for all these T.
    C5 = Fraction(4)
    assert all(value**2 * rounds <= C5**2 for rounds, value in reached.items())
    for eps in (Fraction(1, 4), Fraction(1, 16), Fraction(1, 60)):
        rounds = next(rounds for rounds, value in reached.items() if value <= eps)
        # One component of g and one of the past, E = 1: two gradients a round.
        cost = 2
        values: dict[Any, Any] = {
            claim.calls: cost * rounds,
            claim.cost: cost,
            claim.eps: eps,
            claim.n: rounds - 1,
            claim.before: reached[rounds - 1],
            claim.C5: C5,
            C: cost * (C5**2 + 1),
            alpha: 1,
            L: 1,
            symbols.root_m: 0,
        }
        yield Point(values)


def cancelling_family(local: Fraction, rounds: int) -> tuple[bool, Fraction]:
    """Whether exact runs keep x_1 for one memory and satisfy all assumptions with r_i = 3, and min 𝔼||grad f||^2."""
    run = cancelling(local, rounds)
    problem = run.problem
    holds = all(x[0] == 1 for x in run.path((1, 2)))
    for kept, points in paths(run).items():
        for x in points:
            grad_f, v, grad_g = run.gradients(x, kept)
            clients = gradients(problem.potential, problem.past, x)
            own = [clients[i] * (1 + _HALF if j % 2 == 0 else 1 - _HALF) for i, j in enumerate(kept)]
            holds &= bool((problem.p @ np.array(own) == v).all())
            holds &= all(u @ u <= 9 * (grad_g @ grad_g) for u in own)
            holds &= (v - grad_f) @ (v - grad_f) <= grad_f @ grad_f
    return bool(holds), min(run.sums.squares)


def _cancelling_evidence(subject: Claim, seed: int, count: int) -> Iterator[Evidence]:
    for rounds in ROUNDS:
        holds, least = cancelling_family(Fraction(1, 8 * rounds), rounds)
        words = "satisfy" if holds else "do not satisfy"
        summary = (
            f"Exact runs of the family with T = {rounds}, all four memories, {words} the closed form, Assumptions 2 "
            f"and 3 and (27) with m = 1; min_t 𝔼||grad f||^2 = {float(least):.4g} >= 1/36."
        )
        yield Evidence("property", "1", "printed", REFUTES, summary, {"least": str(least), "T": rounds})


CHECKS = {
    "cflag.thm5": Check(rate_points, further=_cancelling_evidence),
    "cflag.cor17": Check(calls_points, further=_cancelling_evidence),
}
