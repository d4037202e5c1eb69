"""`cflag simulate`."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from cflag_theory.cli import shell
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
    from cflag_theory.cli.tables import trace as tables
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
