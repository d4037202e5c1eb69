"""`cflag falsify`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cflag_theory.cli.shell import Format, FormatOption, SeedOption, print_json, progress_bar
from cflag_theory.errors import InvalidInput

if TYPE_CHECKING:
    from cflag_theory.falsify.conjecture import Conjecture


def falsify_command(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE", help="A page FILE.page, a Python file with conjectures at module level, or a claim id."
        ),
    ] = None,
    replay: Annotated[
        Path | None, typer.Option(help="Compute a saved counterexample again. FILE replaces the file that it names.")
    ] = None,
    budget: Annotated[int, typer.Option(min=1, help="Cases that the search may try, for each claim.")] = 3000,
    seconds: Annotated[float, typer.Option(help="Time limit in seconds, for one evaluation and for algebra.")] = 20.0,
    seed: SeedOption = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder of counterexamples; default: FILE-counterexamples beside the file.")
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """Search for counterexamples, in small rational numbers.

    FILE may also be a claim of the papers, such as cflag.eq5 or, for its second part, cflag.eq5.2: the search
    then looks for a counterexample to the printed statement. The default is the first part.

    Exit code 0: nothing was refuted. 1: a claim was refuted, or a replayed counterexample stands. 2: bad input. 130:
    interrupted.
    """
    if not seconds > 0:
        raise InvalidInput(f"--seconds is {seconds}: use a positive number")
    if replay is not None:
        _replay(replay, Path(file) if file is not None else None, seconds, format)
        return
    if file is None:
        raise typer.BadParameter("give a FILE that holds a Conjecture, or --replay and a counterexample")
    _falsify(file, budget, seconds, seed, out, format)


def _replay(saved: Path, file: Path | None, seconds: float, format: Format) -> None:
    from cflag_theory.falsify.saving import replay

    # What a user's file prints is not part of the result.
    with redirect_stdout(sys.stderr):
        again = replay(saved, claims=file, seconds=seconds)
    if format is Format.json:
        print_json(again.to_json())
    else:
        from cflag_theory.cli.tables import decide as tables

        tables.replayed(again)
    raise typer.Exit(1 if again.broken else 0)


def _falsify(file: str, budget: int, seconds: float, seed: int, out: Path | None, format: Format) -> None:
    from cflag_theory.cli.tables import decide as tables
    from cflag_theory.falsify.falsifying import falsify
    from cflag_theory.falsify.finding import Finding
    from cflag_theory.falsify.saving import save
    from cflag_theory.files import check_writable, own_folder

    path = Path(file)
    with redirect_stdout(sys.stderr):
        claims, source = claims_of(path, seconds)
    home = path.absolute().parent if isinstance(source, Path) else Path.cwd()
    folder = out if out is not None else home / f"{path.stem if isinstance(source, Path) else file}-counterexamples"
    # The usual folder is made with the first counterexample.
    own_folder(folder) if out is not None or folder.exists() else check_writable(home)
    done: list[tuple[Finding, str | None]] = []
    for claim in claims:
        with progress_bar(claim.name, budget) as advance, redirect_stdout(sys.stderr):

            def progress(count: int, advance: Callable[[float, str], None] = advance) -> None:
                advance(count, "")

            found = falsify(claim, budget=budget, seed=seed, seconds=seconds, progress=progress)
        command = None
        if found.refuted:
            command = f"cflag falsify --replay {shlex.quote(shown(save(found, folder, claim=source)))}"
        done.append((found, command))
        if format is Format.table:
            tables.finding(found, replay=command)
        if found.interrupted:
            break
    if format is Format.json:
        listed: list[dict[str, Any]] = [found.to_json() | {"replay": command} for found, command in done]
        print_json(listed)
    if done[-1][0].interrupted:
        typer.echo("cflag: interrupted; this is what was found so far", err=True)
        raise typer.Exit(130)
    raise typer.Exit(1 if any(found.refuted for found, _ in done) else 0)


def claims_of(path: Path, seconds: float, names: Sequence[str] = ()) -> tuple[list[Conjecture], Path | str]:
    """The claims that are meant, or all of the file, and where a replay finds them again."""
    from cflag_theory.falsify.claim_file import read_claims

    if path.suffix != ".py" and not path.exists():
        from cflag_theory.falsify.saving import of_the_ledger

        made = of_the_ledger(str(path))
        if made is not None:
            return [made], str(path)
        if str(path).partition(".")[0] in ("cflag", "cfl", "ours"):
            from cflag_theory.claims.ledger import claim

            # It says that the ledger has no such claim, and what it has.
            claim(str(path))
    found = {one.name: one for one in read_claims(path, seconds=seconds)}
    for name in names:
        if name not in found:
            raise InvalidInput(f"{path} has no claim {name!r}: it has {', '.join(found)}")
    return [found[name] for name in names or found], path


def shown(path: Path) -> str:
    """A path as it is typed from here."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_absolute() and path.is_relative_to(here) else str(path)
