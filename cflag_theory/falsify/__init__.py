"""Claims of the user: exact algebra tries to decide them, and a search looks for small rational counterexamples."""

from __future__ import annotations

from cflag_theory.public import names

__getattr__, __all__ = names(
    __name__,
    {
        "conjecture": "Conjecture",
        "decisions.decision": "Decision",
        "finding": "Finding",
        "ranges": "Range",
        "decisions.deciding": "decide prove",
        "falsifying": "falsify",
        "search.families": "quadratics ridges",
        "decisions.auditing": "audit",
        "decisions.repairs": "repair",
        "saving": "replay",
        "vector_terms.words": "dot draws function index largest least mean norm norm2 sequence sum_over vector vectors",
    },
)
