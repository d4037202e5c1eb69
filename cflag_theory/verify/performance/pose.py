"""A worst-case problem that is posed once, for unknowns and for arrays alike, and solved as accurately as it can be."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from cflag_theory.errors import InvalidInput
from cflag_theory.verify.performance.model import Model
from cflag_theory.verify.performance.rounds import World
from cflag_theory.verify.performance.solution import Arrays, Inaccurate, Rebuilt, Solution, Unbounded, violation

#: (quantities of which the smallest is maximised, expressions that are at most 0) in a world.
Posed = tuple[list[Any], list[Any]]
LEAST_STEP = Fraction(1, 1000)
#: Tried in turn: degenerate problems are solved to 1e-6 and not to 1e-10.
TOLERANCES = (1e-10, 1e-9, 1e-8, 1e-7, 1e-6)


@dataclass(frozen=True)
class Pose:
    """A worst-case problem: components by client, how it is posed in a world, and what its answer stands for."""

    #: Components of each client; further entries are functions that no client has.
    components: tuple[int, ...]
    #: By how much, about, the gradients of each client's components change.
    scales: tuple[float, ...]
    #: World to `Posed`.
    pose: Callable[[World], Posed]
    #: Of the answer, after the root.
    scale: float
    #: Whether the quantity is a square whose root is reported.
    root: bool

    def solve(self, settings: Mapping[str, Any] | None) -> Solution:
        """The solution among unknowns, at the first of `TOLERANCES` that Clarabel reaches, or with these settings."""
        if settings is not None:
            return self._solve(settings)
        for tolerance in TOLERANCES:
            try:
                return self._solve(_all_at(tolerance))
            except Inaccurate as error:
                reason = error
        model = Model(self.components, self.scales)
        # The hypotheses of this problem leave it no interior, so that less accuracy can be had.
        if model.recedes(*self.pose(model), _all_at(TOLERANCES[-1])):
            raise Unbounded(
                "the worst case is unbounded: some instance can be multiplied by any number; add a hypothesis that "
                "bounds it"
            ) from reason
        raise reason

    def _solve(self, settings: Mapping[str, Any]) -> Solution:
        model = Model(self.components, self.scales)
        quantities, bounded = self.pose(model)
        return model.solve(quantities, bounded, settings)

    def answer(self, value: float) -> float:
        """The reported number."""
        return self.scale * (math.sqrt(max(0.0, value)) if self.root else value)

    def replay(self, solution: Solution) -> Rebuilt:
        """The solution's instance, played again."""
        quantities, bounded = self.pose(Arrays(solution))
        return Rebuilt(
            self.answer(min(quantities)),
            max([0.0, *bounded]),
            max(
                violation(data) / scale**2
                for scale, row in zip(self.scales, solution.data, strict=True)
                for data in row
            ),
            solution.dimension,
        )


def positive(name: str, value: Any, *, zero: bool = False) -> Fraction:
    """The value as a fraction, if it is finite and positive, or 0 where that is allowed; floats are taken exactly."""
    wanted = "a finite number that is not negative" if zero else "a finite positive number"
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction) or not math.isfinite(value):
        raise InvalidInput(f"{name} is {value!r}: use {wanted}")
    if value < 0 or (value == 0 and not zero):
        raise InvalidInput(f"{name} is {value}: use {wanted}")
    return Fraction(value)


def step_size(step: Any) -> Fraction:
    """beta L E as a fraction, if it is not below what the solver can tell from 0."""
    value = positive("step", step)
    if value < LEAST_STEP:
        raise InvalidInput(
            f"step is {step}: use at least {float(LEAST_STEP)}, below which the solver cannot tell beta L E from 0"
        )
    return value


def _all_at(tolerance: float) -> dict[str, float]:
    return {"tol_gap_abs": tolerance, "tol_gap_rel": tolerance, "tol_feas": tolerance}
