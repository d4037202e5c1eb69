"""Worst functions: explicit ones that pass through a solution's data, and the simulator's run on them.

The convex 1-smooth function min over weights a of ||x - sum_j a_j z_j||^2 / 2 + sum_j a_j h_j with z_j = x_j - g_j and
h_j = f_j - ||g_j||^2 / 2 has the values f_j and gradients g_j at x_j whenever any such function has; it is convex and
1-smooth whatever the data are. So the run's value is one that functions of the class really have: no solver is trusted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.own.algorithms import OwnAlgorithm
from cflag_theory.kernels.own.problems import finite_sum
from cflag_theory.kernels.simulation import simulate
from cflag_theory.worstcase.methods import DISTANCE, LEAST, SMOOTH, VALUE, Setting
from cflag_theory.worstcase.model import Problem
from cflag_theory.worstcase.programme import Points
from cflag_theory.worstcase.solving import NotConverged, Solution
from cflag_theory.worstcase.vectors import NotLinear

#: Eigenvalues of a Gram matrix below this share of the largest are taken for 0.
_RANK = 1e-13
#: How far hypotheses may be exceeded before other clients are tried.
_CLOSE = 1e-5
#: How far a run may be from its trace; the solver's gradients are right to about the root of its tolerance.
_SAME = 5e-3
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

    def _nearest(self, x: Array) -> tuple[Array, Array]:
        """The a >= 0 of sum 1 with the least bend/2 ||x - a z||^2 + a.h, by an active-set method; and x - a z."""
        d, L = self.z - x, self.bend
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


def _value(x: Array, function: WorstFunction) -> float:
    return function.value(x)


def _gradient(x: Array, function: WorstFunction) -> Array:
    return function.gradient(x)


@dataclass(frozen=True, eq=False)
class Attained:
    """A run of the simulator on worst functions, in the user's units.

    Attributes
    ----------
    value : float
        The measure, after the instance was scaled to keep the hypotheses exactly.
    functions : tuple of WorstFunction
        Of the clients, in units of L = 1.
    iterates : (T + 1, d)
        x_0, ..., x_T, in the same units; x* is 0.
    scale : float
        By which squared lengths were divided.
    """

    value: float
    functions: tuple[WorstFunction, ...]
    iterates: Array
    scale: float

    @cached_property
    def dimension(self) -> int:
        """d."""
        return int(self.iterates.shape[1])


def functions_of(problem: Problem, solution: Solution, share: float = 1.0) -> tuple[tuple[WorstFunction, ...], Array]:
    """Functions of one client, or of two that deviate by d and -d in dimensions of their own; and x_0.

    With a share below 1 they deviate by that share of d.
    """
    points = Points(problem)
    (function,) = problem.functions
    roots = [_root(gram) for gram in solution.grams]
    values = solution.values[points.values[0]]
    mu = float(function.mu)

    def placed(parts: list[Array], sign: float) -> Array:
        return np.concatenate([parts[0] @ roots[0], sign * parts[1] @ roots[1]], axis=1)

    found = [
        WorstFunction.through(placed(points.x[0], sign), placed(points.g[0], sign), values, mu)
        for sign in ((share, -share) if problem.clients > 1 else (1.0,))
    ]
    start = np.zeros(found[0].z.shape[1])
    for k, value in problem.shared[0].mean.items():
        start[: roots[0].shape[1]] += float(value) * roots[0][k]
    return tuple(found), start


def _root(gram: Array) -> Array:
    if not len(gram):
        return np.zeros((0, 0))
    sizes, vectors = np.linalg.eigh(gram)
    kept = sizes > _RANK * max(1.0, float(sizes[-1]))
    return np.asarray(vectors[:, kept] * np.sqrt(sizes[kept]))


def attain(setting: Setting, problem: Problem, solution: Solution) -> Attained:
    """Run the row in the simulator's plain loop on the solution's functions, and measure.

    Where the solver's clients differ by more than they may, as when radius and heterogeneity are far apart, clients
    that differ less are tried too.
    """
    found = _attain(setting, problem, solution, 1.0)
    if found.scale > 1 + _CLOSE and setting.clients > 1:
        others = (_attain(setting, problem, solution, share) for share in (found.scale**-0.5, 0.0))
        found = max(found, *others, key=lambda one: one.value)
    return found


def _attain(setting: Setting, problem: Problem, solution: Solution, share: float) -> Attained:
    functions, start = functions_of(problem, solution, share)
    if setting.kind != SMOOTH:
        # x* = 0 minimises F exactly, and not up to the solver's tolerance.
        rest = np.mean([one.gradient(np.zeros(len(start))) for one in functions], axis=0)
        functions = tuple(one.tilted(-rest) for one in functions)
    iterates = run(setting, functions, start)
    value, scale = measured(setting, functions, iterates)
    if share == 1 and isinstance(setting.row, OwnAlgorithm):
        _require_same(problem, solution, iterates)
    return Attained(value, functions, iterates, scale)


def _require_same(problem: Problem, solution: Solution, iterates: Array) -> None:
    """Raise where a user's steps have gone elsewhere than their trace: they draw, write into x, or look at numbers."""
    root = _root(solution.grams[0])
    traced = np.zeros_like(iterates)
    for row, point in zip(traced, problem.shared, strict=True):
        for k, value in point.mean.items():
            row[: root.shape[1]] += float(value) * root[k]
    away = float(np.abs(iterates - traced).max())
    if away > _SAME * max(1.0, float(np.abs(traced).max())):
        raise NotLinear(
            f"on the worst functions the steps end {away:.2g} away from where they were traced: they draw at "
            "random, write into a vector, or look at numbers"
        )


def run(setting: Setting, functions: tuple[WorstFunction, ...], start: Array) -> Array:
    """x_0, ..., x_T of the row on these functions, in units of L = 1."""
    data = [[one] for one in functions]
    problem = finite_sum((_value, _gradient), past=data, current=data, start=start, L=1.0, L_component=1.0)
    row = replace(setting.row, proximal=Fraction(setting.row.proximal) / setting.L)
    trace = simulate(
        problem,
        row,
        beta=float(setting.step),
        local_steps=setting.E,
        rounds=setting.T,
        engine="reference",
        diagnostics="none",
        iterates=True,
        throw=False,
    )
    assert trace.iterates is not None
    if trace.iterates.shape[1] != setting.T + 1:
        raise NotConverged("the run on the worst functions left the range of numbers: take smaller steps")
    return np.asarray(trace.iterates[0])


def measured(setting: Setting, functions: tuple[WorstFunction, ...], iterates: Array) -> tuple[float, float]:
    """The measure in the user's units, and by what squared lengths were divided so that the hypotheses hold.

    With s^2 f_i(x / s) for f_i a run is s times as long; hypotheses and measures are squares of lengths.
    """
    start, spread = map(float, setting.bounds)
    zero = np.zeros_like(iterates[0])
    if setting.kind == SMOOTH:
        scale = (_mean(functions, iterates[0]) - _mean(functions, iterates[-1])) / start
        apart = [_gradients(functions, x)[1] for x in iterates[:-1]]
    else:
        scale, apart = float(iterates[0] @ iterates[0]) / start, [_gradients(functions, zero)[1]]
    if setting.clients > 1:
        over = max(apart)
        if spread > 0:
            scale = max(scale, over / spread)
        elif over > 1e-24:
            raise NotConverged("the worst functions differ where the hypotheses say that they do not")
    value = min(_at(setting, functions, x) for x in (iterates[:-1] if setting.measure == LEAST else iterates[-1:]))
    if setting.growth:
        value -= _at(setting, functions, iterates[0])
    return value / scale * float(setting.factor), scale


def along(setting: Setting, attained: Attained) -> list[float]:
    """The measure after each round, in the user's units."""
    unit = float(setting.factor) / attained.scale
    return [unit * _at(setting, attained.functions, x) for x in attained.iterates]


def slices(functions: tuple[WorstFunction, ...], iterates: Array) -> dict[str, Any]:
    """The functions along client 1's gradient at x*, and from x* to x_0, for a picture; in units of L = 1."""
    zero, start = np.zeros_like(iterates[0]), iterates[0]
    pull = functions[0].gradient(zero)
    found: dict[str, Any] = {}
    for name, way in (("apart", pull if np.linalg.norm(pull) > 1e-6 else iterates[-1] - start), ("start", start)):
        length = max(float(np.linalg.norm(way)), 1e-9)
        at = np.linspace(-1.2, 1.2, 61) * max(length, float(np.linalg.norm(start)))
        each = [[one.value(s * way / length) - one.value(zero) for s in at] for one in functions]
        mean = np.mean(each, axis=0)
        found[name] = {"at": at.tolist(), "clients": each, "mean": mean.tolist()}
    return found


def _mean(functions: tuple[WorstFunction, ...], x: Array) -> float:
    return sum(one.value(x) for one in functions) / len(functions)


def _gradients(functions: tuple[WorstFunction, ...], x: Array) -> tuple[Array, float]:
    """The mean gradient, and the mean square of what the clients' differ from it."""
    each = np.array([one.gradient(x) for one in functions])
    mean = each.mean(0)
    return mean, float(((each - mean) ** 2).sum() / len(each))


def _at(setting: Setting, functions: tuple[WorstFunction, ...], x: Array) -> float:
    """The measure at a point, in units of L = 1."""
    if setting.measure == VALUE:
        return _mean(functions, x) - _mean(functions, np.zeros_like(x))
    if setting.measure == DISTANCE:
        return float(x @ x)
    mean, _ = _gradients(functions, x)
    return float(mean @ mean)
