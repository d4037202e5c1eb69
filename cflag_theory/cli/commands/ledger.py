"""The ledger at a glance: `cflag list`; `cflag errata`, what is wrong in a paper, for its authors.

And the claims of somebody else's pages: `cflag verify FOLDER-OR-PAGE`, with a report, and `cflag errata` on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from cflag_theory.cli import shell
from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.files import write_text

if TYPE_CHECKING:
    from cflag_theory.claims.pages.folder import Folder
    from cflag_theory.verify.verdict import Verdict


def list_command(
    text: Annotated[
        list[str] | None, Argument(help="Words that the id, place, title or printed text must contain; any case.")
    ] = None,
    format: shell.FormatOption = shell.Format.table,
) -> None:
    """List the claims: id, place and title. Nothing is decided."""
    from cflag_theory.claims.printed import search

    words = " ".join(text or ())
    found = search(words)
    if not found:
        raise UnknownName(f"no claim contains {words!r}: use fewer words, or none for all claims")
    if format is shell.Format.json:
        shell.print_json([{"id": one.id, "paper": one.paper, "where": one.where, "title": one.title} for one in found])
        return
    from cflag_theory.cli.tables.page import Page

    console = Page()
    console.table(("claim", "place", "title"), [(one.id, one.where, one.title) for one in found])
    console.say(
        f"{len(found)} claim{'s' if len(found) > 1 else ''}; cflag show CLAIM decides one and prints its evidence"
    )


def errata_command(
    pages: Annotated[
        str | None, Argument(metavar="[FOLDER-OR-PAGE]", help="Pages of your own, in place of a paper.")
    ] = None,
    paper: Annotated[shell.Paper | None, Option(help="Which paper: c-flag or cfl; default: c-flag.")] = None,
    out: Annotated[Path | None, Option(help="NAME.tex or NAME.md: the whole list.")] = None,
    jobs: Annotated[int | None, Option(min=1, help="Processes; default: all usable cores.")] = None,
    seed: shell.SeedOption = 0,
    recheck: shell.RecheckOption = False,
) -> None:
    """List what is wrong in a paper, or on pages of your own, for the authors.

    With --out: every statement that fails as printed, with a counterexample, a correction and its proof.
    """
    from cflag_theory.claims.ledger import BOOK
    from cflag_theory.cli import errata
    from cflag_theory.verify.check import verify
    from cflag_theory.verify.kept import Kept

    if pages is not None and paper is not None:
        raise InvalidInput(f"{pages} and --paper {paper.value} name two papers: leave one out")
    if out is not None:
        errata.check_target(out)
    book, kept = BOOK, None
    if pages is not None:
        folder = read_pages(pages)
        verdicts = decide_pages(folder, seed=seed, jobs=jobs)
        book = folder.book
        (name,) = book.papers
    else:
        name = "CFL" if paper is shell.Paper.cfl else "C-FLAG"
        ids = errata.rows(name)
        kept = None if recheck else Kept()
        with shell.progress_bar("claims", len(ids)) as advance:
            verdicts = verify(ids, seed=seed, jobs=jobs, progress=lambda id: advance(1, id), kept=kept)
    if out is None:
        from cflag_theory.cli.tables.claims import wrong

        wrong(*errata.sorted_out(verdicts, name, book))
        shell.say_kept(kept)
        return
    # The CFL paper's local steps are K of them: its E is the expectation.
    text = errata.errata(verdicts, name, errata.FORMATS[out.suffix](expectation=name == "CFL"), book)
    write_text(out, text)
    typer.echo(f"errata: {out}")


def look_first(jobs: int | None) -> dict[str, str]:
    """Print how many statements of the papers have each verdict as soon as exact algebra knows; the verdict by id."""
    from cflag_theory.claims.printed import search
    from cflag_theory.cli.tables.claims import first_counts
    from cflag_theory.verify.check import first_look

    papers = {one.id: one.paper for one in search("") if one.paper != "ours"}
    with shell.progress_bar("first look", len(papers)) as advance:
        looked = first_look(tuple(papers), jobs=jobs, progress=lambda id: advance(1, id))
    first_counts([(papers[id], verdict) for id, verdict in looked.items()])
    typer.echo("by exact algebra and exact instances; z3, all other instances and random runs follow")
    return looked


def place_of(claims: Sequence[str]) -> Path | None:
    """The page or the folder that is meant, if the first argument of a command is one and no claim."""
    first = Path(claims[0]) if claims else None
    meant = first is not None and (first.suffix == ".page" or "/" in claims[0] or first.is_dir())
    return first if meant else None


def verify_pages(place: Path, ids: Sequence[str], *, format: shell.Format, out: Path | None, **how: Any) -> None:
    """Decide the claims of a page or a folder, and print the verdicts with what they follow from, or write a report."""
    from cflag_theory.cli.tables.claims import own

    if out is not None:
        shell.take_folder(out)
    folder = read_pages(place)
    verdicts = decide_pages(folder, ids, **how)
    if format is shell.Format.json:
        shell.print_json([verdict.to_json() for verdict in verdicts])
    else:
        own(verdicts)
    if out is not None:
        from cflag_theory.cli.report import write_report
        from cflag_theory.verify.folders import with_proofs

        with shell.progress_bar("report", len(verdicts)) as advance:
            for index, verdict in enumerate(verdicts):
                verdicts[index] = with_proofs(verdict)
                advance(1, verdict.claim.id)
            proved = {one.claim.id: one.claim for one in verdicts}
            book = replace(folder.book, claim=lambda id: proved.get(id) or folder.claim(id))
            page = write_report(out, verdicts, book=book)
        if format is shell.Format.table:
            typer.echo(f"report: {page}")


def read_pages(place: Path | str) -> Folder:
    """Pages and all that they say beside mathematics: what is wrong there ends a command before it decides anything."""
    from cflag_theory.claims.glossary import glossary
    from cflag_theory.claims.printed import printed
    from cflag_theory.claims.uses import arrows
    from cflag_theory.falsify.saving import pages_of

    folder = pages_of(place)
    (paper,) = folder.book.papers
    _ = glossary(folder.book), printed(paper, folder.book), arrows(paper, folder.book)
    return folder


def decide_pages(folder: Folder, ids: Sequence[str] = (), **how: Any) -> list[Verdict]:
    """Decide the claims of pages, or these ones, with progress; `how` as `verify_folder` takes it."""
    from cflag_theory.verify.folders import verify_folder

    with shell.progress_bar("claims", len(ids or folder.claims)) as advance:
        return verify_folder(folder, ids, progress=lambda id: advance(1, id), **how)
