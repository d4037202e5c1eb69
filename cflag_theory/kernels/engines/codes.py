"""A plan as compiled loops read it: numbers of fixed types, codes for names, and what a run has to evaluate."""

from __future__ import annotations

from typing import NamedTuple

from cflag_theory.kernels import algorithms, draws
from cflag_theory.kernels.cfl import windows
from cflag_theory.kernels.memory import memory as memories
from cflag_theory.kernels.plan import Plan
from cflag_theory.kernels.trace.trace import ROUND, STATE, Status

# Numba compiles these as constants; attributes of other modules it would look up as objects.
OK, DIVERGED = int(Status.OK), int(Status.DIVERGED)
STATES, ROUNDS = len(STATE), len(ROUND)
FULL, STOCHASTIC, DELAYED = range(len(algorithms.ESTIMATORS))
_, TRACKING, CONTROL = range(len(algorithms.CORRECTIONS))
_, PRINTED = range(len(algorithms.SERVERS))
CONSTANT, AVERAGE, WORST, LITERAL, COMMON, INTERACTING = range(len(algorithms.ADAPTIONS))
NOTHING, EVERYTHING, FULL_HESSIAN, _, SQUARES, CORE, HERD = range(len(algorithms.PASTS))
FRESH = windows.KINDS.index(windows.FRESH)
COMPONENT_DRAW, STOCHASTIC_DRAW, NOISE_DRAW = draws.COMPONENT, draws.STOCHASTIC, draws.NOISE
DRIFT_DRAW, LOSS_DRAW = draws.CLIENT_DRIFT, draws.LOSS
CORE_DRAW, PARTICIPANTS_DRAW = draws.CORE_SET, draws.PARTICIPANTS
# No memory; b a multiple of grad f; a subset of the components; b a rotated multiple of grad f.
NO_MEMORY, SCALED, SUBSET, ROTATED = range(4)
MEMORY_CODES = {
    memories.ALL: SCALED,
    memories.SIGN_BIAS: SCALED,
    memories.SUBSET: SUBSET,
    memories.BALANCED: SUBSET,
    memories.ROTATION: ROTATED,
    memories.GIVEN: SUBSET,
}

#: What has to be evaluated for a column of `STATE`, `ROUND` or `PER_CLIENT`.
OF_PAST = frozenset(("f", "grad_f2", "b2", "B"))
OF_CURRENT = frozenset(("g", "h", "grad_g2", "grad_h2"))
OF_MEMORY = frozenset(("h", "grad_h2", "grad_memory2", "b2", "Gamma", "B", "Lambda"))
OF_VALUES = frozenset(("f", "g", "h"))
OF_ERRORS = frozenset(("iag_error2_max", "rho_sum2", "error_sum2"))


class Numbers(NamedTuple):
    """A `Plan` with codes for names, and what every round evaluates besides what the next one needs.

    Attributes
    ----------
    estimator, correction, server, adaptive, memory : int
        Codes of this module.
    uses_clients, uses_memory : bool
        Whether all grad g_i(x_t), and whether grad_f_memory(x_t), are needed.
    wants_past, wants_values : bool
        Whether grad f(x_t), and whether values of f and g, are recorded.
    measures_rounds, measures_drift, exact_errors : bool
        Whether anything is recorded over a round, ||x_k - x_t||^2, and errors of estimates.
    bits : int
        Replicas that share a cache line, as a power of two; zero where every replica goes alone.
    summed : bool
        Whether nothing but sums over the clients is asked for, where all of them start along grad g; see `Part.shares`.
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
    diagnostics: int
    uses_clients: bool
    uses_memory: bool
    wants_past: bool
    wants_values: bool
    measures_rounds: bool
    measures_drift: bool
    exact_errors: bool
    bits: int
    summed: bool


def numbers_of(plan: Plan, *, bits: int = 0, single: bool = False) -> Numbers:
    """The plan's numbers, `exact_errors` as in the rounds in which errors of estimates are measured."""
    row, memory, recorded = plan.row, plan.memory, frozenset(plan.recorded)
    measures_rounds = not recorded <= OF_PAST - {"B"} | OF_CURRENT | {"grad_memory2"}
    alike = (row.estimator, row.correction, row.adaptive) == (
        algorithms.DELAYED,
        algorithms.TRACKING,
        algorithms.CONSTANT,
    )
    return Numbers(
        seed=plan.seed,
        first_replica=plan.first_replica,
        dimension=plan.problem.dimension,
        potential=plan.problem.potential,
        estimator=algorithms.ESTIMATORS.index(row.estimator),
        correction=algorithms.CORRECTIONS.index(row.correction),
        server=algorithms.SERVERS.index(row.server),
        adaptive=algorithms.ADAPTIONS.index(row.adaptive),
        memory=NO_MEMORY if memory is None else MEMORY_CODES[memory.kind],
        size=0 if memory is None else memory.size,
        balanced=memory is not None and memory.kind == memories.BALANCED,
        signed=memory is not None and memory.kind == memories.SIGN_BIAS,
        redraw=memory is not None and memory.redraw,
        angle=0.0 if memory is None else float(memory.angle),
        scale=plan.scale,
        memory_share=plan.memory_share,
        # Where there is momentum, all that a local step moves against is scaled by 1 - gamma.
        proximal=plan.proximal if plan.framework is None else (1 - plan.framework.momentum) * plan.proximal,
        server_rate=plan.server_rate,
        alpha=plan.alpha,
        beta=plan.beta,
        L=plan.L,
        local_steps=plan.local_steps,
        rounds=plan.rounds,
        every=plan.every,
        diagnostics=plan.diagnostics,
        uses_clients=row.estimator == algorithms.DELAYED
        or row.correction == algorithms.TRACKING
        or not recorded.isdisjoint(OF_CURRENT),
        uses_memory=memory is not None and (row.memory or not recorded.isdisjoint(OF_MEMORY)),
        wants_past=not recorded.isdisjoint(OF_PAST),
        wants_values=not recorded.isdisjoint(OF_VALUES),
        measures_rounds=measures_rounds,
        measures_drift="drift2_max" in recorded,
        exact_errors=not recorded.isdisjoint(OF_ERRORS),
        bits=bits,
        summed=bits > 0 and single and alike and row.proximal == 0 and not measures_rounds,
    )
