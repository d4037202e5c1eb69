"""`cflag simulate`."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cflag_theory.cli.options import (
    AlgorithmOption,
    BiasOption,
    ClientColumnOption,
    ClientsOption,
    CurrentOption,
    DataOption,
    DescribeOption,
    DialOption,
    FeaturesOption,
    LabelColumnOption,
    MemoryOption,
    MemorySizeOption,
    MissingOption,
    PastOption,
    PositiveOption,
    PotentialOption,
    ProblemOption,
    ReadOption,
    RedrawOption,
    ScaleOption,
    SetOption,
    StepsOption,
    TaskColumnOption,
    ZetaOption,
)
from cflag_theory.cli.shell import Format, FormatOption, SeedOption, print_json
from cflag_theory.errors import UnknownName


def simulate_command(
    beta: Annotated[float, typer.Option(help="Step size on the current data.")],
    alpha: Annotated[float, typer.Option(help="Step size on memory, for algorithms with a memory step.")] = 0.0,
    algorithm: AlgorithmOption = "c_flag",
    set_: SetOption = None,
    problem: ProblemOption = "default",
    dial: DialOption = None,
    data: DataOption = None,
    clients: ClientsOption = 5,
    zeta: ZetaOption = 1.0,
    past_classes: PastOption = None,
    current_classes: CurrentOption = None,
    label_column: LabelColumnOption = None,
    task_column: TaskColumnOption = None,
    client_column: ClientColumnOption = None,
    positive: PositiveOption = None,
    potential: PotentialOption = None,
    features: FeaturesOption = None,
    missing: MissingOption = None,
    scale: ScaleOption = False,
    read: ReadOption = None,
    describe: DescribeOption = False,
    memory: MemoryOption = None,
    memory_size: MemorySizeOption = None,
    m: BiasOption = None,
    redraw: RedrawOption = False,
    local_steps: StepsOption = 10,
    rounds: Annotated[int, typer.Option("--T", help="Rounds.")] = 100,
    participants: Annotated[int | None, typer.Option(help="Clients drawn every round; default: all.")] = None,
    replicas: Annotated[int, typer.Option(help="Independent runs.")] = 1,
    diagnostics: Annotated[str, typer.Option(help="none, cheap or all.")] = "cheap",
    every: Annotated[int, typer.Option(help="With all: full local gradients only every so many rounds.")] = 1,
    mode: Annotated[
        str, typer.Option(help="bitwise, or fast: replicas share products, which agree up to rounding.")
    ] = "bitwise",
    dtype: Annotated[str, typer.Option(help="float64 or float32.")] = "float64",
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    seed: SeedOption = 0,
    out: Annotated[Path | None, typer.Option(help="File for the Trace, .npz.")] = None,
    format: FormatOption = Format.table,
) -> None:
    """Run one algorithm on one problem, and write its Trace."""
    from cflag_theory.cli.tables import trace as tables
    from cflag_theory.files import check_file_writable
    from cflag_theory.kernels import simulate, write_trace
    from cflag_theory.studies.inputs import Columns, read_algorithm, read_memory, read_problem

    if out is not None:
        check_file_writable(out, begins=b"PK")
    columns = Columns(
        label_column, task_column, client_column, positive, potential, features, missing, scale, tuple(read or ())
    )
    build = partial(
        read_problem,
        problem=problem,
        dials=dial or (),
        data=data,
        clients=clients,
        zeta=zeta,
        past_classes=past_classes,
        current_classes=current_classes,
        seed=seed,
    )
    if describe:
        tables.describe(lambda columns: build(columns=columns), columns, format)
        return
    chosen = build(columns=columns)
    row = read_algorithm(algorithm, set_ or ())
    # Where f is g, a memory of f is used only if it is asked for.
    asked = row.memory or memory is not None or memory_size is not None or m is not None or redraw
    begun = time.monotonic()
    trace = simulate(
        chosen,
        row,
        alpha=alpha,
        beta=beta,
        local_steps=local_steps,
        rounds=rounds,
        memory=read_memory(memory, size=memory_size, m=m, redraw=redraw, data=data is not None)
        if asked or not chosen.evolving
        else None,
        participants=participants,
        replicas=replicas,
        seed=seed,
        engine=_engine(device),
        mode=mode,
        dtype=dtype,
        diagnostics=diagnostics,
        every=every,
    )
    seconds = time.monotonic() - begun
    if out is not None:
        write_trace(out, trace)
    summary = tables.summary(chosen, trace)
    if format is Format.json:
        print_json(summary)
        return
    tables.trace(summary)
    if trace.config["engine"] == "reference":
        # The seconds of a short run are those of loading.
        speed = f": {trace.rounds * trace.replicas / seconds:.0f} rounds a second" if seconds > 1 else ""
        typer.echo(f"  functions ran in Python{speed}")
    if out is not None:
        typer.echo(f"trace: {out}")


def _engine(device: str) -> str:
    engines = {"cpu": "compiled", "cuda": "cuda"}
    if device not in engines:
        raise UnknownName(f"device {device!r} is unknown: use one of {', '.join(engines)}")
    return engines[device]
