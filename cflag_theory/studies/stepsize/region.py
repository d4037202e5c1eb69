"""A plane of two step sizes: where every condition turns, and where all inequalities hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import sympy as sp
from scipy.optimize import brentq

from cflag_theory.claims.c_flag.past_task.runs import T
from cflag_theory.claims.c_flag.step_sizes import CONDITIONS, OUR_CONDITIONS, Condition
from cflag_theory.claims.engine.notation import E, L, alpha, beta, m
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.errors import InvalidInput
from cflag_theory.shown import Sheet, Shown
from cflag_theory.studies.stepsize.best_rates import log_ratio, ratio_of
from cflag_theory.studies.stepsize.conditions import RELATIONS, StepSizes
from cflag_theory.studies.stepsize.evaluate import Values, as_json, needed, number
from cflag_theory.studies.stepsize.predicted import INPUTS, Theorem, c_flag_theorems

_POINTS = 81
# Least beta L E that is shown.
_TINY = 1e-6
# Beyond these a logarithmic axis cannot be drawn.
_SHOWN = (1e-200, 1e200)
TARGETS = ("ours.drawn_once", "ours.redrawn")
#: The step sizes along and up.
Axes = tuple[sp.Symbol, sp.Symbol]
Limits = tuple[float, float]
C_FLAG: Axes = (alpha, beta)


@dataclass(frozen=True)
class Boundary:
    """Where one condition turns, as a polyline."""

    #: The condition, or the theorem whose target is meant.
    name: str
    paper: str
    #: "at most" where larger step sizes fail, "at least" where smaller ones do, "equal", or "target".
    kind: str
    #: The polyline; one point where a condition fixes both.
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True, repr=False)
class Region(Shown):
    """The plane around one choice of step sizes."""

    #: What is shown along and up: a name and its meaning each.
    axes: tuple[tuple[str, str], tuple[str, str]]
    #: What it is drawn for.
    numbers: Mapping[str, float]
    #: The target, if there is one.
    epsilon: float | None
    #: What to show.
    x_range: Limits
    y_range: Limits
    boundaries: tuple[Boundary, ...]
    #: (points,) grid of the two edges.
    x: tuple[float, ...]
    #: For each x the least and the largest y at which the theorems of the answer are proved, NaN where there is none;
    #: and the answer's first sentence.
    safe: tuple[tuple[float, ...], tuple[float, ...]]
    answer: str
    #: The step sizes as given.
    point: Limits
    #: Name, x and y of the best points for the target, by each theorem.
    best: tuple[tuple[str, float, float], ...]
    #: Conditions that no step sizes meet.
    fails: tuple[str, ...]

    def sheet(self) -> Sheet:
        """The point and the best points."""
        (x, _), (y, _) = self.axes
        rows = [("the point", *self.point), *self.best]
        numbers = ", ".join(f"{name} = {value:.4g}" for name, value in self.numbers.items())
        return Sheet(f"of {x} and {y}, {numbers}", ("point", x, y), rows)

    def to_json(self) -> dict[str, Any]:
        """Plain values; an x without any y has null."""
        found: dict[str, Any] = as_json(asdict(self))
        found["safe"] = [[None if math.isnan(one) else one for one in side] for side in found["safe"]]
        return found


def region(found: StepSizes) -> Region:
    """The plane of alpha and beta around those of `found`, with the edges of its target where it has one."""
    values: dict[Any, Any] = {L: found.L, m: found.m, E: found.E, T: found.T}
    values |= {INPUTS[name][0]: one * one if name == "omega" else one for name, one in found.numbers.items()}
    best = tuple(
        (f"largest beta, {row.claim}", row.alpha, row.beta)
        for row in found.best
        if row.goal == "largest beta" and row.alpha is not None and row.beta is not None
    )
    unit, small = 1 / found.L, 1 / (found.L * found.E)
    alphas, betas = [found.alpha, *(a for _, a, _ in best)], [found.beta, *(b for _, _, b in best)]
    shown_alpha = min(*alphas, small / 30, unit / (1 + found.m)) / 3, max(*alphas, 2 * unit) * 2
    # What needs m < 1 has no boundary without it.
    lost = [row for row in found.conditions if row.condition == "m < 1" and not row.holds]
    gone = {id for row in lost for id in (*row.proved, *row.repaired)}
    moving = [
        one
        for one in CONDITIONS + OUR_CONDITIONS
        if on(one.relation, C_FLAG) and not (lost and set(one.claims) <= gone and one.paper == "ours")
    ]
    levels = [level for one in moving if (level := _level(one.relation, values, C_FLAG, small)) is not None]
    reached = [*betas, *levels, small]
    shown_beta = max(min(reached) / 3, _TINY * min(*betas, small)), max(reached) * 3
    drawable(shown_alpha, shown_beta)
    grid = grid_of(moving, values, C_FLAG, shown_alpha)
    boundaries = boundaries_of(moving, values, C_FLAG, grid, shown_alpha, shown_beta)
    if found.epsilon is not None:
        for theorem in c_flag_theorems():
            if theorem.claim in TARGETS and not needed(theorem.right) - set(values) - {alpha, beta}:
                boundaries += _target(theorem, values, found.epsilon, grid, shown_beta)
    safe = {found.answer.claim, "ours.bounded_gradients"}
    needs = [RELATIONS[name] for one in c_flag_theorems() if one.claim in safe for name in one.conditions]
    return Region(
        axes=(("alpha", "step on memory"), ("beta", "step on current data")),
        numbers={"L": found.L, "m": found.m, "E": found.E, "T": found.T},
        epsilon=found.epsilon,
        x_range=shown_alpha,
        y_range=shown_beta,
        boundaries=tuple(boundaries),
        x=tuple(grid),
        safe=edges_of(needs, values, C_FLAG, grid, shown_beta),
        answer=found.answer.words.partition(". ")[0],
        point=(found.alpha, found.beta),
        best=best,
        fails=tuple(row.condition for row in lost),
    )


def drawable(*shown: Limits) -> None:
    """Refuse what no logarithmic axis can show."""
    for low, high in shown:
        if not (_SHOWN[0] < low < high < _SHOWN[1]):
            raise InvalidInput(
                f"a plane with step sizes from {low:.3g} to {high:.3g} cannot be drawn: choose units in which they lie "
                f"between {_SHOWN[0]:.0e} and {_SHOWN[1]:.0e}, or leave out the figure"
            )


def on(relation: Relation, axes: Axes) -> frozenset[sp.Symbol]:
    """Which of the two step sizes a condition depends on."""
    return needed(relation.slack) & set(axes)


def crossing(of: Callable[[float], float], low: float, high: float) -> float | None:
    """Where a function changes its sign once between low and high, on a logarithmic scale."""
    if (of(low) > 0) == (of(high) > 0):
        return None
    return math.exp(brentq(lambda log: of(math.exp(log)), math.log(low), math.log(high)))


def _turn(relation: Relation, values: Values, moving: sp.Symbol, limits: Limits) -> float | None:
    """Where a condition turns as one step size moves between the limits."""
    return crossing(lambda x: ratio_of(relation, {**values, moving: x}), *limits)


def grid_of(conditions: Iterable[Condition], values: Values, axes: Axes, shown: Limits) -> list[float]:
    """Values along, closer together where a boundary is vertical."""
    alone = [one.relation for one in conditions if on(one.relation, axes) == {axes[0]}]
    turns = [turn for one in alone if (turn := _turn(one, values, axes[0], shown)) is not None]
    close = [turn * (1 + side * 10.0**-power) for turn in turns for side in (-1, 1) for power in (1.5, 2, 3, 5, 8, 12)]
    inside = [one for one in close if shown[0] < one < shown[1]]
    return sorted({*np.geomspace(*shown, _POINTS).tolist(), *inside})


def _level(relation: Relation, values: Values, axes: Axes, unit: float) -> float | None:
    """The height at which a condition turns that depends on nothing along."""
    if on(relation, axes) != {axes[1]}:
        return None
    return _turn(relation, values, axes[1], (1e-9 * unit, 1e3 * unit))


def boundaries_of(
    conditions: Iterable[Condition], values: Values, axes: Axes, grid: Sequence[float], along: Limits, up: Limits
) -> list[Boundary]:
    """Where each condition turns within what is shown."""
    found = (_boundary(one, values, axes, grid, along, up) for one in conditions)
    return [one for one in found if one is not None]


def _boundary(
    one: Condition, values: Values, axes: Axes, grid: Sequence[float], along: Limits, up: Limits
) -> Boundary | None:
    relation, (x, y) = one.relation, axes
    depends = on(relation, axes)
    kind = "equal" if relation.op == "==" else "at most"
    if relation.op == "==" and depends == {x, y}:
        # The larger of two distances: both vanish at one point.
        parts = [part.args[0] for part in relation.left.args]
        (fixed,) = sp.solve(parts, [x, y], dict=True)
        return Boundary(one.name, one.paper, kind, (number(fixed[x], values),), (number(fixed[y], values),))
    if len(depends) == 1:
        (moving,) = depends
        level = _turn(relation, values, moving, along if moving == x else up)
        if level is None:
            return None
        kind = _sense(kind, relation, {**values, moving: level / 2})
        return Boundary(one.name, one.paper, kind, *(((level, level), up) if moving == x else (along, (level, level))))
    wide = (up[0] * 1e-3, up[1] * 1e3)
    line = [
        (a, b) for a in grid if (b := _turn(relation, {**values, x: a}, y, wide)) is not None and up[0] <= b <= up[1]
    ]
    if not line:
        return None
    kind = _sense(kind, relation, {**values, x: line[0][0], y: line[0][1] / 2})
    return Boundary(one.name, one.paper, kind, tuple(a for a, _ in line), tuple(b for _, b in line))


def _sense(kind: str, relation: Relation, below: Values) -> str:
    return "at least" if kind != "equal" and ratio_of(relation, below) > 0 else kind


def edges_of(
    relations: Iterable[Relation], values: Values, axes: Axes, grid: Sequence[float], shown: Limits
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Least and largest height at which the inequalities hold, for each value along."""
    relations = [one for one in relations if one.op != "=="]
    x, y = axes
    bottoms, tops = [], []
    for a in grid:
        bottom, top = shown
        for relation in relations:

            def ratio(b: float, a: float = a, relation: Relation = relation) -> float:
                return ratio_of(relation, {**values, x: a, y: b})

            turn = crossing(ratio, *shown)
            if turn is None:
                bottom = math.nan if ratio(shown[0]) > 0 else bottom
            elif ratio(shown[0]) > 0:
                bottom = max(bottom, turn)
            else:
                top = min(top, turn)
        # NaN compares as false, so that a forbidden alpha stays forbidden.
        inside = bottom < top
        bottoms.append(bottom if inside else math.nan)
        tops.append(top if inside else math.nan)
    return tuple(bottoms), tuple(tops)


def _target(
    theorem: Theorem, values: Values, epsilon: float, grid: list[float], shown: tuple[float, float]
) -> list[Boundary]:
    """Below which beta the theorem gives the target, where it gives it at all."""

    def margin(a: float, b: float) -> float:
        here = {**values, alpha: a, beta: b}
        conditions = (ratio_of(RELATIONS[name], here) for name in theorem.conditions)
        return max(log_ratio(number(theorem.right, here), epsilon), *conditions)

    line: list[tuple[float, float]] = []
    for before, a in pairwise(grid):
        foot = crossing(lambda a: margin(a, shown[0]), before, a)
        if foot is not None:
            line.append((foot, shown[0]))
        edge = crossing(partial(margin, a), *shown)
        if edge is not None:
            line.append((a, edge))
    line.sort()
    if not line:
        return []
    return [Boundary(theorem.claim, "target", "target", tuple(a for a, _ in line), tuple(b for _, b in line))]
