"""The claims that a reader looks for first, each with one line why its verdict is what it is."""

from __future__ import annotations

from functools import cache

from cflag_theory.claims.book import Book
from cflag_theory.claims.ledger import BOOK

#: Authors and title of each paper, by the name that its claims carry.
PAPERS = {
    "C-FLAG": "Keshri, Shah, Prasad: On the Convergence of Continual Federated Learning Using Incrementally Aggregated "
    "Gradients, AISTATS 2025",
    "CFL": "Guo, Lin, Tang: Towards Federated Learning on Time-Evolving Heterogeneous Data",
    "ours": "Theorems of this project, for what fails",
}


@cache
def headlines(book: Book = BOOK) -> tuple[tuple[str, str], ...]:
    """(id, why), in the order of the claims."""
    return tuple((record.claim, str(record.text)) for record in book.records("headline"))
