"""What a user's functions must satisfy before a run: gradients belong to values, and no constant is contradicted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.numbers import Array, Ints
from cflag_theory.kernels.problems.objective import mean_gradient, mean_value
from cflag_theory.kernels.problems.problem import MEASURED, STATED, Components, Constant

#: Components of a task, and points, at which gradients are compared with differences of values.
COMPONENTS, POINTS = 8, 2
#: Steps of differences: on floats where rounding and curvature err alike, on fractions as small as one likes.
STEP, EXACT_STEP = 2.0**-17, Fraction(1, 2**40)
#: Points, and steps towards the largest curvature at each, by which L is measured.
AROUND, STEPS = 3, 5
#: A task's components whose curvature is measured.
MEASURED_COMPONENTS = 32


def check_gradients(tasks: Sequence[Components], start: Array) -> None:
    """Compare gradients with differences of values along random directions, at x_0 and beside it.

    Every component is evaluated at x_0, some are compared. On fractions nothing is rounded.
    """
    random = np.random.default_rng(0)
    for part in tasks:
        total = len(part.row_start) - 1
        for j in range(total):
            chosen = np.array([j])
            found = [mean_value(0, part, chosen, start), *mean_gradient(0, part, chosen, start)]
            if start.dtype != object and not np.isfinite(found).all():
                raise _error(part, j, "value" if not np.isfinite(found[0]) else "gradient", "is not finite at x_0")
        for j in _spread(total, COMPONENTS):
            for point in _around(start, POINTS, random):
                _compare(part, j, point, random)


def _compare(part: Components, j: int, x: Array, random: np.random.Generator) -> None:
    exact, chosen = x.dtype == object, np.array([j])
    direction = _numbers(np.round(random.uniform(-1, 1, len(x)) * 64) / 64, like=x)
    h: Any = EXACT_STEP if exact else STEP * (1 + float(abs(x).max()))
    ahead, behind = x + h * direction, x - h * direction
    values = [mean_value(0, part, chosen, at) for at in (ahead, behind)]
    numeric = (values[0] - values[1]) / (2 * h)
    stated = mean_gradient(0, part, chosen, x) @ direction
    change = mean_gradient(0, part, chosen, ahead) - mean_gradient(0, part, chosen, behind)
    # What a gradient that changes by so much within the step can hide, and what rounding can.
    hidden = sum(abs(change).tolist(), 0 * h)
    rounding = 0 if exact else 64 * np.finfo(np.float64).eps * max(map(abs, values)) / h
    allowed = hidden + rounding + max(abs(numeric), abs(stated)) / 10**6
    if not abs(numeric - stated) <= allowed:
        raise _error(
            part,
            j,
            "gradient",
            f"gives the slope {float(stated):.6g} along a direction in which value changes by {float(numeric):.6g} a "
            "unit: make it the gradient of value",
        )


def smoothness(tasks: Sequence[Components], start: Array, *, L: Any, L_component: Any) -> dict[str, Constant]:
    """L and L_component as stated, or the largest change of gradients that was found, which is a lower bound."""
    parts = list(enumerate(tasks))
    of_clients = [(k, *range(*part.client_start[i : i + 2])) for k, part in parts for i in range(len(part.counts))]
    of_components = [(k, j) for k, part in parts for j in _spread(len(part.row_start) - 1, MEASURED_COMPONENTS)]

    @cache
    def change(k: int, *chosen: int) -> float:
        # A client of one component has that of the component.
        return _largest_change(tasks[k], np.array(chosen), start)

    found = {}
    for name, value, sums in (("L", L, of_clients), ("L_component", L_component, of_components)):
        if value is None and start.dtype == object:
            raise InvalidInput(f"{name} is missing, and an exact problem needs an exact one: state {name}=")
        largest = max(change(*one) for one in sums)
        if value is None:
            words = f"a lower bound: the largest ||grad(x) - grad(y)|| / ||x - y|| at {AROUND} points and {STEPS} steps"
            if largest <= 0:
                raise InvalidInput(f"{name} cannot be measured, as no gradient changes near x_0: state {name}=")
            found[name] = Constant(largest, MEASURED, words)
        elif largest > float(value) * (1 + 1e-6):
            raise InvalidInput(f"{name} is stated as {value} and two gradients need {largest:.6g}: state at least that")
        else:
            exact = Fraction(value) if start.dtype == object else float(value)
            found[name] = Constant(exact, STATED, f"as stated; gradients near x_0 need {largest:.4g}")
    return found


def _largest_change(part: Components, chosen: Ints, start: Array) -> float:
    """The largest ||grad(x) - grad(y)|| / ||x - y|| found: steps along the change lead to the largest curvature."""
    random, largest = np.random.default_rng(1), 0.0
    for x in _around(start, AROUND, random):
        here = mean_gradient(0, part, chosen, x)
        direction = random.standard_normal(len(x))
        for _ in range(STEPS):
            length = float(np.linalg.norm(direction))
            if not 0 < length < np.inf:
                break
            step = _numbers(np.round(direction / length * 2.0**20) * 2.0**-33 * _size(x), like=x)
            change = (mean_gradient(0, part, chosen, x + step) - here).astype(np.float64)
            direction = change
            # Differences below rounding say nothing.
            noise = 16 * np.finfo(np.float64).eps * float(abs(here.astype(np.float64)).max())
            distance = float(np.linalg.norm(((x + step) - x).astype(np.float64)))
            largest = max(largest, (float(np.linalg.norm(change)) - noise) / distance)
    return largest


def _around(start: Array, count: int, random: np.random.Generator) -> Iterator[Array]:
    """x_0 and points whose distance from it grows."""
    yield start
    for k in range(1, count):
        away = np.round(random.standard_normal(len(start)) * 64) / 64
        yield start + _numbers(away * 2.0 ** (k - 1), like=start)


def _size(x: Array) -> float:
    """A power of two of about 1 + max |x|."""
    return float(2.0 ** np.ceil(np.log2(1 + float(abs(x).max()))))


def _numbers(values: Array, *, like: Array) -> Array:
    return np.array([Fraction(one) for one in values.tolist()]) if like.dtype == object else values


def _spread(total: int, most: int) -> list[int]:
    """At most so many indices, the first and the last among them."""
    return sorted({int(j) for j in np.linspace(0, total - 1, min(total, most))})


def _error(part: Components, j: int, what: str, words: str) -> InvalidInput:
    functions: Any = part.functions
    function = functions.value if what == "value" else functions.gradient
    client = int(np.searchsorted(part.client_start, j, side="right")) - 1
    place = f"{functions.task} component {j - int(part.client_start[client])} of client {client}"
    return InvalidInput(f"{function.where}{what} of {place} {words}")
