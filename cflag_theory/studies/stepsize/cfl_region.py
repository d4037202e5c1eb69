"""The plane of eta_l and eta_g at a given K: where every condition of the CFL paper and of ours turns."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from cflag_theory.claims.cfl.step_sizes import CONDITIONS, OUR_CONDITIONS
from cflag_theory.claims.cfl.symbols import eta_g, eta_l
from cflag_theory.studies.stepsize.best_rates import log_ratio, ratio_of
from cflag_theory.studies.stepsize.cfl_conditions import CFLStepSizes, applicable
from cflag_theory.studies.stepsize.cfl_predicted import RELATIONS, cfl_theorems, known_values, round_weights, sums
from cflag_theory.studies.stepsize.evaluate import Values, evaluate, met, number
from cflag_theory.studies.stepsize.predicted import Theorem
from cflag_theory.studies.stepsize.region import (
    Axes,
    Boundary,
    Limits,
    Region,
    boundaries_of,
    crossing,
    drawable,
    edges_of,
    grid_of,
    on,
)

CFL: Axes = (eta_l, eta_g)
# Least K eta_l L that is shown, and how many heights are looked at for the edges of a target.
_TINY, _HEIGHTS = 1e-6, 161


def cfl_region(found: CFLStepSizes) -> Region:
    """The plane of eta_l and eta_g around those of `found`, with the edges of its target where it has one."""
    values, unit = found.values(), 1 / (found.L * found.K)
    best = tuple(
        (f"smallest bound, {row.claim}, {row.note}", row.eta_l, row.eta_g)
        for row in found.best
        if row.goal == "smallest bound"
        and row.eta_l is not None
        and row.eta_g is not None
        # An optimum at eta_l -> 0 is not a point of the plane.
        and row.eta_l > _TINY * unit
    )
    steps = [found.eta_l, *(step for _, step, _ in best)]
    along = (min(*steps, unit / 300) / 3, max(*steps, 2 * unit) * 2)
    up = (min(found.eta_g, 0.1) / 3, max(found.eta_g, 10.0) * 3)
    drawable(along, up)
    turning, lost = [], []
    for one, row in zip(CONDITIONS + OUR_CONDITIONS, found.conditions, strict=True):
        if not on(one.relation, CFL):
            lost += [] if row.holds else [one.name]
        elif one.relation.op != "==" and _nowhere(one.relation, values, along, up):
            lost.append(one.name)
        else:
            turning.append(one)
    grid = grid_of(turning, values, CFL, along)
    boundaries = boundaries_of(turning, values, CFL, grid, along, up)
    if found.epsilon is not None:
        known = known_values(values, found.numbers)
        known |= sums(round_weights(found.numbers["D"], found.numbers["R"]), found.T)
        boundaries += [
            edge
            for one in applicable(found.bounds)
            if (edge := _target(one, known, found.epsilon, grid, up)) is not None
        ]
    offered = {(one.claim, one.name) for one in found.answer.choices if one.claim == found.answer.claim}
    safe = [
        edges_of((RELATIONS[name] for name in one.conditions if name in RELATIONS), values, CFL, grid, up)
        for one in cfl_theorems()
        if (one.claim, one.note) in offered
    ]
    nowhere = (float("nan"),) * len(grid)
    return Region(
        axes=(("eta_l", "local step size"), ("eta_g", "global step size")),
        numbers={"L": found.L, "mu": found.mu, "K": found.K, "T": found.T, "c": found.c_O, "p_t": found.p_t},
        epsilon=found.epsilon,
        x_range=along,
        y_range=up,
        boundaries=tuple(boundaries),
        x=tuple(grid),
        safe=max(safe, key=lambda edges: np.isfinite(edges).sum(), default=(nowhere, nowhere)),
        answer=found.answer.words.partition(". ")[0],
        point=(found.eta_l, found.eta_g),
        best=best,
        fails=tuple(lost),
    )


def _nowhere(relation: Any, values: Values, along: Limits, up: Limits) -> bool:
    """Whether a condition, which turns once along each axis, fails in all corners of what is shown."""
    return not any(met(relation, {**values, eta_l: x, eta_g: y}) for x in along for y in up)


def _target(theorem: Theorem, known: Values, epsilon: float, grid: list[float], up: Limits) -> Boundary | None:
    """The edge of the set in which the theorem gives the target: for every eta_l an interval of eta_g."""
    relations = [RELATIONS[name] for name in theorem.conditions if name in RELATIONS]
    heights = np.geomspace(*up, _HEIGHTS)
    plane = {**known, eta_l: np.array(grid)[:, None], eta_g: heights[None, :]}
    with np.errstate(all="ignore"):
        inside = np.broadcast_to(evaluate(theorem.right, plane) <= epsilon, (len(grid), _HEIGHTS)).copy()
    for relation in relations:
        inside &= met(relation, plane)
    lower, upper = [], []
    for a, row in zip(grid, inside, strict=True):

        def margin(b: float, a: float = a) -> float:
            here = {**known, eta_l: a, eta_g: b}
            return max(log_ratio(number(theorem.right, here), epsilon), *(ratio_of(one, here) for one in relations))

        reached = np.flatnonzero(row)
        if not len(reached):
            continue
        turns = [
            turn
            for place, (before, after) in enumerate(pairwise(row))
            if before != after and (turn := crossing(margin, heights[place], heights[place + 1])) is not None
        ]
        first, last = heights[reached[0]], heights[reached[-1]]
        lower.append((a, min([first, *turns])))
        upper.append((a, max([last, *turns])))
    if not lower:
        return None
    xs, ys = zip(*lower, *reversed(upper), lower[0], strict=True)
    return Boundary(f"{theorem.claim}, {theorem.note}", "target", "target", xs, tuple(float(y) for y in ys))
