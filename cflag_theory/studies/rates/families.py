"""Rate studies along a list of values of one dial: the same experiment, with m, r, N, E or any other dial varied."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import Memory, Problem
from cflag_theory.shown import Sheet, Shown, several
from cflag_theory.studies.inputs import NO_COLUMNS, Columns, read_algorithm, read_memory, read_problem
from cflag_theory.studies.rates.past_task import HORIZONS, Rate, rate

#: What can be varied besides the dials of the problem.
VARIED = {
    "m": "bias constant of a sign or rotation memory",
    "E": "local steps a round",
    "N": "clients",
    "c": "of beta = c / T^a",
    "a": "power of beta = c / T^a; 0 is a constant beta",
    "alpha": "factor of alpha = factor / (L (1 + m)); Lemma 1 allows less than 2",
    "size": "past components that each client keeps",
    "redraw": "0: the memory is drawn once; 1: again in every round",
    "zeta": "Dirichlet parameter of the split of real data",
}
_FIELDS = {"m": "m", "E": "local_steps", "c": "c", "a": "power", "alpha": "alpha_factor", "size": "memory_size"}
# The default problem has no dials; these give it as a separable one, which has.
_OPENED = ("heterogeneity=0.9",)
# Families whose tasks have different stationary points by default.
_CONFLICTING = ("default", "separable", "glm")
_WHOLE = ("E", "N", "size", "redraw")


@dataclass(frozen=True)
class RateCase:
    """The arguments of a rate study, as on the command line; the defaults are those of the default problem."""

    #: A synthetic problem and its dials, each KEY=VALUE, unless `data` is given.
    problem: str = "default"
    dials: tuple[str, ...] = ()
    #: Real data, as `load_data` takes them.
    data: str | None = None
    clients: int = 5
    zeta: float = 1.0
    past_classes: str | None = None
    current_classes: str | None = None
    columns: Columns = NO_COLUMNS
    #: As `--algorithm` and `--set`, and the options of the memory.
    algorithm: str = "c_flag"
    settings: tuple[str, ...] = ()
    memory: str | None = None
    memory_size: int | None = None
    m: float | None = None
    redraw: bool = False
    #: As `rate` takes them.
    local_steps: int = 10
    c: float | None = None
    power: float = 0.5
    alpha_factor: float = 1.0
    mode: str = "bitwise"
    seed: int = 0

    def build(self) -> tuple[Problem, Memory]:
        """The problem and the memory.

        Raises
        ------
        InvalidInput
            A dial, a value or a combination that does not exist.
        """
        problem = read_problem(
            problem=self.problem,
            dials=self.dials,
            data=self.data,
            clients=self.clients,
            zeta=self.zeta,
            past_classes=self.past_classes,
            current_classes=self.current_classes,
            columns=self.columns,
            seed=self.seed,
        )
        kept = read_memory(self.memory, size=self.memory_size, m=self.m, redraw=self.redraw, data=self.data is not None)
        return problem, kept

    def with_value(self, name: str, value: float) -> RateCase:
        """The case with one dial set: a key of `VARIED`, or a dial of the synthetic problem.

        Raises
        ------
        InvalidInput
            A value that is not finite, or not whole where it must be.
        """
        if not math.isfinite(value):
            raise InvalidInput(f"{name} = {value:g} is not finite: vary {name} over finite numbers")
        if name in _WHOLE and int(value) != value:
            raise InvalidInput(f"{name} = {value:g} is not whole: vary {name} over integers")
        number = int(value) if name in _WHOLE else value
        if name in dict(getattr(read_algorithm(self.algorithm, self.settings), "settings", ())):
            return replace(self, settings=(*self.settings, f"{name}={number!r}"))
        if name == "redraw":
            return replace(self, redraw=bool(number))
        if name == "m":
            # Without a memory whose bias is a dial there is no m to set.
            return replace(self, m=number, memory=self.memory or "sign")
        if name == "N" and self.data is not None:
            return replace(self, clients=int(number))
        if name == "zeta":
            return replace(self, zeta=number)
        if name in _FIELDS:
            changed: dict[str, Any] = {_FIELDS[name]: number}
            return replace(self, **changed)
        opened = self.problem == "default"
        # Tasks with different stationary points have no finite r. Of two words for one dial the later counts.
        agreeing = name == "r" and self.problem in _CONFLICTING
        before = (*(_OPENED if opened else ()), *(("conflict=0",) if agreeing else ()))
        # A dial that counts something takes no 5.0.
        dial = f"{'clients' if name == 'N' else name}={int(number) if number == int(number) else number}"
        return replace(self, problem="separable" if opened else self.problem, dials=(*before, *self.dials, dial))

    def study(
        self,
        *,
        on: tuple[Problem, Memory] | None = None,
        horizons: Sequence[int] = HORIZONS,
        replicas: int = 32,
        store: Path | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Rate:
        """Run it: `rate` with these numbers, on another problem and memory if they are given.

        Raises
        ------
        InvalidInput, Diverged, OutputError
            As `rate` does.
        """
        problem, kept = self.build() if on is None else on
        return rate(
            problem,
            kept,
            row=read_algorithm(self.algorithm, self.settings),
            horizons=horizons,
            replicas=replicas,
            local_steps=self.local_steps,
            c=self.c,
            power=self.power,
            alpha_factor=self.alpha_factor,
            seed=self.seed,
            mode=self.mode,
            store=store,
            progress=progress,
        )


def varied_values(words: str) -> tuple[str, tuple[float, ...]]:
    """The dial and its values from "m=0,0.25,0.5"."""
    name, equals, listed = words.partition("=")
    try:
        values = tuple(float(value) for value in listed.split(","))
    except ValueError:
        values = ()
    if not (name and equals and values):
        raise InvalidInput(f"vary {words!r} is not understood: write a dial and its values, such as m=0,0.25,0.5,1")
    return name.strip(), values


@dataclass(frozen=True, repr=False)
class RateFamily(Shown):
    """Studies that differ in one dial."""

    #: The dial.
    varied: str
    values: tuple[float, ...]
    #: One a value.
    studies: tuple[Rate, ...]

    def sheet(self) -> Sheet:
        """The slope and the last square of every value."""
        rows = [
            (value, study.horizons[-1], study.min_mean[-1], study.slope)
            for value, study in zip(self.values, self.studies, strict=True)
        ]
        line = f"{self.studies[0].title}: {self.varied} = {several(self.values)}"
        return Sheet(line, (self.varied, "T", "min ||grad f||^2 there", "slope"), rows)

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        return {
            "varied": self.varied,
            "values": list(self.values),
            "studies": [study.to_json() for study in self.studies],
        }


def rate_family(
    case: RateCase,
    varied: str,
    values: Sequence[float],
    *,
    horizons: Sequence[int] = HORIZONS,
    replicas: int = 32,
    store: Path | None = None,
    progress: Callable[[int], None] | None = None,
) -> RateFamily:
    """The rate study of a case for every value of one dial.

    Parameters
    ----------
    case : RateCase
        What stays the same.
    varied : str
        A key of `VARIED`, or a dial of the synthetic problem, such as r or heterogeneity.
    values : sequence of float
        At least two, all different.
    horizons, replicas, store, progress
        As in `rate`.

    Raises
    ------
    InvalidInput
        Fewer than two values, equal values, or one that the dial refuses; all are tried before the first run.
    """
    if len(set(values)) < max(2, len(values)):
        raise InvalidInput(f"{varied} is varied over {list(values)}: give at least two different values")
    cases = [case.with_value(varied, value) for value in values]
    for one in cases:
        one.build()
    studies = [one.study(horizons=horizons, replicas=replicas, store=store, progress=progress) for one in cases]
    return RateFamily(varied, tuple(float(value) for value in values), tuple(studies))
