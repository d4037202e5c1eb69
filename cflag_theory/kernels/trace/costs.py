"""What a round costs: gradient evaluations (IFO calls) and communicated numbers.

One IFO call is the gradient of one component, past or current, at one point. Counted is what the algorithm needs, each
gradient at a point once; what is evaluated only to be measured is not. Communicated are the numbers that all clients
that take part receive and send in a round, vectors of length d each.

- The server sends x_t to every client and each sends x_E^i: 2 d.
- Tracking: each sends grad g_i(x_t) and receives grad g(x_t), 2 d more; n_i IFO calls, which also serve step k = 0.
- A memory step: each sends its gradient on memory and receives grad_f_memory, as in Algorithm 1, 2 d more; an IFO call
  for every component kept, and where b is a multiple or a rotation of grad f, for every past component.
- Control variates: each receives c and sends the change of c_i, 2 d more.
- Adapted rates: nothing more, the server knows all a_i from x_E^i and u_i.
- A local step: one IFO call for a sampled component, n_i for a full gradient; delayed gradients sample from k = 1 on.
- The CFL framework: a full gradient takes a call for every component with c_j != 0; momentum and models of past rounds
  take the gradients of all components of the round's window, and momentum 2 d more (s down, a gradient up).
"""

from __future__ import annotations

from cflag_theory.kernels.algorithms import CONTROL, DELAYED, DIAGONAL, FISHER, FULL, TAYLOR, TRACKING, Algorithm
from cflag_theory.kernels.memory.memory import BALANCED, GIVEN, SUBSET
from cflag_theory.kernels.plan import Plan

#: How clients remember a round by a model that takes the gradients of its window.
MODELS = (TAYLOR, DIAGONAL, FISHER)


def ifo_calls(plan: Plan) -> int:
    """IFO calls of every round of a plain run."""
    row, E = plan.row, plan.local_steps
    total: int = remembered(plan) if row.memory else 0
    for count in map(int, plan.problem.current.counts):
        known = row.correction == TRACKING or row.estimator == DELAYED
        each = count if row.estimator == FULL else 1
        total += count + (E - 1) * each if known else E * each
    return total


def remembered(plan: Plan) -> int:
    """Past components that grad_f_memory is made of."""
    memory, counts = plan.memory, plan.problem.past.counts
    if memory is not None and memory.kind in (SUBSET, BALANCED):
        return int(counts.clip(max=memory.size).sum())
    if memory is not None and memory.kind == GIVEN:
        return sum(len(kept) for kept in memory.kept)
    return int(counts.sum())


def framework_calls(full: bool, local_steps: int, held: int, window: int, window_calls: int) -> int:
    """IFO calls of one client that takes part in a round of the CFL framework.

    `held` components have a share in its objective, `window` are its data of the round, and `window_calls` tells how
    often all of these are evaluated: for momentum, and for a model of the round.
    """
    return local_steps * (held if full else 1) + window_calls * window


def window_calls(row: Algorithm, slots: int) -> int:
    """How often a round takes all gradients of a client's window besides its local steps."""
    return (1 if row.momentum != 0 else 0) + (1 if row.past in MODELS and slots > 0 else 0)


def communicated(plan: Plan) -> int:
    """Numbers that all clients that take part receive and send in a round."""
    row, d = plan.row, plan.problem.dimension
    exchanged = (True, row.correction == TRACKING, row.correction == CONTROL, row.memory, row.momentum != 0)
    clients = plan.problem.clients if plan.framework is None else plan.framework.participants
    return 2 * int(sum(exchanged)) * int(clients) * d
