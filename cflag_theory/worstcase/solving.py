"""Solve a worst-case problem by cutting planes, and say in one sentence what stands in the way where that fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np

from cflag_theory.errors import CflagError
from cflag_theory.kernels.numbers import Array
from cflag_theory.worstcase.interior import FAR, Solved, begin, interior, widened
from cflag_theory.worstcase.model import Problem
from cflag_theory.worstcase.programme import Conditions, Points
from cflag_theory.worstcase.threads import one_thread
from cflag_theory.worstcase.vectors import Form

#: Function values up to which all pair conditions are taken at once, and times the conditions are added to at most.
_FEW, _CUTS = 12, 25
#: Of the number of conditions that may be added at once, and of the largest violation that one of them needs.
_SHARE, _NOTABLE = 0.35, 0.01
#: Gap at which the first conditions are looked over, by which it falls from one look to the next, and times the goal
#: beyond which an iterate is given up.
_COARSE, _FINER, _JAMMED = 0.05, 0.1, 1e3
#: Residuals and gap, relative to numbers near 1, above which an answer is none; the certificate decides about others.
_TRUSTED = 1e-3
#: Sums of squared lengths beyond this have no bound.
_LONG = 1e4


class Unsolved(CflagError, ArithmeticError):
    """No answer came of a worst-case problem: the message says why and what to change."""


class Unbounded(Unsolved):
    """The hypotheses bound nothing: add one, such as a bound on how much the clients differ, or take smaller steps."""


class NoInterior(Unsolved):
    """The multipliers have no interior: something free is bounded by nothing, though the measure may be."""


class NotConverged(Unsolved):
    """The solver stopped before its tolerance: take fewer rounds or local steps, or numbers closer to 1."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The solver's answer, which proves nothing by itself."""

    value: float
    dual: float
    #: Conditions that were used, and their multipliers; rows and measures follow.
    pairs: list[tuple[int, int, int]]
    multipliers: Array
    #: M and D, and function values.
    grams: list[Array]
    values: Array
    #: The largest of gap, residuals and violations of conditions that were not used.
    accuracy: float


def solve(
    problem: Problem, tolerance: float = 1e-7, *, period: int = 1, progress: Callable[[float], None] | None = None
) -> Solution:
    """The largest value of the problem, in floats.

    Parameters
    ----------
    problem : Problem
        In units in which its bounds are near 1.
    tolerance : float
        Of the gap, relative to 1 + value, and a tenth of that of the residuals.
    period : int
        After how many points the functions' points repeat: E of a method with E local steps. The first conditions are
        those between neighbours and between neighbouring rounds.
    progress : callable, optional
        Called with the value of each relaxed program; they come near to the answer.

    Raises
    ------
    Unbounded, NoInterior, NotConverged
        There is no answer.
    """
    with one_thread():
        found = _cut(problem, tolerance, period, progress)
        if not found.accuracy <= _TRUSTED * max(1.0, abs(found.value)):
            raise refusal(problem, found, period)
    return found


def refusal(problem: Problem, found: Solution, period: int = 1) -> Unsolved:
    """Why this answer is none, or proves nothing."""
    told = f"stopped between {found.value:.6g} and {found.dual:.6g} with residuals {found.accuracy:.0e}"
    if _recedes(problem, period):
        # Solvers often only fail on such problems.
        return Unbounded(
            f"the worst case is unbounded, or more than {FAR:.0e} times what is assumed: bound how much the clients "
            "differ, or take smaller steps"
        )
    if max(float(np.trace(gram)) for gram in found.grams) > _LONG:
        return NoInterior(
            f"the solver {told}, since something that is free has no bound and the multipliers no interior: bound it, "
            "such as the distance to x*"
        )
    return NotConverged(
        f"the solver {told}: take fewer rounds or local steps, or steps, a radius and heterogeneity nearer to 1"
    )


def _recedes(problem: Problem, period: int) -> bool:
    """Whether a measure can grow while all that is assumed keeps its bound 0, among vectors whose squares sum to 1."""
    M, D, *others = ({(k, k): Fraction(1) for k in range(size)} for size in problem.sizes)
    every = Form(M, D, others=tuple(others))
    without = replace(problem, rows=[every.below(1), *(row.below(row.constant) for row in problem.rows)])
    found = _cut(without, 1e-8, period, None)
    return found.value > max(1e-6, 10 * found.accuracy)


def _first(problem: Problem, period: int) -> list[tuple[int, int, int]]:
    """The first conditions: neighbours in both directions, the last point (x*) to all, round starts with x_T."""
    chosen: dict[tuple[int, int, int], None] = {}
    for q, function in enumerate(problem.functions):
        count = len(function.points)
        shared = [i for i, (x, _, _) in enumerate(function.points) if not x.own]
        both = [(i, i + step) for i, step in product(range(count), {1, period - 1, period} - {0}) if i + step < count]
        both += [(i, j) for i in shared for j in shared[-2:-1] if i != j]
        for i, j in both:
            chosen[q, i, j] = chosen[q, j, i] = None
        chosen |= dict.fromkeys((q, count - 1, i) for i in range(count - 1))
    return list(chosen)


def _cut(problem: Problem, tolerance: float, period: int, progress: Callable[[float], None] | None) -> Solution:
    """Conditions that are violated are added while the gap falls, so that an iterate is never far from the next one."""
    points = Points(problem)
    pairs = problem.pairs()
    few = problem.values <= _FEW or not pairs
    active = dict.fromkeys(pairs if few else _first(problem, period))
    goal = tolerance if few else max(tolerance, _COARSE)
    kept: list[tuple[Solved, list[tuple[int, int, int]]]] = []
    worst = 0.0
    for _ in range(_CUTS):
        which = list(active)
        rows = Conditions(points, which)
        # An iterate at a gap below the violations is too near to the boundary to go on from.
        while len(kept) > 1 and kept[-1][0].gap < worst:
            kept.pop()
        if kept:
            last, old = kept[-1]
            place = {pair: k for k, pair in enumerate(which)}
            at = np.array([*(place[pair] for pair in old), *range(len(which), len(rows.b))])
            found = interior(rows, goal, widened(rows, last.iterate, at))
            if found.accuracy > _JAMMED * goal and not found.unbounded:
                found = min(found, interior(rows, goal, begin(rows)), key=lambda one: one.accuracy)
        else:
            found = interior(rows, goal, begin(rows))
        kept.append((found, which))
        values = np.zeros(problem.values + 1)
        values[rows.free] = found.iterate.v
        if progress is not None:
            progress(found.dual)
        worst, new = 0.0, []
        for q in range(len(problem.functions)):
            left = points.violations(q, found.iterate.X, values)
            worst = max(worst, float(left.max()))
            new += [
                (left[i, j], (q, int(i), int(j)))
                for i, j in zip(*np.nonzero(left > max(1e-9, tolerance)), strict=True)
                if (q, int(i), int(j)) not in active
            ]
        if found.unbounded or (goal == tolerance and not new):
            break
        goal = max(tolerance, goal * _FINER)
        new.sort(reverse=True)
        room = max(30, int(len(which) * _SHARE))
        active |= dict.fromkeys(pair for size, pair in new[:room] if size > _NOTABLE * new[0][0])
    return _solution(rows, which, found, values, worst)


def restricted(problem: Problem, pairs: list[tuple[int, int, int]], tolerance: float = 1e-8) -> Solution:
    """As `solve`, with these pair conditions alone."""
    rows = Conditions(Points(problem), pairs)
    found = interior(rows, tolerance, begin(rows))
    return _solution(rows, pairs, found, np.zeros(problem.values + 1), 0.0)


def _solution(
    rows: Conditions, which: list[tuple[int, int, int]], found: Solved, values: Array, worst: float
) -> Solution:
    accuracy = np.inf if found.unbounded else max(found.accuracy, worst)
    multipliers = found.iterate.y * rows.scale
    return Solution(found.value, found.dual, which, multipliers, found.iterate.X, values[:-1], accuracy)
