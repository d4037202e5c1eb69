"""What a run takes in memory, from its plan alone."""

from __future__ import annotations

import os
from math import prod

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.plan import COMPILED, Plan, shapes
from cflag_theory.sizes import require_room

#: Rounds and local steps fill a 32-bit word of a draw's counter each.
MOST_STEPS = 1 << 32
#: A `Fraction` with two short integers.
_FRACTION = 200
#: Replicas that are computed side by side on a core, at most.
_AT_ONCE = 64


def require_fit(plan: Plan) -> None:
    """Raise `InvalidInput` where a run would not fit into memory, before anything of it is allocated."""
    for name, value in (("rounds", plan.rounds), ("local_steps", plan.local_steps)):
        if value >= MOST_STEPS:
            raise InvalidInput(f"{name} is {value}: use fewer than 2^32")
    number = _FRACTION if plan.problem.exact else 8
    # The columns of a Trace are copies of what the engine fills.
    filled = 2 * number * sum(map(prod, shapes(plan).values()))
    loops = 8 * _numbers_of_loops(plan)
    if plan.orders is not None:
        filled += plan.orders.nbytes
    remedy = (
        "use fewer local steps"
        if loops > filled
        else "use fewer rounds or replicas, or record less (diagnostics 'none', or fewer columns)"
    )
    what = f"a run of {plan.rounds} rounds, {plan.local_steps} local steps and {plan.replicas} replicas"
    require_room(filled + loops, what, remedy)


def _numbers_of_loops(plan: Plan) -> int:
    """What the compiled loops hold of each client and local step, for replicas that run at the same time."""
    if plan.engine != COMPILED or plan.framework is not None:
        return 0
    cores = min(plan.threads or os.cpu_count() or 1, plan.replicas)
    batch = min(_AT_ONCE, -(-plan.replicas // cores))
    clients, d, E = plan.problem.clients, plan.problem.dimension, plan.local_steps
    steps = 2 * d if plan.diagnostics > 1 or plan.problem.family == "separable" else 0
    return cores * (batch * clients * (E + d) + E * steps)
