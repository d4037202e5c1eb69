"""The rounds of every covered method, once for unknown vectors and for arrays: what `kernels.reference` does.

Covered is what is linear in past gradients. Rows that the simulator has are run there on the worst functions; those of
`METHODS`, memories and past objectives only here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from cflag_theory.errors import UnknownName
from cflag_theory.kernels.algorithms import CONTROL, DELAYED, STOCHASTIC, TRACKING, Algorithm
from cflag_theory.kernels.own import algorithms as table
from cflag_theory.kernels.own.algorithms import OwnAlgorithm
from cflag_theory.worstcase.tracing import Traced
from cflag_theory.worstcase.vectors import Vector


@dataclass(frozen=True)
class Method(Algorithm):
    """A row beyond the simulator's.

    Attributes
    ----------
    option : int
        Of SCAFFOLD: 1, control variates are gradients at x_t; 2, as in the simulator.
    implicit : bool
        Exact proximal steps: x_{k+1} = x_k - eta (grad f_i(x_{k+1}) + W (x_{k+1} - x_t)).
    buffer : number
        b of the client's heavy ball: v <- b v + direction, and steps go along v.
    kept : bool
        Whether v is kept from round to round.
    """

    option: int = 2
    implicit: bool = False
    buffer: Any = 0
    kept: bool = False


METHODS = {
    row.name: row
    for row in (
        Method("scaffold_1", STOCHASTIC, CONTROL, option=1),
        Method("fedprox_exact", STOCHASTIC, implicit=True),
        Method("momentum_dropped", STOCHASTIC, buffer=Fraction(1, 2)),
        Method("momentum_kept", STOCHASTIC, buffer=Fraction(1, 2), kept=True),
    )
}


def method(name: str, **overrides: Any) -> Algorithm:
    """A row of `METHODS`, or else what `kernels.own.algorithms.algorithm` finds."""
    if name not in METHODS:
        return table.algorithm(name, **overrides)
    known = [field.name for field in fields(Method)]
    for field in overrides:
        if field not in known:
            raise UnknownName(f"a method has no field {field!r}: override one of {', '.join(known)}")
    return replace(METHODS[name], **overrides)


@dataclass(frozen=True, eq=False)
class Mix:
    """A weighted sum of functions, of unknown vectors or of arrays (clients, d)."""

    weights: Sequence[Any]
    functions: Sequence[Any]

    def gradient(self, x: Any) -> Any:
        """The gradient at x."""
        return self.summed(one.gradient(x) for one in self.functions)

    def value(self, x: Any) -> Any:
        """The value at x, averaged over the clients."""
        return self.summed(one.value(x) for one in self.functions)

    def each(self, x: Any) -> Any:
        """The clients' values at arrays x."""
        return self.summed(one.each(x) for one in self.functions)

    def summed(self, parts: Iterable[Any]) -> Any:
        """The weighted sum of something of each."""
        return reduce(add, (w * part for w, part in zip(self.weights, parts, strict=True)))


@dataclass(frozen=True, eq=False)
class World:
    """What a method meets: the clients' objective of each round, and of a memory f and the bias b_t at grad f(x_t)."""

    rounds: Sequence[Mix]
    past: Mix | None
    bias: Callable[[int, Any], Any]

    @property
    def objective(self) -> Mix:
        """What is measured."""
        return self.past or self.rounds[-1]


def averaged(v: Any) -> Any:
    """The mean over the clients."""
    return v.averaged if isinstance(v, Vector) else np.broadcast_to(v.mean(0), v.shape)


def play(
    row: Algorithm,
    world: World,
    x: Any,
    *,
    step: Any,
    alpha: Any,
    E: int,
    T: int,
    order: Sequence[int],
) -> tuple[list[Any], Any]:
    """x_1, ..., x_T, and what x_T would be were it the clients' own: of unknown vectors, or of arrays (clients, d)."""
    own = Traced(row, x, step=step, E=E, T=T) if isinstance(row, OwnAlgorithm) else None
    extra = row if isinstance(row, Method) else Method(row.name, row.estimator)
    kind: Callable[[Any], Any] = Fraction if isinstance(x, Vector) else float
    step, alpha, W, rate, gamma, buffer = map(
        kind, (step, alpha, row.proximal, row.server_rate, row.momentum, extra.buffer)
    )
    control = momentum = v = none = 0 * x
    found: list[Any] = []
    ends = x
    for t in range(T):
        current, u = world.rounds[t], none
        memory = none
        if world.past is not None:
            memory = world.past.gradient(x)
            memory = memory + world.bias(t, memory)
        at_start = none if extra.implicit else current.gradient(x)
        if row.correction == TRACKING:
            u = averaged(at_start) - at_start
        elif row.correction == CONTROL:
            u = averaged(control) - control
        table = [one.gradient(x) for one in current.functions] if row.estimator == DELAYED else []
        local, v = x, v if extra.kept else none
        for k in range(E):
            if own is not None and own.local is not None:
                local = own.step(current, t, k, x, local)
                continue
            if extra.implicit:
                (function,) = current.functions
                local = function.proximal((local + step * (W * x - u)) / (1 + step * W), step / (1 + step * W))
                continue
            if row.estimator != DELAYED:
                estimate = current.gradient(local)
            else:
                # The table of component gradients is full at k = 0; one of them is refreshed at each k >= 1.
                if k > 0:
                    table[order[k - 1]] = current.functions[order[k - 1]].gradient(local)
                estimate = current.summed(table)
            v = buffer * v + estimate + W * (local - x) + u
            local = local - step * ((1 - gamma) * v + gamma * momentum)
        if row.correction == CONTROL:
            control = at_start if extra.option == 1 else control - averaged(control) + (x - local) / (step * E)
        ends = x + rate * (local - x) - alpha * memory
        if own is not None and own.server is not None:
            ends = own.serve(t, x, averaged(local - x))
        x = averaged(ends)
        momentum = (1 - gamma) * averaged(at_start) + gamma * momentum
        found.append(x)
    return found, ends
