"""`cflag sweep`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from cflag_theory.cli.shell import Format, FormatOption, print_json, progress_bar


def sweep_command(
    file: Annotated[Path, Argument(help="A TOML file: [problem], [memory], [algorithm], [run]; lists are axes.")],
    out: Annotated[Path | None, Option(help="Folder of the results; default: FILE-results beside the file.")] = None,
    jobs: Annotated[int | None, Option(min=1, help="Processes; default: all usable cores.")] = None,
    backend: Annotated[str, Option(help="loky, the processes of this machine, or dask.")] = "loky",
    scheduler: Annotated[str | None, Option(help="Address of a Dask scheduler, such as tcp://10.0.0.1:8786.")] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Check the file and list its runs.")] = False,
    format: FormatOption = Format.table,
) -> None:
    """Run a grid of runs from one file.

    The same command continues a sweep that was stopped.
    """
    from cflag_theory.studies.sweeps.check import Plan
    from cflag_theory.studies.sweeps.sweep import default_folder, sweep

    if dry_run:
        list_runs(file, format)
        return
    folder = out or default_folder(file)

    def announce(plan: Plan) -> None:
        if format is Format.table:
            typer.echo(f"{len(plan.grid)} runs, {plan.rows} rows, {len(plan.chunks)} chunks, into {folder}")

    try:
        with progress_bar("sweep", 1.0) as advance:
            done = sweep(
                file, out=folder, jobs=jobs, backend=backend, scheduler=scheduler, progress=advance, planned=announce
            )
    except KeyboardInterrupt:
        typer.echo("cflag: interrupted; complete chunks are kept, and the same command continues", err=True)
        raise typer.Exit(130) from None
    if format is Format.json:
        print_json(done.to_json())
        return
    from cflag_theory.cli.tables import trace as tables
    from cflag_theory.studies.sweeps.rows import overview

    tables.results(*overview(folder))
    typer.echo(
        f"{done.runs - done.before} runs done, {done.before} were there, in {done.seconds:.1f} s; "
        f"draw them with cflag plot {folder}"
    )


def list_runs(file: Path, format: Format) -> None:
    """The runs of a checked file, one a line, or as JSON."""
    from cflag_theory.studies.sweeps.check import plan_sweep
    from cflag_theory.studies.sweeps.file import SECTIONS, read_sweep_file

    with progress_bar("check", 1.0) as advance:
        plan = plan_sweep(read_sweep_file(file), progress=lambda share: advance(share, ""))
    if format is Format.json:
        print_json([{section: dict(getattr(point, section)) for section in SECTIONS} for point in plan.grid.points()])
        return
    typer.echo(f"{len(plan.grid)} runs, {plan.rows} rows, {len(plan.chunks)} chunks")
    for point in plan.grid.points():
        typer.echo(f"{point.index}: {point}")
