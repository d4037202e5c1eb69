"""Our own rows: `simulate` as a user calls it, on one thread unless told otherwise."""

from __future__ import annotations

import inspect
from typing import Any

from benchmarks.cases import SEED, Array, World
from cflag_theory.kernels import simulate

#: Options of `simulate` that this benchmark can use where the installed package has them.
OPTIONS = frozenset(inspect.signature(simulate).parameters)


class Ours:
    """`simulate` with diagnostics="none"; its draws, its checks and its measurement of the end are in its time."""

    def __init__(self, world: World, *, threads: int = 1, **options: Any) -> None:
        self.case, self.world, self.replicas = world.case, world, world.case.R
        self.options: dict[str, Any] = {"diagnostics": "none", "threads": threads} | options
        self.name = ", ".join(str(options[key]) for key in ("mode", "dtype") if key in options)

    def trace(self, rounds: int, **options: Any) -> Any:
        """The Trace of a run; `options` go before those of this row."""
        world = self.world
        chosen: dict[str, Any] = {
            "alpha": world.alpha,
            "beta": world.beta,
            "local_steps": self.case.E,
            "rounds": rounds,
            "memory": world.memory,
            "replicas": self.case.R,
            "seed": SEED,
        }
        return simulate(world.problem, "c_flag", **(chosen | self.options | options))

    def run(self, rounds: int) -> None:
        """A run whose iterates nobody keeps."""
        self.trace(rounds)

    def end(self, rounds: int) -> Array:
        """x_T of all replicas, (R, d)."""
        last: Array = self.trace(rounds, iterates=True).iterates[:, -1]
        return last
