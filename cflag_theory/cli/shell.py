"""What the commands share: options, the choice of output, a progress bar, JSON."""

from __future__ import annotations

import codecs
import inspect
import io
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from enum import StrEnum
from fractions import Fraction
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, get_type_hints

import typer
from typer import Option
from typer.core import TyperCommand

from cflag_theory.claims.pages.text import bare
from cflag_theory.shown import cleaned

if TYPE_CHECKING:
    from rich.console import Console

    from cflag_theory.kernels import Memory
    from cflag_theory.studies.inputs import Columns


#: Where standard error is no terminal.
SECONDS_BETWEEN_LINES = 10.0


class Format(StrEnum):
    """How results are printed."""

    table = "table"
    json = "json"


class Paper(StrEnum):
    """Whose statements are meant."""

    c_flag = "c-flag"
    cfl = "cfl"


PaperOption = Annotated[Paper, Option(help="Which paper: c-flag or cfl.")]
FormatOption = Annotated[Format, Option("--format", help="What to print: a table or JSON.")]
SeedOption = Annotated[int, Option(min=0, help="Seed of all random draws.")]
DetailsOption = Annotated[bool, Option("--details", help="Print everything that was found.")]
ProverOption = Annotated[
    str | None, Option(help="coq: also check proofs and counterexamples with Coq, which must be installed.")
]

RecheckOption = Annotated[bool, Option("--recheck", help="Recompute cached evidence of this version.")]


def say_kept(kept: Any) -> None:
    """Since when the evidence is, where some was kept by an earlier run."""
    if kept is not None and kept.used:
        typer.echo(kept.words)


class Grouped(TyperCommand):
    """A command whose help lists options by `rich_help_panel`, as plain text."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx)
            usual = "Arguments" if one.param_type_name == "argument" else "Options"
            if record is not None:
                groups.setdefault(getattr(one, "rich_help_panel", None) or usual, []).append(record)
        for name, records in groups.items():
            with formatter.section(name):
                formatter.write_dl(records)


def number(words: str) -> float:
    """A number, or a fraction such as 1/3."""
    try:
        return float(Fraction(words) if "/" in words else words)
    except (ValueError, ArithmeticError):
        raise typer.BadParameter(f"{words!r} is not a number: write one such as 0.05 or 1/3") from None


def complete_claims(incomplete: str) -> list[str]:
    """Ids of claims that begin so, for the shell."""
    from cflag_theory.claims.ledger import LEDGER

    return [id for id in LEDGER if id.startswith(incomplete)]


def read_theory(prover: str | None, claims: Sequence[str]) -> dict[str, Any] | None:
    """The hand-written theorems on these claims, or on all, compiled with progress; None where the prover is not Coq.

    Unknown claims raise before anything is imported or compiled.
    """
    from cflag_theory.claims.ledger import check_id

    for id in claims:
        check_id(id)
    if prover != "coq":
        return None
    from cflag_theory.verify.theory import compile_theory, files_for, names_for

    with progress_bar("Coq", len(files_for(names_for(claims))) + 1) as advance:
        return compile_theory(claims, progress=lambda file: advance(1, file))


_taken = ExitStack()


def take_folder(out: Path, what: str = "command") -> None:
    """Make the folder of results and keep others from writing to it until the command ends, see `files.alone_in`."""
    from cflag_theory.files import alone_in

    _taken.enter_context(alone_in(out, what, again=True))


def leave_folders() -> None:
    """What `take_folder` has taken is free again."""
    _taken.close()


def spell(*streams: TextIO) -> None:
    """Let streams write what their encoding lacks: E for the letter of an expectation, a question mark otherwise.

    And nothing that a terminal would obey, whoever brought it.
    """
    codecs.register_error("spelled", _spelled)
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="spelled")
            stream.write = partial(_write, stream)  # type: ignore[method-assign]


def _write(stream: TextIO, text: str) -> int:
    return type(stream).write(stream, cleaned(text))


def styled(stream: TextIO) -> Any:
    """A stream for words that are cleaned already, between codes of our own for a terminal."""
    return _Styled(stream)


class _Styled:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """As the stream would before `spell`."""
        return type(self._stream).write(self._stream, text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _spelled(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    missing = error.object[error.start : error.end]
    return "".join(
        "E" if letter == "\N{MATHEMATICAL DOUBLE-STRUCK CAPITAL E}" else "?" for letter in missing
    ), error.end


def at_times(console: Console) -> Callable[[str], None]:
    """Says how far it is, at times, where nothing moves: standard error is no terminal."""
    told = time.monotonic()

    def line(words: str) -> None:
        nonlocal told
        if not console.is_terminal and time.monotonic() > told + SECONDS_BETWEEN_LINES:
            told = time.monotonic()
            print(words, file=sys.stderr, flush=True)

    return line


@contextmanager
def progress_bar(words: str, total: float | None) -> Iterator[Callable[[float, str], None]]:
    """A progress bar on standard error, so that standard output stays clean for results; where that is no terminal, a
    line at times.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    name, now = (TextColumn(one, markup=False) for one in ("{task.description}", "{task.fields[now]}"))
    columns = (name, BarColumn(), now, TimeElapsedColumn())
    console = Console(file=styled(sys.stderr))
    bar = Progress(*columns, TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal)
    done, line = 0.0, at_times(console)

    def advance(amount: float, now: str) -> None:
        nonlocal done
        done += amount
        progress.update(task, advance=amount, now=cleaned(now))
        # A decision of several searches counts the cases of all.
        whole = "" if total is None or done > total else f" of {total:g}"
        line(f"{words}: {done:g}{whole}{now and f', now {now}'}")

    with bar as progress:
        task = progress.add_task(words, total=total, now="")
        yield advance


def show_study(
    found: Any,
    out: Path | None,
    name: str,
    *,
    format: Format,
    table: Callable[..., None],
    details: bool,
    rest: str = "",
    results: Any = None,
    kept: Any = None,
    **how: Any,
) -> None:
    """Keep a study, or a list of them, if a folder is given, and print: JSON, or tables, where the rest is and figures.

    `plots.STORED` says how `name` is drawn; `rest` is what only --details prints; `results` are the JSON where
    studies have none, `kept` the file's where it is more.
    """
    written: list[Path] = []
    shown = found if isinstance(found, list) else [found]
    if results is None:
        results = [one.to_json() for one in found] if found is shown else found.to_json()
    if out is not None:
        from cflag_theory.cli.plots import drawn

        held = results if kept is None else kept
        written = keep_study(held, out, name, drawn(name, held), **how)
    if format is Format.json:
        print_json(results)
        return
    for one in shown:
        table(one, details=details)
    if rest and not details:
        typer.echo(f"{rest}: --details.")
    say_figures(written)


def keep_study(results: Any, out: Path, name: str, figures: Mapping[str, Any], **how: Any) -> list[Path]:
    """A study's figures, each under its name, and beside them name.json, from which they can be drawn again.

    `how` goes to `json.dumps`.
    """
    from cflag_theory.figures import save
    from cflag_theory.files import write_text

    written = [path for file, figure in figures.items() for path in save(figure, out, file)]
    write_text(out / f"{name}.json", json.dumps(results, indent=1, **how))
    return written


def say_figures(written: Sequence[Path]) -> None:
    """One line, if there are any."""
    if written:
        typer.echo(f"figures: {', '.join(map(str, written))}")


def print_json(value: Any) -> None:
    """JSON on standard output; a value that is not finite is an error."""
    typer.echo(bare(json.dumps(value, indent=1, allow_nan=False)))


GROUP, DATA = "Problem, algorithm and memory", "Real data"
#: Names of problems and algorithms, which are too heavy to load for a help text.
PROBLEM_NAMES = "default, glm, separable, quadratic, evolving, noisy_quadratic"
ALGORITHM_NAMES = (
    "c_flag, fedtrack, fedavg, fedprox, scaffold, local_gd, c_flag_printed, c_flag_adaptive, c_flag_adaptive_printed, "
    "cfl, cfl_taylor, cfl_diagonal, cfl_fisher, cfl_core_set, cfl_herding, mimelite"
)
ProblemOption = Annotated[str, Option(help=f"{PROBLEM_NAMES}, or FILE.py:name.", rich_help_panel=GROUP)]
DialOption = Annotated[
    list[str] | None,
    Option("--dial", metavar="KEY=VALUE", help="A parameter of the problem; repeatable.", rich_help_panel=GROUP),
]
AlgorithmOption = Annotated[str, Option(help=f"{ALGORITHM_NAMES}, or FILE.py:name.", rich_help_panel=GROUP)]
SetOption = Annotated[
    list[str] | None,
    Option("--set", metavar="KEY=VALUE", help="A setting of the algorithm; repeatable.", rich_help_panel=GROUP),
]
StepsOption = Annotated[int, Option("--E", help="Local steps per round.", rich_help_panel=GROUP)]


def _of_data(help: str, *names: str, **more: Any) -> Any:
    return Option(*names, help=help, rich_help_panel=DATA, **more)


def _of_memory(help: str, *names: str) -> Any:
    return Option(*names, help=help, rich_help_panel=GROUP)


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
        str | None, _of_data("Loss: cauchy (default), logistic, quadratic, huber, geman_mcclure, cosine, FILE.py:name.")
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
