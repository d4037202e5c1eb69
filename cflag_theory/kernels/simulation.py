"""`simulate`: check the arguments, run an engine, return a Trace."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import reference
from cflag_theory.kernels.algorithms import DIAGONAL, FISHER, HERDING, TAYLOR, Algorithm
from cflag_theory.kernels.cfl.framework import framework, is_plain
from cflag_theory.kernels.draws import MAX_CLIENTS
from cflag_theory.kernels.memory.memory import BALANCED, GIVEN, ROTATION, SUBSET, Memory, marks
from cflag_theory.kernels.numbers import Ints
from cflag_theory.kernels.own import potentials
from cflag_theory.kernels.own.algorithms import OwnAlgorithm
from cflag_theory.kernels.own.algorithms import algorithm as row_of
from cflag_theory.kernels.plan import (
    BITWISE,
    COMPILED,
    CUDA,
    DIAGNOSTICS,
    DTYPES,
    ENGINES,
    MODES,
    REFERENCE,
    Outputs,
    Plan,
    empty_outputs,
    require_fit,
)
from cflag_theory.kernels.problems.problem import Problem, Seen, digest, seen
from cflag_theory.kernels.problems.validation import run_number, validate
from cflag_theory.kernels.trace.recording import absent_columns, as_trace, recorded_columns
from cflag_theory.kernels.trace.trace import Trace
from cflag_theory.public import Count, NotNegative, Positive, Whole, one_of, taking

__all__ = ["digest", "simulate"]


@taking
def simulate(
    problem: Problem,
    algorithm: Algorithm | str,
    *,
    beta: Positive,
    alpha: NotNegative = 0,
    local_steps: Count,
    rounds: Count,
    memory: Memory | None = None,
    participants: Count | None = None,
    replicas: Count = 1,
    first_replica: Whole = 0,
    seed: Whole = 0,
    engine: Annotated[str, one_of(*ENGINES)] = COMPILED,
    mode: Annotated[str, one_of(*MODES)] = BITWISE,
    dtype: Annotated[str, one_of(*DTYPES)] = DTYPES[0],
    diagnostics: Annotated[str, one_of(*DIAGNOSTICS)] = "cheap",
    every: Count = 1,
    columns: Sequence[str] | None = None,
    iterates: bool = False,
    orders: ArrayLike | None = None,
    threads: Count | None = None,
    throw: bool = True,
) -> Trace:
    """Run an algorithm on a problem. For C-FLAG this is Algorithm 1 with the round update (24).

    On problems with drifts or windows, and for rows that remember past rounds, it is Algorithm 2 of the CFL paper: beta
    is its local rate, the row's server_rate its global rate, local_steps its K.

    Parameters
    ----------
    problem : Problem
        If its arrays hold `Fraction`, the run is exact and needs engine="reference".
    algorithm : Algorithm or str
        A row, the name of one in `ALGORITHMS`, `own_algorithm(...)`, or FILE.py:name for one that a file holds. The
        reference engine runs functions of the user.
    beta, alpha : number
        Constant step sizes on the current data and on memory; `over_sqrt` gives c / sqrt(T). Integers or `Fraction`
        in exact runs. An algorithm without a memory step takes no alpha.
    local_steps, rounds : int
        E and T, at least 1.
    memory : Memory, optional
        Required by algorithms with a memory step. For other algorithms, b, Gamma and the like are only measured, with
        alpha = 0.
    participants : int, optional
        S clients drawn without replacement every round; the server's mean is over them, with weights p_i / their sum.
        A client's past are the rounds in which it took part. All clients by default.
    replicas, first_replica : int
        Independent runs of the same start; they differ in their draws, which are those of the replicas first_replica,
        first_replica + 1, ... of a larger run.
    seed : int
        In [0, 2^63). Equal seeds give equal draws in both engines, for any number of threads.
    engine : {"compiled", "reference", "cuda"}
        Machine code for floats, plain NumPy for floats and fractions, or an NVIDIA GPU. If Numba cannot
        compile a user's functions, the reference runs instead of "compiled"; `Trace.config` says which engine ran.
    mode : {"bitwise", "fast"}
        Of the compiled engine. "bitwise": a replica's numbers depend on its draws alone, to the last bit. "fast": full
        gradients of three replicas or more are products of matrices, and agree with the others up to rounding. Runs of
        the CFL framework and with diagnostics="all" are bitwise in both.
    dtype : {"float64", "float32"}
        Of the iterates and gradients; columns are float64 in any case.
    diagnostics : {"none", "cheap", "all"}
        "all" adds the columns that need a full local gradient at every local step; "none" measures only the end.
    every : int
        With diagnostics="all": those columns only in rounds 0, every, 2 every, ...; see `Trace.rounds_of`.
    columns : sequence of str, optional
        Record only these columns, and evaluate only what they need; all that `diagnostics` allows by default.
    iterates : bool
        Keep x_0, ..., x_T.
    orders : (rounds, N, E) int array, optional
        Component indices, counted within each client, instead of drawn ones, in every replica; reference engine
        only, and only for plain runs. The entry at k = 0 is not read by delayed gradients.
    threads : int, optional
        Of the compiled engine; default: all usable cores.
    throw : bool
        Whether a run that diverges raises an error; else it returns the rounds before.

    Returns
    -------
    Trace

    Raises
    ------
    InvalidInput
        An argument outside its range; the message names it and the remedy.
    UnknownName
        An algorithm, column, engine, mode, dtype or level of diagnostics that does not exist.
    Diverged
        With `throw`: the numbers of a replica became infinite or NaN.
    """
    row = row_of(algorithm) if isinstance(algorithm, str) else algorithm
    if isinstance(row, OwnAlgorithm):
        engine = _interpreted(f"algorithm {row.name!r}", engine)
    own = potentials.OWN.get(problem.potential)
    if own is not None:
        if own.curvature is None and row.past in (TAYLOR, DIAGONAL, FISHER):
            raise InvalidInput(f"past is {row.past!r} and the potential {own.name!r} has no curvature: pass one")
        if not own.compiled or engine == CUDA:
            engine = _interpreted(f"potential {own.name!r}", engine)
    if problem.own:
        if row.past in (TAYLOR, DIAGONAL, FISHER, HERDING):
            raise InvalidInput(
                f"past is {row.past!r} and the functions of {problem.name!r} have neither second derivatives nor rows: "
                "use past='exact' or 'core set'"
            )
        engine = _for_own(problem, row, engine, alone=orders is None and participants in (None, problem.clients))
    if engine != REFERENCE and (problem.exact or orders is not None):
        what = "holds fractions" if problem.exact else "is to follow given orders"
        raise InvalidInput(f"problem {problem.name!r} {what}, which the {engine} engine cannot: use engine='reference'")
    if engine == CUDA:
        from cflag_theory.kernels.engines.cuda import run as cuda

        cuda.require_gpu()
    known = seen(problem, latest=True)
    _check_problem(problem, known)
    _check_memory(problem, row, memory)
    if memory is not None and memory.kind == GIVEN:
        # The engines then find what is kept where they look for classes.
        problem, known = replace(problem, labels=marks(problem, memory)), None

    exact, clients, level = problem.exact, problem.clients, DIAGNOSTICS.index(diagnostics)
    chosen = clients if participants is None else int(participants)
    if chosen > clients:
        raise InvalidInput(
            f"participants is {participants} and problem {problem.name!r} has {clients} clients: use fewer"
        )
    absent = absent_columns(row, memory, diagnostics=level, exact=exact, columns=columns)
    plan = Plan(
        problem=problem,
        row=row,
        memory=memory,
        alpha=_step_size("alpha", alpha, exact, dtype),
        beta=_step_size("beta", beta, exact, dtype),
        proximal=run_number("proximal weight", row.proximal, exact),
        server_rate=run_number("server_rate", row.server_rate, exact),
        scale=run_number("memory scale", memory.scale if memory is not None else 0, exact),
        L=run_number("L", problem.constants["L"].value, exact),
        memory_share=_memory_share(problem, memory),
        local_steps=int(local_steps),
        rounds=int(rounds),
        replicas=int(replicas),
        seed=int(seed),
        diagnostics=level,
        framework=framework(problem, row, rounds=rounds, participants=chosen, replicas=replicas, meter=level > 1),
        first_replica=int(first_replica),
        mode=mode,
        dtype=dtype,
        every=int(every),
        recorded=recorded_columns(absent),
        absent=absent,
        chosen=columns is not None,
        iterates=iterates,
        engine=engine,
        threads=None if threads is None else int(threads),
        known=known,
    )
    if orders is not None:
        plan = replace(plan, orders=_check_orders(orders, plan))
    _check_plan(plan)
    if plan.framework is not None and isinstance(row, OwnAlgorithm) and row.local is not None:
        raise InvalidInput(
            f"the local step of {row.name!r} needs all clients on fixed local data: leave out participants, drifts and "
            "windows, or keep the local steps of a row and pass server_step alone"
        )
    if plan.alpha != 0 and not row.memory:
        raise InvalidInput(f"alpha is {alpha} and algorithm {row.name!r} has no memory step: leave alpha out")
    require_fit(plan)
    out = empty_outputs(plan)
    _run(plan, out)
    if out.rounds_done.min() < 0:
        raise InvalidInput(
            f"problem {problem.name!r} has no finite value or gradient at its start: scale its rows or start elsewhere"
        )
    trace = as_trace(plan, out)
    if throw:
        trace.raise_if_diverged()
    return trace


def runs_in_python(problem: Problem, algorithm: Algorithm | str) -> bool:
    """Whether the reference engine runs them because of functions of the user that the compiled ones cannot call."""
    row = row_of(algorithm) if isinstance(algorithm, str) else algorithm
    potential = potentials.OWN.get(problem.potential)
    if isinstance(row, OwnAlgorithm) or (potential is not None and not potential.compiled):
        return True
    return problem.own and _for_own(problem, row, COMPILED, alone=True) == REFERENCE


def compiles_first(problem: Problem, algorithm: Algorithm, participants: int | None) -> bool:
    """Whether the compiled engine has to make the loop for these before it runs them, while the reference need not."""
    if problem.own or runs_in_python(problem, algorithm) or not hasattr(os, "posix_spawn"):
        return False
    from cflag_theory.kernels.engines.cpu import run as cpu

    return not cpu.is_kept(plain=is_plain(problem, algorithm, participants or problem.clients))


def compile_apart(problem: Problem, algorithm: Algorithm, participants: int | None) -> None:
    """Let a process that outlives this one make the loop for these, and keep it on disk."""
    row = "fedavg" if is_plain(problem, algorithm, participants or problem.clients) else "cfl"
    code = (
        f"from cflag_theory.kernels import *; simulate(default_problem(), {row!r}, beta=1e-3, local_steps=1, rounds=1)"
    )
    quiet = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in range(3)]
    os.posix_spawn(sys.executable, [sys.executable, "-c", code], os.environ, file_actions=quiet, setpgroup=0)


def _interpreted(what: str, engine: str) -> str:
    """The reference engine, in place of the compiled one, for what only Python can call."""
    if engine == CUDA:
        raise InvalidInput(
            f"{what} holds functions of your own, which the cuda engine cannot run: leave out the engine"
        )
    return REFERENCE


def _for_own(problem: Problem, row: Algorithm, engine: str, *, alone: bool) -> str:
    """The compiled engine where its loop for a user's own components runs such a plan, else the reference."""
    if engine == COMPILED and alone and not isinstance(row, OwnAlgorithm):
        from cflag_theory.kernels.engines.own import rounds

        if rounds.runs(problem, row):
            return engine
    return _interpreted(f"problem {problem.name!r}", engine)


def _run(plan: Plan, out: Outputs) -> None:
    if plan.engine == REFERENCE:
        reference.run(plan, out)
    elif plan.problem.own:
        from cflag_theory.kernels.engines.own import rounds

        rounds.run(plan, out)
    elif plan.engine == CUDA:
        from cflag_theory.kernels.engines.cuda import run as cuda

        cuda.run(plan, out)
    else:
        # Numba takes a second to import, and the reference does not need it.
        from cflag_theory.kernels.engines.cpu import run as cpu

        cpu.run(plan, out)


def _check_problem(problem: Problem, known: Seen | None) -> None:
    validate(problem, known)
    if problem.exact:
        _require_fractions(problem)
    if problem.clients >= MAX_CLIENTS:
        raise InvalidInput(f"problem {problem.name!r} has {problem.clients} clients: use fewer than {MAX_CLIENTS}")


def _check_plan(plan: Plan) -> None:
    if plan.first_replica + plan.replicas > 1 << 32:
        raise InvalidInput(
            f"replicas is {plan.replicas}"
            + (f" and first_replica is {plan.first_replica}" if plan.first_replica else "")
            + ": replicas are counted below 2^32"
        )
    if plan.every > 1 and plan.diagnostics < 2:
        raise InvalidInput(
            f"every is {plan.every} and diagnostics is {DIAGNOSTICS[plan.diagnostics]!r}: only the columns of "
            "diagnostics='all' can be left out in some rounds"
        )
    if plan.dtype != DTYPES[0] and (plan.engine == REFERENCE or plan.problem.own or plan.framework is not None):
        what = (
            "the reference engine"
            if plan.engine == REFERENCE
            else f"the loop for the functions of {plan.problem.name!r}"
            if plan.problem.own
            else f"the CFL framework, which {plan.row.name!r} needs here,"
        )
        raise InvalidInput(f"{what} runs in float64 alone: leave out dtype={plan.dtype!r}")


def _require_fractions(problem: Problem) -> None:
    """An integer among fractions would turn a quotient into a float."""
    arrays = [problem.p, problem.start]
    for part in (problem.past, problem.current):
        arrays += [part.rows, part.shifts, part.weights, part.offsets]
    for array in arrays:
        for value in array.ravel().tolist():
            if not isinstance(value, Fraction):
                raise InvalidInput(f"problem {problem.name!r} holds {value!r} among its fractions: use to_exact")


def _check_memory(problem: Problem, row: Algorithm, memory: Memory | None) -> None:
    if memory is None:
        if row.memory:
            raise InvalidInput(f"algorithm {row.name!r} steps on memory and memory is None: pass a Memory")
        return
    if memory.kind == ROTATION and problem.dimension < 2:
        raise InvalidInput(f"a rotation memory needs d >= 2 and problem {problem.name!r} has d = 1: use a sign bias")
    if memory.kind == ROTATION and problem.exact and memory.angle != np.pi / 2:
        raise InvalidInput(f"a rotation by {memory.angle} is not rational: exact runs need the angle pi/2")


def _memory_share(problem: Problem, memory: Memory | None) -> Any:
    remembered = problem.past.counts
    if memory is not None and memory.kind in (SUBSET, BALANCED):
        remembered = np.minimum(remembered, memory.size)
    if memory is not None and memory.kind == GIVEN:
        remembered = np.array([len(kept) for kept in memory.kept])
    share = Fraction(int(remembered.sum()), int(remembered.sum() + problem.current.counts.sum()))
    return share if problem.exact else float(share)


def _step_size(name: str, value: Any, exact: bool, dtype: str) -> Any:
    if not exact and 0 < value < np.finfo(dtype).tiny:
        floats, smallest = ("floats", "1e-300") if dtype == DTYPES[0] else (f"{dtype} numbers", "1e-37")
        raise InvalidInput(f"{name} is {value!r}, which {floats} hold with few digits only: use at least {smallest}")
    return run_number(name, value, exact)


def _check_orders(orders: ArrayLike, plan: Plan) -> Ints:
    if plan.framework is not None:
        raise InvalidInput("orders are only for fixed local data and clients that remember nothing: leave them out")
    array = np.asarray(orders)
    wanted = (plan.rounds, plan.problem.clients, plan.local_steps)
    if array.shape != wanted or array.dtype.kind not in "iu":
        raise InvalidInput(f"orders have shape {array.shape} and type {array.dtype}: pass integers of shape {wanted}")
    if (array < 0).any() or (array >= plan.problem.current.counts[:, None]).any():
        raise InvalidInput("orders name a component that its client does not have: count from 0 within each client")
    return array.astype(np.int64)
