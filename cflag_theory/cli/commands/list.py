"""`cflag list`."""

from __future__ import annotations

from typing import Annotated

import typer

from cflag_theory.cli.shell import Format, FormatOption, print_json
from cflag_theory.errors import UnknownName


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
