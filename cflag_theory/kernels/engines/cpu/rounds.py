"""The plain loop over a batch of replicas that share the data: all rounds, one thread.

Replicas come first in every array, then clients; an array (N, R, width) lets one client's gradients of all replicas be
one product. Sums over clients run over clients in order, in every replica alike.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from cflag_theory.kernels.engines.codegen.cache import compiled, inner
from cflag_theory.kernels.engines.codes import DIVERGED, FULL, OK, ROTATED, SCALED, STATES, SUBSET, Numbers
from cflag_theory.kernels.engines.components import dot, finite
from cflag_theory.kernels.engines.cpu.begin_round import (
    complete_memory,
    current_gradients,
    draw_kept,
    draw_orders,
    past_gradients,
    to_start,
)
from cflag_theory.kernels.engines.cpu.end_round import local_work, server_steps
from cflag_theory.kernels.engines.cpu.layout import Padded
from cflag_theory.kernels.engines.cpu.local_steps import Lanes
from cflag_theory.kernels.engines.cpu.measure import measure_round, measure_state
from cflag_theory.kernels.engines.cpu.ridge_gradients import fill_panels
from cflag_theory.kernels.engines.cpu.workspace import Workspace
from cflag_theory.kernels.memory import memory as memories
from cflag_theory.kernels.numbers import Array, Ints
from cflag_theory.kernels.plan import LIMIT


class Slots(NamedTuple):
    """Where a batch's measurements go; rows of the outputs from `first` on."""

    #: (replicas, rounds + 1 or 0, S), per_round : (replicas, rounds or 0, M), Lambda : (replicas, ...).
    state: Array
    per_round: Array
    Lambda: Array
    #: (replicas, 8).
    end: Array
    #: (replicas, rounds + 1 or 0, d).
    iterates: Array
    #: (replicas,).
    status: Ints
    rounds_done: Ints
    #: (S,), (M,): Which of `STATE` and `ROUND` are kept.
    state_slots: Ints
    round_slots: Ints
    #: (1,): Not 0 once the run was interrupted.
    stop: Ints


@compiled
def run_replicas(
    usual: Numbers, detailed: Numbers, s: Padded, first: int, group: int, w: Workspace, lanes: Lanes, out: Slots
) -> None:
    """Run the replicas first, first + 1, ... of the outputs; `detailed` holds for every `every`-th round."""
    _all_rounds(usual, detailed, s, first, group, w, lanes, out)


@inner
def _all_rounds(
    usual: Numbers, detailed: Numbers, s: Padded, first: int, group: int, w: Workspace, lanes: Lanes, out: Slots
) -> None:
    """The rounds; apart from what Python calls, because counting references costs more than a small round."""
    n, N, d = usual, len(s.p), usual.dimension
    R, alive, alphas = len(w.X), w.alive, w.alphas
    stamp, running = 1, R
    kept_state, kept_rounds = len(out.state_slots) > 0, n.measures_rounds

    for t in range(n.rounds + 1):
        if out.stop[0] != 0:
            break
        last = t == n.rounds
        n = detailed if t % usual.every == 0 else usual
        measure = last or kept_state
        with_memory = n.uses_memory or last
        whole = last or n.wants_past or ((n.memory == SCALED or n.memory == ROTATED) and with_memory)
        valued = last or n.wants_values
        if with_memory and (t == 0 or n.redraw or (last and not n.uses_memory)):
            if n.memory == SUBSET:
                draw_kept(n, s, n.first_replica + first, t if n.redraw else 0, w)
            elif n.signed:
                for r in range(R):
                    w.signs[r] = memories.draw_sign(n.seed, n.first_replica + first + r, t if n.redraw else 0)
        if n.bits > 0:
            fill_panels(w.X, w.panels)
        # Replicas start at one point.
        points = 1 if t == 0 and n.bits == 0 and len(s.basis) == 0 else R
        if with_memory or whole:
            past_gradients(n, s, points, whole, valued, w)
            complete_memory(n, s.basis, w)
        if last or n.uses_clients:
            current_gradients(n, s, points, valued, w)

        for r in range(R):
            if alive[r] == 0:
                continue
            if measure:
                if not measure_state(n, w, r):
                    out.status[first + r], out.rounds_done[first + r] = DIVERGED, t - 1
                    alive[r] = 0
                    running -= 1
                    continue
                if kept_state:
                    for slot in range(len(out.state_slots)):
                        out.state[first + r, t, slot] = w.state[out.state_slots[slot]]
                if last:
                    for slot in range(STATES):
                        out.end[first + r, slot] = w.state[slot]
            if out.iterates.shape[1] > 0:
                if t == 0 or len(s.basis) == 0:
                    for c in range(d):
                        out.iterates[first + r, t, c] = w.X[r, c] if t > 0 else s.start[c]
                else:
                    to_start(s.basis, w.X, r, out.iterates[first + r, t])
            if last:
                out.status[first + r], out.rounds_done[first + r] = OK, t
        if last or running == 0:
            break

        w.S[:] = 0
        w.displacement[:] = 0
        w.control_change[:] = 0
        lanes.drift2[:] = 0.0
        lanes.error2[:] = 0.0
        if n.exact_errors:
            lanes.rho_sum[:] = 0.0
            lanes.error_sum[:] = 0.0
        if n.estimator != FULL:
            draw_orders(n, s, n.first_replica + first, t, R, w.orders)
        stamp = local_work(n, s, R, group, stamp, w, lanes)
        server_steps(n, s.p, w, alphas)
        for r in range(R):
            if alive[r] == 0:
                continue
            # A NaN met in a local step reaches x by way of the displacement, though a maximum may hide it.
            norm2 = dot(w.X[r], w.X[r])
            within = math.isfinite(norm2) and norm2 <= LIMIT
            if within and kept_rounds:
                measure_round(n, alphas[r], w, lanes, r)
                within = finite(w.measured) and finite(w.products[r])
            if not within:
                out.status[first + r], out.rounds_done[first + r] = DIVERGED, t
                alive[r] = 0
                running -= 1
                continue
            if kept_rounds:
                for slot in range(len(out.round_slots)):
                    out.per_round[first + r, t, slot] = w.measured[out.round_slots[slot]]
                if out.Lambda.shape[1] > 0:
                    for i in range(N):
                        out.Lambda[first + r, t, i] = w.products[r, i]
        if running == 0:
            break
