"""A plain plan as the loop over blocks reads it: codes for names, and what the run has to evaluate."""

from __future__ import annotations

from typing import NamedTuple

from cflag_theory.kernels.algorithms import DELAYED, TRACKING
from cflag_theory.kernels.engines.components import as_numbers
from cflag_theory.kernels.plan import Plan

#: What has to be evaluated for a column of `STATE`, `ROUND` or `PER_CLIENT`.
OF_PAST = frozenset(("f", "grad_f2", "b2", "B"))
OF_CURRENT = frozenset(("g", "h", "grad_g2", "grad_h2"))
OF_MEMORY = frozenset(("h", "grad_h2", "grad_memory2", "b2", "Gamma", "B", "Lambda"))
OF_VALUES = frozenset(("f", "g", "h"))
OF_ERRORS = frozenset(("iag_error2_max", "rho_sum2", "error_sum2"))


class Settings(NamedTuple):
    """Numbers of a plan, see `passes.Numbers`, and what every round evaluates besides what the next one needs.

    Attributes
    ----------
    uses_clients, uses_memory : bool
        Whether all grad g_i(x_t), and whether grad_f_memory(x_t), are needed.
    wants_past, wants_values : bool
        Whether grad f(x_t), and whether values of f and g, are recorded.
    measures_rounds, measures_drift, exact_errors : bool
        Whether anything is recorded over a round, ||x_k - x_t||^2, and errors of estimates.
    bits : int
        Replicas that share a line of z, as a power of two; zero where every replica goes alone.
    """

    seed: int
    first_replica: int
    dimension: int
    potential: int
    estimator: int
    correction: int
    server: int
    adaptive: int
    memory: int
    size: int
    balanced: bool
    signed: bool
    redraw: bool
    angle: float
    scale: float
    memory_share: float
    proximal: float
    server_rate: float
    alpha: float
    beta: float
    L: float
    local_steps: int
    rounds: int
    every: int
    uses_clients: bool
    uses_memory: bool
    wants_past: bool
    wants_values: bool
    measures_rounds: bool
    measures_drift: bool
    exact_errors: bool
    bits: int


def settings_of(plan: Plan, *, bits: int) -> tuple[Settings, Settings]:
    """The plan as numbers of fixed types: usually, and in the rounds in which errors of estimates are measured."""
    numbers = as_numbers(plan)._asdict()
    recorded = frozenset(plan.recorded)
    own = {
        "first_replica": plan.first_replica,
        "dimension": plan.problem.dimension,
        "every": plan.every,
        "uses_clients": plan.row.estimator == DELAYED
        or plan.row.correction == TRACKING
        or not recorded.isdisjoint(OF_CURRENT),
        "uses_memory": plan.memory is not None and (plan.row.memory or not recorded.isdisjoint(OF_MEMORY)),
        "wants_past": not recorded.isdisjoint(OF_PAST),
        "wants_values": not recorded.isdisjoint(OF_VALUES),
        "measures_rounds": not recorded <= OF_PAST - {"B"} | OF_CURRENT | {"grad_memory2"},
        "measures_drift": "drift2_max" in recorded,
        "exact_errors": False,
        "bits": bits,
    }
    both = numbers | own
    usual = Settings(**{name: both[name] for name in Settings._fields})
    return usual, usual._replace(exact_errors=not recorded.isdisjoint(OF_ERRORS))
