"""The worst case of C-FLAG's local steps (4) and (67) for an order of refreshes: Lemmas 12, 13, 15, 16, Corollary 14.

One client with n components, whose delayed gradients (5) are full at k = 0 and refresh component order[k - 1]
at k >= 1. Every component has an L-Lipschitz gradient, convex or not, and ||grad h~(x_t)|| <= 1; all is in units of
L = 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from cflag_theory.errors import InvalidInput
from cflag_theory.public import one_of, require
from cflag_theory.worstcase.certificate import Certificate, solve_and_prove
from cflag_theory.worstcase.model import Problem
from cflag_theory.worstcase.vectors import Vector, square

DRIFT, ERROR, GRADIENTS, ERRORS = QUANTITIES = ("drift", "error", "gradient_sum", "error_sum")


@dataclass(frozen=True, eq=False)
class LocalSteps:
    """The square of the quantity is at most `square`, proved in fractions; `value` is its root, in floats."""

    square: Fraction
    certificate: Certificate

    @property
    def value(self) -> float:
        """The quantity, in units of ||grad h~(x_t)||, and for "drift" of beta times that."""
        return math.sqrt(self.square)


def solve_local_steps(
    order: Sequence[int],
    *,
    n: int,
    u: Fraction,
    quantity: str = DRIFT,
    k: int | None = None,
    drift_limit: Fraction | None = None,
) -> LocalSteps:
    """The largest of a quantity over all components, proved.

    Parameters
    ----------
    order : sequence of E - 1 int
        The refreshed components at k = 1, ..., E - 1, from 0 to n - 1.
    n : int
        Components.
    u : Fraction
        beta L E, positive.
    quantity : {"drift", "error", "gradient_sum", "error_sum"}
        ||x_{t,k} - x_t||, ||e_{t,k}||, ||sum_k grad h~(x_{t,k})|| or ||sum_k e_{t,k}||.
    k : int, optional
        Local step of the first two, 1 to E - 1; the last one by default.
    drift_limit : Fraction, optional
        Assume that L ||x_{t,b} - x_t|| is at most this for 1 <= b < k, in units of the gradient, as Lemma 12 reckons.
    """
    E = len(order) + 1
    at = max(1, E - 1) if k is None else k
    require("quantity", quantity, Annotated[str, one_of(*QUANTITIES)])
    if u <= 0 or n < 1 or E < 2 or not 1 <= at < E or not all(0 <= j < n for j in order):
        raise InvalidInput(
            f"beta L E = {u}, n = {n}, order {order} and k = {at} do not go together: use E >= 2, 1 <= k < E"
        )
    step = u / E
    problem = Problem(clients=1)
    parts = [problem.function(-1) for _ in range(n)]
    gradient = problem.vector()
    # Linear terms of sum zero change neither a mean of the table nor an error, so that all components may have the same
    # gradient at x_t. Without it, and in units of beta for points and turns of gradients, numbers are near 1.
    table = [one.at(Vector(), Vector())[0] for one in parts]
    points, delayed = [Vector()], []
    for b in range(E):
        if b:
            table[order[b - 1]] = parts[order[b - 1]].gradient(points[b])
        delayed.append(_mean(table))
        points.append(points[b] - gradient - step * delayed[b])

    def full(b: int) -> Vector:
        return _mean([one.gradient(points[b]) for one in parts])

    found, scale = {
        DRIFT: lambda: (points[at], Fraction(1)),
        ERROR: lambda: (delayed[at] - full(at), step),
        GRADIENTS: lambda: (sum((gradient + step * full(b) for b in range(E)), Vector()), Fraction(1)),
        ERRORS: lambda: (sum((delayed[b] - full(b) for b in range(E)), Vector()), step),
    }[quantity]()
    problem.at_most(square(gradient), 1)
    if drift_limit is not None:
        for b in range(1, at):
            problem.at_most(square(step / drift_limit * points[b]), 1)
    problem.maximise(square(found))
    _, certificate = solve_and_prove(problem, period=E)
    return LocalSteps(certificate.bound * scale**2, certificate)


def _mean(vectors: Sequence[Vector]) -> Vector:
    return sum(vectors, Vector()) / len(vectors)
