"""`cflag map`: how claims depend on each other."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from cflag_theory.claims.pages.text import bare
from cflag_theory.cli import shell
from cflag_theory.cli.commands.ledger import decide_pages, place_of, read_pages
from cflag_theory.errors import InvalidInput, OutputError
from cflag_theory.files import check_file_writable, write_text
from cflag_theory.public import Rule, one_of
from cflag_theory.reading import WORD, read_as

if TYPE_CHECKING:
    from cflag_theory.claims.book import Book


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
    verdict = Rule(lambda value: value is None or value in MEANINGS, f"null or one of {', '.join(MEANINGS)}")
    form = [{"id": WORD, "verdict": verdict, "kind": one_of(*KINDS)}]
    found = read_as(path, form, what="ledger of a report", remedy="cflag verify --out FOLDER writes one")
    return {one["id"]: one["verdict"] or one["kind"] for one in found}
