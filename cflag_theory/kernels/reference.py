"""The loop in plain NumPy, line by line as in Algorithm 1; the same lines run on floats and on `Fraction`.

It is the text that the compiled loop is compared with, and the engine of exact replays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cflag_theory.kernels import draws
from cflag_theory.kernels.algorithms import (
    AVERAGE,
    COMMON,
    CONSTANT,
    CONTROL,
    DELAYED,
    FULL,
    INTERACTING,
    LITERAL,
    NO_PAST,
    PRINTED,
    STOCHASTIC,
    TRACKING,
)
from cflag_theory.kernels.cfl.evolution import Evolution
from cflag_theory.kernels.formulas import (
    common_rate,
    interaction_rate,
    refreshed_mean,
    round_columns,
    state_columns,
    table1_rates,
)
from cflag_theory.kernels.memory.memory import (
    BALANCED,
    GIVEN,
    ROTATION,
    SIGN_BIAS,
    SUBSET,
    draw_sign,
    draw_subset,
    rotate,
)
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.own.algorithms import OwnAlgorithm, Server, followed, local_calls
from cflag_theory.kernels.plan import LIMIT, Outputs, Plan
from cflag_theory.kernels.problems.objective import (
    client_gradient,
    component_gradient,
    gradients,
    mean_gradient,
    mean_value,
    values,
)
from cflag_theory.kernels.problems.problem import Problem
from cflag_theory.kernels.trace import costs
from cflag_theory.kernels.trace.trace import Status


def run(plan: Plan, out: Outputs, slots: Sequence[int] | None = None) -> None:
    """Run all replicas, or those in these slots, into `out`.

    Of the plan's orders the entry at k = 0 of a delayed gradient is not read.
    """
    # Overflow is not an accident here: it is seen by the checks below and becomes a status.
    with np.errstate(over="ignore", invalid="ignore"):
        for slot in range(plan.replicas) if slots is None else slots:
            out.status[slot], out.rounds_done[slot] = _run_replica(plan, slot, out)


def _run_replica(plan: Plan, slot: int, out: Outputs) -> tuple[int, int]:
    replica = plan.first_replica + slot
    problem, row, kind, p = plan.problem, plan.row, plan.problem.potential, plan.problem.p
    x = problem.start.copy()
    control = np.stack([x * 0] * problem.clients)
    evolution = None if plan.framework is None else Evolution(plan, plan.framework, replica)
    own = row if isinstance(row, OwnAlgorithm) else None
    numbers = {"beta": plan.beta, "alpha": plan.alpha, "E": plan.local_steps, "T": plan.rounds, "N": problem.clients}
    step = None if own is None or own.local is None else local_calls(own, numbers)
    server = None if own is None or own.server_function is None else Server(own, x, numbers)

    for t in range(plan.rounds + 1):
        grad_g_clients = gradients(kind, problem.current, x)
        grad_g = p @ grad_g_clients
        grad_f = p @ gradients(kind, problem.past, x)
        f_memory, grad_f_memory, b = _memory(plan, replica, t, x, grad_f)

        if plan.diagnostics > 0 or t == plan.rounds:
            f = p @ values(kind, problem.past, x)
            g = p @ values(kind, problem.current, x)
            share = plan.memory_share
            grad_h = share * grad_f_memory + (1 - share) * grad_g
            norms2 = map(_norm2, (grad_f, grad_g, grad_h, grad_f_memory, b))
            state = state_columns(share, 1 - share, f, g, f_memory, *norms2)
            if not _finite(state):
                return Status.DIVERGED, t - 1
            out.state[slot, t if plan.diagnostics > 0 else 0] = state
        if out.iterates.size:
            out.iterates[slot, t] = x
        if t == plan.rounds:
            break

        displacement, S, rho_sum, error_sum = x * 0, x * 0, x * 0, x * 0
        Lambda, controls, sums, corrections = [], [], [], []
        drift2_max = error2_max = x[0] * 0
        shares, loss, objective = p, x[0] * 0, None
        calls, exact_errors = 0, plan.diagnostics > 1 and t % plan.every == 0
        if evolution is not None:
            shares = evolution.begin(t, x)
            if exact_errors and row.past != NO_PAST and not problem.exact:
                loss = evolution.information_loss(shares, x)
        for i in range(problem.clients):
            if evolution is not None and shares[i] == 0:
                Lambda.append(x[0] * 0)
                controls.append(control[i])
                continue
            u = x * 0
            if row.correction == TRACKING:
                u = grad_g - grad_g_clients[i]
            elif row.correction == CONTROL:
                u = p @ control - control[i]

            a, local = x * 0, x
            full: Callable[[Array], Array]
            if evolution is None:
                draw = partial(_draw, plan, replica, i, t)
                estimate = estimator(problem, row.estimator, i, x, grad_g_clients[i], draw)
                full, complete = partial(client_gradient, kind, problem.current, i), None
            else:
                objective, u = evolution.objective(i, x, u), x * 0
                estimate, full = partial(objective.estimate, t), objective.component_term
                complete = partial(objective.complete, t)
            if step is None:
                taken_steps = local_steps(x, u, estimate, complete, plan.beta, plan.local_steps, plan.proximal)
            else:
                seen = partial(_seen, plan, i, t, x, grad_g, grad_g_clients[i], estimate, draw)
                taken_steps = (Step(*one) for one in followed(step, x, plan.beta, plan.local_steps, seen))
            for taken in taken_steps:
                drift2_max = max(drift2_max, _norm2(taken.x - x))
                if exact_errors:
                    rho = full(taken.x)
                    error2_max = max(error2_max, _norm2(taken.estimate - rho))
                    rho_sum = rho_sum + shares[i] * rho
                    error_sum = error_sum + shares[i] * (taken.estimate - rho)
                a, local = a + taken.direction, taken.following
                if not _finite([_norm2(local)]):
                    return Status.DIVERGED, t

            displacement = displacement + shares[i] * (local - x)
            a = plan.server_rate * a
            S = S + shares[i] * a
            Lambda.append(grad_f_memory @ a)
            sums.append(a)
            corrections.append(u)
            if row.correction == CONTROL:
                controls.append(control[i] - p @ control + (x - local) / (plan.beta * plan.local_steps))
            if evolution is not None and objective is not None:
                calls += costs.framework_calls(
                    row.estimator == FULL,
                    plan.local_steps,
                    int(np.count_nonzero(objective.coefficients)),
                    len(objective.data.window),
                    costs.window_calls(row, evolution.framework.slots),
                )
                evolution.remember(i, t, x, local)

        if evolution is not None:
            evolution.end()
        if row.correction == CONTROL:
            control = np.stack(controls)
        alpha, moved = plan.alpha, x + displacement
        if server is not None:
            following = server.step(x_t=x, displacement=displacement, grad_f_memory=grad_f_memory, t=t)
            S, x = (x - alpha * grad_f_memory - following) / plan.beta, following
        elif row.adaptive != CONSTANT or row.server == PRINTED:
            if row.adaptive != CONSTANT:
                alpha, moved = _adapted(plan, grad_f_memory, sums, corrections, S)
            S = moved / plan.beta
            x = x - moved - alpha * grad_f_memory
        else:
            # By (22) the averaged displacement is -beta S, so that this is round update (24).
            x = x + plan.server_rate * displacement - alpha * grad_f_memory

        products = (grad_f_memory @ S, grad_f @ b, b @ S)
        errors = (drift2_max, error2_max, _norm2(rho_sum), _norm2(error_sum))
        measured = [*round_columns(plan.L, alpha, plan.beta, _norm2(S), *products, *errors), loss]
        if not (_finite(measured) and _finite(Lambda) and _norm2(x) <= LIMIT):
            return Status.DIVERGED, t
        if plan.diagnostics > 0:
            out.per_round[slot, t] = measured
            out.Lambda[slot, t] = Lambda
            if evolution is not None:
                out.ifo_calls[slot, t] = calls
    return Status.OK, plan.rounds


class Step(NamedTuple):
    """A local step of one client: x_k, the estimate there, what the step goes along besides u, and x_{k+1}."""

    x: Array
    estimate: Array
    direction: Array
    following: Array


def local_steps(
    x: Array, u: Array, estimate: Callable[[int, Array], Array], complete: Callable[[int, Array, Array], Array] | None,
    beta: Any, steps: int, proximal: Any = 0,
) -> Iterator[Step]:  # fmt: skip
    """The steps x_{k+1} = x_k - beta (estimate(k, x_k) + proximal (x_k - x) + u) of one client from x.

    `complete`, of step k, adds what the CFL framework does to the direction, given that and x_k - x.
    """
    local = x
    for k in range(steps):
        value = estimate(k, local)
        direction = value + proximal * (local - x)
        if complete is not None:
            direction = complete(k, direction, local - x)
        following = local - beta * (direction + u)
        yield Step(local, value, direction, following)
        local = following


def _seen(
    plan: Plan, i: int, t: int, x: Array, grad_g: Array, grad_g_i: Array, estimate: Callable[[int, Array], Array],
    draw: Callable[[int], int], k: int, local: Array,
) -> dict[str, Any]:  # fmt: skip
    """What a local step of the user may name; what costs a gradient is a function that computes it."""
    kind, part = plan.problem.potential, plan.problem.current

    def drawn(at: Array) -> Array:
        return component_gradient(kind, part, int(part.client_start[i]) + draw(k), at)

    # Refreshed in every step, and so computed whether or not the step asks for it.
    delayed = estimate(k, local) if plan.row.estimator == DELAYED else local
    return {
        "x": local,
        "x_t": x,
        "grad_g": grad_g,
        "grad_g_i": grad_g_i,
        "k": k,
        "i": i,
        "t": t,
        "delayed_gradient": delayed,
        "gradient": partial(drawn, local),
        "gradient_at_x_t": partial(drawn, x),
        "full_gradient": partial(client_gradient, kind, part, i, local),
    }


def estimator(
    problem: Problem, kind: str, i: int, x: Array, grad: Array, draw: Callable[[int], int]
) -> Callable[[int, Array], Array]:
    """Client i's estimates of grad g_i in a round from x, where it is `grad`: a function of step k and x_k.

    `kind` is one of `algorithms.ESTIMATORS`; draw(k) is the component of step k, counted within the client.
    """
    potential, part, first = problem.potential, problem.current, int(problem.current.client_start[i])
    count: int = part.counts[i].item()
    mean: Array = grad
    table: dict[int, Array] = {}

    def estimate(k: int, local: Array) -> Array:
        nonlocal mean
        if kind == FULL:
            return client_gradient(potential, part, i, local)
        if kind == DELAYED and k == 0:
            return grad
        j = first + draw(k)
        new = component_gradient(potential, part, j, local)
        if kind == STOCHASTIC:
            return new
        # A component that was not refreshed yet still has its gradient at x_t, as of k = 0.
        old = table[j] if j in table else component_gradient(potential, part, j, x)
        mean, table[j] = refreshed_mean(mean, new, old, count), new
        return mean

    return estimate


def _adapted(plan: Plan, grad_f_memory: Array, sums: list[Array], u: list[Array], S: Array) -> tuple[Any, Array]:
    """sum_i p_i alpha_i, and the part of the step that is not along grad_f_memory, for rates chosen after the steps."""
    L, alpha, beta, how = plan.L, plan.alpha, plan.beta, plan.row.adaptive
    if how == COMMON:
        return alpha, common_rate(L, alpha, grad_f_memory @ S, _norm2(S)) * S
    alpha_mean, step, memory_norm2 = S[0] * 0, S * 0, _norm2(grad_f_memory)
    for p, a, correction in zip(plan.problem.p, sums, u, strict=True):
        alpha_i = alpha
        if how == INTERACTING:
            beta_i = interaction_rate(L, alpha, beta, grad_f_memory @ a, a @ S, _norm2(a))
        else:
            # Line 4 of Algorithm 3 gives beta a_i; its lines 5, 8 and 10 take that for a_i.
            seen = beta * a if how == LITERAL else a
            weight = p if how == AVERAGE else plan.problem.clients * p
            alpha_i, beta_i = table1_rates(L, alpha, beta, grad_f_memory @ seen, memory_norm2, weight * _norm2(seen))
        if how == LITERAL:
            step = step + p * plan.local_steps * beta_i * correction
        step = step + p * beta_i * a
        alpha_mean = alpha_mean + p * alpha_i
    return alpha_mean, step


def _memory(plan: Plan, replica: int, t: int, x: Array, grad_f: Array) -> tuple[Any, Array, Array]:
    """f_memory (0 where there is none), grad_f_memory and b = grad_f_memory - grad f at x_t."""
    problem, memory, zero = plan.problem, plan.memory, x * 0
    if memory is None:
        return zero[0], zero, zero
    round_ = t if memory.redraw else 0
    if memory.kind == ROTATION:
        turned = np.empty_like(x)
        rotate(grad_f, memory.angle, turned)
        b = plan.scale * turned
        return zero[0], grad_f + b, b
    if memory.kind in (SUBSET, BALANCED, GIVEN):
        f_memory, grad_f_memory = zero[0], zero
        for i in range(problem.clients):
            first, count = int(problem.past.client_start[i]), int(problem.past.counts[i])
            order = np.empty(count, dtype=np.int64)
            balanced = memory.kind == BALANCED
            kept = draw_subset(
                plan.seed, replica, i, round_, problem.labels, first, count, memory.size, balanced, order
            )
            chosen = order[:kept]
            f_memory = f_memory + problem.p[i] * mean_value(problem.potential, problem.past, chosen, x)
            grad_f_memory = grad_f_memory + problem.p[i] * mean_gradient(problem.potential, problem.past, chosen, x)
        return f_memory, grad_f_memory, grad_f_memory - grad_f
    bias = plan.scale * draw_sign(plan.seed, replica, round_) if memory.kind == SIGN_BIAS else zero[0]
    f = problem.p @ values(problem.potential, problem.past, x)
    return (1 + bias) * f, grad_f + bias * grad_f, bias * grad_f


def _draw(plan: Plan, replica: int, client: int, t: int, k: int) -> int:
    """The component sampled by `client` at local step k, counted within the client."""
    if plan.orders is not None:
        return int(plan.orders[t, client, k])
    purpose = draws.STOCHASTIC if plan.row.estimator == STOCHASTIC else draws.COMPONENT
    n = int(plan.problem.current.counts[client])
    return draws.below(draws.lane(draws.words(plan.seed, purpose, replica, client, t, k >> 2), k), n)


def _norm2(vector: Array) -> Any:
    return vector @ vector


def _finite(numbers: Sequence[Any]) -> bool:
    return all(math.isfinite(number) for number in numbers if isinstance(number, float))
