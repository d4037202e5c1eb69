"""Theorem 2: exact expectations over every draw of the memory."""

from __future__ import annotations

from collections.abc import Iterator

from cflag_theory.claims.engine.notation import L, alpha, beta, m
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.quantities.c_flag import SUMS, of
from cflag_theory.verify.witnesses.instances import on_the_line
from cflag_theory.verify.witnesses.runs import Exact


def scaled(scale: Fraction, push: Fraction, *, start: Fraction = Fraction(1)) -> Exact:
    """f = x^2/2 as the mean of (1 + scale) x^2/2 and (1 - scale) x^2/2, g = -push x, alpha = 1/(1 + m).

    A memory of one component has b = +-scale grad f, so m = scale^2; beta = alpha, E = 1, T = 2.
    """
    problem = on_the_line([[(1 + scale, 0), (1 - scale, 0)]], [[(0, push)]], start=start, L=1)
    step = 1 / (1 + scale**2)
    return Exact(problem, step, step, 1, 2)


def point(run: Exact, bias: Fraction, *, part: str) -> Point:
    """The run averaged over its draws, as values of Theorem 2's symbols."""
    return Point({**of(run, L), m: bias, **of(run, alpha, beta, *SUMS)}, (run.words,), part)


def _with(run: Exact, *, rounds: int, redraw: bool) -> Exact:
    return Exact(run.problem, run.alpha, run.beta, run.local_steps, rounds, redraw)


def points() -> Iterator[Point]:
    """A memory that is drawn once, the same drawn anew, and clients whose biases do not cancel."""
    half = Fraction(1, 2)
    for scale, push in ((half, Fraction(1)), (Fraction(1, 3), Fraction(1)), (Fraction(0), Fraction(1)), (half, -half)):
        run = scaled(scale, push)
        for rounds, redraw in ((2, False), (3, False), (1, False), (2, True), (3, True)):
            # Drawn once, the run counts for the other two parts where a plant drops their hypothesis.
            for part in ("1", "anew", "2"):
                yield point(_with(run, rounds=rounds, redraw=redraw), scale**2, part=part)
    # Gradients cancel in grad f at 0, biases do not: ||b_i||^2 = (1/4) ||grad f_i||^2 everywhere.
    problem = on_the_line(
        [[(3 * half, 3 * half), (half, half)], [(3 * half, -3 * half), (half, -half)]], [[(0, 1)]] * 2, start=0, L=1
    )
    for bias in (Fraction(0), Fraction(3)):
        step = 1 / (1 + bias)
        yield point(Exact(problem, step, step / 4, 1, 1), bias, part="2")


CHECKS = {
    "cflag.thm2": Check(
        points,
    )
}
