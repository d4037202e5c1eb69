"""The ledger at a glance: `cflag list`, `cflag map`; `cflag errata`, what is wrong in a paper, for its authors.

And the claims of somebody else's pages: `cflag verify FOLDER-OR-PAGE`, with a report, and `cflag errata` on them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from cflag_theory.claims.pages.text import bare
from cflag_theory.cli import shell
from cflag_theory.errors import InvalidInput, OutputError, UnknownName
from cflag_theory.files import check_file_writable, write_text
from cflag_theory.public import Rule, one_of
from cflag_theory.reading import WORD, read_json, unfit

if TYPE_CHECKING:
    from cflag_theory.claims.book import Book
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


class MapFormat(StrEnum):
    """How a map is written."""

    table = "table"
    json = "json"
    svg = "svg"
    dot = "dot"


_PAPERS = {"C-FLAG": shell.Paper.c_flag, "CFL": shell.Paper.cfl}


def map_command(
    claims: Annotated[
        list[str] | None,
        Argument(
            metavar="[FOLDER-OR-PAGE] [CLAIM]",
            help="Pages of your own, in place of a paper; only the claims that one uses and those that use it.",
            autocompletion=shell.complete_claims,
        ),
    ] = None,
    paper: Annotated[shell.Paper | None, Option(help="c-flag or cfl; default without a claim: c-flag.")] = None,
    out: Annotated[Path | None, Option(help="A file to write: .svg, .dot or .json.")] = None,
    format: Annotated[
        MapFormat | None, Option("--format", help="table, json, svg or dot; default: the ending of --out, else table.")
    ] = None,
    verdicts: Annotated[
        Path | None, Option(help="A report's folder: use its verdicts instead of deciding again.")
    ] = None,
    jobs: Annotated[int | None, Option(min=1, help="Processes; default: all usable cores.")] = None,
    seed: shell.SeedOption = 0,
    recheck: shell.RecheckOption = False,
    details: shell.DetailsOption = False,
) -> None:
    """Show how claims depend on each other, with verdicts.

    The dependencies are the paper's own references and those of the checked proofs. Without a claim, prints the claims
    that depend on false ones, and which of them hold in another form.
    """
    from cflag_theory.claims.ledger import BOOK
    from cflag_theory.claims.uses import ids
    from cflag_theory.cli import claim_map
    from cflag_theory.verify.check import verify
    from cflag_theory.verify.kept import Kept

    place = place_of(claims or ())
    named = [*(claims or ())][place is not None :]
    if len(named) > 1:
        raise InvalidInput(f"a map is drawn around one claim, not {len(named)}: name {named[0]} alone, or none")
    start = named[0] if named else None
    if place is not None and paper is not None:
        raise InvalidInput(f"{place} and --paper {paper.value} name two papers: leave one out")
    form = _format(out, format)
    pages = None if place is None else read_pages(place)
    book = BOOK if pages is None else pages.book
    chosen = _paper(start, paper) if pages is None else book.papers[0]
    if start is not None:
        book.claim(start)
    names, among = claim_map.kept(chosen, start, book)
    # The claims that depend on a false one may be anywhere in the paper.
    needed = ids(chosen, book) if form is MapFormat.table else _with_ours(names, book)
    known: Kept | None = None
    if verdicts is not None:
        labels = read_labels(verdicts)
    elif pages is not None:
        labels = {one.claim.id: one.verdict for one in decide_pages(pages, needed, seed=seed, jobs=jobs)}
    else:
        known = None if recheck else Kept()
        with shell.progress_bar("claims", len(needed)) as advance:
            found = verify(needed, seed=seed, jobs=jobs, progress=lambda id: advance(1, id), runs=False, kept=known)
        labels = {verdict.claim.id: verdict.verdict for verdict in found}
    if form is MapFormat.table:
        from cflag_theory.cli.tables import claims as tables

        if start is None:
            tables.falls(chosen, labels, book)
        else:
            tables.tree(start, chosen, among, labels, book, details=details)
        shell.say_kept(known)
        return
    if form is MapFormat.json:
        from cflag_theory.verify.resting import breaks

        result = {"paper": chosen, **claim_map.data(names, among, labels, book)}
        if start is None:
            result["breaks"] = [
                {"claim": one.claim, "fates": dict(one.fates), "instead": list(one.instead)}
                for one in breaks(chosen, labels, book)
            ]
        if out is None:
            shell.print_json(result)
            return
        text = json.dumps(result, indent=1)
    elif form is MapFormat.dot:
        text = claim_map.dot(names, among, labels, book)
    else:
        title = (
            f"How the claims of {chosen} depend on each other"
            if start is None
            else f"What {start} uses, and what uses it"
        )
        text = claim_map.svg(names, among, labels, title=title, start=start, book=book)
    text = bare(text)
    if out is None:
        typer.echo(text, nl=False)
        return
    write_text(out, text)
    typer.echo(f"map: {out}")


def _paper(start: str | None, paper: shell.Paper | None) -> str:
    """The paper of a claim, or of the map; a theorem of ours belongs to the paper whose claims lead to it."""
    from cflag_theory.claims.ledger import claim
    from cflag_theory.claims.uses import ids

    wanted = {one: name for name, one in _PAPERS.items()}
    if start is None:
        return wanted[paper or shell.Paper.c_flag]
    own = claim(start).paper
    homes = [name for name in _PAPERS if name == own or (own == "ours" and start in ids(name))]
    if paper is not None and wanted[paper] not in homes:
        raise InvalidInput(f"{start} is not on the map of --paper {paper.value}: leave --paper out")
    if not homes:
        raise InvalidInput(f"no claim of a paper leads to {start}: cflag show {start} prints what is known about it")
    return wanted[paper] if paper is not None else homes[0]


def _format(out: Path | None, format: MapFormat | None) -> MapFormat:
    if out is None:
        return format or MapFormat.table
    ending = out.suffix.removeprefix(".")
    if ending not in ("svg", "dot", "json"):
        raise InvalidInput(
            f"--out {out} ends in {out.suffix or 'nothing'}: use a name that ends in .svg, .dot or .json"
        )
    if format is not None and format.value != ending:
        raise InvalidInput(f"--format {format.value} and --out {out} differ: leave --format out, its ending says it")
    if not out.parent.is_dir():
        raise OutputError(f"there is no folder {str(out.parent)!r}: make it, or choose another with --out")
    check_file_writable(out)
    return MapFormat(ending)


def _with_ours(names: list[str], book: Book) -> list[str]:
    met = {*names, *(other for id in names for other in book.instead(id))}
    return [id for id in book.places() if id in met]


def read_labels(folder: Path) -> dict[str, str]:
    """Verdicts by id from a report's ledger.json."""
    from cflag_theory.claims.engine.claim import KINDS, MEANINGS

    path = folder / "ledger.json" if folder.is_dir() else folder
    again = "cflag verify --out FOLDER writes one"
    try:
        found = read_json(path)
    except OSError as error:
        raise InvalidInput(f"--verdicts {folder} holds no ledger.json ({error.strerror}): {again}") from error
    except ValueError as error:
        raise InvalidInput(f"{path} is not the ledger of a report ({error}): {again}") from error
    verdict = Rule(lambda value: value is None or value in MEANINGS, f"null or one of {', '.join(MEANINGS)}")
    if wrong := unfit(found, [{"id": WORD, "verdict": verdict, "kind": one_of(*KINDS)}]):
        raise InvalidInput(f"{path} is not the ledger of a report, see {wrong}: {again}")
    return {one["id"]: one["verdict"] or one["kind"] for one in found}
