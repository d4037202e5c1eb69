"""Exact worst cases beside the papers' conditions: the largest and the best step, and the plane of two step sizes.

C-FLAG: without memory and with full gradients it is gradient tracking. CFL: with one task it is FedAvg. Losses are
convex and L-smooth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from cflag_theory.claims.cfl.symbols import eta_g, eta_l
from cflag_theory.claims.engine.notation import E as E_symbol
from cflag_theory.claims.engine.notation import L as L_symbol
from cflag_theory.claims.engine.notation import alpha, beta, m
from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.own.algorithms import algorithm
from cflag_theory.shown import Sheet, Shown
from cflag_theory.studies.stepsize.cfl_conditions import CFLStepSizes
from cflag_theory.studies.stepsize.cfl_predicted import RELATIONS as CFL_RELATIONS
from cflag_theory.studies.stepsize.conditions import RELATIONS, StepSizes
from cflag_theory.studies.stepsize.region import Limits, edges_of, grid_of
from cflag_theory.studies.stepsize.safe import PRINTED_ETA
from cflag_theory.worstcase.methods import DISTANCE, VALUE, Setting, pose
from cflag_theory.worstcase.model import Problem
from cflag_theory.worstcase.solving import Unbounded, solve
from cflag_theory.worstcase.steps import best_step, largest_step
from cflag_theory.worstcase.threads import one_thread
from cflag_theory.worstcase.vectors import Vector, square
from cflag_theory.worstcase.worst import worst_case

#: Local steps, and local steps in all, that are solved in seconds.
MOST_STEPS, MOST_IN_ALL = 20, 50
_POINTS, _HALVINGS, _NONE = 25, 12, 1e-6
#: Curvatures of quadratics that are tried first.
_CURVES = (1.0, 0.5, 0.2, 0.1, 0.05)
#: What the papers ask of their two step sizes where lemmas on local steps hold.
_ASKED = ("alpha < 2/(L(1+m))", "beta <= 1/(4LE)")


@dataclass(frozen=True)
class SharpStep:
    """The largest step, between two ends, and the best one, of one paper's method without memory."""

    step: str
    words: str
    largest: tuple[float, float | None]
    best: float | None
    value: float | None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return dict(vars(self))


def sharp_step(found: StepSizes | CFLStepSizes) -> SharpStep:
    """The largest step with which a round never makes things worse, and the one with the least worst case after T.

    C-FLAG: F(x_{t+1}) <= F(x_t). CFL, without drifts: ||w_{t+1} - w*|| <= ||w_t - w*||.
    """
    c_flag = isinstance(found, StepSizes)
    steps = found.E if isinstance(found, StepSizes) else found.K
    name, step = ("fedtrack", "beta") if c_flag else ("fedavg", "eta_l")
    L, T = Fraction(repr(found.L)), found.T
    _few(steps)
    end = largest_step(name, E=steps, L=L, measure=VALUE if c_flag else DISTANCE)
    best = value = None
    if steps * T <= MOST_IN_ALL:
        spread = Fraction(0) if c_flag else Fraction(repr(found.numbers.get("G", 0.0)))
        setting = best_step(Setting(algorithm(name), steps, T, Fraction(1), L, heterogeneity=spread**2))
        best = float(setting.eta)
        value = float(worst_case(name, E=steps, T=T, eta=setting.eta, L=L, heterogeneity=spread**2).upper)
    words = "gradient tracking, convex g: g never grows" if c_flag else "FedAvg without drifts: never away from w*"
    return SharpStep(step, words, (float(end.lower), None if end.upper is None else float(end.upper)), best, value)


def _few(steps: int) -> None:
    if steps > MOST_STEPS:
        raise InvalidInput(f"{steps} local steps take minutes to solve: use at most {MOST_STEPS}, or leave out --sharp")


@dataclass(frozen=True, repr=False)
class SharpPlane(Shown):
    """Along and up two step sizes: the paper's conditions hold up to `paper`, the statement is true up to `true`.

    Both are places along and the height at each, NaN where there is none. Below `true` a round was solved not to move
    away; above, some functions make it.
    """

    axes: tuple[tuple[str, str], tuple[str, str]]
    numbers: Mapping[str, float]
    statement: str
    asked: str
    paper: tuple[tuple[float, ...], tuple[float, ...]]
    true: tuple[tuple[float, ...], tuple[float, ...]]
    y_range: Limits
    point: Limits

    def to_json(self) -> dict[str, Any]:
        """Plain values; a height that there is not is null."""
        curves = {"paper": self.paper, "true": self.true}
        shown = {name: [x, [None if math.isnan(at) else at for at in y]] for name, (x, y) in curves.items()}
        return dict(vars(self)) | shown

    def sheet(self) -> Sheet:
        """The two heights at some places."""
        (x, _), (y, _) = self.axes
        rows = [*zip(*self.true, strict=True)][:: max(1, len(self.true[0]) // 6)]
        return Sheet(f"{self.statement}: {y} up to which it holds", (x, "true up to"), rows)


def sharp_plane(found: StepSizes | CFLStepSizes) -> SharpPlane:
    """Where a round never moves away from a point that minimises all losses, and what the paper asks."""
    if isinstance(found, StepSizes):
        _few(found.E)
        unit = 1 / found.L
        up = (1e-2 * unit / found.E, 10 * unit / found.E)
        x = tuple(np.geomspace(1e-2 * unit, 3 * unit, _POINTS).tolist())
        values = {L_symbol: found.L, m: found.m, E_symbol: found.E}
        relations = [RELATIONS[name] for name in _ASKED]
        away = partial(_c_flag_away, found.E, found.L)
        axes = ((alpha, "step on memory"), (beta, "step on current data"))
        numbers: dict[str, float] = {"L": found.L, "m": found.m, "E": found.E}
        point, asked = (found.alpha, found.beta), " and ".join(_ASKED)
    else:
        _few(found.K)
        unit = 1 / found.L
        up = (1e-2, 1e2)
        x = tuple(np.geomspace(1e-2 * unit / found.K, 3 * unit, _POINTS).tolist())
        values, relations = found.values(), [CFL_RELATIONS[PRINTED_ETA]]
        away = partial(_fedavg_away, found.K, found.L)
        axes = ((eta_l, "local step size"), (eta_g, "global step size"))
        numbers = {"L": found.L, "K": found.K, "c": found.c_O}
        point, asked = (found.eta_l, found.eta_g), PRINTED_ETA
    symbols = (axes[0][0], axes[1][0])
    grid = tuple(grid_of(relations, values, symbols, (x[0], x[-1])))
    with one_thread():
        heights = {at: _height(partial(away, at), up) for at in x}
        inside = max(at for at in x if not math.isnan(heights[at]))
        if inside < x[-1]:
            # The edge is vertical where even the lowest height moves away.
            edge = _height(lambda at: away(at, up[0]), (inside, x[x.index(inside) + 1]))
            top = _height(partial(away, edge), up)
            heights |= {edge: up[0] if math.isnan(top) else top, edge * (1 + 1e-9): math.nan}
    return SharpPlane(
        tuple((str(name), words) for name, words in axes),  # type: ignore[arg-type]
        numbers,
        "A round never moves away from a common minimiser of convex losses",
        asked,
        (grid, edges_of(relations, values, symbols, grid, up)[1]),
        (tuple(sorted(heights)), tuple(heights[at] for at in sorted(heights))),
        up,
        point,
    )


def _height(away: Callable[[float], bool], up: Limits) -> float:
    """The largest height at which nothing moves away, by bisection."""
    low, high = map(math.log, up)
    if away(up[0]):
        return math.nan
    if not away(up[1]):
        return up[1]
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if away(math.exp(middle)) else (middle, high)
    return math.exp(low)


def _grows(problem: Problem, period: int) -> bool:
    try:
        return solve(problem, _NONE / 10, period=period).value > 1 + _NONE
    except Unbounded:
        return True


def _fedavg_away(K: int, L: float, local: float, server: float) -> bool:
    # Where quadratics, all alike, move away, nothing need be solved.
    if any(abs(1 - server * (1 - (1 - local * L * c) ** K)) > 1 + _NONE for c in _CURVES):
        return True
    row = algorithm("fedavg", server_rate=Fraction(f"{server:.6g}"))
    step = Fraction(f"{local * L:.6g}")
    return _grows(pose(Setting(row, K, 1, step, heterogeneity=Fraction(0), measure=DISTANCE)), K)


def _c_flag_away(E: int, L: float, on_memory: float, on_current: float) -> bool:
    """Round (24) with the whole past kept, f and g convex with one minimiser, and full local gradients."""
    ways = [(a * on_memory * L, b * on_current * L) for a in (0, 1) for b in _CURVES]
    if any(abs((1 - b) ** E - a) > 1 + _NONE for a, b in [*ways, (on_memory * L, 0.0)]):
        return True
    problem = Problem()
    g, f = problem.function(), problem.function(clients=False)
    step = Fraction(f"{on_current * L:.6g}")
    x = problem.vector(own=False)
    at_start, local = g.gradient(x), x
    for _ in range(E):
        local = local - step * (g.gradient(local) - at_start + at_start.averaged)
    end = local.averaged - Fraction(f"{on_memory * L:.6g}") * f.gradient(x)
    problem.at_most(square(x), 1)
    for one in (g, f):
        one.at(Vector(), Vector())
    problem.maximise(square(end))
    return _grows(problem, E)
