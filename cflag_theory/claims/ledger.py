"""All claims by id, in paper order, and the book of both papers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cflag_theory.claims.book import Book
from cflag_theory.claims.pages import records
from cflag_theory.claims.pages.records import places
from cflag_theory.errors import UnknownName

if TYPE_CHECKING:
    from cflag_theory.claims.engine.claim import Claim

#: The folder of each paper.
PAPERS = {"C-FLAG": "c_flag", "CFL": "cfl"}

#: The module of each claim, in this folder: the papers' claims in paper order, then what we prove instead. Every module
#: has its claims in `CLAIMS`; `verify.checks` has a module of the same name.
PLACES: Mapping[str, str] = places()


def _build(id: str, *listed: Any, **named: Any) -> Claim:
    built: Claim = import_module(f"{__package__}.{PLACES[id]}").CLAIMS[id](*listed, **named)
    return built


#: Builders by id; some take constants other than the printed ones, which tests plant. A module is imported when one of
#: its claims is asked for: all of them take seconds.
LEDGER: dict[str, Callable[..., Claim]] = {id: partial(_build, id) for id in PLACES}


def check_id(id: str) -> None:
    """Raise UnknownName, naming the nearest claims, if there is no claim with this id."""
    if id not in LEDGER:
        # Ids are often given without their paper.
        bare = {one.partition(".")[2]: one for one in LEDGER}
        near = [one for name, one in bare.items() if name == id] or get_close_matches(id, LEDGER, n=3)
        near = near or [bare[name] for name in get_close_matches(id, bare, n=3)]
        meant = f"did you mean {' or '.join(near)}? " if near else ""
        raise UnknownName(f"no claim is called {id!r}: {meant}cflag list names all")


@cache
def claim(id: str) -> Claim:
    """The claim with this id.

    Raises
    ------
    UnknownName
        If there is none; the message names the nearest.
    """
    check_id(id)
    return LEDGER[id]()


def _paper_of(module: str) -> str:
    return next((paper for paper, folder in PAPERS.items() if folder == module.partition(".")[0]), "")


#: Both papers, and what we prove instead.
BOOK = Book(tuple(PAPERS), claim, records.written, records.keys, places, _paper_of, records.records, of_ledger=True)
