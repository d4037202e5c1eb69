"""Bounded mean of ||grad g||^2: exact runs with memories that differ from the current data by a bounded gradient."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from cflag_theory.claims.c_flag.past_task import runs as symbols
from cflag_theory.claims.c_flag.past_task.ours import bounded_gradients as claim
from cflag_theory.claims.engine.notation import E, L, alpha, beta
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.problems.objective import values
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.quantities.c_flag import of
from cflag_theory.verify.witnesses.instances import on_the_line
from cflag_theory.verify.witnesses.runs import Exact

_HALF = Fraction(1, 2)
_SIGNS, _SPREADS = (Fraction(1), Fraction(-1)), (Fraction(0), _HALF)


def points() -> Iterator[Point]:
    """g = x^2/2 - omega x or -x^2/2 - omega x, memories +-x apart, in every corner of the range."""
    tiny = Fraction(1, 10**6)
    for curvature, spread, steps, rounds in product(_SIGNS, _SPREADS, (1, 2), (1, 3)):
        for step, local in ((Fraction(1), tiny), (_HALF, Fraction(1, 20)), (Fraction(1), Fraction(1, 4))):
            past = [[(curvature, spread), (curvature, -spread)]]
            problem = on_the_line(past, [[(curvature, 1)]], start=0, L=1)
            yield _point(Exact(problem, step, local, steps, rounds), 1 + spread)
    # Gradient descent on g itself, hardly disturbed.
    problem = on_the_line([[(1, 0)]], [[(1, 0)]], start=1, L=1)
    yield _point(Exact(problem, Fraction(1), tiny, 1, 1), Fraction(0))


def _point(run: Exact, omega: Fraction) -> Point:
    problem = run.problem
    grown = (1 + run.beta) ** run.local_steps - 1
    # g at both ends; delta = grad f_memory - grad g is constant, +-spread + 1 here.
    ends = [run.path(kept)[-1] for kept in run.draws()]
    start = (problem.p @ values(problem.potential, problem.current, problem.start)) * Fraction(1)
    last = sum((problem.p @ values(problem.potential, problem.current, x) for x in ends), Fraction(0)) / len(ends)
    gaps = [run.gradients(x, kept) for kept in run.draws() for x in run.path(kept)[:-1]]
    delta2 = sum(((v - g) @ (v - g) for _, v, g in gaps), Fraction(0)) / len(run.draws())
    found: dict[Any, Any] = {
        **of(run, symbols.T, symbols.grad_g2_sum, L, alpha, beta, E),
        claim.delta2_sum: delta2,
        claim.g_mean(0): start,
        claim.g_mean(symbols.T): last,
        claim.omega: omega,
        claim.q: grown / run.alpha,
    }
    return Point(found)


CHECKS = {
    "ours.bounded_gradients": Check(
        points,
    )
}
