"""From a target back to rounds and step sizes, under the bounds that are proved.

All proved bounds on grad f fall as beta falls, so the fewest rounds to a target are those of beta -> 0, which learns
nothing new. What is worth asking is the largest beta that still meets the target within T rounds, with the alpha that
allows it, and the alpha that needs the fewest rounds at a given beta.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from cflag_theory.claims.c_flag.past_task.runs import T
from cflag_theory.claims.engine.notation import E, L, alpha, beta
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.studies.stepsize.evaluate import Values, both_sides, evaluate, met, needed, number
from cflag_theory.studies.stepsize.predicted import SQRT, Theorem

Conditions = Mapping[str, Relation]

#: No more rounds than this are looked for.
MOST_ROUNDS = 2**62
# Points at which a bound is looked at before its lowest place is refined.
_GRID = 65
# Ranges of alpha L and beta L E that are searched.
_ALPHA, _BETA = (1e-9, 4.0), (1e-12, 1e3)
# Logarithms are cut off here: roots are looked for among finite numbers.
_FAR = 700.0


@dataclass(frozen=True)
class Best:
    """The best step sizes for a target by one theorem."""

    #: The theorem.
    claim: str
    #: "largest beta" within the given rounds, "fewest rounds" at the given beta, or "limit", beta -> 0.
    goal: str
    #: The choice; None where there is none.
    alpha: float | None
    beta: float | None
    rounds: float | None
    #: The bound there, at most the target.
    value: float | None


def rounds_to(epsilon: float, holds: Callable[[int], bool], value: Callable[[int], float]) -> float:
    """The least T at which a bound (`value`) applies (`holds`) and is at most epsilon; infinite beyond `MOST_ROUNDS`.

    The bound may fall with T, or fall first and rise later, as where past drifts add up.
    """

    def height(rounds: int) -> float:
        return value(rounds) if holds(rounds) else math.inf

    high, heights = 1, [height(1)]
    while heights[-1] > epsilon:
        if 2 * high > MOST_ROUNDS:
            high = _valley(height, heights)
            if height(high) > epsilon:
                return math.inf
            break
        high *= 2
        heights.append(height(high))
    # No power of two below the end is enough.
    low = 1 << (high.bit_length() - 1)
    low = low // 2 if low == high else low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if height(middle) <= epsilon else (middle, high)
    return high


def _valley(height: Callable[[int], float], heights: Sequence[float]) -> int:
    """Where the bound is lowest, by its values at the powers of two: between the neighbours of the lowest of them."""
    at = min(range(len(heights)), key=heights.__getitem__)
    low, high = 1 << max(at - 1, 0), 1 << min(at + 1, len(heights) - 1)
    while high - low > 2:
        third = (high - low) // 3
        left, right = low + third, high - third
        low, high = (low, right) if height(left) <= height(right) else (left, high)
    return min(range(low, high + 1), key=height)


def rounds_for(theorem: Theorem, conditions: Conditions, values: Values, epsilon: float, law: str) -> float:
    """Rounds that `theorem` needs for `epsilon` with alpha as given, and beta held or falling as c / sqrt(T)."""
    relations = [conditions[name] for name in theorem.conditions]

    def at(rounds: int) -> dict[Any, Any]:
        step = values[beta] * math.sqrt(values[T] / rounds) if law == SQRT else values[beta]
        return {**values, T: rounds, beta: step}

    def holds(rounds: int) -> bool:
        here = at(rounds)
        return all(bool(met(relation, here)) for relation in relations)

    return rounds_to(epsilon, holds, lambda rounds: number(theorem.right, at(rounds)))


def best(theorem: Theorem, conditions: Conditions, values: Values, epsilon: float) -> tuple[Best, ...]:
    """Largest beta within T rounds, fewest rounds at the given beta, and the limit of fewest rounds.

    The theorem bounds a squared gradient norm; its best value over alpha rises with beta and falls with T, and its
    conditions bound alpha from above. `values` has every symbol of it but alpha; beta is used by the second goal alone.
    """

    def by_alpha(step: float, rounds: int) -> tuple[float | None, float]:
        return best_alpha(theorem, conditions, {**values, beta: step, T: rounds})

    def fewest(goal: str, step: float, shown: float) -> Best:
        least = rounds_to(epsilon, lambda rounds: True, lambda rounds: by_alpha(step, rounds)[1])
        if math.isinf(least):
            return Best(theorem.claim, goal, None, shown, math.inf, None)
        a, value = by_alpha(step, int(least))
        return Best(theorem.claim, goal, a, shown, int(least), value)

    rounds, tiny, huge = int(values[T]), *(one / (values[L] * values[E]) for one in _BETA)
    top = Best(theorem.claim, "largest beta", None, None, rounds, None)
    step = largest(lambda step: log_ratio(by_alpha(step, rounds)[1], epsilon), tiny, huge)
    if step is not None:
        a, value = by_alpha(step, rounds)
        top = Best(theorem.claim, "largest beta", a, step, rounds, value)
    return top, fewest("fewest rounds", float(values[beta]), float(values[beta])), fewest("limit", tiny, 0.0)


def best_alpha(theorem: Theorem, conditions: Conditions, values: Values) -> tuple[float | None, float]:
    """The alpha with the lowest bound among those that the conditions allow, and the bound; none and infinite without.
    `values` has every symbol of the theorem but alpha.
    """
    low, high = (one / values[L] for one in _ALPHA)
    edge = allowed([conditions[name] for name in theorem.conditions], values, alpha, low, high)
    if edge is None:
        return None, math.inf
    return lowest(theorem.right, values, alpha, low, edge)


def allowed(relations: Iterable[Relation], values: Values, step: sp.Symbol, low: float, high: float) -> float | None:
    """The largest step size from low to high that all relations allow, each of which bounds it from above."""
    moving: list[Relation] = []
    fixed: list[Relation] = []
    for one in relations:
        (moving if step in needed(one.slack) else fixed).append(one)
    if not all(met(one, values) for one in fixed):
        return None
    return largest(lambda x: max(ratio_of(one, {**values, step: x}) for one in moving), low, high)


def lowest(right: sp.Expr, values: Values, step: sp.Symbol, low: float, high: float) -> tuple[float, float]:
    """The step size from low to high with the lowest bound, and the bound, which falls and then rises with it."""

    # A quarter of a second to import, for which no other answer waits.
    from scipy.optimize import minimize_scalar

    def value(x: float) -> float:
        return number(right, {**values, step: x})

    logs = np.linspace(math.log(low), math.log(high), _GRID)
    heights = np.broadcast_to(evaluate(right, {**values, step: np.exp(logs)}), logs.shape)
    # Golden-section search alone fails where the bound is flat to the last digit.
    at = int(np.argmin(np.where(np.isnan(heights), np.inf, heights)))
    found = minimize_scalar(
        lambda log: log_ratio(value(math.exp(log)), 1.0),
        bounds=(logs[max(at - 1, 0)], logs[min(at + 1, _GRID - 1)]),
        method="bounded",
        options={"xatol": 1e-10},
    )
    near = (min(high, math.exp(float(log))) for log in (logs[at], found.x))
    x = min((high, *near), key=value)
    return x, value(x)


def largest(of: Callable[[float], float], low: float, high: float) -> float | None:
    """The largest x in [low, high] with of(x) <= 0, a function that rises through 0 once; None if there is none.

    The result itself satisfies of <= 0.
    """
    # In units so small or large that the range leaves the floats, nothing can be found.
    if not 0 < low < high < math.inf or of(low) > 0:
        return None
    if of(high) <= 0:
        return high
    return last_before_change(of, low, high)


def last_before_change(of: Callable[[float], float], low: float, high: float) -> float:
    """The last float at which a function has the sign that it has at low; it changes it once between low and high."""
    begins = of(low) > 0
    while True:
        middle = math.sqrt(low) * math.sqrt(high) if high > 2 * low else (low + high) / 2
        if not low < middle < high:
            return low
        low, high = (middle, high) if (of(middle) > 0) == begins else (low, middle)


def ratio_of(relation: Relation, values: Values) -> float:
    """log(left / right), at most 0 where an inequality between positive sides holds; cut off at +-700."""
    left, right = (float(side) for side in both_sides(relation, values))
    return log_ratio(left, right)


def log_ratio(left: float, right: float) -> float:
    """log(left / right), cut off at +-700: the upper end without a positive right side, the lower without a left."""
    if not right > 0:
        return _FAR
    quotient = left / right
    if quotient <= 0:
        return -_FAR
    return min(_FAR, max(-_FAR, math.log(quotient))) if quotient < math.inf else _FAR
