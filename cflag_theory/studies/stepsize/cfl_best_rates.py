"""From a target back to rounds and step sizes, under our proved bounds for the CFL paper.

With K given, a bound has terms that fall as eta grows (the start is forgotten) and terms that rise (noise, drift), so
there is one best eta_l for an eta_g. At the same eta = K eta_l eta_g a larger eta_g only shortens the local paths: so
the best pair is a limit, eta_l -> 0 with eta held, in which the K local steps are one step on K draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

from cflag_theory.claims.cfl.symbols import K, T, eta_g, eta_l
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels import RoundWeights
from cflag_theory.studies.stepsize.best_rates import allowed, lowest, rounds_to
from cflag_theory.studies.stepsize.cfl_predicted import RELATIONS, sums
from cflag_theory.studies.stepsize.evaluate import Values
from cflag_theory.studies.stepsize.predicted import Theorem

# Range of eta L that is searched, and the eta_g that stands for the limit.
_ETA, _FREE = (1e-15, 4.0), 1e9


@dataclass(frozen=True)
class CFLBest:
    """The best step sizes for a target by one theorem."""

    #: The theorem.
    claim: str
    note: str
    #: "smallest bound" within the given rounds, "fewest rounds" at the given eta_g, or "limit", the fewest rounds: for
    #: any eta_g, where that is better.
    goal: str
    #: The choice, with eta = K eta_l eta_g; None where there is none.
    eta_l: float | None
    eta_g: float | None
    eta: float | None
    rounds: float | None
    #: The bound there; None where the target is not met.
    value: float | None


def cfl_best(theorem: Theorem, values: Values, weights: RoundWeights, epsilon: float) -> tuple[CFLBest, ...]:
    """Smallest bound within T rounds, fewest rounds at the given eta_g, and fewest rounds at any eta_g, by a theorem
    that applies but for conditions on the step sizes. `values` has every symbol of it but eta_l and the sums of round
    weights, which follow from `weights`.
    """

    @cache
    def range_of(g: float) -> tuple[float, float | None]:
        low, high = (one / (values[L] * values[K] * g) for one in _ETA)
        relations = [RELATIONS[name] for name in theorem.conditions if name in RELATIONS]
        return low, allowed(relations, {**values, eta_g: g}, eta_l, low, high)

    @cache
    def at(g: float, rounds: int) -> tuple[float | None, float]:
        low, high = range_of(g)
        if high is None:
            return None, math.inf
        here: dict[Any, Any] = {**values, eta_g: g, T: rounds, **sums(weights, rounds)}
        return lowest(theorem.right, here, eta_l, low, high)

    def row(goal: str, g: float, rounds: float) -> CFLBest:
        step, value = (None, math.inf) if math.isinf(rounds) else at(g, int(rounds))
        if step is None:
            return CFLBest(theorem.claim, theorem.note, goal, None, g, None, rounds, None)
        return CFLBest(theorem.claim, theorem.note, goal, step, g, values[K] * step * g, rounds, value)

    def fewest(g: float) -> float:
        return rounds_to(epsilon, lambda rounds: True, lambda rounds: at(g, rounds)[1])

    given = float(values[eta_g])
    found = (row("smallest bound", given, int(values[T])), row("fewest rounds", given, fewest(given)))
    if "K = 1" in theorem.conditions:
        # Nothing depends on eta_g there but by eta.
        return found
    free = row("limit", _FREE, fewest(_FREE))
    if free.rounds is None or found[1].rounds is None or not free.rounds < found[1].rounds:
        return found
    return (*found, CFLBest(free.claim, free.note, free.goal, 0.0, math.inf, free.eta, free.rounds, free.value))
