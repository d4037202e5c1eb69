"""From a caller's arrays to a valid `Problem`: number types, Components, and what every problem must satisfy.

Past tasks that are a multiple of the current one, f = r g, are the simplest problems with an exact r of Assumption 3.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.kernels import formulas
from cflag_theory.kernels.cfl.drifts import NORMAL, Drift
from cflag_theory.kernels.cfl.windows import Windows, longest
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.numbers import Array, Ints
from cflag_theory.kernels.own import potentials
from cflag_theory.kernels.problems.problem import EXACT, Components, Constant, Problem, Seen


def has_fractions(*values: ArrayLike | None) -> bool:
    """Whether any of the arrays holds Python numbers (`Fraction`) instead of machine numbers."""
    return any(value is not None and np.asarray(value).dtype == object for value in values)


def as_numbers(name: str, values: ArrayLike, shape: tuple[int | None, ...], *, exact: bool) -> Array:
    """`values` as a finite float64 or `Fraction` array of this shape; None in the shape leaves a length free."""
    array = np.asarray(values)
    wanted = f"({', '.join('any' if size is None else str(size) for size in shape)})"
    agrees = array.ndim == len(shape) and all(
        size is None or size == length for size, length in zip(shape, array.shape, strict=True)
    )
    if not agrees:
        raise InvalidInput(f"{name} has shape {array.shape}: pass an array of shape {wanted}")
    if array.dtype.kind not in "fiuO":
        raise InvalidInput(f"{name} holds {array.dtype} values: pass real numbers")
    flat = array.ravel().tolist()
    if array.dtype == object:
        wrong = [value for value in flat if not isinstance(value, numbers.Real)]
        if wrong:
            raise InvalidInput(f"{name} holds {wrong[0]!r}: pass Fraction or real numbers")
    if not np.isfinite(array.astype(np.float64)).all():
        raise InvalidInput(f"{name} holds NaN or an infinite value: remove or replace it")
    if not exact:
        return np.ascontiguousarray(array, dtype=np.float64)
    out = np.empty(array.size, dtype=object)
    out[:] = [Fraction(value) for value in flat]
    return out.reshape(array.shape)


def run_number(name: str, value: Any, exact: bool) -> Any:
    """A number of a run's arguments as a float, or as a `Fraction` in exact runs, which take no floats."""
    if not exact:
        return float(value)
    if isinstance(value, float):
        raise InvalidInput(f"{name} is the float {value} in an exact run: pass an integer or a Fraction")
    return Fraction(value)


def as_integers(name: str, values: ArrayLike, count: int) -> Ints:
    """One integer from 0 for each of `count` components: their clients or classes."""
    array = np.asarray(values)
    if array.shape != (count,):
        raise InvalidInput(f"{name} has shape {array.shape}: give one integer to each of the {count} components")
    if array.dtype.kind not in "iu" or (count > 0 and array.min() < 0):
        raise InvalidInput(f"{name} must hold integers 0, 1, ...")
    return array.astype(np.int64)


def grid(values: Array) -> Array:
    """Rounded to multiples of 2^-10: sums of such numbers are exact, and exact replays stay short."""
    return np.asarray(np.round(values * 1024) / 1024)


def assemble(
    task: str, rows: Array, shifts: Array, weights: Array, offsets: Array | None, clients: Ints, count: int
) -> tuple[Components, Ints]:
    """Components of equal size, sorted by client.

    Parameters
    ----------
    task : str
        "past" or "current", for messages.
    rows : (n, R, d), shifts : (n, R), weights : (n, R), offsets : (n, d) or None
        R ridge functions for each of n components.
    clients : (n,)
        The client of every component.
    count : int
        N.

    Returns
    -------
    Components, (n,)
        And the order in which the components now stand.
    """
    n, per_component, d = rows.shape
    if d < 1:
        raise InvalidInput(f"the {task} components have dimension 0: use at least one coordinate")
    counts = np.bincount(clients, minlength=count)
    _no_idle_clients(task, counts)
    order = np.argsort(clients, kind="stable")
    starts = np.concatenate([[0], np.cumsum(counts)])
    none = np.empty((0, d), dtype=rows.dtype)
    return (
        Components(
            rows=np.ascontiguousarray(rows[order].reshape(n * per_component, d)),
            shifts=np.ascontiguousarray(shifts[order].reshape(-1)),
            weights=np.ascontiguousarray(weights[order].reshape(-1)),
            offsets=none if offsets is None or not np.any(offsets) else np.ascontiguousarray(offsets[order]),
            row_start=np.arange(n + 1, dtype=np.int64) * per_component,
            client_start=starts.astype(np.int64),
        ),
        order,
    )


class Task(NamedTuple):
    """The components of one task as they come from a caller: R ridge functions for each of n."""

    rows: Array
    shifts: Array
    weights: Array
    offsets: Array | None
    clients: ArrayLike


def of_tasks(
    family: str,
    name: str,
    potential: int,
    past: Task,
    current: Task,
    *,
    labels: ArrayLike | None,
    p: ArrayLike | None,
    start: ArrayLike | None,
    constants: Callable[[Components, Components], Mapping[str, Constant]],
    notes: tuple[str, ...] = (),
) -> Problem:
    """A valid problem; `labels`, `p` and `start` are what a caller gave or the family's defaults."""
    n, _, d = past.rows.shape
    exact = past.rows.dtype == object
    tasks = {"past": past, "current": current}
    owners = [as_integers(f"{task}_clients", one.clients, len(one.rows)) for task, one in tasks.items()]
    if not all(map(len, owners)):
        raise InvalidInput(
            f"there are {len(owners[0])} past and {len(owners[1])} current components: both tasks need some"
        )
    count = 1 + int(max(one.max() for one in owners))
    (first, order), (second, _) = (
        assemble(task, *one[:4], clients, count) for (task, one), clients in zip(tasks.items(), owners, strict=True)
    )
    classes = np.zeros(n, dtype=np.int64) if labels is None else as_integers("labels", labels, n)
    return validate(
        Problem(
            name=name,
            family=family,
            potential=potential,
            p=client_weights(p, first, second, exact=exact),
            past=first,
            current=second,
            start=as_numbers("start", np.zeros(d, dtype=int) if start is None else start, (d,), exact=exact),
            labels=classes[order],
            constants=constants(first, second),
            notes=notes,
        )
    )


def client_weights(p: ArrayLike | None, past: Components, current: Components, *, exact: bool) -> Array:
    """p as given, or in proportion to the clients' numbers of components."""
    if p is not None:
        return as_numbers("p", p, (len(past.counts),), exact=exact)
    counts = (past.counts + current.counts).tolist()
    return np.array([Fraction(n, sum(counts)) if exact else n / sum(counts) for n in counts])


def validate(problem: Problem, known: Seen | None = None) -> Problem:
    """Return `problem` if its parts agree; arrays that are `known` are tested once."""
    facts = problem.family, problem.potential, potentials.OWN.get(problem.potential)
    if known is None or facts not in known.passed:
        _validate_arrays(problem)
        if known is not None:
            known.passed.add(facts)
    _validate_constants(problem.constants)
    _validate_evolution(problem)
    return problem


def _validate_arrays(problem: Problem) -> None:
    N, d = problem.clients, problem.dimension
    own = potentials.OWN.get(problem.potential)
    if own is None and problem.potential not in formulas.POTENTIALS.values():
        raise UnknownName(f"potential code {problem.potential} is unknown: use one of {formulas.POTENTIALS}")
    potential = potentials.potential_name(problem.potential)
    bounded = own.bounded if own is not None else problem.potential in formulas.BOUNDED
    if N < 1 or d < 1:
        raise InvalidInput(f"the problem has {N} clients and dimension {d}: both must be at least 1")
    for task, part in (("past", problem.past), ("current", problem.current)):
        _validate_layout(task, part, N, d)
        _require_like(f"{task} components", problem.exact, part.rows, part.shifts, part.weights, part.offsets)
        _no_idle_clients(task, part.counts)
        negative = bool((part.weights < 0).any())
        if negative and not bounded and problem.family != "quadratic":
            raise InvalidInput(
                f"a {task} weight is {part.weights.min()} and the potential {potential} is unbounded, so the objective "
                "has no infimum: use weights >= 0, or the potential cosine or geman_mcclure"
            )
    _require_like("p and start", problem.exact, problem.p, problem.start)
    if problem.exact and not potentials.is_rational(problem.potential):
        raise InvalidInput(
            f"the potential {potential} is not rational and cannot run on Fraction: use geman_mcclure, huber or "
            "quadratic"
        )
    total = problem.p.sum()
    if (problem.p < 0).any() or abs(total - 1) > (0 if problem.exact else 1e-12):
        raise InvalidInput(
            f"the client weights p have minimum {problem.p.min()} and sum {total}: use weights >= 0 with sum 1"
        )
    components = len(problem.past.row_start) - 1
    if problem.labels.shape != (components,) or (problem.labels < 0).any():
        raise InvalidInput(
            f"labels have shape {problem.labels.shape} and the past task has {components} components: "
            "give each component one class 0, 1, ..."
        )


def _validate_layout(task: str, part: Components, N: int, d: int) -> None:
    rows = len(part.rows)
    components = len(part.row_start) - 1
    if part.rows.shape != (rows, d):
        raise InvalidInput(f"{task} rows have shape {part.rows.shape} and start has length {d}: make them agree")
    if part.shifts.shape != (rows,) or part.weights.shape != (rows,):
        raise InvalidInput(
            f"the {task} task has {rows} rows, shifts of shape {part.shifts.shape} and weights of shape "
            f"{part.weights.shape}: give each row one shift and one weight"
        )
    if part.offsets.shape not in ((0, d), (components, d)):
        raise InvalidInput(
            f"{task} offsets have shape {part.offsets.shape}: use ({components}, {d}), or (0, {d}) for none"
        )
    for name, starts, end in (("row_start", part.row_start, rows), ("client_start", part.client_start, components)):
        if len(starts) < 1 or starts[0] != 0 or starts[-1] != end or (starts[1:] < starts[:-1]).any():
            raise InvalidInput(f"{task} {name} must rise from 0 to {end}, and is {starts}")
    if len(part.client_start) != N + 1:
        raise InvalidInput(
            f"the {task} task has {len(part.client_start) - 1} clients and p has {N} weights: make them agree"
        )


def _no_idle_clients(task: str, counts: Ints) -> None:
    idle = np.flatnonzero(counts == 0)
    if idle.size:
        raise InvalidInput(f"client {idle[0]} has no {task} components: give it some or drop the client")


def _require_like(name: str, exact: bool, *arrays: Array) -> None:
    for array in arrays:
        if exact != (array.dtype == object):
            raise InvalidInput(f"{name} and start mix Fraction and float: use to_exact, or one type throughout")
        if not exact and not np.isfinite(array).all():
            raise InvalidInput(f"{name} hold NaN or an infinite value: remove or replace it")


def _validate_evolution(problem: Problem) -> None:
    if problem.windows is not None:
        if not isinstance(problem.windows, Windows):
            raise InvalidInput(f"windows are {problem.windows!r}: pass pointer(...), subsets(...) or fresh(...)")
        longest(problem.windows, problem.current.counts)
    if problem.drift is None:
        return
    if not isinstance(problem.drift, Drift):
        raise InvalidInput(f"drift is {problem.drift!r}: pass a Drift")
    if problem.exact and problem.drift.law == NORMAL:
        raise InvalidInput("normal drifts are not rational: exact runs need Drift(law='sign')")


def _validate_constants(constants: Mapping[str, Constant]) -> None:
    for name in ("L", "L_component"):
        if name not in constants:
            raise InvalidInput(f"the constant {name} is missing: step sizes and bounds need it")
        value: Any = constants[name].value
        if not 0 < value < float("inf"):
            raise InvalidInput(f"{name} is {value}: it must be positive and finite, so use some non-zero row")


def check_ratio(r: float, conflict: float) -> None:
    """Refuse tasks that pull apart, for which no r exists."""
    if conflict:
        raise InvalidInput(f"r = {r:g} needs tasks with common stationary points: add the dial conflict=0")


def with_multiple(problem: Problem, r: float) -> Problem:
    """The problem, built with past components that are r times the current ones, with r among its constants."""
    why = "f_i = r g_i for every client, so ||grad f|| = r ||grad g|| at every x; memory of all past data"
    return replace(problem, constants={**problem.constants, "r": Constant(r, EXACT, why)})
