"""Whether an implementation is the algorithm that a theorem is about: exact rounds, the first difference, its cause."""

from __future__ import annotations

from cflag_theory.public import names

__getattr__, __all__ = names(__name__, {"conforming": "ALGORITHMS conform conform_file", "report": "Report"})
