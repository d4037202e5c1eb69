"""`cflag decide`, `cflag prove` and `cflag repair`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cflag_theory.cli.commands.falsify import claims_of, shown
from cflag_theory.cli.shell import Format, FormatOption, ProverOption, SeedOption, print_json, progress_bar
from cflag_theory.errors import InvalidInput

if TYPE_CHECKING:
    from cflag_theory.falsify.decisions.decision import Decision

FileArgument = Annotated[
    str, typer.Argument(metavar="FILE", help="A page FILE.page, or a Python file with conjectures at module level.")
]
NamesArgument = Annotated[
    list[str] | None, typer.Argument(metavar="[ID]...", help="The claims that are meant; default: all of the file.")
]
BudgetOption = Annotated[int, typer.Option(min=1, help="Cases that the search may try, for each claim.")]
SecondsOption = Annotated[float, typer.Option(help="Time limit in seconds, for one evaluation and for algebra.")]
OutOption = Annotated[
    Path | None, typer.Option(help="Folder of counterexamples; default: FILE-counterexamples beside the file.")
]


def decide_command(
    file: FileArgument,
    names: NamesArgument = None,
    budget: BudgetOption = 3000,
    seconds: SecondsOption = 20.0,
    seed: SeedOption = 0,
    out: OutOption = None,
    prover: ProverOption = None,
    format: FormatOption = Format.table,
) -> None:
    """Prove or refute claims of your own.

    The result is a proof for all values, or a counterexample in small rational numbers.

    If neither is found: the largest left/right found, and the smallest factor of the right side that is proved. For a
    claim with a free constant: the best value proved, and the nearest value refuted.

    Exit code 0: nothing was refuted. 1: a claim was refuted. 2: bad input. 130: interrupted.
    """
    done = _each(file, names, "decide", budget, seconds, seed, out, format, prover)
    raise typer.Exit(1 if any(found.refuted for found in done) else 0)


def prove_command(
    file: FileArgument,
    names: NamesArgument = None,
    budget: BudgetOption = 3000,
    seconds: SecondsOption = 20.0,
    seed: SeedOption = 0,
    out: OutOption = None,
    prover: ProverOption = None,
    format: FormatOption = Format.table,
) -> None:
    """Prove claims of your own for all values, without a search.

    Exit code 0: all claims were proved. 1: one was not. 2: bad input. 130: interrupted.
    """
    done = _each(file, names, "prove", budget, seconds, seed, out, format, prover)
    raise typer.Exit(0 if all(found.outcome == "proved" for found in done) else 1)


def repair_command(
    file: FileArgument,
    names: NamesArgument = None,
    budget: BudgetOption = 3000,
    seconds: SecondsOption = 20.0,
    seed: SeedOption = 0,
    out: OutOption = None,
    format: FormatOption = Format.table,
) -> None:
    """Propose the smallest changes that make a claim provable.

    Decides the claims first, and proposes changes for those that are refuted: another constant, sign, power, factor or
    index; one more hypothesis, such as a step size, convexity or a sign; or a change of a hypothesis. Every proposal
    is proved.

    Exit code 0: nothing was refuted. 1: a claim was refuted. 2: bad input. 130: interrupted.
    """
    done = _each(file, names, "repair", budget, seconds, seed, out, format)
    raise typer.Exit(1 if any(found.refuted for found in done) else 0)


def _each(
    file: str,
    names: list[str] | None,
    side: str,
    budget: int,
    seconds: float,
    seed: int,
    out: Path | None,
    format: Format,
    prover: str | None = None,
) -> list[Decision]:
    from cflag_theory.cli.tables import decide as tables
    from cflag_theory.falsify.decisions.deciding import decide, prove
    from cflag_theory.falsify.decisions.repairs import Repaired, repair
    from cflag_theory.falsify.saving import save
    from cflag_theory.files import check_writable, own_folder

    if not seconds > 0:
        raise InvalidInput(f"--seconds is {seconds}: use a positive number")
    if prover not in (None, "coq"):
        raise InvalidInput(f"--prover is {prover!r}: use coq, or leave it out")
    path = Path(file)
    with redirect_stdout(sys.stderr):
        claims, source = claims_of(path, seconds, names or ())
    home = path.absolute().parent if isinstance(source, Path) else Path.cwd()
    folder = out if out is not None else home / f"{path.stem if isinstance(source, Path) else file}-counterexamples"
    # The usual folder is made with the first counterexample.
    own_folder(folder) if out is not None or folder.exists() else check_writable(home)
    done: list[Decision] = []
    listed: list[dict[str, Any]] = []
    interrupted = False
    for claim in claims:
        with progress_bar(claim.name, budget) as advance, redirect_stdout(sys.stderr):

            def progress(count: int, advance: Callable[[float, str], None] = advance) -> None:
                advance(count, "")

            works: dict[str, Callable[..., Decision | Repaired]]
            works = {"decide": decide, "prove": prove, "repair": repair}
            whole = works[side](claim, budget=budget, seed=seed, seconds=seconds, progress=progress)
        found = whole.decision if isinstance(whole, Repaired) else whole
        command = None
        # With a free constant the claim of the file has no single value to replay.
        if found.finding.refuted and claim.free is None:
            saved = save(found.finding, folder, claim=source)
            command = f"cflag falsify --replay {shlex.quote(shown(saved))}"
        done.append(found)
        kernel = _asked_coq(found) if prover == "coq" else None
        listed.append(whole.to_json() | {"replay": command} | ({"kernel": kernel} if prover == "coq" else {}))
        if format is Format.table:
            tables.decision(found, replay=command, kernel=kernel)
            if isinstance(whole, Repaired):
                tables.repairs(whole)
        if found.finding.interrupted or (isinstance(whole, Repaired) and whole.interrupted):
            interrupted = True
            break
    if format is Format.json:
        print_json(listed)
    if interrupted:
        typer.echo("cflag: interrupted; this is what was found so far", err=True)
        raise typer.Exit(130)
    return done


def _asked_coq(found: Decision) -> bool | None:
    """Whether Coq's kernel accepts the theorem of a derivation; None where there is none."""
    from cflag_theory.verify.coq import check

    theorem = None if found.derivation is None else found.derivation.theorem()
    return None if theorem is None else theorem.name in check([theorem], wholes=True).accepted
