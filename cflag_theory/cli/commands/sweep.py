"""`cflag simulate`, `cflag sweep` and `cflag plot`."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from cflag_theory.cli import shell
from cflag_theory.cli.shell import Format, FormatOption, print_json, progress_bar
from cflag_theory.errors import InvalidInput, UnknownName

#: Steps of clients that NumPy takes in a few seconds, less than a loop takes to compile.
QUICK = 20_000


@shell.takes_groups()
def simulate_command(
    real: shell.Real,
    kept: shell.Kept,
    beta: Annotated[float | None, Option(help="Step size on the current data.")] = None,
    alpha: Annotated[float, Option(help="Step size on memory, for algorithms with a memory step.")] = 0.0,
    algorithm: shell.AlgorithmOption = "c_flag",
    set_: shell.SetOption = None,
    problem: shell.ProblemOption = "default",
    dial: shell.DialOption = None,
    local_steps: shell.StepsOption = 10,
    rounds: Annotated[int, Option("--T", help="Rounds.")] = 100,
    participants: Annotated[int | None, Option(help="Clients drawn every round; default: all.")] = None,
    replicas: Annotated[int, Option(help="Independent runs.")] = 1,
    diagnostics: Annotated[str, Option(help="none, cheap or all.")] = "cheap",
    every: Annotated[int, Option(help="With all: full local gradients only every so many rounds.")] = 1,
    mode: Annotated[
        str, Option(help="bitwise, or fast: replicas share products, which agree up to rounding.")
    ] = "bitwise",
    dtype: Annotated[str, Option(help="float64 or float32.")] = "float64",
    device: Annotated[str, Option(help="cpu or cuda.")] = "cpu",
    seed: shell.SeedOption = 0,
    out: Annotated[Path | None, Option(help="File for the Trace, .npz.")] = None,
    format: shell.FormatOption = shell.Format.table,
) -> None:
    """Run one algorithm on one problem, and write its Trace."""
    from cflag_theory.cli.tables import rate as tables
    from cflag_theory.files import check_file_writable
    from cflag_theory.kernels import simulate, write_trace
    from cflag_theory.kernels.simulation import compile_apart, compiles_first
    from cflag_theory.studies.inputs import read_algorithm, read_problem

    if out is not None:
        check_file_writable(out, begins=b"PK")
    build = partial(read_problem, **{**real.split(), "problem": problem, "dials": dial or (), "seed": seed})
    if real.describe:
        tables.describe(lambda columns: build(columns=columns), real.columns, format)
        return
    chosen = build()
    row = read_algorithm(algorithm, set_ or ())
    if beta is None:
        raise NoStepSize(float(chosen.constants["L"].value), local_steps, memory=row.memory and not alpha)
    # Where f is g, a memory of f is used only if it is asked for.
    asked = row.memory or kept != shell.Kept()
    run = partial(
        simulate,
        chosen,
        row,
        rounds=rounds,
        replicas=replicas,
        alpha=alpha,
        beta=beta,
        local_steps=local_steps,
        memory=kept.read(data=real.data is not None) if asked or not chosen.evolving else None,
        participants=participants,
        seed=seed,
        mode=mode,
        dtype=dtype,
        diagnostics=diagnostics,
        every=every,
    )
    engine, steps = _engine(device), rounds * replicas * local_steps * chosen.clients
    # What is written down has the last bits of the compiled loop.
    shown = out is None and format is shell.Format.table and dtype == "float64"
    small = shown and engine == "compiled" and steps <= QUICK
    meanwhile = small and compiles_first(chosen, row, participants)
    begun = time.monotonic()
    trace = run(engine="reference" if meanwhile else engine)
    seconds = time.monotonic() - begun
    if out is not None:
        write_trace(out, trace)
    summary = tables.summary(chosen, trace)
    if format is shell.Format.json:
        shell.print_json(summary)
        return
    tables.trace(summary)
    if meanwhile:
        typer.echo("  computed in NumPy this time; the compiled loop is being made in the background, for the next")
        compile_apart(chosen, row, participants)
    elif trace.config["engine"] == "reference":
        # The seconds of a short run are those of loading.
        speed = f": {trace.rounds * trace.replicas / seconds:.0f} rounds a second" if seconds > 1 else ""
        typer.echo(f"  functions ran in Python{speed}")
    if out is not None:
        typer.echo(f"trace: {out}")


class NoStepSize(InvalidInput):
    """No step size is given; `add` has those that `cflag forgetting` takes."""

    def __init__(self, L: float, E: int, *, memory: bool) -> None:
        super().__init__(f"a step size is missing; L is {L:.4g}, E is {E}")
        self.add = (f"--beta={1 / (3 * L * E):.3g}", *([f"--alpha={1 / (2 * L):.3g}"] if memory else ()))


def _engine(device: str) -> str:
    engines = {"cpu": "compiled", "cuda": "cuda"}
    if device not in engines:
        raise UnknownName(f"device {device!r} is unknown: use one of {', '.join(engines)}")
    return engines[device]


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
    from cflag_theory.cli.tables import rate as tables
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
        Path, Argument(help="A folder that cflag sweep wrote, or a .json file or folder of another command.")
    ],
    figure: Annotated[
        str, Option(help="Of a sweep: series (y against x), curves (y along rounds) or map (y over x and --by).")
    ] = "series",
    x: Annotated[str, Option(help="Column on the x axis.")] = "T",
    y: Annotated[str | None, Option(help="Column that is drawn; default: min_grad_f2, and grad_f2 for curves.")] = None,
    by: Annotated[
        str | None, Option(help="Coordinates that tell lines apart, such as algorithm,m; default: all.")
    ] = None,
    where: Annotated[
        list[str] | None, Option(help="Only rows with this value, KEY=VALUE, such as algorithm=c_flag; repeatable.")
    ] = None,
    partial: Annotated[bool, Option("--partial", help="Draw a sweep that is not complete.")] = False,
    out: Annotated[Path | None, Option(help="Folder of the figure; default: that of the results.")] = None,
    name: Annotated[str | None, Option(help="Name of the figure's files; default: that of the figure.")] = None,
) -> None:
    """Plot stored results; nothing is run."""
    from cflag_theory.cli.plots import plot, plot_stored
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
