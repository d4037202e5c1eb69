"""`cflag conform`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from cflag_theory.cli.shell import Format, FormatOption, SeedOption, print_json
from cflag_theory.errors import InvalidInput

if TYPE_CHECKING:
    pass


def conform_command(
    file: Annotated[
        Path | None,
        Argument(metavar="FILE", help="A Python file with client_step, server_step or both, or round_step."),
    ] = None,
    algorithm: Annotated[
        str | None, Option(help="The algorithm; default: ALGORITHM in the file. --list prints all.")
    ] = None,
    numbers: Annotated[str, Option(help="auto, exact (fractions), float64, float32, torch64 or torch32.")] = "auto",
    problems: Annotated[int, Option(min=1, help="Small least-squares problems to run it on.")] = 20,
    rounds: Annotated[int, Option(min=1, help="Rounds of each problem.")] = 3,
    assume: Annotated[
        list[str] | None,
        Option(help="What your code relies on: equal-weights, server-lr-1, equal-steps or all-clients; repeatable."),
    ] = None,
    partial: Annotated[bool, Option("--partial", help="Two of three clients take part in a round.")] = False,
    seconds: Annotated[
        float, Option(help="Time limit in seconds, for one call of a function: CPU time of your own code.")
    ] = 10.0,
    seed: SeedOption = 0,
    names: Annotated[bool, Option("--list", help="Print the algorithms and their known slips.")] = False,
    format: FormatOption = Format.table,
) -> None:
    """Compare your implementation with a reference.

    Runs both on small problems and prints the first number that differs: the client, the step, and the known slip that
    gives the same numbers. PARAMETERS in the file may set the algorithm's own numbers.

    Exit code 0: all numbers agree, which is not a proof. 1: a number differs, or agrees only under what --assume can
    state. 2: bad input. 130: interrupted.
    """
    from cflag_theory.conform import ALGORITHMS, conform_file

    if names:
        _list(ALGORITHMS, format)
        return
    if file is None:
        raise typer.BadParameter("give a FILE that holds client_step, server_step or round_step, or --list")
    if not seconds > 0:
        raise InvalidInput(f"--seconds is {seconds}: use a positive number")
    report = conform_file(
        file,
        algorithm,
        numbers=numbers,
        problems=problems,
        rounds=rounds,
        assume=assume or (),
        partial=partial,
        seed=seed,
        seconds=seconds,
    )
    if format is Format.json:
        print_json(report.to_json())
    else:
        from cflag_theory.cli.tables.page import Page

        page = Page()
        for line in report.lines():
            page.say(line)
    raise typer.Exit(1 if report.refuted else 0)


def _list(known: dict[str, Any], format: Format) -> None:
    if format is Format.json:
        print_json(
            [
                {"name": name, "title": one.title, "source": one.source, "slips": list(one.slips().values())}
                for name, one in known.items()
            ]
        )
        return
    from cflag_theory.cli.tables.page import Page

    page = Page()
    for name, one in known.items():
        page.say(f"{name}: {one.title} ({one.source})", style="bold")
        for words in one.slips().values():
            page.say(f"  {words}")
