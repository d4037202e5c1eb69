"""The claims of the papers: statements, hypotheses and proofs. Nothing here runs a simulation."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "Claim": "engine.claim",
    "Part": "engine.claim",
    "Statement": "engine.claim",
    "Relation": "engine.relation",
    "Proof": "engine.steps",
    "Obligation": "engine.steps",
    "examine": "engine.examiner",
    "LEDGER": "ledger",
}
__all__ = ["LEDGER", "Claim", "Obligation", "Part", "Proof", "Relation", "Statement", "examine"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
