"""The claims of the papers: statements, hypotheses and proofs. Nothing here runs a simulation.

A page is imported like a module: `cflag_theory.claims.c_flag.local_steps.drift` is `drift.page` in that folder, with
what the page names, `PAGE` and `CLAIMS`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
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


class _Pages(MetaPathFinder, Loader):
    """Finds `name.page` where Python has found no `name.py`."""

    def find_spec(
        self, name: str, folders: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith(f"{__name__}."):
            return None
        places = (Path(folder, f"{name.rpartition('.')[2]}.page") for folder in folders or ())
        place = next((place for place in places if place.is_file()), None)
        return spec_from_file_location(name, place, loader=self) if place else None

    def exec_module(self, module: ModuleType) -> None:
        from cflag_theory.claims.pages.page import load

        load(Path(str(module.__file__)), vars(module))


sys.meta_path.append(_Pages())
