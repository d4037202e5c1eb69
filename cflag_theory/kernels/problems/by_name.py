"""All problems by name, the toolkit's default experiment, and the passage to exact arithmetic."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from cflag_theory.errors import CflagError, InvalidInput, UnknownName
from cflag_theory.kernels import formulas
from cflag_theory.kernels.cfl.drift_models import evolving, noisy_quadratic, random_evolving
from cflag_theory.kernels.cfl.drifts import NUMBERS
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.memory.memory import Memory, uniform
from cflag_theory.kernels.numbers import Array, is_integer
from cflag_theory.kernels.own.files import is_plug_in, load
from cflag_theory.kernels.own.functions import Function
from cflag_theory.kernels.own.potentials import OWN, is_rational
from cflag_theory.kernels.problems.glm import glm, random_glm
from cflag_theory.kernels.problems.problem import Components, Constant, Problem
from cflag_theory.kernels.problems.quadratic import gradient_descent, quadratic, quadratic_smoothness, random_quadratic
from cflag_theory.kernels.problems.separable import random_separable, separable
from cflag_theory.kernels.problems.smoothness import ridge_smoothness
from cflag_theory.kernels.problems.validation import validate
from cflag_theory.public import Number, hints_of, quoted, require
from cflag_theory.sizes import require_room

Made = TypeVar("Made")

__all__ = [
    "PROBLEMS",
    "constructor",
    "default_memory",
    "default_problem",
    "evolving",
    "glm",
    "gradient_descent",
    "make_problem",
    "noisy_quadratic",
    "quadratic",
    "random_evolving",
    "random_glm",
    "random_quadratic",
    "random_separable",
    "separable",
    "to_exact",
    "validate",
    "with_dials",
]


def default_problem(*, seed: int = 0) -> Problem:
    """The default experiment: two tasks that interfere, with all constants known.

    Separable with the Geman-McClure potential: N = 5 clients with 20 past and 20 current components each, d = 10, and
    stationary points that differ between the tasks in every coordinate, so r is infinite (see the
    notes) and progress on g increases f. Its memory is `default_memory`, with m < 1 for every draw.
    """
    return replace(random_separable(heterogeneity=0.9, seed=seed), name="default")


def default_memory() -> Memory:
    """The memory of the default experiment: 5 past components per client, chosen uniformly."""
    return uniform(5)


#: Name -> constructor, whose keyword arguments are the problem's dials.
PROBLEMS: Mapping[str, Callable[..., Problem]] = MappingProxyType(
    {
        "default": default_problem,
        "glm": random_glm,
        "separable": random_separable,
        "quadratic": random_quadratic,
        "noisy_quadratic": noisy_quadratic,
        "evolving": random_evolving,
    }
)


def make_problem(name: str, /, **dials: Any) -> Problem:
    """The problem of this name, or FILE.py:name; its parameters are keywords.

    Raises
    ------
    UnknownName
        No such problem, or it has no such dial.
    InvalidInput
        A dial outside its range, or a file that holds no problem of this name.
    """
    return with_dials(f"problem {name!r}", constructor(name), dials)


def constructor(name: str) -> Callable[..., Problem]:
    """What makes the problem of this name: one of `PROBLEMS`, or a function or a Problem of FILE.py:name."""
    if not is_plug_in(name):
        if name not in PROBLEMS:
            known = f"use one of {', '.join(PROBLEMS)}, or FILE.py:name for your own"
            raise UnknownName(f"problem {name!r} is unknown: {known}")
        return PROBLEMS[name]
    found = load(name)
    if not isinstance(found, Problem) and not callable(found):
        raise InvalidInput(f"{name} is {type(found).__name__}: let it name a Problem or a function that returns one")

    dials = {} if isinstance(found, Problem) else dict(inspect.signature(found).parameters)

    def make(**given: Any) -> Problem:
        missing = [dial for dial, one in dials.items() if one.default is one.empty and dial not in given]
        if missing:
            raise InvalidInput(f"{name} needs the dial {missing[0]!r}: give it, as a number")
        made = found if isinstance(found, Problem) else Function(name, found).of(**given)
        if not isinstance(made, Problem):
            raise InvalidInput(f"{name} returned {type(made).__name__}: return a Problem, such as finite_sum(...)")
        return made

    make.__signature__ = inspect.Signature(list(dials.values()))  # type: ignore[attr-defined]
    return make


def with_dials(what: str, constructor: Callable[..., Made], dials: Mapping[str, Any]) -> Made:
    """What a constructor makes of these keyword arguments, which are checked first; errors call it `what`."""
    known, hints = inspect.signature(constructor).parameters, hints_of(constructor)
    for dial in dials:
        if dial not in known:
            raise UnknownName(f"{what} has no dial {dial!r}: use one of {', '.join(known) or 'none'}")
    for dial, value in dials.items():
        if is_integer(value):
            # Of no more digits than can be written; what is too much for the memory is said below.
            require(dial, value, Number)
    sizes = {name: one.default for name, one in known.items()} | dict(dials)
    shown = ", ".join(f"{name} = {quoted(sizes[name])}" for name in _SIZES if name in sizes)
    require_room(_bytes(constructor, sizes), f"{what} with {shown}", "use smaller ones")
    for dial, value in dials.items():
        require(dial, value, hints.get(dial) or _kind_of(known[dial].default))
    try:
        return constructor(**dials)
    # Of NumPy, about shapes that no array can have.
    except (ValueError, OverflowError) as error:
        if isinstance(error, CflagError):
            raise
        raise InvalidInput(f"{what} cannot be made ({error}): use smaller dials") from error


_SIZES = ("tasks", "clients", "components", "past", "current", "dimension")


def _bytes(constructor: Callable[..., Any], dials: Mapping[str, Any]) -> int:
    """What the rows take, with the copies that are made of them on the way; 0 for sizes that are refused."""
    # A user's own function may have other things by these names.
    given = (dials.get(name, 0) for name in _SIZES)
    tasks, clients, components, past, current, d = (max(0, one) if isinstance(one, int) else 0 for one in given)
    # Their components have a row for each coordinate.
    width = d * d if constructor in (random_quadratic, random_separable, noisy_quadratic) else d
    components = past + current or max(2, tasks) * max(1, components)
    return int(32 * clients * components * width)


def _kind_of(default: Any) -> Any:
    """What a dial of a user's own function takes, by its default."""
    return type(default) if isinstance(default, bool | str | int) else Number


def to_exact(problem: Problem) -> Problem:
    """The same problem on `Fraction`, with its constants certified again.

    Every number becomes the fraction that the float is. Only p may change, by less than rounding, so that it sums to
    one exactly: to nearby simple fractions (1/5 for 0.2) if these do.

    Raises
    ------
    InvalidInput
        The potential is not rational, the drifts are normal, or the rows of a separable problem are orthonormal only up
        to rounding.
    """
    if problem.exact:
        return problem
    if problem.own:
        raise InvalidInput(f"{problem.name!r} holds functions of your own: give finite_sum a start of Fraction")
    if not is_rational(problem.potential):
        names = [name for name, code in formulas.POTENTIALS.items() if code in formulas.RATIONAL]
        raise InvalidInput(f"the potential of {problem.name!r} is not rational: use one of {', '.join(names)}")
    past, current = _exact_components(problem.past), _exact_components(problem.current)
    start, p, drift = _fractions(problem.start), _exact_weights(problem.p), problem.drift
    if drift is not None:
        numbers: dict[str, Any] = {name: Fraction(getattr(drift, name)) for name in NUMBERS}
        drift = replace(drift, **numbers)
    if problem.family == "separable":
        d = problem.dimension
        rebuilt = separable(
            past.weights.reshape(-1, d),
            np.repeat(np.arange(problem.clients), past.counts),
            current.weights.reshape(-1, d),
            np.repeat(np.arange(problem.clients), current.counts),
            potential=OWN.get(problem.potential, problem.potential_name),
            rotation=past.rows[:d],
            past_shift=past.shifts[:d],
            current_shift=current.shifts[:d],
            labels=problem.labels,
            p=p,
            start=start,
            name=problem.name,
        )
        return validate(replace(rebuilt, notes=problem.notes, drift=drift, windows=problem.windows))
    constants: dict[str, Constant] = (
        quadratic_smoothness(past, current)
        if problem.family == "quadratic"
        else ridge_smoothness(problem.potential, past, current)
    )
    return validate(replace(problem, p=p, past=past, current=current, start=start, constants=constants, drift=drift))


def _exact_components(part: Components) -> Components:
    return replace(
        part,
        rows=_fractions(part.rows),
        shifts=_fractions(part.shifts),
        weights=_fractions(part.weights),
        offsets=_fractions(part.offsets),
    )


def _fractions(array: Array) -> Array:
    out = np.empty(array.size, dtype=object)
    out[:] = [Fraction(value) for value in array.ravel().tolist()]
    return out.reshape(array.shape)


def _exact_weights(p: Array) -> Array:
    simple = [Fraction(value).limit_denominator(10**6) for value in p.tolist()]
    if sum(simple) == 1 and [float(value) for value in simple] == p.tolist():
        return np.array(simple)
    exact = _fractions(p)
    return np.asarray(exact / exact.sum())
