"""How low the objective of the past task can get."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from cflag_theory.kernels.formulas import QUADRATIC
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.own.potentials import OWN
from cflag_theory.kernels.problems.problem import EXACT, LOWER_BOUND, MEASURED, STATED, Components, Constant, Problem


def lower_bound(problem: Problem) -> Constant:
    """A number that f is never below: 0 where all weights are non-negative, the minimum of a convex quadratic.

    Of a user's own functions it is what the user stated, if anything; the value is None where nothing is known.
    """
    past = problem.past
    positive = not len(past.offsets) and not (past.weights < 0).any()
    if problem.own:
        return problem.constants.get("lower", _unknown("state lower= of the problem"))
    if problem.potential in OWN:
        lower, share = OWN[problem.potential].lower, problem.p / past.counts
        if lower is None or not positive:
            return _unknown("state lower= of the potential, with weights that are not negative")
        ends = past.row_start[past.client_start].tolist()
        weight = share @ np.array([past.weights[a:b].sum() for a, b in pairwise(ends)])
        return Constant(float(lower) * float(weight), STATED, "the stated lower of the potential times the weights")
    if positive:
        return Constant(0.0, LOWER_BOUND, "no weight is negative and phi >= 0")
    least = _least_of_quadratic(problem) if problem.potential == QUADRATIC else None
    if least is None:
        return _unknown("a weight is negative or a linear term is there")
    return Constant(least, EXACT, "the minimum of a convex quadratic")


def _unknown(why: str) -> Constant:
    return Constant(None, MEASURED, f"no lower bound of f is known: {why}")


def _least_of_quadratic(problem: Problem) -> float | None:
    matrix, vector, constant = _quadratic_form(problem.past, problem.p.astype(np.float64), problem.dimension)
    values, directions = np.linalg.eigh(matrix)
    along = directions.T @ vector
    scale = max(abs(values).max(), 1e-300)
    flat = values <= 1e-12 * scale
    if (values < -1e-12 * scale).any() or (abs(along[flat]) > 1e-12 * max(abs(vector).max(), 1e-300)).any():
        return None
    return float(constant - 0.5 * (along[~flat] ** 2 / values[~flat]).sum())


def _quadratic_form(part: Components, p: Array, d: int) -> tuple[Array, Array, float]:
    """f(x) = x^T A x / 2 + b.x + c."""
    A, b, c = np.zeros((d, d)), np.zeros(d), 0.0
    for i, count in enumerate(part.counts.tolist()):
        first, stop = part.client_start[i : i + 2]
        span = slice(part.row_start[first], part.row_start[stop])
        rows, shifts, weights = part.rows[span], part.shifts[span], part.weights[span] * (p[i] / count)
        A += (rows.T * weights) @ rows
        b -= rows.T @ (weights * shifts)
        c += float((weights * shifts**2).sum()) / 2
        if len(part.offsets):
            b += p[i] / count * part.offsets[first:stop].sum(axis=0)
    return A, b, c
