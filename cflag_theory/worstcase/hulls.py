"""Explicit functions through given data.

The convex 1-smooth function min over weights a of ||x - sum_j a_j z_j||^2 / 2 + sum_j a_j h_j with z_j = x_j - g_j and
h_j = f_j - ||g_j||^2 / 2 has the values f_j and gradients g_j at x_j whenever any such function has; it is convex and
1-smooth whatever the data are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cflag_theory.kernels.numbers import Array

#: Eigenvalues of a Gram matrix below this share of the largest are taken for 0.
_RANK = 1e-13
#: Steps of the search for the weights, and how far their optimality conditions may fail.
_STEPS, _OPTIMAL = 10_000, 1e-14


@dataclass(frozen=True, eq=False)
class WorstFunction:
    """A client's function: hull of the data's parabolas, plus mu/2 ||x||^2, plus <tilt, x>.

    Attributes
    ----------
    z : (points, d), h : (points,)
        As above, for the function without its mu/2 ||x||^2 and in units of smoothness L = `bend`.
    """

    z: Array
    h: Array
    bend: float
    mu: float
    tilt: Array = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def through(cls, x: Array, g: Array, f: Array, mu: float) -> WorstFunction:
        """The function with curvature in [mu, 1] that has values f and gradients g at the rows of x."""
        bend, turned = 1 - mu, g - mu * x
        values = f - mu / 2 * (x**2).sum(1)
        return cls(x - turned / bend, values - (turned**2).sum(1) / (2 * bend), bend, mu, np.zeros(x.shape[1]))

    def tilted(self, tilt: Array) -> WorstFunction:
        """With another linear term."""
        return WorstFunction(self.z, self.h, self.bend, self.mu, self.tilt + tilt)

    def value(self, x: Array) -> float:
        """f_i(x)."""
        a, away = self._nearest(x)
        found = self.bend / 2 * away @ away + a @ self.h + self.mu / 2 * x @ x + self.tilt @ x
        return float(found)

    def gradient(self, x: Array) -> Array:
        """grad f_i(x)."""
        _, away = self._nearest(x)
        return np.asarray(self.bend * away + self.mu * x + self.tilt)

    def proximal(self, x: Array, step: float) -> Array:
        """argmin f_i(y) + ||y - x||^2 / (2 step)."""
        pull = 1 / step + self.mu
        centre = (x / step - self.tilt) / pull
        # The best y for given weights a lies between the centre and a z.
        _, away = self._nearest(centre, self.bend * pull / (self.bend + pull))
        return np.asarray(centre - self.bend / (self.bend + pull) * away)

    def _nearest(self, x: Array, bend: float | None = None) -> tuple[Array, Array]:
        """The a >= 0 of sum 1 with the least bend/2 ||x - a z||^2 + a.h, by an active-set method; and x - a z."""
        d, L = self.z - x, self.bend if bend is None else bend
        gram = L * d @ d.T
        costs = np.diag(gram) / 2 + self.h
        support = [int(np.argmin(costs))]
        a = np.zeros(len(d))
        a[support] = 1.0
        ridge = 1e-15 * max(1.0, float(np.abs(gram).max()))
        for _ in range(_STEPS):
            slope = gram @ a + self.h
            best = int(np.argmin(slope))
            if slope[best] >= slope @ a - _OPTIMAL * max(1.0, float(np.abs(slope).max())) or best in support:
                break
            support.append(best)
            while True:
                size = len(support)
                K = np.ones((size + 1, size + 1))
                K[:size, :size] = gram[np.ix_(support, support)] + ridge * np.eye(size)
                K[size, size] = 0.0
                wanted = np.linalg.solve(K, np.append(-self.h[support], 1.0))[:size]
                if (wanted >= 0).all():
                    a[support] = wanted
                    break
                now = a[support]
                falling = wanted < now
                shares = np.full(size, np.inf)
                shares[falling] = now[falling] / (now[falling] - wanted[falling])
                shares[wanted >= 0] = np.inf
                first = int(np.argmin(shares))
                a[support] = now + shares[first] * (wanted - now)
                a[support[first]] = 0.0
                del support[first]
        a = np.maximum(a, 0.0)
        a /= a.sum()
        return a, -a @ d


@dataclass(frozen=True, eq=False)
class Clients:
    """A function of every client, or one for all of them, at points (clients, d)."""

    of: Sequence[WorstFunction]

    def _each(self, call: Callable[[WorstFunction, Array], Any], x: Array) -> list[Any]:
        if len(self.of) == len(x):
            return [call(one, row) for one, row in zip(self.of, x, strict=True)]
        return [call(self.of[0], x[0])] * len(x)

    def gradient(self, x: Array) -> Array:
        return np.array(self._each(WorstFunction.gradient, x))

    def each(self, x: Array) -> Array:
        """The clients' values."""
        return np.array(self._each(WorstFunction.value, x))

    def value(self, x: Array) -> float:
        return float(self.each(x).mean())

    def proximal(self, x: Array, step: float) -> Array:
        return np.array(self._each(lambda one, row: one.proximal(row, step), x))


def root(gram: Array) -> Array:
    """R with R R' = gram, of full column rank."""
    if not len(gram):
        return np.zeros((0, 0))
    sizes, vectors = np.linalg.eigh(gram)
    kept = sizes > _RANK * max(1.0, float(sizes[-1]))
    return np.asarray(vectors[:, kept] * np.sqrt(sizes[kept]))
