"""Finite sums of the user's own functions: any smooth components, as values and gradients, become a Problem."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.formulas import QUADRATIC
from cflag_theory.kernels.numbers import Array, Ints
from cflag_theory.kernels.own.checks import check_gradients, smoothness
from cflag_theory.kernels.own.functions import Function, identity, shown
from cflag_theory.kernels.problems.objective import values
from cflag_theory.kernels.problems.problem import STATED, Components, Constant, Problem
from cflag_theory.kernels.problems.validation import (
    as_integers,
    as_numbers,
    client_weights,
    has_fractions,
    run_number,
    validate,
)
from cflag_theory.public import Number, Positive, quoted


@dataclass(frozen=True, eq=False)
class OwnSum:
    """The components of one task: value(x, data[j]) and gradient(x, data[j]) of component j, counted over clients."""

    value: Function
    gradient: Function
    #: One entry a component: rows of an array, or anything.
    data: Any
    #: "past" or "current", for messages.
    task: str

    def mean_value(self, chosen: Ints, x: Array) -> Any:
        """The mean of the components with the indices `chosen`, at x of shape (d,)."""
        seen, value, total = shown(x), self.value, x[0] * 0
        for j in chosen:
            total = total + value.scalar(value.of(seen, self.data[j]), x)
        return total / len(chosen)

    def mean_gradient(self, chosen: Ints, x: Array) -> Array:
        """The gradient of that mean, shape (d,)."""
        seen, gradient, total = shown(x), self.gradient, x * 0
        for j in chosen:
            total = total + gradient.vector(gradient.of(seen, self.data[j]), x, "the gradient, a vector")
        return np.asarray(total / len(chosen))

    @cached_property
    def identity(self) -> str:
        """A hash of the functions and their data."""
        data = self.data
        plain = isinstance(data, np.ndarray) and data.dtype != object
        held = np.ascontiguousarray(data).tobytes() if plain else repr(list(data)).encode()
        return identity(self.value.function, self.gradient.function) + hashlib.sha256(held).hexdigest()[:16]


def finite_sum(
    functions: Any,
    *,
    past: Sequence[Any],
    current: Sequence[Any],
    start: ArrayLike,
    L: Positive | None = None,
    L_component: Positive | None = None,
    lower: Number | None = None,
    p: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    name: str = "own problem",
    notes: tuple[str, ...] = (),
) -> Problem:
    """A problem whose components are functions of your own: component j of a client is value(x, data[j]).

    The functions may be any smooth ones. They are called with x, a read-only vector (d,), and the component's data.
    This function checks the gradients against the values once.

    Parameters
    ----------
    functions : pair of callables, or object
        value(x, data), a number, and gradient(x, data), a vector (d,); or an object with these two methods. If Numba
        can compile them, the compiled engine runs them, else the reference engine.
    past, current : sequence of N sequences
        The data of every client's components: arrays whose first axis counts components, or lists of anything.
    start : (d,)
        x_0. Fractions make the problem exact; the functions must then return fractions for fractions.
    L, L_component : number, optional
        Lipschitz constants of the gradients of every client's mean, and of every component. Without them they are
        measured, which gives lower bounds, and is refused in exact problems.
    lower : number, optional
        A number that the past objective f is never below; bounds of rates need it.
    p, labels, name, notes
        As in `Problem`; `labels` has one entry a past component.

    Raises
    ------
    InvalidInput
        A function that raises, returns NaN or another shape, or writes to x; a gradient that is not that of the value;
        an L that the gradients contradict; clients without components.
    """
    value, gradient = _pair(functions)
    exact = has_fractions(start, p) if p is not None else has_fractions(start)
    x = as_numbers("start", start, (None,), exact=exact)
    if len(x) < 1:
        raise InvalidInput("start has length 0: give the problem at least one coordinate")
    if len(past) != len(current) or len(past) < 1:
        raise InvalidInput(f"past has {len(past)} clients and current has {len(current)}: list the same in both")
    tasks = [
        _components(task, listed, OwnSum(value, gradient, _data(task, listed), task), x)
        for task, listed in (("past", past), ("current", current))
    ]
    # Tasks of the same data have the same components.
    distinct = tasks[:1] if past is current else tasks
    check_gradients(distinct, x)
    count = len(tasks[0].row_start) - 1
    weights = client_weights(p, *tasks, exact=exact)
    constants = smoothness(distinct, x, L=L, L_component=L_component)
    if lower is not None:
        if weights @ values(QUADRATIC, tasks[0], x) < lower:
            raise InvalidInput(f"lower is {lower!r} and f is below it at x_0: state a number that f is never below")
        constants["lower"] = Constant(run_number("lower", lower, exact), STATED, "f is never below it, as stated")
    return validate(
        Problem(
            name=name,
            family="own",
            potential=QUADRATIC,
            p=weights,
            past=tasks[0],
            current=tasks[1],
            start=x,
            labels=np.zeros(count, dtype=np.int64) if labels is None else as_integers("labels", labels, count),
            constants=constants,
            notes=(*notes, *_notes(constants)),
        )
    )


def _pair(functions: Any) -> tuple[Function, Function]:
    found: list[Callable[..., Any] | None] = []
    if isinstance(functions, tuple | list) and len(functions) == 2:
        found = list(functions)
    else:
        found = [getattr(functions, name, None) for name in ("value", "gradient")]
    if not all(callable(one) for one in found):
        raise InvalidInput(
            f"functions are {quoted(functions)}: pass the pair (value, gradient), or an object with these two methods"
        )
    return Function("value", found[0]), Function("gradient", found[1])  # type: ignore[arg-type]


def _data(task: str, listed: Sequence[Any]) -> Any:
    for i, one in enumerate(listed):
        if not hasattr(one, "__len__") or len(one) == 0:
            raise InvalidInput(f"client {i} has no {task} components: list the data of one or more")
    arrays = [np.asarray(one) if isinstance(one, np.ndarray) else None for one in listed]
    shapes = {one.shape[1:] for one in arrays if one is not None}
    if len(shapes) != 1 or any(one is None or one.dtype.kind not in "fiu" for one in arrays):
        return tuple(shown(row) if isinstance(row, np.ndarray) else row for one in listed for row in one)
    stacked = np.concatenate([np.asarray(one, dtype=np.float64) for one in listed])
    return shown(stacked)


def _components(task: str, listed: Sequence[Any], functions: OwnSum, x: Array) -> Components:
    counts = [len(one) for one in listed]
    none = np.empty((0, len(x)), dtype=x.dtype)
    return Components(
        rows=none,
        shifts=none[:, 0],
        weights=none[:, 0],
        offsets=none,
        row_start=np.zeros(sum(counts) + 1, dtype=np.int64),
        client_start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        functions=functions,
    )


def _notes(constants: Mapping[str, Constant]) -> tuple[str, ...]:
    """What a reader of step sizes must know."""
    measured = [name for name, one in constants.items() if one.kind != STATED]
    if not measured:
        return ()
    verb = "are measured, so they are lower bounds" if len(measured) > 1 else "is measured, so it is a lower bound"
    return (f"{' and '.join(measured)} {verb}: a step size that needs the true constant may be too large",)
