"""`simulate`: check the arguments, run an engine, hand back a Trace."""

from __future__ import annotations

import hashlib
import operator
from dataclasses import asdict
from fractions import Fraction
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import cflag_theory
from cflag_theory.errors import InvalidInput, UnknownName

from . import algorithms, reference
from .algorithms import NO_PAST, Algorithm, is_finite_real, row_as_dict
from .draws import MAX_CLIENTS
from .framework import framework
from .memory import BALANCED, ROTATION, SUBSET, Memory
from .plan import DIAGNOSTICS, Outputs, Plan, empty_outputs
from .problem import Ints, Problem
from .trace import COLUMNS, PER_CLIENT, ROUND, STATE, Trace, ratio
from .validation import run_number, validate

ENGINES = ("compiled", "reference")
OF_MEMORY = ("h", "grad_h2", "grad_memory2", "b2", "Gamma", "B", "m_met", "r2_met", "Lambda")
OF_FUNCTION = ("h", "grad_h2")
OF_FULL_GRADIENTS = ("iag_error2_max", "rho_sum2", "error_sum2", "information_loss")


def simulate(
    problem: Problem,
    algorithm: Algorithm | str,
    *,
    beta: Any,
    alpha: Any = 0,
    local_steps: int,
    rounds: int,
    memory: Memory | None = None,
    participants: int | None = None,
    replicas: int = 1,
    seed: int = 0,
    engine: str = "compiled",
    diagnostics: str = "cheap",
    iterates: bool = False,
    orders: ArrayLike | None = None,
    threads: int | None = None,
    throw: bool = True,
) -> Trace:
    """Run an algorithm on a problem: the loop of `algorithms`, for C-FLAG Algorithm 1 with round update (24).

    On problems with drifts or windows, and for rows that remember past rounds, Algorithm 2 of the CFL paper: beta is
    its local rate, the row's server_rate its global one, local_steps its K.

    Parameters
    ----------
    problem : Problem
        If its arrays hold `Fraction`, the run is exact and needs engine="reference".
    algorithm : Algorithm or str
        A row, or the name of one in `ALGORITHMS`.
    beta, alpha : number
        Constant step sizes on the current data and on memory; `over_sqrt` gives c / sqrt(T). Integers or `Fraction`
        in exact runs. An algorithm without a memory step takes no alpha.
    local_steps, rounds : int
        E and T, at least 1.
    memory : Memory, optional
        Required by algorithms with a memory step. For the others it is only measured: b, Gamma and the like are then
        those of alpha = 0.
    participants : int, optional
        S clients drawn without replacement every round; the server's mean is over them, with weights p_i / their sum.
        A client's past are the rounds in which it took part. All clients by default.
    replicas : int
        Independent runs of the same start; they differ in their draws.
    seed : int
        In [0, 2^63). Equal seeds give equal draws in both engines, for any number of threads.
    engine : {"compiled", "reference"}
        Machine code for floats, or plain NumPy for floats and fractions.
    diagnostics : {"none", "cheap", "all"}
        "all" adds the columns that need a full local gradient at every local step; "none" measures the end only.
    iterates : bool
        Keep x_0, ..., x_T.
    orders : (rounds, N, E) int array, optional
        Component indices, counted within each client, instead of drawn ones, in every replica; reference engine
        only, and only for plain runs. The entry at k = 0 is not read by delayed gradients.
    threads : int, optional
        Of the compiled engine; default all usable cores.
    throw : bool
        Whether a run that diverges raises, or returns the rounds before.

    Returns
    -------
    Trace

    Raises
    ------
    InvalidInput
        An argument outside its range; the message names it and the remedy.
    UnknownName
        An algorithm, engine or level of diagnostics that does not exist.
    Diverged
        With `throw`: some replica left the finite numbers.
    """
    row = algorithms.algorithm(algorithm) if isinstance(algorithm, str) else algorithm
    if engine not in ENGINES:
        raise UnknownName(f"engine {engine!r} is unknown: use one of {', '.join(ENGINES)}")
    if diagnostics not in DIAGNOSTICS:
        raise UnknownName(f"diagnostics {diagnostics!r} is unknown: use one of {', '.join(DIAGNOSTICS)}")
    if engine == "compiled" and (problem.exact or orders is not None):
        what = "holds fractions" if problem.exact else "is to follow given orders"
        raise InvalidInput(f"problem {problem.name!r} {what}, which the compiled engine cannot: use engine='reference'")
    validate(problem)
    if problem.exact:
        _require_fractions(problem)
    if problem.clients >= MAX_CLIENTS:
        raise InvalidInput(f"problem {problem.name!r} has {problem.clients} clients: use fewer than {MAX_CLIENTS}")
    _check_memory(problem, row, memory)

    exact, clients = problem.exact, problem.clients
    rounds, replicas = _at_least("rounds", rounds, 1), _at_least("replicas", replicas, 1)
    chosen = clients if participants is None else _at_least("participants", participants, 1)
    if chosen > clients:
        raise InvalidInput(
            f"participants is {participants} and problem {problem.name!r} has {clients} clients: use fewer"
        )
    plan = Plan(
        problem=problem,
        row=row,
        memory=memory,
        alpha=_step_size("alpha", alpha, exact, zero=True),
        beta=_step_size("beta", beta, exact, zero=False),
        proximal=run_number("proximal weight", row.proximal, exact),
        server_rate=run_number("server_rate", row.server_rate, exact),
        scale=run_number("memory scale", memory.scale if memory is not None else 0, exact),
        L=run_number("L", problem.constants["L"].value, exact),
        memory_share=_memory_share(problem, memory),
        local_steps=_at_least("local_steps", local_steps, 1),
        rounds=rounds,
        replicas=replicas,
        seed=_at_least("seed", seed, 0),
        diagnostics=DIAGNOSTICS.index(diagnostics),
        framework=framework(
            problem, row, rounds=rounds, participants=chosen, replicas=replicas, meter=diagnostics == DIAGNOSTICS[2]
        ),
    )
    if plan.alpha != 0 and not row.memory:
        raise InvalidInput(f"alpha is {alpha} and algorithm {row.name!r} has no memory step: leave alpha out")
    if plan.seed >= 1 << 63:
        raise InvalidInput(f"seed is {seed}: use an integer below 2^63")

    if plan.framework is not None and orders is not None:
        raise InvalidInput("orders belong to fixed local data and clients that remember nothing: leave them out")

    out = empty_outputs(plan, iterates=iterates)
    if engine == "reference":
        reference.run(plan, out, None if orders is None else _check_orders(orders, plan))
    else:
        # Numba takes a second to import, and the reference does not need it.
        from . import cpu

        cpu.run(plan, out, threads=None if threads is None else _at_least("threads", threads, 1))
    if out.rounds_done.min() < 0:
        raise InvalidInput(
            f"problem {problem.name!r} has no finite value or gradient at its start: scale its rows or start elsewhere"
        )
    trace = _trace(plan, out, {"engine": engine, "diagnostics": diagnostics, "orders": orders is not None})
    if throw:
        trace.raise_if_diverged()
    return trace


def _trace(plan: Plan, out: Outputs, settings: dict[str, Any]) -> Trace:
    rounds = int(out.rounds_done.min())
    diverged = bool(out.status.any())
    absent = _absent(plan)
    columns = {name: out.state[:, :rounds, slot] for slot, name in enumerate(STATE)}
    columns |= {name: out.per_round[:, :rounds, slot] for slot, name in enumerate(ROUND)}
    columns |= dict.fromkeys(PER_CLIENT, out.Lambda[:, :rounds])
    columns = {name: column.copy() for name, column in columns.items() if name not in absent}
    if "m_met" not in absent:
        columns["m_met"] = ratio(columns["b2"], columns["grad_f2"])
        columns["r2_met"] = ratio(columns["grad_memory2"], columns["grad_g2"])
    end = {}
    if plan.diagnostics > 0 or not diverged:
        slot_of_end = rounds if plan.diagnostics > 0 else 0
        unmeasured = _absent_with_memory(plan.memory)
        end = {
            name: out.state[:, slot_of_end, slot].copy() for slot, name in enumerate(STATE) if name not in unmeasured
        }
    return Trace(
        columns=columns,
        end=end,
        status=out.status,
        rounds_done=out.rounds_done,
        absent=absent,
        config=_config(plan) | settings,
        iterates=out.iterates[:, : rounds + 1].copy() if out.iterates.size else None,
    )


def _absent(plan: Plan) -> dict[str, str]:
    if plan.diagnostics == 0:
        return dict.fromkeys(COLUMNS, "the run had diagnostics='none', use 'cheap' or 'all'")
    absent = _absent_with_memory(plan.memory)
    if plan.diagnostics == 1:
        absent |= dict.fromkeys(OF_FULL_GRADIENTS, "it needs full gradients at local steps, use diagnostics='all'")
    if plan.row.past == NO_PAST:
        absent["information_loss"] = f"algorithm {plan.row.name!r} remembers no past rounds"
    elif plan.problem.exact:
        absent["information_loss"] = "norms are not rational, run it on floats"
    return absent


def _absent_with_memory(memory: Memory | None) -> dict[str, str]:
    if memory is None:
        return dict.fromkeys(OF_MEMORY, "the run had no memory, pass one to simulate")
    if memory.kind == ROTATION:
        return dict.fromkeys(OF_FUNCTION, "a rotated gradient is the gradient of no f_memory, use another memory")
    return {}


def _require_fractions(problem: Problem) -> None:
    """An integer among fractions would turn a quotient into a float."""
    arrays = [problem.p, problem.start]
    for part in (problem.past, problem.current):
        arrays += [part.rows, part.shifts, part.weights, part.offsets]
    for array in arrays:
        for value in array.ravel().tolist():
            if type(value) is not Fraction:
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
    share = Fraction(int(remembered.sum()), int(remembered.sum() + problem.current.counts.sum()))
    return share if problem.exact else float(share)


def _step_size(name: str, value: Any, exact: bool, *, zero: bool) -> Any:
    if not (is_finite_real(value) and (value > 0 or (zero and value == 0))):
        wanted = "not negative" if zero else "positive"
        raise InvalidInput(f"{name} is {value!r}: use a finite number that is {wanted}")
    return run_number(name, value, exact)


def _at_least(name: str, value: Any, smallest: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidInput(f"{name} is {value!r}: use an integer of at least {smallest}") from None
    if number < smallest:
        raise InvalidInput(f"{name} is {value}: use an integer of at least {smallest}")
    return number


def _check_orders(orders: ArrayLike, plan: Plan) -> Ints:
    array = np.asarray(orders)
    wanted = (plan.rounds, plan.problem.clients, plan.local_steps)
    if array.shape != wanted or array.dtype.kind not in "iu":
        raise InvalidInput(f"orders have shape {array.shape} and type {array.dtype}: pass integers of shape {wanted}")
    if (array < 0).any() or (array >= plan.problem.current.counts[:, None]).any():
        raise InvalidInput("orders name a component that its client does not have: count from 0 within each client")
    return array.astype(np.int64)


def _config(plan: Plan) -> dict[str, Any]:
    memory = None
    if plan.memory is not None:
        memory = asdict(plan.memory) | {"scale": str(plan.memory.scale)}
    return {
        "problem": plan.problem.name,
        "problem_digest": digest(plan.problem),
        "algorithm": row_as_dict(plan.row),
        "memory": memory,
        "alpha": str(plan.alpha),
        "beta": str(plan.beta),
        "local_steps": plan.local_steps,
        "rounds": plan.rounds,
        "participants": plan.problem.clients if plan.framework is None else plan.framework.participants,
        "replicas": plan.replicas,
        "seed": plan.seed,
        "L": str(plan.L),
        "exact": plan.problem.exact,
        "versions": {
            "cflag_theory": cflag_theory.__version__,
            "numpy": np.__version__,
            "numba": version("numba"),
        },
    }


def digest(problem: Problem) -> str:
    """A hash of all arrays of a problem: whether a replay starts from the same numbers."""
    hashed = hashlib.sha256()
    arrays = [problem.p, problem.start, problem.labels]
    for part in (problem.past, problem.current):
        arrays += [part.rows, part.shifts, part.weights, part.offsets, part.row_start, part.client_start]
    for array in arrays:
        # The bytes of an object array are addresses, not values.
        hashed.update(repr(array.tolist()).encode() if array.dtype == object else array.tobytes())
    if problem.evolving:
        hashed.update(repr((problem.drift, problem.windows)).encode())
    return hashed.hexdigest()[:16]
