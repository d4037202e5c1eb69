"""One check a claim: for every module of claims a module of the same name, with the same ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from cflag_theory.claims.ledger import PLACES
from cflag_theory.verify.check import Check


class _Checks(Mapping[str, Check]):
    """By id; a module is imported when one of its checks is asked for."""

    def __getitem__(self, id: str) -> Check:
        try:
            checks = import_module(f"{__name__}.{PLACES[id]}").CHECKS
        except ModuleNotFoundError:
            checks = {}
        check: Check = checks.get(id, Check())
        return check

    def __iter__(self) -> Iterator[str]:
        return iter(PLACES)

    def __len__(self) -> int:
        return len(PLACES)


CHECKS = _Checks()
