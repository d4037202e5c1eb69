"""A plane of two step sizes: where all inequalities hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import sympy as sp

from cflag_theory.claims.c_flag.past_task.runs import T
from cflag_theory.claims.engine.notation import E, L, alpha, beta, m
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.errors import InvalidInput
from cflag_theory.shown import Sheet, Shown
from cflag_theory.studies.stepsize.best_rates import last_before_change, ratio_of
from cflag_theory.studies.stepsize.conditions import RELATIONS, StepSizes
from cflag_theory.studies.stepsize.evaluate import Values, as_json, needed
from cflag_theory.studies.stepsize.predicted import INPUTS, c_flag_theorems

_POINTS = 81
# Least beta L E that is shown.
_TINY = 1e-6
# Beyond these a logarithmic axis cannot be drawn.
_SHOWN = (1e-200, 1e200)
#: The step sizes along and up.
Axes = tuple[sp.Symbol, sp.Symbol]
Limits = tuple[float, float]
C_FLAG: Axes = (alpha, beta)


@dataclass(frozen=True, repr=False)
class Region(Shown):
    """The plane around one choice of step sizes."""

    #: What is shown along and up: a name and its meaning each.
    axes: tuple[tuple[str, str], tuple[str, str]]
    #: What it is drawn for.
    numbers: Mapping[str, float]
    #: What to show.
    x_range: Limits
    y_range: Limits
    #: (points,) grid of the two edges.
    x: tuple[float, ...]
    #: For each x the least and the largest y at which the theorems of the answer are proved, NaN where there is none;
    #: and the answer's first sentence.
    safe: tuple[tuple[float, ...], tuple[float, ...]]
    answer: str
    #: The step sizes as given.
    point: Limits

    def sheet(self) -> Sheet:
        """The point, and up to where the other step size is safe at it."""
        (x, _), (y, _) = self.axes
        edge = [top for at, top in zip(self.x, self.safe[1], strict=True) if at <= self.point[0]]
        rows = [("the point", *self.point), ("safe up to", self.point[0], edge[-1] if edge else math.nan)]
        numbers = ", ".join(f"{name} = {value:.4g}" for name, value in self.numbers.items())
        return Sheet(f"of {x} and {y}, {numbers}", ("point", x, y), rows)

    def to_json(self) -> dict[str, Any]:
        """Plain values; an x without any y has null."""
        found: dict[str, Any] = as_json(asdict(self))
        found["safe"] = [[None if math.isnan(one) else one for one in side] for side in found["safe"]]
        return found


def region(found: StepSizes) -> Region:
    """The plane of alpha and beta around those of `found`, and where its answer's theorems are proved."""
    values: dict[Any, Any] = {L: found.L, m: found.m, E: found.E, T: found.T}
    values |= {INPUTS[name][0]: one * one if name == "omega" else one for name, one in found.numbers.items()}
    safe = {found.answer.claim, "ours.bounded_gradients"}
    needs = [RELATIONS[name] for one in c_flag_theorems() if one.claim in safe for name in one.conditions]
    unit, small = 1 / found.L, 1 / (found.L * found.E)
    shown_alpha = min(found.alpha, small / 30, unit / (1 + found.m)) / 3, max(found.alpha, 2 * unit) * 2
    levels = [level for one in needs if (level := _level(one, values, C_FLAG, small)) is not None]
    reached = [found.beta, *levels, small]
    shown_beta = max(min(reached) / 30, _TINY * min(found.beta, small)), max(reached) * 3
    drawable(shown_alpha, shown_beta)
    grid = grid_of(needs, values, C_FLAG, shown_alpha)
    return Region(
        axes=(("alpha", "step on memory"), ("beta", "step on current data")),
        numbers={"L": found.L, "m": found.m, "E": found.E, "T": found.T},
        x_range=shown_alpha,
        y_range=shown_beta,
        x=tuple(grid),
        safe=edges_of(needs, values, C_FLAG, grid, shown_beta),
        answer=found.answer.words.partition(". ")[0],
        point=(found.alpha, found.beta),
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
    return last_before_change(of, low, high)


def _turn(relation: Relation, values: Values, moving: sp.Symbol, limits: Limits) -> float | None:
    """Where a condition turns as one step size moves between the limits."""
    return crossing(lambda x: ratio_of(relation, {**values, moving: x}), *limits)


def grid_of(relations: Iterable[Relation], values: Values, axes: Axes, shown: Limits) -> list[float]:
    """Values along, closer together where a boundary is vertical."""
    alone = [one for one in relations if on(one, axes) == {axes[0]}]
    turns = [turn for one in alone if (turn := _turn(one, values, axes[0], shown)) is not None]
    close = [turn * (1 + side * 10.0**-power) for turn in turns for side in (-1, 1) for power in (1.5, 2, 3, 5, 8, 12)]
    inside = [one for one in close if shown[0] < one < shown[1]]
    return sorted({*np.geomspace(*shown, _POINTS).tolist(), *inside})


def _level(relation: Relation, values: Values, axes: Axes, unit: float) -> float | None:
    """The height at which a condition turns that depends on nothing along."""
    if on(relation, axes) != {axes[1]}:
        return None
    return _turn(relation, values, axes[1], (1e-9 * unit, 1e3 * unit))


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
