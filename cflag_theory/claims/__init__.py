"""The claims of the papers: statements, hypotheses and proofs. Nothing here runs a simulation.

A page is imported like a module: `cflag_theory.claims.c_flag.local_steps.drift` is `drift.page` in that folder, with
what the page names, `PAGE` and `CLAIMS`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

from cflag_theory.public import names

__getattr__, __all__ = names(
    __name__,
    {
        "engine.claim": "Claim Part Statement",
        "engine.relation": "Relation",
        "engine.steps": "Proof Obligation",
        "engine.examiner": "examine",
        "ledger": "LEDGER",
    },
)


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
