"""What the papers claim: statements, hypotheses and proofs, with no simulation in sight."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "Claim": "claim",
    "Part": "claim",
    "Statement": "claim",
    "Relation": "claim",
    "Proof": "proof",
    "Obligation": "proof",
    "examine": "proof",
    "LEDGER": "ledger",
}
__all__ = ["LEDGER", "Claim", "Obligation", "Part", "Proof", "Relation", "Statement", "examine"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
