"""What the solver of a performance estimation problem returns, how it fails, and its instance without the solver.

The rebuilt instance does not rely on the solver: the algorithm is played again on its arrays, and whether smooth
functions pass through them is computed pair by pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cflag_theory.errors import CflagError
from cflag_theory.kernels.numbers import Array

#: How far a replayed point may be from the one at which the solver's instance knows the gradient.
NEAR = 1e-6


class Unsolved(CflagError, ArithmeticError):
    """The solver gave no trustworthy answer: use a smaller problem, milder step sizes or other solver settings."""


class Inaccurate(Unsolved):
    """The solver stopped near a solution without reaching its tolerance: ask for less, or use a smaller problem."""


class Unbounded(Unsolved):
    """The hypotheses bound nothing: add one, such as a bound on how much components differ."""


@dataclass(frozen=True, eq=False)
class Data:
    """What the solver's instance knows of one component: points, gradients and values that an L-smooth function fits.

    Attributes
    ----------
    points, gradients : (q, d) arrays
        Where the algorithm asked, and the answers.
    values : (q,) array
        Function values there.
    """

    points: Array
    gradients: Array
    values: Array


@dataclass(frozen=True)
class Residuals:
    """How well the solver's answer satisfies what it was asked, recomputed from its numbers; units of L = 1."""

    #: Largest violation of a constraint by the instance.
    constraint: float
    #: How far the Gram matrix's smallest eigenvalue is below 0.
    gram: float
    #: How far the smallest multiplier, and the smallest eigenvalue of the dual matrix, are below 0.
    multiplier: float
    dual_gram: float
    #: Largest coefficient that is left over when the multipliers combine the constraints to the bound.
    proof: float
    #: Bound minus the instance's value, of the quantity that was maximised.
    gap: float

    @property
    def largest(self) -> float:
        """The largest in absolute value."""
        return max(map(abs, (self.constraint, self.gram, self.multiplier, self.dual_gram, self.proof, self.gap)))


@dataclass(frozen=True, eq=False)
class Solution:
    """A solved problem."""

    #: The largest value by the multipliers (from above) and by the Gram matrix (from below), equal up to residuals.
    bound: float
    attained: float
    #: As the solver says it.
    status: str
    solver: str
    #: Of the packages that took part.
    versions: Mapping[str, str]
    #: What the solver was told, its tolerances among it.
    settings: Mapping[str, Any]
    #: Recomputed.
    residuals: Residuals
    #: Size of the semidefinite problem; rank of the instance's Gram matrix, counting eigenvalues above 1e-6 of the
    #: largest.
    gram_size: int
    constraints: int
    dimension: int
    #: Of setting up and solving.
    seconds: float
    #: The instance, by client and component.
    data: tuple[tuple[Data, ...], ...] = field(repr=False)
    #: Named vectors of the instance that are no component's gradients.
    extra: Mapping[str, Array] = field(repr=False)


@dataclass(frozen=True)
class Rebuilt:
    """A finite-dimensional instance, checked without the solver."""

    #: The quantity, from the algorithm played on the instance's vectors.
    value: float
    #: The most by which a hypothesis other than smoothness is exceeded; 0 up to rounding.
    excess: float
    #: The most by which the data miss being those of functions with 1-Lipschitz gradients, in units of the square of
    #: how far gradients change; 0 up to rounding.
    violation: float
    #: Of the space that the vectors span.
    dimension: int


class Arrays:
    """The solver's instance as a world: gradients are looked up at the points where it knows them."""

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        self.zero: Any = np.zeros(solution.data[0][0].points.shape[1])

    def _find(self, data: Data, x: Array) -> int:
        distances = np.linalg.norm(data.points - x, axis=1)
        nearest = int(np.argmin(distances))
        if not distances[nearest] <= NEAR * max(1.0, float(np.linalg.norm(x))):
            raise Unsolved(
                f"the replay met a point {distances[nearest]:.2g} away from all points of the solver's instance: the "
                "instance is too inaccurate, use a smaller problem"
            )
        return nearest

    def gradient(self, client: int, component: int, x: Any) -> Any:
        """The gradient at the known point that x is."""
        data = self.solution.data[client][component]
        return data.gradients[self._find(data, x)]

    def value(self, x: Any, weights: Sequence[float]) -> Any:
        """The mean over the first clients, with these weights, of the mean of their components at x."""
        return sum(
            weight / len(row) * float(data.values[self._find(data, x)])
            for weight, row in zip(weights, self.solution.data, strict=False)
            if weight != 0
            for data in row
        )

    def vector(self, name: str) -> Any:
        """The instance's value of a free vector."""
        return self.solution.extra[name]

    def dot(self, a: Any, b: Any) -> Any:
        """The inner product."""
        return float(a @ b)


def violation(data: Data) -> float:
    """The most by which f_i - f_j falls short of what every 1-smooth function with these gradients has.

    For every ordered pair the interpolation condition is f_i - f_j >= <g_i + g_j, x_i - x_j> / 2 - ||x_i - x_j||^2 / 4
    + ||g_i - g_j||^2 / 4; if all hold, some 1-smooth function passes through all of the data.
    """
    most = 0.0
    for x, g, f in zip(data.points, data.gradients, data.values, strict=True):
        for y, h, e in zip(data.points, data.gradients, data.values, strict=True):
            move, turn = x - y, g - h
            least = (g + h) @ move / 2 - move @ move / 4 + turn @ turn / 4
            most = max(most, float(least - (f - e)))
    return most
