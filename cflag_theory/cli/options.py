"""The options by which commands name a problem, real data, a memory and a run."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

if TYPE_CHECKING:
    from cflag_theory.kernels import Memory
    from cflag_theory.studies.inputs import Columns

GROUP, DATA = "Problem, algorithm and memory", "Real data"
#: Names of problems and algorithms, which are too heavy to load for a help text.
PROBLEM_NAMES = "default, glm, separable, quadratic, evolving, noisy_quadratic"
ALGORITHM_NAMES = (
    "c_flag, fedtrack, fedavg, fedprox, scaffold, local_gd, c_flag_printed, c_flag_adaptive, c_flag_adaptive_printed, "
    "cfl, cfl_taylor, cfl_diagonal, cfl_fisher, cfl_core_set, cfl_herding, mimelite"
)
ProblemOption = Annotated[str, typer.Option(help=f"{PROBLEM_NAMES}, or FILE.py:name.", rich_help_panel=GROUP)]
DialOption = Annotated[
    list[str] | None,
    typer.Option("--dial", metavar="KEY=VALUE", help="A parameter of the problem; repeatable.", rich_help_panel=GROUP),
]
AlgorithmOption = Annotated[str, typer.Option(help=f"{ALGORITHM_NAMES}, or FILE.py:name.", rich_help_panel=GROUP)]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting of the algorithm; repeatable.", rich_help_panel=GROUP),
]
StepsOption = Annotated[int, typer.Option("--E", help="Local steps per round.", rich_help_panel=GROUP)]


def _of_data(help: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=DATA, **more)


def _of_memory(help: str, *names: str) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=GROUP)


@dataclass(frozen=True)
class Real:
    """Real data; each field is an option of the commands that take them."""

    data: Annotated[str | None, _of_data("digits, or a .csv, .tsv, .txt, .gz or .npz file.")] = None
    describe: Annotated[bool, _of_data("Say how the data are read, and run nothing.", "--describe")] = False
    label_column: Annotated[str | None, _of_data("Labels or y; default: label (npz: labels).")] = None
    features: Annotated[str | None, _of_data("Columns to use, such as age,income.")] = None
    missing: Annotated[str | None, _of_data("drop such rows, the default, or mean.")] = None
    scale: Annotated[bool, _of_data("Give features mean 0 and variance 1.", "--scale")] = False
    read: Annotated[
        list[str] | None,
        _of_data(
            "encoding, delimiter, decimal, header, levels, target or drop; repeatable.", "--read", metavar="KEY=VALUE"
        ),
    ] = None
    potential: Annotated[
        str | None,
        _of_data("Loss: cauchy (default), logistic, quadratic, huber, geman_mcclure, cosine, FILE.py:name."),
    ] = None
    positive: Annotated[str | None, _of_data("Labels with y = +1; default: larger or odd ones.")] = None
    task_column: Annotated[str | None, _of_data("Of two values, the smaller past; default: halves.")] = None
    past_classes: Annotated[str | None, _of_data("Classes of the past task: 0-4, or words: a,b.")] = None
    current_classes: Annotated[str | None, _of_data("Classes of the current task.")] = None
    client_column: Annotated[str | None, _of_data("One client each value; default: drawn.")] = None
    clients: Annotated[int, _of_data("Clients that are drawn.")] = 5
    zeta: Annotated[float | None, _of_data("Dirichlet parameter of this draw; default: 1.")] = None

    @property
    def columns(self) -> Columns:
        """What its columns are."""
        from cflag_theory.studies.inputs import Columns

        given = {one.name: getattr(self, one.name) for one in fields(Columns)}
        return Columns(**given | {"read": tuple(self.read or ())})

    def split(self) -> dict[str, Any]:
        """As `studies.inputs.read_problem` and `studies.rates.families.RateCase` take it."""
        same = {name: getattr(self, name) for name in ("data", "clients", "past_classes", "current_classes")}
        return {**same, "zeta": 1.0 if self.zeta is None else self.zeta, "columns": self.columns}


@dataclass(frozen=True)
class Kept:
    """What is remembered of past tasks; each field is an option."""

    memory: Annotated[str | None, _of_memory("all, uniform, balanced, sign or rotation.")] = None
    memory_size: Annotated[int | None, _of_memory("Past components that each client keeps.")] = None
    m: Annotated[float | None, _of_memory("m of the sign and rotation memories.", "--m")] = None
    redraw: Annotated[bool, _of_memory("Draw a new memory every round.", "--redraw")] = False

    def read(self, *, data: bool) -> Memory:
        """The memory, or the default one for real data or for synthetic problems."""
        from cflag_theory.studies.inputs import read_memory

        return read_memory(self.memory, size=self.memory_size, m=self.m, redraw=self.redraw, data=data)


def takes_groups(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command with options in place of its parameters of type `Real` and `Kept`, but for the fields in `without`."""

    def changed(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True)
        groups, parts, grouped = {}, [], []
        for one in own.parameters.values():
            if one.annotation not in (Real, Kept):
                parts.append(one.replace(kind=inspect.Parameter.KEYWORD_ONLY))
                continue
            hints = get_type_hints(one.annotation, include_extras=True)
            names = [part for part in fields(one.annotation) if part.name not in without]
            groups[one.name] = one.annotation, [part.name for part in names]
            grouped += [
                inspect.Parameter(
                    part.name, inspect.Parameter.KEYWORD_ONLY, default=part.default, annotation=hints[part.name]
                )
                for part in names
            ]

        @wraps(command)
        def taking(**given: Any) -> None:
            for name, (group, names) in groups.items():
                given[name] = group(**{one: given.pop(one) for one in names})
            command(**given)

        taking.__signature__ = own.replace(parameters=parts + grouped)  # type: ignore[attr-defined]
        return taking

    return changed
