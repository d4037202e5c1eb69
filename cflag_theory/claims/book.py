"""What the ledger and a folder of a stranger's pages both are: claims in order, and what their pages say of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cflag_theory.claims.pages.records import Record, unknown
from cflag_theory.claims.pages.text import Piece

if TYPE_CHECKING:
    from cflag_theory.claims.engine.claim import Claim


@dataclass(frozen=True, eq=False)
class Book:
    """Claims for a map, a report and a list of errata.

    Of an id, `claim`, `written` and `keys` give the claim, its text on its page, and its parts as records name them.
    `places` gives the module of each claim, in order; `paper_of` the paper of a module;
    `records` the lines of one kind. In the ledger, theorems of ours stand beside the claims of papers.
    """

    papers: tuple[str, ...]
    claim: Callable[[str], Claim]
    written: Callable[[str], str]
    keys: Callable[[str], tuple[str, ...]]
    places: Callable[[], Mapping[str, str]]
    paper_of: Callable[[str], str]
    records: Callable[[str], tuple[Record, ...]]
    of_ledger: bool = False

    def home(self, id: str) -> str:
        """The paper that a claim is about."""
        return self.paper_of(self.places()[id])

    def own(self, paper: str) -> list[str]:
        """The claims that a paper makes."""
        return [id for id in self.places() if self.home(id) == paper and not id.startswith("ours.")]

    def instead(self, id: str) -> tuple[str, ...]:
        """The theorems of ours to which the notes on a claim point; a stranger's pages have none."""
        return self.claim(id).instead if self.of_ledger else ()

    def known(self, id: Piece) -> str:
        """The id of a claim that a line names, or an exception that names the nearest."""
        if id not in self.places():
            raise unknown(id, self.places())
        return str(id)
