"""What the ledger and a folder of a stranger's pages both are: claims in order, and what their pages say of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

from cflag_theory.claims.pages.records import Record, unknown
from cflag_theory.claims.pages.text import Piece

if TYPE_CHECKING:
    from cflag_theory.claims.engine.claim import Claim


class Book(ABC):
    """Claims of papers, for a map, a report and a list of errata."""

    #: Whether it is the ledger, where theorems of ours stand beside the papers' claims.
    of_ledger = False

    @property
    @abstractmethod
    def papers(self) -> tuple[str, ...]:
        """The names of the papers."""

    @abstractmethod
    def places(self) -> Mapping[str, str]:
        """The page or the module of each claim, in order."""

    @abstractmethod
    def claim(self, id: str) -> Claim:
        """The claim with this id.

        Raises
        ------
        InvalidInput
            There is none.
        """

    @abstractmethod
    def keys(self, id: str) -> tuple[str, ...] | None:
        """The parts of a claim as records name them; None if no page says."""

    @abstractmethod
    def records(self, kind: str) -> tuple[Record, ...]:
        """The lines of one kind, in the order of the claims."""

    @abstractmethod
    def written(self, id: str) -> str:
        """A claim as its page says it."""

    def home(self, id: str) -> str:
        """The paper that a claim is about."""
        return self.papers[0]

    def paper_of(self, record: Record) -> str:
        """The paper that a line is about."""
        return self.papers[0]

    def own(self, paper: str) -> list[str]:
        """The claims that a paper makes."""
        return [id for id in self.places() if self.home(id) == paper and not id.startswith("ours.")]

    def instead(self, id: str) -> tuple[str, ...]:
        """The theorems of ours to which the notes on a claim point; a stranger's pages have none."""
        return self.claim(id).instead if self.of_ledger else ()

    def known(self, id: Piece) -> str:
        """The id of a claim that a line names.

        Raises
        ------
        PageError
            There is none.
        """
        if id not in self.places():
            raise unknown(id, self.places())
        return str(id)
