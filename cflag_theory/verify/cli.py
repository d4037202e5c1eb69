"""The command line: thin shells over documented functions that return data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from cflag_theory import __version__
from cflag_theory.errors import CflagError
from cflag_theory.verify.cli_cfl import nqm_command
from cflag_theory.verify.shell import (
    Format,
    FormatOption,
    Paper,
    PaperOption,
    ProverOption,
    SeedOption,
    print_json,
    progress_bar,
    read_theory,
)

app = typer.Typer(
    name="cflag",
    help="Decide what the C-FLAG and CFL papers claim, run their algorithms, and draw what happens.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("nqm")(nqm_command)


ProblemOption = Annotated[
    str, typer.Option(help="A synthetic problem, such as default or noisy_quadratic; a wrong name lists them.")
]
DialOption = Annotated[list[str] | None, typer.Option("--dial", help="A dial of the problem, KEY=VALUE; repeatable.")]
DataOption = Annotated[str | None, typer.Option(help="Real data: digits, or a .npz or .csv file with labels.")]
ClientsOption = Annotated[int, typer.Option(help="Clients that share real data.")]
ZetaOption = Annotated[float, typer.Option(help="Dirichlet parameter of the split of real data.")]
PastOption = Annotated[str, typer.Option(help="Classes of the past task, such as 0-4.")]
CurrentOption = Annotated[str, typer.Option(help="Classes of the current task, such as 5-9.")]
MemoryOption = Annotated[str | None, typer.Option(help="all, uniform, balanced, sign or rotation.")]
MemorySizeOption = Annotated[int | None, typer.Option(help="Past components that each client keeps.")]
BiasOption = Annotated[float | None, typer.Option("--m", help="m of the sign and rotation memories.")]
RedrawOption = Annotated[bool, typer.Option(help="Draw the memory anew every round.")]
StepsOption = Annotated[int, typer.Option("--E", help="Local steps a round.")]


def main() -> None:
    """Run the command line; errors that a user can mend are one sentence and exit code 2."""
    try:
        app()
    except CflagError as error:
        typer.echo(f"cflag: {error}", err=True)
        raise SystemExit(2) from None
    except MemoryError:
        typer.echo("cflag: not enough memory: use fewer rounds (--T) or replicas", err=True)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        typer.echo("cflag: interrupted; nothing was written", err=True)
        raise SystemExit(130) from None


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"cflag-theory {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command("verify")
def verify_command(
    claims: Annotated[list[str] | None, typer.Argument(help="Claim ids; all of the ledger without any.")] = None,
    out: Annotated[Path | None, typer.Option(help="Also run the rate experiments and write a report here.")] = None,
    level: Annotated[str, typer.Option(help="quick or full: how many random runs.")] = "quick",
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; all usable cores without it.")] = None,
    prover: ProverOption = None,
    seed: SeedOption = 0,
    format: FormatOption = Format.table,
) -> None:
    """Decide the claims of the ledger, and write the report."""
    from cflag_theory.claims.ledger import LEDGER
    from cflag_theory.verify.check import verify
    from cflag_theory.verify.rates import HORIZONS, rate
    from cflag_theory.verify.report import check_writable, write_report

    if out is not None:
        check_writable(out)
    theorems = read_theory(prover, claims or ())
    with progress_bar("claims", len(claims or LEDGER)) as advance:
        verdicts = verify(
            claims or (),
            seed=seed,
            level=level,
            jobs=jobs,
            prover=prover,
            theorems=theorems,
            progress=lambda id: advance(1, id),
        )
    page = None
    if out is not None:
        from cflag_theory.verify import studies

        chosen, notes = studies.default_studies(seed)
        with progress_bar("rate", len(chosen) * sum(HORIZONS)) as advance:
            rates = [
                rate(problem, memory, seed=seed, progress=lambda T: advance(T, f"T = {T}")).to_json()
                for problem, memory in chosen
            ]
        with progress_bar("CFL", studies.CFL_WORK) as advance:
            cfl_rates, panels = studies.cfl_studies(seed, advance)
        page = write_report(out, verdicts, rates=rates, cfl_rates=cfl_rates, nqm_panels=panels, notes=notes)
    if format is Format.json:
        print_json([verdict.to_json() for verdict in verdicts])
        return
    from cflag_theory.verify import tables

    tables.ledger(verdicts)
    if page is not None:
        typer.echo(f"report: {page}")


@app.command()
def show(
    claim: Annotated[str, typer.Argument(help="A claim id, such as cflag.lemma13.")],
    replay: Annotated[
        bool, typer.Option("--replay", help="Only replay the counterexample, in exact arithmetic.")
    ] = False,
    level: Annotated[str, typer.Option(help="quick or full: how many random runs.")] = "quick",
    prover: ProverOption = None,
    seed: SeedOption = 0,
    format: FormatOption = Format.table,
) -> None:
    """One claim: source, statement, hypotheses, evidence, counterexample and its replay."""
    from cflag_theory.verify.check import verify

    (verdict,) = verify([claim], seed=seed, level=level, prover=prover, theorems=read_theory(prover, [claim]))
    if format is Format.json:
        print_json(verdict.to_json())
        return
    from cflag_theory.verify import tables

    if replay:
        tables.replay(verdict)
    else:
        tables.claim(verdict)


@app.command("rate")
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
        from cflag_theory.verify.cli_cfl import cfl_rate_studies

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


@app.command()
def stepsize(
    L: Annotated[float, typer.Option("--L", help="Smoothness constant.")],
    rounds: Annotated[int, typer.Option("--T", help="Rounds.")],
    paper: PaperOption = Paper.c_flag,
    m: Annotated[float | None, typer.Option("--m", help="c-flag: bias constant of (27).")] = None,
    local_steps: Annotated[int | None, typer.Option("--E", help="c-flag: local steps a round.")] = None,
    alpha: Annotated[float | None, typer.Option(help="c-flag: step size on memory.")] = None,
    beta: Annotated[float | None, typer.Option(help="c-flag: step size on the current data.")] = None,
    K: Annotated[int | None, typer.Option("--K", help="cfl: local steps a round.")] = None,
    eta_l: Annotated[float | None, typer.Option(help="cfl: local step size.")] = None,
    eta_g: Annotated[float | None, typer.Option(help="cfl: global step size; 1 without it.")] = None,
    mu: Annotated[float | None, typer.Option(help="cfl: convexity; 0 without it.")] = None,
    A: Annotated[float | None, typer.Option("--A", help="cfl: relative time drift; 0 without it.")] = None,
    B: Annotated[float | None, typer.Option("--B", help="cfl: relative client drift; 0 without it.")] = None,
    D: Annotated[float | None, typer.Option("--D", help="cfl: time drift, for the weights of Lemma B.4.")] = None,
    R: Annotated[float | None, typer.Option("--R", help="cfl: information loss, for the weights.")] = None,
    format: FormatOption = Format.table,
) -> None:
    """Which step-size conditions of a paper hold, by what factor, and what each unlocks."""
    from cflag_theory.verify import tables
    from cflag_theory.verify.conditions import cfl_step_sizes, step_sizes

    of_c_flag: dict[str, Any] = {"--m": m, "--E": local_steps, "--alpha": alpha, "--beta": beta}
    of_cfl: dict[str, Any] = {"--K": K, "--eta-l": eta_l}
    optional: dict[str, Any] = {"eta_g": eta_g, "mu": mu, "A": A, "B": B, "D": D, "R": R}
    needed = of_cfl if paper is Paper.cfl else of_c_flag
    other = (
        of_c_flag
        if paper is Paper.cfl
        else of_cfl | {f"--{name.replace('_', '-')}": optional[name] for name in optional}
    )
    for option, value in needed.items():
        if value is None:
            raise typer.BadParameter(f"--paper {paper.value} needs {option}")
    for option, value in other.items():
        if value is not None:
            raise typer.BadParameter(f"{option} is not an option of --paper {paper.value}: leave it out")
    given = {name: value for name, value in optional.items() if value is not None}
    found: Any
    if paper is Paper.cfl:
        found = cfl_step_sizes(L=L, K=of_cfl["--K"], eta_l=of_cfl["--eta-l"], T=rounds, **given)
    else:
        found = step_sizes(L=L, T=rounds, **{option[2:]: value for option, value in of_c_flag.items()})
    if format is Format.json:
        print_json(found.to_json())
        return
    tables.step_sizes(found)


@app.command("simulate")
def simulate_command(
    beta: Annotated[float, typer.Option(help="Step size on the current data.")],
    alpha: Annotated[float, typer.Option(help="Step size on memory, for algorithms with a memory step.")] = 0.0,
    algorithm: Annotated[
        str, typer.Option(help="A row of the table, such as c_flag, fedavg or cfl; a wrong name lists them.")
    ] = "c_flag",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="A field of the row, KEY=VALUE, such as past=taylor; repeatable."),
    ] = None,
    problem: ProblemOption = "default",
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
    local_steps: StepsOption = 10,
    rounds: Annotated[int, typer.Option("--T", help="Rounds.")] = 100,
    participants: Annotated[int | None, typer.Option(help="Clients drawn every round; all without it.")] = None,
    replicas: Annotated[int, typer.Option(help="Independent runs.")] = 1,
    diagnostics: Annotated[str, typer.Option(help="none, cheap or all.")] = "cheap",
    seed: SeedOption = 0,
    out: Annotated[Path | None, typer.Option(help="File for the Trace, .npz.")] = None,
    format: FormatOption = Format.table,
) -> None:
    """Run one algorithm on one problem, and write its Trace."""
    from cflag_theory.kernels import simulate, write_trace
    from cflag_theory.verify import tables
    from cflag_theory.verify.inputs import read_algorithm, read_memory, read_problem
    from cflag_theory.verify.report import check_writable

    if out is not None:
        check_writable(out.absolute().parent)
    chosen = read_problem(
        problem=problem,
        dials=dial or (),
        data=data,
        clients=clients,
        zeta=zeta,
        past_classes=past_classes,
        current_classes=current_classes,
        seed=seed,
    )
    row = read_algorithm(algorithm, set_ or ())
    # Where f is g, a memory of f says nothing unless it is asked for.
    asked = row.memory or memory is not None or memory_size is not None or m is not None or redraw
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
        diagnostics=diagnostics,
    )
    if out is not None:
        write_trace(out, trace)
    summary = tables.trace_summary(chosen, trace)
    if format is Format.json:
        print_json(summary)
        return
    tables.trace(summary)
    if out is not None:
        typer.echo(f"trace: {out}")
