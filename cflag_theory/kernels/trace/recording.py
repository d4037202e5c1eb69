"""What a run records, and how its Trace is put together from an engine's outputs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

import cflag_theory
from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.kernels.algorithms import NO_PAST, Algorithm, row_as_dict
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.memory.memory import ROTATION, Memory
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.plan import DIAGNOSTICS, Outputs, Plan, slots
from cflag_theory.kernels.trace import costs
from cflag_theory.kernels.trace.trace import (
    COLUMNS,
    COSTS,
    DIFFERENCES,
    OF_FULL_GRADIENTS,
    PER_CLIENT,
    ROUND,
    STATE,
    Trace,
    ratio,
)

OF_MEMORY = ("h", "grad_h2", "grad_memory2", "b2", "Gamma", "B", "m_met", "r2_met", "Lambda")
OF_FUNCTION = ("h", "grad_h2")
#: Columns that are quotients of two others.
QUOTIENTS = {"m_met": ("b2", "grad_f2"), "r2_met": ("grad_memory2", "grad_g2")}


def absent_columns(
    row: Algorithm, memory: Memory | None, *, diagnostics: int, exact: bool, columns: Sequence[str] | None
) -> dict[str, str]:
    """The columns that the run will not have, and why."""
    absent = _unmeasured(row, memory, diagnostics, exact)
    if columns is None:
        return absent
    if isinstance(columns, str) or len(columns) == 0:
        raise InvalidInput(f"columns is {columns!r}: pass a sequence of names, or leave it out to record all")
    for name in columns:
        if name not in COLUMNS:
            raise UnknownName(f"column {name!r} is unknown: use one of {', '.join(COLUMNS)}")
        if name in absent:
            raise InvalidInput(f"column {name!r} cannot be recorded: {absent[name]}")
    left_out = f"the run recorded only {', '.join(columns)}, name it in columns"
    return {name: absent.get(name, left_out) for name in COLUMNS if name not in columns}


def recorded_columns(absent: dict[str, str]) -> tuple[str, ...]:
    """The slots that an engine has to fill for the columns that are not absent."""
    wanted = {part for name in COLUMNS if name not in absent for part in QUOTIENTS.get(name, (name,))}
    return tuple(name for name in (*STATE, *ROUND, *PER_CLIENT) if name in wanted)


def _unmeasured(row: Algorithm, memory: Memory | None, diagnostics: int, exact: bool) -> dict[str, str]:
    if diagnostics == 0:
        return dict.fromkeys(COLUMNS, "the run had diagnostics='none', use 'cheap' or 'all'")
    absent = _unmeasured_with(memory) | dict.fromkeys(DIFFERENCES, "simulate keeps x_t itself, use iterates=True")
    if diagnostics == 1:
        absent |= dict.fromkeys(OF_FULL_GRADIENTS, "it needs full gradients at local steps, use diagnostics='all'")
    if row.past == NO_PAST:
        absent["information_loss"] = f"algorithm {row.name!r} remembers no past rounds"
    elif exact:
        absent["information_loss"] = "norms are not rational, run it on floats"
    return absent


def _unmeasured_with(memory: Memory | None) -> dict[str, str]:
    if memory is None:
        return dict.fromkeys(OF_MEMORY, "the run had no memory, pass one to simulate")
    if memory.kind == ROTATION:
        return dict.fromkeys(OF_FUNCTION, "a rotated gradient is the gradient of no f_memory, use another memory")
    return {}


def as_trace(plan: Plan, out: Outputs) -> Trace:
    """The Trace of a run; its arrays share nothing with `out`."""
    rounds, diverged = int(out.rounds_done.min()), bool(out.status.any())
    state_names, round_names = slots(plan)
    measured: dict[str, Array] = {}
    if plan.diagnostics > 0:
        measured |= {name: out.state[:, :rounds, slot] for slot, name in enumerate(state_names)}
        measured |= {name: out.per_round[:, :rounds, slot] for slot, name in enumerate(round_names)}
        measured |= dict.fromkeys(PER_CLIENT, out.Lambda[:, :rounds])
        calls = out.ifo_calls[:, :rounds]
        if plan.framework is None:
            calls = np.full((plan.replicas, rounds), costs.ifo_calls(plan))
        measured |= {"ifo_calls": calls, "communicated": np.full_like(calls, costs.communicated(plan))}
    columns = {}
    for name in COLUMNS:
        if name in plan.absent:
            continue
        if name in QUOTIENTS:
            above, below = QUOTIENTS[name]
            columns[name] = ratio(measured[above], measured[below])
        else:
            columns[name] = measured[name][:, :: plan.every if name in OF_FULL_GRADIENTS else 1].copy()
    if plan.problem.exact:
        columns |= {name: columns[name] * Fraction(1) for name in COSTS if name in columns}
    return Trace(
        columns=columns,
        end=_end(plan, out, state_names, rounds, diverged),
        status=out.status,
        rounds_done=out.rounds_done,
        absent=plan.absent,
        config=_config(plan),
        iterates=out.iterates[:, : rounds + 1].copy() if out.iterates.size else None,
    )


def _end(plan: Plan, out: Outputs, state_names: tuple[str, ...], rounds: int, diverged: bool) -> dict[str, Array]:
    unmeasured = _unmeasured_with(plan.memory)
    if plan.selective and not diverged:
        return {name: out.end[:, slot].copy() for slot, name in enumerate(STATE) if name not in unmeasured}
    if plan.diagnostics == 0 and diverged:
        return {}
    last = rounds if plan.diagnostics > 0 else 0
    return {name: out.state[:, last, slot].copy() for slot, name in enumerate(state_names) if name not in unmeasured}


@cache
def _versions() -> dict[str, str]:
    return {"cflag_theory": cflag_theory.__version__, "numpy": np.__version__, "numba": version("numba")}


def _config(plan: Plan) -> dict[str, Any]:
    memory = None
    if plan.memory is not None:
        kept = [list(indices) for indices in plan.memory.kept]
        memory = vars(plan.memory) | {"scale": str(plan.memory.scale), "kept": kept}
    return {
        "problem": plan.problem.name,
        "problem_digest": plan.digest,
        "algorithm": row_as_dict(plan.row),
        "memory": memory,
        "alpha": str(plan.alpha),
        "beta": str(plan.beta),
        "local_steps": plan.local_steps,
        "rounds": plan.rounds,
        "participants": plan.problem.clients if plan.framework is None else plan.framework.participants,
        "replicas": plan.replicas,
        "first_replica": plan.first_replica,
        "seed": plan.seed,
        "L": str(plan.L),
        "exact": plan.problem.exact,
        "mode": plan.mode,
        "dtype": plan.dtype,
        "diagnostics": DIAGNOSTICS[plan.diagnostics],
        "every": plan.every,
        "versions": dict(_versions()),
        "engine": plan.engine,
        "loop": plan.loop,
        "orders": plan.orders is not None,
    }
