"""The ledger at a glance: `cflag list`; `cflag errata`, what is wrong in a paper, as a list for its authors.

And `cflag verify FOLDER-OR-PAGE`: the claims of somebody else's pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cflag_theory.cli.shell import (
    Format,
    FormatOption,
    Paper,
    PaperOption,
    RecheckOption,
    SeedOption,
    print_json,
    progress_bar,
)
from cflag_theory.errors import InvalidInput, UnknownName


def list_command(
    text: Annotated[
        list[str] | None, typer.Argument(help="Words that the id, place, title or printed text must contain; any case.")
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """List the claims: id, place and title. Nothing is decided."""
    from cflag_theory.claims.printed import search

    words = " ".join(text or ())
    found = search(words)
    if not found:
        raise UnknownName(f"no claim contains {words!r}: use fewer words, or none for all claims")
    if format is Format.json:
        print_json([{"id": one.id, "paper": one.paper, "where": one.where, "title": one.title} for one in found])
        return
    from cflag_theory.cli.tables.page import Page

    console = Page()
    console.table(("claim", "place", "title"), [(one.id, one.where, one.title) for one in found])
    console.say(f"{len(found)} claims; cflag show CLAIM decides one and prints its evidence")


def errata_command(
    paper: PaperOption = Paper.c_flag,
    out: Annotated[Path | None, typer.Option(help="NAME.tex or NAME.md; default: Markdown on standard output.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; default: all usable cores.")] = None,
    seed: SeedOption = 0,
    recheck: RecheckOption = False,
) -> None:
    """List what is wrong in a paper, for its authors.

    Every statement that fails as printed, with a counterexample, a correction and its proof, as LaTeX or Markdown.
    """
    from cflag_theory.cli import errata
    from cflag_theory.files import write_text
    from cflag_theory.verify.check import verify
    from cflag_theory.verify.kept import Kept

    if out is not None:
        errata.check_target(out)
    name = {Paper.c_flag: "C-FLAG", Paper.cfl: "CFL"}[paper]
    ids = errata.rows(name)
    kept = None if recheck else Kept()
    with progress_bar("claims", len(ids)) as advance:
        verdicts = verify(ids, seed=seed, jobs=jobs, progress=lambda id: advance(1, id), kept=kept)
    suffix = ".md" if out is None else out.suffix
    # The CFL paper's local steps are K of them: its E is the expectation.
    text = errata.errata(verdicts, name, errata.FORMATS[suffix](expectation=name == "CFL"))
    if out is None:
        typer.echo(text, nl=False)
        return
    write_text(out, text)
    typer.echo(f"errata: {out}")


def place_of(claims: Sequence[str]) -> Path | None:
    """The page or the folder that is meant, if the first argument of `cflag verify` is one and no claim."""
    first = Path(claims[0]) if claims else None
    meant = first is not None and (first.suffix == ".page" or "/" in claims[0] or first.is_dir())
    return first if meant else None


def verify_pages(
    place: Path,
    ids: Sequence[str],
    *,
    level: str,
    jobs: int | None,
    prover: str | None,
    seed: int,
    format: Format,
    out: Path | None,
) -> None:
    """Decide the claims of a page or a folder, and print the verdicts with what they follow from."""
    if out is not None:
        raise InvalidInput("--out writes the report on the ledger: leave it out for pages, or take --format json")
    from cflag_theory.cli.tables.claims import own
    from cflag_theory.verify.folders import verify_folder

    with progress_bar("claims", len(ids) or None) as advance:
        verdicts = verify_folder(
            place, ids, seed=seed, level=level, jobs=jobs, prover=prover, progress=lambda id: advance(1, id)
        )
    if format is Format.json:
        print_json([verdict.to_json() for verdict in verdicts])
    else:
        own(verdicts)
