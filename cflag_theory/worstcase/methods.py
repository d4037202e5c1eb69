"""Rows of the algorithm table as worst-case problems: what `kernels.reference` does, with vectors as unknowns.

Covered is what is linear in past gradients: full local gradients, tracking, control variates, proximal terms, momentum
and server rates, with all clients in every round.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.kernels.algorithms import CONSTANT, CONTROL, NO_PAST, PRINTED, TRACKING, Algorithm
from cflag_theory.kernels.numbers import is_integer
from cflag_theory.kernels.own.algorithms import OwnAlgorithm
from cflag_theory.worstcase.model import Function, Problem
from cflag_theory.worstcase.tracing import Traced
from cflag_theory.worstcase.vectors import Form, NotLinear, Vector, square

CONVEX, STRONGLY_CONVEX, SMOOTH = CLASSES = ("convex", "strongly-convex", "smooth")
VALUE, DISTANCE, GRADIENT, LEAST = MEASURES = ("f", "distance", "grad", "min-grad")

#: Local steps in all: 100 take minutes, and time grows with the sixth power.
MOST_STEPS = 200


@dataclass(frozen=True)
class Setting:
    """A method and the functions, as the user gives them; see `worst.worst_case`."""

    row: Algorithm
    E: int
    T: int
    eta: Fraction
    L: Fraction = Fraction(1)
    mu: Fraction = Fraction(0)
    kind: str = CONVEX
    radius: Fraction = Fraction(1)
    heterogeneity: Fraction = Fraction(1)
    measure: str = VALUE
    clients: int = 2
    #: Maximise what the measure grows by from x_0 to x_T.
    growth: bool = False

    def __post_init__(self) -> None:
        for name, value, known in (("class", self.kind, CLASSES), ("measure", self.measure, MEASURES)):
            if value not in known:
                raise UnknownName(f"{name} {value!r} is unknown: use one of {', '.join(known)}")
        for name, size in (("E", self.E), ("T", self.T), ("N", self.clients)):
            if not is_integer(size) or size < 1:
                raise InvalidInput(f"{name} is {size!r}: use a whole number of at least 1")
        if self.E * self.T > MOST_STEPS:
            raise InvalidInput(f"E T is {self.E * self.T}: use at most {MOST_STEPS} local steps in all")
        for name, number in (("eta", self.eta), ("L", self.L), ("radius", self.radius)):
            if number <= 0:
                raise InvalidInput(f"{name} is {number}: use a positive number")
        if self.heterogeneity < 0:
            raise InvalidInput(f"heterogeneity is {self.heterogeneity}: use 0 or a positive number")
        if not 0 <= self.mu < self.L or (self.mu > 0) != (self.kind == STRONGLY_CONVEX):
            raise InvalidInput(
                f"mu is {self.mu} with class {self.kind!r} and L = {self.L}: strongly convex functions take 0 < mu "
                "< L, others leave mu out"
            )
        if self.kind == SMOOTH and self.measure in (VALUE, DISTANCE):
            raise InvalidInput(
                f"measure {self.measure!r} is unbounded for smooth functions that need not be convex: use grad or "
                "min-grad"
            )
        if self.growth and (self.kind == SMOOTH or self.measure == LEAST):
            raise InvalidInput("only convex functions' f, distance and grad are asked for growth: use one of them")
        row = self.row
        if row.memory or row.adaptive != CONSTANT or row.server == PRINTED or row.past != NO_PAST:
            raise NotLinear(
                f"the worst case of {row.name!r} is not covered: it uses memory, past objectives, or rates that are "
                "adapted to the round"
            )
        if isinstance(row, OwnAlgorithm) and self.L != 1:
            raise InvalidInput(f"L is {self.L}: for steps of your own use units in which it is 1")

    @property
    def apart(self) -> bool:
        """Whether clients differ at all."""
        return self.clients > 1 and self.heterogeneity > 0

    @property
    def unit(self) -> Fraction:
        """Squared distances are solved in this unit, so that the largest bound is 1; with L = 1."""
        start, spread = self._assumed
        return max(start, spread if self.apart else Fraction(0))

    @property
    def factor(self) -> Fraction:
        """By which the solved value is multiplied."""
        return self.unit * {VALUE: self.L, DISTANCE: Fraction(1)}.get(self.measure, self.L**2)

    @property
    def bounds(self) -> tuple[Fraction, Fraction]:
        """Of the start and of the heterogeneity, squared, in these units."""
        start, spread = self._assumed
        return start / self.unit, spread / self.unit

    @property
    def _assumed(self) -> tuple[Fraction, Fraction]:
        """The bounds as squared lengths, with L = 1."""
        start = self.radius / self.L if self.kind == SMOOTH else self.radius**2
        return start, self.heterogeneity / self.L**2

    @property
    def curvature(self) -> Fraction:
        """The least curvature, with L = 1."""
        return Fraction(-1) if self.kind == SMOOTH else self.mu / self.L

    @property
    def step(self) -> Fraction:
        """eta L."""
        return self.eta * self.L

    @property
    def hypotheses(self) -> tuple[str, ...]:
        """What is assumed, in words."""
        words = {
            CONVEX: f"every f_i is convex and {self.L}-smooth",
            STRONGLY_CONVEX: f"every f_i is {self.mu}-strongly convex and {self.L}-smooth",
            SMOOTH: f"every f_i is {self.L}-smooth, convex or not",
        }[self.kind]
        if self.kind == SMOOTH:
            start = f"F(x_0) - F(x_T) <= {self.radius}"
            spread = f"the mean of ||grad f_i(x_t) - grad F(x_t)||^2 is at most {self.heterogeneity} at every x_t"
        else:
            start = f"||x_0 - x*|| <= {self.radius}"
            spread = f"the mean of ||grad f_i(x*)||^2 is at most {self.heterogeneity}"
        return (words, start, spread) if self.clients > 1 else (words, start)


def pose(setting: Setting) -> Problem:
    """The problem, in units of L = 1 and of `Setting.unit`."""
    problem, smooth = Problem(min(setting.clients, 2)), setting.kind == SMOOTH
    # Clients that do not differ at x* may still do so elsewhere.
    function = problem.function(setting.curvature)
    start, spread = setting.bounds
    x = Vector() if smooth else problem.vector(own=False)
    iterates = problem.shared = [x, *play(setting, function, x)]
    if smooth:
        for at in iterates[:-1]:
            apart = square(function.gradient(at).deviation)
            if setting.clients > 1:
                problem.at_most(apart, spread)
        problem.at_most(function.value(x) - function.value(iterates[-1]), start)
    measures = _measures(setting, function, iterates)
    if setting.growth:
        measures = [measures[0] - _measures(setting, function, iterates[:1])[0]]
    if not smooth:
        at_best = problem.minimizer(function, apart=setting.apart)
        problem.at_most(square(x), start)
        if setting.apart:
            problem.at_most(at_best, spread)
        if setting.measure == VALUE and not setting.growth:
            measures = [measures[0] - function.value(Vector())]
    problem.maximise(*measures)
    return problem


def _measures(setting: Setting, function: Function, iterates: list[Vector]) -> list[Form]:
    if setting.measure == VALUE:
        return [function.value(iterates[-1])]
    if setting.measure == DISTANCE:
        return [square(iterates[-1])]
    seen = iterates[:-1] if setting.measure == LEAST else iterates[-1:]
    return [square(function.gradient(at).averaged) for at in seen]


def play(setting: Setting, function: Function, x: Vector) -> list[Vector]:
    """x_1, ..., x_T: the loop of `kernels.reference`, for clients that use their full gradients."""
    row, step, E = setting.row, setting.step, setting.E
    own = Traced(row, x, step=step, E=E, T=setting.T) if isinstance(row, OwnAlgorithm) else None
    W, rate, gamma = (Fraction(value) for value in (row.proximal, row.server_rate, row.momentum))
    control, momentum = Vector(), Vector()
    # The row's weight is in units of the user's L.
    W = W / setting.L
    found: list[Any] = []
    for t in range(setting.T):
        at_start = function.gradient(x)
        u = Vector()
        if row.correction == TRACKING:
            u = at_start.averaged - at_start
        elif row.correction == CONTROL:
            u = control.averaged - control
        local = x
        for k in range(E):
            if own is not None and own.local is not None:
                local = own.step(function, t, k, x, local)
                continue
            direction = function.gradient(local) + W * (local - x) + u
            local = local - step * ((1 - gamma) * direction + gamma * momentum)
        if row.correction == CONTROL:
            control = control - control.averaged + (x - local) / (step * E)
        moved = (local - x).averaged
        x = own.serve(t, x, moved) if own is not None and own.server is not None else x + rate * moved
        momentum = (1 - gamma) * at_start.averaged + gamma * momentum
        found.append(x)
    return found
