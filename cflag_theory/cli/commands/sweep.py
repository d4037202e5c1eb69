"""`cflag sweep` and `cflag plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cflag_theory.cli.shell import Format, FormatOption, print_json, progress_bar


def sweep_command(
    file: Annotated[Path, typer.Argument(help="A TOML file: [problem], [memory], [algorithm], [run]; lists are axes.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder of the results; default: FILE-results beside the file.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; default: all usable cores.")] = None,
    backend: Annotated[str, typer.Option(help="loky, the processes of this machine, or dask.")] = "loky",
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://10.0.0.1:8786.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check the file and list its runs.")] = False,
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


def plot_command(
    results: Annotated[
        Path, typer.Argument(help="A folder that cflag sweep wrote, or a .json file or folder of another command.")
    ],
    figure: Annotated[
        str, typer.Option(help="Of a sweep: series (y against x), curves (y along rounds) or map (y over x and --by).")
    ] = "series",
    x: Annotated[str, typer.Option(help="Column on the x axis.")] = "T",
    y: Annotated[
        str | None, typer.Option(help="Column that is drawn; default: min_grad_f2, and grad_f2 for curves.")
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Coordinates that tell lines apart, such as algorithm,m; default: all.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(help="Only rows with this value, KEY=VALUE, such as algorithm=c_flag; repeatable."),
    ] = None,
    partial: Annotated[bool, typer.Option("--partial", help="Draw a sweep that is not complete.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder of the figure; default: that of the results.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the figure's files; default: that of the figure.")] = None,
) -> None:
    """Plot stored results; nothing is run."""
    from cflag_theory.cli.plots import plot, plot_stored
    from cflag_theory.errors import InvalidInput
    from cflag_theory.figures import save
    from cflag_theory.files import check_writable, own_folder
    from cflag_theory.studies.sweeps.store import HEADER

    folder = results if results.is_dir() else results.parent
    if (results / HEADER).exists() or results.name == HEADER:
        found = {
            name or figure: plot(
                folder,
                figure=figure,
                x=x,
                y=y,
                by=None if by is None else [key.strip() for key in by.split(",")],
                where=_pairs(where or ()),
                partial=partial,
            )
        }
    else:
        given = {"--figure": figure != "series", "--x": x != "T", "--y": y, "--by": by, "--where": where}
        for option in [option for option, is_given in (given | {"--partial": partial}).items() if is_given]:
            raise InvalidInput(f"{option} is only for the results of a sweep, and {results} holds none: leave it out")
        found = plot_stored(results)
        if name is not None and len(found) > 1:
            raise InvalidInput(f"{results} has {len(found)} figures, which keep their names: leave out --name")
        if name is not None:
            found = dict(zip([name], found.values(), strict=True))
    target = check_writable(folder) if out is None else own_folder(out)
    for title, drawn in found.items():
        written = save(drawn, target, title)
        if drawn.alt:
            typer.echo(drawn.alt)
        typer.echo(f"figure: {', '.join(map(str, written))}")


def _pairs(words: list[str] | tuple[()]) -> dict[str, str]:
    pairs = {}
    for one in words:
        key, equals, value = one.partition("=")
        if not (key and equals and value):
            raise typer.BadParameter(f"{one!r} is not understood: write KEY=VALUE, such as algorithm=c_flag")
        pairs[key.strip()] = value.strip()
    return pairs
