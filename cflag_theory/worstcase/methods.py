"""A method and hypotheses as a worst-case problem, with vectors as unknowns that `playing` plays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import cycle
from numbers import Rational
from typing import Annotated, Any

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.algorithms import CONSTANT, DELAYED, EXACT, NO_PAST, PRINTED, Algorithm
from cflag_theory.kernels.own.algorithms import OwnAlgorithm
from cflag_theory.public import Count, Rule, at_least, one_of, require_fields
from cflag_theory.worstcase.model import Problem
from cflag_theory.worstcase.playing import Method, Mix, World, play
from cflag_theory.worstcase.vectors import Form, NotLinear, Vector, square

CONVEX, STRONGLY_CONVEX, SMOOTH = CLASSES = ("convex", "strongly-convex", "smooth")
VALUE, DISTANCE, GRADIENT, LEAST = MEASURES = ("f", "distance", "grad", "min-grad")

#: Local steps in all: 100 take minutes, and time grows with the sixth power.
MOST_STEPS = 200
#: Numbers of a setting are far from where floats end: they are squared, and divided by.
_FAR = 10**100


def _in_reach(value: Any) -> bool:
    return isinstance(value, Rational) and (value == 0 or 1 <= abs(Fraction(value)) * _FAR <= _FAR**2)


_POSITIVE = Rule(lambda value: _in_reach(value) and value > 0, "units in which it is positive, from 1e-100 to 1e100")
_NOT_NEGATIVE = Rule(lambda value: _in_reach(value) and value >= 0, f"{_POSITIVE.wanted}, or 0")
_NUMBER = Rule(_in_reach, "units in which it is 0 or from 1e-100 to 1e100")


@dataclass(frozen=True)
class Setting:
    """A method and the functions, as the user gives them; see `worst.worst_case`."""

    row: Algorithm
    E: Count
    T: Count
    eta: Annotated[Fraction, _POSITIVE]
    L: Annotated[Fraction, _POSITIVE] = Fraction(1)
    mu: Annotated[Fraction, _NOT_NEGATIVE] = Fraction(0)
    kind: Annotated[str, one_of(*CLASSES, called="class")] = CONVEX
    radius: Annotated[Fraction, _POSITIVE] = Fraction(1)
    heterogeneity: Annotated[Fraction, _NOT_NEGATIVE] = Fraction(1)
    measure: Annotated[str, one_of(*MEASURES)] = VALUE
    clients: Annotated[int, at_least(1)._replace(called="N")] = 2
    #: Maximise what the measure grows by from x_0 to x_T.
    growth: bool = False
    #: S clients of N, drawn in a round; None: all.
    participants: Annotated[int, at_least(1)._replace(called="S")] | None = None
    #: Components of a client, and which is refreshed at k = 1, ..., E - 1; default: in turn.
    components: Annotated[int, at_least(1)._replace(called="n")] = 1
    order: tuple[int, ...] = ()
    #: Of C-FLAG's memory: alpha, default 1 / (L (1 + bias)); ||b_t||^2 <= bias ||grad f(x_t)||^2; and the mean of
    #: ||grad g_i(x_t)||^2 is at most ratio^2 ||grad f(x_t)||^2.
    alpha: Annotated[Fraction, _NUMBER] | None = None
    bias: Annotated[Fraction, _NOT_NEGATIVE._replace(called="m")] = Fraction(0)
    ratio: Annotated[Fraction, _NOT_NEGATIVE._replace(called="r")] = Fraction(1)

    def __post_init__(self) -> None:
        require_fields(self)
        if self.E * self.T > MOST_STEPS:
            raise InvalidInput(f"E T is {self.E * self.T}: use at most {MOST_STEPS} local steps in all")
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
        if self.order == () and self.components > 1:
            object.__setattr__(self, "order", tuple(k % self.components for k in range(self.E - 1)))
        self._check_row()

    def _check_row(self) -> None:
        row = self.row
        if (
            row.adaptive != CONSTANT
            or row.server == PRINTED
            or row.past not in (NO_PAST, EXACT)
            or row.information_loss
        ):
            raise NotLinear(
                f"the worst case of {row.name!r} is not covered: it uses models of past objectives, or rates that are "
                "adapted to the round"
            )
        if isinstance(row, OwnAlgorithm) and row.memory:
            raise NotLinear(f"the worst case of {row.name!r} is not covered: a server of your own takes no memory here")
        if isinstance(row, OwnAlgorithm) and self.L != 1:
            raise InvalidInput(f"L is {self.L}: for steps of your own use units in which it is 1")
        if self.bias > 0 and not row.memory:
            raise InvalidInput(f"{row.name!r} has no memory: leave out its bias")
        if (row.memory or self.components > 1) and self.kind != SMOOTH:
            raise InvalidInput("memory and components are covered for class 'smooth' and min-grad or grad: use these")
        if row.past != NO_PAST and (self.kind == SMOOTH or not row.weights.exact):
            raise InvalidInput("past objectives are covered for convex functions and weights that are fractions")
        if self.components > 1 and row.estimator != DELAYED:
            raise InvalidInput(f"{row.name!r} takes full gradients: components are for c_flag and fedtrack")
        if (
            row.estimator == DELAYED
            and self.components > 1
            and (len(self.order) != self.E - 1 or not all(0 <= j < self.components for j in self.order))
        ):
            raise InvalidInput(f"order is {self.order}: give E - 1 = {self.E - 1} components from 0 on")
        if isinstance(row, Method) and row.implicit and (row.correction != "none" or row.past != NO_PAST):
            raise InvalidInput("proximal steps go with no correction and no past: leave it out")
        S = self.participants
        if S is not None and self.clients < S:
            raise InvalidInput(f"S is {S!r}: use a whole number from 1 to N = {self.clients}")
        one_round = self.T == 1 and self.measure == DISTANCE and not isinstance(row, OwnAlgorithm)
        if (self.drawn > 0 and not (one_round or self.families)) or (self.growth and S is not None):
            raise NotLinear(
                "where only some clients take part, covered are the expected distance after one round, and for S = 1 "
                "of fedavg, local_gd and fedprox the distance after two rounds and f after one, with heterogeneity"
            )

    @property
    def families(self) -> bool:
        """Whether it is a problem of `drawing`."""
        plain = type(self.row) is Algorithm and self.row.correction == "none" and self.row.momentum == 0
        plain = plain and self.row.past == NO_PAST and not self.row.memory and self.components == 1
        last = 2 if self.measure == DISTANCE else 1 if self.measure == VALUE else 0
        several = self.T > 1 or self.measure == VALUE
        few = self.participants == 1 and self.clients > 1 and several and last >= self.T
        return few and plain and self.kind != SMOOTH and self.heterogeneity > 0

    @property
    def drawn(self) -> Fraction:
        """What the clients' deviations add to E ||x_1||^2: S of N are drawn without replacement."""
        S, N = self.participants, self.clients
        return Fraction(0) if S is None or N == 1 else Fraction(N - S, S * (N - 1))

    @property
    def functions(self) -> int:
        """Functions of a client: its components, or its objectives of all rounds."""
        return self.T if self.row.past != NO_PAST else self.components

    def weights(self, t: int) -> tuple[Fraction, ...]:
        """Of these functions in round t, from 0 on."""
        if self.row.past == NO_PAST:
            return (Fraction(1, self.components),) * self.components
        found = self.row.weights if self.row.window is None else replace(self.row.weights, window=self.row.window)
        return tuple(map(Fraction, found.at(t + 1)))

    def world(self, functions: list[Any], past: Any, bias: Any, number: Callable[[Any], Any] = Fraction) -> World:
        """Of unknown functions, or of explicit ones with floats as weights."""
        weights = [[number(one) for one in self.weights(t)] for t in range(self.T)]
        rounds = [Mix(some, functions[: len(some)]) for some in weights]
        return World(rounds, None if past is None else Mix((1,), (past,)), bias)

    def play(self, world: World, x: Any) -> tuple[list[Any], Any]:
        """The rounds in it, from x; with L = 1."""
        alpha = 1 / (1 + self.bias) if self.alpha is None else self.alpha * self.L
        row = replace(self.row, proximal=Fraction(self.row.proximal) / self.L)
        order = self.order or (0,) * (self.E - 1)
        return play(row, world, x, step=self.step, alpha=alpha, E=self.E, T=self.T, order=order)

    @property
    def apart(self) -> bool:
        """Whether clients, or a client's objectives of several rounds, differ at all."""
        return (self.clients > 1 or self.row.past != NO_PAST) and self.heterogeneity > 0

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
            if self.row.memory:
                start = f"f(x_0) - f(x_T) <= {self.radius}"
                return (
                    words,
                    start,
                    f"the mean of ||grad g_i(x_t)||^2 is at most {self.ratio**2} ||grad f(x_t)||^2",
                    f"||b_t||^2 <= {self.bias} ||grad f(x_t)||^2",
                )
            spread = f"the mean of ||grad f_i(x_t) - grad F(x_t)||^2 is at most {self.heterogeneity} at every x_t"
        else:
            start = f"||x_0 - x*|| <= {self.radius}"
            spread = f"the mean of ||grad f_i(x*)||^2 is at most {self.heterogeneity}"
            if self.row.past != NO_PAST:
                spread += ", over clients and, with the weights of the last round, the objectives of all rounds"
        return (words, start, spread) if self.clients > 1 else (words, start)


def pose(setting: Setting) -> Problem:
    """The problem, in units of L = 1 and of `Setting.unit`."""
    problem, smooth = Problem(min(setting.clients, 2)), setting.kind == SMOOTH
    functions = [problem.function(setting.curvature) for _ in range(setting.functions)]
    past = problem.function(setting.curvature, clients=False) if setting.row.memory else None

    def bias(t: int, at: Vector) -> Vector:
        if setting.bias == 0:
            return Vector()
        found = problem.vector(own=False)
        problem.at_most(square(found) - setting.bias * square(at), name=f"the bias at x_{t}")
        problem.biases.append(found)
        return found

    world = setting.world(functions, past, bias)
    start, spread = setting.bounds
    x = Vector() if smooth else problem.vector(own=False)
    if smooth and setting.components > 1:
        # Linear terms of sum zero change no mean of the table: the components may have the same gradient at x_0.
        gradient = problem.vector()
        for function in functions:
            function.at(x, gradient)
    iterates, problem.ends = setting.play(world, x)
    problem.shared = iterates = [x, *iterates]
    objective = world.objective
    if smooth:
        for t, at in enumerate(iterates[:-1]):
            current = world.rounds[t].gradient(at)
            if past is not None:
                of_past = square(past.gradient(at))
                problem.at_most(square(current) - setting.ratio**2 * of_past, name=f"the ratio at x_{t}")
            elif setting.clients > 1:
                problem.at_most(square(current.deviation), spread, f"heterogeneity at x_{t}")
        problem.at_most(objective.value(x) - objective.value(iterates[-1]), start, "the start")
    measures = _measures(setting, objective, iterates, problem.ends)
    if setting.growth:
        measures = [measures[0] - _measures(setting, objective, iterates[:1], x)[0]]
    if not smooth:
        at_best = _minimum(setting, problem, objective)
        problem.at_most(square(x), start, "the start")
        if setting.apart:
            problem.at_most(at_best, spread, "heterogeneity at x*")
        if setting.measure == VALUE and not setting.growth:
            measures = [measures[0] - objective.value(Vector())]
    problem.maximise(*measures)
    return problem


def _minimum(setting: Setting, problem: Problem, objective: Mix) -> Form:
    """x* = 0, where the objective's mean gradient is 0; returns the mean of the squared gradients there."""
    # With G = 0 every gradient there is 0; components have equal ones, since only their mean matters.
    free = objective.functions[1:] if setting.row.past != NO_PAST and setting.heterogeneity > 0 else ()
    gradients = [problem.vector(own=setting.apart) for _ in free]
    rest = sum((w * g.averaged for w, g in zip(objective.weights, gradients, strict=False)), Vector())
    gradients.append(problem.vector(mean=False, own=setting.apart) - rest / objective.weights[-1])
    found = Form()
    for weight, function, gradient in zip(objective.weights, objective.functions, cycle(gradients), strict=False):
        function.at(Vector(), gradient)
        found += weight * square(gradient)
    return found


def _measures(setting: Setting, objective: Mix, iterates: list[Vector], ends: Vector) -> list[Form]:
    if setting.measure == VALUE:
        return [objective.value(iterates[-1])]
    if setting.measure == DISTANCE:
        return [square(ends.averaged) + setting.drawn * square(ends.deviation)]
    seen = iterates[:-1] if setting.measure == LEAST else iterates[-1:]
    return [square(objective.gradient(at).averaged) for at in seen]
