"""`cflag rate`, for both papers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cflag_theory.verify.cli_options import (
    BiasOption,
    ClientsOption,
    CurrentOption,
    DataOption,
    DialOption,
    MemoryOption,
    MemorySizeOption,
    PastOption,
    RedrawOption,
    ZetaOption,
)
from cflag_theory.verify.shell import Format, FormatOption, Paper, PaperOption, SeedOption, print_json, progress_bar


def rate_command(
    paper: PaperOption = Paper.c_flag,
    problem: Annotated[str | None, typer.Option(help="default, glm, separable or quadratic.")] = None,
    dial: DialOption = None,
    data: DataOption = None,
    clients: ClientsOption = 5,
    zeta: ZetaOption = 1.0,
    past_classes: PastOption = "0-4",
    current_classes: CurrentOption = "5-9",
    memory: MemoryOption = None,
    memory_size: MemorySizeOption = None,
    m: BiasOption = None,
    redraw: RedrawOption = False,
    local_steps: Annotated[int | None, typer.Option("--E", help="Local steps a round; 10, for cfl 1.")] = None,
    c: Annotated[float | None, typer.Option(help="beta = c / sqrt(T); 1 / (3 L E) without it.")] = None,
    horizons: Annotated[str | None, typer.Option(help="Values of T, such as 16,32,64; 2^4 to 2^12 without it.")] = None,
    replicas: Annotated[int, typer.Option(help="Independent runs.")] = 32,
    seed: SeedOption = 0,
    out: Annotated[Path | None, typer.Option(help="Folder for rate.json, rate.png and rate.svg.")] = None,
    format: FormatOption = Format.table,
) -> None:
    """min over t of the mean of ||grad f(x_t)||^2 against T, with the bound of Theorem 2 and the fitted slope.

    Without --problem and --data: the default problem, and beside it the handwritten digits. With --paper cfl:
    E f(w_T) - f* of FedAvg and CFL on the noisy quadratic model, whose numbers are dials (--dial D=10), for clients
    that stay and for clients that are new in every round.
    """
    from cflag_theory.verify.inputs import integers, read_memory, read_problem
    from cflag_theory.verify.rates import HORIZONS, rate
    from cflag_theory.verify.report import check_writable

    if out is not None:
        check_writable(out)
    if paper is Paper.cfl:
        if problem is not None or data is not None or memory is not None or c is not None:
            raise typer.BadParameter(
                "--paper cfl runs the noisy quadratic model: leave out --problem, --data, --memory, --c"
            )
        cfl_rate_studies(dial or (), horizons, K=local_steps, replicas=replicas, seed=seed, out=out, format=format)
        return
    lengths = HORIZONS if horizons is None else integers(horizons, "horizons")
    notes: list[str] = []
    if problem is None and data is None and memory is None and not dial:
        from cflag_theory.verify.studies import default_studies

        studies, notes = default_studies(seed)
    else:
        chosen = read_problem(
            problem=problem or "default",
            dials=dial or (),
            data=data,
            clients=clients,
            zeta=zeta,
            past_classes=past_classes,
            current_classes=current_classes,
            seed=seed,
        )
        studies = [(chosen, read_memory(memory, size=memory_size, m=m, redraw=redraw, data=data is not None))]
    with progress_bar("rate", len(studies) * sum(lengths)) as advance:
        found = [
            rate(
                one,
                kept,
                horizons=lengths,
                replicas=replicas,
                local_steps=10 if local_steps is None else local_steps,
                c=c,
                seed=seed,
                progress=lambda T: advance(T, f"T = {T}"),
            )
            for one, kept in studies
        ]
    results = [study.to_json() for study in found]
    if out is not None:
        from cflag_theory.figures import rate_figure, save
        from cflag_theory.verify.report import write_text

        save(rate_figure(results), out, "rate")
        write_text(out / "rate.json", json.dumps(results, indent=1))
    if format is Format.json:
        print_json(results)
        return
    from cflag_theory.verify import tables

    for study in found:
        tables.rate(study)
    for note in notes:
        typer.echo(note)
    if out is not None:
        typer.echo(f"figures: {out / 'rate.png'}, {out / 'rate.svg'}")


def cfl_rate_studies(
    dials: Sequence[str],
    horizons: str | None,
    *,
    K: int | None,
    replicas: int,
    seed: int,
    out: Path | None,
    format: Format,
) -> None:
    """`cflag rate --paper cfl`: clients that stay, and clients that are new in every round."""
    from cflag_theory.verify import tables_nqm
    from cflag_theory.verify.cfl_rates import cfl_rate
    from cflag_theory.verify.inputs import integers, read_model
    from cflag_theory.verify.rates import HORIZONS
    from cflag_theory.verify.report import write_text

    lengths = HORIZONS if horizons is None else integers(horizons, "horizons")
    models = [read_model(dials, K=1 if K is None else K, stateless=stateless) for stateless in (False, True)]
    with progress_bar("rate", len(models) * sum(lengths)) as advance:
        found = [
            cfl_rate(model, horizons=lengths, replicas=replicas, seed=seed, progress=lambda T: advance(T, f"T = {T}"))
            for model in models
        ]
    results = [study.to_json() for study in found]
    if out is not None:
        from cflag_theory.figures import cfl_rate_figure, save

        save(cfl_rate_figure(results), out, "cfl_rate")
        write_text(out / "cfl_rate.json", json.dumps(results, indent=1))
    if format is Format.json:
        print_json(results)
        return
    for study in found:
        tables_nqm.cfl_rate(study)
    if out is not None:
        typer.echo(f"figures: {out / 'cfl_rate.png'}, {out / 'cfl_rate.svg'}")
