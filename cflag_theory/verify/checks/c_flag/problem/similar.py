"""Assumption 2 beside that of Ajalloeian and Stich: memories of clients that agree, and of clients that cancel."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from cflag_theory.claims.c_flag.problem import similar as claim
from cflag_theory.claims.c_flag.problem.assumptions import bias_i, grad_f_i, m_i
from cflag_theory.claims.c_flag.problem.ours.memory import m_max, spread2
from cflag_theory.claims.engine.notation import bias2, grad_f2
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.problems.objective import gradients
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.problem.memory import biases
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.witnesses.instances import described, on_the_line

_HALF = Fraction(1, 2)


def points() -> Iterator[Point]:
    """Curvatures 1 and ratio, each client the mean of 3/2 and 1/2 of its own; at ratio = -1 the gradients cancel."""
    for ratio, x, zeta in product((-1, 1, 2), (_HALF, Fraction(3), Fraction(21)), (Fraction(0), Fraction(1), 10)):
        past = [[(a * c, 0) for c in (3 * _HALF, _HALF)] for a in (1, ratio)]
        problem = on_the_line(past, [[(1, 0)]] * 2, start=x, L=3)
        grad_f_i_ = gradients(problem.potential, problem.past, problem.start)[:, 0]
        grad_f = problem.p @ grad_f_i_
        for draw in (((0,), (3,)), ((0,), (2,)), ((1,), (2,))):
            b = biases(problem, draw)
            values = {
                bias_i: abs(b[0]),
                grad_f_i: abs(grad_f_i_[0]),
                m_i: Fraction(1, 4),
                bias2: (problem.p @ b) ** 2,
                grad_f2: grad_f**2,
                m_max: Fraction(1, 4),
                spread2: problem.p @ (grad_f_i_ - grad_f) ** 2,
                claim.zeta: zeta,
            }
            yield Point(values, (f"{described(problem)}; the clients keep {draw}, counted from 0; zeta = {zeta}.",))


CHECKS = {
    "cflag.assumption2_similar": Check(
        points,
    )
}
