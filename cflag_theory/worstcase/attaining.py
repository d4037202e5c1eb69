"""Worst functions, through a solution's data, and the run of the method on them.

They are of the class whatever the data are, so that the run's value is one that functions of the class really have: no
solver is trusted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.own.algorithms import OwnAlgorithm
from cflag_theory.kernels.own.problems import finite_sum
from cflag_theory.kernels.simulation import simulate
from cflag_theory.worstcase.hulls import Clients, WorstFunction, root
from cflag_theory.worstcase.methods import DISTANCE, LEAST, SMOOTH, VALUE, Setting, pose
from cflag_theory.worstcase.model import Problem
from cflag_theory.worstcase.playing import Method, Mix, World
from cflag_theory.worstcase.programme import Points
from cflag_theory.worstcase.solving import NotConverged, Solution, solve
from cflag_theory.worstcase.vectors import NotLinear, Vector

#: How far hypotheses may be exceeded before other clients are tried.
_CLOSE = 1e-5
#: How far a run may be from its trace; the solver's gradients are right to about the root of its tolerance.
_SAME = 5e-3
#: By which shares the bound on the ratio of gradients is made smaller, in turn.
_LESS = tuple(Fraction(1, 10**digits) for digits in (8, 7, 6, 5, 4))


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
        Of the clients, in units of L = 1: their first functions, their second ones, ..., and last that of the memory.
    iterates : (T + 1, d)
        x_0, ..., x_T, in the same units; x* is 0.
    scale : float
        By which squared lengths were divided.
    biases : (T, d)
        Of the memory; they are shortened where they are longer than they may be.
    """

    value: float
    functions: tuple[WorstFunction, ...]
    iterates: Array
    scale: float
    biases: Array

    @cached_property
    def dimension(self) -> int:
        """d."""
        return int(self.iterates.shape[1])


def functions_of(
    problem: Problem, solution: Solution, share: float = 1.0
) -> tuple[tuple[WorstFunction, ...], Array, Array]:
    """Functions of one client, or of two that deviate by d and -d in dimensions of their own; x_0 and the biases.

    With a share below 1 they deviate by that share of d.
    """
    points = Points(problem)
    roots = [root(gram) for gram in solution.grams]
    found = []
    for q, function in enumerate(problem.functions):
        apart = problem.clients > 1 and function.clients
        for sign in (share, -share) if apart else (1.0,):
            x, g = (
                np.concatenate([parts[0] @ roots[0], sign * parts[1] @ roots[1]], axis=1)
                for parts in (points.x[q], points.g[q])
            )
            found.append(WorstFunction.through(x, g, solution.values[points.values[q]], float(function.mu)))
    start, *biases = (_placed(vector, roots) for vector in (problem.shared[0], *problem.biases))
    return tuple(found), start, np.array(biases).reshape(len(biases), len(start))


def _placed(shared: Vector, roots: Sequence[Array]) -> Array:
    """A vector that all clients share."""
    found = np.zeros(sum(root.shape[1] for root in roots))
    for k, value in shared.mean.items():
        found[: roots[0].shape[1]] += float(value) * roots[0][k]
    return found


def attain(setting: Setting, problem: Problem, solution: Solution) -> Attained:
    """Run the row on the solution's functions, in the simulator's plain loop where it has the row, and measure.

    Where the solver's clients differ by more than they may, as when radius and heterogeneity are far apart, clients
    that differ less are tried too.
    """
    if setting.row.memory:
        return _within_ratio(setting, problem, solution)
    found = _attain(setting, problem, solution, 1.0)
    if found.scale > 1 + _CLOSE and setting.clients > 1:
        others = (_attain(setting, problem, solution, share) for share in (found.scale**-0.5, 0.0))
        found = max(found, *others, key=lambda one: one.value)
    return found


def _within_ratio(setting: Setting, problem: Problem, solution: Solution) -> Attained:
    """As `attain`, with worst functions for a ratio that is a little smaller where the solver's exceed it."""
    for less in _LESS:
        with suppress(NotConverged):
            return _attain(setting, problem, solution, 1.0)
        problem = pose(replace(setting, ratio=setting.ratio * (1 - less)))
        solution = solve(problem, period=setting.E)
    return _attain(setting, problem, solution, 1.0)


def _attain(setting: Setting, problem: Problem, solution: Solution, share: float) -> Attained:
    functions, start, biases = functions_of(problem, solution, share)
    if setting.kind != SMOOTH:
        # x* = 0 minimises the objective exactly, and not up to the solver's tolerance.
        zero = np.zeros((_number(setting, functions), len(start)))
        rest = world_of(setting, functions, biases).objective.gradient(zero).mean(0)
        functions = tuple(one.tilted(-rest) for one in functions)
    iterates, ends = run(setting, functions, start, biases)
    require_ratio(setting, functions, biases, iterates)
    value, scale = measured(setting, functions, iterates, ends)
    if share == 1 and isinstance(setting.row, OwnAlgorithm):
        _require_same(problem, solution, iterates)
    return Attained(value, functions, iterates, scale, biases)


def _require_same(problem: Problem, solution: Solution, iterates: Array) -> None:
    """Raise where a user's steps have gone elsewhere than their trace: they draw, write into x, or look at numbers."""
    roots = [root(gram) for gram in solution.grams]
    traced = np.array([_placed(point, roots) for point in problem.shared])
    away = float(np.abs(iterates - traced).max())
    if away > _SAME * max(1.0, float(np.abs(traced).max())):
        raise NotLinear(
            f"on the worst functions the steps end {away:.2g} away from where they were traced: they draw at "
            "random, write into a vector, or look at numbers"
        )


def _number(setting: Setting, functions: Sequence[WorstFunction]) -> int:
    """Of clients that these are the functions of: two stand for any number."""
    return (len(functions) - setting.row.memory) // setting.functions


def world_of(setting: Setting, functions: Sequence[WorstFunction], biases: Array | None = None) -> World:
    """The world of these functions; a bias is at most as long as it may be."""
    clients = _number(setting, functions)
    each = [Clients(functions[clients * q : clients * (q + 1)]) for q in range(setting.functions)]
    past = Clients(functions[-1:]) if setting.row.memory else None

    def bias(t: int, at: Array) -> Array:
        found = np.zeros_like(at) if biases is None or not len(biases) else np.broadcast_to(biases[t], at.shape)
        length, allowed = np.linalg.norm(found[0]), math.sqrt(setting.bias) * np.linalg.norm(at[0])
        return np.asarray(found * (allowed / length)) if length > allowed else found

    return setting.world(each, past, bias, float)


def run(
    setting: Setting, functions: tuple[WorstFunction, ...], start: Array, biases: Array | None = None
) -> tuple[Array, Array]:
    """x_0, ..., x_T of the row on these functions, in units of L = 1, and the clients' own ends (clients, d)."""
    row, clients = setting.row, _number(setting, functions)
    if isinstance(row, Method) or row.memory or setting.functions > 1 or setting.drawn > 0:
        world = world_of(setting, functions, biases)
        iterates, ends = setting.play(world, np.broadcast_to(start, (clients, len(start))))
        return np.array([start, *(x[0] for x in iterates)]), ends
    data = [[one] for one in functions]
    problem = finite_sum((_value, _gradient), past=data, current=data, start=start, L=1.0, L_component=1.0)
    row = replace(row, proximal=Fraction(row.proximal) / setting.L)
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
    found = np.asarray(trace.iterates[0])
    return found, found[-1:]


def require_ratio(setting: Setting, functions: tuple[WorstFunction, ...], biases: Array, iterates: Array) -> None:
    """Raise where the clients' gradients are too long for those of the memory."""
    world = world_of(setting, functions, biases)
    if world.past is None:
        return
    for mix, x in zip(world.rounds, iterates[:-1], strict=True):
        at = np.broadcast_to(x, (_number(setting, functions), len(x)))
        g, f = mix.gradient(at), world.past.gradient(at)[0]
        if float((g**2).sum() / len(g)) > float(f @ f) * float(setting.ratio) ** 2:
            raise NotConverged("the gradients of the worst functions are too long for those of the memory")


def measured(
    setting: Setting, functions: tuple[WorstFunction, ...], iterates: Array, ends: Array
) -> tuple[float, float]:
    """The measure in the user's units, and by what squared lengths were divided so that the hypotheses hold.

    With s^2 f_i(x / s) for f_i a run is s times as long; hypotheses and measures are squares of lengths.
    """
    start, spread = map(float, setting.bounds)
    world, clients = world_of(setting, functions), _number(setting, functions)
    at = [np.broadcast_to(x, (clients, len(x))) for x in iterates]
    if setting.kind == SMOOTH:
        scale = (world.objective.value(at[0]) - world.objective.value(at[-1])) / start
        apart = [_spread(mix, x) for mix, x in zip(world.rounds, at[:-1], strict=True)]
    else:
        scale = float(iterates[0] @ iterates[0]) / start
        objective, zero = world.objective, np.zeros_like(at[0])
        apart = [
            float(w) * float((one.gradient(zero) ** 2).sum() / clients)
            for w, one in zip(objective.weights, objective.functions, strict=True)
        ]
        apart = [sum(apart)]
    if (setting.clients > 1 or setting.functions > 1) and not setting.row.memory:
        over = max(apart)
        if spread > 0:
            scale = max(scale, over / spread)
        elif over > 1e-24:
            raise NotConverged("the worst functions differ where the hypotheses say that they do not")
    if setting.measure == DISTANCE:
        mean = ends.mean(0)
        value = float(mean @ mean + float(setting.drawn) * ((ends - mean) ** 2).sum() / len(ends))
    else:
        value = min(_at(setting, world, x) for x in (at[:-1] if setting.measure == LEAST else at[-1:]))
    if setting.growth:
        value -= _at(setting, world, at[0])
    return value / scale * float(setting.factor), scale


def along(setting: Setting, attained: Attained) -> list[float]:
    """The measure after each round, in the user's units."""
    unit = float(setting.factor) / attained.scale
    world, clients = world_of(setting, attained.functions), _number(setting, attained.functions)
    return [unit * _at(setting, world, np.broadcast_to(x, (clients, len(x)))) for x in attained.iterates]


def slices(setting: Setting, functions: tuple[WorstFunction, ...], iterates: Array) -> dict[str, Any]:
    """The functions along client 1's gradient at x*, and from x* to x_0, for a picture; in units of L = 1."""
    objective, zero = world_of(setting, functions).objective, np.zeros((_number(setting, functions), iterates.shape[1]))
    pull, start = objective.gradient(zero)[0], iterates[0]
    found: dict[str, Any] = {}
    for name, way in (("apart", pull if np.linalg.norm(pull) > 1e-6 else iterates[-1] - start), ("start", start)):
        length = max(float(np.linalg.norm(way)), 1e-9)
        at = np.linspace(-1.2, 1.2, 61) * max(length, float(np.linalg.norm(start)))
        each = np.array([objective.each(zero + s * way / length) - objective.each(zero) for s in at]).T
        found[name] = {"at": at.tolist(), "clients": each.tolist(), "mean": each.mean(0).tolist()}
    return found


def _spread(mix: Mix, x: Array) -> float:
    """The mean square of what the clients' gradients differ from their mean."""
    each = mix.gradient(x)
    return float(((each - each.mean(0)) ** 2).sum() / len(each))


def _at(setting: Setting, world: World, x: Array) -> float:
    """The measure at a point of all clients, in units of L = 1."""
    if setting.measure == VALUE:
        return float(world.objective.value(x) - world.objective.value(np.zeros_like(x)))
    if setting.measure == DISTANCE:
        return float(x[0] @ x[0])
    mean = world.objective.gradient(x).mean(0)
    return float(mean @ mean)
