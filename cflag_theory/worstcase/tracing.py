"""A user's own steps, traced with unknown vectors; the run on the worst functions ties the trace to the code."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from cflag_theory.kernels.own.algorithms import OF_A_STEP, OwnAlgorithm
from cflag_theory.kernels.own.functions import Function
from cflag_theory.worstcase.vectors import NotLinear, Vector

#: What would tell clients apart, or their number.
_TELLING = ("i", "N")


class Traced:
    """The functions of a row; server and numbers as `kernels.own` calls them."""

    def __init__(self, row: OwnAlgorithm, start: Vector, *, step: Fraction, E: int, T: int) -> None:
        self.local, self.server = row.local, row.server_function
        self.numbers = {"beta": step, "alpha": 0, "E": E, "T": T, **dict(row.settings)}
        for part in (self.local, self.server):
            if part is not None and (told := [name for name in part.names if name in _TELLING]):
                raise NotLinear(
                    f"{part.where}{part.what} names {told[0]}: a worst case for every N needs clients alike"
                )
        first = row.first_state
        self.state = Function("server_state", first).of(start) if callable(first) else copy.deepcopy(first)

    def step(self, function: Any, t: int, k: int, x_t: Vector, x: Vector) -> Vector:
        """x_{k+1} of every client."""

        def full(at: Vector) -> Callable[[], Vector]:
            return lambda: function.gradient(at)

        seen: dict[str, Any] = {"x": x, "x_t": x_t, "k": k, "t": t, "grad_g": lambda: function.gradient(x_t).averaged}
        seen |= dict.fromkeys(("gradient", "full_gradient", "delayed_gradient"), full(x))
        seen |= dict.fromkeys(("gradient_at_x_t", "grad_g_i"), full(x_t))
        return self._vector(self.local, self._call(self.local, seen, OF_A_STEP))

    def serve(self, t: int, x_t: Vector, displacement: Vector) -> Vector:
        """x_{t+1}."""
        seen = {"x_t": x_t, "displacement": displacement, "t": t, "state": self.state}
        server = self.server
        assert server is not None
        found = self._call(server, seen, seen)
        if "state" in server.names:
            if not (isinstance(found, tuple) and len(found) == 2):
                raise NotLinear(f"{server.where}server_step names state and returned no pair: return x, state")
            found, self.state = found
        return self._vector(server, found).averaged

    def _call(self, part: Any, seen: Mapping[str, Any], names: Any) -> Any:
        values = {name: value for name, value in self.numbers.items() if name in part.defaults}
        for name in part.names:
            value = seen[name] if name in names else self.numbers[name]
            values[name] = value() if callable(value) and not isinstance(value, Vector) else value
        return part.of(**values)

    def _vector(self, part: Any, found: Any) -> Vector:
        if not isinstance(found, Vector):
            raise NotLinear(f"{part.where}{part.what} returned no sum of multiples of vectors: it is not linear")
        return found
