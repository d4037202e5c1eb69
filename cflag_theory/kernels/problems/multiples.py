"""Past tasks that are a multiple of the current one, f = r g: the simplest problems with an exact r of Assumption 3."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.problems.problem import EXACT, Constant, Problem


def check_ratio(r: float, conflict: float = 0.0) -> None:
    """Refuse an r that is not a finite number from 0 on, and tasks that pull apart, for which no r exists."""
    if not (isfinite(r) and r >= 0):
        raise InvalidInput(f"r is {r}: use a finite number of at least 0")
    if conflict:
        raise InvalidInput(f"r = {r:g} needs tasks with common stationary points: add the dial conflict=0")


def with_multiple(problem: Problem, r: float) -> Problem:
    """The problem, built with past components that are r times the current ones, with r among its constants."""
    why = "f_i = r g_i for every client, so ||grad f|| = r ||grad g|| at every x; memory of all past data"
    return replace(problem, constants={**problem.constants, "r": Constant(r, EXACT, why)})
