"""Algorithms of the user: a local step, a server step with a state, or both, in the loop of `reference`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.kernels import algorithms
from cflag_theory.kernels.algorithms import (
    CONSTANT,
    DELAYED,
    FULL,
    NONE,
    ROUND_UPDATE,
    STOCHASTIC,
    TRACKING,
    Algorithm,
)
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.own.files import is_plug_in, load
from cflag_theory.kernels.own.functions import Function, identity, read, shown

#: What a local step may name besides numbers, at client i and local step k of round t.
OF_A_STEP = (
    "x",
    "gradient",
    "full_gradient",
    "delayed_gradient",
    "gradient_at_x_t",
    "x_t",
    "grad_g",
    "grad_g_i",
    "k",
    "i",
    "t",
)
#: What a server step may name besides numbers.
OF_A_SERVER = ("x_t", "displacement", "grad_f_memory", "state", "t")
#: Numbers of the run that both may name.
NUMBERS = ("beta", "alpha", "E", "T", "N")


@dataclass(frozen=True)
class OwnAlgorithm(Algorithm):
    """A row whose local step, server step or both are functions of the user; `own_algorithm` makes one."""

    #: None keeps what the other fields of the row say.
    local: Any = None
    server_function: Function | None = None
    #: The server's state before round 0, as a function of x_0, or a value.
    first_state: Any = None
    #: Numbers that the functions take besides those of the run.
    settings: tuple[tuple[str, Any], ...] = ()

    @property
    def own(self) -> dict[str, Any]:
        """Where the functions are and what they are called with, for records."""
        parts = [part for part in (self.local, self.server_function) if isinstance(part, Function)]
        functions = {part.what: part.where.rstrip(": ") for part in parts}
        return functions | {
            "own": identity(*(part.function for part in parts)),
            "settings": {name: str(value) for name, value in self.settings},
        }


def own_algorithm(
    local_step: Callable[..., Any] | None = None,
    server_step: Callable[..., Any] | None = None,
    *,
    server_state: Any = None,
    row: str | Algorithm | None = None,
    memory: bool | None = None,
    name: str | None = None,
    **settings: Any,
) -> OwnAlgorithm:
    """An algorithm from functions, for `simulate`, `rate` and `sweep`; the reference engine runs it.

    Parameters
    ----------
    local_step : callable, optional
        Returns x_{k+1}, a vector (d,), and names what it needs: x, gradient (of the drawn component at x),
        gradient_at_x_t (of the same component at x_t), full_gradient (grad g_i at x), delayed_gradient (5), x_t, grad_g
        and grad_g_i (at x_t), k, i, t, beta, alpha, E, T, N, and settings of its own, which have defaults.
    server_step : callable, optional
        Returns x_{t+1}, or the pair (x_{t+1}, state) if it names state. It may name x_t, displacement
        (sum_i p_i x_E^i - x_t), grad_f_memory (which makes it an algorithm with a memory step), state, t, beta, alpha,
        E, T, N and settings. Without it x_{t+1} = x_t + displacement - alpha grad_f_memory, the last term with memory.
    server_state : optional
        The state before round 0: a function of x_0, or a value, which is copied for every replica.
    row : str or Algorithm, optional
        Whose local steps to take if there is no local_step; default: "fedavg".
    memory : bool, optional
        Whether there is a memory step; by default whether server_step names grad_f_memory.
    settings
        Values for arguments with defaults.

    Raises
    ------
    InvalidInput
        Neither function, parts that do not fit, or a function whose arguments cannot be read.
    UnknownName
        An argument or a setting that does not exist.
    """
    if local_step is None and server_step is None:
        raise InvalidInput("an algorithm of your own needs local_step, server_step or both: pass one")
    if local_step is not None and row is not None:
        raise InvalidInput(f"row is {row!r} and local_step is given: leave out one")
    if server_state is not None and server_step is None:
        raise InvalidInput("server_state is given and server_step is not: pass a server_step that names state")
    known: dict[str, Any] = {}
    local = server = None
    if local_step is not None:
        local, found = read("local_step", local_step, (*OF_A_STEP, *NUMBERS))
        known |= found
    if server_step is not None:
        server, found = read("server_step", server_step, (*OF_A_SERVER, *NUMBERS))
        known |= found
    steps_on_memory = server is not None and "grad_f_memory" in server.names if memory is None else memory
    given = local_step if local_step is not None else server_step
    made = from_step(
        local,
        name=name or str(getattr(given, "__name__", "own")),
        base=algorithms.algorithm(row or "fedavg") if isinstance(row, str | None) else row,
        memory=steps_on_memory,
        server_function=server,
        first_state=server_state,
        settings=tuple(known.items()),
    )
    return with_settings(made, settings)


def from_step(
    local: Any, *, name: str, base: Algorithm | None = None, memory: bool = False, **fields: Any
) -> OwnAlgorithm:
    """The row of a local step that has been read, anything with `names`, `where` and `of`; None: that of `base`."""
    if local is None:
        if base is None or base.adaptive != CONSTANT or base.server != ROUND_UPDATE or base.server_rate != 1:
            row = "none" if base is None else base.name
            raise InvalidInput(f"row is {row!r} and a server_step replaces its server: use a row with constant rates")
        values = {key: getattr(base, key) for key in Algorithm.__dataclass_fields__}
        return OwnAlgorithm(**{**values, "name": name, "memory": memory or base.memory}, **fields)
    drawn = {"gradient", "gradient_at_x_t"} & set(local.names)
    estimator = DELAYED if "delayed_gradient" in local.names else STOCHASTIC if drawn else FULL
    correction = TRACKING if "grad_g" in local.names else NONE
    return OwnAlgorithm(name, estimator, correction, memory=memory, local=local, **fields)


def with_settings(row: OwnAlgorithm, settings: Mapping[str, Any]) -> OwnAlgorithm:
    """The algorithm with other values of its settings."""
    known = dict(row.settings)
    for name in settings:
        if name not in known:
            have = f"use one of {', '.join(known)}" if known else "give an argument of its functions a default"
            raise UnknownName(f"algorithm {row.name!r} has no setting {name!r}: {have}")
    return replace(row, settings=tuple((known | dict(settings)).items()))


def algorithm(name: str, **overrides: Any) -> Algorithm:
    """A row of the table, or the algorithm FILE.py:name, with fields or settings replaced.

    The name may be an algorithm, a function of settings that returns one, a local step or a server step.

    Raises
    ------
    UnknownName, InvalidInput
        No such row, file, name, field or setting, or a value that is refused.
    """
    if not is_plug_in(name):
        return algorithms.algorithm(name, **overrides)
    found = load(name)
    if isinstance(found, OwnAlgorithm):
        return with_settings(found, overrides)
    if isinstance(found, Algorithm):
        return replace(found, **overrides)
    if callable(found):
        taken = getattr(found, "__code__", None)
        names = taken.co_varnames[: taken.co_argcount + taken.co_kwonlyargcount] if taken is not None else ()
        if "x" in names:
            return own_algorithm(found, **overrides)
        if "displacement" in names:
            return own_algorithm(None, found, **overrides)
        maker, known = read(name, found, ())
        for setting in overrides:
            if setting not in known:
                raise UnknownName(
                    f"{name} has no setting {setting!r}: use one of {', '.join(known) or 'its arguments'}"
                )
        found = maker.of(**overrides)
        if isinstance(found, Algorithm):
            return found
    raise InvalidInput(f"{name} is not an algorithm: let it name own_algorithm(...), or a function whose step names x")


class Server:
    """The server of one replica: its state from round to round."""

    def __init__(self, row: OwnAlgorithm, start: Array, numbers: Mapping[str, Any]) -> None:
        first = row.first_state
        if callable(first):
            first = Function("server_state", first).of(shown(start))
        assert row.server_function is not None
        self._function, self._state = row.server_function, copy.deepcopy(first)
        self._numbers = {**numbers, **dict(row.settings)}

    def step(self, **seen: Any) -> Array:
        """x_{t+1} from x_t, displacement, grad_f_memory and t."""
        function, x = self._function, seen["x_t"]
        values = {name: shown(one) if isinstance(one, np.ndarray) else one for name, one in seen.items()}
        values |= {**self._numbers, "state": self._state}
        own = {name: value for name, value in self._numbers.items() if name in function.defaults}
        found = function.of(**{name: values[name] for name in function.names}, **own)
        if "state" in function.names:
            if not (isinstance(found, tuple) and len(found) == 2):
                raise InvalidInput(f"{function.where}server_step names state and returned no pair: return x, state")
            found, self._state = found
        return function.vector(found, x, "x_{t+1}, a vector")


def local_calls(row: OwnAlgorithm, numbers: Mapping[str, Any]) -> Callable[..., Array]:
    """The local step as a function of what it names: `seen` maps each of `OF_A_STEP` to its value or to its maker."""
    local = row.local
    strict = isinstance(local, Function)
    known = {**numbers, **dict(row.settings)}
    own = {name: known[name] for name in local.defaults if name in known} if strict else {}

    def step(like: Array, seen: Mapping[str, Any]) -> Array:
        values = dict(own)
        for name in local.names:
            value = known[name] if name in known and name not in OF_A_STEP else seen[name]
            if callable(value):
                value = value()
            values[name] = shown(value) if strict and isinstance(value, np.ndarray) else value
        found = local.of(**values)
        if strict:
            array: Array = local.vector(found, like, "the next iterate, a vector")
            return array
        plain = np.asarray(found)
        if plain.shape != like.shape or plain.dtype.kind not in "fiuO":
            raise InvalidInput(
                f"{local.where}local_step returned {found!r}: return the next iterate, a vector of shape {like.shape}"
            )
        return plain.astype(like.dtype)

    return step


def followed(
    step: Callable[..., Array], x: Array, beta: Any, steps: int, seen_at: Callable[[int, Array], Mapping[str, Any]]
) -> Iterator[tuple[Array, Array, Array, Array]]:
    """As `reference.local_steps`: x_k, then twice (x_k - x_{k+1}) / beta as what the step goes along, and x_{k+1}."""
    local = x
    for k in range(steps):
        following = step(local, seen_at(k, local))
        along = (local - following) / beta
        yield local, along, along, following
        local = following
