"""The command line: commands that call documented functions and print their results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option
from typer.core import TyperGroup

from cflag_theory import __version__
from cflag_theory.cli import shell
from cflag_theory.cli.commands.bridge import bridge_command
from cflag_theory.cli.commands.conform import conform_command
from cflag_theory.cli.commands.decide import decide_command
from cflag_theory.cli.commands.forgetting import forgetting_command
from cflag_theory.cli.commands.ledger import (
    errata_command,
    list_command,
    look_first,
    place_of,
    verify_pages,
)
from cflag_theory.cli.commands.map import map_command
from cflag_theory.cli.commands.nqm import nqm_command
from cflag_theory.cli.commands.plot import plot_command
from cflag_theory.cli.commands.rate import rate_command
from cflag_theory.cli.commands.sharp import check_worst_case, sharp_command
from cflag_theory.cli.commands.simulate import simulate_command
from cflag_theory.cli.commands.stepsize import stepsize_command
from cflag_theory.cli.commands.sweep import sweep_command
from cflag_theory.cli.commands.tasks import tasks_command
from cflag_theory.cli.edge import run


class _Commands(TyperGroup):
    """All commands; an interrupt is one sentence, unless a command has more to say of it."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("cflag: interrupted; nothing was written", err=True)
            raise typer.Exit(130) from None


app = typer.Typer(
    name="cflag",
    cls=_Commands,
    help="Check the claims of the C-FLAG and CFL papers, run their algorithms, and plot the results.",
    no_args_is_help=True,
    # Plain text fits any width, and is the same in a pipe.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
# The order in which `cflag --help` lists them; `verify` and `show` are below.


def main() -> None:
    """Run the command line; errors that a user can fix are one sentence and exit code 2."""
    run(app)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"cflag-theory {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    pass


@app.command("verify")
def verify_command(
    claims: Annotated[
        list[str] | None,
        Argument(
            metavar="[FOLDER-OR-PAGE] [ID]...",
            help="Claim ids; default: all claims. Behind a page of your own, or a folder of pages: its claims. Or a "
            "worst_case.json of sharp: its proof and its run are checked again.",
            autocompletion=shell.complete_claims,
        ),
    ] = None,
    out: Annotated[Path | None, Option(help="Also run the rate experiments and write a report to this folder.")] = None,
    list_: Annotated[bool, Option("--list", help="Print the verdict on every claim, not only counts.")] = False,
    level: Annotated[str, Option(help="quick or full: how many random runs check each claim.")] = "quick",
    jobs: Annotated[int | None, Option(min=1, help="Processes; default: all usable cores.")] = None,
    prover: shell.ProverOption = None,
    seed: shell.SeedOption = 0,
    recheck: shell.RecheckOption = False,
    format: shell.FormatOption = shell.Format.table,
) -> None:
    """Decide the claims of both papers, and write the report; or decide the claims of pages of your own.

    A page is a text file FILE.page: claims with their proofs, or without. Proofs are examined, or looked for; instances
    are drawn from what is said.
    """
    if claims is not None and len(claims) == 1 and claims[0].endswith(".json"):
        check_worst_case(Path(claims[0]), details=list_, format=format)
        return
    if (place := place_of(claims or ())) is not None:
        ids = (claims or ())[1:]
        verify_pages(place, ids, level=level, jobs=jobs, prover=prover, seed=seed, format=format, out=out)
        return
    if out is not None:
        shell.take_folder(out)
    theorems = shell.read_theory(prover, claims or ())
    from cflag_theory.claims.ledger import LEDGER
    from cflag_theory.cli.tables import claims as tables
    from cflag_theory.verify.check import agree, verify, with_runs
    from cflag_theory.verify.kept import Kept

    kept = None if recheck else Kept()
    wanted = len(claims or LEDGER)
    counted = format is shell.Format.table and not claims and not list_
    looked = look_first(jobs) if counted and (kept is None or kept.empty) else {}
    with shell.progress_bar("proofs and instances", wanted) as advance:
        verdicts = verify(
            claims or (),
            seed=seed,
            level=level,
            jobs=jobs,
            prover=prover,
            theorems=theorems,
            progress=lambda id: advance(1, id),
            wholes=bool(claims) or level == "full",
            runs=False,
            kept=kept,
        )
    said = kept.words if kept is not None and kept.used else ""
    if format is shell.Format.table:
        # No verdict follows from what is still to come; it could only contradict one.
        agree(looked, verdicts)
        tables.verdicts(verdicts, listed=not counted, looked=bool(looked))
        typer.echo(said, nl=bool(said))
    report = None
    if out is not None:
        # Two seconds to import, for which no verdict waits.
        from cflag_theory.cli.first_report import Report

        report = Report(out, verdicts, seed, jobs, kept)
    with shell.progress_bar("random runs", wanted) as advance:
        # While other processes work for the report, these runs have this one.
        verdicts = with_runs(
            verdicts,
            seed=seed,
            level=level,
            jobs=jobs if report is None else 1,
            progress=lambda id: advance(1, id),
            kept=kept,
        )
    if format is shell.Format.table:
        tables.runs(verdicts, seed)
    page = None if report is None else report.write(verdicts, said)
    if format is shell.Format.json:
        shell.print_json([verdict.to_json() for verdict in verdicts])
    elif page is not None:
        typer.echo(f"report: {page}")


@app.command()
def show(
    claim: Annotated[str, Argument(help="A claim id, such as cflag.lemma13.", autocompletion=shell.complete_claims)],
    replay: Annotated[
        bool, Option("--replay", help="Print only the counterexample, computed again in exact arithmetic.")
    ] = False,
    level: Annotated[str, Option(help="quick or full: how many random runs check each claim.")] = "quick",
    prover: shell.ProverOption = None,
    seed: shell.SeedOption = 0,
    recheck: shell.RecheckOption = False,
    details: shell.DetailsOption = False,
    format: shell.FormatOption = shell.Format.table,
) -> None:
    """Print one claim: what it says, whether it holds, why not, and what to say instead."""
    theorems = shell.read_theory(prover, [claim])
    from cflag_theory.verify.check import verify
    from cflag_theory.verify.kept import Kept

    kept = None if recheck or replay else Kept()
    (verdict,) = verify([claim], seed=seed, level=level, prover=prover, theorems=theorems, wholes=True, kept=kept)
    if format is shell.Format.json:
        shell.print_json(verdict.to_json())
        return
    from cflag_theory.cli.tables import show as tables

    if replay:
        tables.replay(verdict)
    else:
        tables.claim(verdict, details=details or prover is not None)
        shell.say_kept(kept)


app.command("list")(list_command)
app.command("errata")(errata_command)
app.command("map")(map_command)
app.command("rate", cls=shell.Grouped)(rate_command)
app.command("stepsize", cls=shell.Grouped)(stepsize_command)
app.command("sharp")(sharp_command)
app.command("decide")(decide_command)
app.command("conform")(conform_command)
app.command("simulate", cls=shell.Grouped)(simulate_command)
app.command("nqm")(nqm_command)
app.command("forgetting", cls=shell.Grouped)(forgetting_command)
app.command("tasks", cls=shell.Grouped)(tasks_command)
app.command("sweep")(sweep_command)
app.command("plot")(plot_command)
app.command("bridge")(bridge_command)
