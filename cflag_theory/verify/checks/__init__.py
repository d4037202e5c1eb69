"""Checks by claim: a page's folder has its checks in the modules of this folder whose names begin with its own.

The checks of `c_flag/local_steps/ours/worst_path.page` stand in `c_flag/local_steps.py` or `c_flag/local_steps_*.py`.
A claim that needs none, because its instances stand on its page, has an empty one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from cflag_theory.claims.ledger import PLACES
from cflag_theory.verify.check import Check


@cache
def _of(paper: str, folder: str) -> Mapping[str, Check]:
    """The checks of a folder of pages."""
    names = sorted(path.stem for path in Path(__file__).with_name(paper).glob(f"{folder}*.py"))
    modules = (import_module(f"{__name__}.{paper}.{name}") for name in names)
    return {id: check for module in modules for id, check in getattr(module, "CHECKS", {}).items()}


class _Checks(Mapping[str, Check]):
    """By id; the modules of a folder are imported when one of its checks is asked for."""

    def __getitem__(self, id: str) -> Check:
        paper, folder, *_ = PLACES[id].split(".")
        return _of(paper, folder).get(id, Check())

    def __iter__(self) -> Iterator[str]:
        return iter(PLACES)

    def __len__(self) -> int:
        return len(PLACES)


CHECKS = _Checks()
