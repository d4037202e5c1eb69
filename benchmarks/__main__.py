"""`python -m benchmarks`: the tables on the terminal, as JSON, or into RESULTS.md."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.machine import describe, one_thread

app = typer.Typer(
    add_completion=False, pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]}
)


class Format(StrEnum):
    """How results are printed."""

    table = "table"
    json = "json"


QuickOption = Annotated[bool, typer.Option("--quick", help="The small cases, few repetitions: under two minutes.")]
FormatOption = Annotated[Format, typer.Option("--format", help="Tables for people, or JSON on standard output.")]
WriteOption = Annotated[bool, typer.Option("--write", help="Rewrite this part of RESULTS.md in this folder.")]


def tell(words: str) -> None:
    """What is done next, on standard error."""
    print(words, file=sys.stderr, flush=True)


@app.callback(invoke_without_command=True)
def kernels(
    context: typer.Context,
    quick: QuickOption = False,
    case: Annotated[list[str] | None, typer.Option(help="A case, such as 'M x16'; repeatable.")] = None,
    peer: Annotated[list[str] | None, typer.Option(help="Only this peer, such as JAX or C; repeatable.")] = None,
    repeats: Annotated[int | None, typer.Option(min=1, help="Interleaved repetitions; 5, or 3 with --quick.")] = None,
    seconds: Annotated[float | None, typer.Option(min=0.001, help="Length of one timed run, about.")] = None,
    format: FormatOption = Format.table,
    write: WriteOption = False,
) -> None:
    """C-FLAG against NumPy, JAX, PyTorch and C on one thread; ratios, growth, roofline and costs.

    Without --case also the growth of the time and the costs beside a round. Exit code 1: some peer's iterates are not
    ours.
    """
    if context.invoked_subcommand is not None:
        return
    # Before numpy, jax and torch are imported: they read their settings then.
    one_thread()
    from benchmarks.cases import CASES, FULL, QUICK
    from benchmarks.kernels.contest import PEERS, C, contest, disagreements
    from benchmarks.kernels.costs import costs
    from benchmarks.kernels.goals import goals
    from benchmarks.kernels.growth import growth
    from benchmarks.kernels.sheets import cost_sheet, goal_sheet, growth_sheet, ratio_sheet, roofline_sheet, time_sheet
    from benchmarks.machine import ceilings

    names = case or (QUICK if quick else FULL)
    for name in names:
        if name not in CASES:
            raise typer.BadParameter(f"case {name!r} is unknown: use one of {', '.join(CASES)}")
    peers = tuple(peer or PEERS)
    for who in peers:
        if who not in PEERS:
            raise typer.BadParameter(f"peer {who!r} is unknown: use one of {', '.join(PEERS)}")
    often = repeats or (3 if quick else 5)
    long = seconds or (0.05 if quick else 0.3)
    tell("ceilings")
    rates = ceilings(size=1024 if quick else 2048)
    contests = [
        contest(CASES[name], ceilings=rates, repeats=often, seconds=long, peers=peers, tell=tell) for name in names
    ]
    grown, beside = [], []
    if not case:
        along = tuple(who for who in peers if (who == C if quick else "NumPy" not in who))
        grown = growth(
            peers=along, ends_only=quick, repeats=min(often, 2 if quick else 5), seconds=min(long, 0.1), tell=tell
        )
        beside = costs(quick=quick, repeats=often, seconds=long, tell=tell)
    aims = goals(contests, beside, rates["dgemm"])
    sheets = [ratio_sheet(contests), *([goal_sheet(aims)] if aims else [])]
    sheets += [time_sheet(contests), roofline_sheet(contests, rates)]
    sheets += [growth_sheet(grown)] if grown else []
    sheets += [cost_sheet(beside)] if beside else []
    results = {"ceilings": rates, "contests": contests, "growth": grown, "costs": beside, "goals": aims}
    _hand_out("cpu", sheets, results, format=format, write=write)
    _end([fault for found in contests for fault in disagreements(found)])


@app.command()
def rate(
    largest: Annotated[int, typer.Option(min=32, help="The largest horizon; the goal is for 65536.")] = 65536,
    format: FormatOption = Format.table,
    write: WriteOption = False,
) -> None:
    """A rate study on the default problem, 64 replicas, horizons 16, 32, ... on all cores."""
    from benchmarks.kernels.studies import rate_study

    _study("rate", lambda: rate_study(largest=largest, tell=tell), format=format, write=write)


@app.command()
def sweep(
    seeds: Annotated[int, typer.Option(min=2, help="Seeds of the grid; it has four runs a seed.")] = 500,
    format: FormatOption = Format.table,
    write: WriteOption = False,
) -> None:
    """A sweep of small problems against the time inside the compiled kernel."""
    from benchmarks.kernels.studies import sweep_study

    _study("sweep", lambda: sweep_study(seeds=seeds, tell=tell), format=format, write=write)


@app.command("first-minute")
def first_minute(
    cores: Annotated[int, typer.Option(min=1, help="Cores that the commands may use.")] = 2,
    repeats: Annotated[int, typer.Option(min=1, help="Timed repetitions with warm caches.")] = 5,
    format: FormatOption = Format.table,
    write: WriteOption = False,
) -> None:
    """How long a user waits: the first report by parts, commands with empty caches and again, warm calls."""
    from benchmarks.first_minute import waits, waits_sheets

    found = waits(cores=cores, repeats=repeats, tell=tell)
    _hand_out("first-minute", waits_sheets(found, cores), found, format=format, write=write)


@app.command("worst-cases")
def worst_cases(
    file: Annotated[Path, typer.Option(help="Where cells are kept; those that are there are not solved again.")],
    most: Annotated[int, typer.Option(min=1, help="Local steps in all, up to 200.")] = 200,
    format: FormatOption = Format.table,
    write: WriteOption = False,
) -> None:
    """Exact worst cases of five methods, with their seconds."""
    from benchmarks.worst_cases import cells, sheet

    known = cells(file, most=most, tell=tell)
    _hand_out("worst-cases", [sheet(known)], {"cells": known}, format=format, write=write)


@app.command()
def bridge(
    quick: Annotated[bool, typer.Option("--quick", help="Without ResNet-18 and 500 clients, few repetitions.")] = False,
    repeats: Annotated[int | None, typer.Option(min=1, help="Interleaved repetitions; 5, or 3 with --quick.")] = None,
    seconds: Annotated[float, typer.Option(min=0.001, help="Length of one timed run, about.")] = 0.5,
    processes: Annotated[bool, typer.Option(help="Also one process against two.")] = True,
    format: FormatOption = Format.table,
    write: WriteOption = False,
) -> None:
    """The bridge's rounds against a plain loop with torch.optim, with more clients, and over two processes.

    Exit code 1: the plain loop's iterates are not ours. Without torch one line says so.
    """
    if not _torch():
        return
    from benchmarks.bridge.contest import bridge_contests, disagreements, over_processes
    from benchmarks.bridge.sheets import rounds_sheet

    often = repeats or (3 if quick else 5)
    rows = bridge_contests(quick=quick, repeats=often, seconds=seconds, tell=tell)
    if processes:
        rows += over_processes(clients=10 if quick else 50, rounds=5 if quick else 20, repeats=often, tell=tell)
    _hand_out("bridge", [rounds_sheet(rows)], {"rows": rows}, format=format, write=write)
    _end(disagreements(rows))


@app.command("bridge-gpu")
def bridge_gpu(
    device: Annotated[str | None, typer.Option(help="cuda, cuda:1, or cpu; cuda, or cpu with --tiny.")] = None,
    way: Annotated[list[str] | None, typer.Option(help="Only this way of passing, such as bfloat16.")] = None,
    batch: Annotated[int, typer.Option(min=2, help="Images of a minibatch; a client has 8, or 1 on a CPU.")] = 128,
    size: Annotated[int, typer.Option(min=8, help="Height and width of the images.")] = 32,
    repeats: Annotated[int, typer.Option(min=1, help="Timed rounds of every way and method.")] = 3,
    rate: Annotated[
        list[str] | None,
        typer.Option(help="Only hours, at NETWORK=IMAGES a second, such as resnet18=3000; repeatable. Also mlp=50000."),
    ] = None,
    accept: Annotated[bool, typer.Option("--accept", help="Check that the bridge works on the device.")] = False,
    tiny: Annotated[bool, typer.Option("--tiny", help="With --accept: small networks, for a CPU.")] = False,
    seconds: Annotated[float, typer.Option(min=1, help="With --accept: what it may take.")] = 560,
    out: Annotated[Path, typer.Option(help="With --accept: folder of accept.json.")] = Path("bridge-accept"),
    format: FormatOption = Format.table,
    write: WriteOption = False,
) -> None:
    """Images a second of ResNet-18 with 5 clients and of an mlp with 7, and the hours of whole presets at these rates.

    With --accept: checks in the order of their importance, each a line and an entry of accept.json. Exit code 1: one of
    them failed; 2: no such device.
    """
    if not _torch():
        return
    from dataclasses import replace

    from benchmarks.bridge.hours import cfl_needs, cfl_sheet, hours_sheet, needs, rates_from
    from benchmarks.bridge.sheets import speed_sheet
    from benchmarks.bridge.speeds import (
        ON_CPU,
        ON_GPU,
        WAYS,
        describe_device,
        fastest,
        mlp_speed,
        require_device,
        speeds,
        ways_on,
    )
    from cflag_theory.errors import CflagError, InvalidInput

    for name in way or ():
        if name not in WAYS:
            raise typer.BadParameter(f"way {name!r} is unknown: use one of {', '.join(WAYS)}")
    try:
        if rate:
            known = rates_from(rate)
            found, others = needs(known), cfl_needs(known)
            sheets = [hours_sheet(found, known, "as given"), cfl_sheet(others, known, "as given")]
            given = {"rates": known, "hours": found, "cfl_hours": others}
            _hand_out("bridge-gpu", sheets, given, format=format, write=False)
            return
        where = require_device(device or ("cpu" if tiny else "cuda"))
        if without := [name for name in way or () if name not in ways_on(where)]:
            raise InvalidInput(f"--way {without[0]} changes nothing on {where}: leave it out, or use --device cuda")
        if accept:
            _accept(where, out, tiny=tiny, seconds=seconds)
            return
        usual = ON_GPU if where.type == "cuda" else ON_CPU
        case = replace(usual, samples=usual.samples // usual.batch * batch, batch=batch, shape=(3, size, size))
        timed = speeds(where, case=case, repeats=repeats, ways=way, tell=tell)
        fast, images = fastest(timed)
        mlp = mlp_speed(where, repeats=repeats)
    except CflagError as error:
        tell(f"benchmarks bridge-gpu: {error}")
        raise typer.Exit(2) from None
    described, known = describe_device(where), {"resnet18": images, "mlp": mlp.median}
    on = "" if where.type == "cuda" else " on this machine's CPU"
    how = f"measured here with {fast}{on}"
    found, others = needs(known), cfl_needs(known)
    sheets = [
        speed_sheet(timed, described, case),
        hours_sheet(found, known, how),
        cfl_sheet(others, known, how),
    ]
    results: dict[str, Any] = {"device": described, "speeds": timed, "mlp": mlp, "rates": known}
    results |= {"hours": found, "cfl_hours": others}
    _hand_out("bridge-gpu", sheets, results, format=format, write=write)


def _accept(device: Any, out: Path, *, tiny: bool, seconds: float) -> None:
    # Products of matrices that give the same bits again need it before the GPU is used.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    from benchmarks.bridge.accept import FILE, accept
    from benchmarks.bridge.measured import CHECKS
    from cflag_theory.bridge.training.environment import find_device, precision, threads

    device = find_device(str(device))
    with threads(1 if tiny else None), precision(False):
        outcomes = accept(CHECKS, device, out, tiny=tiny, seconds=seconds, tell=typer.echo)
    tell(f"{out / FILE} has what was found")
    if any(outcome.ok is False for outcome in outcomes):
        raise typer.Exit(1)


def _torch() -> bool:
    """Whether torch is there; a line on standard output where it is not."""
    from importlib.util import find_spec

    if find_spec("torch") is None:
        typer.echo("torch is not installed: pip install 'cflag-theory[torch]' for this part")
        return False
    return True


def _study(part: str, measure: Callable[[], Any], *, format: Format, write: bool) -> None:
    from benchmarks.kernels.goals import goals
    from benchmarks.kernels.sheets import cost_sheet, goal_sheet

    found = measure()
    aims = goals([], found, 1.0)
    sheets = [cost_sheet(found), *([goal_sheet(aims)] if aims else [])]
    results = {"costs": found, "goals": aims}
    _hand_out(part, sheets, results, format=format, write=write)


def _end(faults: list[str]) -> None:
    """Exit code 1 where iterates do not agree."""
    for fault in faults:
        tell(fault)
    if faults:
        raise typer.Exit(1)


def _hand_out(part: str, sheets: list[Any], results: dict[str, Any], *, format: Format, write: bool) -> None:
    from benchmarks.results_file import preamble, write_part
    from benchmarks.sheets import as_json, markdown, show

    machine = describe()
    if format is Format.json:
        typer.echo(json.dumps(as_json({"machine": machine} | results), indent=1, allow_nan=False))
    else:
        show(sheets)
    if write:
        command = shlex.join(["python", "-m", "benchmarks", *sys.argv[1:]])
        write_part(part, [*preamble(machine, command), *markdown(sheets)])
        tell(f"benchmarks/RESULTS.md has a new part: {part}")


if __name__ == "__main__":
    app(prog_name="python -m benchmarks")
