"""The text around (16): exact rounds with both signs of Lambda, and the steps that two ways of rescaling make."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import isqrt

from cflag_theory.claims.c_flag.adaptive import rescaling as claim
from cflag_theory.claims.c_flag.adaptive.server import Lambda, beta_star
from cflag_theory.claims.c_flag.problem import update
from cflag_theory.claims.engine.notation import L, alpha, beta, bias_dot_sum, grad_dot_sum, m, sum2
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.adaptive.rounds import Round, random_rounds, with_gradients
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.quantities.c_flag import of

_HALF = Fraction(1, 2)


def transference_points() -> Iterator[Point]:
    """Rounds with Lambda of every sign, at several m."""
    level = Round(with_gradients([1, 0], [[0, 1]]), _HALF, _HALF)
    beyond = [Round(with_gradients([1], [[a]]), Fraction(5, 4), _HALF) for a in (1, -1)]
    slow = [Round(case.problem, case.alpha / 8, case.beta, case.local_steps) for case in random_rounds(12, 15)]
    for case in (level, *beyond, *slow):
        values = case.values()
        for bias in (_HALF, Fraction(1), Fraction(3)):
            shown = f"Lambda = {values[Lambda]}, ||S||^2 = {values[sum2]}, m = {bias}."
            for part in ("lowers", "raises"):
                yield Point(values | {m: bias}, (case.words(), shown), part)
    yield from _biased()


def _biased() -> Iterator[Point]:
    """f the mean of two linear functions, of which the memory keeps one; b and S of rational length."""
    for b, S in product(((0, 3), (0, -3), (0, 0)), ((-5, 12), (4, 3), (5, 12))):
        grad_f = (4, 0)
        products = {v: sum(Fraction(x * y) for x, y in zip(v, S, strict=True)) / 16 for v in (grad_f, b)}
        values = {
            grad_dot_sum: products[grad_f],
            bias_dot_sum: products[b],
            claim.b_norm: Fraction(abs(b[1]), 4),
            claim.S_norm: Fraction(isqrt(S[0] ** 2 + S[1] ** 2), 4),
        }
        words = (
            f"N = 1, E = 1, f = x_1 as the mean of x_1 + ({b[1]}/4) x_2 and x_1 - ({b[1]}/4) x_2, of which the memory "
            f"keeps the first (m = {Fraction(b[1], 4) ** 2}); g = ({S[0]}/4) x_1 + ({S[1]}/4) x_2."
        )
        yield Point(values, (words,), "learning")


def rescaling_points() -> Iterator[Point]:
    """One rate for both; S is a tenth of the memory's gradient, and random rounds with transference."""
    tenth = Round(with_gradients([1], [[Fraction(1, 10)]]), _HALF, _HALF)
    for drawn in (tenth, *random_rounds(12, 13)):
        case = Round(drawn.problem, drawn.alpha, drawn.alpha, drawn.local_steps)
        p, x, G, S = case.problem.p, case.problem.start, case.G, case.problem.p @ case.a
        if G @ S <= 0:
            continue
        star = (1 - case.L * case.alpha) * (G @ S) / (case.L * (S @ S))
        mean = p @ case.ends
        whole = x - star / case.alpha * (case.alpha * G + x - mean)
        values = {
            update.x: x[0],
            update.x_mean: mean[0],
            update.S: S[0],
            update.grad_f_memory: G[0],
            beta_star: star,
            **of(case, L, alpha, beta),
        }
        words = (
            f"beta* = {star}. Coordinate 1: rescaled as a whole the updates give {whole[0]}; (24) with beta* gives "
            f"{x[0] - case.alpha * G[0] - star * S[0]}."
        )
        yield Point(values, (case.words(), words))


CHECKS = {
    "cflag.sec5_transference": Check(transference_points),
    "cflag.sec5_rescaling": Check(rescaling_points),
}
