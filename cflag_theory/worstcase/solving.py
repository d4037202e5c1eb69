"""Solve a worst-case problem by cutting planes, and say in one sentence what stands in the way where that fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from cflag_theory.errors import CflagError
from cflag_theory.kernels.numbers import Array
from cflag_theory.worstcase.interior import FAR, Iterate, Solved, begin, interior, widened
from cflag_theory.worstcase.model import Problem
from cflag_theory.worstcase.programme import Conditions, Points
from cflag_theory.worstcase.threads import one_thread
from cflag_theory.worstcase.vectors import Form

#: Function values up to which all pair conditions are taken at once, and times the conditions are added to at most.
_FEW, _CUTS = 12, 25
#: Of the number of conditions that may be added at once, and of the largest violation that one of them needs.
_SHARE, _NOTABLE = 0.35, 0.01
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
        Called with the value of each relaxed program; these fall to the answer.

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
    without = Problem(problem.clients, problem.means, problem.owns, problem.values, problem.functions)
    every = Form(
        {(k, k): Fraction(1) for k in range(problem.means)}, {(k, k): Fraction(1) for k in range(problem.owns)}
    )
    without.rows = [every.below(1), *(Form(row.M, row.D, row.values) for row in problem.rows)]
    without.measures = problem.measures
    found = _cut(without, 1e-8, period, None)
    return found.value > max(1e-6, 10 * found.accuracy)


def _first(problem: Problem, period: int) -> list[tuple[int, int, int]]:
    """The first conditions: neighbours, the last point (x*) to all, round starts with the two last shared ones."""
    chosen: dict[tuple[int, int, int], None] = {}
    for q, function in enumerate(problem.functions):
        count = len(function.points)
        shared = [i for i, (x, _, _) in enumerate(function.points) if not x.own]
        for i, step in product(range(count), {1, period - 1, period, period + 1} - {0}):
            if i + step < count:
                chosen[q, i, i + step] = chosen[q, i + step, i] = None
        for i in range(count):
            if i != count - 1:
                chosen[q, count - 1, i] = None
            for j in shared[-2:]:
                if i != j and (i in shared or i - 1 in shared):
                    chosen[q, i, j] = chosen[q, j, i] = None
    return list(chosen)


def _cut(problem: Problem, tolerance: float, period: int, progress: Callable[[float], None] | None) -> Solution:
    points = Points(problem)
    pairs = problem.pairs()
    active = dict.fromkeys(pairs if problem.values <= _FEW else _first(problem, period))
    early: tuple[Iterate, list[tuple[int, int, int]]] | None = None
    worst, final = 1.0, len(active) == len(pairs)
    for _ in range(_CUTS):
        which = list(active)
        rows = Conditions(points, which)
        goal = tolerance if final else max(tolerance, min(1e-4, 0.003 * worst))
        found = _solved(rows, which, goal, early)
        early = early if found.early is None else (found.early, which)
        values = np.zeros(problem.values + 1)
        values[rows.free] = found.values
        if progress is not None:
            progress(found.value)
        worst, new = 0.0, []
        for q in range(len(problem.functions)):
            left = points.violations(q, found.grams, values)
            worst = max(worst, float(left.max()))
            new += [
                (left[i, j], (q, int(i), int(j)))
                for i, j in zip(*np.nonzero(left > max(1e-9, tolerance)), strict=True)
                if (q, int(i), int(j)) not in active
            ]
        if found.unbounded or (not new and (final or goal == tolerance)) or (worst < tolerance and final):
            break
        # The last programs are solved as accurately as the answer is wanted.
        final = not new or worst < 30 * tolerance
        new.sort(reverse=True)
        room = max(30, int(len(which) * _SHARE))
        active |= dict.fromkeys(pair for size, pair in new[:room] if size > _NOTABLE * new[0][0])
    accuracy = np.inf if found.unbounded else max(found.accuracy, worst)
    return Solution(
        found.value,
        found.dual,
        which,
        found.multipliers,
        found.grams,
        values[:-1],
        accuracy,
    )


def _solved(
    rows: Conditions,
    which: list[tuple[int, int, int]],
    goal: float,
    early: tuple[Iterate, list[tuple[int, int, int]]] | None,
) -> Solved:
    if early is not None:
        iterate, old = early
        known = dict(zip(old, iterate.y, strict=False))
        multipliers = np.array([*(known.get(one, 0.0) for one in which), *iterate.y[len(old) :]])
        found = interior(rows, goal, widened(rows, iterate, multipliers))
        if found.accuracy <= 1e-5 or found.unbounded:
            return found
    return interior(rows, goal, begin(rows))
