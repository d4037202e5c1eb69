"""The run of a case: an algorithm of the table, or the user's own local step, on the problem of the case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.search.families import Family
from cflag_theory.kernels import COLUMNS, Algorithm, Problem, Trace, simulate
from cflag_theory.kernels.algorithms import DELAYED
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.problems.objective import client_gradient, component_gradient, gradients, values
from cflag_theory.kernels.reference import estimator
from cflag_theory.kernels.trace.trace import Status

#: What a run of the user's own local step measures.
MEASURED = ("f", "g", "grad_f2", "grad_g2", "drift2_max")


def problem_of(conjecture: Conjecture, case: Mapping[str, Any]) -> Problem | None:
    """The problem of a case; None where its numbers make none.

    Raises
    ------
    InvalidInput
        The user's own function returned something else.
    """
    if isinstance(conjecture.problem, Family):
        return conjecture.problem.build(case)
    builder = conjecture.builder
    assert builder is not None
    problem = builder.exact(case)
    if problem is not None and not isinstance(problem, Problem):
        raise InvalidInput(f"{builder.where}problem returned {type(problem).__name__}: return a Problem")
    return problem


def run(conjecture: Conjecture, case: Mapping[str, Any], problem: Problem) -> Trace | None:
    """The run of a case, on the problem's number type; None where it leaves the finite numbers.

    Raises
    ------
    InvalidInput
        The run does not fit the problem, or a local step returned no vector.
    """
    if conjecture.local_step is not None:
        return local_rounds(conjecture, case, problem)
    row, memory = conjecture.algorithm, conjecture.memory
    if conjecture.row is not None:
        row = conjecture.row.exact(case)
        if not isinstance(row, Algorithm):
            raise InvalidInput(f"{conjecture.row.where}algorithm returned {row!r}: return a row, from algorithm(...)")
    if conjecture.memories is not None:
        memory = conjecture.memories.exact(case)
    assert isinstance(row, str | Algorithm)
    trace = simulate(
        problem,
        row,
        beta=case["beta"],
        alpha=case.get("alpha", 0),
        local_steps=int(case["E"]),
        rounds=int(case["T"]),
        memory=memory,  # type: ignore[arg-type]
        engine="reference",
        diagnostics=conjecture.diagnostics,
        iterates=True,
        orders=case.get("orders"),
        throw=False,
    )
    return trace if trace.ok else None


def local_rounds(conjecture: Conjecture, case: Mapping[str, Any], problem: Problem) -> Trace | None:
    """T rounds of E local steps x <- local_step(...) at every client, after each of which x_{t+1} = sum_i p_i x_E^i.

    The step may name x, gradient (of the component in `orders`), full_gradient (of g_i), delayed_gradient (5),
    gradient_at_x_t (of the same component at x_t), x_t, grad_g and grad_g_i (at x_t), k, i, t and every variable.
    """
    assert conjecture.step is not None
    step, part, kind, p = conjecture.step, problem.current, problem.potential, problem.p
    T, E, x = int(case["T"]), int(case["E"]), problem.start
    iterates, drifts = [x], []
    for t in range(T):
        grad_g_clients = gradients(kind, part, x)
        start = {"x_t": x, "t": t, "grad_g": p @ grad_g_clients}
        total, drift = x * 0, x[0] * 0
        for i in range(problem.clients):
            first = int(part.client_start[i])
            local = x
            order = case["orders"][t, i] if "orders" in case else [0] * E
            estimate = estimator(problem, DELAYED, i, x, grad_g_clients[i], order.__getitem__)
            for k in range(E):
                drift = max(drift, (local - x) @ (local - x))
                seen: dict[str, Any] = start | {"i": i, "k": k, "x": local, "grad_g_i": grad_g_clients[i]}
                if "orders" in case:
                    j = first + int(order[k])
                    for name, at in (("gradient", local), ("gradient_at_x_t", x)):
                        if name in step.names:
                            seen[name] = component_gradient(kind, part, j, at)
                    if "delayed_gradient" in step.names:
                        seen["delayed_gradient"] = estimate(k, local)
                if "full_gradient" in step.names:
                    seen["full_gradient"] = client_gradient(kind, part, i, local)
                local = _vector(step.of(**{name: (seen | dict(case))[name] for name in step.names}), x, step.where)
            total = total + p[i] * local
        drifts.append(drift)
        x = total
        iterates.append(x)
        if not problem.exact and not np.isfinite(x).all():
            return None
    return _trace(problem, iterates, drifts)


def _vector(value: Any, like: Array, where: str) -> Array:
    array = np.asarray(value)
    if array.shape != like.shape or array.dtype.kind not in "fiuO":
        raise InvalidInput(
            f"{where}local_step returned {value!r}: return the next iterate, a vector of shape {like.shape}"
        )
    return array.astype(like.dtype)


def _trace(problem: Problem, iterates: list[Array], drifts: list[Any]) -> Trace:
    rows: list[list[Any]] = []
    for x in iterates:
        grads = [problem.p @ gradients(problem.potential, part, x) for part in (problem.past, problem.current)]
        levels = [problem.p @ values(problem.potential, part, x) for part in (problem.past, problem.current)]
        rows.append([*levels, *(grad @ grad for grad in grads)])
    states = np.array(rows, dtype=iterates[0].dtype)
    columns = {name: states[None, :-1, slot] for slot, name in enumerate(MEASURED[:-1])}
    columns["drift2_max"] = np.array([drifts], dtype=iterates[0].dtype)
    rounds = len(drifts)
    return Trace(
        columns=columns,
        end={name: states[-1:, slot] for slot, name in enumerate(MEASURED[:-1])},
        status=np.array([int(Status.OK)]),
        rounds_done=np.array([rounds]),
        absent={
            name: f"a run of a local step measures only {', '.join(MEASURED)}"
            for name in COLUMNS
            if name not in MEASURED
        },
        config={"algorithm": "local_step", "rounds": rounds},
        iterates=np.stack(iterates)[None],
    )
