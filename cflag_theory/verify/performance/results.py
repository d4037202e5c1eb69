"""What performance estimation found, with what it is compared with: paper bound >= worst case >= instance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.numbers import Ints
from cflag_theory.verify.performance.pose import Pose
from cflag_theory.verify.performance.solution import Rebuilt, Solution

#: Relative to the worst case: what the solver's accuracy of 1e-8 in squares lets a comparison decide.
TOLERANCE = 1e-5


@dataclass(frozen=True)
class Bound:
    """A number to compare with, and where it comes from."""

    value: Fraction | float
    words: str


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The largest value of a quantity over all functions that fit the hypotheses, as the solver found it.

    Attributes
    ----------
    quantity, unit : str
        What was maximised and what 1 stands for.
    hypotheses : tuple of str
        All that is assumed; nothing else is.
    setting : mapping
        The numbers of the case: n, E, T, N, step sizes.
    orders : (T, N, E) array of int
        The component used by each client at each local step; for delayed gradients the entry at k = 0 is not read.
    posed : Pose
        The problem.
    solution : Solution
        Status, solver, versions, residuals and the instance.
    above : Bound or None
        A bound from above: the paper's, where it has one for these step sizes, or another as its words say.
    closed : Bound or None
        A closed form of the worst case, where one is known.
    simulate, simulated : callable or None, str
        An exact run by the simulator that comes near the worst case, and what it runs on.
    """

    quantity: str
    unit: str
    hypotheses: tuple[str, ...]
    setting: Mapping[str, Any]
    orders: Ints = field(repr=False)
    posed: Pose = field(repr=False)
    solution: Solution
    above: Bound | None
    closed: Bound | None
    simulate: Callable[[], Fraction] | None = field(repr=False)
    simulated: str = field(repr=False)

    @property
    def value(self) -> float:
        """The worst case by the multipliers of the solution: an upper bound up to the residuals."""
        return self.posed.answer(self.solution.bound)

    @property
    def attained(self) -> float:
        """The same by the Gram matrix of the solution: a lower bound up to the residuals."""
        return self.posed.answer(self.solution.attained)

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        solution = self.solution
        return {
            "quantity": self.quantity,
            "unit": self.unit,
            "value": self.value,
            "attained": self.attained,
            "hypotheses": list(self.hypotheses),
            "setting": {name: _plain(value) for name, value in self.setting.items()},
            "orders": self.orders.tolist(),
            "status": solution.status,
            "solver": solution.solver,
            "versions": dict(solution.versions),
            "settings": dict(solution.settings),
            "residuals": vars(solution.residuals),
            "gram_size": solution.gram_size,
            "constraints": solution.constraints,
            "dimension": solution.dimension,
            "above": None if self.above is None else float(self.above.value),
            "closed": None if self.closed is None else str(self.closed.value),
        }

    def __str__(self) -> str:
        solution = self.solution
        numbers = ", ".join(f"{name} = {_shown(value)}" for name, value in self.setting.items())
        versions = " ".join(f"{name} {version}" for name, version in solution.versions.items())
        residuals = ", ".join(f"{name} {value:.1e}" for name, value in vars(solution.residuals).items())
        asked = ", ".join(f"{name} {value}" for name, value in solution.settings.items())
        return (
            f"{self.quantity}: {self.value:.9g} {self.unit}; {numbers}, orders {self.orders.tolist()}\n"
            f"  {solution.status} by {solution.solver} ({versions}), Gram matrix {solution.gram_size}, "
            f"{solution.constraints} constraints, instance of dimension {solution.dimension}\n"
            f"  residuals: {residuals}; asked for {asked or 'the defaults'}"
        )


@dataclass(frozen=True)
class Sandwich:
    """Paper bound >= worst case >= instance.

    Attributes
    ----------
    above, closed : Bound or None
        As in `WorstCase`, or what was given in their place.
    worst : float
        The solved worst case.
    instance : Fraction or float
        What an instance reaches: a fraction from the simulator's exact engine, else a float.
    instance_words : str
        What the instance is.
    rebuilt : Rebuilt
        The solver's instance played again without the solver.
    tolerance : float
        1e-5 of the worst case, or of the size of the quantity if that is larger: what comparisons allow.
    faults : tuple of str
        Every comparison that fails; empty if the sandwich stands.
    """

    above: Bound | None
    closed: Bound | None
    worst: float
    instance: Fraction | float
    instance_words: str
    rebuilt: Rebuilt
    tolerance: float
    faults: tuple[str, ...]

    @property
    def gap(self) -> float:
        """Worst case minus instance."""
        return self.worst - float(self.instance)

    @property
    def slack(self) -> float | None:
        """Paper bound over worst case; None without a bound, infinite over a worst case of 0."""
        if self.above is None:
            return None
        return float(self.above.value) / self.worst if self.worst > self.tolerance else math.inf

    @property
    def closes(self) -> bool:
        """Whether nothing fails and the instance reaches the worst case, up to `tolerance`."""
        return not self.faults and self.gap <= self.tolerance

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        return {
            "above": None if self.above is None else float(self.above.value),
            "closed": None if self.closed is None else str(self.closed.value),
            "worst": self.worst,
            "instance": str(self.instance) if isinstance(self.instance, Fraction) else self.instance,
            "instance_words": self.instance_words,
            "rebuilt": vars(self.rebuilt),
            "gap": self.gap,
            "tolerance": self.tolerance,
            "closes": self.closes,
            "faults": list(self.faults),
        }

    def __str__(self) -> str:
        above = "no bound" if self.above is None else f"{float(self.above.value):.9g} ({self.above.words})"
        closed = "no closed form" if self.closed is None else f"{float(self.closed.value):.9g} ({self.closed.words})"
        lines = [
            f"bound {above} >= worst case {self.worst:.9g} >= instance {float(self.instance):.9g} "
            f"({self.instance_words}), gap {self.gap:.1e}",
            f"  closed form {closed}; rebuilt instance {self.rebuilt.value:.9g} in {self.rebuilt.dimension} dimensions "
            f"up to {max(self.rebuilt.violation, self.rebuilt.excess):.1e}",
            *(f"  fails: {fault}" for fault in self.faults),
        ]
        return "\n".join(lines)


def sandwich(
    worst: WorstCase, *, above: Fraction | float | None = None, closed: Fraction | float | None = None
) -> Sandwich:
    """Compare a solved worst case with the paper's bound, the closed form and an instance.

    Parameters
    ----------
    worst : WorstCase
        What `solve_local_steps`, `solve_round` or `solve_algorithm` returned.
    above, closed : number, optional
        To compare with in place of the bound and of the closed form; finite, in the unit of `worst`.

    Returns
    -------
    Sandwich
        All numbers, the gap, and what fails. A closed form has to equal the worst case up to `tolerance`, and the
        hypotheses of the rebuilt instance have to hold up to 1e-5.
    """
    for name, value in (("above", above), ("closed", closed)):
        if value is not None and not (isinstance(value, int | float | Fraction) and math.isfinite(value)):
            raise InvalidInput(f"{name} is {value!r}: compare with a finite number")
    bound = worst.above if above is None else Bound(above, "as given")
    form = worst.closed if closed is None else Bound(closed, "as given")
    rebuilt = worst.posed.replay(worst.solution)
    if worst.simulate is None:
        instance: Fraction | float = rebuilt.value
        words = "rebuilt from the Gram matrix"
    else:
        instance, words = worst.simulate(), worst.simulated
    slack = TOLERANCE * max(worst.posed.scale, abs(worst.value))
    faults = []
    if bound is not None and float(bound.value) < worst.value - slack:
        faults.append(f"the bound {float(bound.value):.9g} ({bound.words}) is below the worst case {worst.value:.9g}")
    if form is not None and abs(float(form.value) - worst.value) > slack:
        faults.append(f"the closed form {float(form.value):.9g} is not the worst case {worst.value:.9g}")
    if float(instance) > worst.value + slack:
        faults.append(f"the instance {float(instance):.9g} is above the worst case {worst.value:.9g}")
    if abs(rebuilt.value - worst.value) > slack:
        faults.append(f"the rebuilt instance has {rebuilt.value:.9g}, the solver said {worst.value:.9g}")
    if max(rebuilt.violation, rebuilt.excess) > TOLERANCE:
        faults.append(
            f"the rebuilt instance misses smoothness by {rebuilt.violation:.1e} and another hypothesis by "
            f"{rebuilt.excess:.1e}"
        )
    return Sandwich(bound, form, worst.value, instance, words, rebuilt, slack, tuple(faults))


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Fraction) else value


def _shown(value: Any) -> Any:
    """Fractions that were floats as floats."""
    return float(value) if isinstance(value, Fraction) and value.denominator > 10**6 else value
